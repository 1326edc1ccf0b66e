//! `/search/issues`: words and the few qualifiers that clients use. An unknown qualifier matches as a word would.

use super::issue::{Issue, Place};

/// A search that has been read.
#[derive(Debug, Default)]
pub(crate) struct Search {
    words: Vec<String>,
    qualifiers: Vec<(String, String)>,
}

impl Search {
    /// Reads a query such as `lamp repo:pinhole-demo/lantern is:open`.
    pub(crate) fn read(query: &str) -> Self {
        let mut search = Self::default();
        for term in query.split_whitespace() {
            let term = term.trim_matches('"').to_lowercase();
            match term.split_once(':') {
                Some((name, value)) if KNOWN.contains(&name) => {
                    search.qualifiers.push((name.to_owned(), value.to_owned()));
                }
                _ => search.words.push(term),
            }
        }
        search
    }

    /// Whether a repository can have matches at all.
    pub(crate) fn reaches(&self, at: Place<'_>) -> bool {
        let full = at.repository.full_name().to_lowercase();
        let owner = at.repository.owner.login.to_lowercase();
        self.qualifiers.iter().all(|(name, value)| match name.as_str() {
            "repo" => *value == full,
            "org" | "user" => *value == owner,
            _ => true,
        })
    }

    /// Whether an issue matches.
    pub(crate) fn finds(&self, issue: &Issue) -> bool {
        let text = format!("{} {}", issue.title, issue.body.as_deref().unwrap_or_default()).to_lowercase();
        self.words.iter().all(|word| text.contains(word.as_str()))
            && self.qualifiers.iter().all(|(name, value)| match (name.as_str(), value.as_str()) {
                ("is" | "state", "open" | "closed") => issue.state() == value,
                ("is" | "type", "issue") => issue.pull.is_none(),
                ("is" | "type", "pr") => issue.pull.is_some(),
                ("author", login) => issue.author.login == login,
                ("label", label) => issue.labels.iter().any(|given| given.to_lowercase() == label),
                _ => true,
            })
    }
}

const KNOWN: &[&str] = &["repo", "org", "user", "is", "state", "type", "author", "label"];

//! What is asked for by a connection's cap, and what the server says it gave.
//!
//! Refuses nothing of what was given that could not be a scope: it drops it, for a pair that is there must not be lost over
//! a word. INVARIANT: what is kept is plain ASCII. RFC 6749, section 3.3.

use pinhole_manifest::Access;
use pinhole_manifest::model::OAuth;

/// Most scopes that are kept of an answer.
const SCOPES_MAX: usize = 256;
/// Longest scope that is kept, in bytes.
const SCOPE_BYTES_MAX: usize = 256;

/// The scopes that a connection of this cap asks for.
pub fn asked(oauth: &OAuth, cap: Access) -> &[String] {
    match cap {
        Access::Write if !oauth.scopes_write.is_empty() => &oauth.scopes_write,
        Access::Read | Access::Write => &oauth.scopes,
    }
}

/// What the server says that a token may do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Scopes {
    /// It says nothing: what was asked for.
    #[default]
    AsAsked,
    /// These.
    Given(Vec<String>),
}

impl Scopes {
    /// Reads a list that is separated by spaces, as the standard has it, or by commas, as some services do.
    pub(super) fn of_text(text: &str) -> Self {
        Self::of_list(text.split([' ', ',']).map(str::to_owned))
    }

    pub(super) fn of_list(list: impl IntoIterator<Item = String>) -> Self {
        let scope = |text: &String| {
            (1..=SCOPE_BYTES_MAX).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\')
        };
        let mut given: Vec<String> = list.into_iter().filter(scope).take(SCOPES_MAX).collect();
        given.sort();
        given.dedup();
        if given.is_empty() { Self::AsAsked } else { Self::Given(given) }
    }

    /// What was given beyond what was asked for.
    pub fn beyond(&self, asked: &[String]) -> Vec<&str> {
        match self {
            Self::AsAsked => Vec::new(),
            Self::Given(given) => {
                given.iter().filter(|scope| !asked.contains(scope)).map(String::as_str).collect()
            }
        }
    }

    /// What was asked for and not given.
    pub fn missing(&self, asked: &[String]) -> Vec<String> {
        match self {
            Self::AsAsked => Vec::new(),
            Self::Given(given) => asked.iter().filter(|scope| !given.contains(scope)).cloned().collect(),
        }
    }

    /// What was given that the manifest lists for a write connection alone.
    pub(super) fn only_for_writes(&self, oauth: &OAuth) -> Vec<String> {
        let Self::Given(given) = self else { return Vec::new() };
        let of_writes = |scope: &&String| oauth.scopes_write.contains(scope) && !oauth.scopes.contains(scope);
        given.iter().filter(of_writes).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_however_it_is_separated() {
        for text in ["repo read:user", "repo,read:user", "read:user, repo repo"] {
            let scopes = Scopes::of_text(text);
            assert_eq!(scopes, Scopes::Given(vec!["read:user".into(), "repo".into()]), "{text}");
            let asked = ["repo".to_owned(), "gist".to_owned()];
            assert_eq!(scopes.beyond(&asked), ["read:user"]);
            assert_eq!(scopes.missing(&asked), ["gist"]);
        }
    }

    #[test]
    fn what_could_not_be_a_scope_is_dropped() {
        assert_eq!(Scopes::of_text(""), Scopes::AsAsked);
        assert_eq!(Scopes::of_text("a\u{202e}b re\u{1b}[2J \"x\" ok"), Scopes::Given(vec!["ok".into()]));
        assert_eq!(Scopes::of_text(&"x".repeat(257)), Scopes::AsAsked);
        let many: Vec<String> = (0..1000).map(|n| format!("s{n}")).collect();
        let Scopes::Given(kept) = Scopes::of_list(many) else { panic!("none kept") };
        assert_eq!(kept.len(), SCOPES_MAX);
    }
}

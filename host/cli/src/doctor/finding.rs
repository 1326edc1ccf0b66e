//! What was looked at, how it is, and what to do about it.

use std::fmt::Display;

use pinhole_manifest::visible::visible;
use pinhole_runtime::outcome::Refusal;
use pinhole_runtime::store::StoreError;
use serde::Serialize;
use serde_json::json;

use crate::out;

/// All that was found so far.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Finding>);

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    about: String,
    state: State,
    found: String,
    /// What to do; never missing where something is not as it should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// The whole refusal, where a service or the way to it said no.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<Refusal>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// As it should be.
    Ok,
    /// It works, and wants a look.
    Warning,
    /// Something does not work, or is open to others.
    Wrong,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Wrong => "wrong",
        }
    }
}

impl Findings {
    pub(super) fn ok(&mut self, about: impl Into<String>, found: impl Display) {
        self.push(about, State::Ok, &found, None);
    }

    pub(super) fn warning(&mut self, about: impl Into<String>, found: impl Display, hint: impl Display) {
        self.push(about, State::Warning, &found, Some(&hint));
    }

    pub(super) fn wrong(&mut self, about: impl Into<String>, found: impl Display, hint: impl Display) {
        self.push(about, State::Wrong, &found, Some(&hint));
    }

    /// What another command would have said.
    pub(super) fn failed(&mut self, about: impl Into<String>, error: &anyhow::Error) {
        let (message, hint, _end) = out::explained(error);
        self.wrong(about, message, hint);
    }

    /// What is wrong with the store, in its own words.
    pub(super) fn store(&mut self, about: impl Into<String>, error: StoreError) {
        self.failed(about, &error.into());
    }

    pub(super) fn refused(&mut self, about: impl Into<String>, refusal: Refusal) {
        let found = format!("refused ({}): {}", refusal.code, refusal.message);
        let hint = refusal.hint.clone();
        self.push(about, State::Wrong, &found, Some(&hint));
        if let Some(last) = self.0.last_mut() {
            last.refusal = Some(refusal);
        }
    }

    fn push(
        &mut self,
        about: impl Into<String>,
        state: State,
        found: &dyn Display,
        hint: Option<&dyn Display>,
    ) {
        let (about, found) = (about.into(), found.to_string());
        self.0.push(Finding { about, state, found, hint: hint.map(ToString::to_string), refusal: None });
    }

    pub(super) fn any_wrong(&self) -> bool {
        self.0.iter().any(|finding| finding.state == State::Wrong)
    }

    pub(super) fn print(&self, json: bool) -> anyhow::Result<()> {
        if json {
            return out::json(&json!({"ok": !self.any_wrong(), "findings": self.0}));
        }
        let lines: Vec<String> = self.0.iter().flat_map(Finding::lines).collect();
        out::document(lines.join("\n"))
    }
}

impl Finding {
    fn lines(&self) -> Vec<String> {
        let mut lines =
            vec![format!("{:<8} {}: {}", self.state.word(), visible(&self.about), visible(&self.found))];
        if let Some(said) = self.refusal.as_ref().and_then(|refusal| refusal.untrusted.as_ref()) {
            lines.push(format!("         the service said: “{}”", visible(said.as_str())));
        }
        lines.extend(self.hint.as_ref().map(|hint| format!("         {}", visible(hint))));
        lines
    }
}

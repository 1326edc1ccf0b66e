//! What the operator lets models have: the flags of `pinhole mcp`, as values.
//!
//! INVARIANT: an offer only narrows what connections and reach allow.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use pinhole_manifest::model::Op;
use pinhole_manifest::visible::visible;
use pinhole_manifest::{Access, ServiceId};

/// How ops become tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolsMode {
    /// One tool an op up to 40 ops, else as `Search`.
    #[default]
    Auto,
    /// One tool an op, however many.
    Each,
    /// `find_ops`, `describe_op`, `run_read_op` and `run_write_op`.
    Search,
}

/// Whether a write that can be put back takes `confirm: true` for the person's yes in her client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConfirmArg {
    /// No write has such an argument.
    #[default]
    Off,
    /// Those that can be put back have it. What the member has not lent still takes her approval.
    Reversible,
}

/// What the operator offers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Offer {
    services: Option<BTreeSet<ServiceId>>,
    ops: Option<Vec<OpPattern>>,
    accesses: Accesses,
    mode: ToolsMode,
    confirm_arg: ConfirmArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Accesses {
    #[default]
    All,
    ReadOnly,
}

impl Offer {
    /// Only these services.
    #[must_use]
    pub fn of_services(self, services: impl IntoIterator<Item = ServiceId>) -> Self {
        Self { services: Some(services.into_iter().collect()), ..self }
    }

    /// Only ops that one of these patterns matches.
    #[must_use]
    pub fn of_ops(self, ops: impl IntoIterator<Item = OpPattern>) -> Self {
        Self { ops: Some(ops.into_iter().collect()), ..self }
    }

    /// No writes.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { accesses: Accesses::ReadOnly, ..self }
    }

    /// In this way.
    #[must_use]
    pub fn in_mode(self, mode: ToolsMode) -> Self {
        Self { mode, ..self }
    }

    /// With this word on `confirm`.
    #[must_use]
    pub fn with_confirm_arg(self, confirm_arg: ConfirmArg) -> Self {
        Self { confirm_arg, ..self }
    }

    /// How ops become tools.
    pub fn mode(&self) -> ToolsMode {
        self.mode
    }

    /// Whether there is a `confirm` argument.
    pub fn confirm_arg(&self) -> ConfirmArg {
        self.confirm_arg
    }

    /// Whether an op of a service is offered.
    pub fn covers(&self, service: &ServiceId, op: &Op) -> bool {
        (self.accesses == Accesses::All || op.access == Access::Read)
            && self.services.as_ref().is_none_or(|services| services.contains(service))
            && self
                .ops
                .as_ref()
                .is_none_or(|ops| ops.iter().any(|one| one.matches(service.as_str(), op.id.as_str())))
    }
}

/// Ops by their names: `github.get_repo`, `github.list_*`, `*.get_*`. A `*` stands for any characters, also none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpPattern {
    service: Box<str>,
    op: Box<str>,
}

/// Why a text is not a pattern of ops.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` names no ops: write `SERVICE.OP` in lower-case letters, digits and `_`, with `*` for any characters, such as `github.list_*`"
)]
pub struct PatternError(String);

/// Longest pattern, in bytes.
const PATTERN_MAX: usize = 128;

impl FromStr for OpPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let fits = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_*".contains(&b))
        };
        match text.split_once('.') {
            Some((service, op)) if text.len() <= PATTERN_MAX && fits(service) && fits(op) => {
                Ok(Self { service: service.into(), op: op.into() })
            }
            _ => Err(PatternError(visible(&text.chars().take(PATTERN_MAX).collect::<String>()))),
        }
    }
}

impl fmt::Display for OpPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.service, self.op)
    }
}

impl OpPattern {
    /// Whether it matches an op of a service.
    pub fn matches(&self, service: &str, op: &str) -> bool {
        fits(&self.service, service) && fits(&self.op, op)
    }
}

/// Whether a text has the literal parts of a pattern, in order, the first at its start and the last at its end.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some((_, after)) = text.split_once(part) else { return false };
        text = after;
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_whole_names() {
        for (pattern, service, op, wanted) in [
            ("github.get_repo", "github", "get_repo", true),
            ("github.get_repo", "github", "get_repos", false),
            ("github.list_*", "github", "list_issues", true),
            ("github.list_*", "github", "list_", true),
            ("github.list_*", "gitlab", "list_issues", false),
            ("*.get_*", "gitlab", "get_issue", true),
            ("*.get_*", "gitlab", "forget_issue", false),
            ("git*.*_is*e", "gitlab", "get_issue", true),
            ("git*.*_is*e", "gitlab", "get_issues", false),
            ("*.a*a", "x1", "a", false),
            ("*.a*a", "x1", "aa", true),
            ("*.*ab*ab", "x1", "ab", false),
        ] {
            assert_eq!(pattern.parse::<OpPattern>().unwrap().matches(service, op), wanted, "{pattern} {op}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in
            ["", "github", "github.", ".list", "github.List", "a.b.c", "github.list issues", &"a".repeat(200)]
        {
            assert!(text.parse::<OpPattern>().is_err(), "{text}");
        }
    }
}

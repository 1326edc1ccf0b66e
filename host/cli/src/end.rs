//! How a command ends, and which exit status says so. DESIGN, "CLI": exit status.

use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::{ExitClass, Refusal};

/// How a command ended. (Usage errors, status 2, are the flag parser's.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It did what was asked.
    Done,
    /// It ran and failed, or a check or test says no.
    Failed,
    /// What was asked for is not how it is asked for.
    Usage,
    /// It was refused, and nothing was sent.
    Refused,
    /// The manifest, module, grant or registry is not valid.
    Invalid,
    /// It was sent, or may have been, and then refused.
    SentThenRefused,
    /// The local store, disk or clock.
    Local,
    /// The person stopped it (128 and the number of SIGINT, as shells say it).
    Interrupted,
}

impl End {
    pub(crate) fn status(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::Invalid => 4,
            Self::SentThenRefused => 5,
            Self::Local => 6,
            Self::Interrupted => 130,
        }
    }

    pub(crate) fn of(refusal: &Refusal) -> Self {
        match (refusal.code.exit_class(), refusal.sent) {
            (ExitClass::Failed, _) => Self::Failed,
            (ExitClass::Invalid, _) => Self::Invalid,
            (ExitClass::Local, _) => Self::Local,
            (ExitClass::Refused, Sent::No) => Self::Refused,
            (ExitClass::Refused, Sent::Maybe | Sent::Yes) => Self::SentThenRefused,
        }
    }
}

/// A failure of a command, with how it ends and what to do next.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    pub(crate) end: End,
    message: String,
    hint: String,
}

impl Failure {
    pub(crate) fn new(end: End, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { end, message: message.into(), hint: hint.into() }
    }

    pub(crate) fn hint(&self) -> &str {
        &self.hint
    }
}

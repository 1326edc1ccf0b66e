//! Why an op has no result. What it prints is what the host shows, clipped and marked as the module's.

use std::fmt;

use crate::host::Failure;

/// Why an op has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A request has no answer.
    Unanswered(Failure),
    /// The service refused: its status, and its own words where it has some.
    Status {
        /// The status.
        status: u16,
        /// What the service said, clipped.
        said: Option<String>,
    },
    /// A GraphQL answer has errors: the first one's words, clipped.
    GraphQl(String),
    /// Something is not the JSON that was expected.
    Json(String),
    /// A request that cannot be sent, because a value has no place in its path or its body.
    Request(String),
    /// There are more pages than the op reads.
    TooManyPages {
        /// How many it reads.
        pages: usize,
        /// What to narrow.
        narrow: String,
    },
    /// The module has no such op.
    UnknownOp(String),
    /// The op's own reason.
    Op(String),
}

/// Longest text of a service in an error, in bytes.
const SAID_BYTES: usize = 200;

impl Error {
    /// The op's own reason, in words for the person or the bot.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Op(message.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unanswered(failure) => failure.fmt(f),
            Self::Status { status, said: None } => write!(f, "the service answered {status}"),
            Self::Status { status, said: Some(said) } => write!(f, "the service answered {status}: {said}"),
            Self::GraphQl(said) => write!(f, "the service could not answer the query: {said}"),
            Self::Json(why) => write!(f, "not the JSON that was expected: {why}"),
            Self::Request(why) => write!(f, "a request cannot be sent: {why}"),
            Self::TooManyPages { pages, narrow } => {
                write!(f, "there are more than {pages} pages, which is all that one call reads: {narrow}")
            }
            Self::UnknownOp(op) => write!(f, "this module has no op `{op}`"),
            Self::Op(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Unanswered(failure)
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error.to_string())
    }
}

/// A text of the service, short enough for an error.
pub(crate) fn clipped(text: &str) -> String {
    let end = text.floor_char_boundary(SAID_BYTES.min(text.len()));
    match text.get(..end) {
        Some(head) if end < text.len() => format!("{head}…"),
        _ => text.to_owned(),
    }
}

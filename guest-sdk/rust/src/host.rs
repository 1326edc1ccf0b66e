//! What an op may ask of the world. Inside Wasm it is the host; in a test it is [`crate::recorded::Recorded`].

use std::fmt;

use crate::{Error, Request, Response};

/// What an op may ask of the world.
pub trait Host {
    /// Sends a request and waits for the whole answer, whatever its status. [`Request::send`] looks at the request first.
    fn send(&self, request: &Request) -> Result<Response, Failure>;
    /// Sends many, up to eight at once; the answers come in the order of the requests.
    fn send_all(&self, requests: &[Request]) -> Vec<Result<Response, Failure>>;
    /// Writes a line to the host's log; a call has room for some 200.
    fn log(&self, level: Level, message: &str);
    /// The time at which the call began, in seconds since 1970-01-01 UTC.
    fn now(&self) -> i64;
}

/// How much a line of the log matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For the module's author.
    Debug,
    /// For whoever looks.
    Info,
    /// Something is odd.
    Warn,
    /// Shown as what the module said, should it break off later.
    Error,
}

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The name of the refusal, such as `timed_out`.
    pub code: String,
    /// The same in words.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for Failure {}

/// Sends many requests, up to eight at once; the answers come in the order of the requests. Nothing is sent when one of
/// them cannot be.
pub fn send_all(host: &dyn Host, requests: &[Request]) -> Result<Vec<Result<Response, Error>>, Error> {
    for request in requests {
        request.sendable()?;
    }
    Ok(host.send_all(requests).into_iter().map(|answer| answer.map_err(Error::from)).collect())
}

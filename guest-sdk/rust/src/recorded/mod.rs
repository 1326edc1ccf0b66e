//! The host of a test: it answers from recorded exchanges and remembers what was asked.
//!
//! Refuses a request that is not recorded, by failing the test with what was asked and what is left. INVARIANT: an exchange
//! answers once.

mod case;

use std::cell::RefCell;
use std::fmt::Write as _;

use serde_json::Value;

pub use case::{Case, check_cases};

use crate::response::decoded;
use crate::{Failure, Host, Level, Request, Response};

/// The time of a test, unless it says another: 2026-01-01 UTC, as in Pinhole's own replay of cases.
pub const CASE_TIME: i64 = 1_767_225_600;

/// The host of a test.
#[derive(Debug)]
pub struct Recorded {
    now: i64,
    left: RefCell<Vec<(Asked, Result<Response, Failure>)>>,
    sent: RefCell<Vec<Request>>,
    lines: RefCell<Vec<(Level, String)>>,
}

/// A recorded request, in the form in which requests are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Asked {
    method: String,
    /// Decoded, segment by segment.
    path: Vec<String>,
    /// Sorted by key; the values of a key in their order.
    query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    body: Option<Value>,
    open: Open,
}

/// What of a recorded request is not held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Open {
    query: bool,
    headers: bool,
    body: bool,
}

impl Recorded {
    /// One that answers nothing yet.
    pub fn new() -> Self {
        Self { now: CASE_TIME, left: RefCell::default(), sent: RefCell::default(), lines: RefCell::default() }
    }

    /// At this time, in seconds since 1970.
    pub fn at(self, now: i64) -> Self {
        Self { now, ..self }
    }

    /// Answers this request, once.
    pub fn on(self, request: Request, response: Response) -> Self {
        self.recording(Asked::of(&request), Ok(response))
    }

    /// Has no answer to this request, once.
    pub fn failing(self, request: Request, code: &str, message: &str) -> Self {
        let failure = Failure { code: code.to_owned(), message: message.to_owned() };
        self.recording(Asked::of(&request), Err(failure))
    }

    fn recording(self, asked: Asked, answer: Result<Response, Failure>) -> Self {
        self.left.borrow_mut().push((asked, answer));
        self
    }

    /// Every request so far, in order.
    pub fn sent(&self) -> Vec<Request> {
        self.sent.borrow().clone()
    }

    /// Every line of the log so far.
    pub fn lines(&self) -> Vec<(Level, String)> {
        self.lines.borrow().clone()
    }

    /// Fails the test if a recorded request was not sent.
    #[track_caller]
    pub fn assert_all_sent(&self) {
        let left = self.left.borrow();
        assert!(left.is_empty(), "recorded and not sent:\n{}", listed(&left));
    }
}

impl Default for Recorded {
    fn default() -> Self {
        Self::new()
    }
}

impl Host for Recorded {
    /// # Panics
    /// When nothing that is recorded and left answers this request.
    fn send(&self, request: &Request) -> Result<Response, Failure> {
        self.sent.borrow_mut().push(request.clone());
        let asked = Asked::of(request);
        let mut left = self.left.borrow_mut();
        let place = left.iter().position(|(recorded, _)| recorded.allows(&asked));
        assert!(
            place.is_some(),
            "no recorded exchange answers\n  {}\nrecorded and left:\n{}",
            asked.shown(),
            listed(&left)
        );
        left.remove(place.unwrap_or_default()).1
    }

    fn send_all(&self, requests: &[Request]) -> Vec<Result<Response, Failure>> {
        requests.iter().map(|request| self.send(request)).collect()
    }

    fn log(&self, level: Level, message: &str) {
        self.lines.borrow_mut().push((level, message.to_owned()));
    }

    fn now(&self) -> i64 {
        self.now
    }
}

impl Asked {
    fn of(request: &Request) -> Self {
        let body =
            request.body().map(|text| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)));
        Self::new(
            request.method().as_str(),
            request.path(),
            request.query_pairs().to_vec(),
            request.headers().to_vec(),
            body,
        )
    }

    fn new(
        method: &str,
        path: &str,
        mut query: Vec<(String, String)>,
        headers: Vec<(String, String)>,
        body: Option<Value>,
    ) -> Self {
        query.sort_by(|a, b| a.0.cmp(&b.0));
        let path = path.split('/').map(decoded).collect();
        Self { method: method.to_owned(), path, query, headers, body, open: Open::default() }
    }

    /// Whether this is what was recorded. A recorded request has the host's headers too.
    fn allows(&self, asked: &Self) -> bool {
        let Open { query, headers, body } = self.open;
        self.method == asked.method
            && self.path == asked.path
            && (query || self.query == asked.query)
            && (headers || asked.headers.iter().all(|header| self.headers.contains(header)))
            && (body || self.body == asked.body)
    }

    fn shown(&self) -> String {
        let mut line = format!("{} {}", self.method, self.path.join("/"));
        for (place, (key, value)) in self.query.iter().enumerate() {
            // Writing to a text does not fail.
            let _ = write!(line, "{}{key}={value}", if place == 0 { '?' } else { '&' });
        }
        for (name, value) in &self.headers {
            let _ = write!(line, "\n    {name}: {value}");
        }
        if let Some(body) = &self.body {
            let _ = write!(line, "\n    {body}");
        }
        line
    }
}

fn listed(left: &[(Asked, Result<Response, Failure>)]) -> String {
    if left.is_empty() {
        return "  nothing".to_owned();
    }
    left.iter().map(|(asked, _)| format!("  {}", asked.shown())).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;

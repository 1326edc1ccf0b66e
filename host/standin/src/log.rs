//! What reached the stand-in: every request, in order, and how many connections were opened.
//!
//! INVARIANT: a request is in the log before its reply is begun, so that a test that has seen a reply sees its request.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http::HeaderMap;

/// How many requests are kept; older ones are forgotten, so that a benchmark does not fill the memory.
const KEPT: usize = 4096;

/// A request as it arrived.
#[derive(Clone)]
pub struct Seen {
    /// The method, such as `GET`.
    pub method: String,
    /// The path as it was sent, still percent-encoded.
    pub path: String,
    /// The query as it was sent, without its question mark; empty where there is none.
    pub query: String,
    /// The headers, names in lower case, in the order in which the HTTP library keeps them. A value that is not
    /// UTF-8 has U+FFFD in it. Over HTTP/2, `:authority` appears as `host`.
    pub headers: Vec<(String, String)>,
    /// The body, whole (at most 16 MB).
    pub body: Bytes,
    /// The server name of the TLS handshake.
    pub sni: Option<String>,
    /// The protocol that ALPN settled on: `h2`, `http/1.1`, or none.
    pub alpn: Option<String>,
    /// Which connection it came in on, counted from 1.
    pub connection: usize,
}

impl Seen {
    /// The first header of this name (lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn headers_of(map: &HeaderMap) -> Vec<(String, String)> {
        map.iter()
            .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
            .collect()
    }
}

impl fmt::Debug for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<(&str, &str)> = self
            .headers
            .iter()
            .map(|(name, value)| {
                (name.as_str(), if name == "authorization" { "<credential>" } else { value.as_str() })
            })
            .collect();
        f.debug_struct("Seen")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("query", &self.query)
            .field("headers", &headers)
            .field("body", &String::from_utf8_lossy(&self.body))
            .field("sni", &self.sni)
            .field("alpn", &self.alpn)
            .field("connection", &self.connection)
            .finish()
    }
}

/// The log that all connections write to.
#[derive(Debug, Default)]
pub(crate) struct Log {
    requests: Mutex<VecDeque<Seen>>,
    connections: AtomicUsize,
}

impl Log {
    /// Counts a connection and gives its number.
    pub(crate) fn connected(&self) -> usize {
        self.connections.fetch_add(1, Ordering::SeqCst).saturating_add(1)
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn saw(&self, request: Seen) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        if requests.len() >= KEPT {
            requests.pop_front();
        }
        requests.push_back(request);
    }

    pub(crate) fn requests(&self) -> Vec<Seen> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

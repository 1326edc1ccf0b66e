//! The ways in which a stand-in can be told to misbehave, and the rules that say when.
//!
//! A misbehaviour spoils one reply; the request is logged as always. Those that spoil the world's own reply ask the
//! world first, so that a write has happened though its reply is broken; the others never reach the world.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// When a misbehaviour is due. Of several rules that match, the one that was added last is followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum When {
    /// For every request, until [`Standin::behave`](crate::Standin::behave).
    Always,
    /// For the next so many requests.
    Next(u32),
    /// For every request whose path begins with this.
    Path(String),
    /// For the next so many requests whose path begins with this.
    PathNext(String, u32),
}

/// A way to spoil a reply. Unless a variant says otherwise it does the same over HTTP/1.1 and HTTP/2.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misbehaviour {
    /// This status and `Location`, with an empty body. The world is not asked.
    Redirect {
        /// Such as 302 or 307.
        status: u16,
        /// The value of `Location`, as it is.
        location: String,
    },
    /// The world's reply, of which not a byte is sent before `delay` has passed.
    SlowHeaders {
        /// How long it is silent.
        delay: Duration,
    },
    /// The world's reply, its body sent a few bytes at a time, its length not declared.
    Drip {
        /// How many bytes at a time; at least 1.
        bytes: usize,
        /// The pause between.
        every: Duration,
    },
    /// 200 and a JSON array that never ends. The world is not asked.
    EndlessBody,
    /// The world's reply with a `Content-Length` that is larger than its body by so much; then the connection (over
    /// HTTP/2, the stream) is closed properly.
    DeclaredTooLong {
        /// By how many bytes.
        by: usize,
    },
    /// The world's reply with a `Content-Length` that is smaller than its body by so much; all of it is sent.
    DeclaredTooShort {
        /// By how many bytes.
        by: usize,
    },
    /// 200, one good chunk, and then no chunk at all. The world is not asked. Over HTTP/2, which has no chunks, the
    /// stream is reset with `PROTOCOL_ERROR`.
    ChunkedGarbage,
    /// 200 and a gzip body that unpacks to so many MiB of spaces, a thousand times its size. The world is not asked.
    GzipBomb {
        /// The size when unpacked.
        mebibytes: u64,
    },
    /// 200 and a brotli body that unpacks to so many MiB of spaces, 80,000 times its size. The world is not asked.
    BrotliBomb {
        /// The size when unpacked.
        mebibytes: u64,
    },
    /// The world's reply, packed twice, with `Content-Encoding: gzip, gzip`.
    NestedGzip,
    /// The world's reply under another `Content-Type`.
    WrongContentType(String),
    /// This status and a page of HTML, as a proxy in between would send. The world is not asked.
    Html(u16),
    /// The world's reply, its body cut in half and its length declared right.
    TruncatedJson,
    /// The world's reply with a UTF-8 byte order mark before its body.
    Bom,
    /// The world's reply, its body in UTF-16LE with a byte order mark and a content type that says so.
    Utf16,
    /// The world's status and headers, with an empty body.
    EmptyBody,
    /// 204, though the world has been asked and had a body.
    NoContent204,
    /// The key of the request, sent back.
    EchoCredential(Echo),
    /// This status and a message in GitHub's shape. The world is not asked.
    Status {
        /// Such as 429 or 503.
        code: u16,
        /// The value of `Retry-After`, in seconds or as a date, or anything else.
        retry_after: Option<String>,
    },
    /// The world's reply with so many headers more (at most about 32,000).
    ManyHeaders(usize),
    /// The world's reply with one header more, whose value has so many bytes.
    HugeHeader(usize),
    /// The connection ends in the middle, without TLS's goodbye.
    Cut(Cut),
    /// The stream is reset with this code; the connection lives on. The world is not asked. Over HTTP/1.1 the
    /// connection is cut before the status.
    H2Reset {
        /// An error code of RFC 9113, section 7, such as 7, `REFUSED_STREAM`.
        code: u32,
    },
    /// The connection is given up with a `GOAWAY` frame. The world is not asked. Over HTTP/1.1 it is cut before the
    /// status.
    H2GoAway {
        /// The last stream that is said to have been worked on: 0 says that nothing was.
        last_stream: u32,
        /// An error code of RFC 9113, section 7; 0 is none.
        code: u32,
    },
    /// These bytes where the reply should be, inside TLS; then the connection is closed properly. The world is not
    /// asked. Over HTTP/2 they stand where a frame should be.
    RawBytes(Vec<u8>),
}

/// Where a key is echoed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Echo {
    /// In the world's reply: after every text of its JSON body that is not a URL.
    Body,
    /// In the `message` of a 422. The world is not asked.
    ErrorMessage,
    /// In the header `x-echo` of the world's reply.
    Header,
}

/// Where a connection is cut. The world has been asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Before a byte of the reply.
    BeforeStatus,
    /// In the middle of a header.
    InHeaders,
    /// After half of a body whose length was declared; over HTTP/2 as much of that half as the client's window takes.
    MidBody,
    /// After half of a body that was to end with the connection: only TLS can tell that it is not whole. Over HTTP/2
    /// like [`Cut::MidBody`].
    MidBodyUnframed,
    /// After the whole reply, though the connection was to be kept. Over HTTP/2 it is given up with `GOAWAY`.
    AfterBody,
}

/// The rules in force.
#[derive(Debug, Default)]
pub(crate) struct Rules(Mutex<Vec<(When, Misbehaviour)>>);

impl Rules {
    pub(crate) fn add(&self, when: When, misbehaviour: Misbehaviour) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((when, misbehaviour));
    }

    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The misbehaviour that is due for a request of this path, counted as done.
    pub(crate) fn due(&self, path: &str) -> Option<Misbehaviour> {
        let mut rules = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rules.retain(|(when, _)| !matches!(when, When::Next(0) | When::PathNext(_, 0)));
        let (when, misbehaviour) = rules.iter_mut().rev().find(|(when, _)| when.covers(path))?;
        if let When::Next(left) | When::PathNext(_, left) = when {
            *left = left.saturating_sub(1);
        }
        Some(misbehaviour.clone())
    }
}

impl When {
    fn covers(&self, path: &str) -> bool {
        match self {
            Self::Always | Self::Next(_) => true,
            Self::Path(prefix) | Self::PathNext(prefix, _) => path.starts_with(prefix.as_str()),
        }
    }
}

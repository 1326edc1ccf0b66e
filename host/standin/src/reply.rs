//! One reply: status, headers, body. A world makes it; the service sends it, or spoils it first.
//!
//! A body is kept as bytes, so that a reply can be anything, JSON or not.

use std::io::Write;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::Value;

/// A whole reply. Clones share the body.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    derived: Arc<Derived>,
}

/// What follows from a body, made on first use and shared by clones: a page of 600 KB is packed once, not once a
/// request.
#[derive(Debug, Default)]
struct Derived {
    packed: OnceLock<Option<Bytes>>,
    tag: OnceLock<String>,
}

impl Reply {
    /// A reply with this status and body and no headers. A number that is no status code becomes 500.
    pub fn new(status: u16, body: impl Into<Bytes>) -> Self {
        Self {
            status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            headers: HeaderMap::new(),
            body: body.into(),
            derived: Arc::default(),
        }
    }

    /// A JSON reply, with GitHub's content type.
    pub fn json(status: u16, value: &Value) -> Self {
        Self::json_text(status, value.to_string())
    }

    /// A JSON reply from text that is taken as it stands, so that it may be broken.
    pub fn json_text(status: u16, text: impl Into<Bytes>) -> Self {
        Self::new(status, text).header("content-type", "application/json; charset=utf-8")
    }

    /// Adds a header; a second one of the same name stands beside the first. A name or value that HTTP does not
    /// allow is left out.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_bytes(value.as_bytes()))
        {
            // A map has room for 32,768 entries; one more than that is left out like a bad one.
            let _kept = self.headers.try_append(name, value).is_ok();
        }
        self
    }

    /// Sets a header in place of any of the same name.
    #[must_use]
    pub(crate) fn instead(mut self, name: &str, value: &str) -> Self {
        if let Ok(name) = HeaderName::from_bytes(name.as_bytes()) {
            self.headers.remove(name);
        }
        self.header(name, value)
    }

    /// The same reply with another body.
    #[must_use]
    pub(crate) fn with_body(self, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), derived: Arc::default(), ..self }
    }

    /// A weak tag over the body (FNV-1a, eight bytes at a time): enough to tell two replies of ours apart.
    pub(crate) fn tag(&self) -> String {
        let tag = self.derived.tag.get_or_init(|| {
            let hash = self.body.chunks(8).fold(0xcbf2_9ce4_8422_2325_u64, |hash, chunk| {
                let word = chunk.iter().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
                (hash ^ word).wrapping_mul(0x0100_0000_01b3)
            });
            format!("W/\"{hash:016x}\"")
        });
        tag.clone()
    }

    /// The same reply as gzip, with its header; unchanged where it is too small to gain, as GitHub leaves it.
    #[must_use]
    pub(crate) fn packed(self) -> Self {
        const WORTH_PACKING: usize = 1024;
        if self.body.len() < WORTH_PACKING {
            return self;
        }
        match self.derived.packed.get_or_init(|| gzip(&self.body)).clone() {
            Some(packed) => Self { body: packed, ..self }
                .instead("content-encoding", "gzip")
                .header("vary", "Accept-Encoding"),
            None => self,
        }
    }
}

/// The bytes as one gzip member; `None` cannot happen with a memory writer, and then nothing is packed.
pub(crate) fn gzip(bytes: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

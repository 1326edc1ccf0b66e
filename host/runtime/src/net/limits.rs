//! What is taken of an answer: its headers and its body, each within its limit.
//!
//! Refuses too many headers, a left-over encoding, a body over the cap, a stream that stands still. INVARIANT: at most
//! one piece is ever held, whatever the body unpacks to. DESIGN, "Pinned client".

use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use tokio::time::Instant;

use super::Sent;
use super::body::{Piece, Pieces};
use super::error::{Stage, WireError, WireErrorKind, in_body};

/// Most header lines in an answer.
pub(super) const HEADERS_MAX: usize = 100;
/// Most bytes of an answer's headers, names and values.
pub(super) const HEADER_BYTES_MAX: usize = 64 << 10;
/// What the HTTP/2 decoder lets through, so that the limit above is the one that speaks.
pub(super) const H2_HEADER_LIST_MAX: u32 = 256 << 10;
/// Passes headers within their limits and without an encoding that was not undone.
pub(super) fn check_headers(headers: &HeaderMap) -> Result<(), WireError> {
    let refuse = |kind, detail: String| Err(WireError::new(kind, Sent::Yes, detail));
    let bytes = headers.iter().fold(0_usize, |sum, (name, value)| {
        sum.saturating_add(name.as_str().len()).saturating_add(value.len())
    });
    if headers.len() > HEADERS_MAX || bytes > HEADER_BYTES_MAX {
        return refuse(WireErrorKind::HeadersTooLarge, format!("{} headers of {bytes} bytes", headers.len()));
    }
    // The client undoes one gzip or br and takes the header away: what is left is another encoding, or several.
    let identity = |value: &http::HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    if !headers.get_all(CONTENT_ENCODING).iter().all(identity) {
        return refuse(WireErrorKind::BadEncoding, "an encoding is left over".to_owned());
    }
    Ok(())
}

/// The body of a response, at most `cap` bytes of it, waiting at most `idle` for each piece and never past `deadline`.
pub(super) struct Reader {
    response: reqwest::Response,
    cap: u64,
    left: u64,
    idle: Duration,
    deadline: Instant,
}

impl Reader {
    /// Refuses a body that is announced longer than the cap.
    pub(super) fn new(
        response: reqwest::Response,
        cap: u64,
        idle: Duration,
        deadline: Instant,
    ) -> Result<Self, WireError> {
        let reader = Self { response, cap, left: cap, idle, deadline };
        match reader.response.content_length() {
            Some(announced) if announced > cap => Err(reader.too_large(announced)),
            _ => Ok(reader),
        }
    }

    fn too_large(&self, seen: u64) -> WireError {
        let detail = format!("{seen} bytes seen or announced, {} allowed", self.cap);
        WireError::new(WireErrorKind::ResponseTooLarge, Sent::Yes, detail)
    }

    async fn piece(&mut self) -> Result<Option<Bytes>, WireError> {
        let idle_ends = Instant::now().checked_add(self.idle).unwrap_or(self.deadline);
        let (until, stage) =
            if idle_ends < self.deadline { (idle_ends, Stage::Idle) } else { (self.deadline, Stage::Total) };
        let piece = match tokio::time::timeout_at(until, self.response.chunk()).await {
            Err(_elapsed) => {
                let detail = format!("after {} bytes", self.cap.saturating_sub(self.left));
                return Err(WireError::new(WireErrorKind::Timeout { stage }, Sent::Yes, detail));
            }
            Ok(Err(error)) => return Err(in_body(&error, Sent::Yes)),
            Ok(Ok(None)) => return Ok(None),
            Ok(Ok(Some(piece))) => piece,
        };
        let size = u64::try_from(piece.len()).unwrap_or(u64::MAX);
        let seen = self.cap.saturating_sub(self.left).saturating_add(size);
        self.left = self.left.checked_sub(size).ok_or_else(|| self.too_large(seen))?;
        Ok(Some(piece))
    }
}

impl Pieces for Reader {
    fn next(&mut self) -> Piece<'_> {
        Box::pin(self.piece())
    }
}

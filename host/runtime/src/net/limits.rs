//! What is taken of an answer: its headers and its body, each within its limit.
//!
//! Refuses too many headers, a left-over encoding, a body over the cap, a stream that stands still. INVARIANT: at most the
//! cap plus one piece is ever held, whatever the body unpacks to. DESIGN, "Pinned client".

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;

use super::Sent;
use super::error::{Stage, WireError, WireErrorKind, in_body};

/// Most header lines in an answer.
pub(super) const HEADERS_MAX: usize = 100;
/// Most bytes of an answer's headers, names and values.
pub(super) const HEADER_BYTES_MAX: usize = 64 << 10;
/// What the HTTP/2 decoder lets through, so that the limit above is the one that speaks.
pub(super) const H2_HEADER_LIST_MAX: u32 = 256 << 10;
/// Most bytes set aside on an announced length alone.
const RESERVE_MAX: u64 = 1 << 20;

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

/// Reads the body to its end, at most `cap` bytes, waiting at most `idle` for each piece.
pub(super) async fn read_body(
    response: &mut reqwest::Response,
    cap: u64,
    idle: Duration,
) -> Result<Bytes, WireError> {
    let announced = response.content_length().unwrap_or(0);
    let too_large = |seen: u64| {
        let detail = format!("{seen} bytes seen or announced, {cap} allowed");
        WireError::new(WireErrorKind::ResponseTooLarge, Sent::Yes, detail)
    };
    if announced > cap {
        return Err(too_large(announced));
    }
    let mut body = BytesMut::with_capacity(usize::try_from(announced.min(RESERVE_MAX)).unwrap_or(0));
    let mut left = cap;
    loop {
        let piece = match tokio::time::timeout(idle, response.chunk()).await {
            Err(_elapsed) => {
                let kind = WireErrorKind::Timeout { stage: Stage::Idle };
                return Err(WireError::new(kind, Sent::Yes, format!("after {} bytes", body.len())));
            }
            Ok(Err(error)) => return Err(in_body(&error, Sent::Yes)),
            Ok(Ok(None)) => return Ok(body.freeze()),
            Ok(Ok(Some(piece))) => piece,
        };
        let size = u64::try_from(piece.len()).unwrap_or(u64::MAX);
        left =
            left.checked_sub(size).ok_or_else(|| too_large(cap.saturating_sub(left).saturating_add(size)))?;
        body.extend_from_slice(&piece);
    }
}

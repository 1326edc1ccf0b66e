//! How far one request got, told by its own body.
//!
//! INVARIANT: "not sent" is said only when the HTTP library has not even asked whether there is a body. It must ask before
//! it can write the head, on HTTP/1.1 and HTTP/2 alike, because the framing depends on it; it asks on the connection, after
//! the handshake. Everything later is "maybe" until a status comes back. DESIGN, "Pinned client": `sent`.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::Sent;

const WAITING: u8 = 0;
const STARTED: u8 = 1;
const ANSWERED: u8 = 2;

/// Shared between the exchange and the body it handed over; only ever moves forward.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress(Arc<AtomicU8>);

impl Progress {
    /// The request may be on its way.
    fn started(&self) {
        self.0.fetch_max(STARTED, Ordering::SeqCst);
    }

    /// A status came back.
    pub(super) fn answered(&self) {
        self.0.fetch_max(ANSWERED, Ordering::SeqCst);
    }

    /// What can be said now.
    pub(super) fn sent(&self) -> Sent {
        match self.0.load(Ordering::SeqCst) {
            WAITING => Sent::No,
            ANSWERED => Sent::Yes,
            _ => Sent::Maybe,
        }
    }
}

/// A body of known length that notes when it is first looked at. An empty one is "no body".
pub(super) struct WatchedBody {
    pub(super) bytes: Bytes,
    pub(super) progress: Progress,
}

impl Body for WatchedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.progress.started();
        let bytes = std::mem::take(&mut self.bytes);
        Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.progress.started();
        self.bytes.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        u64::try_from(self.bytes.len()).map_or_else(|_huge| SizeHint::default(), SizeHint::with_exact)
    }
}

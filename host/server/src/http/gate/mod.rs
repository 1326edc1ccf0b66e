//! What stands between a socket and the HTTP library: nothing ambiguous gets through.
//!
//! The library is lenient, as it may be: it takes a lone line feed for an end of line, the chunks where there is a length too,
//! and the first of two lengths that agree. A proxy in front may take such a request for another one (request smuggling).
//! INVARIANT: each message has one length, and where it ends is beyond doubt; else it is answered with 400, or 431 where its
//! head is too long, and the connection ends. RFC 9112, sections 2.2, 6.3 and 11.2.

mod framing;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use self::framing::{Framing, Why};

/// A socket whose reader sees well-framed messages only.
#[derive(Debug)]
pub(crate) struct Gate<S> {
    socket: S,
    framing: Framing,
    refused: Option<Why>,
}

impl<S> Gate<S> {
    /// A gate before this socket, for heads of at most so many bytes.
    pub(crate) fn new(socket: S, head_bytes: usize) -> Self {
        Self { socket, framing: Framing::new(head_bytes), refused: None }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Gate<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        match this.refused {
            // The library answers when its own buffer is full.
            Some(Why::TooLong) => {
                buffer.initialize_unfilled().fill(b'a');
                buffer.advance(buffer.remaining());
                return Poll::Ready(Ok(()));
            }
            Some(Why::Malformed) => return Poll::Ready(Ok(())),
            None => {}
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.socket).poll_read(context, buffer))?;
        let read = buffer.filled().get(before..).unwrap_or_default();
        if let Err((at, why)) = this.framing.take(read) {
            this.refused = Some(why);
            // Nowhere allowed: the library sees for itself that this is no request.
            let end = before.saturating_add(at);
            if let Some(byte) = buffer.filled_mut().get_mut(end) {
                *byte = if why == Why::Malformed { 0 } else { b'a' };
            }
            buffer.set_filled(buffer.filled().len().min(end.saturating_add(1)));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Gate<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().socket).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_shutdown(context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().socket).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }
}

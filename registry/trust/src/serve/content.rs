//! The body of an answer: a few bytes, or a file that is read a piece at a time.
//!
//! INVARIANT: a file's body has exactly the length that was said; one that ends early ends the connection.

use std::fs::File;
use std::io::{self, Read as _};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// How much of a file is in memory at once, in bytes.
const PIECE: usize = 64 << 10;

/// What an answer carries.
#[derive(Debug)]
pub struct Content(Kind);

#[derive(Debug)]
enum Kind {
    Bytes(Bytes),
    File { file: File, left: u64 },
}

impl Content {
    pub(super) fn bytes(bytes: impl Into<Bytes>) -> Self {
        Self(Kind::Bytes(bytes.into()))
    }

    pub(super) fn file(file: File, length: u64) -> Self {
        Self(Kind::File { file, left: length })
    }

    fn left(&self) -> u64 {
        match &self.0 {
            Kind::Bytes(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            Kind::File { left, .. } => *left,
        }
    }

    fn piece(&mut self) -> io::Result<Bytes> {
        match &mut self.0 {
            Kind::Bytes(bytes) => Ok(std::mem::take(bytes)),
            Kind::File { file, left } => {
                let mut piece = vec![0; PIECE.min(usize::try_from(*left).unwrap_or(PIECE))];
                file.read_exact(&mut piece)?;
                *left = left.saturating_sub(u64::try_from(piece.len()).unwrap_or(u64::MAX));
                Ok(piece.into())
            }
        }
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = io::Error;

    /// Reads from the local disk where it stands: a piece is too small to be worth a thread of its own.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.left() == 0 {
            return Poll::Ready(None);
        }
        Poll::Ready(Some(self.piece().map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.left() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left())
    }
}

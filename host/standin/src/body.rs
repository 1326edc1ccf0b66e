//! The bodies that leave the stand-in: whole, in drips, without end, or stuck half-way.
//!
//! INVARIANT: nothing here grows: an endless body is one piece that is sent again and again, and only as fast as the
//! client reads.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::Sleep;

/// A body on its way out.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// All of it at once, its length declared.
    Whole(Bytes),
    /// A few bytes, then a pause, and so on; its length is not declared.
    Drip { rest: Bytes, piece: usize, every: Duration, pause: Option<Pin<Box<Sleep>>> },
    /// A beginning, one piece repeated, an end; its length is not declared.
    Repeat { head: Bytes, unit: Bytes, times: u64, tail: Bytes },
    /// Some bytes, then nothing more and no end; the connection is about to be cut.
    Stuck { first: Bytes },
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut *self {
            Self::Whole(bytes) => taken(bytes),
            Self::Drip { rest, piece, every, pause } => {
                if let Some(sleep) = pause {
                    ready!(sleep.as_mut().poll(context));
                }
                *pause = Some(Box::pin(tokio::time::sleep(*every)));
                let size = rest.len().min((*piece).max(1));
                taken(&mut rest.split_to(size))
            }
            Self::Repeat { head, unit, times, tail } => {
                if head.has_remaining() {
                    taken(head)
                } else if *times > 0 {
                    *times = times.saturating_sub(1);
                    Some(unit.clone())
                } else {
                    taken(tail)
                }
            }
            Self::Stuck { first } => match taken(first) {
                Some(bytes) => Some(bytes),
                // Nobody wakes this: it is dropped with its connection.
                None => return Poll::Pending,
            },
        };
        Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(u64::try_from(bytes.len()).unwrap_or(u64::MAX)),
            _ => SizeHint::default(),
        }
    }
}

/// Takes what is there, leaving nothing; `None` where nothing is there.
fn taken(bytes: &mut Bytes) -> Option<Bytes> {
    Some(std::mem::take(bytes)).filter(|bytes| !bytes.is_empty())
}

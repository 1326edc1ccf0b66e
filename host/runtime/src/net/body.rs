//! The body of an answer, piece by piece as it comes.
//!
//! INVARIANT: whoever makes the pieces counts them and watches the clock; whoever reads them gets at most what the limits
//! of the exchange allow, or an error. DESIGN, "Pinned client": body caps.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;

use super::WireError;

/// The future of one piece; `None` is the end.
pub type Piece<'a> = Pin<Box<dyn Future<Output = Result<Option<Bytes>, WireError>> + Send + 'a>>;

/// Something that brings a body piece by piece.
pub trait Pieces: Send {
    /// The next piece, decompressed. Not asked again after the end or an error.
    fn next(&mut self) -> Piece<'_>;
}

/// The body of an answer.
pub struct Body(Box<dyn Pieces>);

impl Body {
    /// A body that comes piece by piece.
    pub fn new(pieces: impl Pieces + 'static) -> Self {
        Self(Box::new(pieces))
    }

    /// A body that is there already.
    pub fn whole(bytes: impl Into<Bytes>) -> Self {
        Self::new(Whole(Some(bytes.into())))
    }

    /// The next piece.
    pub async fn next(&mut self) -> Result<Option<Bytes>, WireError> {
        self.0.next().await
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Body(..)")
    }
}

struct Whole(Option<Bytes>);

impl Pieces for Whole {
    fn next(&mut self) -> Piece<'_> {
        let bytes = self.0.take().filter(|bytes| !bytes.is_empty());
        Box::pin(std::future::ready(Ok(bytes)))
    }
}

//! The body of a request, whole or refused, and whether it was read.
//!
//! INVARIANT: no more than the limit is ever held, whatever the request says of its length; and no body is waited for longer
//! than the limit's time.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body_util::BodyExt as _;
use hyper::body::{Frame, SizeHint};
use pinhole_runtime::clock::Timer;

use super::{HttpLimits, Refused};

/// Reads all of it.
pub(crate) async fn whole(body: Body, limits: &HttpLimits, timer: &dyn Timer) -> Result<Bytes, Refused> {
    let most = limits.body_bytes;
    // What says that it is too long is not waited for.
    if body.size_hint().lower() > u64::try_from(most).unwrap_or(u64::MAX) {
        return Err(Refused::TooLarge(most));
    }
    tokio::select! {
        biased;
        read = read(body, most) => read,
        () = timer.wait(limits.body_time) => Err(Refused::TooSlow),
    }
}

/// Whether the body is JSON by its header.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let mut all = headers.get_all(CONTENT_TYPE).iter();
    let (Some(one), None) = (all.next(), all.next()) else { return false };
    let essence = one.to_str().ok().and_then(|text| text.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

async fn read(mut body: Body, most: usize) -> Result<Bytes, Refused> {
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.or(Err(Refused::CutOff))?;
        // Trailers say nothing here.
        let Ok(data) = frame.into_data() else { continue };
        if data.len() > most - first.len().max(all.len()) {
            return Err(Refused::TooLarge(most));
        }
        if first.is_empty() && all.is_empty() {
            first = data;
            continue;
        }
        if all.is_empty() {
            all.extend_from_slice(&first);
        }
        all.extend_from_slice(&data);
    }
    Ok(if all.is_empty() { first } else { all.freeze() })
}

/// A body that says when it was read to its end.
#[derive(Debug)]
pub(super) struct Watched<B> {
    body: B,
    at_end: Arc<AtomicBool>,
}

impl<B: HttpBody> Watched<B> {
    /// The body, and whether nothing is left of it.
    pub(super) fn new(body: B) -> (Self, Arc<AtomicBool>) {
        let at_end = Arc::new(AtomicBool::new(body.is_end_stream()));
        (Self { body, at_end: Arc::clone(&at_end) }, at_end)
    }
}

impl<B: HttpBody + Unpin> HttpBody for Watched<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let this = self.get_mut();
        let frame = ready!(Pin::new(&mut this.body).poll_frame(context));
        if frame.is_none() {
            this.at_end.store(true, Ordering::Relaxed);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

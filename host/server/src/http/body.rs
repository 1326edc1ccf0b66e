//! The body of a request, whole or refused.
//!
//! INVARIANT: no more than the limit is ever held, whatever the request says of its length; and no body is waited for longer
//! than the limit's time.

use axum::body::{Body, HttpBody as _};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
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

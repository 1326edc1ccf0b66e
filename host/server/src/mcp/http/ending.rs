//! When a call ends: with its client or without, and at the latest.
//!
//! INVARIANT: no stream outlives the token that opened it by more than [`RECHECK`]; one that would never end does when the
//! server is told to stop. A call of the older protocol runs to its end whoever listens.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use pinhole_runtime::clock::Timer;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::share::Share;
use crate::http::{Admission, Admitted};

/// How often it is looked whether the token behind a stream is still good.
const RECHECK: Duration = Duration::from_secs(15);
/// Most parts of a stream that wait for a reader.
const PARTS_WAITING: usize = 16;

/// When a stream ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// When the call has its result.
    WithItself,
    /// Never by itself.
    AtStop,
}

/// Looks whether who opened a stream would still be let in.
pub(super) struct Rechecked {
    pub(super) admission: Arc<Admission>,
    pub(super) admitted: Admitted,
    pub(super) timer: Arc<dyn Timer>,
}

impl fmt::Debug for Rechecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rechecked").field("admitted", &self.admitted).finish_non_exhaustive()
    }
}

impl Rechecked {
    /// Returns when they would not.
    async fn refused(self) {
        loop {
            self.timer.wait(RECHECK).await;
            if !self.admission.is_still(&self.admitted).await {
                return;
            }
        }
    }
}

/// The answer with an end to its stream, where it is one. The share is held for as long as it runs.
pub(super) fn bounded(
    answer: Response,
    ending: Ending,
    rechecked: Rechecked,
    stop: CancellationToken,
    share: Arc<Share>,
) -> Response {
    if !is_stream(&answer) {
        return answer;
    }
    let over = async move {
        let stopped = async {
            match ending {
                Ending::WithItself => std::future::pending().await,
                Ending::AtStop => stop.cancelled().await,
            }
        };
        tokio::select! {
            () = stopped => {}
            () = rechecked.refused() => {}
        }
    };
    let (parts, body) = answer.into_parts();
    let parts_of_it = body.into_data_stream().take_until(Box::pin(over));
    let held = parts_of_it.map(move |part| {
        let _until_the_end = &share;
        part
    });
    Response::from_parts(parts, Body::from_stream(held))
}

/// Runs a call to its end, whether or not somebody waits for the answer; until then it has its part of the share.
pub(super) async fn detached(
    call: impl Future<Output = Response> + Send + 'static,
    tasks: &TaskTracker,
    share: Arc<Share>,
) -> Response {
    let (give, given) = oneshot::channel();
    tasks.spawn(async move {
        let answer = call.await;
        if is_stream(&answer) {
            let (parts, body) = answer.into_parts();
            let (sender, receiver) = mpsc::channel::<Result<Bytes, axum::Error>>(PARTS_WAITING);
            let read = stream::unfold(receiver, |mut receiver| async move {
                receiver.recv().await.map(|part| (part, receiver))
            });
            let somebody = give.send(Response::from_parts(parts, Body::from_stream(read))).is_ok();
            read_on(body, sender, somebody).await;
        } else if give.send(answer).is_err() {
            tracing::debug!("a call ended after its client");
        }
        drop(share);
    });
    given.await.unwrap_or_else(|_stopped| {
        let mut answer = Response::new(Body::empty());
        *answer.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        answer
    })
}

/// A stream that is not read to its end would end its call.
async fn read_on(body: Body, sender: mpsc::Sender<Result<Bytes, axum::Error>>, mut somebody: bool) {
    let mut body = body.into_data_stream();
    while let Some(part) = body.next().await {
        somebody = somebody && sender.send(part).await.is_ok();
    }
}

fn is_stream(answer: &Response) -> bool {
    answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream")
}

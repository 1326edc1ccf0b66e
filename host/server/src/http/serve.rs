//! Accepting connections, and ending them.
//!
//! HTTP/1.1 only. INVARIANT: connections at once, the size of a head and the time that it may take are bounded; once told to
//! stop, nothing new is accepted, what runs has so much time and no more, and then the port is free. An answer to a request
//! whose body was not read to its end says that the connection is closed.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::response::Response;
use http::HeaderValue;
use http::header::CONNECTION;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use pinhole_runtime::clock::Timer;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use super::HttpLimits;
use super::body::Watched;
use super::gate::Gate;
use super::listen::{Arrived, Listen};
use super::places::{Places, Standing};

/// Most headers of a request.
const HEADERS_MAX: usize = 64;
/// What the library needs at least, in bytes.
const HEAD_BYTES_MIN: usize = 8 << 10;
/// What is waited after the system could accept no connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// What somebody is told for whom there is no room.
const NO_ROOM: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// Where a request comes from.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    pub(crate) address: IpAddr,
    /// How its connection stands.
    pub(crate) standing: Standing,
}

/// How a door stops.
#[derive(Debug, Clone)]
pub(crate) struct Draining {
    /// Told to.
    pub(crate) stop: CancellationToken,
    /// What still runs is cut off; told by [`serve`].
    pub(crate) cut: CancellationToken,
    /// What runs without a connection.
    pub(crate) tasks: TaskTracker,
}

/// Why a door does not serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The listener has no address.
    #[error("the listener has no address")]
    NoAddress(#[source] std::io::Error),
}

/// Serves until it is told to stop, then for as long as `limits.drain` lets it.
pub(crate) async fn serve(
    listener: impl Listen,
    routes: Router,
    limits: HttpLimits,
    timer: Arc<dyn Timer>,
    Draining { stop, cut, tasks }: Draining,
) {
    let places = Places::new(limits.connections);
    let graceful = GracefulShutdown::new();
    loop {
        let Arrived { stream, address } = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    timer.wait(ACCEPT_PAUSE).await;
                    continue;
                }
            },
        };
        let Some(place) = places.take().await else {
            turn_away(&listener, &stream);
            continue;
        };
        let peer = Peer { address, standing: place.standing() };
        let connection = graceful.watch(connection(stream, peer, routes.clone(), &limits));
        let cut = cut.clone();
        tokio::spawn(async move {
            tokio::select! {
                ended = connection => if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended early");
                },
                () = cut.cancelled() => {}
                () = place.is_needed() => tracing::debug!("a connection without a token made room for another"),
            }
            drop(place);
        });
    }
    drop(listener);
    tasks.close();
    let all_done = async {
        graceful.shutdown().await;
        tasks.wait().await;
    };
    tokio::select! {
        biased;
        () = all_done => {}
        () = timer.wait(limits.drain) => tracing::warn!("requests that still ran were cut off"),
    }
    cut.cancel();
    // Until every connection is dropped.
    places.all_free().await;
}

fn connection<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    peer: Peer,
    routes: Router,
    limits: &HttpLimits,
) -> http1::Connection<
    TokioIo<Gate<S>>,
    impl hyper::service::Service<
        hyper::Request<Incoming>,
        Response = Response,
        Error = Infallible,
        Future: Send + 'static,
    > + use<S>,
> {
    let answer = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(peer.clone());
        let (head, body) = request.into_parts();
        let (body, at_end) = Watched::new(body);
        let answering = routes.clone().oneshot(http::Request::from_parts(head, axum::body::Body::new(body)));
        async move {
            let mut answer = answering.await?;
            // What is left of the body is not waited for.
            if !at_end.load(Ordering::Relaxed) {
                answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok(answer)
        }
    });
    let head_bytes = limits.head_bytes.max(HEAD_BYTES_MIN);
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_headers(HEADERS_MAX)
        .max_buf_size(head_bytes)
        .serve_connection(TokioIo::new(Gate::new(stream, head_bytes)), answer)
}

/// Says so where the system takes it at once; nobody is waited for.
fn turn_away<L: Listen>(_listener: &L, stream: &L::Stream) {
    if let Err(error) = L::say(stream, NO_ROOM) {
        tracing::debug!(%error, "a connection was closed for want of room");
    }
}

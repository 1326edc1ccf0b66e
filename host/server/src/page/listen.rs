//! The sockets of the page: few connections, each for a bounded time.
//!
//! Decides nothing about a request. INVARIANT: it listens on the loopback address alone, and whoever says nothing, or says it
//! slowly, is let go of.

use std::convert::Infallible;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::neighbour::{self, Neighbour};
use super::{Ended, Room, reply, route};

/// Most connections at once; the next ones wait.
const CONNECTIONS_MAX: usize = 64;
/// How long a connection may last: longer than a person's answer takes to be worked out.
const LIFETIME: Duration = Duration::from_mins(5);
/// Most bytes of a request's line and headers.
const HEADERS_MAX: usize = 16 << 10;
/// How long the listener waits when the system has no more sockets to give.
const BREATH: Duration = Duration::from_millis(100);

/// Serves until `stop` is there, or nobody has used the page for as long as it waits.
pub(super) async fn run(listener: TcpListener, room: Arc<Room>, stop: impl Future<Output = ()>) -> Ended {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut connections = JoinSet::new();
    let idle = room.unused();
    let (mut stop, mut idle) = (std::pin::pin!(stop), std::pin::pin!(idle));
    loop {
        while connections.try_join_next().is_some() {}
        let accepted = async {
            // Nobody closes the places.
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            () = &mut stop => return Ended::Stopped,
            () = &mut idle => return Ended::Unused,
            accepted = accepted => accepted,
        };
        let Ok((stream, from)) = accepted else {
            tokio::time::sleep(BREATH).await;
            continue;
        };
        let room = Arc::clone(&room);
        connections.spawn(async move {
            // Faults of a connection are its client's, and end with it.
            let served = tokio::time::timeout(LIFETIME, speak(stream, from, room));
            drop(served.await);
            drop(place);
        });
    }
}

async fn speak(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    from: SocketAddr,
    room: Arc<Room>,
) -> hyper::Result<()> {
    let patience = room.patience.request;
    let here = SocketAddr::from((Ipv4Addr::LOCALHOST, room.port));
    let neighbour = tokio::task::spawn_blocking(move || neighbour::at(from, here)).await;
    let neighbour = neighbour.unwrap_or(Neighbour::Other);
    let service = service_fn(move |request| {
        let room = Arc::clone(&room);
        async move {
            Ok::<_, Infallible>(match neighbour {
                Neighbour::Own => route::answer(&room, request).await,
                Neighbour::Other => reply::text(StatusCode::FORBIDDEN, "this page is another user's"),
            })
        }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .await
}

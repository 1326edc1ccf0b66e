//! The sockets of the page: few connections, each for a bounded time.
//!
//! Decides nothing about a request. INVARIANT: it listens on the loopback address alone; another user of the machine takes no
//! place, and is not read; and whoever says nothing, or says it slowly, is let go of.

use std::convert::Infallible;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::neighbour::{self, Neighbour};
use super::{Ended, Room, route};

/// Most connections at once; the next ones wait.
const CONNECTIONS_MAX: usize = 64;
/// Most that are looked up together.
const TOGETHER: usize = 64;
/// How long a connection may last: longer than a person's answer takes to be worked out.
const LIFETIME: Duration = Duration::from_mins(5);
/// Most bytes of a request's line and headers.
const HEADERS_MAX: usize = 16 << 10;
/// How long the listener waits when the system has no more sockets to give.
const BREATH: Duration = Duration::from_millis(100);

/// Serves until `stop` is there, or nobody has used the page for as long as it waits.
pub(super) async fn run(listener: TcpListener, room: Arc<Room>, stop: impl Future<Output = ()>) -> Ended {
    tokio::select! {
        () = stop => Ended::Stopped,
        () = room.unused() => Ended::Unused,
        never = serve(&listener, &room) => match never {},
    }
}

async fn serve(listener: &TcpListener, room: &Arc<Room>) -> Infallible {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut connections = JoinSet::new();
    let here = SocketAddr::from((Ipv4Addr::LOCALHOST, room.port));
    loop {
        while connections.try_join_next().is_some() {}
        let Ok(arrived) = arrived(listener, here).await else {
            tokio::time::sleep(BREATH).await;
            continue;
        };
        for stream in arrived {
            // Nobody closes the places.
            let place = Arc::clone(&places).acquire_owned().await;
            let room = Arc::clone(room);
            connections.spawn(async move {
                // Faults of a connection are its client's, and end with it.
                let served = tokio::time::timeout(LIFETIME, speak(stream, room));
                drop(served.await);
                drop(place);
            });
        }
    }
}

/// Those of this user who have come, at least one who has come at all; all others are let go of before anything is read.
async fn arrived(listener: &TcpListener, here: SocketAddr) -> std::io::Result<Vec<TcpStream>> {
    let mut arrived = vec![listener.accept().await?];
    while arrived.len() < TOGETHER
        && let Some(Ok(next)) = listener.accept().now_or_never()
    {
        arrived.push(next);
    }
    let from: Vec<SocketAddr> = arrived.iter().map(|(_, from)| *from).collect();
    let neighbours = tokio::task::spawn_blocking(move || neighbour::of(&from, here)).await;
    // Of whom nothing is known, nobody stays.
    let neighbours = neighbours.unwrap_or_default();
    Ok(arrived.into_iter().zip(neighbours).filter_map(|((stream, _), who)| own(stream, who)).collect())
}

fn own(stream: TcpStream, who: Neighbour) -> Option<TcpStream> {
    match who {
        Neighbour::Own => Some(stream),
        Neighbour::Other => {
            tracing::debug!("a connection that is not this user's was let go of");
            // Nothing of it stays in the system's table either, which is read for whoever comes next.
            stream.set_zero_linger().unwrap_or_default();
            None
        }
    }
}

async fn speak(stream: TcpStream, room: Arc<Room>) -> hyper::Result<()> {
    let patience = room.patience.request;
    let service = service_fn(move |request| {
        let room = Arc::clone(&room);
        async move { Ok::<_, Infallible>(route::answer(&room, request).await) }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .await
}

//! The sidecar: HTTP for bots' operators and members' clients. Whoever may connect posts an op and a sealed grant, and gets a
//! picked outcome.
//!
//! ```text
//! request ─► id, log, count ─► Host, Origin ─► who ─► body ─► [its turn] ─► the spine, under the posted grant ─► outcome
//! ```
//! Through a socket file come the host's own user and the superuser; over TCP, on loopback, the holders of bearer tokens, whose
//! reach narrows what shows and runs. INVARIANT: nothing here permits a call: the grant does, which the spine opens. No grant, arg,
//! token or result is in a log, a metric or an error. DESIGN, "Doors": Sidecar.

mod answer;
mod asked;
mod dead;
mod door;
mod listed;
mod lists;
mod metrics;
mod openapi;
mod posted;
mod queue;
mod receipts;
mod research;
mod run;
mod sessions;
mod tools;
mod turned_away;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, delete, get, post};
use pinhole_runtime::Executor;
use pinhole_runtime::clock::Timer;
use pinhole_runtime::store::Desk;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use asked::LOG_TARGET;
pub use openapi::document as openapi;
pub use queue::QueueLimits;

use crate::Reach;
#[cfg(unix)]
use crate::http::SocketFile;
use crate::http::{
    Admission, Bearer, Bound, Draining, Front, HttpLimits, HttpSettings, PageHeaders, Refused, ServeError,
    metadata, serve as serve_routes,
};
use answer::refused;
use door::Door;

/// How many lists of receipts are made at once: each looks through thousands.
const LOOKING_MAX: usize = 2;

/// Longest body of a request, in bytes.
pub const BODY_BYTES_MAX: usize = 1 << 20;

const PAGES: PageHeaders = PageHeaders { sent: &["x-request-id"], seen: &["x-request-id"] };

/// Who runs the calls that are posted, and on what.
#[expect(missing_debug_implementations, reason = "it holds the bot's key")]
pub struct Sidecar {
    /// Runs them; its store is the same as `desk`.
    pub executor: Executor,
    /// What is stored here.
    pub desk: Arc<dyn Desk>,
    /// For how long things take.
    pub timer: Arc<dyn Timer>,
    /// What is offered at most.
    pub reach: Reach,
    /// How many at once, and how many wait.
    pub queue: QueueLimits,
    /// Which hosts and origins are answered to, and the limits of HTTP.
    pub http: HttpSettings,
}

/// Where a sidecar listens.
#[derive(Debug)]
#[non_exhaustive]
pub enum At {
    /// On a loopback address, to who has a token.
    Tcp(TcpListener, Bearer),
    /// At a socket file, to the user whose it is.
    #[cfg(unix)]
    File(SocketFile),
}

/// The limits of HTTP as a sidecar has them: a bot's calls are many, and each takes as long as its service does.
pub fn http_limits() -> HttpLimits {
    HttpLimits {
        body_bytes: BODY_BYTES_MAX,
        connections: 512,
        drain: std::time::Duration::from_secs(30),
        ..HttpLimits::default()
    }
}

/// Serves until `stop`, and then for as long as the limits let what runs go on. Calls that wait for their turn then are
/// turned away.
pub async fn serve(sidecar: Sidecar, at: At, stop: CancellationToken) -> Result<(), ServeError> {
    let Sidecar { executor, desk, timer, reach, queue, http } = sidecar;
    let limits = http.limits;
    let settings = Arc::new(http);
    let draining = Draining { stop: stop.clone(), cut: CancellationToken::new(), tasks: TaskTracker::new() };
    let (bound, admission) = match &at {
        At::Tcp(listener, bearer) => {
            let bound = listener.local_addr().map_err(ServeError::NoAddress)?;
            (Bound::At(bound), Some(Admission::new(bearer.clone(), limits.failures)))
        }
        #[cfg(unix)]
        At::File(_) => (Bound::File, None),
    };
    let door = Arc::new(Door {
        executor: Arc::new(executor),
        desk,
        timer: Arc::clone(&timer),
        reach,
        queue: queue::Queue::new(queue),
        turned_away: turned_away::TurnedAway::default(),
        admission,
        settings: Arc::clone(&settings),
        stop,
        tasks: draining.tasks.clone(),
        metrics: metrics::Metrics::default(),
        listed: listed::Listed::default(),
        looking: Arc::new(Semaphore::new(LOOKING_MAX)),
        dead: dead::Dead::default(),
        sessions: sessions::Sessions::default(),
    });
    let routes = routes(&door, Front::saying(settings, bound, refused));
    match at {
        At::Tcp(listener, _bearer) => serve_routes(listener, routes, limits, timer, draining).await,
        #[cfg(unix)]
        At::File(socket) => serve_routes(socket, routes, limits, timer, draining).await,
    }
    // What was written down until here is signed.
    door.executor.close().await;
    Ok(())
}

fn routes(door: &Arc<Door>, front: Front) -> Router {
    let wrong_method = |allowed: &'static str| move || async move { refused(&Refused::Method(allowed)) };
    let posted = |route: MethodRouter<Arc<Door>>| route.fallback(wrong_method("POST"));
    let got = |route: MethodRouter<Arc<Door>>| route.fallback(wrong_method("GET"));
    let routes = Router::new()
        .route("/v1/run", posted(post(run::run)))
        .route("/v1/explain", posted(post(run::explain)))
        .route("/v1/research", posted(post(research::open)))
        .route("/v1/research/{id}", delete(research::end).fallback(wrong_method("DELETE")))
        .route("/v1/research/{id}/call", posted(post(research::call)))
        .route("/v1/services", got(get(lists::services)))
        .route("/v1/tools", got(get(tools::tools)))
        .route("/v1/receipts", got(get(receipts::receipts)))
        .route("/healthz", got(get(lists::health)))
        .route("/metrics", got(get(lists::metrics)))
        .route("/openapi.json", got(get(lists::openapi)))
        .route(metadata::WELL_KNOWN, got(get(lists::about)))
        .with_state(Arc::clone(door));
    front.around(routes, "/openapi.json", PAGES).layer(from_fn_with_state(Arc::clone(door), asked::asked))
}

//! MCP over streamable HTTP: `rmcp`'s service behind the bearer check, the limits and the sessions of this door.
//!
//! Both eras at one address: a request of 2026-07-28 stands alone and ends with its connection; one of an older version goes
//! on when its client goes away. INVARIANT: what the handler is called with has a [`crate::Principal`] in the extensions of its
//! `http::request::Parts`, from a token that was good a moment ago, and no token. MCP 2026-07-28, "Transports", "Authorization".

mod ending;
mod era;
mod message;
mod said;
mod sessions;
mod share;

use std::fmt;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{any, get};
use http::header::{ACCEPT, AUTHORIZATION, HeaderName};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use pinhole_grant::PrincipalId;
use pinhole_manifest::Access;
use rmcp::ServerHandler;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::ending::{Ending, Rechecked};
use self::era::Era;
use self::message::{Message, What};
use self::said::No;
use self::sessions::{Seat, Service};
use self::share::{Share, Shares};
use crate::http::{
    Admission, Admitted, Bearer, Draining, Front, HttpSettings, NamedHost, PageHeaders, Peer, Refused,
    ServeError, Sessions, is_json, metadata, serve as serve_routes, whole,
};
use crate::mcp::values::{marks, too_many};

/// The path of the endpoint.
pub const MCP_PATH: &str = "/mcp";

/// Longest `initialize`, in bytes.
const INITIALIZE_BYTES_MAX: usize = 64 << 10;
/// Most values of an `initialize`.
const INITIALIZE_VALUES_MAX: usize = 1_000;
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const PAGES: PageHeaders = PageHeaders {
    sent: &["mcp-protocol-version", "mcp-session-id", "mcp-method", "mcp-name", "last-event-id"],
    seen: &["mcp-protocol-version", "mcp-session-id"],
};

/// Says how heavy a tool's calls are. Nobody is let through by it: it only chooses the window that they count in.
pub trait Weigh: Send + Sync {
    /// What the tool of this name does; `None` where there is none.
    fn access(&self, tool: &str) -> Option<Access>;
}

/// Serves MCP at [`MCP_PATH`] until `stop`, and then for as long as the limits let what runs go on.
///
/// The handler finds the [`crate::Principal`] of a request in `RequestContext.extensions`: the `http::request::Parts` there
/// have it in their own extensions.
pub async fn serve<H: ServerHandler + Clone>(
    listener: TcpListener,
    settings: HttpSettings,
    bearer: Bearer,
    handler: H,
    weigh: Arc<dyn Weigh>,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let bound = listener.local_addr().map_err(ServeError::NoAddress)?;
    let limits = settings.limits;
    let settings = Arc::new(settings);
    let timer = Arc::clone(&bearer.timer);
    let (cut, tasks) = (CancellationToken::new(), TaskTracker::new());
    let door = Arc::new(Door {
        service: Service::new(handler, settings.sessions, cut.clone()),
        shares: Shares::new(&limits, Arc::clone(&timer)),
        admission: Arc::new(Admission::new(bearer, limits.failures)),
        settings: Arc::clone(&settings),
        weigh,
        stop: stop.clone(),
        tasks: tasks.clone(),
        timer: Arc::clone(&timer),
    });
    let routes = Router::new()
        .route(MCP_PATH, any(answer))
        .route(metadata::WELL_KNOWN, get(about_all))
        .route(&format!("{}{MCP_PATH}", metadata::WELL_KNOWN), get(about_endpoint))
        .with_state(door);
    let routes = Front::new(settings, bound).before(routes, MCP_PATH, PAGES);
    serve_routes(listener, routes, limits, timer, Draining { stop, cut, tasks }).await;
    Ok(())
}

/// The endpoint.
struct Door<H> {
    settings: Arc<HttpSettings>,
    admission: Arc<Admission>,
    shares: Shares,
    weigh: Arc<dyn Weigh>,
    service: Service<H>,
    timer: Arc<dyn pinhole_runtime::clock::Timer>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl<H> fmt::Debug for Door<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").field("settings", &self.settings).finish_non_exhaustive()
    }
}

async fn about_all<H: ServerHandler + Clone>(
    State(door): State<Arc<Door<H>>>,
    axum::Extension(host): axum::Extension<NamedHost>,
) -> Response {
    metadata::document(&door.settings.base(&host.0), door.admission.scope())
}

async fn about_endpoint<H: ServerHandler + Clone>(
    State(door): State<Arc<Door<H>>>,
    axum::Extension(host): axum::Extension<NamedHost>,
) -> Response {
    let resource = format!("{}{MCP_PATH}", door.settings.base(&host.0));
    metadata::document(&resource, door.admission.scope())
}

async fn answer<H: ServerHandler + Clone>(State(door): State<Arc<Door<H>>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    match door.call(parts, body).await {
        Ok(answer) => answer,
        Err(no) => {
            tracing::debug!(?no, "a request was refused");
            no.answer()
        }
    }
}

impl<H: ServerHandler + Clone> Door<H> {
    async fn call(self: Arc<Self>, mut parts: Parts, body: Body) -> Result<Response, No> {
        let admitted = self.admit(&parts).await?;
        // The handler has no use for it, and a log that shows the request none either.
        parts.headers.remove(AUTHORIZATION);
        parts.extensions.insert(admitted.principal.clone());
        let share = Arc::new(self.shares.take(admitted.holder)?);
        // Whatever becomes of it: what is refused later was read all the same.
        self.shares.weigh(admitted.holder, Access::Read)?;
        let called = match parts.method {
            Method::POST => self.post(parts, body, &admitted, &share).await?,
            Method::GET | Method::DELETE if self.settings.sessions == Sessions::On => {
                self.without_body(parts, &admitted).await?
            }
            _ => return Err(Refused::Method(self.methods()).into()),
        };
        let Called { answer, ending } = called;
        let rechecked =
            Rechecked { admission: Arc::clone(&self.admission), admitted, timer: Arc::clone(&self.timer) };
        Ok(ending::bounded(answer, ending, rechecked, self.stop.clone(), share))
    }

    async fn admit(&self, parts: &Parts) -> Result<Admitted, Refused> {
        let (Some(peer), Some(NamedHost(host))) =
            (parts.extensions.get::<Peer>(), parts.extensions.get::<NamedHost>())
        else {
            return Err(Refused::Host);
        };
        let metadata = format!("{}{}{MCP_PATH}", self.settings.base(host), metadata::WELL_KNOWN);
        self.admission.admit(&parts.headers, peer, &metadata).await
    }

    async fn post(
        self: &Arc<Self>,
        mut parts: Parts,
        body: Body,
        admitted: &Admitted,
        share: &Arc<Share>,
    ) -> Result<Called, No> {
        if !is_json(&parts.headers) {
            return Err(Refused::MediaType.into());
        }
        let bytes = whole(body, &self.settings.limits, self.timer.as_ref()).await?;
        let message = Message::read(&bytes)?;
        let era = self.heard(&message, &bytes, &parts.headers, (admitted.holder, share))?;
        accept_what_is_sent(&mut parts.headers);
        let ending = match message.what {
            What::Listening => Ending::AtStop,
            _ => Ending::WithItself,
        };
        let (id, detached) = (message.id_text(), era == Era::Legacy && message.is_request());
        let seat = self.service.seat(&parts.headers, era, &message, admitted.holder).await;
        let seat = seat.map_err(|no| no.of(id.as_deref()))?;
        let request = Request::from_parts(parts, Body::from(bytes.clone()));
        let (answering, share) = (self.service.call(request), Arc::clone(share));
        let answer = match seat {
            // In a session, too, it goes on without its client, and has its share for as long.
            Seat::Alone | Seat::Taken if detached => ending::detached(answering, &self.tasks, share).await,
            Seat::Alone | Seat::Taken => answering.await,
            // A session is somebody's, even if its client has gone before it was open.
            Seat::Reserved(reserved) => {
                let timer = Arc::clone(&self.timer);
                let opening = async move {
                    let answer = answering.await;
                    reserved.opened(&answer, timer.now());
                    answer
                };
                ending::detached(opening, &self.tasks, share).await
            }
        };
        let answer = said::in_json(answer, id.as_deref()).await;
        Ok(Called { answer, ending })
    }

    /// Whether a message is one that is gone on with, and of which era it is.
    fn heard(
        &self,
        message: &Message<'_>,
        bytes: &[u8],
        headers: &HeaderMap,
        (holder, share): (PrincipalId, &Share),
    ) -> Result<Era, No> {
        if too_many(bytes) {
            return Err(No::TooMany(message.id_text()));
        }
        let values = marks(bytes);
        share.hold(values).map_err(|refused| No::about(message, refused))?;
        let era = Era::of(headers, message)?;
        match &message.what {
            What::Nameless => return Err(No::UnknownMethod(message.id_text(), era)),
            // What a session keeps of its client is in here.
            What::Initialize if bytes.len() > INITIALIZE_BYTES_MAX => {
                return Err(No::about(message, Refused::TooLarge(INITIALIZE_BYTES_MAX)));
            }
            What::Initialize if values > INITIALIZE_VALUES_MAX => {
                return Err(No::TooMany(message.id_text()));
            }
            What::Call { tool } if self.weigh.access(tool) == Some(Access::Write) => {
                let weighed = self.shares.weigh(holder, Access::Write);
                weighed.map_err(|refused| No::about(message, refused))?;
            }
            _ => {}
        }
        Ok(era)
    }

    async fn without_body(&self, parts: Parts, admitted: &Admitted) -> Result<Called, No> {
        self.service.own_session(&parts.headers, admitted.holder)?;
        let is_end = parts.method == Method::DELETE;
        let mut answer = self.service.call(Request::from_parts(parts, Body::empty())).await;
        // It is done, not only taken note of; some clients know no other word for that.
        if is_end && answer.status() == StatusCode::ACCEPTED {
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        Ok(Called { answer: said::in_json(answer, None).await, ending: Ending::AtStop })
    }

    fn methods(&self) -> &'static str {
        match self.settings.sessions {
            Sessions::Off => "POST",
            Sessions::On => "GET, POST, DELETE",
        }
    }
}

/// An answer, and when its stream ends at the latest.
struct Called {
    answer: Response,
    ending: Ending,
}

/// Who takes anything takes both kinds of answer that there are.
fn accept_what_is_sent(headers: &mut HeaderMap) {
    let anything = |value: &HeaderValue| {
        value
            .to_str()
            .is_ok_and(|text| text.split(',').any(|kind| kind.trim().split(';').next() == Some("*/*")))
    };
    if !headers.contains_key(ACCEPT) || headers.get_all(ACCEPT).iter().any(anything) {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    }
}

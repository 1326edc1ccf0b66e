//! What every route stands behind: `Host`, `Origin`, CORS, and that no token is in an address.
//!
//! INVARIANT: no route, known or not, is reached by a request that names another host or comes from a page that is not on
//! the list; so a name that was pointed at this machine (DNS rebinding) leads nowhere.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::get;
use http::header::{
    ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderName, ORIGIN, RETRY_AFTER,
    WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Method, Uri};
use tower_http::cors::{AllowOrigin, CorsLayer};

use super::{HttpSettings, Refused, plain};

/// How long a browser need not ask again whether it may call.
const PREFLIGHT_TIME: Duration = Duration::from_mins(10);

/// What a door listens on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    /// This address.
    At(SocketAddr),
    /// A file, which has no port.
    File,
}

/// Which hosts and origins are answered to.
#[derive(Debug, Clone)]
pub(crate) struct Front {
    settings: Arc<HttpSettings>,
    bound: Bound,
    /// How a refusal looks to the door's clients.
    said: fn(&Refused) -> Response,
}

/// The host that a request names, once it is known to be one of the door's.
#[derive(Debug, Clone)]
pub(crate) struct NamedHost(pub(crate) Authority);

/// Which headers pages may send and see, besides those that every door needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageHeaders {
    pub(crate) sent: &'static [&'static str],
    pub(crate) seen: &'static [&'static str],
}

impl Front {
    pub(crate) fn new(settings: Arc<HttpSettings>, bound: SocketAddr) -> Self {
        Self { settings, bound: Bound::At(bound), said: plain }
    }

    /// One that listens there, and refuses so.
    pub(crate) fn saying(settings: Arc<HttpSettings>, bound: Bound, said: fn(&Refused) -> Response) -> Self {
        Self { settings, bound, said }
    }

    /// Puts all routes behind it, of which the one that clients look for is `served`; and says at `/healthz` that the server is there.
    pub(crate) fn before(self, routes: Router, served: &'static str, pages: PageHeaders) -> Router {
        self.around(routes.route("/healthz", get(|| async { "ok\n" })), served, pages)
    }

    /// The same for a door that says itself how it is.
    pub(crate) fn around(self, routes: Router, served: &'static str, pages: PageHeaders) -> Router {
        let said = self.said;
        let routes = routes
            .fallback(move || async move { said(&Refused::NotFound(served)) })
            .method_not_allowed_fallback(move || async move { said(&Refused::Method("GET")) });
        let cors = self.cors(pages);
        routes.layer(cors).layer(from_fn_with_state(self, heard))
    }

    fn cors(&self, pages: PageHeaders) -> CorsLayer {
        let settings = Arc::clone(&self.settings);
        let welcome = move |origin: &HeaderValue, _: &_| {
            origin.to_str().is_ok_and(|origin| settings.is_welcome(origin))
        };
        let sent = [ACCEPT, AUTHORIZATION, CONTENT_TYPE].into_iter().chain(names(pages.sent));
        let seen = [RETRY_AFTER, WWW_AUTHENTICATE].into_iter().chain(names(pages.seen));
        CorsLayer::new()
            .allow_origin(AllowOrigin::predicate(welcome))
            .allow_methods([Method::GET, Method::POST, Method::DELETE])
            .allow_headers(sent.collect::<Vec<_>>())
            .expose_headers(seen.collect::<Vec<_>>())
            .max_age(PREFLIGHT_TIME)
    }

    fn look(&self, headers: &HeaderMap, uri: &Uri) -> Result<NamedHost, Refused> {
        let host = once(headers, &HOST)?.ok_or(Refused::Header("host"))?;
        let host: Authority = host.parse().or(Err(Refused::Header("host")))?;
        // A request line with a whole address in it names the host a second time.
        let other = uri.authority().is_some_and(|named| *named != host);
        if other || host.as_str().contains('@') || !self.settings.answers_to(&host, self.bound) {
            return Err(Refused::Host);
        }
        if once(headers, &ORIGIN)?.is_some_and(|origin| !self.settings.is_welcome(origin)) {
            return Err(Refused::Origin);
        }
        if uri.query().is_some_and(has_token) {
            return Err(Refused::TokenInAddress);
        }
        Ok(NamedHost(host))
    }
}

fn names(texts: &'static [&'static str]) -> impl Iterator<Item = HeaderName> {
    texts.iter().map(|text| HeaderName::from_static(text))
}

async fn heard(State(front): State<Front>, mut request: Request, next: Next) -> Response {
    let said = front.said;
    let mut answer = match front.look(request.headers(), request.uri()) {
        Ok(host) => {
            request.extensions_mut().insert(host);
            next.run(request).await
        }
        Err(refused) => {
            tracing::debug!(?refused, "a request was refused");
            said(&refused)
        }
    };
    answer.headers_mut().entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    answer.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}

/// The value of a header that there may be one of.
fn once<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Refused> {
    let wrong = || Refused::Header(if *name == HOST { "host" } else { "origin" });
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(wrong());
    }
    value.to_str().map(Some).or(Err(wrong()))
}

/// Whether a query has what looks like a token, under a name that tokens go by or as itself.
fn has_token(query: &str) -> bool {
    url::form_urlencoded::parse(query.as_bytes()).any(|(name, value)| {
        ["token", "access_token"].iter().any(|known| name.eq_ignore_ascii_case(known))
            || value.contains(crate::tokens::TOKEN_PREFIX)
    })
}

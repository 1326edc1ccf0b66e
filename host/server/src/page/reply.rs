//! The answers of the page, each with the headers that keep it to itself.
//!
//! INVARIANT: no answer, an error's included, is without them: nothing inline and no script runs, nothing is framed, kept,
//! sniffed or read by another origin.

use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, LOCATION, REFERRER_POLICY,
    RETRY_AFTER, SET_COOKIE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Bytes;
use maud::Markup;

/// An answer.
pub(super) type Reply = Response<Full<Bytes>>;

const POLICY: &str =
    "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// `no-referrer` would make browsers send `Origin: null` with the page's own forms. This one tells other origins as little.
const REFERRER: &str = "same-origin";

const HEADERS: [(HeaderName, &str); 8] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_FRAME_OPTIONS, "DENY"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, REFERRER),
    (CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
];

/// A page.
pub(super) fn html(status: StatusCode, page: Markup) -> Reply {
    of(status, "text/html; charset=utf-8", page.into_string())
}

/// The stylesheet.
pub(super) fn css(sheet: &'static str) -> Reply {
    of(StatusCode::OK, "text/css; charset=utf-8", sheet)
}

/// One line.
pub(super) fn text(status: StatusCode, line: &str) -> Reply {
    of(status, "text/plain; charset=utf-8", format!("{line}\n"))
}

/// On to a place of this page.
pub(super) fn see(place: &str) -> Reply {
    with(text(StatusCode::SEE_OTHER, "see there"), LOCATION, HeaderValue::from_str(place).ok())
}

/// The same, with the cookie. What led here is told to nobody.
pub(super) fn enter(place: &str, cookie: HeaderValue) -> Reply {
    let reply = with(see(place), SET_COOKIE, Some(cookie));
    with(reply, REFERRER_POLICY, Some(HeaderValue::from_static("no-referrer")))
}

/// The same, with how long to wait.
pub(super) fn after(reply: Reply, seconds: u64) -> Reply {
    with(reply, RETRY_AFTER, Some(HeaderValue::from(seconds)))
}

/// Another method than a place takes.
pub(super) fn takes(method: &'static str) -> Reply {
    let reply = text(StatusCode::METHOD_NOT_ALLOWED, "this place takes another method");
    with(reply, ALLOW, Some(HeaderValue::from_static(method)))
}

fn of(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(Full::new(body.into()));
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    reply
}

fn with(mut reply: Reply, name: HeaderName, value: Option<HeaderValue>) -> Reply {
    if let Some(value) = value {
        reply.headers_mut().insert(name, value);
    }
    reply
}

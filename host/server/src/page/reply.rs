//! The answers of the page, each with the headers that keep it to itself.
//!
//! INVARIANT: no answer, an error's included, is without them: nothing inline and no script runs, nothing is framed, kept,
//! sniffed or read by another origin.

use http::header::{ALLOW, CONTENT_TYPE, HeaderName, LOCATION, REFERRER_POLICY, RETRY_AFTER, SET_COOKIE};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Bytes;
use maud::Markup;

use crate::http::keep_private;

/// An answer.
pub(super) type Reply = Response<Full<Bytes>>;

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
    keep_private(headers);
    reply
}

fn with(mut reply: Reply, name: HeaderName, value: Option<HeaderValue>) -> Reply {
    if let Some(value) = value {
        reply.headers_mut().insert(name, value);
    }
    reply
}

//! The answers of a broker: pages and redirects for a browser, JSON for those who ask.
//!
//! INVARIANT: none is kept, framed, sniffed or told to another origin, an error's included; of what was sent nothing is in an
//! error.

use axum::response::Response;
use http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY, RETRY_AFTER, SET_COOKIE,
};
use http::{HeaderValue, StatusCode};
use maud::Markup;
use serde_json::{Value, json};

use super::html;
use super::refused::{NoAsk, NoFlow};
use crate::http::keep_private;

/// Any other page's, but for `form-action`: browsers hold it against every redirect that follows a form, and where a service sends the person on its
/// way back is not known here.
const POLICY: &str = "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'";

/// A page.
pub(super) fn page(status: StatusCode, page: Markup) -> Response {
    of(status, "text/html; charset=utf-8", page.into_string())
}

/// The stylesheet.
pub(super) fn css() -> Response {
    of(StatusCode::OK, "text/css; charset=utf-8", html::STYLE.to_owned())
}

/// JSON.
pub(super) fn json(value: &Value) -> Response {
    of(StatusCode::OK, "application/json", value.to_string())
}

/// A sealed answer, which is JSON already.
pub(super) fn sealed(envelope: Vec<u8>) -> Response {
    of(StatusCode::OK, "application/json", envelope)
}

/// On to another place. What led here is told to nobody.
pub(super) fn on(place: &str) -> Response {
    let mut reply = of(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", "see there\n".to_owned());
    if let Ok(place) = HeaderValue::from_str(place) {
        reply.headers_mut().insert(LOCATION, place);
    }
    reply.headers_mut().insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    reply
}

/// The same answer, with this cookie.
pub(super) fn with_cookie(mut reply: Response, cookie: HeaderValue) -> Response {
    reply.headers_mut().insert(SET_COOKIE, cookie);
    reply
}

/// Why a flow goes no further, for the person at the browser.
pub(super) fn no_flow(no: &NoFlow) -> Response {
    waiting(page(no.status(), html::nothing(&no.message())), no.retry_after())
}

/// Why an ask is not answered, for whoever asks.
pub(super) fn no_ask(no: &NoAsk) -> Response {
    let error = json!({"error": {"code": no.code(), "message": no.message()}});
    waiting(of(no.status(), "application/json", error.to_string()), no.retry_after())
}

fn waiting(mut reply: Response, seconds: Option<u64>) -> Response {
    if let Some(seconds) = seconds {
        reply.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    reply
}

fn of(status: StatusCode, kind: &'static str, body: impl Into<axum::body::Body>) -> Response {
    let mut reply = Response::new(body.into());
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    keep_private(headers);
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    reply
}

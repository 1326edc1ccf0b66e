//! From an [`Outgoing`] and the pinned host to the request on the wire; the credential goes in last.
//!
//! Refuses a target that a URL parser would read as another path or host, and headers that decide where a request goes, how
//! it is framed, or that carry the credential a second time. INVARIANT: what is sent is the target byte for byte, to the
//! pinned host on 443. DESIGN, "The way of a call": credential put in.

use http::header::{self, HeaderName};
use http::{HeaderMap, HeaderValue, Method};
use pinhole_manifest::ApiHost;
use reqwest::{Body, Request, Url};

use super::Outgoing;
use super::progress::{Progress, WatchedBody};

/// Why a request is not sent. A fault of the caller's, found before any socket.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unsendable {
    #[error("method is not one of an op")]
    Method,
    #[error("target is not read back as it was written")]
    Target,
    #[error("header {0} is not the caller's to set")]
    Header(HeaderName),
}

/// The methods that an op may use.
const METHODS: [Method; 6] =
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// Headers that this module or the HTTP library writes, or that nobody does.
const OWNED: [HeaderName; 14] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    header::EXPECT,
    header::PROXY_AUTHORIZATION,
    header::PROXY_AUTHENTICATE,
    header::ACCEPT_ENCODING,
    header::USER_AGENT,
    header::COOKIE,
];

/// Builds the request; `progress` is told when it starts to leave.
pub(super) fn assemble(
    host: &ApiHost,
    outgoing: Outgoing,
    progress: Progress,
) -> Result<Request, Unsendable> {
    let Outgoing { method, target, headers, credential: (name, mut secret), body } = outgoing;
    if !METHODS.contains(&method) {
        return Err(Unsendable::Method);
    }
    let url = url(host, &target)?;
    check_headers(&headers, &name)?;
    let bodiless = body.as_ref().is_none_or(bytes::Bytes::is_empty);
    let takes_body = matches!(method, Method::POST | Method::PUT | Method::PATCH);

    let mut request = Request::new(method, url);
    *request.headers_mut() = headers;
    if bodiless && takes_body {
        // RFC 9110, section 8.6: some servers refuse a POST that does not say that it is empty.
        request.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
    }
    let bytes = body.unwrap_or_default();
    *request.body_mut() = Some(Body::wrap(WatchedBody { bytes, progress }));
    secret.set_sensitive(true);
    request.headers_mut().insert(name, secret);
    Ok(request)
}

/// Builds the request for a file: a GET with nothing in it but its target.
pub(super) fn assemble_download(
    host: &ApiHost,
    target: &str,
    progress: Progress,
) -> Result<Request, Unsendable> {
    let mut request = Request::new(Method::GET, url(host, target)?);
    *request.body_mut() = Some(Body::wrap(WatchedBody { bytes: bytes::Bytes::new(), progress }));
    Ok(request)
}

fn url(host: &ApiHost, target: &str) -> Result<Url, Unsendable> {
    let written = format!("https://{host}{target}");
    let url = Url::parse(&written).map_err(|_syntax| Unsendable::Target)?;
    // With the `/` right behind the host there is no room for a user, a port or a longer name; the rest is compared whole.
    let same = target.starts_with('/') && url.as_str() == written && url.fragment().is_none();
    if same { Ok(url) } else { Err(Unsendable::Target) }
}

fn check_headers(headers: &HeaderMap, credential: &HeaderName) -> Result<(), Unsendable> {
    let owned = |name: &&HeaderName| OWNED.contains(name);
    let offender = std::iter::once(credential).find(owned).or_else(|| {
        headers.keys().find(|name| owned(name) || *name == credential || **name == header::AUTHORIZATION)
    });
    offender.map_or(Ok(()), |name| Err(Unsendable::Header(name.clone())))
}

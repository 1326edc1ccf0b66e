//! What is refused before a door has seen it: one enum, with the status and the headers that say so.
//!
//! INVARIANT: no text of the request is in an answer. A token that is unknown, expired or revoked looks the same from
//! outside. RFC 6750, section 3; RFC 9728, section 5.1.

use std::borrow::Cow;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};

/// Why a request got no further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Its `Host` is none that the door answers to.
    Host,
    /// It comes from a page of an origin that is not on the list.
    Origin,
    /// A header that there may be one of is there twice, or is none.
    Header(&'static str),
    /// A token is in the address, where logs keep it.
    TokenInAddress,
    /// There is no token.
    NoToken(Challenge),
    /// What is sent is not of the scheme `Bearer`.
    NotBearer(Challenge),
    /// The token is none that is good.
    BadToken(Challenge),
    /// The token is good for nothing here.
    TooLittleScope(Challenge),
    /// Too many wrong tokens from this peer.
    TooManyFailures(Duration),
    /// Too many of the same principal.
    TooFast(Duration),
    /// Too much at once.
    Busy,
    /// The body is longer than so many bytes.
    TooLarge(usize),
    /// The body did not arrive in time.
    TooSlow,
    /// The body ended before it was whole.
    CutOff,
    /// The body is not JSON by its header.
    MediaType,
    /// The method is not one of these.
    Method(&'static str),
    /// There is nothing at this address: what is served is at this path.
    NotFound(&'static str),
    /// What is stored here cannot be read.
    Store,
}

/// What a client needs to know to come back with a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Challenge {
    /// Where the metadata of the resource is.
    pub(crate) metadata: String,
    /// The scopes that the door has a use for, with spaces between them.
    pub(crate) scope: &'static str,
}

impl Refused {
    /// The status of the answer.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Header(_) | Self::TokenInAddress | Self::CutOff => StatusCode::BAD_REQUEST,
            Self::NoToken(_) | Self::NotBearer(_) | Self::BadToken(_) => StatusCode::UNAUTHORIZED,
            Self::Host | Self::Origin | Self::TooLittleScope(_) => StatusCode::FORBIDDEN,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Method(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooManyFailures(_) | Self::TooFast(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Busy | Self::Store => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// One sentence for people: what is wrong and what to do.
    pub(crate) fn message(&self) -> Cow<'static, str> {
        match self {
            Self::Host => "this server does not answer to that host: use the address it printed, or let its operator add the host".into(),
            Self::Origin => "pages of that origin may not call this server: let its operator add the origin".into(),
            Self::Header(name) => format!("send the header `{name}` once, and well-formed").into(),
            Self::TokenInAddress => "send the token in the header `Authorization`, never in the address; treat this one as known to others".into(),
            Self::NoToken(_) => "send a token: `Authorization: Bearer …`; `pinhole tokens new` makes one".into(),
            Self::NotBearer(_) => "write `Bearer ` before the token: `Authorization: Bearer …`".into(),
            Self::BadToken(_) => "the token is not good, or not any more: `pinhole tokens new` makes another".into(),
            Self::TooLittleScope(_) => "the token is good for nothing that this server offers: make one with another scope".into(),
            Self::TooManyFailures(wait) => format!(
                "too many tokens that are not good: wait {} s, and look which token is sent",
                whole_seconds(*wait)
            )
            .into(),
            Self::TooFast(wait) => {
                format!("too many requests in a short time: wait {} s", whole_seconds(*wait)).into()
            }
            Self::Busy => "too much at once: try again in a moment".into(),
            Self::TooLarge(most) => format!("the body is longer than {most} bytes").into(),
            Self::TooSlow => "the body did not arrive in time".into(),
            Self::CutOff => "the body ended before it was whole".into(),
            Self::MediaType => "send JSON, and say so: `Content-Type: application/json`".into(),
            Self::Method(allow) => format!("use {allow}").into(),
            Self::NotFound(path) => format!("there is nothing here: use the path `{path}`").into(),
            Self::Store => "the server cannot read what it has stored: its operator finds out why with `pinhole doctor`".into(),
        }
    }

    /// The answer, with a body of the door's own kind.
    pub(crate) fn answer(&self, media_type: &'static str, body: impl Into<Body>) -> Response {
        let mut answer = Response::new(body.into());
        *answer.status_mut() = self.status();
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(challenge) = self.challenge().and_then(|text| HeaderValue::try_from(text).ok()) {
            headers.insert(WWW_AUTHENTICATE, challenge);
        }
        if let Self::Method(allow) = self {
            headers.insert(ALLOW, HeaderValue::from_static(allow));
        }
        if let Some(seconds) = self.retry_after() {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        answer
    }

    /// In how many seconds it may go better.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        match self {
            Self::TooManyFailures(wait) | Self::TooFast(wait) => Some(whole_seconds(*wait)),
            Self::Busy | Self::Store => Some(1),
            _ => None,
        }
    }

    fn challenge(&self) -> Option<String> {
        let (error, Challenge { metadata, scope }) = match self {
            Self::NoToken(challenge) | Self::NotBearer(challenge) => ("", challenge),
            Self::BadToken(challenge) => ("error=\"invalid_token\", ", challenge),
            Self::TooLittleScope(challenge) => ("error=\"insufficient_scope\", ", challenge),
            _ => return None,
        };
        Some(format!("Bearer {error}resource_metadata=\"{metadata}\", scope=\"{scope}\""))
    }
}

/// The answer in plain words, where no door has a kind of its own.
pub(crate) fn plain(refused: &Refused) -> Response {
    refused.answer("text/plain; charset=utf-8", format!("{}\n", refused.message()))
}

/// Rounded up: who comes back then is not too early.
fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).max(1)
}

//! What is posted to an OAuth endpoint of a manifest or to a broker: one body, to one URL, with no credential of an op.
//!
//! INVARIANT: a posting takes the same guard, TLS, limits and refusals (redirects, addresses that are not public) as an
//! exchange with a pinned host, and goes only where a [`TokenPermit`] says, which only the `oauth` room can make.
//! DESIGN, "Pinned client"; RFC 6749, section 3.2.

use std::fmt;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method};
use pinhole_manifest::host::HttpsUrl;
use reqwest::{Body, Request, Url};
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::client::{Allowance, DAY, PinnedClient, timed_out};
use super::error::{Stage, WireError, WireErrorKind};
use super::progress::{Progress, WatchedBody};
use super::{Incoming, Sent, WireLimits};

/// Proof that the OAuth room means one posting for one URL. It cannot be copied, and [`Wire::post_form`](super::Wire) uses
/// it up.
#[derive(Debug)]
#[must_use = "a permit that is not used was given for nothing"]
pub struct TokenPermit {
    url: HttpsUrl,
}

impl TokenPermit {
    /// Allows one posting to this URL of a manifest or a broker. For the OAuth room alone.
    pub(crate) fn to(url: &HttpsUrl) -> Self {
        Self { url: url.clone() }
    }

    /// Where the posting goes.
    pub fn url(&self) -> &HttpsUrl {
        &self.url
    }
}

/// What a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// `application/x-www-form-urlencoded`.
    Form,
    /// `application/json`.
    Json,
}

/// A body to be posted, which may hold secrets: it is zeroised once it was sent.
pub struct Posting {
    /// What the body is.
    pub media: Media,
    /// The body.
    pub body: Zeroizing<Vec<u8>>,
    /// The value of `authorization`, where the client shows its secret there.
    pub authorization: Option<Zeroizing<String>>,
}

impl fmt::Debug for Posting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Posting")
            .field("media", &self.media)
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

impl Media {
    fn name(self) -> &'static str {
        match self {
            Self::Form => "application/x-www-form-urlencoded",
            Self::Json => "application/json",
        }
    }
}

/// Builds the request. `accept` is said because GitHub answers with a form otherwise.
fn assemble(url: &HttpsUrl, posting: Posting, progress: Progress) -> Result<Request, WireError> {
    let unsendable = |detail: &str| WireError::new(WireErrorKind::Unsendable, Sent::No, detail);
    let written = Url::parse(url.as_str()).map_err(|_syntax| unsendable("the URL is not read back"))?;
    let Posting { media, body, authorization } = posting;
    let mut request = Request::new(Method::POST, written);
    let headers = request.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media.name()));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if let Some(text) = authorization {
        let mut value = HeaderValue::from_str(&text)
            .map_err(|_source| unsendable("the client's secret does not pass in a header"))?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    *request.body_mut() = Some(Body::wrap(WatchedBody { bytes: Bytes::from_owner(body), progress }));
    Ok(request)
}

impl PinnedClient {
    pub(super) async fn post(
        &self,
        permit: TokenPermit,
        posting: Posting,
        limits: WireLimits,
    ) -> Result<Incoming, WireError> {
        let TokenPermit { url } = permit;
        let progress = Progress::default();
        let request = assemble(&url, posting, progress.clone())?;
        let now = Instant::now();
        let deadline = now.checked_add(limits.deadline).unwrap_or(now + DAY);
        let allowance = Allowance { cap: limits.response_bytes, deadline, bodiless: false };
        let host = url.host();
        match tokio::time::timeout_at(deadline, self.send(&host, request, allowance, &progress)).await {
            Ok(done) => done,
            Err(_elapsed) => Err(timed_out(Stage::Total, &progress)),
        }
    }
}

//! The only sockets out: one pinned client, an address guard on what it dials, limits on what comes back.
//!
//! Refuses redirects, cookies, proxies from the environment, other ports, other names, and any address that is not global
//! unicast. INVARIANT: no credential and no request of an op is sent without a [`Permit`], which only the spine can make and
//! which one exchange uses up. All else that is sent is a GET of a registry's file ([`DownloadBase`]), with no credential; what
//! the OAuth room posts under a [`TokenPermit`]; and what a person agreed to have sent to a model ([`ModelPermit`]), with the
//! operator's own key for that.
//! DESIGN, "Pinned client".

mod after;
mod assemble;
mod body;
mod client;
mod download;
mod error;
mod guard;
mod limits;
mod loopback;
mod model;
mod progress;
mod resolver;
mod settings;
#[cfg(test)]
mod tests;
mod token;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use pinhole_grant::Dial;
use pinhole_manifest::ApiHost;

use serde::{Deserialize, Serialize};

pub use body::{Body, Piece, Pieces};
pub use client::PinnedClient;
pub use download::{DownloadBase, DownloadBaseError, DownloadError};
pub use error::{Stage, WireError, WireErrorKind};
pub use loopback::LoopbackFiles;
pub use model::{ModelAnswer, ModelDoor, ModelKey, ModelKeyError, ModelPermit, ModelUrl, ModelUrlError};
pub use resolver::{Looking, Lookup};
pub use settings::{DialOverride, NetSettings, NetSettingsError, OverrideError, StageLimits};
pub use token::{Media, Posting, TokenPermit};

pub(crate) use after::{comes_back, told};

/// Proof that the spine authorised one exchange with one host. Only the spine can make one; it cannot be copied, and
/// [`Wire::exchange`] uses it up.
#[derive(Debug)]
#[must_use = "a permit that is not used was authorised for nothing"]
pub struct Permit {
    host: ApiHost,
}

impl Permit {
    /// Allows one exchange with `host`. For the spine alone, after every check has passed.
    pub(crate) fn new(host: ApiHost) -> Self {
        Self { host }
    }
}

/// A request without its host, which the [`Permit`] names.
pub struct Outgoing {
    /// GET, HEAD, POST, PUT, PATCH or DELETE; anything else is not sent.
    pub method: http::Method,
    /// Path and query, already encoded, starting with one `/`. A target that a URL parser would read as another one (dot
    /// segments, unencoded characters, a fragment) is not sent.
    pub target: String,
    /// Headers without the credential and without those that this module owns (host, framing, hop-by-hop, cookies,
    /// accept-encoding, user-agent).
    pub headers: http::HeaderMap,
    /// The header that carries the key: the last thing put into the request, always marked sensitive.
    pub credential: (http::HeaderName, http::HeaderValue),
    /// The body, sent with its exact length.
    pub body: Option<Bytes>,
}

impl Outgoing {
    /// The same for one more try, under this key; the body is shared.
    pub(crate) fn again(&self, credential: (http::HeaderName, http::HeaderValue)) -> Self {
        let Self { method, target, headers, credential: _, body } = self;
        Self {
            method: method.clone(),
            target: target.clone(),
            headers: headers.clone(),
            credential,
            body: body.clone(),
        }
    }
}

impl fmt::Debug for Outgoing {
    // The target, header values and body hold what a person wrote: none of it belongs in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing")
            .field("method", &self.method)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("credential", &self.credential.0)
            .field("body_bytes", &self.body.as_ref().map(Bytes::len))
            .finish_non_exhaustive()
    }
}

/// An answer from the pinned host: its head is here, its body comes.
#[derive(Debug)]
pub struct Incoming {
    /// Never 1xx or 3xx.
    pub status: http::StatusCode,
    /// As received, without the encoding that was undone.
    pub headers: http::HeaderMap,
    /// Decompressed, as it comes, within the limits of the exchange; empty for HEAD and 204.
    pub body: Body,
}

/// What one exchange may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireLimits {
    /// Most bytes of the body, counted decompressed and as they come.
    pub response_bytes: u64,
    /// From the call to the last byte of the answer, names and handshake included.
    pub deadline: Duration,
}

/// Whether the request reached the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sent {
    /// Certainly no byte of it left.
    No,
    /// It may have been received and acted on.
    Maybe,
    /// An answer to it began.
    Yes,
}

/// The future of one exchange.
pub type Exchange<'a> = Pin<Box<dyn Future<Output = Result<Incoming, WireError>> + Send + 'a>>;

/// Something that carries one authorised request to its host and brings the answer back.
pub trait Wire: Send + Sync {
    /// Sends `request` to the permit's host, once: nothing is retried. Dropping the future ends the exchange.
    fn exchange(&self, permit: Permit, request: Outgoing, limits: WireLimits) -> Exchange<'_>;

    /// Posts to the permit's URL, once: nothing is retried. Dropping the future ends the exchange.
    fn post_form(&self, permit: TokenPermit, posting: Posting, limits: WireLimits) -> Exchange<'_>;

    /// Whether `host` is dialled where its name leads, or elsewhere.
    fn dial(&self, host: &ApiHost) -> Dial;
}

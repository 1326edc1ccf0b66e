//! The OAuth client: what is asked of a service's authorization server, and how its answers are read.
//!
//! Makes requests of three kinds and no other: a code or device code becomes a pair, a refresh token becomes a fresh pair,
//! a token is given up; each goes to a URL of the manifest. Nothing here keeps a pair, or decides when one is renewed.
//! INVARIANT: of an answer only the pair, its times and its scopes are taken, and of an error only a code that is known
//! here: no text of the server's reaches a log or an error. RFC 6749, 6819, 7009, 7636, 8252, 8628, 9207, 9700.

mod answer;
mod authorize;
mod device;
mod error;
mod form;
mod members;
mod pkce;
mod scopes;
#[cfg(test)]
mod tests;
mod token;

use std::fmt;

use pinhole_grant::{ClientId, Dial, Secret, UnixTime};
use pinhole_manifest::model::OAuth;

pub use authorize::{Authorize, AuthorizeError, Callback, CallbackError, State, callback};
pub use device::{DeviceError, DeviceStart};
pub use error::{ErrorCode, TokenError, Unreadable};
pub use pkce::{Verifier, VerifierError, challenge};
pub use scopes::{Scopes, asked};
pub use token::TokenKind;

use crate::net::Wire;

/// The client that asks, as the service knows it.
pub enum Client {
    /// One that has no secret: every exchange takes PKCE.
    Public {
        /// Its id.
        id: ClientId,
    },
    /// One that shows a secret.
    Confidential {
        /// Its id.
        id: ClientId,
        /// Its secret.
        secret: Secret,
    },
}

impl Client {
    /// Its id.
    pub fn id(&self) -> &ClientId {
        match self {
            Self::Public { id } | Self::Confidential { id, .. } => id,
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Public { .. } => "Public",
            Self::Confidential { .. } => "Confidential",
        };
        f.debug_struct(kind).field("id", self.id()).finish_non_exhaustive()
    }
}

/// A service's authorization server, as a client asks it.
#[derive(Clone, Copy)]
pub struct TokenEndpoint<'a> {
    /// The way out.
    pub wire: &'a dyn Wire,
    /// Where to, and how: of the manifest in force.
    pub oauth: &'a OAuth,
    /// Who asks.
    pub client: &'a Client,
    /// How each of its hosts must be dialled: as the credential says, so that no refresh token that is good at the real
    /// host goes to a stand-in.
    pub dial: Dial,
    /// When the asking begins: an access token lives from then.
    pub now: UnixTime,
}

impl fmt::Debug for TokenEndpoint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenEndpoint")
            .field("oauth", self.oauth)
            .field("client", self.client)
            .field("dial", &self.dial)
            .finish_non_exhaustive()
    }
}

/// A pair that was just obtained.
#[derive(Debug)]
pub struct FreshPair {
    /// The access token.
    pub access: Secret,
    /// The refresh token; `None` where the answer had none: after a renewal the old one stays.
    pub refresh: Option<Secret>,
    /// When the access token runs out, where the answer says so in a way that makes sense.
    pub expires_at: Option<UnixTime>,
    /// When the asking began.
    pub obtained_at: UnixTime,
    /// What the server says that the access token may do.
    pub scopes: Scopes,
}

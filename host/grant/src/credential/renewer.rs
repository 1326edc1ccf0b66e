//! Who may turn a credential's refresh token into a fresh pair: a client of the service's, or a broker that holds one.
//!
//! Refuses what could not stand in a form or a header. Holds no secret: a client that has one is a broker's, and a
//! credential only names it. RFC 6749, section 2.2; DESIGN, "Doors": Broker.

use std::fmt;

use pinhole_manifest::host::HttpsUrl;
use serde::{Deserialize, Serialize};

use crate::keys::PublicKey;

/// Longest client id, in bytes.
const CLIENT_ID_BYTES_MAX: usize = 512;

/// The id of an OAuth client at its service. Not a secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ClientId(Box<str>);

/// Why a text is not a client id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a client id: it has 1 to {CLIENT_ID_BYTES_MAX} visible ASCII characters and no space: copy it again, alone"
)]
pub struct ClientIdError;

impl ClientId {
    /// Takes 1 to 512 visible ASCII characters.
    pub fn parse(text: &str) -> Result<Self, ClientIdError> {
        let fits = (1..=CLIENT_ID_BYTES_MAX).contains(&text.len());
        if fits && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(text.into()))
        } else {
            Err(ClientIdError)
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who renews the pair of a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "a credential has one, and it is boxed there")]
pub enum Renewer {
    /// A public client asks the token URL itself.
    Client(ClientId),
    /// A broker asks with a client of its own.
    Broker {
        /// The broker's public URL.
        url: HttpsUrl,
        /// The key that signs its answers: one of another key is none of its own.
        key: PublicKey,
    },
}

/// The serialised form.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
#[expect(clippy::large_enum_variant, reason = "a credential has one, and it is boxed there")]
pub(super) enum RenewerWire {
    Client(String),
    Broker { url: String, key: PublicKey },
}

impl RenewerWire {
    pub(super) fn of(renewer: &Renewer) -> Self {
        match renewer {
            Renewer::Client(id) => Self::Client(id.as_str().to_owned()),
            Renewer::Broker { url, key } => Self::Broker { url: url.as_str().to_owned(), key: key.clone() },
        }
    }

    pub(super) fn into_renewer(self) -> Option<Renewer> {
        Some(match self {
            Self::Client(id) => Renewer::Client(ClientId::parse(&id).ok()?),
            Self::Broker { url, key } => Renewer::Broker { url: HttpsUrl::parse(&url).ok()?, key },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_id_that_would_not_pass_in_a_form_or_a_header_is_refused() {
        for text in ["", " ", "a b", "a\n", "\u{e9}", "a\0"] {
            assert_eq!(ClientId::parse(text).unwrap_err(), ClientIdError, "{text:?}");
        }
        assert!(ClientId::parse(&"x".repeat(CLIENT_ID_BYTES_MAX)).is_ok());
        assert!(ClientId::parse(&"x".repeat(CLIENT_ID_BYTES_MAX + 1)).is_err());
        assert_eq!(ClientId::parse("Iv1.8a61f9b3a7aba766").unwrap().to_string(), "Iv1.8a61f9b3a7aba766");
    }
}

//! Asking a broker: signed by whoever asks, sealed to the broker, for one address of it and one minute.
//!
//! Refuses an ask of a key that the broker does not know, one that was made for another broker or passed on by one, one that
//! is too old or ahead of time, and one that this kind of key has no business with: a member exchanges and revokes, a bot
//! refreshes.

use std::fmt;

use pinhole_manifest::host::HttpsUrl;
use pinhole_manifest::{Access, ServiceId};
use rand_core::CryptoRng;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::keys::{KeyId, KeyKind, PublicKey, SecretKey};
use crate::seal::{self, Kind, SealError, UnsealError};
use crate::secret::Secret;
use crate::sign::{self, SignError, VerifyError};
use crate::text;
use crate::time::UnixTime;
use crate::wire::{WireSecret, to_secret_json};

/// How far the clocks of who asks and of the broker may be apart, in seconds: an ask is good for as long before and after the
/// time that it names.
pub const ASK_SKEW_SECS: i64 = 60;

/// What is asked of a broker.
#[derive(Debug)]
pub enum Ask {
    /// The pair that a finished flow is good for. A member asks so.
    Exchange {
        /// The service of the flow.
        service: ServiceId,
        /// The cap of the flow.
        cap: Access,
        /// The broker's one-time code, as it came to the member's loopback address.
        code: Secret,
        /// What the challenge at the start was made of.
        verifier: Secret,
    },
    /// A fresh pair for this refresh token. A bot asks so.
    Refresh {
        /// Of which service the token is.
        service: ServiceId,
        /// The refresh token.
        refresh: Secret,
    },
    /// That the service forgets this token. A member asks so.
    Revoke {
        /// Of which service the token is.
        service: ServiceId,
        /// The token.
        token: Secret,
        /// Which of a pair's two it is.
        half: PairHalf,
    },
}

/// Which of a pair's two tokens one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PairHalf {
    /// The access token.
    Access,
    /// The refresh token.
    Refresh,
}

impl Ask {
    /// The service that it is about.
    pub fn service(&self) -> &ServiceId {
        match self {
            Self::Exchange { service, .. } | Self::Refresh { service, .. } | Self::Revoke { service, .. } => {
                service
            }
        }
    }

    fn asker(&self) -> KeyKind {
        match self {
            Self::Exchange { .. } | Self::Revoke { .. } => KeyKind::Member,
            Self::Refresh { .. } => KeyKind::Bot,
        }
    }
}

/// 128 random bits that tell one ask from every other of the same key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nonce([u8; 16]);

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::encode(&self.0))
    }
}

impl Serialize for Nonce {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&text::encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Nonce {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text::decode_array(&text).map(Self).ok_or_else(|| serde::de::Error::custom("not a nonce"))
    }
}

/// An ask on its way: what is sent, and what its answer must name.
#[derive(Debug)]
pub struct Asked {
    pub(super) nonce: Nonce,
    envelope: Vec<u8>,
}

impl Asked {
    /// The envelope.
    pub fn as_bytes(&self) -> &[u8] {
        &self.envelope
    }
}

/// Why an ask was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealAskError {
    /// The receiving key is none of a broker's.
    #[error("that key is not a broker's: `pinhole keys show` beside the broker prints its key")]
    NotABroker,
    /// The signing key is not of the kind that asks so.
    #[error("a member exchanges and revokes, a bot refreshes: this key is another's")]
    WrongAsker,
    /// It could not be signed.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// It could not be sealed.
    #[error(transparent)]
    Seal(#[from] SealError),
}

/// Why an ask was not taken. Exhaustive: each has its own answer. Holds nothing of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OpenAskError {
    /// The envelope does not open.
    #[error(transparent)]
    Unseal(#[from] UnsealError),
    /// It is not signed by a key that the broker knows.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// What was signed is no ask.
    #[error("what was sealed is not an ask")]
    Malformed,
    /// It names another asker than the key that signed it.
    #[error("the ask names another key than the one that signed it")]
    AskerMismatch,
    /// It was made for another broker, or for another address of this one.
    #[error("the ask is for another broker")]
    OtherBroker,
    /// It names a time that is more than [`ASK_SKEW_SECS`] away from now.
    #[error("the ask is more than {ASK_SKEW_SECS} s old or ahead of time: set the clock")]
    NotNow,
    /// This kind of key does not ask for that.
    #[error("a member exchanges and revokes, a bot refreshes: this key is another's")]
    WrongAsker,
}

/// An ask of a key that the broker knows, for this broker and for now. Nothing says yet that it is the first time.
#[derive(Debug)]
pub struct OpenedAsk {
    asker: PublicKey,
    nonce: Nonce,
    at: UnixTime,
    ask: Ask,
}

impl OpenedAsk {
    /// Who asks.
    pub fn asker(&self) -> &PublicKey {
        &self.asker
    }

    /// What tells it from every other ask of the same key.
    pub fn nonce(&self) -> Nonce {
        self.nonce
    }

    /// The time that it names.
    pub fn at(&self) -> UnixTime {
        self.at
    }

    /// What is asked.
    pub fn ask(&self) -> &Ask {
        &self.ask
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskWire {
    from: KeyId,
    to: KeyId,
    /// An address in its normal form. It is compared, never followed.
    audience: String,
    at: UnixTime,
    nonce: Nonce,
    ask: WhatWire,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
enum WhatWire {
    Exchange { service: ServiceId, cap: Access, code: WireSecret, verifier: WireSecret },
    Refresh { service: ServiceId, refresh: WireSecret },
    Revoke { service: ServiceId, token: WireSecret, half: PairHalf },
}

impl WhatWire {
    fn of(ask: &Ask) -> Self {
        let copy = |secret: &Secret| WireSecret::new(secret.expose().to_owned());
        match ask {
            Ask::Exchange { service, cap, code, verifier } => Self::Exchange {
                service: service.clone(),
                cap: *cap,
                code: copy(code),
                verifier: copy(verifier),
            },
            Ask::Refresh { service, refresh } => {
                Self::Refresh { service: service.clone(), refresh: copy(refresh) }
            }
            Ask::Revoke { service, token, half } => {
                Self::Revoke { service: service.clone(), token: copy(token), half: *half }
            }
        }
    }

    fn into_ask(self) -> Result<Ask, OpenAskError> {
        let take = |secret: WireSecret| {
            Secret::from_zeroizing(secret.into_inner()).map_err(|_source| OpenAskError::Malformed)
        };
        Ok(match self {
            Self::Exchange { service, cap, code, verifier } => {
                Ask::Exchange { service, cap, code: take(code)?, verifier: take(verifier)? }
            }
            Self::Refresh { service, refresh } => Ask::Refresh { service, refresh: take(refresh)? },
            Self::Revoke { service, token, half } => Ask::Revoke { service, token: take(token)?, half },
        })
    }
}

/// Signs an ask as `asker` and seals it to the broker, which is reached at `audience`.
pub fn seal_ask<R: CryptoRng>(
    ask: &Ask,
    broker: &PublicKey,
    audience: &HttpsUrl,
    asker: &SecretKey,
    now: UnixTime,
    rng: &mut R,
) -> Result<Asked, SealAskError> {
    if broker.kind() != KeyKind::Broker {
        return Err(SealAskError::NotABroker);
    }
    if asker.public().kind() != ask.asker() {
        return Err(SealAskError::WrongAsker);
    }
    let mut nonce = [0; 16];
    rng.fill_bytes(&mut nonce);
    let nonce = Nonce(nonce);
    let wire = AskWire {
        from: asker.public().id(),
        to: broker.id(),
        audience: audience.as_str().to_owned(),
        at: now,
        nonce,
        ask: WhatWire::of(ask),
    };
    let payload = to_secret_json(&wire, sign::PAYLOAD_BYTES_MAX).ok_or(SignError::Envelope)?;
    let signed = sign::sign(Kind::Ask, &payload, asker)?;
    Ok(Asked { nonce, envelope: seal::seal(Kind::Ask, broker, &signed, rng)? })
}

/// Opens an ask as the broker that is reached at `audience`. `known` are the keys that may ask it.
pub fn open_ask(
    envelope: &[u8],
    broker: &SecretKey,
    audience: &HttpsUrl,
    known: &[PublicKey],
    now: UnixTime,
) -> Result<OpenedAsk, OpenAskError> {
    let signed = seal::open(Kind::Ask, envelope, broker)?;
    let verified = sign::verify(Kind::Ask, &signed, known)?;
    // The reader's own error could quote a secret: it is dropped.
    let wire: AskWire =
        serde_json::from_slice(verified.payload()).map_err(|_source| OpenAskError::Malformed)?;
    let asker = verified.signer();
    if wire.from != asker.id() {
        return Err(OpenAskError::AskerMismatch);
    }
    if wire.to != broker.public().id() || wire.audience != audience.as_str() {
        return Err(OpenAskError::OtherBroker);
    }
    let apart = now.secs_since(wire.at).and_then(i64::checked_abs);
    if apart.is_none_or(|seconds| seconds > ASK_SKEW_SECS) {
        return Err(OpenAskError::NotNow);
    }
    let ask = wire.ask.into_ask()?;
    if asker.kind() != ask.asker() {
        return Err(OpenAskError::WrongAsker);
    }
    Ok(OpenedAsk { asker: asker.clone(), nonce: wire.nonce, at: wire.at, ask })
}

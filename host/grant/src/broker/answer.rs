//! Answering: signed by the broker, sealed to whoever asked, for one ask.
//!
//! Refuses an answer of another key than the broker's own, one that was made for somebody else and passed on, and one to
//! another ask. INVARIANT: that a refresh token is dead is believed from a broker's signature alone, never from who stands
//! between.

use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};

use super::ask::{Asked, Nonce, OpenedAsk};
use crate::keys::{KeyId, KeyKind, PublicKey, SecretKey};
use crate::seal::{self, Kind, SealError, UnsealError};
use crate::secret::Secret;
use crate::sign::{self, SignError, VerifyError};
use crate::time::UnixTime;
use crate::wire::{WireSecret, to_secret_json};

/// Most scopes that an answer names.
pub const SCOPES_MAX: usize = 256;
/// Longest name of a scope, in bytes.
pub const SCOPE_BYTES_MAX: usize = 256;

/// What a broker answers.
#[derive(Debug)]
pub enum Answer {
    /// The pair that was asked for.
    Pair(AnsweredPair),
    /// The service has forgotten the token.
    Revoked,
    /// None of it, and why.
    No(NoPair),
}

/// A pair on its way from a broker.
#[derive(Debug)]
pub struct AnsweredPair {
    /// The access token.
    pub access: Secret,
    /// The refresh token; `None` where the service gave none, and what one had stays good.
    pub refresh: Option<Secret>,
    /// When the access token runs out, if the service said so.
    pub expires_at: Option<UnixTime>,
    /// When the broker had it.
    pub obtained_at: UnixTime,
    /// What the service says that it is good for, at most [`SCOPES_MAX`]; empty where it says nothing.
    pub scopes: Vec<String>,
}

/// Why there is no pair. A `code` is the error code that the service said, where it is one that the broker knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum NoPair {
    /// The broker has no client for this service.
    NoService,
    /// The one-time code is not good: unknown, used, too old, another's, or not of this service, cap or verifier.
    BadCode,
    /// The service says that what it was shown, a code or a refresh token, is worth nothing any more.
    Dead {
        /// What it said.
        code: String,
    },
    /// The service refuses the broker's client.
    Client {
        /// What it said.
        code: Option<String>,
    },
    /// The service refuses the request.
    Refused {
        /// What it said.
        code: Option<String>,
    },
    /// The service gave what a connection of this cap must not have; the broker let go of the pair.
    TooMuch {
        /// The scopes that are too much, at most [`SCOPES_MAX`].
        scopes: Vec<String>,
    },
    /// The service is away, or says to come later.
    Unavailable {
        /// Whether it may have got the request.
        reached: Reached,
        /// After how many seconds it may go better, if the service said so.
        retry_after: Option<u64>,
    },
    /// The service answered something that is no answer.
    Unreadable {
        /// Whether it may have got the request.
        reached: Reached,
    },
    /// The service does not offer what was asked for: it has no place where tokens are given up.
    NotOffered,
}

/// Whether a request of the broker's reached the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reached {
    /// Certainly not.
    No,
    /// It may have.
    Maybe,
    /// An answer to it began.
    Yes,
}

/// Why an answer was not taken. Holds nothing of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenAnswerError {
    /// The envelope does not open.
    #[error(transparent)]
    Unseal(#[from] UnsealError),
    /// It is not signed by the broker that was asked.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// What was signed is no answer.
    #[error("what was sealed is not an answer")]
    Malformed,
    /// It was made for another key, or answers another ask.
    #[error("the answer is to another ask")]
    OtherAsk,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerWire {
    from: KeyId,
    to: KeyId,
    nonce: Nonce,
    answer: WhatWire,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
enum WhatWire {
    Pair(PairWire),
    Revoked,
    No(NoPair),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PairWire {
    access: WireSecret,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refresh: Option<WireSecret>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<UnixTime>,
    obtained_at: UnixTime,
    scopes: Vec<String>,
}

impl WhatWire {
    fn of(answer: &Answer) -> Self {
        let copy = |secret: &Secret| WireSecret::new(secret.expose().to_owned());
        match answer {
            Answer::Pair(pair) => Self::Pair(PairWire {
                access: copy(&pair.access),
                refresh: pair.refresh.as_ref().map(copy),
                expires_at: pair.expires_at,
                obtained_at: pair.obtained_at,
                scopes: pair.scopes.clone(),
            }),
            Answer::Revoked => Self::Revoked,
            Answer::No(no) => Self::No(no.clone()),
        }
    }

    fn into_answer(self) -> Result<Answer, OpenAnswerError> {
        let take = |secret: WireSecret| {
            Secret::from_zeroizing(secret.into_inner()).map_err(|_source| OpenAnswerError::Malformed)
        };
        Ok(match self {
            Self::Pair(PairWire { access, refresh, expires_at, obtained_at, scopes }) => {
                if !are_scopes(&scopes) {
                    return Err(OpenAnswerError::Malformed);
                }
                let refresh = refresh.map(take).transpose()?;
                Answer::Pair(AnsweredPair { access: take(access)?, refresh, expires_at, obtained_at, scopes })
            }
            Self::Revoked => Answer::Revoked,
            Self::No(no) => {
                let is_plain = match &no {
                    NoPair::Dead { code } => is_scope(code),
                    NoPair::Client { code } | NoPair::Refused { code } => {
                        code.as_deref().is_none_or(is_scope)
                    }
                    NoPair::TooMuch { scopes } => are_scopes(scopes),
                    _ => true,
                };
                if !is_plain {
                    return Err(OpenAnswerError::Malformed);
                }
                Answer::No(no)
            }
        })
    }
}

/// Signs an answer as the broker and seals it to whoever asked.
pub fn seal_answer<R: CryptoRng>(
    answer: &Answer,
    asked: &OpenedAsk,
    broker: &SecretKey,
    rng: &mut R,
) -> Result<Vec<u8>, SealAnswerError> {
    if broker.public().kind() != KeyKind::Broker {
        return Err(SealAnswerError::NotABroker);
    }
    let wire = AnswerWire {
        from: broker.public().id(),
        to: asked.asker().id(),
        nonce: asked.nonce(),
        answer: WhatWire::of(answer),
    };
    let payload = to_secret_json(&wire, sign::PAYLOAD_BYTES_MAX).ok_or(SignError::Envelope)?;
    let signed = sign::sign(Kind::Answer, &payload, broker)?;
    Ok(seal::seal(Kind::Answer, asked.asker(), &signed, rng)?)
}

/// Why an answer was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealAnswerError {
    /// The signing key is none of a broker's.
    #[error("only a broker answers: this key is not a broker's")]
    NotABroker,
    /// It could not be signed.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// It could not be sealed.
    #[error(transparent)]
    Seal(#[from] SealError),
}

/// Opens the answer of `broker` to what `own` asked.
pub fn open_answer(
    envelope: &[u8],
    asked: &Asked,
    own: &SecretKey,
    broker: &PublicKey,
) -> Result<Answer, OpenAnswerError> {
    let signed = seal::open(Kind::Answer, envelope, own)?;
    let verified = sign::verify(Kind::Answer, &signed, std::slice::from_ref(broker))?;
    if verified.signer().kind() != KeyKind::Broker {
        return Err(VerifyError::UnknownSigner.into());
    }
    // The reader's own error could quote a secret: it is dropped.
    let wire: AnswerWire =
        serde_json::from_slice(verified.payload()).map_err(|_source| OpenAnswerError::Malformed)?;
    if (wire.from, wire.to, wire.nonce) != (broker.id(), own.public().id(), asked.nonce) {
        return Err(OpenAnswerError::OtherAsk);
    }
    wire.answer.into_answer()
}

fn are_scopes(scopes: &[String]) -> bool {
    scopes.len() <= SCOPES_MAX && scopes.iter().all(|scope| is_scope(scope))
}

/// The characters of a scope, and of an error code (RFC 6749, sections 3.3 and 5.2).
fn is_scope(text: &str) -> bool {
    let is_its = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    (1..=SCOPE_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_its)
}

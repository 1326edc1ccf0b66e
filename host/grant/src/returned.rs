//! A rotated pair on its way back: sealed to the grant's `return_to`, signed by the bot that rotated it.
//!
//! Carries the pair and nothing else of the credential, so that a bot can change neither host, account nor cap. Refuses a
//! pair that is not newer than what is stored. DESIGN, "Crypto": Rotated pairs.

use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};

use crate::credential::Credential;
use crate::grant::OpenedGrant;
use crate::keys::{KeyId, KeyKind, PublicKey, SecretKey};
use crate::seal::{self, Kind, SealError, UnsealError};
use crate::secret::Secret;
use crate::sign::{self, SignError, VerifyError};
use crate::text::CredentialId;
use crate::time::UnixTime;
use crate::wire::{WireSecret, to_secret_json};

/// How many generations ahead of the stored one a pair may be: a bot may have renewed every few seconds for a month while the
/// member was away, but it must not be able to jump so far that no later pair is ever newer.
pub const GENERATIONS_AHEAD_MAX: u64 = 1_000_000;

/// Why a pair was not sent back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReturnError {
    /// The grant does not say where to.
    #[error("the grant does not say where a rotated pair goes")]
    NoReturnTo,
    /// The key is not that of the bot that the grant was given to.
    #[error("the grant was given to another bot")]
    WrongBot,
    /// The credential is not a later generation of the grant's own.
    #[error("not a later generation of the grant's credential")]
    NotARotation,
    /// It could not be signed.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// It could not be sealed.
    #[error(transparent)]
    Seal(#[from] SealError),
}

/// Why a pair that came back was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenReturnedError {
    /// The envelope does not open.
    #[error(transparent)]
    Unseal(#[from] UnsealError),
    /// It is not signed by a bot that may return it.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// What was signed is no pair.
    #[error("what was sealed is not a rotated pair")]
    Malformed,
    /// It names another bot than the one that signed it.
    #[error("the pair names another bot than the one that signed it")]
    BotMismatch,
    /// It was sent to another key and sealed on to this one.
    #[error("the pair was sent to another key and passed on")]
    Resealed,
    /// It belongs to another credential.
    #[error("the pair belongs to another connection")]
    WrongCredential,
    /// It is not newer than what is stored: older, or played again.
    #[error("the pair is not newer than the one that is stored")]
    Stale,
    /// It is further ahead than [`GENERATIONS_AHEAD_MAX`].
    #[error("the pair is further ahead than can be")]
    TooFarAhead,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReturnedWire {
    bot: KeyId,
    to: KeyId,
    credential: CredentialId,
    #[serde(rename = "gen")]
    generation: u64,
    secret: WireSecret,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refresh: Option<WireSecret>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<UnixTime>,
}

/// Signs the pair of `rotated` as the grant's bot and seals it to the grant's `return_to`.
pub fn seal_returned<R: CryptoRng>(
    opened: &OpenedGrant,
    rotated: &Credential,
    bot: &SecretKey,
    rng: &mut R,
) -> Result<Vec<u8>, ReturnError> {
    let grant = opened.grant();
    let to = grant.return_to().ok_or(ReturnError::NoReturnTo)?;
    if grant.bot() != bot.public().id() {
        return Err(ReturnError::WrongBot);
    }
    let held = grant.credential();
    if rotated.id() != held.id() || rotated.generation() <= held.generation() {
        return Err(ReturnError::NotARotation);
    }
    let copy = |secret: &Secret| WireSecret::new(secret.expose().to_owned());
    let wire = ReturnedWire {
        bot: bot.public().id(),
        to: to.id(),
        credential: rotated.id(),
        generation: rotated.generation(),
        secret: copy(rotated.secret()),
        refresh: rotated.refresh().map(copy),
        expires_at: rotated.expires_at(),
    };
    let payload = to_secret_json(&wire, sign::PAYLOAD_BYTES_MAX).ok_or(SignError::Envelope)?;
    let signed = sign::sign(Kind::Returned, &payload, bot)?;
    Ok(seal::seal(Kind::Returned, to, &signed, rng)?)
}

/// Opens a pair that came back: `stored` with the pair in place of its own. `bots` are those whose pairs are taken for this
/// credential.
pub fn open_returned(
    envelope: &[u8],
    recipient: &SecretKey,
    bots: &[PublicKey],
    stored: &Credential,
) -> Result<Credential, OpenReturnedError> {
    let signed = seal::open(Kind::Returned, envelope, recipient)?;
    let verified = sign::verify(Kind::Returned, &signed, bots)?;
    if verified.signer().kind() != KeyKind::Bot {
        return Err(VerifyError::UnknownSigner.into());
    }
    // The reader's own error could quote a secret: it is dropped.
    let wire: ReturnedWire =
        serde_json::from_slice(verified.payload()).map_err(|_source| OpenReturnedError::Malformed)?;
    if wire.bot != verified.signer().id() {
        return Err(OpenReturnedError::BotMismatch);
    }
    if wire.to != recipient.public().id() {
        return Err(OpenReturnedError::Resealed);
    }
    if wire.credential != stored.id() {
        return Err(OpenReturnedError::WrongCredential);
    }
    match wire.generation.checked_sub(stored.generation()) {
        None | Some(0) => return Err(OpenReturnedError::Stale),
        Some(ahead) if ahead > GENERATIONS_AHEAD_MAX => return Err(OpenReturnedError::TooFarAhead),
        Some(_) => {}
    }
    let take = |secret: WireSecret| {
        Secret::from_zeroizing(secret.into_inner()).map_err(|_source| OpenReturnedError::Malformed)
    };
    let (secret, refresh) = (take(wire.secret)?, wire.refresh.map(take).transpose()?);
    stored
        .replaced(wire.generation, secret, refresh, wire.expires_at)
        .map_err(|_source| OpenReturnedError::Malformed)
}

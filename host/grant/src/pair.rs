//! The newest pair of a connection that a bot knows: kept sealed to its own key and signed by it, until the member has it.
//!
//! Carries what a renewal changes and nothing else of the credential: host, account, cap and way of dialling stay those of
//! the grant. Refuses what was not sealed by this bot for itself.
//! [`PairDigest`] finds the pair of a grant again without keeping it. DESIGN, "Crypto": Rotated pairs.

use std::fmt;

use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};

use crate::credential::{Credential, CredentialError};
use crate::keyed::KeyedDigest;
use crate::keys::{KeyId, KeyKind, SecretKey};
use crate::seal::{self, Kind, SealError, UnsealError};
use crate::secret::Secret;
use crate::sign::{self, SignError, VerifyError};
use crate::text::{CredentialId, IdError};
use crate::time::UnixTime;
use crate::wire::{WireSecret, to_secret_json};

/// What the key of digests is derived with.
const LABEL: &[u8] = b"pinhole/pair-digest/v1";

/// A pair that a bot keeps. `Debug` shows neither secret.
#[derive(Debug)]
pub struct KeptPair {
    /// The member whose credential it renews.
    pub issuer: KeyId,
    /// The credential.
    pub credential: CredentialId,
    /// How often the credential was rotated.
    pub generation: u64,
    /// The access token.
    pub access: Secret,
    /// The refresh token.
    pub refresh: Option<Secret>,
    /// When it was obtained.
    pub obtained_at: UnixTime,
    /// When the access token runs out, where that is known.
    pub expires_at: Option<UnixTime>,
}

impl KeptPair {
    /// The credential of a grant with this pair in the place of its own. One that the grant's is as new as is a generation
    /// above it all the same: whoever gets it back takes only what is newer.
    pub fn of(&self, held: &Credential) -> Result<Credential, CredentialError> {
        let above = held.generation().checked_add(1).ok_or(CredentialError::Generations)?;
        let copy = |secret: &Secret| Secret::new(secret.expose().to_owned());
        let (access, refresh) = (copy(&self.access), self.refresh.as_ref().map(copy).transpose());
        // Both are secrets already, so both are good for one again.
        match (access, refresh) {
            (Ok(access), Ok(refresh)) => {
                held.replaced(self.generation.max(above), access, refresh, self.expires_at)
            }
            _ => Err(CredentialError::Generations),
        }
    }

    /// Its digest under the bot's key.
    pub fn digest(&self, bot: &SecretKey) -> Option<PairDigest> {
        PairDigest::new(bot, self.issuer, self.credential, &self.access, self.refresh.as_ref())
    }
}

/// What tells a pair from every other to one bot, and nothing to anybody else: over the member, the credential and both
/// tokens.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PairDigest(KeyedDigest);

impl PairDigest {
    /// The digest of the pair that a grant of this member's carries.
    pub fn of(bot: &SecretKey, issuer: KeyId, credential: &Credential) -> Option<Self> {
        Self::new(bot, issuer, credential.id(), credential.secret(), credential.refresh())
    }

    /// `None` only where the library refuses the length of a key, which it does not for 32 bytes.
    fn new(
        bot: &SecretKey,
        issuer: KeyId,
        credential: CredentialId,
        access: &Secret,
        refresh: Option<&Secret>,
    ) -> Option<Self> {
        let credential = credential.to_string();
        let parts = [issuer.as_bytes().as_slice(), credential.as_bytes(), access.expose().as_bytes()];
        let refresh = refresh.map(|refresh| refresh.expose().as_bytes());
        KeyedDigest::of(bot, LABEL, parts.into_iter().chain(refresh)).map(Self)
    }

    /// Reads the text form: 43 characters of unpadded base64url.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        KeyedDigest::parse(text).map(Self).ok_or(IdError::of("the digest of a pair"))
    }
}

impl fmt::Display for PairDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for PairDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why a pair was not sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealPairError {
    /// The key is not a bot's.
    #[error("a pair is kept by a bot: this is another's key")]
    NotABot,
    /// It could not be signed.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// It could not be sealed.
    #[error(transparent)]
    Seal(#[from] SealError),
}

/// Why a kept pair was not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenPairError {
    /// The key is not a bot's.
    #[error("a pair is kept by a bot: this is another's key")]
    NotABot,
    /// The envelope does not open.
    #[error(transparent)]
    Unseal(#[from] UnsealError),
    /// It is not signed by the bot.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// What was signed is no pair.
    #[error("what was sealed is not a pair")]
    Malformed,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PairWire {
    issuer: KeyId,
    credential: CredentialId,
    #[serde(rename = "gen")]
    generation: u64,
    access: WireSecret,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refresh: Option<WireSecret>,
    obtained_at: UnixTime,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<UnixTime>,
}

/// Signs a pair as the bot that renewed it and seals it to the same bot.
pub fn seal_pair<R: CryptoRng>(
    pair: &KeptPair,
    bot: &SecretKey,
    rng: &mut R,
) -> Result<Vec<u8>, SealPairError> {
    if bot.public().kind() != KeyKind::Bot {
        return Err(SealPairError::NotABot);
    }
    let copy = |secret: &Secret| WireSecret::new(secret.expose().to_owned());
    let wire = PairWire {
        issuer: pair.issuer,
        credential: pair.credential,
        generation: pair.generation,
        access: copy(&pair.access),
        refresh: pair.refresh.as_ref().map(copy),
        obtained_at: pair.obtained_at,
        expires_at: pair.expires_at,
    };
    let payload = to_secret_json(&wire, sign::PAYLOAD_BYTES_MAX).ok_or(SignError::Envelope)?;
    let signed = sign::sign(Kind::Pair, &payload, bot)?;
    Ok(seal::seal(Kind::Pair, bot.public(), &signed, rng)?)
}

/// Opens a pair that this bot sealed to itself.
pub fn open_pair(envelope: &[u8], bot: &SecretKey) -> Result<KeptPair, OpenPairError> {
    if bot.public().kind() != KeyKind::Bot {
        return Err(OpenPairError::NotABot);
    }
    let signed = seal::open(Kind::Pair, envelope, bot)?;
    let verified = sign::verify(Kind::Pair, &signed, std::slice::from_ref(bot.public()))?;
    // The reader's own error could quote a secret: it is dropped.
    let wire: PairWire =
        serde_json::from_slice(verified.payload()).map_err(|_source| OpenPairError::Malformed)?;
    let take = |secret: WireSecret| {
        Secret::from_zeroizing(secret.into_inner()).map_err(|_source| OpenPairError::Malformed)
    };
    Ok(KeptPair {
        issuer: wire.issuer,
        credential: wire.credential,
        generation: wire.generation,
        access: take(wire.access)?,
        refresh: wire.refresh.map(take).transpose()?,
        obtained_at: wire.obtained_at,
        expires_at: wire.expires_at,
    })
}

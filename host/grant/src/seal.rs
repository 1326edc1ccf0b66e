//! Sealing: HPKE (RFC 9180) base mode, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, ChaCha20-Poly1305.
//!
//! `info` names the kind and the version, the AAD is the recipient's key id. Anybody may seal to a public key: a seal hides
//! and binds, it proves nothing about who made it. So everything sealed is signed first (`sign`). DESIGN, "Crypto": Seal.

use hpke::aead::ChaCha20Poly1305;
use hpke::kdf::HkdfSha256;
use hpke::kem::X25519HkdfSha256;
use hpke::{Deserializable as _, Kem, OpModeR, OpModeS, Serializable as _};
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::keys::{KeyId, PublicKey, SecretKey};
use crate::text;

/// Largest text that is sealed, in bytes: a signed payload of [`crate::sign::PAYLOAD_BYTES_MAX`] and room to spare.
pub const PLAINTEXT_BYTES_MAX: usize = 90 << 10;
/// Largest envelope that is opened, in bytes.
pub const ENVELOPE_BYTES_MAX: usize = 124 << 10;

/// What is inside: each kind has its own `info` and payload type, so that none can be taken for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A member's permission to a bot.
    Grant,
    /// A member's credential, for herself.
    Credential,
    /// A rotated pair on its way back from a bot.
    Returned,
    /// How far a bot's receipts had come at a time. Signed only, never sealed.
    Checkpoint,
    /// A pair that a bot keeps for itself.
    Pair,
}

impl Kind {
    /// The HPKE `info`.
    pub fn info(self) -> &'static str {
        match self {
            Self::Grant => "pinhole/grant/v1",
            Self::Credential => "pinhole/credential/v1",
            Self::Returned => "pinhole/returned/v1",
            Self::Checkpoint => "pinhole/checkpoint/v1",
            Self::Pair => "pinhole/pair/v1",
        }
    }
}

/// Why something was not sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// It is larger than [`PLAINTEXT_BYTES_MAX`].
    #[error("larger than {PLAINTEXT_BYTES_MAX} bytes")]
    TooLarge,
    /// The key agreement or the encryption failed.
    #[error("it could not be encrypted to that key")]
    Encryption,
}

/// Why an envelope was not opened. Holds nothing of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnsealError {
    /// It is larger than [`ENVELOPE_BYTES_MAX`].
    #[error("larger than {ENVELOPE_BYTES_MAX} bytes")]
    TooLarge,
    /// It is not a sealed envelope.
    #[error("not a sealed envelope")]
    NotAnEnvelope,
    /// It is of a later version.
    #[error("an envelope of version {0}; this program reads version 1")]
    Version(u8),
    /// It is another kind of envelope.
    #[error("another kind of envelope")]
    WrongKind,
    /// It is addressed to another key.
    #[error("sealed to another key")]
    WrongRecipient,
    /// It was changed on the way, or was never sealed to this key for this purpose.
    #[error("it does not open: it was changed or cut short")]
    CannotOpen,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EnvelopeWire {
    v: u8,
    kind: Kind,
    to: KeyId,
    enc: String,
    ct: String,
}

/// Seals to a public key.
pub fn seal<R: CryptoRng>(
    kind: Kind,
    to: &PublicKey,
    plaintext: &[u8],
    rng: &mut R,
) -> Result<Vec<u8>, SealError> {
    if plaintext.len() > PLAINTEXT_BYTES_MAX {
        return Err(SealError::TooLarge);
    }
    let recipient = <X25519HkdfSha256 as Kem>::PublicKey::from_bytes(to.x25519())
        .map_err(|_source| SealError::Encryption)?;
    let (enc, ct) = hpke::single_shot_seal_with_rng::<ChaCha20Poly1305, HkdfSha256, X25519HkdfSha256>(
        &OpModeS::Base,
        &recipient,
        kind.info().as_bytes(),
        plaintext,
        to.id().as_bytes(),
        rng,
    )
    .map_err(|_source| SealError::Encryption)?;
    let wire =
        EnvelopeWire { v: 1, kind, to: to.id(), enc: text::encode(&enc.to_bytes()), ct: text::encode(&ct) };
    serde_json::to_vec(&wire).map_err(|_source| SealError::Encryption)
}

/// Opens what was sealed to this key, as this kind.
pub fn open(kind: Kind, envelope: &[u8], key: &SecretKey) -> Result<Zeroizing<Vec<u8>>, UnsealError> {
    let wire = read(envelope)?;
    if wire.kind != kind {
        return Err(UnsealError::WrongKind);
    }
    if wire.to != key.public().id() {
        return Err(UnsealError::WrongRecipient);
    }
    let enc: [u8; 32] = text::decode_array(&wire.enc).ok_or(UnsealError::NotAnEnvelope)?;
    let ct = text::decode(&wire.ct).ok_or(UnsealError::NotAnEnvelope)?;
    let enc = <X25519HkdfSha256 as Kem>::EncappedKey::from_bytes(&enc)
        .map_err(|_source| UnsealError::CannotOpen)?;
    let secret = <X25519HkdfSha256 as Kem>::PrivateKey::from_bytes(key.x25519().as_bytes())
        .map_err(|_source| UnsealError::CannotOpen)?;
    hpke::single_shot_open::<ChaCha20Poly1305, HkdfSha256, X25519HkdfSha256>(
        &OpModeR::Base,
        &secret,
        &enc,
        kind.info().as_bytes(),
        &ct,
        key.public().id().as_bytes(),
    )
    .map(Zeroizing::new)
    .map_err(|_source| UnsealError::CannotOpen)
}

/// What stands on the outside of an envelope: its kind and the key it is addressed to. Nothing vouches for it until the
/// envelope is opened.
pub fn addressee(envelope: &[u8]) -> Result<(Kind, KeyId), UnsealError> {
    read(envelope).map(|wire| (wire.kind, wire.to))
}

fn read(envelope: &[u8]) -> Result<EnvelopeWire, UnsealError> {
    if envelope.len() > ENVELOPE_BYTES_MAX {
        return Err(UnsealError::TooLarge);
    }
    let wire: EnvelopeWire =
        serde_json::from_slice(envelope).map_err(|_source| UnsealError::NotAnEnvelope)?;
    if wire.v == 1 { Ok(wire) } else { Err(UnsealError::Version(wire.v)) }
}

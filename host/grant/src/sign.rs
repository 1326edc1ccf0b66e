//! Signing: DSSE over the exact bytes, Ed25519 with strict verification. Nothing signed is ever serialised again.
//!
//! Refuses more or fewer than one signature, and a signature by a key that the caller did not name. The envelope is the
//! usual one of DSSE: `payload` and `sig` in padded standard base64. DESIGN, "Crypto": Sign; DSSE v1.0.2; RFC 8032.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer as _};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::keys::{KeyId, PublicKey, SecretKey};
use crate::seal::{Kind, PLAINTEXT_BYTES_MAX};
use crate::wire::{WireSecret, to_secret_json};

/// Largest payload that is signed, in bytes.
pub const PAYLOAD_BYTES_MAX: usize = 64 << 10;

/// Why something was not signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    /// It is larger than [`PAYLOAD_BYTES_MAX`].
    #[error("larger than {PAYLOAD_BYTES_MAX} bytes")]
    TooLarge,
    /// The envelope could not be written.
    #[error("the signature could not be written")]
    Envelope,
}

/// Why a signed envelope was not accepted. Holds nothing of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// It is not a DSSE envelope of the size that is read here.
    #[error("not a signed envelope")]
    NotAnEnvelope,
    /// It is of another payload type.
    #[error("signed as something else")]
    WrongType,
    /// It has no signature, or several.
    #[error("it must have exactly one signature")]
    SignatureCount,
    /// It says that it was signed by a key that is not among those accepted.
    #[error("signed by an unknown key")]
    UnknownSigner,
    /// The signature is not that key's over these bytes.
    #[error("the signature does not match")]
    BadSignature,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DsseWire {
    #[serde(rename = "payloadType")]
    payload_type: String,
    payload: WireSecret,
    signatures: Vec<SignatureWire>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignatureWire {
    keyid: KeyId,
    sig: String,
}

/// A payload, and who signed exactly these bytes.
pub struct Verified<'k> {
    payload: Zeroizing<Vec<u8>>,
    signer: &'k PublicKey,
}

impl<'k> Verified<'k> {
    /// The signed bytes.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// Who signed them.
    pub fn signer(&self) -> &'k PublicKey {
        self.signer
    }
}

impl std::fmt::Debug for Verified<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Verified").field("signer", self.signer).finish_non_exhaustive()
    }
}

/// The DSSE `payloadType` of a kind.
pub fn payload_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Grant => "application/vnd.pinhole.grant+json",
        Kind::Credential => "application/vnd.pinhole.credential+json",
        Kind::Returned => "application/vnd.pinhole.returned+json",
        Kind::Checkpoint => "application/vnd.pinhole.checkpoint+json",
        Kind::Pair => "application/vnd.pinhole.pair+json",
    }
}

/// Signs a payload: the bytes of a DSSE envelope.
pub fn sign(kind: Kind, payload: &[u8], key: &SecretKey) -> Result<Zeroizing<Vec<u8>>, SignError> {
    if payload.len() > PAYLOAD_BYTES_MAX {
        return Err(SignError::TooLarge);
    }
    let sig = key.ed25519().sign(&pae(payload_type(kind), payload));
    let wire = DsseWire {
        payload_type: payload_type(kind).to_owned(),
        payload: WireSecret::new(STANDARD.encode(payload)),
        signatures: vec![SignatureWire { keyid: key.public().id(), sig: STANDARD.encode(sig.to_bytes()) }],
    };
    to_secret_json(&wire, PLAINTEXT_BYTES_MAX).ok_or(SignError::Envelope)
}

/// Verifies a DSSE envelope of this kind against the keys that may have signed it.
pub fn verify<'k>(kind: Kind, envelope: &[u8], keys: &'k [PublicKey]) -> Result<Verified<'k>, VerifyError> {
    let (keyid, sig, payload) = read(kind, envelope)?;
    let signer = keys.iter().find(|key| key.id() == keyid).ok_or(VerifyError::UnknownSigner)?;
    signer
        .ed25519()
        .verify_strict(&pae(payload_type(kind), &payload), &sig)
        .map_err(|_source| VerifyError::BadSignature)?;
    Ok(Verified { payload, signer })
}

/// The payload of an envelope whose signer is not known here, with the key id that it claims. Nothing vouches for either.
pub(crate) fn peek(kind: Kind, envelope: &[u8]) -> Result<(KeyId, Zeroizing<Vec<u8>>), VerifyError> {
    read(kind, envelope).map(|(keyid, _sig, payload)| (keyid, payload))
}

fn read(kind: Kind, envelope: &[u8]) -> Result<(KeyId, Signature, Zeroizing<Vec<u8>>), VerifyError> {
    if envelope.len() > PLAINTEXT_BYTES_MAX {
        return Err(VerifyError::NotAnEnvelope);
    }
    // The reader's own error could quote a secret: it is dropped.
    let wire: DsseWire = serde_json::from_slice(envelope).map_err(|_source| VerifyError::NotAnEnvelope)?;
    if wire.payload_type != payload_type(kind) {
        return Err(VerifyError::WrongType);
    }
    let [signature] = wire.signatures.as_slice() else {
        return Err(VerifyError::SignatureCount);
    };
    let sig = STANDARD.decode(&signature.sig).map_err(|_source| VerifyError::NotAnEnvelope)?;
    let sig = Signature::from_slice(&sig).map_err(|_source| VerifyError::BadSignature)?;
    let payload = STANDARD.decode(wire.payload.as_str()).map_err(|_source| VerifyError::NotAnEnvelope)?;
    let payload = Zeroizing::new(payload);
    if payload.len() > PAYLOAD_BYTES_MAX {
        return Err(VerifyError::NotAnEnvelope);
    }
    Ok((signature.keyid, sig, payload))
}

/// DSSE's pre-authentication encoding, in a buffer that is zeroised: the payload may hold secrets.
fn pae(payload_type: &str, payload: &[u8]) -> Zeroizing<Vec<u8>> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    let mut bytes = Zeroizing::new(Vec::with_capacity(head.len().saturating_add(payload.len())));
    bytes.extend_from_slice(head.as_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

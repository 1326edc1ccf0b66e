//! Metadata as files: one way to write a signed role, and the only one that is read back.
//!
//! Refuses a file that this module would not have written. INVARIANT: two files that differ are two documents, so that no
//! changed byte goes unseen, in the signed part or around it.

use std::collections::HashMap;

use pinhole_manifest::Digest;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tough::schema::decoded::Decoded;
use tough::schema::{Hashes, Metafile, Role, Signature, Signed};

use super::seats::wide;
use crate::RoleName;
use crate::keys::RegistryKey;

/// The version of the TUF specification that the metadata follows, as far as clients compare it.
pub(super) const SPEC_VERSION: &str = "1.0.0";
/// Largest metadata file that is read, in bytes: 4 MiB, for some ten thousand targets.
pub const METADATA_BYTES_MAX: u64 = 4 << 20;

/// Why a file is not the metadata of a role.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvelopeError {
    /// It is too large.
    #[error("it is larger than {METADATA_BYTES_MAX} bytes")]
    TooLarge,
    /// It is not JSON of that role.
    #[error("it is not the metadata of a {role}: {source}")]
    Syntax {
        /// What it should be.
        role: RoleName,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// It says the same in other bytes.
    #[error(
        "it is not in the one form that this program writes: it was changed, or another program wrote it"
    )]
    Form,
    /// The library has no canonical form of it.
    #[error("it has no canonical form")]
    Canonical(#[source] Box<tough::schema::Error>),
}

/// The bytes that signatures are made over.
pub(super) fn canonical<T: Role>(role: &T) -> Result<Vec<u8>, EnvelopeError> {
    role.canonical_form().map_err(|source| EnvelopeError::Canonical(Box::new(source)))
}

/// The file of a signed role: members sorted, indented by two, a line break at the end.
pub(super) fn file<T: Role>(name: RoleName, signed: &Signed<T>) -> Result<Vec<u8>, EnvelopeError> {
    let syntax = |source| EnvelopeError::Syntax { role: name, source };
    let value = serde_json::to_value(signed).map_err(syntax)?;
    let mut bytes = serde_json::to_vec_pretty(&sorted(value)).map_err(syntax)?;
    bytes.push(b'\n');
    if wide(bytes.len()) > METADATA_BYTES_MAX { Err(EnvelopeError::TooLarge) } else { Ok(bytes) }
}

/// Reads a file that [`file`] wrote.
pub(super) fn read<T: Role + DeserializeOwned>(
    name: RoleName,
    bytes: &[u8],
) -> Result<Signed<T>, EnvelopeError> {
    if wide(bytes.len()) > METADATA_BYTES_MAX {
        return Err(EnvelopeError::TooLarge);
    }
    let syntax = |source| EnvelopeError::Syntax { role: name, source };
    let signed: Signed<T> = serde_json::from_slice(bytes).map_err(syntax)?;
    if file(name, &signed)? == bytes { Ok(signed) } else { Err(EnvelopeError::Form) }
}

/// An unsigned role.
pub(super) fn unsigned<T>(role: T) -> Signed<T> {
    Signed { signed: role, signatures: Vec::new() }
}

/// A key's signature under a role.
pub(super) fn signature(message: &[u8], key: &RegistryKey) -> Signature {
    let sig = key.sign(message).to_vec();
    Signature { keyid: key.public().id().to_tuf(), sig: Decoded::from(sig) }
}

/// What a snapshot or timestamp says of a file.
pub(super) fn metafile<T: Role>(role: &T, bytes: &[u8]) -> Metafile {
    Metafile {
        length: Some(wide(bytes.len())),
        hashes: Some(hashes(bytes)),
        version: role.version(),
        _extra: HashMap::new(),
    }
}

pub(super) fn hashes(bytes: &[u8]) -> Hashes {
    Hashes { sha256: Decoded::from(Digest::of(bytes).as_bytes().to_vec()), _extra: HashMap::new() }
}

/// The same with the members of every object in the order of their names, whatever the map keeps.
fn sorted(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> = members.into_iter().collect();
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(members.into_iter().map(|(name, value)| (name, sorted(value))).collect())
        }
        other => other,
    }
}

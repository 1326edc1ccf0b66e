//! Public keys and their ids, in TUF's form: one line of JSON that is handed around before a registry begins, or when a key
//! is replaced.
//!
//! Refuses another algorithm, further members and a weak point. INVARIANT: one public key has exactly one id here, so two
//! ids are two keys. TUF specification, 4.2.

use std::collections::HashMap;
use std::fmt;

use ed25519_dalek::{Signature, VerifyingKey};
use pinhole_manifest::Digest;
use tough::schema::decoded::{Decoded, Hex};
use tough::schema::key::{Ed25519Key, Ed25519Scheme, Key};

/// Longest text of a public key that is read, in bytes.
const TEXT_BYTES_MAX: usize = 4096;

/// The name of a key in a registry's metadata: the SHA-256 of its canonical form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(Digest);

/// The public half of a registry key.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    key: VerifyingKey,
    id: KeyId,
}

/// Why a text is not a public key of a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PublicKeyError {
    /// It is not JSON of a TUF key.
    #[error("it is not a TUF key: pass the line that `pinhole registry key` prints")]
    Syntax,
    /// Another algorithm, or another signature scheme.
    #[error("only Ed25519 keys sign a registry: make one with `pinhole registry key`")]
    Algorithm,
    /// A member that a key does not have, which would give one key two ids.
    #[error("the key has further members, so that it would have two ids: pass the line as it was printed")]
    Members,
    /// Not a point of the curve, or one that anybody can sign for.
    #[error("the key is no sound Ed25519 key: ask its holder for the line again")]
    Point,
}

impl KeyId {
    /// Reads the 64 lower-case hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        Digest::parse(&format!("sha256:{text}")).ok().map(Self)
    }

    /// Takes an id out of metadata; one in capitals is none.
    pub(crate) fn from_tuf(id: &Decoded<Hex>) -> Option<Self> {
        Self::parse(&tuf_text(id)?)
    }

    pub(crate) fn to_tuf(self) -> Decoded<Hex> {
        Decoded::from(self.0.as_bytes().to_vec())
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.hex())
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Hexadecimal text as it stands in a file.
pub(crate) fn tuf_text(hex: &Decoded<Hex>) -> Option<String> {
    match serde_json::to_value(hex) {
        Ok(serde_json::Value::String(text)) => Some(text),
        _ => None,
    }
}

impl PublicKey {
    pub(super) fn of(key: VerifyingKey) -> Self {
        // TUF's canonical JSON of a key: members sorted, no space; hexadecimal text needs no escape.
        let public = hex(key.as_bytes());
        let canonical =
            format!(r#"{{"keytype":"ed25519","keyval":{{"public":"{public}"}},"scheme":"ed25519"}}"#);
        Self { key, id: KeyId(Digest::of(canonical.as_bytes())) }
    }

    /// Its id in metadata.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Reads the line that [`fmt::Display`] writes; space around it does not matter.
    pub fn parse(text: &str) -> Result<Self, PublicKeyError> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(PublicKeyError::Syntax);
        }
        let key: Key = serde_json::from_str(text).map_err(|_syntax| PublicKeyError::Syntax)?;
        Self::from_tuf(&key)
    }

    /// Takes a key out of metadata.
    pub(crate) fn from_tuf(key: &Key) -> Result<Self, PublicKeyError> {
        let Key::Ed25519 { keyval, scheme: Ed25519Scheme::Ed25519, _extra: further } = key else {
            return Err(PublicKeyError::Algorithm);
        };
        if !further.is_empty() || !keyval._extra.is_empty() {
            return Err(PublicKeyError::Members);
        }
        let bytes: &[u8; 32] = keyval.public.as_ref().try_into().map_err(|_length| PublicKeyError::Point)?;
        let found = VerifyingKey::from_bytes(bytes).map_err(|_point| PublicKeyError::Point)?;
        if found.is_weak() {
            return Err(PublicKeyError::Point);
        }
        // Capitals would be another id for the same key.
        if tuf_text(&keyval.public).is_none_or(|text| text != hex(bytes)) {
            return Err(PublicKeyError::Members);
        }
        Ok(Self::of(found))
    }

    pub(crate) fn to_tuf(&self) -> Key {
        Key::Ed25519 {
            keyval: Ed25519Key {
                public: Decoded::from(self.key.as_bytes().to_vec()),
                _extra: HashMap::new(),
            },
            scheme: Ed25519Scheme::Ed25519,
            _extra: HashMap::new(),
        }
    }

    /// Whether it made this signature, strictly (RFC 8032, 5.1.7, without small-order points).
    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        Signature::from_slice(signature).is_ok_and(|sound| self.key.verify_strict(message, &sound).is_ok())
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let public = hex(self.key.as_bytes());
        write!(f, r#"{{"keytype":"ed25519","keyval":{{"public":"{public}"}},"scheme":"ed25519"}}"#)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        for half in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(u32::from(half), 16));
        }
        text
    })
}

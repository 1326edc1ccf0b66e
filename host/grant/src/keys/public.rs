//! Public keys and their ids: text that a person may copy, which is refused unless it is whole and sound.
//!
//! Refuses keys to which anyone's secret would agree (low-order X25519), keys under which anything verifies (weak
//! Ed25519), and every second way of writing the same key. DESIGN, "Crypto": Keys; RFC 7748, section 6.1; RFC 8032.

use std::fmt;
use std::str::FromStr;

use ed25519_dalek::VerifyingKey;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::text;

const PREFIX: &str = "pin1";
const BODY_BYTES: usize = 65;
const TEXT_BYTES: usize = BODY_BYTES + 4;

/// p = 2^255 − 19, little-endian: an X25519 coordinate from here on is a second way of writing another.
const FIELD_PRIME: [u8; 32] = {
    let mut prime = [0xff; 32];
    prime[0] = 0xed;
    prime[31] = 0x7f;
    prime
};

/// The canonical X25519 coordinates of low order: 0, 1, the two of order 8, and p − 1.
const LOW_ORDER: [[u8; 32]; 5] = [
    [0; 32],
    {
        let mut one = [0; 32];
        one[0] = 1;
        one
    },
    [
        0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4, 0x6a, 0xda,
        0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00,
    ],
    [
        0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef, 0x5b, 0x04,
        0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57,
    ],
    {
        let mut minus_one = FIELD_PRIME;
        minus_one[0] = 0xec;
        minus_one
    },
];

/// Whose key it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    /// A person's: seals her credentials, signs grants.
    Member,
    /// A bot's: opens grants, signs what it returns.
    Bot,
    /// A broker's: opens what is asked of it, signs its answers. It neither gives grants nor opens any.
    Broker,
}

impl KeyKind {
    pub(crate) fn byte(self) -> u8 {
        match self {
            Self::Member => 1,
            Self::Bot => 2,
            Self::Broker => 3,
        }
    }

    fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            1 => Some(Self::Member),
            2 => Some(Self::Bot),
            3 => Some(Self::Broker),
            _ => None,
        }
    }
}

/// Which key: SHA-256 over its type (1 a member's, 2 a bot's, 3 a broker's) and both public keys. Its text is unpadded base64url, 43
/// characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId([u8; 32]);

/// Why a text is not a key id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a key id: write its 43 characters of unpadded base64url")]
pub struct KeyIdError;

impl KeyId {
    /// Reads the text form.
    pub fn parse(text: &str) -> Result<Self, KeyIdError> {
        text::decode_array(text).map(Self).ok_or(KeyIdError)
    }

    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// What a person compares at two places: the first 24 characters of the text, in fours. 144 bits, which nobody meets.
    pub fn fingerprint(&self) -> String {
        let text = text::encode(&self.0);
        let fours: Vec<String> = text
            .as_bytes()
            .chunks(4)
            .take(6)
            .map(|four| String::from_utf8_lossy(four).into_owned())
            .collect();
        fours.join(" ")
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::encode(&self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for KeyId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for KeyId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// A member's, bot's or broker's public keys. INVARIANT: both are sound and canonical, so that one key has one text and one id.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    kind: KeyKind,
    x25519: [u8; 32],
    ed25519: VerifyingKey,
    id: KeyId,
}

/// Why a text is not a public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PublicKeyError {
    /// It does not begin with `pin1`.
    #[error("a public key begins with `{PREFIX}`")]
    Prefix,
    /// It is too short or too long.
    #[error("a public key has 96 characters: copy it whole")]
    Length,
    /// What follows the prefix is not base64url.
    #[error("a public key is `{PREFIX}` and base64url")]
    Encoding,
    /// The checksum does not match.
    #[error("a character of the public key is wrong: copy it again")]
    Checksum,
    /// It is neither a member's, a bot's nor a broker's.
    #[error("the public key is of an unknown kind")]
    Kind,
    /// The X25519 part is of low order or not canonical.
    #[error("the public key would agree with anyone: it is not a real one")]
    X25519,
    /// The Ed25519 part is no point, of small order or not canonical.
    #[error("the public key would verify anything: it is not a real one")]
    Ed25519,
}

impl PublicKey {
    /// Puts a key together from its parts; refuses unsound ones.
    pub(crate) fn from_parts(
        kind: KeyKind,
        x25519: [u8; 32],
        ed25519: &[u8; 32],
    ) -> Result<Self, PublicKeyError> {
        // Little-endian numbers compare from their last byte.
        if x25519.iter().rev().ge(FIELD_PRIME.iter().rev()) || LOW_ORDER.contains(&x25519) {
            return Err(PublicKeyError::X25519);
        }
        let key = VerifyingKey::from_bytes(ed25519).map_err(|_source| PublicKeyError::Ed25519)?;
        if key.is_weak() || key.to_edwards().compress().as_bytes() != ed25519 {
            return Err(PublicKeyError::Ed25519);
        }
        let id = KeyId(Sha256::digest(body(kind, &x25519, ed25519)).into());
        Ok(Self { kind, x25519, ed25519: key, id })
    }

    /// A member's, a bot's or a broker's.
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// Which key it is.
    pub fn id(&self) -> KeyId {
        self.id
    }

    pub(crate) fn x25519(&self) -> &[u8; 32] {
        &self.x25519
    }

    pub(crate) fn ed25519(&self) -> &VerifyingKey {
        &self.ed25519
    }

    pub(crate) fn body(&self) -> [u8; BODY_BYTES] {
        body(self.kind, &self.x25519, self.ed25519.as_bytes())
    }
}

fn body(kind: KeyKind, x25519: &[u8; 32], ed25519: &[u8; 32]) -> [u8; BODY_BYTES] {
    let parts = [kind.byte()].into_iter().chain(*x25519).chain(*ed25519);
    let mut body = [0; BODY_BYTES];
    body.iter_mut().zip(parts).for_each(|(to, from)| *to = from);
    body
}

impl FromStr for PublicKey {
    type Err = PublicKeyError;

    fn from_str(text: &str) -> Result<Self, PublicKeyError> {
        let encoded = text.strip_prefix(PREFIX).ok_or(PublicKeyError::Prefix)?;
        if encoded.len() != TEXT_BYTES / 3 * 4 {
            return Err(PublicKeyError::Length);
        }
        let bytes: [u8; TEXT_BYTES] = text::decode_array(encoded).ok_or(PublicKeyError::Encoding)?;
        let (body, checksum) = bytes.split_first_chunk::<BODY_BYTES>().ok_or(PublicKeyError::Length)?;
        if !Sha256::digest(body).starts_with(checksum) {
            return Err(PublicKeyError::Checksum);
        }
        let (kind, keys) = body.split_first().ok_or(PublicKeyError::Length)?;
        let (x25519, ed25519) = keys.split_first_chunk::<32>().ok_or(PublicKeyError::Length)?;
        let ed25519 = ed25519.first_chunk::<32>().ok_or(PublicKeyError::Length)?;
        let kind = KeyKind::from_byte(*kind).ok_or(PublicKeyError::Kind)?;
        Self::from_parts(kind, *x25519, ed25519)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.body().to_vec();
        bytes.extend(self.id.0.iter().take(TEXT_BYTES - BODY_BYTES));
        write!(f, "{PREFIX}{}", text::encode(&bytes))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

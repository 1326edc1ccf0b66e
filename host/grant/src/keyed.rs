//! Digests that only one bot can make: HMAC-SHA-256 (RFC 2104) under a key that HKDF derives from the bot's secret key, with a
//! label for each use.
//!
//! Whoever reads a database full of them can neither guess what they stand for nor tell whether two bots saw the same thing.
//! INVARIANT: the parts go in with their lengths, so that no two lists of parts give the same digest.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::Sha256;

use crate::keys::SecretKey;
use crate::text;

/// A keyed digest: 32 bytes, written as 43 characters of unpadded base64url.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyedDigest([u8; 32]);

impl KeyedDigest {
    /// The digest of these parts for one use. `None` only where the library refuses a length, which it does not.
    pub(crate) fn of<'p>(
        bot: &SecretKey,
        label: &[u8],
        parts: impl IntoIterator<Item = &'p [u8]>,
    ) -> Option<Self> {
        let key = bot.derived(label)?;
        let mut mac = Hmac::<Sha256>::new_from_slice(&*key).ok()?;
        for part in parts {
            mac.update(&u64::try_from(part.len()).ok()?.to_be_bytes());
            mac.update(part);
        }
        Some(Self(mac.finalize().into_bytes().into()))
    }

    /// Reads the text form; `None` where it is none.
    pub fn parse(text: &str) -> Option<Self> {
        text::decode_array(text).map(Self)
    }

    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for KeyedDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::encode(&self.0))
    }
}

impl fmt::Debug for KeyedDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for KeyedDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for KeyedDigest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a keyed digest"))
    }
}

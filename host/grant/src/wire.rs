//! How a secret crosses the serialised form: the one private type that may be written and read, zeroised on drop.
//!
//! Lives only inside a wire structure between the bytes that are sealed and the types that are used.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

/// A text that is zeroised on drop and serialises as itself.
pub(crate) struct WireSecret(Zeroizing<String>);

impl WireSecret {
    pub(crate) fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn into_inner(self) -> Zeroizing<String> {
        self.0
    }
}

impl fmt::Debug for WireSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<secret>")
    }
}

impl Serialize for WireSecret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for WireSecret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

/// Serialises what holds secrets into a buffer that is large enough from the start (one that grows leaves copies behind)
/// and zeroised at the end. `None` only where a type refuses to serialise, which none here does.
pub(crate) fn to_secret_json<T: Serialize>(value: &T, capacity: usize) -> Option<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(capacity));
    serde_json::to_writer(&mut *bytes, value).ok()?;
    Some(bytes)
}

//! An answer's JSON, read whole and strictly, with every number's digits and every duplicated key as they came.
//!
//! Refuses what RFC 8259 does not allow, a byte order mark, a lone surrogate and nesting deeper than [`DEPTH_MAX`]. No
//! error carries text of the answer. Whether a duplicated key matters is for whoever looks that key up.

use std::fmt;
use std::io;

use serde::de::{MapAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use smol_str::SmolStr;

/// Deepest nesting of arrays and objects.
pub const DEPTH_MAX: usize = 128;

/// The name of a member. Up to 23 bytes of it take no memory of their own, and a copy of a longer one shares it.
pub type Key = SmolStr;

/// A JSON value. Members keep their order, and a key may stand twice.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the values of JSON")]
pub enum Tree {
    Null,
    Bool(bool),
    Number(Digits),
    String(String),
    Array(Vec<Self>),
    Object(Vec<(Key, Self)>),
}

/// A JSON number exactly as it was written: `1.10` stays `1.10`, and no digit of a 64-bit id is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digits(SmolStr);

impl Digits {
    /// A number whose grammar was checked when it was read.
    pub(super) fn checked(text: &str) -> Self {
        Self(text.into())
    }

    /// The number as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why bytes are not a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The bytes are not UTF-8.
    #[error("the document is not UTF-8")]
    NotUtf8,
    /// It starts with a byte order mark, which RFC 8259, section 8.1, forbids.
    #[error("the document starts with a byte order mark")]
    ByteOrderMark,
    /// Arrays and objects lie too deep in each other.
    #[error("the document is nested deeper than {DEPTH_MAX}")]
    TooDeep,
    /// It is not one JSON value.
    #[error("the document is not JSON")]
    Syntax,
    /// More is kept of it than is ever held at once.
    #[error("more of the document is picked than can be held")]
    KeptTooMuch,
    /// A string or a key escapes half of a surrogate pair, which is no character.
    #[error("a string of the document has half a surrogate pair")]
    LoneSurrogate,
}

impl Tree {
    /// Reads a document. Time grows with size times nesting, of which the second is bounded.
    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        let text = std::str::from_utf8(bytes).or(Err(DocumentError::NotUtf8))?;
        if text.starts_with('\u{feff}') {
            return Err(DocumentError::ByteOrderMark);
        }
        if deepest(bytes) > DEPTH_MAX {
            return Err(DocumentError::TooDeep);
        }
        // This checks the whole grammar, at every depth, but for surrogates: what fails below is one of those.
        let raw = serde_json::from_str::<&RawValue>(text).or(Err(DocumentError::Syntax))?;
        read(raw, DEPTH_MAX)
    }

    /// Whether it is a `null`, a truth value, a number or a string.
    pub fn is_scalar(&self) -> bool {
        !matches!(self, Self::Array(_) | Self::Object(_))
    }

    /// How many bytes it takes as compact JSON.
    pub fn compact_len(&self) -> usize {
        let mut count = Count(0);
        // A tree that cannot be written is longer than any limit.
        serde_json::to_writer(&mut count, self).map_or(usize::MAX, |()| count.0)
    }
}

/// Compact JSON.
impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).or(Err(fmt::Error))?)
    }
}

/// Numbers are written verbatim by `serde_json`; another format gets its private notation for raw values.
impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(digits) => {
                let raw: &RawValue =
                    serde_json::from_str(digits.as_str()).map_err(serde::ser::Error::custom)?;
                raw.serialize(serializer)
            }
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(elements) => {
                let mut array = serializer.serialize_seq(Some(elements.len()))?;
                for element in elements {
                    array.serialize_element(element)?;
                }
                array.end()
            }
            Self::Object(members) => {
                let mut object = serializer.serialize_map(Some(members.len()))?;
                for (key, member) in members {
                    object.serialize_entry(key.as_str(), member)?;
                }
                object.end()
            }
        }
    }
}

/// The deepest nesting that the brackets outside strings make, right for every text that is JSON. One pass, so that a
/// body of brackets costs no more than its length.
fn deepest(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let (mut in_string, mut escaped) = (false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                depth = depth.saturating_add(1);
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Reads one value whose grammar is already checked. `levels` is how many more containers may lie in each other.
fn read(raw: &RawValue, levels: usize) -> Result<Tree, DocumentError> {
    let text = raw.get();
    let inner = || levels.checked_sub(1).ok_or(DocumentError::TooDeep);
    match text.as_bytes().first() {
        Some(b'n') => Ok(Tree::Null),
        Some(b't') => Ok(Tree::Bool(true)),
        Some(b'f') => Ok(Tree::Bool(false)),
        Some(b'"') => serde_json::from_str(text).map(Tree::String).or(Err(DocumentError::LoneSurrogate)),
        Some(b'[') => {
            let levels = inner()?;
            let elements: Vec<&RawValue> =
                serde_json::from_str(text).or(Err(DocumentError::LoneSurrogate))?;
            elements
                .into_iter()
                .map(|element| read(element, levels))
                .collect::<Result<_, _>>()
                .map(Tree::Array)
        }
        Some(b'{') => {
            let levels = inner()?;
            let members = serde_json::Deserializer::from_str(text)
                .deserialize_map(Members)
                .or(Err(DocumentError::LoneSurrogate))?;
            let members = members.into_iter().map(|(key, member)| Ok((key, read(member, levels)?)));
            members.collect::<Result<_, _>>().map(Tree::Object)
        }
        _ => Ok(Tree::Number(Digits(text.into()))),
    }
}

/// The members of one object, duplicated keys included.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(Key, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((key, member)) = map.next_entry::<String, _>()? {
            members.push((key.into(), member));
        }
        Ok(members)
    }
}

/// Counts what is written to it.
struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;

//! Looks at metadata before anybody gives it a meaning.
//!
//! Refuses what two readers could read differently, a member that an object has twice above all, and depth without end.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// Most arrays and objects inside each other; the metadata of the specification has eight.
const DEPTH_MAX: usize = 32;

/// What is wrong with a document, whatever it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JsonFault {
    /// It is none.
    #[error("it is no JSON document")]
    NotJson,
    /// An object has a member twice.
    #[error("an object has a member twice")]
    Duplicate,
    /// Arrays and objects are inside each other too often.
    #[error("more than {DEPTH_MAX} arrays and objects are inside each other")]
    Deep,
}

/// Whether the bytes are one JSON document that has one meaning.
pub(super) fn check(bytes: &[u8]) -> Result<(), JsonFault> {
    let fault = Cell::new(JsonFault::NotJson);
    let mut json = serde_json::Deserializer::from_slice(bytes);
    Walk { depth: 0, fault: &fault }.deserialize(&mut json).map_err(|_said_by_the_cell| fault.get())?;
    json.end().map_err(|_more| JsonFault::NotJson)
}

#[derive(Clone, Copy)]
struct Walk<'a> {
    depth: usize,
    fault: &'a Cell<JsonFault>,
}

impl Walk<'_> {
    fn fail<E: serde::de::Error>(self, fault: JsonFault) -> E {
        self.fault.set(fault);
        E::custom(fault)
    }

    fn down<E: serde::de::Error>(self) -> Result<Self, E> {
        let depth = self.depth.saturating_add(1);
        if depth > DEPTH_MAX { Err(self.fail(JsonFault::Deep)) } else { Ok(Self { depth, ..self }) }
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let down = self.down()?;
        while elements.next_element_seed(down)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let down = self.down()?;
        let mut keys = HashSet::new();
        while let Some(key) = members.next_key::<String>()? {
            if !keys.insert(key) {
                return Err(self.fail(JsonFault::Duplicate));
            }
            members.next_value_seed(down)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_meaning_or_none() {
        assert_eq!(check(br#"{"a":[1,-2,"x",null,true,1.5],"b":{"a":{}}}"#), Ok(()));
        assert_eq!(check(br#"{"a":1,"b":{"a":1,"\u0061":2}}"#), Err(JsonFault::Duplicate));
        for bytes in ["", "{", "{}x", "\u{feff}{}", "[1,]"] {
            assert_eq!(check(bytes.as_bytes()), Err(JsonFault::NotJson), "{bytes}");
        }
        assert_eq!(check(b"\"\xff\""), Err(JsonFault::NotJson));
        assert_eq!(check(["[".repeat(32), "]".repeat(32)].concat().as_bytes()), Ok(()));
        assert_eq!(check(["[".repeat(33), "]".repeat(33)].concat().as_bytes()), Err(JsonFault::Deep));
        assert_eq!(check("[".repeat(1 << 20).as_bytes()), Err(JsonFault::Deep));
    }
}

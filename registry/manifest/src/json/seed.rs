//! JSON to a [`Node`] through `serde`: keeps the members' order and their repetition, for the caller to judge.
//!
//! Refuses depth without end and long keys while it reads, before they cost anything. RFC 8259.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::{DEPTH_MAX, KEY_MAX, Node};
use crate::diagnostic::Code;

/// Reads one value; says in `stopped` why it stopped, where that was not the syntax.
#[derive(Clone, Copy)]
pub(super) struct NodeSeed<'s> {
    pub(super) depth: usize,
    pub(super) stopped: &'s Cell<Option<Code>>,
}

impl NodeSeed<'_> {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth >= DEPTH_MAX {
            return Err(self.stop(Code::JsonTooDeep));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }

    fn stop<E: serde::de::Error>(self, code: Code) -> E {
        self.stopped.set(Some(code));
        E::custom(code.as_str())
    }
}

impl<'de> DeserializeSeed<'de> for NodeSeed<'_> {
    type Value = Node;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NodeSeed<'_> {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Node, E> {
        Ok(Node::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
        Ok(Node::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
        Ok(Node::Number(number.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Node, E> {
        Number::from_f64(number).map(Node::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Node, A::Error> {
        let seed = self.deeper()?;
        let mut array = Vec::new();
        while let Some(element) = elements.next_element_seed(seed)? {
            array.push(element);
        }
        Ok(Node::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Node, A::Error> {
        let seed = self.deeper()?;
        let mut object = Vec::new();
        while let Some(key) = members.next_key::<String>()? {
            if key.len() > KEY_MAX {
                return Err(self.stop(Code::JsonTooLarge));
            }
            object.push((key, members.next_value_seed(seed)?));
        }
        Ok(Node::Object(object))
    }
}

//! Args from JSON text that a caller wrote.
//!
//! Refuses what readers of JSON disagree on: a key given twice at any depth, lone surrogates, a number that would be
//! rounded, anything after the value, nesting beyond `TEXT_DEPTH_MAX`. RFC 8259; RFC 8785, section 3.1 (I-JSON).

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::normalise::{FAULTS_MAX, fault};
use super::{ARGS_BYTES_MAX, number, push, push_foreign};
use crate::model::{ArgFault, Args, ArgsSchema};

/// How deep the text may nest, the outer braces being 1.
const TEXT_DEPTH_MAX: usize = 64;
/// Longest text, in bytes: room for escapes and white space around `ARGS_BYTES_MAX`.
const TEXT_BYTES_MAX: usize = ARGS_BYTES_MAX * 2;

impl ArgsSchema {
    /// Reads args from strict JSON text and brings them into normal form.
    ///
    /// # Errors
    /// Every fault at once, up to 64: those of [`ArgsSchema::normalise`], and text that is not strict JSON: duplicate keys,
    /// lone surrogates, trailing data, more than 64 levels, a number that would be rounded, more than 2 MiB.
    pub fn parse_text(&self, text: &str) -> Result<Args, Vec<ArgFault>> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(vec![fault("", format!("args are longer than {TEXT_BYTES_MAX} bytes"))]);
        }
        let mut reader = Reader { faults: Vec::new() };
        let value = match serde_json::from_str::<&RawValue>(text) {
            Ok(raw) => reader.value(raw.get(), "", 1),
            Err(_syntax) => reader.fault("", "args are not valid JSON"),
        };
        if !reader.faults.is_empty() {
            return Err(reader.faults);
        }
        match value {
            Value::Object(map) => self.normalise(map),
            _ => Err(vec![fault("", "args are a JSON object")]),
        }
    }
}

struct Reader {
    faults: Vec<ArgFault>,
}

impl Reader {
    fn fault(&mut self, pointer: &str, message: &str) -> Value {
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(fault(pointer, message));
        }
        Value::Null
    }

    /// Reads one level at a time, so that each number is seen as it was written. The text of every level is scanned again
    /// by the next, which the depth and the length bound.
    fn value(&mut self, text: &str, pointer: &str, depth: usize) -> Value {
        match text.bytes().next() {
            Some(b'{' | b'[') if depth > TEXT_DEPTH_MAX => self.fault(pointer, "args nest more than 64 deep"),
            Some(b'{') => self.object(text, pointer, depth),
            Some(b'[') => match serde_json::from_str::<Vec<&RawValue>>(text) {
                Ok(list) => list
                    .iter()
                    .enumerate()
                    .map(|(i, raw)| {
                        self.value(raw.get(), &push(pointer, &i.to_string()), depth.saturating_add(1))
                    })
                    .collect(),
                Err(_syntax) => self.fault(pointer, "not valid JSON"),
            },
            Some(b'-' | b'0'..=b'9') => match number::parse(text) {
                Ok(number) => Value::Number(number),
                Err(error) => self.fault(pointer, &error.to_string()),
            },
            // Also where a lone surrogate is found: it is no Unicode text.
            _ => serde_json::from_str(text)
                .unwrap_or_else(|_syntax| self.fault(pointer, "not valid Unicode text")),
        }
    }

    fn object(&mut self, text: &str, pointer: &str, depth: usize) -> Value {
        let Ok(Members(members)) = serde_json::from_str(text) else {
            return self.fault(pointer, "a key is not valid Unicode text");
        };
        let mut seen = BTreeSet::new();
        let mut map = Map::new();
        for (name, raw) in members {
            let at = push_foreign(pointer, &name);
            if seen.insert(name.clone()) {
                let value = self.value(raw.get(), &at, depth.saturating_add(1));
                map.insert(name, value);
            } else {
                self.fault(&at, "is given twice");
            }
        }
        Value::Object(map)
    }
}

/// The members of an object as they were written, twice where they were written twice.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

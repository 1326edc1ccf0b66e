//! The strict way into JSON: `serde_json` gives the meaning, `jsonc-parser` the places.
//!
//! Refuses what two readers could read differently: another encoding, a byte order mark, trailing data, duplicate keys,
//! lone surrogates, integers that a double does not keep, and depth or size without end. INVARIANT: no object of a
//! [`Node`] has a key twice. RFC 8259; DESIGN, "Manifest".

mod fault;
mod seed;

use std::cell::Cell;
use std::collections::HashSet;
use std::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use serde::de::DeserializeSeed as _;
use serde_json::Number;

use crate::diagnostic::Code;
use crate::model::SAFE_INTEGER_MAX;
use fault::{byte_at, decode, offset_of, syntax};
use seed::NodeSeed;

/// Most bytes of a file.
pub const SIZE_MAX: usize = 2 << 20;
/// Most arrays and objects inside each other.
pub(crate) const DEPTH_MAX: usize = 64;
/// Most bytes of a key: keeps pointers, and with them diagnostics, short.
const KEY_MAX: usize = 128;

/// A JSON value whose members keep their order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Node {
    /// The type's name, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a truth value",
            Self::Number(_) => "a number",
            Self::String(_) => "a text",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }

    /// The same value in the library's type, which sorts members.
    pub(crate) fn to_value(&self) -> serde_json::Value {
        match self {
            Self::Null => serde_json::Value::Null,
            Self::Bool(flag) => (*flag).into(),
            Self::Number(number) => number.clone().into(),
            Self::String(text) => text.as_str().into(),
            Self::Array(elements) => elements.iter().map(Self::to_value).collect(),
            Self::Object(members) => {
                members.iter().map(|(key, node)| (key.clone(), node.to_value())).collect()
            }
        }
    }
}

/// Which numbers are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Within ±(2^53 − 1).
    Safe,
    /// Any that a double can hold: the text is what counts.
    Any,
}

/// A fault of the JSON itself.
#[derive(Debug)]
pub(crate) struct JsonFault {
    pub(crate) code: Code,
    pub(crate) pointer: String,
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
    pub(crate) help: &'static str,
}

/// A file that could be read, with the faults that did not stop the reading.
#[derive(Debug)]
pub(crate) struct Document<'t> {
    pub(crate) root: Node,
    pub(crate) faults: Vec<JsonFault>,
    pub(crate) text: &'t str,
    places: Option<ast::Value<'t>>,
}

/// Reads a file. `Err` where nothing can be said about the rest of it.
pub(crate) fn parse(bytes: &[u8], numbers: Numbers) -> Result<Document<'_>, JsonFault> {
    let text = decode(bytes)?;
    let stopped = Cell::new(None);
    let mut reader = serde_json::Deserializer::from_str(text);
    let mut root = match (NodeSeed { depth: 0, stopped: &stopped }).deserialize(&mut reader) {
        Ok(root) => root,
        Err(error) => return Err(syntax(text, &error, stopped.get())),
    };
    if let Err(error) = reader.end() {
        let span = byte_at(text, offset_of(text, &error));
        let message = "something follows the JSON value".to_owned();
        let help = "keep one value in the file";
        return Err(JsonFault { code: Code::JsonTrailing, pointer: String::new(), span, message, help });
    }
    let places = jsonc_parser::parse_to_ast(text, &jsonc_parser::CollectOptions::default(), &strict());
    let places = places.ok().and_then(|parsed| parsed.value);
    let mut tidy = Tidy { numbers, faults: Vec::new(), pointer: Vec::new() };
    tidy.node(&mut root, places.as_ref());
    Ok(Document { root, faults: tidy.faults, text, places })
}

/// Why a text is not JSON that everybody reads alike.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AmbiguousJson(String);

/// Whether every reader reads a text alike: one JSON value, in UTF-8, no key twice, no deeper than 64. Numbers are not judged.
///
/// # Errors
/// The first fault, in words.
pub fn check_json(bytes: &[u8]) -> Result<(), AmbiguousJson> {
    let wrong = |fault: JsonFault| AmbiguousJson(fault.message);
    let text = decode(bytes).map_err(wrong)?;
    let stopped = Cell::new(None);
    let mut reader = serde_json::Deserializer::from_str(text);
    let root = NodeSeed { depth: 0, stopped: &stopped }.deserialize(&mut reader);
    let mut root = root.map_err(|error| wrong(syntax(text, &error, stopped.get())))?;
    reader.end().map_err(|_more| AmbiguousJson("something follows the JSON value".to_owned()))?;
    let mut tidy = Tidy { numbers: Numbers::Any, faults: Vec::new(), pointer: Vec::new() };
    tidy.node(&mut root, None);
    tidy.faults.into_iter().next().map_or(Ok(()), |fault| Err(wrong(fault)))
}

impl Document<'_> {
    /// The bytes of the value at a pointer, or of the nearest value around it.
    pub(crate) fn value_span(&self, pointer: &str) -> Range<usize> {
        self.find(pointer).map_or(0..0, |(value, _)| value.start()..value.end())
    }

    /// The bytes of the key that holds the value at a pointer; for the top and for elements their first byte.
    pub(crate) fn key_span(&self, pointer: &str) -> Range<usize> {
        self.find(pointer)
            .map_or(0..0, |(value, key)| key.unwrap_or_else(|| byte_at(self.text, value.start())))
    }

    /// The text of the value at a pointer, exactly as it stands.
    pub(crate) fn value_text(&self, pointer: &str) -> Option<&str> {
        self.text.get(self.value_span(pointer)).filter(|text| !text.is_empty())
    }

    fn find(&self, pointer: &str) -> Option<(&ast::Value<'_>, Option<Range<usize>>)> {
        let mut value = self.places.as_ref()?;
        let mut key = None;
        for token in pointer.split('/').skip(1) {
            let token = token.replace("~1", "/").replace("~0", "~");
            let next = match value {
                ast::Value::Object(object) => object.properties.iter().find(|one| one.name.as_str() == token),
                ast::Value::Array(array) => {
                    let Some(element) = token.parse().ok().and_then(|at: usize| array.elements.get(at))
                    else {
                        break;
                    };
                    (value, key) = (element, None);
                    continue;
                }
                _ => None,
            };
            let Some(member) = next else { break };
            let (start, end) = (member.name.start(), member.name.end());
            (value, key) = (&member.value, Some(start..end));
        }
        Some((value, key))
    }
}

fn strict() -> jsonc_parser::ParseOptions {
    jsonc_parser::ParseOptions {
        allow_comments: false,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

struct Tidy {
    numbers: Numbers,
    faults: Vec<JsonFault>,
    pointer: Vec<String>,
}

impl Tidy {
    fn fault(&mut self, code: Code, span: Range<usize>, message: String, help: &'static str) {
        let pointer = pointer(&self.pointer);
        self.faults.push(JsonFault { code, pointer, span, message, help });
    }

    fn node(&mut self, node: &mut Node, place: Option<&ast::Value<'_>>) {
        match node {
            Node::Number(number) if self.numbers == Numbers::Safe && !is_safe(number) => {
                let span = place.map_or(0..0, |place| place.start()..place.end());
                let message = format!("`{number}` lies beyond ±(2^53 − 1)");
                self.fault(Code::JsonNumber, span, message, "write a smaller number, or a text");
            }
            Node::Array(elements) => {
                let places = place.and_then(ast::Value::as_array);
                for (at, element) in elements.iter_mut().enumerate() {
                    self.pointer.push(at.to_string());
                    self.node(element, places.and_then(|array| array.elements.get(at)));
                    self.pointer.pop();
                }
            }
            Node::Object(members) => self.members(members, place.and_then(ast::Value::as_object)),
            _ => {}
        }
    }

    /// Reports a key's second place and drops it, so that what is read later is the first.
    fn members(&mut self, members: &mut Vec<(String, Node)>, places: Option<&ast::Object<'_>>) {
        let mut seen = HashSet::new();
        let mut kept = Vec::with_capacity(members.len());
        for (at, (key, mut node)) in std::mem::take(members).into_iter().enumerate() {
            let place = places.and_then(|object| object.properties.get(at));
            self.pointer.push(key.clone());
            if seen.insert(key.clone()) {
                self.node(&mut node, place.map(|member| &member.value));
                kept.push((key, node));
            } else {
                let span = place.map_or(0..0, |member| member.name.start()..member.name.end());
                let message = format!("the key `{key}` stands here a second time");
                self.fault(Code::JsonDuplicateKey, span, message, "keep one of the two");
            }
            self.pointer.pop();
        }
        *members = kept;
    }
}

fn is_safe(number: &Number) -> bool {
    match (number.as_i64(), number.as_f64()) {
        (Some(whole), _) => (-SAFE_INTEGER_MAX..=SAFE_INTEGER_MAX).contains(&whole),
        // 2^53 − 1 is a double; whatever compares as greater is not safe.
        (None, Some(double)) => double.abs() <= 9_007_199_254_740_991.0,
        (None, None) => false,
    }
}

/// RFC 6901.
pub(crate) fn pointer<T: AsRef<str>>(tokens: &[T]) -> String {
    tokens.iter().fold(String::new(), |mut text, token| {
        text.push('/');
        text.push_str(&token.as_ref().replace('~', "~0").replace('/', "~1"));
        text
    })
}

#[cfg(test)]
mod tests;

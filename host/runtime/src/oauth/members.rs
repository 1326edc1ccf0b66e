//! The members of an answer, whether it is JSON or a form, and whatever its content type says.
//!
//! Refuses a member that is there twice, in either form. INVARIANT: texts are zeroised, and no reader's own error is kept:
//! it could quote one. RFC 6749, section 5.1 and appendix B.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use zeroize::Zeroizing;

use super::Unreadable;

/// The members that mean something here.
const KNOWN: [&str; 12] = [
    "access_token",
    "refresh_token",
    "token_type",
    "expires_in",
    "scope",
    "error",
    "device_code",
    "user_code",
    "verification_uri",
    "verification_url",
    "verification_uri_complete",
    "interval",
];

/// Most elements of a list that are kept.
const LIST_MAX: usize = 256;

/// What an answer says.
pub(super) struct Members(Vec<(&'static str, Value)>);

/// The value of a member.
pub(super) enum Value {
    Text(Zeroizing<String>),
    /// As it would be written.
    Number(String),
    Texts(Vec<String>),
    Null,
    Other,
}

impl Members {
    /// Reads a body by its shape: no form begins with a brace.
    pub(super) fn read(body: &[u8]) -> Result<Self, Unreadable> {
        let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii();
        if body.first() == Some(&b'{') { of_json(body) } else { of_form(body) }
    }

    pub(super) fn of(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// A text that is not empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.of(name) {
            Some(Value::Text(text)) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// Whether a member says anything: `null` and an empty text say nothing.
    pub(super) fn says(&self, name: &str) -> bool {
        match self.of(name) {
            None | Some(Value::Null) => false,
            Some(Value::Text(text)) => !text.is_empty(),
            Some(_) => true,
        }
    }

    /// A number of whole seconds, written as a number or as text. `None` where it is none, negative or nothing.
    pub(super) fn seconds(&self, name: &str) -> Option<i64> {
        let text = match self.of(name)? {
            Value::Text(text) => text.trim(),
            Value::Number(digits) => digits.as_str(),
            Value::Texts(_) | Value::Null | Value::Other => return None,
        };
        if let Ok(whole) = text.parse::<i64>() {
            return (whole > 0).then_some(whole);
        }
        let number: f64 = text.parse().ok()?;
        // As many as can be said; the caller has its own most.
        (number >= 1.0).then(|| whole_seconds(number))
    }
}

/// The whole part of a number from 1 on, as far as digits of it mean anything.
fn whole_seconds(number: f64) -> i64 {
    const MOST: f64 = 9_007_199_254_740_991.0;
    format!("{:.0}", number.min(MOST).floor()).parse().unwrap_or(i64::MAX)
}

fn known(name: &str) -> Option<&'static str> {
    KNOWN.into_iter().find(|known| *known == name)
}

fn of_json(body: &[u8]) -> Result<Members, Unreadable> {
    let twice = Cell::new(false);
    let mut reader = serde_json::Deserializer::from_slice(body);
    let read = TopLevel { twice: &twice }.deserialize(&mut reader);
    match (read, twice.get()) {
        (_, true) => Err(Unreadable::Ambiguous),
        (Ok(members), false) if reader.end().is_ok() => Ok(members),
        _ => Err(Unreadable::Syntax),
    }
}

fn of_form(body: &[u8]) -> Result<Members, Unreadable> {
    let text = str::from_utf8(body).map_err(|_source| Unreadable::Syntax)?;
    // What has any of these is a page, or anything else that has `=` in it.
    if text.bytes().any(|byte| !byte.is_ascii_graphic() || b"<>\"'`{}\\^".contains(&byte)) {
        return Err(Unreadable::Syntax);
    }
    let (mut seen, mut members) = (HashSet::new(), Members(Vec::new()));
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').ok_or(Unreadable::Syntax)?;
        let name = decoded(name)?;
        if let Some(known) = known(&name) {
            members.0.push((known, Value::Text(decoded(value)?)));
        }
        if !seen.insert(name.to_string()) {
            return Err(Unreadable::Ambiguous);
        }
    }
    if members.0.is_empty() { Err(Unreadable::Syntax) } else { Ok(members) }
}

fn decoded(text: &str) -> Result<Zeroizing<String>, Unreadable> {
    let spaced = Zeroizing::new(text.replace('+', " "));
    let decoded = percent_encoding::percent_decode_str(&spaced).decode_utf8();
    decoded.map(|text| Zeroizing::new(text.into_owned())).map_err(|_source| Unreadable::Syntax)
}

struct TopLevel<'t> {
    twice: &'t Cell<bool>,
}

impl<'de> DeserializeSeed<'de> for TopLevel<'_> {
    type Value = Members;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Members, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for TopLevel<'_> {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let (mut seen, mut members) = (HashSet::new(), Members(Vec::new()));
        while let Some(name) = map.next_key::<String>()? {
            match known(&name) {
                Some(known) => members.0.push((known, map.next_value()?)),
                None => map.next_value::<IgnoredAny>().map(|_ignored| ())?,
            }
            if !seen.insert(name) {
                self.twice.set(true);
            }
        }
        Ok(members)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _flag: bool) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(Zeroizing::new(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut texts = Vec::new();
        while let Some(element) = list.next_element::<Value>()? {
            if let Value::Text(text) = element
                && texts.len() < LIST_MAX
            {
                texts.push(text.to_string());
            }
        }
        Ok(Value::Texts(texts))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Other)
    }
}

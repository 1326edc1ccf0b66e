//! A tree of others as two things that say the same: a JSON text and a value.
//!
//! INVARIANT: both have the same members in the same places; no member is lost, and no number means another in either.

use std::collections::BTreeSet;

use pinhole_runtime::project::Tree;
use serde_json::{Map, Value};

use super::characters;
use crate::mcp::number;

/// A tree as it is passed on.
#[derive(Debug)]
pub(super) struct Shown {
    /// As a value.
    pub(super) value: Value,
    /// As compact JSON. A number that stays one has its digits as they came.
    pub(super) text: String,
    /// How many numbers became texts, because a reader of JSON would change them.
    pub(super) numbers_as_text: usize,
    /// How many keys got a number, because they would look like another in their object.
    pub(super) keys_renamed: usize,
}

impl Shown {
    /// Makes both.
    pub(super) fn of(tree: &Tree) -> Self {
        let mut shown = Self { value: Value::Null, text: String::new(), numbers_as_text: 0, keys_renamed: 0 };
        shown.value = shown.walk(tree);
        shown
    }

    /// A tree is at most `DEPTH_MAX` deep, so this may recurse.
    fn walk(&mut self, tree: &Tree) -> Value {
        match tree {
            Tree::Null => self.plain("null", Value::Null),
            Tree::Bool(true) => self.plain("true", Value::Bool(true)),
            Tree::Bool(false) => self.plain("false", Value::Bool(false)),
            Tree::Number(digits) => {
                if let Some(kept) = number::kept(digits.as_str()) {
                    return self.plain(digits.as_str(), Value::Number(kept));
                }
                self.numbers_as_text = self.numbers_as_text.saturating_add(1);
                self.string(digits.as_str().to_owned())
            }
            Tree::String(text) => self.string(characters::shown(text)),
            Tree::Array(elements) => {
                let mut values = Vec::with_capacity(elements.len());
                self.text.push('[');
                for (place, element) in elements.iter().enumerate() {
                    if place > 0 {
                        self.text.push(',');
                    }
                    values.push(self.walk(element));
                }
                self.text.push(']');
                Value::Array(values)
            }
            Tree::Object(members) => {
                let (keys, renamed) = keys(members.iter().map(|(key, _)| key.as_str()));
                self.keys_renamed = self.keys_renamed.saturating_add(renamed);
                let mut values = Map::new();
                self.text.push('{');
                for (place, (key, (_, member))) in keys.into_iter().zip(members).enumerate() {
                    if place > 0 {
                        self.text.push(',');
                    }
                    push_json(&key, &mut self.text);
                    self.text.push(':');
                    let member = self.walk(member);
                    values.insert(key, member);
                }
                self.text.push('}');
                Value::Object(values)
            }
        }
    }

    fn plain(&mut self, text: &str, value: Value) -> Value {
        self.text.push_str(text);
        value
    }

    fn string(&mut self, text: String) -> Value {
        push_json(&text, &mut self.text);
        Value::String(text)
    }
}

fn push_json(string: &str, text: &mut String) {
    // A text is always JSON.
    text.push_str(&serde_json::to_string(string).unwrap_or_default());
}

/// The keys of an object as they show, each another: one that would look like an earlier one gets a number. Gives how many
/// did.
fn keys<'t>(own: impl Iterator<Item = &'t str>) -> (Vec<String>, usize) {
    let keys: Vec<String> = own.map(characters::shown).collect();
    let all: BTreeSet<String> = keys.iter().cloned().collect();
    if all.len() == keys.len() {
        return (keys, 0);
    }
    let (mut seen, mut renamed) = (BTreeSet::new(), 0_usize);
    let mut apart = Vec::with_capacity(keys.len());
    for key in keys {
        let mut own = key.clone();
        let mut number = 2_usize;
        while seen.contains(&own) || (own != key && all.contains(&own)) {
            own = format!("{key} ({number})");
            number = number.saturating_add(1);
        }
        renamed = renamed.saturating_add(usize::from(own != key));
        seen.insert(own.clone());
        apart.push(own);
    }
    (apart, renamed)
}

/// Makes the texts of a value of our own show what they are. Its keys are ours.
pub(super) fn clean(value: &mut Value) {
    match value {
        Value::String(text) => *text = characters::shown(text),
        Value::Array(elements) => elements.iter_mut().for_each(clean),
        Value::Object(members) => {
            // Except those of args, which the caller chose and the schema allowed: visible ASCII.
            members.values_mut().for_each(clean);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

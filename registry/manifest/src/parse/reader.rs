//! Walking a JSON value: typed getters that report what is not as it should be.
//!
//! Every getter gives `None` where it reported a fault, so that reading goes on beside it. INVARIANT: no getter gives
//! `None` for a member that is there without having reported why. DESIGN, "Manifest": every fault at once.

pub(crate) use super::faults::{At, Faults, clip, clip_line};
use crate::diagnostic::Code;
use crate::json::Node;

/// A value of the file and the way to it.
#[derive(Debug, Clone)]
pub(crate) struct Value<'a> {
    pub(crate) node: &'a Node,
    pub(crate) at: At,
    pub(crate) faults: &'a Faults,
}

impl<'a> Value<'a> {
    pub(crate) fn top(node: &'a Node, faults: &'a Faults) -> Self {
        Self { node, at: At::default(), faults }
    }

    pub(crate) fn fault(&self, code: Code, message: impl Into<String>, help: impl Into<String>) {
        self.faults.add(code, &self.at, message, help);
    }

    /// Reports that the value has another type.
    pub(crate) fn wrong<T>(&self, wanted: &str) -> Option<T> {
        self.fault(
            Code::WrongType,
            format!("expected {wanted}, found {}", self.node.kind()),
            format!("write {wanted}"),
        );
        None
    }

    pub(crate) fn object(&self) -> Option<Object<'a>> {
        match self.node {
            Node::Object(members) => {
                Some(Object { members, at: self.at.clone(), faults: self.faults, known: Vec::new() })
            }
            _ => self.wrong("an object"),
        }
    }

    /// The members of an object whose keys are the writer's own.
    pub(crate) fn entries(&self) -> Option<Vec<(&'a str, Self)>> {
        let object = self.object()?;
        let member = |(key, node): &'a (String, Node)| {
            (key.as_str(), Self { node, at: self.at.name(key), faults: self.faults })
        };
        Some(object.members.iter().map(member).collect())
    }

    /// The member of this name, if this is an object that has it. Reports nothing.
    pub(crate) fn child(&self, name: &str) -> Option<Self> {
        let Node::Object(members) = self.node else { return None };
        let (_, node) = members.iter().find(|(key, _)| key == name)?;
        Some(Self { node, at: self.at.name(name), faults: self.faults })
    }

    /// The members of an object, if it is one. Reports nothing.
    pub(crate) fn children(&self) -> Vec<Self> {
        let Node::Object(members) = self.node else { return Vec::new() };
        let member =
            |(key, node): &'a (String, Node)| Self { node, at: self.at.name(key), faults: self.faults };
        members.iter().map(member).collect()
    }

    pub(crate) fn elements(&self) -> Option<Vec<Self>> {
        let Node::Array(elements) = self.node else { return self.wrong("an array") };
        let element = |(at, node)| Self { node, at: self.at.index(at), faults: self.faults };
        Some(elements.iter().enumerate().map(element).collect())
    }

    pub(crate) fn text(&self) -> Option<&'a str> {
        match self.node {
            Node::String(text) => Some(text),
            _ => self.wrong("a text"),
        }
    }

    pub(crate) fn flag(&self) -> Option<bool> {
        match self.node {
            Node::Bool(flag) => Some(*flag),
            _ => self.wrong("`true` or `false`"),
        }
    }

    /// A whole number between these two.
    pub(crate) fn integer(&self, least: u64, most: u64) -> Option<u64> {
        let Node::Number(number) = self.node else { return self.wrong("a whole number") };
        match number.as_u64() {
            Some(whole) if (least..=most).contains(&whole) => Some(whole),
            None if !number.is_i64() => self.wrong("a whole number"),
            _ => {
                let message = format!("{number} is not within {least} to {most}");
                self.fault(Code::OutOfRange, message, format!("write a number from {least} to {most}"));
                None
            }
        }
    }

    /// One of a few words.
    pub(crate) fn word<T: Copy>(&self, words: &[(&str, T)]) -> Option<T> {
        let text = self.text()?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let list: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            self.fault(
                Code::UnknownWord,
                format!("`{}` is not a word here", clip(text)),
                format!("write {}", list.join(" or ")),
            );
        }
        found
    }

    /// A text through a parser of its own; the fault is the caller's.
    pub(crate) fn parsed<T, E>(
        &self,
        parse: fn(&str) -> Result<T, E>,
        code: fn(&E) -> (Code, String, String),
    ) -> Option<T> {
        match parse(self.text()?) {
            Ok(value) => Some(value),
            Err(error) => {
                let (code, message, help) = code(&error);
                self.fault(code, message, help);
                None
            }
        }
    }
}

/// An object whose members are known. Members that nobody asked for are faults.
#[derive(Debug)]
pub(crate) struct Object<'a> {
    members: &'a [(String, Node)],
    pub(crate) at: At,
    pub(crate) faults: &'a Faults,
    known: Vec<&'static str>,
}

impl<'a> Object<'a> {
    pub(crate) fn optional(&mut self, name: &'static str) -> Option<Value<'a>> {
        self.known.push(name);
        let (_, node) = self.members.iter().find(|(key, _)| key == name)?;
        Some(Value { node, at: self.at.name(name), faults: self.faults })
    }

    pub(crate) fn required(&mut self, name: &'static str) -> Option<Value<'a>> {
        let found = self.optional(name);
        if found.is_none() {
            self.missing(Code::MissingMember, name, &format!("write `\"{name}\": …`"));
        }
        found
    }

    /// Reports that a member is not there.
    pub(crate) fn missing(&self, code: Code, name: &str, help: &str) {
        self.faults.add_at_key(code, &self.at, format!("`{name}` is missing"), help);
    }

    /// Exactly one of these members; reports none and several.
    pub(crate) fn one_of(&mut self, names: &[&'static str]) -> Option<(&'static str, Value<'a>)> {
        let mut found: Vec<_> = names.iter().filter_map(|name| Some((*name, self.optional(name)?))).collect();
        if found.len() == 1 {
            return found.pop();
        }
        let list: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        let list = list.join(", ");
        let message = if found.is_empty() {
            format!("one of {list} is missing")
        } else {
            format!("only one of {list} may stand here")
        };
        self.faults.add_at_key(Code::OneOf, &self.at, message, format!("keep exactly one of {list}"));
        None
    }

    /// Reports every member that nobody asked for.
    pub(crate) fn finish(self) {
        for (key, _) in self.members.iter().filter(|(key, _)| !self.known.contains(&key.as_str())) {
            let known: Vec<_> = self.known.iter().map(|name| format!("`{name}`")).collect();
            let help = match known.as_slice() {
                [] => "leave it out".to_owned(),
                _ => format!("leave it out, or write one of {}", known.join(", ")),
            };
            let message = format!("`{}` is not a member here", clip(key));
            self.faults.add_at_key(Code::UnknownMember, &self.at.name(key), message, help);
        }
    }
}

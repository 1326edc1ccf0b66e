//! Walking a JSON value and collecting what is wrong with it on the way.
//!
//! Every getter gives `None` where it reported a fault, so that reading goes on beside it. INVARIANT: no getter gives
//! `None` for a member that is there without having reported why. DESIGN, "Manifest": every fault at once.

use std::cell::RefCell;
use std::rc::Rc;

use crate::diagnostic::{Code, Diagnostic};
use crate::json::{self, Document, Node};

/// Most diagnostics of one file; a file with more is not a manifest with a mistake.
pub(crate) const FAULTS_MAX: usize = 1000;

/// The way from the top of the file to a value.
#[derive(Debug, Clone, Default)]
pub(crate) struct At(Option<Rc<Link>>);

#[derive(Debug)]
struct Link {
    before: At,
    token: String,
}

impl At {
    pub(crate) fn name(&self, name: &str) -> Self {
        Self(Some(Rc::new(Link { before: self.clone(), token: name.to_owned() })))
    }

    pub(crate) fn index(&self, index: usize) -> Self {
        self.name(&index.to_string())
    }

    /// The way as RFC 6901 writes it.
    pub(crate) fn pointer(&self) -> String {
        let mut tokens = Vec::new();
        let mut at = self;
        while let Some(link) = &at.0 {
            tokens.push(link.token.as_str());
            at = &link.before;
        }
        tokens.reverse();
        json::pointer(&tokens)
    }
}

/// Which part of a member a fault is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Key,
    Value,
}

#[derive(Debug)]
struct Fault {
    code: Code,
    pointer: String,
    mark: Mark,
    message: String,
    help: String,
}

/// The faults found so far.
#[derive(Debug, Default)]
pub(crate) struct Faults(RefCell<Vec<Fault>>);

impl Faults {
    /// A fault of a value.
    pub(crate) fn add(&self, code: Code, at: &At, message: impl Into<String>, help: impl Into<String>) {
        self.push(Fault {
            code,
            pointer: at.pointer(),
            mark: Mark::Value,
            message: message.into(),
            help: help.into(),
        });
    }

    /// A fault of a name, or of what is missing below it.
    pub(crate) fn add_at_key(
        &self,
        code: Code,
        at: &At,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(Fault {
            code,
            pointer: at.pointer(),
            mark: Mark::Key,
            message: message.into(),
            help: help.into(),
        });
    }

    /// A fault of something below a value, at a pointer that starts there.
    pub(crate) fn add_below(&self, code: Code, at: &At, below: &str, message: String, help: String) {
        let pointer = at.pointer() + below;
        self.push(Fault { code, pointer, mark: Mark::Value, message, help });
    }

    fn push(&self, fault: Fault) {
        let mut faults = self.0.borrow_mut();
        // INVARIANT: the first fault is always kept, so a faulty file stays faulty.
        if faults.len() < FAULTS_MAX {
            faults.push(fault);
        }
    }

    /// The faults with their places in the file, the JSON's own among them, in the file's order.
    pub(crate) fn into_diagnostics(self, document: &mut Document<'_>) -> Vec<Diagnostic> {
        let mut found: Vec<Diagnostic> = std::mem::take(&mut document.faults)
            .into_iter()
            .take(FAULTS_MAX)
            .map(|fault| Diagnostic {
                code: fault.code,
                pointer: fault.pointer,
                span: fault.span,
                line: 1,
                column: 1,
                message: fault.message,
                help: fault.help.to_owned(),
            })
            .collect();
        found.extend(self.0.into_inner().into_iter().map(|fault| {
            let span = match fault.mark {
                Mark::Key => document.key_span(&fault.pointer),
                Mark::Value => document.value_span(&fault.pointer),
            };
            let Fault { code, pointer, message, help, .. } = fault;
            Diagnostic { code, pointer, span, line: 1, column: 1, message, help }
        }));
        place(document.text, &mut found);
        found
    }
}

/// Sorts diagnostics and sets their lines and columns, in one pass over the text.
pub(crate) fn place(text: &str, found: &mut [Diagnostic]) {
    found.sort_by(|a, b| (a.span.start, a.code, &a.pointer).cmp(&(b.span.start, b.code, &b.pointer)));
    let (mut line, mut column, mut at) = (1_u32, 1_u32, 0);
    for diagnostic in found {
        for c in text.get(at..diagnostic.span.start).unwrap_or_default().chars() {
            if c == '\n' {
                (line, column) = (line.saturating_add(1), 1);
            } else {
                column = column.saturating_add(1);
            }
        }
        at = diagnostic.span.start;
        (diagnostic.line, diagnostic.column) = (line, column);
    }
}

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

/// A text of the file, short enough for a message and without characters that would act on a terminal.
pub(crate) fn clip(text: &str) -> String {
    let mut clipped: String = clip_line(text).chars().take(60).collect();
    if text.chars().nth(60).is_some() {
        clipped.push('…');
    }
    clipped
}

/// A message, without characters that would act on a terminal.
pub(crate) fn clip_line(text: &str) -> String {
    text.chars().map(|c| if super::text::is_plain(c) { c } else { '\u{fffd}' }).collect()
}

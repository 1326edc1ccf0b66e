//! Where a value stands, what is wrong with it, and the diagnostics that come of it.
//!
//! Shows text of the file only clipped, and without characters that would act on a screen. INVARIANT: diagnostics stand in
//! the file's order, and the first fault is never lost. DESIGN, "Manifest": every fault at once.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use super::text::is_plain;
use crate::diagnostic::{Code, Diagnostic};
use crate::json::{self, Document};

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
        self.push(code, Mark::Value, || at.pointer(), message.into(), help.into());
    }

    /// A fault of a name, or of what is missing below it.
    pub(crate) fn add_at_key(
        &self,
        code: Code,
        at: &At,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(code, Mark::Key, || at.pointer(), message.into(), help.into());
    }

    /// A fault of something below a value, at a pointer that starts there.
    pub(crate) fn add_below(&self, code: Code, at: &At, below: &str, message: String, help: String) {
        self.push(code, Mark::Value, || at.pointer() + below, message, help);
    }

    /// A fault of a key, at a pointer from the top.
    pub(crate) fn add_key_below(&self, code: Code, pointer: &str, message: String, help: String) {
        self.push(code, Mark::Key, || pointer.to_owned(), message, help);
    }

    /// Where something is wrong, as far as it has been reported.
    pub(crate) fn pointers(&self) -> HashSet<String> {
        self.0.borrow().iter().map(|fault| fault.pointer.clone()).collect()
    }

    fn push(&self, code: Code, mark: Mark, pointer: impl Fn() -> String, message: String, help: String) {
        let mut faults = self.0.borrow_mut();
        // INVARIANT: the first fault is always kept, so a faulty file stays faulty.
        if faults.len() < FAULTS_MAX {
            faults.push(Fault { code, pointer: pointer(), mark, message, help });
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
    text.chars().map(|c| if is_plain(c) { c } else { '\u{fffd}' }).collect()
}

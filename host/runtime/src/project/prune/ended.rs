//! What comes of a token or a container that has ended: kept, stood in for, or dropped.

use super::super::{Digits, DocumentError, Tree};
use super::frame::Done;
use super::skip::Open;
use super::token::Word;
use super::{Expect, KEPT_BYTES_MAX, Pruner, VALUE_COST};

impl Pruner<'_> {
    pub(super) fn end_key(&mut self) -> Result<(), DocumentError> {
        self.expect = Expect::Colon;
        if self.skip.is_open() {
            return Ok(());
        }
        let name = self.take_text()?;
        let keep =
            self.frames.last().map(|frame| self.plan.keep(frame.place)).ok_or(DocumentError::Syntax)?;
        self.wanted = self.member(keep, name.as_bytes());
        if self.wanted.is_some() { self.name_member(name) } else { Ok(()) }
    }

    pub(super) fn end_text(&mut self) -> Result<(), DocumentError> {
        if self.skip.is_open() {
            self.expect = Expect::More;
            return Ok(());
        }
        if self.keeps_scalar() {
            let text = self.take_text()?;
            return self.end_value(Done::Kept(Tree::String(text)));
        }
        self.end_scalar_standing_in()
    }

    /// The text whose bytes are held, its closing quote among them.
    fn take_text(&mut self) -> Result<String, DocumentError> {
        let mut raw = std::mem::take(&mut self.raw);
        if !raw.contains(&b'\\') {
            raw.truncate(raw.len().saturating_sub(1));
            return String::from_utf8(raw).map_err(|_error| DocumentError::NotUtf8);
        }
        raw.insert(0, b'"');
        // Its escapes were checked when they came.
        serde_json::from_slice(&raw).map_err(|_error| DocumentError::Syntax)
    }

    pub(super) fn end_number(&mut self) -> Result<(), DocumentError> {
        if self.skip.is_open() {
            self.expect = Expect::More;
            return Ok(());
        }
        if self.keeps_scalar() {
            let digits = std::str::from_utf8(&self.raw).map_err(|_error| DocumentError::NotUtf8)?;
            let digits = Digits::checked(digits);
            return self.end_value(Done::Kept(Tree::Number(digits)));
        }
        self.end_scalar_standing_in()
    }

    pub(super) fn end_word(&mut self, word: Word) -> Result<(), DocumentError> {
        if self.skip.is_open() {
            self.expect = Expect::More;
            return Ok(());
        }
        match (self.wanted, word) {
            (Some(_), Word::Null) => self.end_value(Done::Kept(Tree::Null)),
            (Some(_), _) if self.keeps_scalar() => self.end_value(Done::Kept(Tree::Bool(word == Word::True))),
            _ => self.end_scalar_standing_in(),
        }
    }

    /// A scalar that is looked at for its kind at most.
    pub(super) fn end_scalar_standing_in(&mut self) -> Result<(), DocumentError> {
        match self.wanted {
            Some(_) => self.end_value(Done::StandIn(Tree::Bool(true))),
            None => self.end_value(Done::Dropped),
        }
    }

    /// What was passed over as a whole is closed.
    pub(super) fn end_passed(&mut self, open: Open) -> Result<(), DocumentError> {
        match (self.wanted, open) {
            (None, _) => self.end_value(Done::Dropped),
            (Some(_), Open::Object) => self.end_value(Done::StandIn(Tree::Object(Vec::new()))),
            (Some(_), Open::Array) => self.end_value(Done::StandIn(Tree::Array(Vec::new()))),
        }
    }

    pub(super) fn end_value(&mut self, done: Done) -> Result<(), DocumentError> {
        self.expect = Expect::More;
        let text = match &done {
            Done::Kept(Tree::String(text)) => text.len(),
            Done::Kept(Tree::Number(digits)) => digits.as_str().len(),
            _ => 0,
        };
        let held = if let Some(frame) = self.frames.last_mut() {
            frame.put(done, self.plan.keep(frame.place))
        } else {
            self.top = match done {
                Done::Kept(tree) | Done::StandIn(tree) => Some(tree),
                Done::Dropped => None,
            };
            true
        };
        if held { self.count(text) } else { Ok(()) }
    }

    /// Counts a value or a key that is held.
    pub(super) fn count(&mut self, text: usize) -> Result<(), DocumentError> {
        self.kept = self.kept.saturating_add(text).saturating_add(VALUE_COST);
        if self.kept > KEPT_BYTES_MAX { Err(DocumentError::KeptTooMuch) } else { Ok(()) }
    }
}

//! What comes of a token or a container that has ended: kept, stood in for, or dropped.

use super::super::{Digits, DocumentError, Key, Tree};
use super::skip::Open;
use super::token::Word;
use super::{Expect, KEPT_BYTES_MAX, Pruner, VALUE_COST};

/// From how many bytes on a token is moved rather than copied.
const LONG: usize = 16 << 10;

impl Pruner<'_> {
    pub(super) fn end_key(&mut self) -> Result<(), DocumentError> {
        self.expect = Expect::Colon;
        if self.skip.is_open() {
            return Ok(());
        }
        let plan = self.plan;
        let keep = self.frames.last().map(|frame| plan.keep(frame.place)).ok_or(DocumentError::Syntax)?;
        let member = self.member(keep, self.token.as_bytes());
        self.wanted = member.map(|(place, _)| place);
        if self.wanted.is_some() { self.name_member(Key::new(&self.token)) } else { Ok(()) }
    }

    pub(super) fn end_text(&mut self) -> Result<(), DocumentError> {
        if self.skip.is_open() {
            self.expect = Expect::More;
            return Ok(());
        }
        if self.keeps_scalar() {
            let text = self.taken_token();
            let length = text.len();
            return self.keep(Tree::String(text), length);
        }
        self.end_scalar_standing_in()
    }

    /// The token at hand. What was made room for is kept for the next one, but for a long one.
    fn taken_token(&mut self) -> String {
        if self.token.len() > LONG {
            let mut token = std::mem::take(&mut self.token);
            token.shrink_to_fit();
            return token;
        }
        self.token.clone()
    }

    pub(super) fn end_number(&mut self) -> Result<(), DocumentError> {
        if self.skip.is_open() {
            self.expect = Expect::More;
            return Ok(());
        }
        if self.keeps_scalar() {
            let digits = Digits::checked(&self.token);
            return self.keep(Tree::Number(digits), self.token.len());
        }
        self.end_scalar_standing_in()
    }

    pub(super) fn end_word(&mut self, word: Word) -> Result<(), DocumentError> {
        if self.skip.is_open() {
            self.expect = Expect::More;
            return Ok(());
        }
        match (self.wanted, word) {
            (Some(_), Word::Null) => self.keep(Tree::Null, 0),
            (Some(_), _) if self.keeps_scalar() => self.keep(Tree::Bool(word == Word::True), 0),
            _ => self.end_scalar_standing_in(),
        }
    }

    /// A scalar that is looked at for its kind at most.
    pub(super) fn end_scalar_standing_in(&mut self) -> Result<(), DocumentError> {
        match self.wanted {
            Some(_) => self.stand_in(Tree::Bool(true)),
            None => self.pass(),
        }
    }

    /// What was passed over as a whole is closed.
    pub(super) fn end_passed(&mut self, open: Open) -> Result<(), DocumentError> {
        match (self.wanted, open) {
            (None, _) => self.pass(),
            (Some(_), Open::Object) => self.stand_in(Tree::Object(Vec::new())),
            (Some(_), Open::Array) => self.stand_in(Tree::Array(Vec::new())),
        }
    }

    /// A value has ended and is kept; `text` is the length of its text.
    #[inline]
    pub(super) fn keep(&mut self, tree: Tree, text: usize) -> Result<(), DocumentError> {
        self.expect = Expect::More;
        match self.frames.last_mut() {
            Some(frame) => frame.keep(tree),
            None => self.top = Some(tree),
        }
        self.count(text)
    }

    /// A value has ended of which only its kind is looked at.
    fn stand_in(&mut self, tree: Tree) -> Result<(), DocumentError> {
        self.expect = Expect::More;
        let held = if let Some(frame) = self.frames.last_mut() {
            frame.stand_in(tree, self.plan.keep(frame.place))
        } else {
            self.top = Some(tree);
            true
        };
        if held { self.count(0) } else { Ok(()) }
    }

    /// A value has ended that nobody looks at.
    #[inline]
    fn pass(&mut self) -> Result<(), DocumentError> {
        self.expect = Expect::More;
        let held = self.frames.last_mut().is_some_and(|frame| frame.pass(self.plan.keep(frame.place)));
        if held { self.count(0) } else { Ok(()) }
    }

    /// Counts a value or a key that is held.
    pub(super) fn count(&mut self, text: usize) -> Result<(), DocumentError> {
        self.kept = self.kept.saturating_add(text).saturating_add(VALUE_COST);
        if self.kept > KEPT_BYTES_MAX { Err(DocumentError::KeptTooMuch) } else { Ok(()) }
    }
}

//! From an answer's bytes, as they stream by, to the part of it that is looked at: one pass, nothing built for what is
//! dropped.
//!
//! Checks every byte: what comes out is part of a document that is JSON from its first byte to its last, dropped parts
//! included, or nothing comes out. The pruned document is a [`Tree`] in which a place that is not looked into has a stand-in
//! of its kind: `true` for a scalar, `{}` and `[]` for the others. `project`, `find` and `holds` see in it what they would see in
//! the whole document. DESIGN, "Pick".
//!
//! INVARIANT: what is held is the plan's part of the document, at most [`KEPT_BYTES_MAX`], and the piece at hand.

mod ended;
mod frame;
mod keep;
mod marks;
mod plan;
mod skip;
mod token;
mod unwanted;
mod utf8;

use super::{DocumentError, Key, Tree};
use frame::Frame;
use marks::{Marks, Piece};
use plan::Place;
pub use plan::Plan;
use skip::Skip;
use token::{Num, Str, Word};
use utf8::Utf8;

/// Most bytes that are held of what is kept, each value counted with what it costs to hold: 32 MiB.
pub const KEPT_BYTES_MAX: usize = 32 << 20;

/// What a value costs to hold besides its text, in bytes.
const VALUE_COST: usize = size_of::<(Key, Tree)>();

/// Most bytes that are looked at in one go, so that they and their marks stay close to the processor.
const STRETCH: usize = 16 << 10;

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// A value.
    Value,
    /// A value, or the end of an array without any.
    FirstElement,
    /// A key, or the end of an object without any.
    FirstKey,
    /// A key.
    Key,
    /// The colon behind a key.
    Colon,
    /// A comma, or the end of what is open; at the top, nothing but white space.
    More,
}

/// A token that the last piece ended in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Partial {
    None,
    Key(Str),
    Text(Str),
    Number(Num),
    Word(Word, usize),
}

/// Prunes one document.
#[derive(Debug)]
pub struct Pruner<'p> {
    plan: &'p Plan,
    /// Open arrays and objects that are looked into, outermost first.
    frames: Vec<Frame>,
    /// What is passed over.
    skip: Skip,
    expect: Expect,
    partial: Partial,
    /// What is kept of the value that comes next, or of the token at hand.
    wanted: Option<Place>,
    /// The token at hand, as far as it has come, if it is kept or may be: what a string says, or digits.
    token: String,
    utf8: Utf8,
    marks: Marks,
    top: Option<Tree>,
    kept: usize,
}

impl<'p> Pruner<'p> {
    /// Starts a document.
    pub fn new(plan: &'p Plan) -> Self {
        Self {
            plan,
            frames: Vec::new(),
            skip: Skip::default(),
            expect: Expect::Value,
            partial: Partial::None,
            wanted: Some(0),
            token: String::new(),
            utf8: Utf8::default(),
            marks: Marks::default(),
            top: None,
            kept: 0,
        }
    }

    /// Takes the next piece of the document, of any length.
    pub fn feed(&mut self, piece: &[u8]) -> Result<(), DocumentError> {
        let (ended, mut text) = self.utf8.whole(piece)?;
        if let Some(ended) = ended {
            self.feed_stretch(ended.encode_utf8(&mut [0; 4]))?;
        }
        while !text.is_empty() {
            let stretch = text.floor_char_boundary(STRETCH);
            let (here, rest) = text.split_at_checked(stretch).unwrap_or((text, ""));
            self.feed_stretch(here)?;
            text = rest;
        }
        Ok(())
    }

    fn feed_stretch(&mut self, text: &str) -> Result<(), DocumentError> {
        let mut marks = std::mem::take(&mut self.marks);
        let fed = self.feed_marked(marks.read(text));
        self.marks = marks;
        fed
    }

    fn feed_marked(&mut self, piece: Piece<'_>) -> Result<(), DocumentError> {
        let mut at = self.go_on(piece, 0)?;
        while at < piece.len() {
            // A token that goes on in the next piece leaves nothing.
            at = if self.skip.is_open() {
                self.pass_over(piece, at)?
            } else {
                self.step(piece, piece.solid(at))?
            };
        }
        Ok(())
    }

    /// Ends the document and gives its pruned form.
    pub fn finish(mut self) -> Result<Tree, DocumentError> {
        self.utf8.finish()?;
        // At the top a number ends with the document.
        if let Partial::Number(number) = self.partial
            && number.is_whole()
            && !self.skip.is_open()
            && self.frames.is_empty()
        {
            self.partial = Partial::None;
            self.end_number()?;
        }
        let whole = self.partial == Partial::None && !self.skip.is_open() && self.frames.is_empty();
        match self.top {
            Some(top) if whole => Ok(top),
            _ => Err(DocumentError::Syntax),
        }
    }
}

#[cfg(test)]
mod tests;

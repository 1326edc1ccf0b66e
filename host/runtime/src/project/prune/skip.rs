//! What is passed over: checked, and nothing kept of it.

use super::super::{DEPTH_MAX, DocumentError};
use super::marks::Piece;
use super::token::{Dropped, Num, Step, Str, Word};
use super::{Expect, Partial, Pruner};

/// The arrays and objects that are open in what is passed over: a bit each, the innermost lowest.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Skip {
    kinds: u128,
    depth: usize,
}

/// What is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Open {
    Object,
    Array,
}

impl Skip {
    pub(super) fn is_open(self) -> bool {
        self.depth > 0
    }

    /// The innermost one.
    pub(super) fn innermost(self) -> Open {
        if self.kinds & 1 == 1 { Open::Object } else { Open::Array }
    }

    /// Opens one more. `below` is how many are open outside.
    pub(super) fn open(&mut self, kind: Open, below: usize) -> Result<(), DocumentError> {
        self.depth = self.depth.saturating_add(1);
        if self.depth.saturating_add(below) > DEPTH_MAX {
            return Err(DocumentError::TooDeep);
        }
        self.kinds = self.kinds << 1 | u128::from(kind == Open::Object);
        Ok(())
    }

    /// Closes the innermost one.
    pub(super) fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.kinds >>= 1;
    }
}

impl Pruner<'_> {
    /// Passes over what is here until what is passed over is closed, or the piece ends. Says where it stopped.
    pub(super) fn pass_over(&mut self, piece: Piece<'_>, at: usize) -> Result<usize, DocumentError> {
        let mut at = at;
        let mut expect = self.expect;
        loop {
            at = piece.solid(at);
            let Some(byte) = piece.byte(at) else {
                break;
            };
            let after = at.wrapping_add(1);
            // Strings without escapes, which most tokens are, take one turn each, with the colon or comma behind them.
            (at, expect) = match (byte, expect) {
                (b'"', Expect::Key | Expect::FirstKey) => {
                    let end = self.passed_text(piece, after, Partial::Key)?;
                    let colon = piece.solid(end);
                    match piece.byte(colon) {
                        Some(b':') => (colon.wrapping_add(1), Expect::Value),
                        _ if self.partial == Partial::None => (colon, Expect::Colon),
                        _ => (colon, Expect::Key),
                    }
                }
                (b'"', Expect::Value | Expect::FirstElement) => {
                    let end = self.passed_text(piece, after, Partial::Text)?;
                    let comma = piece.solid(end);
                    match piece.byte(comma) {
                        Some(b',') => (comma.wrapping_add(1), self.behind_comma()),
                        _ if self.partial == Partial::None => (comma, Expect::More),
                        _ => (comma, Expect::Value),
                    }
                }
                (b',', Expect::More) => (after, self.behind_comma()),
                (b':', Expect::Colon) => (after, Expect::Value),
                (b'{', Expect::Value | Expect::FirstElement) => {
                    self.skip.open(Open::Object, self.frames.len())?;
                    (after, Expect::FirstKey)
                }
                (b'[', Expect::Value | Expect::FirstElement) => {
                    self.skip.open(Open::Array, self.frames.len())?;
                    (after, Expect::FirstElement)
                }
                (b'}', Expect::More | Expect::FirstKey) => {
                    if self.passed_end(Open::Object)? {
                        return Ok(after);
                    }
                    (after, Expect::More)
                }
                (b']', Expect::More | Expect::FirstElement) => {
                    if self.passed_end(Open::Array)? {
                        return Ok(after);
                    }
                    (after, Expect::More)
                }
                (_, Expect::Value | Expect::FirstElement) => self.passed_scalar(byte, piece, at)?,
                _ => return Err(DocumentError::Syntax),
            };
        }
        self.expect = expect;
        Ok(at)
    }

    /// The innermost one that is passed over ends; whether that was the last.
    #[inline]
    fn passed_end(&mut self, open: Open) -> Result<bool, DocumentError> {
        if open != self.skip.innermost() {
            return Err(DocumentError::Syntax);
        }
        self.skip.close();
        if self.skip.is_open() {
            return Ok(false);
        }
        self.end_passed(open).map(|()| true)
    }

    /// What comes behind a comma in what is passed over.
    #[inline]
    fn behind_comma(&self) -> Expect {
        match self.skip.innermost() {
            Open::Object => Expect::Key,
            Open::Array => Expect::Value,
        }
    }

    /// A key or a string behind its quote; says where it ends. One that goes on in the next piece is the token at hand.
    #[inline]
    fn passed_text(
        &mut self,
        piece: Piece<'_>,
        at: usize,
        partial: fn(Str) -> Partial,
    ) -> Result<usize, DocumentError> {
        if let Some(end) = piece.quote(at) {
            return Ok(end.wrapping_add(1));
        }
        let mut text = Str::Plain;
        match text.take(piece, at, &mut Dropped)? {
            Step::Ended(end) => Ok(end),
            Step::Open => {
                self.partial = partial(text);
                Ok(piece.len())
            }
        }
    }

    /// A number or a word.
    fn passed_scalar(
        &mut self,
        byte: u8,
        piece: Piece<'_>,
        at: usize,
    ) -> Result<(usize, Expect), DocumentError> {
        let (step, partial) = if let b'-' | b'0'..=b'9' = byte {
            let mut number = Num::Start;
            (number.take(piece, at)?, Partial::Number(number))
        } else {
            let word = Word::starting(byte).ok_or(DocumentError::Syntax)?;
            let mut seen = 0;
            (word.take(&mut seen, piece, at)?, Partial::Word(word, seen))
        };
        match step {
            Step::Ended(end) => Ok((end, Expect::More)),
            Step::Open => {
                self.partial = partial;
                Ok((piece.len(), Expect::Value))
            }
        }
    }
}

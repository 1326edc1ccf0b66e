//! What is passed over: checked, and nothing kept of it.
//!
//! The one hot loop: most bytes of an answer go through it.

use super::super::{DEPTH_MAX, DocumentError};
use super::text::{plain, trimmed};
use super::token::{Num, Step, Str, Word};
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
    /// Passes over bytes until what is passed over is closed, or they end.
    pub(super) fn pass_over<'b>(&mut self, piece: &'b [u8]) -> Result<&'b [u8], DocumentError> {
        let mut rest = piece;
        let mut expect = self.expect;
        loop {
            // Whole strings, which most tokens are, take one turn each, with the colon or comma behind them.
            rest = trimmed(rest);
            match (expect, rest) {
                (Expect::Key, [b'"', tail @ ..]) => {
                    let end = plain(tail);
                    if let Some([b'"', after @ ..]) = tail.get(end..) {
                        (rest, expect) = match trimmed(after) {
                            [b':', value @ ..] => (value, Expect::Value),
                            other => (other, Expect::Colon),
                        };
                    } else {
                        (rest, expect) = self.passed_key(tail, end)?;
                    }
                }
                (Expect::Value, [b'"', tail @ ..]) => {
                    let end = plain(tail);
                    if let Some([b'"', after @ ..]) = tail.get(end..) {
                        (rest, expect) = match trimmed(after) {
                            [b',', next @ ..] => (next, self.behind_comma()),
                            other => (other, Expect::More),
                        };
                    } else {
                        (rest, expect) = self.passed_text(tail, end)?;
                    }
                }
                (_, [byte, tail @ ..]) => {
                    (rest, expect) = self.passed(expect, *byte, rest, tail)?;
                    if !self.skip.is_open() {
                        break;
                    }
                }
                (_, []) => break,
            }
        }
        self.expect = expect;
        Ok(rest)
    }

    /// One token of what is passed over.
    fn passed<'b>(
        &mut self,
        expect: Expect,
        byte: u8,
        rest: &'b [u8],
        tail: &'b [u8],
    ) -> Result<(&'b [u8], Expect), DocumentError> {
        match (expect, byte) {
            (Expect::FirstKey, b'"') => self.passed_key(tail, 0),
            (Expect::FirstElement, b'"') => self.passed_text(tail, 0),
            (Expect::More, b',') => Ok((tail, self.behind_comma())),
            (Expect::Colon, b':') => Ok((tail, Expect::Value)),
            (Expect::Value | Expect::FirstElement, b'{') => {
                self.skip.open(Open::Object, self.frames.len())?;
                Ok((tail, Expect::FirstKey))
            }
            (Expect::Value | Expect::FirstElement, b'[') => {
                self.skip.open(Open::Array, self.frames.len())?;
                Ok((tail, Expect::FirstElement))
            }
            (Expect::More | Expect::FirstKey, b'}') | (Expect::More | Expect::FirstElement, b']') => {
                let open = if byte == b'}' { Open::Object } else { Open::Array };
                if open != self.skip.innermost() {
                    return Err(DocumentError::Syntax);
                }
                self.skip.close();
                if !self.skip.is_open() {
                    self.end_passed(open)?;
                }
                Ok((tail, Expect::More))
            }
            (Expect::Value | Expect::FirstElement, b'-' | b'0'..=b'9') => self.passed_number(rest),
            (Expect::Value | Expect::FirstElement, b'n' | b't' | b'f') => self.passed_word(byte, rest),
            _ => Err(DocumentError::Syntax),
        }
    }

    /// What comes behind a comma in what is passed over.
    fn behind_comma(&self) -> Expect {
        match self.skip.innermost() {
            Open::Object => Expect::Key,
            Open::Array => Expect::Value,
        }
    }

    /// A key, of which so many bytes are known to be plain.
    fn passed_key<'b>(&mut self, rest: &'b [u8], plain: usize) -> Result<(&'b [u8], Expect), DocumentError> {
        let mut key = Str::Plain;
        let rest = rest.get(plain..).unwrap_or_default();
        match key.take(rest)? {
            Step::Ended(at) => Ok((rest.get(at..).unwrap_or_default(), Expect::Colon)),
            Step::Open => {
                self.partial = Partial::Key(key);
                Ok((&[], Expect::Key))
            }
        }
    }

    /// A string, of which so many bytes are known to be plain.
    fn passed_text<'b>(&mut self, rest: &'b [u8], plain: usize) -> Result<(&'b [u8], Expect), DocumentError> {
        let mut text = Str::Plain;
        let rest = rest.get(plain..).unwrap_or_default();
        match text.take(rest)? {
            Step::Ended(at) => Ok((rest.get(at..).unwrap_or_default(), Expect::More)),
            Step::Open => {
                self.partial = Partial::Text(text);
                Ok((&[], Expect::Value))
            }
        }
    }

    fn passed_number<'b>(&mut self, rest: &'b [u8]) -> Result<(&'b [u8], Expect), DocumentError> {
        let mut number = Num::Start;
        match number.take(rest)? {
            Step::Ended(at) => Ok((rest.get(at..).unwrap_or_default(), Expect::More)),
            Step::Open => {
                self.partial = Partial::Number(number);
                Ok((&[], Expect::Value))
            }
        }
    }

    fn passed_word<'b>(&mut self, first: u8, rest: &'b [u8]) -> Result<(&'b [u8], Expect), DocumentError> {
        let word = Word::starting(first).ok_or(DocumentError::Syntax)?;
        let mut seen = 0;
        match word.take(&mut seen, rest)? {
            Step::Ended(at) => Ok((rest.get(at..).unwrap_or_default(), Expect::More)),
            Step::Open => {
                self.partial = Partial::Word(word, seen);
                Ok((&[], Expect::Value))
            }
        }
    }
}

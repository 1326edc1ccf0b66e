//! What is passed over: checked, and nothing kept of it.
//!
//! The one hot loop: most bytes of an answer go through it.

use super::super::{DEPTH_MAX, DocumentError};
use super::text::plain;
use super::token::{Num, Step, Str, Word};
use super::{Expect, Partial, Pruner, is_space};

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
        while let Some((byte, tail)) = rest.split_first() {
            rest = match (self.expect, byte) {
                (Expect::Key | Expect::FirstKey, b'"') => match tail.get(plain(tail)..) {
                    Some([b'"', b':', after @ ..]) => {
                        self.expect = Expect::Value;
                        after
                    }
                    _ => self.passed_key(tail)?,
                },
                (Expect::Value | Expect::FirstElement, b'"') => match tail.get(plain(tail)..) {
                    Some([b'"', b',', after @ ..]) => {
                        self.expect = self.behind_comma();
                        after
                    }
                    _ => self.passed_text(tail)?,
                },
                (Expect::More, b',') => {
                    self.expect = self.behind_comma();
                    tail
                }
                (Expect::Colon, b':') => {
                    self.expect = Expect::Value;
                    tail
                }
                (Expect::Value | Expect::FirstElement, b'{') => {
                    self.skip.open(Open::Object, self.frames.len())?;
                    self.expect = Expect::FirstKey;
                    tail
                }
                (Expect::Value | Expect::FirstElement, b'[') => {
                    self.skip.open(Open::Array, self.frames.len())?;
                    self.expect = Expect::FirstElement;
                    tail
                }
                (Expect::More | Expect::FirstKey, b'}') | (Expect::More | Expect::FirstElement, b']') => {
                    let open = if *byte == b'}' { Open::Object } else { Open::Array };
                    if open != self.skip.innermost() {
                        return Err(DocumentError::Syntax);
                    }
                    self.skip.close();
                    self.expect = Expect::More;
                    if !self.skip.is_open() {
                        self.end_passed(open)?;
                        return Ok(tail);
                    }
                    tail
                }
                (Expect::Value | Expect::FirstElement, b'-' | b'0'..=b'9') => self.passed_number(rest)?,
                (Expect::Value | Expect::FirstElement, b'n' | b't' | b'f') => {
                    self.passed_word(*byte, rest)?
                }
                (_, space) if is_space(*space) => tail,
                _ => return Err(DocumentError::Syntax),
            };
        }
        Ok(rest)
    }

    /// What comes behind a comma in what is passed over.
    fn behind_comma(&self) -> Expect {
        match self.skip.innermost() {
            Open::Object => Expect::Key,
            Open::Array => Expect::Value,
        }
    }

    fn passed_key<'b>(&mut self, rest: &'b [u8]) -> Result<&'b [u8], DocumentError> {
        let mut key = Str::Plain;
        match key.take(rest)? {
            Step::Ended(at) => {
                self.expect = Expect::Colon;
                Ok(rest.get(at..).unwrap_or_default())
            }
            Step::Open => {
                self.partial = Partial::Key(key);
                Ok(&[])
            }
        }
    }

    fn passed_text<'b>(&mut self, rest: &'b [u8]) -> Result<&'b [u8], DocumentError> {
        let mut text = Str::Plain;
        match text.take(rest)? {
            Step::Ended(at) => {
                self.expect = Expect::More;
                Ok(rest.get(at..).unwrap_or_default())
            }
            Step::Open => {
                self.partial = Partial::Text(text);
                Ok(&[])
            }
        }
    }

    fn passed_number<'b>(&mut self, rest: &'b [u8]) -> Result<&'b [u8], DocumentError> {
        let mut number = Num::Start;
        match number.take(rest)? {
            Step::Ended(at) => {
                self.expect = Expect::More;
                Ok(rest.get(at..).unwrap_or_default())
            }
            Step::Open => {
                self.partial = Partial::Number(number);
                Ok(&[])
            }
        }
    }

    fn passed_word<'b>(&mut self, first: u8, rest: &'b [u8]) -> Result<&'b [u8], DocumentError> {
        let word = Word::starting(first).ok_or(DocumentError::Syntax)?;
        let mut seen = 0;
        match word.take(&mut seen, rest)? {
            Step::Ended(at) => {
                self.expect = Expect::More;
                Ok(rest.get(at..).unwrap_or_default())
            }
            Step::Open => {
                self.partial = Partial::Word(word, seen);
                Ok(&[])
            }
        }
    }
}

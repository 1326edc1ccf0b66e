//! Tokens that a piece of bytes may end in the middle of: what has been seen of a string, a number or a word.
//!
//! Refuses what RFC 8259 does not allow, half of a surrogate pair included. Each takes bytes from where the last piece
//! ended and says how many are its own.

use super::super::DocumentError;
use super::text::plain;

/// A string behind its opening quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Str {
    /// Between characters.
    Plain,
    /// Behind a backslash.
    Escape,
    /// So many hexadecimal digits of a `\u` are still to come; those before make this number. `high` if the escape before
    /// was the first half of a pair.
    Hex { left: u8, value: u16, pair: Pair },
    /// Behind the first half of a pair: a backslash must follow.
    Half,
    /// Behind that backslash: a `u` must follow.
    HalfEscape,
}

/// Which half of a surrogate pair an escape is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pair {
    First,
    Second,
}

/// How a token goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// It ended behind so many bytes.
    Ended(usize),
    /// All bytes are its own, and more may be.
    Open,
}

impl Str {
    /// Takes bytes of the string. What ends it, the closing quote, is counted.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<Step, DocumentError> {
        let mut at = 0_usize;
        loop {
            if *self == Self::Plain {
                at = at.saturating_add(plain(bytes.get(at..).unwrap_or_default()));
            }
            let Some(byte) = bytes.get(at) else {
                return Ok(Step::Open);
            };
            if *self == Self::Plain {
                // Whole escapes, which most are, take one step.
                match bytes.get(at..) {
                    Some([b'"', ..]) => return Ok(Step::Ended(at.saturating_add(1))),
                    Some([b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..]) => {
                        at = at.saturating_add(2);
                        continue;
                    }
                    _ => {}
                }
            }
            at = at.saturating_add(1);
            *self = self.next(*byte)?;
        }
    }

    fn next(self, byte: u8) -> Result<Self, DocumentError> {
        match (self, byte) {
            (Self::Plain, b'\\') => Ok(Self::Escape),
            (Self::Escape, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(Self::Plain),
            (Self::Escape, b'u') => Ok(Self::Hex { left: 4, value: 0, pair: Pair::First }),
            (Self::Hex { left, value, pair }, _) => {
                let digit = char::from(byte).to_digit(16).and_then(|digit| u16::try_from(digit).ok());
                let digit = digit.ok_or(DocumentError::Syntax)?;
                let value = value << 4 | digit;
                match left {
                    1 => Self::unit(value, pair),
                    _ => Ok(Self::Hex { left: left.saturating_sub(1), value, pair }),
                }
            }
            (Self::Half, b'\\') => Ok(Self::HalfEscape),
            (Self::HalfEscape, b'u') => Ok(Self::Hex { left: 4, value: 0, pair: Pair::Second }),
            (Self::Half | Self::HalfEscape, _) => Err(DocumentError::LoneSurrogate),
            (Self::Plain | Self::Escape, _) => Err(DocumentError::Syntax),
        }
    }

    /// A whole UTF-16 unit was read.
    fn unit(value: u16, pair: Pair) -> Result<Self, DocumentError> {
        match (pair, value) {
            (Pair::First, 0xd800..=0xdbff) => Ok(Self::Half),
            (Pair::First, 0xdc00..=0xdfff) => Err(DocumentError::LoneSurrogate),
            (Pair::Second, 0xdc00..=0xdfff) | (Pair::First, _) => Ok(Self::Plain),
            (Pair::Second, _) => Err(DocumentError::LoneSurrogate),
        }
    }
}

/// A number, by what has been seen of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Num {
    /// Nothing.
    Start,
    /// The sign.
    Minus,
    /// A zero, which ends the whole part.
    Zero,
    /// Digits.
    Whole,
    /// The point.
    Point,
    /// Digits behind the point.
    Fraction,
    /// The `e`.
    Mark,
    /// Its sign.
    Sign,
    /// Its digits.
    Power,
}

impl Num {
    /// Takes bytes of the number. What ends it is not counted.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<Step, DocumentError> {
        for (at, byte) in bytes.iter().enumerate() {
            match self.next(*byte) {
                Some(next) => *self = next,
                None if self.is_whole() => return Ok(Step::Ended(at)),
                None => return Err(DocumentError::Syntax),
            }
        }
        Ok(Step::Open)
    }

    /// Whether a number may end here.
    pub(super) fn is_whole(self) -> bool {
        matches!(self, Self::Zero | Self::Whole | Self::Fraction | Self::Power)
    }

    fn next(self, byte: u8) -> Option<Self> {
        Some(match (self, byte) {
            (Self::Start, b'-') => Self::Minus,
            (Self::Start | Self::Minus, b'0') => Self::Zero,
            (Self::Start | Self::Minus, b'1'..=b'9') | (Self::Whole, b'0'..=b'9') => Self::Whole,
            (Self::Zero | Self::Whole, b'.') => Self::Point,
            (Self::Point | Self::Fraction, b'0'..=b'9') => Self::Fraction,
            (Self::Zero | Self::Whole | Self::Fraction, b'e' | b'E') => Self::Mark,
            (Self::Mark, b'+' | b'-') => Self::Sign,
            (Self::Mark | Self::Sign | Self::Power, b'0'..=b'9') => Self::Power,
            _ => return None,
        })
    }
}

/// `null`, `true` or `false`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Null,
    True,
    False,
}

impl Word {
    /// The word that starts with this byte.
    pub(super) fn starting(byte: u8) -> Option<Self> {
        match byte {
            b'n' => Some(Self::Null),
            b't' => Some(Self::True),
            b'f' => Some(Self::False),
            _ => None,
        }
    }

    pub(super) fn letters(self) -> &'static [u8] {
        match self {
            Self::Null => b"null",
            Self::True => b"true",
            Self::False => b"false",
        }
    }

    /// Takes bytes of the word, of which `seen` were there before. What follows it is not counted.
    pub(super) fn take(self, seen: &mut usize, bytes: &[u8]) -> Result<Step, DocumentError> {
        let left = self.letters().get(*seen..).unwrap_or_default();
        let common = left.len().min(bytes.len());
        if left.get(..common) != bytes.get(..common) {
            return Err(DocumentError::Syntax);
        }
        *seen = seen.saturating_add(common);
        if common == left.len() { Ok(Step::Ended(common)) } else { Ok(Step::Open) }
    }
}

//! Tokens that a piece of bytes may end in the middle of: what has been seen of a string, a number or a word.
//!
//! Refuses what RFC 8259 does not allow, half of a surrogate pair included. Each takes bytes from where the last piece
//! ended and says where it ends. Text is checked before it comes here: a piece has whole characters.

use super::super::DocumentError;
use super::marks::Piece;

/// A string behind its opening quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Str {
    /// Between characters.
    Plain,
    /// Behind a backslash.
    Escape,
    /// So many hexadecimal digits of a `\u` are still to come; those before make this number. `high` is the first half of
    /// the pair that it must end, if the escape before was one.
    Hex { left: u8, value: u16, high: Option<u16> },
    /// Behind the first half of a pair, which is this: a backslash must follow.
    Half(u16),
    /// Behind that backslash: a `u` must follow.
    HalfEscape(u16),
}

/// How a token goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// It ended before this place.
    Ended(usize),
    /// The piece ended first.
    Open,
}

/// What is done with the text of a string.
pub(super) trait Text {
    fn take(&mut self, text: &str);
    fn take_char(&mut self, escaped: char);
}

/// It is checked, and dropped.
pub(super) struct Dropped;

impl Text for Dropped {
    fn take(&mut self, _: &str) {}

    fn take_char(&mut self, _: char) {}
}

impl Text for String {
    fn take(&mut self, text: &str) {
        self.push_str(text);
    }

    fn take_char(&mut self, escaped: char) {
        self.push(escaped);
    }
}

impl Str {
    /// Goes on with the string from this place. Its closing quote is its own.
    pub(super) fn take(
        &mut self,
        piece: Piece<'_>,
        at: usize,
        out: &mut impl Text,
    ) -> Result<Step, DocumentError> {
        let mut at = at;
        loop {
            if *self == Self::Plain {
                let end = piece.mark(at);
                out.take(piece.text(at, end));
                // Whole escapes, which most are, take one step.
                match piece.rest(end) {
                    [b'"', ..] => return Ok(Step::Ended(end.saturating_add(1))),
                    [b'\\', escape, ..] if let Some(escaped) = short_escape(*escape) => {
                        out.take_char(escaped);
                        at = end.saturating_add(2);
                        continue;
                    }
                    _ => at = end,
                }
            }
            let Some(byte) = piece.byte(at) else {
                return Ok(Step::Open);
            };
            at = at.saturating_add(1);
            *self = self.next(byte, out)?;
        }
    }

    fn next(self, byte: u8, out: &mut impl Text) -> Result<Self, DocumentError> {
        match (self, byte) {
            (Self::Plain, b'\\') => Ok(Self::Escape),
            (Self::Escape, b'u') => Ok(Self::Hex { left: 4, value: 0, high: None }),
            (Self::Escape, _) => {
                out.take_char(short_escape(byte).ok_or(DocumentError::Syntax)?);
                Ok(Self::Plain)
            }
            (Self::Hex { left, value, high }, _) => {
                let digit = char::from(byte).to_digit(16).and_then(|digit| u16::try_from(digit).ok());
                let value = value << 4 | digit.ok_or(DocumentError::Syntax)?;
                match left {
                    1 => Self::unit(value, high, out),
                    _ => Ok(Self::Hex { left: left.saturating_sub(1), value, high }),
                }
            }
            (Self::Half(high), b'\\') => Ok(Self::HalfEscape(high)),
            (Self::HalfEscape(high), b'u') => Ok(Self::Hex { left: 4, value: 0, high: Some(high) }),
            (Self::Half(_) | Self::HalfEscape(_), _) => Err(DocumentError::LoneSurrogate),
            (Self::Plain, _) => Err(DocumentError::Syntax),
        }
    }

    /// A whole UTF-16 unit was read, after the first half of a pair or not.
    fn unit(value: u16, high: Option<u16>, out: &mut impl Text) -> Result<Self, DocumentError> {
        if let (None, 0xd800..=0xdbff) = (high, value) {
            return Ok(Self::Half(value));
        }
        let mut units = char::decode_utf16(high.into_iter().chain([value]));
        match (units.next(), units.next()) {
            (Some(Ok(escaped)), None) => out.take_char(escaped),
            _ => return Err(DocumentError::LoneSurrogate),
        }
        Ok(Self::Plain)
    }
}

/// What one letter behind a backslash stands for.
fn short_escape(letter: u8) -> Option<char> {
    Some(match letter {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        _ => return None,
    })
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
    /// Goes on with the number from this place. What ends it is not its own.
    #[inline]
    pub(super) fn take(&mut self, piece: Piece<'_>, at: usize) -> Result<Step, DocumentError> {
        let mut at = at;
        while let Some(byte) = piece.byte(at) {
            match self.next(byte) {
                Some(next) => *self = next,
                None if self.is_whole() => return Ok(Step::Ended(at)),
                None => return Err(DocumentError::Syntax),
            }
            at = at.wrapping_add(1);
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

    /// Goes on with the word from this place, of which `seen` letters were there before. What follows it is not its own.
    #[inline]
    pub(super) fn take(self, seen: &mut usize, piece: Piece<'_>, at: usize) -> Result<Step, DocumentError> {
        let left = self.letters().get(*seen..).unwrap_or_default();
        let here = piece.rest(at);
        let common = left.len().min(here.len());
        if left.get(..common) != here.get(..common) {
            return Err(DocumentError::Syntax);
        }
        *seen = seen.saturating_add(common);
        if common == left.len() { Ok(Step::Ended(at.saturating_add(common))) } else { Ok(Step::Open) }
    }
}

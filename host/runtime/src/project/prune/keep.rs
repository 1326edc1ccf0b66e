//! What is looked into: keys are compared with the wanted ones, and wanted values are kept.

use super::super::{DEPTH_MAX, DocumentError, Tree};
use super::frame::{Done, Frame, Kind};
use super::plan::{Keep, Place};
use super::skip::Open;
use super::text::{plain, trimmed};
use super::token::{Num, Step, Str, Word};
use super::{Expect, KEPT_BYTES_MAX, Partial, Pruner};

/// What follows the quote behind the key of an unwanted member, if its value is a plain string, a number or a word that
/// ends here and another key follows: that key, behind its quote.
#[inline]
fn behind_member(after: &[u8]) -> Option<&[u8]> {
    let [b':', value @ ..] = trimmed(after) else {
        return None;
    };
    let end = match trimmed(value) {
        [b'"', text @ ..] => match text.get(plain(text)..) {
            Some([b'"', end @ ..]) => end,
            _ => return None,
        },
        value @ [first, ..] => {
            let step = match first {
                b'-' | b'0'..=b'9' => Num::Start.take(value),
                first => Word::starting(*first)?.take(&mut 0, value),
            };
            match step {
                Ok(Step::Ended(at)) => value.get(at..)?,
                Ok(Step::Open) | Err(_) => return None,
            }
        }
        [] => return None,
    };
    let [b',', next @ ..] = trimmed(end) else {
        return None;
    };
    match trimmed(next) {
        [b'"', key @ ..] => Some(key),
        _ => None,
    }
}

impl Pruner<'_> {
    /// Goes on with the token that the last piece ended in.
    pub(super) fn resume<'b>(&mut self, piece: &'b [u8]) -> Result<&'b [u8], DocumentError> {
        if piece.is_empty() {
            return Ok(piece);
        }
        let mut partial = self.partial;
        let step = match &mut partial {
            Partial::None => return Ok(piece),
            Partial::Key(text) | Partial::Text(text) => text.take(piece)?,
            Partial::Number(number) => number.take(piece)?,
            Partial::Word(word, seen) => word.take(seen, piece)?,
        };
        let (own, rest) = match step {
            Step::Open => (piece, &[][..]),
            Step::Ended(at) => (piece.get(..at).unwrap_or_default(), piece.get(at..).unwrap_or_default()),
        };
        if self.holds_token(partial) {
            self.hold(own)?;
        }
        if step == Step::Open {
            self.partial = partial;
            return Ok(rest);
        }
        self.partial = Partial::None;
        match partial {
            Partial::None => {}
            Partial::Key(_) => self.end_key()?,
            Partial::Text(_) => self.end_text()?,
            Partial::Number(_) => self.end_number()?,
            Partial::Word(word, _) => self.end_word(word)?,
        }
        Ok(rest)
    }

    /// Whether the token at hand is kept, or may turn out to be a wanted key.
    fn holds_token(&self, partial: Partial) -> bool {
        !self.skip.is_open()
            && match partial {
                Partial::Key(_) => true,
                Partial::Text(_) | Partial::Number(_) => self.keeps_scalar(),
                Partial::None | Partial::Word(..) => false,
            }
    }

    pub(super) fn keeps_scalar(&self) -> bool {
        self.wanted.is_some_and(|place| self.plan.keep(place).scalar)
    }

    /// Holds bytes of the token at hand.
    fn hold(&mut self, bytes: &[u8]) -> Result<(), DocumentError> {
        self.raw.extend_from_slice(bytes);
        let held = self.kept.saturating_add(self.raw.len());
        if held > KEPT_BYTES_MAX { Err(DocumentError::KeptTooMuch) } else { Ok(()) }
    }

    /// One token of what is looked into, or one whole string that is passed over. No white space stands before it.
    pub(super) fn step<'b>(&mut self, rest: &'b [u8]) -> Result<&'b [u8], DocumentError> {
        let Some((byte, tail)) = rest.split_first() else {
            return Ok(rest);
        };
        match (self.expect, byte) {
            (Expect::Key | Expect::FirstKey, b'"') => self.key(tail),
            (Expect::Value | Expect::FirstElement, _) => self.value(*byte, rest, tail),
            (Expect::Colon, b':') => {
                self.expect = Expect::Value;
                Ok(tail)
            }
            (Expect::More, b',') => self.comma(tail),
            (Expect::FirstKey | Expect::More, b'}') => self.close(Open::Object, tail),
            (Expect::More, b']') => self.close(Open::Array, tail),
            _ => Err(DocumentError::Syntax),
        }
    }

    fn comma<'b>(&mut self, tail: &'b [u8]) -> Result<&'b [u8], DocumentError> {
        let frame = self.frames.last().ok_or(DocumentError::Syntax)?;
        match frame.kind {
            Kind::Object { .. } => self.expect = Expect::Key,
            Kind::Array { .. } => {
                self.wanted = frame.element(self.plan.keep(frame.place));
                self.expect = Expect::Value;
            }
        }
        Ok(tail)
    }

    fn close<'b>(&mut self, open: Open, tail: &'b [u8]) -> Result<&'b [u8], DocumentError> {
        let frame = self.frames.pop().ok_or(DocumentError::Syntax)?;
        let kind = match frame.kind {
            Kind::Object { .. } => Open::Object,
            Kind::Array { .. } => Open::Array,
        };
        if kind != open {
            return Err(DocumentError::Syntax);
        }
        self.end_value(Done::Kept(frame.into_tree()))?;
        Ok(tail)
    }

    /// A key of an object that is looked into, behind its quote, and as many unwanted members after it as are plain and
    /// whole: most are.
    fn key<'b>(&mut self, tail: &'b [u8]) -> Result<&'b [u8], DocumentError> {
        let keep =
            self.frames.last().map(|frame| self.plan.keep(frame.place)).ok_or(DocumentError::Syntax)?;
        let mut tail = tail;
        while let Some((key, [b'"', after @ ..])) = tail.split_at_checked(plain(tail)) {
            self.wanted = self.member(keep, key);
            if self.wanted.is_none() {
                if let Some(next) = behind_member(after) {
                    tail = next;
                    continue;
                }
            } else {
                // Checked as a whole piece when it was fed.
                let key = std::str::from_utf8(key).map_err(|_error| DocumentError::NotUtf8)?;
                self.name_member(key.to_owned())?;
            }
            let after = trimmed(after);
            if let [b':', value @ ..] = after {
                self.expect = Expect::Value;
                return Ok(value);
            }
            self.expect = Expect::Colon;
            return Ok(after);
        }
        self.token(Partial::Key(Str::Plain), tail)
    }

    /// Starts a token that may end in this piece or a later one.
    fn token<'b>(&mut self, partial: Partial, rest: &'b [u8]) -> Result<&'b [u8], DocumentError> {
        self.raw.clear();
        self.partial = partial;
        self.resume(rest)
    }

    /// What is kept of the member of this name in an object of which `keep` is kept.
    pub(super) fn member(&self, keep: &Keep, key: &[u8]) -> Option<Place> {
        keep.name(key).or_else(|| keep.members.then_some(self.plan.any_scalar()))
    }

    pub(super) fn name_member(&mut self, name: String) -> Result<(), DocumentError> {
        self.count(name.len())?;
        if let Some(Frame { kind: Kind::Object { key, .. }, .. }) = self.frames.last_mut() {
            *key = name;
        }
        Ok(())
    }

    /// A value starts with `byte`. `rest` starts with it too, `tail` behind it.
    fn value<'b>(&mut self, byte: u8, rest: &'b [u8], tail: &'b [u8]) -> Result<&'b [u8], DocumentError> {
        match byte {
            b'"' => self.text(rest, tail),
            b'{' | b'[' => self.container(byte, tail),
            b'-' | b'0'..=b'9' => self.token(Partial::Number(Num::Start), rest),
            b']' if self.expect == Expect::FirstElement => self.close(Open::Array, tail),
            _ => match Word::starting(byte) {
                Some(word) => self.token(Partial::Word(word, 0), rest),
                None if self.is_mark(byte) => Err(DocumentError::ByteOrderMark),
                None => Err(DocumentError::Syntax),
            },
        }
    }

    /// Whether a byte order mark starts the document.
    fn is_mark(&self, byte: u8) -> bool {
        byte == 0xef && self.frames.is_empty() && self.top.is_none()
    }

    fn text<'b>(&mut self, rest: &'b [u8], tail: &'b [u8]) -> Result<&'b [u8], DocumentError> {
        let mut text = Str::Plain;
        let Step::Ended(end) = text.take(tail)? else {
            return self.token(Partial::Text(Str::Plain), tail);
        };
        let after = tail.get(end..).unwrap_or_default();
        if !self.keeps_scalar() {
            self.end_scalar_standing_in()?;
            return Ok(after);
        }
        let quoted = rest.get(..=end).unwrap_or_default();
        // Its grammar was checked just now.
        let text: String = serde_json::from_slice(quoted).map_err(|_error| DocumentError::Syntax)?;
        self.end_value(Done::Kept(Tree::String(text)))?;
        Ok(after)
    }

    fn container<'b>(&mut self, byte: u8, tail: &'b [u8]) -> Result<&'b [u8], DocumentError> {
        let open = if byte == b'{' { Open::Object } else { Open::Array };
        let entered = self.wanted.filter(|place| {
            let keep = self.plan.keep(*place);
            if open == Open::Object { keep.enters_objects() } else { keep.enters_arrays() }
        });
        let Some(place) = entered else {
            self.skip.open(open, self.frames.len())?;
            self.expect = if open == Open::Object { Expect::FirstKey } else { Expect::FirstElement };
            return Ok(tail);
        };
        if self.frames.len() >= DEPTH_MAX {
            return Err(DocumentError::TooDeep);
        }
        let frame = if open == Open::Object {
            Frame::object(place, self.plan.keep(place).width())
        } else {
            Frame::array(place)
        };
        match open {
            Open::Object => self.expect = Expect::FirstKey,
            Open::Array => {
                self.wanted = frame.element(self.plan.keep(place));
                self.expect = Expect::FirstElement;
            }
        }
        self.frames.push(frame);
        Ok(tail)
    }
}

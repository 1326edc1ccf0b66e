//! What is looked into: keys are compared with the wanted ones, and wanted values are kept.

use super::super::{DEPTH_MAX, Digits, DocumentError, Key, Tree};
use super::frame::{Frame, Kind};
use super::marks::Piece;
use super::plan::{Keep, Place};
use super::skip::Open;
use super::token::{Dropped, Num, Step, Str, Word};
use super::unwanted::{Behind, behind_unwanted};
use super::{Expect, KEPT_BYTES_MAX, Partial, Pruner};

impl Pruner<'_> {
    /// Goes on with the token at hand from this place, and says where what follows it starts.
    pub(super) fn go_on(&mut self, piece: Piece<'_>, at: usize) -> Result<usize, DocumentError> {
        let mut partial = self.partial;
        let held = self.holds_token(partial);
        let step = match &mut partial {
            Partial::None => return Ok(at),
            Partial::Key(text) | Partial::Text(text) if held => text.take(piece, at, &mut self.token)?,
            Partial::Key(text) | Partial::Text(text) => text.take(piece, at, &mut Dropped)?,
            Partial::Number(number) => number.take(piece, at)?,
            Partial::Word(word, seen) => word.take(seen, piece, at)?,
        };
        let end = match step {
            Step::Ended(end) => end,
            Step::Open => piece.len(),
        };
        if held && matches!(partial, Partial::Number(_)) {
            self.token.push_str(piece.text(at, end));
        }
        if self.kept.saturating_add(self.token.len()) > KEPT_BYTES_MAX {
            return Err(DocumentError::KeptTooMuch);
        }
        if step == Step::Open {
            self.partial = partial;
            return Ok(end);
        }
        self.partial = Partial::None;
        match partial {
            Partial::None => {}
            Partial::Key(_) => self.end_key()?,
            Partial::Text(_) => self.end_text()?,
            Partial::Number(_) => self.end_number()?,
            Partial::Word(word, _) => self.end_word(word)?,
        }
        Ok(end)
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

    /// One token of what is looked into, or the start of what is passed over. No white space stands here.
    pub(super) fn step(&mut self, piece: Piece<'_>, at: usize) -> Result<usize, DocumentError> {
        let Some(byte) = piece.byte(at) else {
            return Ok(at);
        };
        let after = at.wrapping_add(1);
        match (self.expect, byte) {
            (Expect::Key | Expect::FirstKey, b'"') => self.key(piece, after),
            (Expect::Value | Expect::FirstElement, _) => self.value(byte, piece, at),
            (Expect::Colon, b':') => {
                self.expect = Expect::Value;
                Ok(after)
            }
            (Expect::More, b',') => {
                self.comma()?;
                Ok(after)
            }
            (Expect::FirstKey | Expect::More, b'}') => {
                self.close(Open::Object)?;
                Ok(after)
            }
            (Expect::More, b']') => {
                self.close(Open::Array)?;
                Ok(after)
            }
            _ => Err(DocumentError::Syntax),
        }
    }

    fn comma(&mut self) -> Result<(), DocumentError> {
        let frame = self.frames.last().ok_or(DocumentError::Syntax)?;
        match frame.kind {
            Kind::Object { .. } => self.expect = Expect::Key,
            Kind::Array { .. } => {
                self.wanted = frame.element(self.plan.keep(frame.place));
                self.expect = Expect::Value;
            }
        }
        Ok(())
    }

    fn close(&mut self, open: Open) -> Result<(), DocumentError> {
        let frame = self.frames.pop().ok_or(DocumentError::Syntax)?;
        let kind = match frame.kind {
            Kind::Object { .. } => Open::Object,
            Kind::Array { .. } => Open::Array,
        };
        if kind != open {
            return Err(DocumentError::Syntax);
        }
        self.keep(frame.into_tree(), 0)
    }

    /// A key of an object that is looked into, behind its quote, and as many members from it on as are scalars and whole:
    /// most are.
    fn key(&mut self, piece: Piece<'_>, at: usize) -> Result<usize, DocumentError> {
        let plan = self.plan;
        let keep = self.frames.last().map(|frame| plan.keep(frame.place)).ok_or(DocumentError::Syntax)?;
        let mut at = at;
        loop {
            at = match behind_unwanted(keep, piece, at) {
                Behind::Quote(at) => at,
                Behind::Brace(end) => return self.close(Open::Object).map(|()| end),
            };
            let Some(end) = piece.quote(at) else {
                return self.token(Partial::Key(Str::Plain), piece, at);
            };
            let member = self.member(keep, piece.bytes(at, end));
            self.wanted = member.map(|(place, _)| place);
            if let Some((_, name)) = member {
                let name = name.cloned().unwrap_or_else(|| Key::new(piece.text(at, end)));
                self.name_member(name)?;
            }
            let colon = piece.solid(end.wrapping_add(1));
            if piece.byte(colon) != Some(b':') {
                self.expect = Expect::Colon;
                return Ok(colon);
            }
            self.expect = Expect::Value;
            let value = piece.solid(colon.wrapping_add(1));
            let after = self.step(piece, value)?;
            if self.expect != Expect::More || self.partial != Partial::None {
                return Ok(after);
            }
            match piece.next_key(after) {
                Some(next) => at = next,
                None => return Ok(after),
            }
        }
    }

    /// Starts a token that may end in this piece or a later one.
    fn token(&mut self, partial: Partial, piece: Piece<'_>, at: usize) -> Result<usize, DocumentError> {
        self.token.clear();
        self.partial = partial;
        self.go_on(piece, at)
    }

    /// What is kept of the member of this name in an object of which `keep` is kept, and the name if the plan has it.
    pub(super) fn member<'k>(&self, keep: &'k Keep, key: &[u8]) -> Option<(Place, Option<&'k Key>)> {
        match keep.name(key) {
            Some((name, place)) => Some((*place, Some(name))),
            None => keep.members.then_some((self.plan.any_scalar(), None)),
        }
    }

    pub(super) fn name_member(&mut self, name: Key) -> Result<(), DocumentError> {
        self.count(name.len())?;
        if let Some(Frame { kind: Kind::Object { key, .. }, .. }) = self.frames.last_mut() {
            *key = name;
        }
        Ok(())
    }

    /// A value starts here with `byte`.
    fn value(&mut self, byte: u8, piece: Piece<'_>, at: usize) -> Result<usize, DocumentError> {
        let after = at.wrapping_add(1);
        match byte {
            b'"' => self.text(piece, after),
            b'{' => self.container(Open::Object).map(|()| after),
            b'[' => self.container(Open::Array).map(|()| after),
            b'-' | b'0'..=b'9' => self.number(piece, at),
            b']' if self.expect == Expect::FirstElement => self.close(Open::Array).map(|()| after),
            _ => match Word::starting(byte) {
                Some(word) => self.token(Partial::Word(word, 0), piece, at),
                None if self.is_mark(byte) => Err(DocumentError::ByteOrderMark),
                None => Err(DocumentError::Syntax),
            },
        }
    }

    /// Whether a byte order mark starts the document.
    fn is_mark(&self, byte: u8) -> bool {
        byte == 0xef && self.frames.is_empty() && self.top.is_none()
    }

    fn text(&mut self, piece: Piece<'_>, at: usize) -> Result<usize, DocumentError> {
        let Some(end) = piece.quote(at) else {
            return self.token(Partial::Text(Str::Plain), piece, at);
        };
        if self.keeps_scalar() {
            let text = piece.text(at, end);
            self.keep(Tree::String(text.to_owned()), text.len())?;
        } else {
            self.end_scalar_standing_in()?;
        }
        Ok(end.wrapping_add(1))
    }

    fn number(&mut self, piece: Piece<'_>, at: usize) -> Result<usize, DocumentError> {
        let Step::Ended(end) = Num::Start.take(piece, at)? else {
            return self.token(Partial::Number(Num::Start), piece, at);
        };
        if self.keeps_scalar() {
            let digits = piece.text(at, end);
            self.keep(Tree::Number(Digits::checked(digits)), digits.len())?;
        } else {
            self.end_scalar_standing_in()?;
        }
        Ok(end)
    }

    fn container(&mut self, open: Open) -> Result<(), DocumentError> {
        let entered = self.wanted.filter(|place| {
            let keep = self.plan.keep(*place);
            if open == Open::Object { keep.enters_objects() } else { keep.enters_arrays() }
        });
        let Some(place) = entered else {
            self.skip.open(open, self.frames.len())?;
            self.expect = if open == Open::Object { Expect::FirstKey } else { Expect::FirstElement };
            return Ok(());
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
        Ok(())
    }
}

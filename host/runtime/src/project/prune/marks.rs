//! Where in a piece of text a string may end: a bit for each quote, backslash and control character, found sixteen bytes
//! at a time before anything else looks at the piece.
//!
//! Most of an answer is inside strings. With the marks at hand the end of one is found without a loop, however long it
//! is up to 64 bytes, which nearly all are.

use wide::u8x16;

/// Bytes that are looked at together.
const LANE: usize = 16;

/// Bytes that a word has a bit for each of.
const BLOCK: usize = 64;

/// The marks of a piece, the first byte of each block in the lowest bit; a word without marks stands at the end.
#[derive(Debug, Default)]
pub(super) struct Marks {
    words: Vec<u64>,
}

impl Marks {
    /// Marks this text, and gives it with its marks.
    pub(super) fn read<'b>(&'b mut self, text: &'b str) -> Piece<'b> {
        self.words.clear();
        let (blocks, rest) = text.as_bytes().as_chunks::<BLOCK>();
        self.words.extend(blocks.iter().map(marked));
        let mut last = [0x20; BLOCK];
        if let Some(room) = last.get_mut(..rest.len()) {
            room.copy_from_slice(rest);
        }
        self.words.extend([marked(&last), 0]);
        Piece { text, words: &self.words }
    }
}

#[inline]
fn marked(block: &[u8; BLOCK]) -> u64 {
    let (lanes, _) = block.as_chunks::<LANE>();
    let mut word = 0;
    for (lane, shift) in lanes.iter().zip([0, 16, 32, 48]) {
        word |= u64::from(marked_lane(*lane)) << shift;
    }
    word
}

/// Quotes become the byte above all control characters, which stay below it, and nothing else comes that low.
#[inline]
fn marked_lane(lane: [u8; LANE]) -> u32 {
    let lane = u8x16::new(lane);
    let low = lane ^ u8x16::splat(b'"' ^ 0x20);
    let quote_or_control = low.min(u8x16::splat(0x20)).simd_eq(low);
    (quote_or_control | lane.simd_eq(u8x16::splat(b'\\'))).to_bitmask()
}

/// A piece of a document, and its marks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'b> {
    text: &'b str,
    words: &'b [u64],
}

impl<'b> Piece<'b> {
    pub(super) fn len(self) -> usize {
        self.text.len()
    }

    /// The byte at this place.
    #[inline]
    pub(super) fn byte(self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// So many bytes from this place on.
    #[inline]
    pub(super) fn chunk<const N: usize>(self, at: usize) -> Option<&'b [u8; N]> {
        self.text.as_bytes().get(at..)?.first_chunk()
    }

    /// The bytes from this place on.
    #[inline]
    pub(super) fn rest(self, at: usize) -> &'b [u8] {
        self.text.as_bytes().get(at..).unwrap_or_default()
    }

    /// The bytes between two places.
    #[inline]
    pub(super) fn bytes(self, from: usize, to: usize) -> &'b [u8] {
        self.text.as_bytes().get(from..to).unwrap_or_default()
    }

    /// The text between two places that are ends of tokens.
    #[inline]
    pub(super) fn text(self, from: usize, to: usize) -> &'b str {
        self.text.get(from..to).unwrap_or_default()
    }

    /// The first place from here on that has a quote, a backslash or a control character; the end if none has.
    #[inline]
    pub(super) fn mark(self, at: usize) -> usize {
        let (word, bit) = (at / BLOCK, at % BLOCK);
        let Some([low, high, ..]) = self.words.get(word..) else {
            return self.len();
        };
        // The 64 bytes from here on, whichever block they begin in.
        let near = low >> bit | high << (BLOCK - 1 - bit) << 1;
        if near == 0 { self.far_mark(word) } else { at.wrapping_add(place(near)) }
    }

    /// The closing quote of the string that goes on here, if it has no escape and ends in this piece.
    #[inline]
    pub(super) fn quote(self, at: usize) -> Option<usize> {
        let end = self.mark(at);
        (self.byte(end) == Some(b'"')).then_some(end)
    }

    /// The first mark in a block after this one.
    fn far_mark(self, word: usize) -> usize {
        let after = self.words.iter().enumerate().skip(word).skip(1);
        let found = after.into_iter().find(|(_, marks)| **marks != 0);
        found.map_or(self.len(), |(word, marks)| word.saturating_mul(BLOCK).saturating_add(place(*marks)))
    }

    /// The place behind the quote of a key, if a comma is next and then that.
    #[inline]
    pub(super) fn next_key(self, at: usize) -> Option<usize> {
        let comma = self.solid(at);
        if self.byte(comma) != Some(b',') {
            return None;
        }
        let quote = self.solid(comma.wrapping_add(1));
        if self.byte(quote) == Some(b'"') { Some(quote.wrapping_add(1)) } else { None }
    }

    /// The first place from here on that has no white space (RFC 8259, section 2).
    #[inline]
    pub(super) fn solid(self, at: usize) -> usize {
        match self.rest(at) {
            [first, ..] if *first > b' ' => at,
            [b' ', second, ..] if *second > b' ' => at.wrapping_add(1),
            rest => at.wrapping_add(spaces(rest)),
        }
    }
}

/// How much white space these bytes start with: a line end and an indentation mostly.
#[inline]
fn spaces(bytes: &[u8]) -> usize {
    if let Some(lane) = bytes.first_chunk::<LANE>() {
        let lane = u8x16::new(*lane);
        let usual = lane.simd_eq(u8x16::splat(b' ')) | lane.simd_eq(u8x16::splat(b'\n'));
        let others = !usual.to_bitmask() & 0xffff;
        let end = place(others.into());
        // Where all sixteen are white space, `end` is beyond them.
        if end < LANE && bytes.get(end).is_some_and(|byte| *byte > b' ') {
            return end;
        }
    }
    let end = bytes.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    end.unwrap_or(bytes.len())
}

/// The place of the lowest bit.
#[inline]
fn place(bits: u64) -> usize {
    usize::try_from(bits.trailing_zeros()).unwrap_or(BLOCK)
}

//! The members of an object that is looked into which nobody wants: their keys are looked at, and as long as their values
//! are scalars and whole nothing else is done for them.
//!
//! The one hot loop of a page of many members. What it does not know at once it leaves to the slower way, at the key of
//! the member in question.

use super::marks::Piece;
use super::plan::Keep;
use super::token::{Num, Step, Word};

/// What follows a member, and the place behind it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Behind {
    /// The quote of the next key.
    Quote(usize),
    /// The end of the object.
    Brace(usize),
}

/// Passes over members that are unwanted, scalars and whole, from behind the quote of a key on; most are. Stops at the key
/// of one that is not, or behind the object.
pub(super) fn behind_unwanted(keep: &Keep, piece: Piece<'_>, at: usize) -> Behind {
    let mut at = at;
    loop {
        let Some(end) = piece.quote(at).filter(|end| !keep.may_want(piece.bytes(at, *end))) else {
            return Behind::Quote(at);
        };
        match behind_member(piece, end) {
            Some(Behind::Quote(next)) => at = next,
            Some(Behind::Brace(end)) => return Behind::Brace(end),
            None => return Behind::Quote(at),
        }
    }
}

/// From the closing quote of an unwanted member's key: what follows the member, if its value is a string without escapes,
/// a number or a word, and all of it is here.
#[inline]
fn behind_member(piece: Piece<'_>, quote: usize) -> Option<Behind> {
    let end = match piece.chunk::<4>(quote)? {
        b"\": \"" => behind_text(piece, quote.wrapping_add(4))?,
        [b'"', b':', b'"', _] => behind_text(piece, quote.wrapping_add(3))?,
        _ => behind_value(piece, quote.wrapping_add(1))?,
    };
    if let Some(key) = piece.next_key(end) {
        return Some(Behind::Quote(key));
    }
    let brace = piece.solid(end);
    if piece.byte(brace) == Some(b'}') { Some(Behind::Brace(brace.wrapping_add(1))) } else { None }
}

/// The place behind a string without escapes.
#[inline]
fn behind_text(piece: Piece<'_>, at: usize) -> Option<usize> {
    piece.quote(at).map(|end| end.wrapping_add(1))
}

/// From behind a key to behind its value, if that is a string without escapes, a number or a word.
fn behind_value(piece: Piece<'_>, at: usize) -> Option<usize> {
    let colon = piece.solid(at);
    if piece.byte(colon) != Some(b':') {
        return None;
    }
    let at = piece.solid(colon.wrapping_add(1));
    let step = match piece.byte(at)? {
        b'"' => return behind_text(piece, at.wrapping_add(1)),
        b'-' | b'0'..=b'9' => Num::Start.take(piece, at),
        first => Word::starting(first)?.take(&mut 0, piece, at),
    };
    match step {
        Ok(Step::Ended(end)) => Some(end),
        Ok(Step::Open) | Err(_) => None,
    }
}

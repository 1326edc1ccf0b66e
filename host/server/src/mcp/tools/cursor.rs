//! The cursor of a page of the tool list: where it goes on, and of which list.
//!
//! It is no secret: whoever makes one up sees a part of their own list. Refuses one of another list.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pinhole_manifest::Digest;

use super::PAGE_TOOLS;

/// A cursor that this list did not give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the cursor is not one of the tool list as it is now: list the tools again without a cursor")]
pub struct BadCursor;

/// Bytes of the list's digest that a cursor has.
const MARK: usize = 12;

pub(super) fn write(list: Digest, from: usize) -> String {
    let mut bytes: Vec<u8> = list.as_bytes().iter().copied().take(MARK).collect();
    bytes.extend(u32::try_from(from).unwrap_or(u32::MAX).to_be_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Where a list of so many tools goes on.
pub(super) fn read(cursor: &str, list: Digest, count: usize) -> Result<usize, BadCursor> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_grammar| BadCursor)?;
    let (mark, from) = bytes.split_at_checked(MARK).ok_or(BadCursor)?;
    let from = u32::from_be_bytes(from.try_into().map_err(|_length| BadCursor)?);
    let from = usize::try_from(from).map_err(|_overflow| BadCursor)?;
    let own = list.as_bytes().get(..MARK) == Some(mark);
    if own && from > 0 && from < count && from.is_multiple_of(PAGE_TOOLS) { Ok(from) } else { Err(BadCursor) }
}

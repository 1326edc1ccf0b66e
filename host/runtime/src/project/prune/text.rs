//! How far a string goes on plainly, and where white space ends, eight bytes at a time.

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;
const QUOTES: u64 = LOW.wrapping_mul(0x22);
const BACKSLASHES: u64 = LOW.wrapping_mul(0x5c);
const SPACES: u64 = LOW.wrapping_mul(0x20);

/// Bit 7 of the lowest byte that is a quote, a backslash or a control character is set; bits of higher bytes may be
/// wrong, which does not matter to whoever looks for the first.
#[inline]
fn marks(word: u64) -> u64 {
    let zero = |x: u64| x.wrapping_sub(LOW) & !x;
    let control = word.wrapping_sub(SPACES) & !word;
    (zero(word ^ QUOTES) | zero(word ^ BACKSLASHES) | control) & HIGH
}

/// The number of bytes before the first quote, backslash or control character.
#[inline]
pub(super) fn plain(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((word, tail)) = rest.split_first_chunk::<8>() {
        let found = marks(u64::from_le_bytes(*word));
        if found != 0 {
            let here = bytes.len().saturating_sub(rest.len());
            return here.saturating_add(usize::try_from(found.trailing_zeros() / 8).unwrap_or(0));
        }
        rest = tail;
    }
    let end = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len());
    bytes.len().saturating_sub(rest.len()).saturating_add(end)
}

/// White space of RFC 8259, section 2.
#[inline]
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The bytes behind the white space at the start.
#[inline]
pub(super) fn trimmed(bytes: &[u8]) -> &[u8] {
    match bytes.first() {
        Some(byte) if *byte <= b' ' => behind_spaces(bytes),
        _ => bytes,
    }
}

fn behind_spaces(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes;
    loop {
        match rest {
            [b' ', b' ', b' ', b' ', b' ', b' ', b' ', b' ', tail @ ..] => rest = tail,
            [byte, tail @ ..] if is_space(*byte) => rest = tail,
            _ => return rest,
        }
    }
}

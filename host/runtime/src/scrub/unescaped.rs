//! Bytes as whoever undoes the escapes of JSON would read them, whether or not they are JSON.

use zeroize::Zeroizing;

/// The bytes with every escape of JSON undone (RFC 8259, section 7). Half of a surrogate pair stands for nothing; a backslash
/// before anything else stays.
pub(super) fn unescaped(bytes: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut plain = Zeroizing::new(Vec::with_capacity(bytes.len()));
    let mut rest = bytes;
    while let [first, after @ ..] = rest {
        let (taken, left) = match rest {
            [b'\\', b'u', after @ ..] => match unit(after) {
                Some((unit, after)) => character(unit, after),
                None => (None, after),
            },
            [b'\\', b'b', after @ ..] => (Some('\u{8}'), after),
            [b'\\', b'f', after @ ..] => (Some('\u{c}'), after),
            [b'\\', b'n', after @ ..] => (Some('\n'), after),
            [b'\\', b'r', after @ ..] => (Some('\r'), after),
            [b'\\', b't', after @ ..] => (Some('\t'), after),
            [b'\\', mark @ (b'"' | b'\\' | b'/'), after @ ..] => (Some(char::from(*mark)), after),
            _ => {
                plain.push(*first);
                rest = after;
                continue;
            }
        };
        if let Some(taken) = taken {
            plain.extend_from_slice(taken.encode_utf8(&mut [0; 4]).as_bytes());
        }
        rest = left;
    }
    plain
}

/// Four hexadecimal digits, and what comes behind them.
fn unit(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = bytes.split_at_checked(4)?;
    let digits =
        std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()))?;
    Some((u32::from_str_radix(digits, 16).ok()?, rest))
}

/// The character that a unit of UTF-16 is, or begins.
fn character(first: u32, rest: &[u8]) -> (Option<char>, &[u8]) {
    if let (0xd800..0xdc00, [b'\\', b'u', after @ ..]) = (first, rest)
        && let Some((second @ 0xdc00..0xe000, after)) = unit(after)
    {
        let pair = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (char::from_u32(pair), after);
    }
    (char::from_u32(first), rest)
}

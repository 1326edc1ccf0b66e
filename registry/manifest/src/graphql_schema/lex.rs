//! What is looked at before a schema is parsed: how many tokens it has, and white space that the parser does not take.
//!
//! INVARIANT: a text that comes out has no white space but ASCII's: the parser cuts the lines of a block string by bytes,
//! and panics where it cuts through a character.

use std::borrow::Cow;

use super::schema::SchemaError;

/// Most tokens of a schema; GitHub's has some 120,000.
pub(super) const TOKENS_MAX: usize = 600_000;

/// The text as it may be parsed.
pub(super) fn prepared(text: &str) -> Result<Cow<'_, str>, SchemaError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if tokens(text.as_bytes()) > TOKENS_MAX {
        return Err(SchemaError::TooManyTokens);
    }
    let odd = |c: char| c.is_whitespace() && !c.is_ascii();
    if text.contains(odd) {
        return Ok(text.chars().map(|c| if odd(c) { ' ' } else { c }).collect());
    }
    Ok(Cow::Borrowed(text))
}

/// About how many tokens there are; never fewer than the parser sees before it gives up.
fn tokens(mut rest: &[u8]) -> usize {
    let mut count = 0_usize;
    while let [first, after @ ..] = rest {
        rest = match first {
            b if b.is_ascii_whitespace() || *b == b',' => {
                rest = after;
                continue;
            }
            b'#' => {
                rest = behind(after, |b| matches!(b, b'\n' | b'\r'));
                continue;
            }
            b'"' => match after {
                [b'"', b'"', block @ ..] => behind_block(block),
                text => behind_text(text),
            },
            b if is_word(*b) => {
                let end = after.iter().position(|b| !is_word(*b)).unwrap_or(after.len());
                after.get(end..).unwrap_or_default()
            }
            _ => after,
        };
        count = count.saturating_add(1);
    }
    count
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

/// What follows the first byte of this kind.
fn behind(rest: &[u8], end: impl Fn(u8) -> bool) -> &[u8] {
    let at = rest.iter().position(|b| end(*b)).map_or(rest.len(), |at| at.saturating_add(1));
    rest.get(at..).unwrap_or_default()
}

fn behind_text(mut rest: &[u8]) -> &[u8] {
    loop {
        rest = match rest {
            [] => return rest,
            [b'"' | b'\n', after @ ..] => return after,
            [b'\\', _, after @ ..] | [_, after @ ..] => after,
        };
    }
}

fn behind_block(mut rest: &[u8]) -> &[u8] {
    loop {
        rest = match rest {
            [] => return rest,
            [b'"', b'"', b'"', after @ ..] => return after,
            [b'\\', b'"', b'"', b'"', after @ ..] | [_, after @ ..] => after,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_and_strings_are_one() {
        for (text, count) in [
            ("", 0),
            ("type A { b: [C!]! }", 11),
            ("# a b c\nscalar A", 2),
            ("\"a b \\\" c\" scalar A", 3),
            ("\"\"\"a \" b \\\"\"\" c\"\"\" scalar A", 3),
            ("enum E { A B, C }", 7),
            ("\"never closed", 1),
        ] {
            assert_eq!(tokens(text.as_bytes()), count, "{text}");
        }
    }

    #[test]
    fn white_space_of_other_alphabets_becomes_a_blank() {
        assert_eq!(prepared("\u{feff}a\u{3000}b\u{a0}").unwrap(), "a b ");
        assert!(matches!(prepared("“é”\tb\n").unwrap(), Cow::Borrowed(_)));
    }

    #[test]
    fn more_tokens_than_there_may_be_are_refused() {
        assert!(prepared(&"a ".repeat(TOKENS_MAX)).is_ok());
        assert!(matches!(prepared(&"a ".repeat(TOKENS_MAX + 1)), Err(SchemaError::TooManyTokens)));
    }
}

//! Characters of others, so that none can hide what a model reads from what a person sees.
//!
//! `\n` and `\t` stay, and `\r` before `\n`: texts have lines, and JSON writes all three as escapes. Two characters that
//! `pinhole_manifest::visible` would escape stay where they make an emoji what it is: one U+FE0F after a sign that has an
//! emoji form, and one U+200D between two emoji. Both carry at most a bit for each sign that is seen. In runs, after letters
//! and at the ends of texts they are escapes, because bytes can be smuggled in runs of variation selectors; so are the tags
//! that flags of regions are made of, which spell out letters, and the joiners of scripts.

use pinhole_manifest::visible::is_invisible;

const EMOJI_FORM: char = '\u{fe0f}';
const JOINER: char = '\u{200d}';
const KEYCAP: char = '\u{20e3}';

/// The text with every character that does not show as its escape, such as `\u{202e}`.
pub(super) fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    // What an emoji is so far: its sign, and whether a form was chosen for it.
    let (mut sign, mut formed) = (None, false);
    let mut blank = false;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied();
        let joins = |next: Option<char>| next.is_some_and(is_emoji);
        let stays = match c {
            '\n' | '\t' => true,
            '\r' => next == Some('\n'),
            EMOJI_FORM => {
                !formed && sign.is_some_and(|sign| is_emoji(sign) || (is_key(sign) && next == Some(KEYCAP)))
            }
            JOINER => sign.is_some_and(is_emoji) && joins(next),
            // One blank of another width is how people write; a run of them can spell out bits.
            c if is_blank(c) => !blank && !next.is_some_and(is_blank),
            c => !is_invisible(c) && !is_empty(c),
        };
        blank = is_blank(c);
        if stays {
            shown.push(c);
        } else {
            shown.extend(c.escape_unicode());
        }
        match c {
            EMOJI_FORM if stays => formed = true,
            // A tone belongs to the sign before it.
            '\u{1f3fb}'..='\u{1f3ff}' if sign.is_some_and(is_emoji) => formed = true,
            c => (sign, formed) = (Some(c).filter(|_| stays), false),
        }
    }
    shown
}

/// Spaces besides the usual one.
fn is_blank(c: char) -> bool {
    c != ' ' && c.is_whitespace() && !is_invisible(c)
}

/// What shows as nothing, or as whatever a font likes, without being a space: blank patterns and fillers, what is no
/// character, private use.
fn is_empty(c: char) -> bool {
    let code = u32::from(c);
    matches!(code,
        0x2800 | 0x2D7F | 0x1107F | 0x16FE4 | 0x1D159 | 0xE000..=0xF8FF | 0xF0000..=0x0010_FFFF | 0xFDD0..=0xFDEF)
        || code & 0xFFFE == 0xFFFE
}

/// What a keycap is made of.
fn is_key(c: char) -> bool {
    c.is_ascii_digit() || c == '#' || c == '*'
}

/// Signs that are emoji or have an emoji form: the blocks that Unicode's `emoji-data` draws them from.
fn is_emoji(c: char) -> bool {
    matches!(u32::from(c),
        0x00A9 | 0x00AE | 0x203C | 0x2049 | 0x2122 | 0x2139 | 0x2190..=0x21FF | 0x2300..=0x23FF | 0x24C2
        | 0x25A0..=0x27BF | 0x2934..=0x2935 | 0x2B00..=0x2BFF | 0x3030 | 0x303D | 0x3297 | 0x3299
        | 0x1F000..=0x1FAFF)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn emoji_and_lines_stay() {
        for text in [
            "Größe “x” — 東京 e\u{301}\n\tnext\r\n",
            "❤\u{fe0f} ©\u{fe0f}",
            "👩\u{200d}💻 👩🏽\u{200d}🚀 ❤\u{fe0f}\u{200d}🔥 👨\u{200d}👩\u{200d}👧",
            "🏳\u{fe0f}\u{200d}🌈 1\u{fe0f}\u{20e3} 🇩🇪",
        ] {
            assert_eq!(shown(text), text);
        }
    }

    #[test]
    fn what_hides_is_an_escape() {
        for (text, wanted) in [
            ("a\u{202e}b", "a\\u{202e}b"),
            ("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}"),
            ("\u{e0041}\u{e0042}", "\\u{e0041}\\u{e0042}"),
            ("a\rb", "a\\u{d}b"),
            ("\u{1b}[2J\0", "\\u{1b}[2J\\u{0}"),
            ("a\u{fe0f}", "a\\u{fe0f}"),
            ("1\u{fe0f}", "1\\u{fe0f}"),
            ("a\u{a0}b\u{2003}c", "a\u{a0}b\u{2003}c"),
            ("a\u{a0}\u{2003}b", "a\\u{a0}\\u{2003}b"),
            ("\u{2800}\u{e000}\u{10fffd}", "\\u{2800}\\u{e000}\\u{10fffd}"),
            ("❤\u{fe0f}\u{fe0f}", "❤\u{fe0f}\\u{fe0f}"),
            ("❤\u{fe0e}", "❤\\u{fe0e}"),
            ("😀\u{e0100}\u{e0101}", "😀\\u{e0100}\\u{e0101}"),
            ("👩\u{200d}", "👩\\u{200d}"),
            ("👩\u{200d}\u{200d}💻", "👩\\u{200d}\\u{200d}💻"),
            ("👩\u{200d}a", "👩\\u{200d}a"),
            ("a\u{200d}💻", "a\\u{200d}💻"),
            ("\u{2028}\u{85}", "\\u{2028}\\u{85}"),
        ] {
            assert_eq!(shown(text), wanted);
        }
    }

    proptest! {
        #[test]
        fn nothing_hides_beside_emoji(text in any::<String>(), odd in "[a❤👩💻\u{fe00}-\u{fe0f}\u{200d}\u{e0100}\u{1f3fb}\n]{0,12}") {
            for text in [text, odd] {
                let shown = shown(&text);
                let hidden = |c: &char| is_invisible(*c) && !"\n\t\r".contains(*c);
                let mut before = None;
                for c in shown.chars() {
                    if hidden(&c) {
                        prop_assert!(c == EMOJI_FORM || c == JOINER, "{c:?}");
                        // Never two of the same, and never at the start.
                        prop_assert!(before.is_some_and(|before| before != c), "{shown:?}");
                    }
                    before = Some(c);
                }
                prop_assert!(!shown.ends_with(JOINER));
                let visible_part = |text: &str| text.chars().filter(|c| !is_invisible(*c)).count();
                prop_assert!(visible_part(&shown) >= visible_part(&text));
                prop_assert_eq!(super::shown(&shown), shown);
            }
        }
    }
}

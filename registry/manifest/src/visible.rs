//! Characters that a reader would not see, or that change how the rest of a line is seen: what a manifest may not have in
//! its texts, and what is shown as an escape in everybody else's.

/// Whether a character is a control, a bidi control, or takes no room of its own: line and paragraph separators, joiners,
/// fillers, variation selectors, tags (Unicode categories Cc and Cf, Zl, Zp, and `Default_Ignorable_Code_Point`).
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c),
            0x00AD | 0x034F | 0x0600..=0x0605 | 0x061C | 0x06DD | 0x070F | 0x0890..=0x0891 | 0x08E2 | 0x115F..=0x1160
            | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0x3164
            | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB | 0x110BD | 0x110CD | 0x13430..=0x1343F
            | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF)
}

/// Whether a text is one line that shows every character it has.
pub fn is_plain_line(text: &str) -> bool {
    !text.chars().any(is_invisible)
}

/// The text with each such character as its escape, such as `\u{202e}`.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_invisible(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_known() {
        for c in [
            '\0',
            '\n',
            '\t',
            '\u{7f}',
            '\u{85}',
            '\u{200b}',
            '\u{202e}',
            '\u{2066}',
            '\u{2028}',
            '\u{feff}',
            '\u{e0041}',
        ] {
            assert!(is_invisible(c), "{c:?}");
        }
        assert!(is_plain_line("Größe “x” — 東京 🦀 e\u{301}"));
        assert!(!is_plain_line("two\nlines"));
        assert_eq!(visible("a\u{202e}b\n“é”"), "a\\u{202e}b\\u{a}“é”");
    }
}

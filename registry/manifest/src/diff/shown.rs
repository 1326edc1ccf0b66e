//! Texts of a manifest inside sentences about it: on one line, each character visible.
//!
//! A text that a person reads is shown whole: she may be asked for a yes to it. The limits are beyond the longest of those.

use crate::visible::visible;

/// Most characters of a text that stands beside a sentence.
const BESIDE_MAX: usize = 8_192;
/// Most characters of a text inside a sentence.
const INSIDE_MAX: usize = 1_100;
/// How many equal characters are shown before the first that differs.
const LEAD: usize = 30;

/// The first characters of a text.
pub(super) fn clip(text: &str) -> String {
    first(text, BESIDE_MAX)
}

/// A text in quotation marks.
pub(super) fn quoted(text: &str) -> String {
    format!("“{}”", first(text, INSIDE_MAX))
}

/// A name, a path or a value between backticks.
pub(super) fn code(text: &str) -> String {
    format!("`{}`", first(text, INSIDE_MAX).replace('`', "'"))
}

/// Names between backticks, in a row.
pub(super) fn codes<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    texts.into_iter().map(code).collect::<Vec<_>>().join(", ")
}

/// Two texts, each from shortly before the place where they part.
pub(super) fn differing(before: &str, after: &str) -> (String, String) {
    let same = before.chars().zip(after.chars()).take_while(|(a, b)| a == b).count();
    // Short texts stand whole.
    let whole = before.chars().count().max(after.chars().count()) <= BESIDE_MAX;
    let skipped = if whole { 0 } else { same.saturating_sub(LEAD) };
    let part = |text: &str| {
        let rest: String = text.chars().skip(skipped).collect();
        if skipped == 0 { clip(&rest) } else { format!("…{}", clip(&rest)) }
    };
    (part(before), part(after))
}

fn first(text: &str, most: usize) -> String {
    let mut shown = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == most {
            shown.push('…');
            break;
        }
        shown.push_str(&visible(c.encode_utf8(&mut [0; 4])));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_short_and_shows_itself() {
        assert_eq!(quoted("a\u{202e}b\n"), "“a\\u{202e}b\\u{a}”");
        assert_eq!(code("a`b"), "`a'b`");
        assert_eq!(clip(&"é".repeat(9_000)).chars().count(), BESIDE_MAX + 1);
    }

    #[test]
    fn two_long_texts_are_shown_where_they_part() {
        let same = "x".repeat(9_000);
        let (before, after) = differing(&format!("{same}old end"), &format!("{same}new end"));
        assert!(before.starts_with('…') && before.ends_with("old end"), "{before}");
        assert!(after.ends_with("new end") && after.chars().count() < 60, "{after}");
        assert_eq!(differing("a b", "a c"), ("a b".to_owned(), "a c".to_owned()));
        let (before, after) = differing(&same, "");
        assert!(before.chars().count() == BESIDE_MAX + 1 && after.is_empty());
    }
}

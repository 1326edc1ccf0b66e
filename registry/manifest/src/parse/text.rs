//! Texts with rules of their own: lines for people and models, days, values of headers.
//!
//! Refuses what would look like something else on a screen or mean something else to a server. DESIGN, "Manifest".

use super::reader::{Value, clip};
use crate::diagnostic::Code;
use crate::visible::is_invisible;

/// Longest name for people, in characters.
pub(super) const NAME_MAX: usize = 60;
/// Longest summary, confirm line or sentence, in characters.
pub(super) const LINE_MAX: usize = 300;
/// Longest help text, in characters.
pub(super) const HELP_MAX: usize = 500;
/// Longest header value, in bytes.
const HEADER_VALUE_MAX: usize = 1024;

/// A character that shows itself, and the same on every screen: not an invisible one, nor one for private use.
pub(crate) fn is_plain(c: char) -> bool {
    !is_invisible(c) && !matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
}

/// One line for people and models, of at most so many characters.
pub(super) fn line(value: &Value<'_>, most: usize) -> Option<String> {
    let text = value.text()?;
    let problem = if text.trim().is_empty() {
        "the text is empty".to_owned()
    } else if text.trim() != text {
        "the text starts or ends with white space".to_owned()
    } else if text.chars().count() > most {
        format!("the text has more than {most} characters")
    } else if let Some(c) = text.chars().find(|c| !is_plain(*c)) {
        format!("the text holds U+{:04X}, which does not show itself", u32::from(c))
    } else {
        return Some(text.to_owned());
    };
    value.fault(Code::Text, problem, format!("write one line of 1 to {most} visible characters"));
    None
}

/// A day, as `YYYY-MM-DD`.
pub(super) fn day(value: &Value<'_>) -> Option<String> {
    let text = value.text()?;
    if is_day(text) {
        return Some(text.to_owned());
    }
    value.fault(Code::Date, format!("`{}` is not a day", clip(text)), "write a day such as `2026-11-30`");
    None
}

fn is_day(text: &str) -> bool {
    let shape = text.len() == 10
        && text
            .bytes()
            .enumerate()
            .all(|(at, b)| if at == 4 || at == 7 { b == b'-' } else { b.is_ascii_digit() });
    let part =
        |range| text.get(range).and_then(|digits: &str| digits.parse::<u32>().ok()).unwrap_or_default();
    let (year, month, day) = (part(0..4), part(5..7), part(8..10));
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    shape && (1..=days).contains(&day) && year >= 2000
}

/// Whether a text may stand in a header's value: visible ASCII and inner blanks.
pub(super) fn is_header_text(text: &str) -> bool {
    text.bytes().all(|b| (0x20..=0x7e).contains(&b))
}

/// A whole header value.
pub(super) fn header_value(value: &Value<'_>, text: &str) -> bool {
    let good =
        !text.is_empty() && text.len() <= HEADER_VALUE_MAX && text.trim() == text && is_header_text(text);
    if !good {
        value.fault(
            Code::HeaderValue,
            "the value is empty, too long, or holds what a header cannot carry",
            "write visible ASCII characters, with blanks inside only",
        );
    }
    good
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_days_of_the_calendar() {
        for day in ["2026-11-30", "2024-02-29", "2000-02-29", "2026-12-31"] {
            assert!(is_day(day), "{day}");
        }
        for day in [
            "2026-02-29",
            "2100-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026-01-00",
            "2026-1-01",
            "+026-01-01",
            "2026-01-01 ",
            "",
            "1999-01-01",
            "2026-04-31",
        ] {
            assert!(!is_day(day), "{day}");
        }
    }

    #[test]
    fn plain_characters_show_themselves() {
        for c in ['a', ' ', 'ä', '“', '日', '🙂', '…'] {
            assert!(is_plain(c), "{c}");
        }
        for c in
            ['\0', '\n', '\u{85}', '\u{200b}', '\u{202e}', '\u{2066}', '\u{2028}', '\u{feff}', '\u{e0041}']
        {
            assert!(!is_plain(c), "U+{:04X}", u32::from(c));
        }
    }
}

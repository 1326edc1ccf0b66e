//! Texts of a description, made fit to stand in a manifest: one plain line, clipped.
//!
//! Drops mark-up, white space that is more than a blank, and every character that does not show itself. Says nothing of what a
//! text means: a person reads it before anybody trusts it. INVARIANT: what comes out is a line that [`crate::read`] takes.

use crate::parse::text::is_plain;

/// Longest text that is looked at, in characters.
const LOOKED_AT: usize = 4_000;
/// Longest tag that is taken for mark-up, in characters.
const TAG_MAX: usize = 300;

/// One plain line of at most so many characters; `None` where nothing is left.
pub(crate) fn line(text: &str, most: usize) -> Option<String> {
    let mut line = String::new();
    let mut blank = false;
    let chars: Vec<char> = text.chars().take(LOOKED_AT).collect();
    let mut at = 0_usize;
    while let Some(&c) = chars.get(at) {
        at = at.saturating_add(1);
        if c == '<'
            && let Some(length) = tag(chars.get(at..).unwrap_or_default())
        {
            at = at.saturating_add(length);
            blank = true;
        } else if c.is_whitespace() {
            blank = true;
        } else if c == ']'
            && let Some(length) = target(chars.get(at..).unwrap_or_default())
        {
            // `[text](https://…)` is its text.
            at = at.saturating_add(length);
            if let Some(open) = line.rfind('[') {
                line.remove(open);
            }
        } else if is_plain(c) {
            if blank && !line.is_empty() {
                line.push(' ');
            }
            blank = false;
            line.push(c);
        }
    }
    clipped(&line, most)
}

/// How many characters belong to a tag that has just been opened.
fn tag(rest: &[char]) -> Option<usize> {
    let named = rest.first().is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '!'));
    let end = rest.iter().take(TAG_MAX).position(|c| *c == '>')?;
    named.then(|| end.saturating_add(1))
}

/// How many characters the target of a link has, where one follows its text.
fn target(rest: &[char]) -> Option<usize> {
    let end = rest.iter().take(TAG_MAX).position(|c| *c == ')')?;
    let inner: String = rest.get(1..end)?.iter().collect();
    let is_link = rest.first() == Some(&'(') && (inner.starts_with("http") || inner.starts_with(['/', '#']));
    is_link.then(|| end.saturating_add(1))
}

/// Whole sentences or words of a line where they fit.
fn clipped(line: &str, most: usize) -> Option<String> {
    let line = line.trim();
    if line.chars().count() <= most {
        return (!line.is_empty()).then(|| line.to_owned());
    }
    let head: String = line.chars().take(most.saturating_sub(1)).collect();
    let sentence = head.rfind(". ").filter(|end| *end > head.len() / 2);
    if let Some(whole) = sentence.and_then(|end| head.get(..=end)) {
        return Some(whole.to_owned());
    }
    let words = head.rfind(' ').filter(|end| *end > head.len() / 2).and_then(|end| head.get(..end));
    Some(format!("{}…", words.unwrap_or(&head).trim_end()))
}

/// A text without the headings of its Markdown; where it has nothing else, the first of them without its mark.
fn without_headings(text: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut heading = None;
    for line in text.lines() {
        let trimmed = line.trim();
        let level = trimmed.len().saturating_sub(trimmed.trim_start_matches('#').len());
        let is_rule = |mark: char| trimmed.len() > 2 && trimmed.chars().all(|c| c == mark);
        if (1..=6).contains(&level) && trimmed.chars().nth(level).is_none_or(char::is_whitespace) {
            heading = heading.or(Some(trimmed.trim_matches(['#', ' ', '\t'])));
        } else if is_rule('=') || is_rule('-') {
            // The line above such a rule is a heading too.
            let above = kept.pop().map(str::trim).filter(|above| !above.is_empty());
            heading = heading.or(above);
        } else {
            kept.push(line);
        }
    }
    let is_blank = kept.iter().all(|line| line.trim().is_empty());
    if is_blank { heading.unwrap_or_default().to_owned() } else { kept.join("\n") }
}

/// The first sentence, or what fits of it. Headings are none.
pub(crate) fn sentence(text: &str, most: usize) -> Option<String> {
    let text: String = text.chars().take(LOOKED_AT).collect();
    let text = without_headings(&text);
    let text = text.trim_start();
    let paragraph = text.split("\n\n").next().unwrap_or(text);
    let line = line(paragraph, LOOKED_AT)?;
    let first = line.find(". ").and_then(|end| line.get(..=end)).unwrap_or(&line);
    clipped(first, most)
}

/// A text in which braces are no placeholders.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn mark_up_and_what_cannot_be_seen_is_dropped() {
        assert_eq!(line("<p>One\n  two</p><br/>three\u{202e}\u{0}", 80).as_deref(), Some("One two three"));
        assert_eq!(line("a < b and c > d", 80).as_deref(), Some("a < b and c > d"));
        assert_eq!(line(" \n\u{200b}", 80), None);
        assert_eq!(line("<b>", 80), None);
        assert_eq!(
            line("see [the guide](https://x.pinhole.dev/a), or [not](so)", 80).as_deref(),
            Some("see the guide, or [not](so)")
        );
    }

    #[test]
    fn a_long_text_ends_with_a_sentence_or_a_word() {
        assert_eq!(line("First one. Second one is longer.", 14).as_deref(), Some("First one."));
        assert_eq!(line("some words that go on", 13).as_deref(), Some("some words…"));
        assert_eq!(line(&"x".repeat(100), 10).as_deref(), Some("xxxxxxxxx…"));
        assert_eq!(sentence("Lists issues. Needs a scope.\n\nMore.", 80).as_deref(), Some("Lists issues."));
    }

    #[test]
    fn a_heading_is_no_sentence() {
        let says = |text: &str| sentence(text, 80).unwrap();
        assert_eq!(says("# Introduction\n\nThe API of shelves. More."), "The API of shelves.");
        assert_eq!(says("## Introduction ##\r\nThe API.\r\n\r\nMore."), "The API.");
        assert_eq!(says("Introduction\n====\n\n### Start\nThe API."), "The API.");
        assert_eq!(says("# Shelf API"), "Shelf API");
        assert_eq!(says("#1 in shelves"), "#1 in shelves");
    }

    proptest! {
        #[test]
        fn any_text_comes_out_as_a_line_of_its_length(text in any::<String>(), most in 2_usize..60) {
            for found in [line(&text, most), sentence(&text, most)].into_iter().flatten() {
                prop_assert!(found.chars().count() <= most, "{found:?}");
                prop_assert!(found.trim() == found && !found.is_empty() && found.chars().all(is_plain), "{found:?}");
            }
        }
    }
}

//! The faults of a file as people read them: each with its line and a caret under it.
//!
//! Quotes little, and only from what is meant to be a manifest: a window of the line, with characters that hide or reorder
//! as escapes. A file that is something else, such as a private key, is not quoted at all.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use pinhole_manifest::diagnostic::{Diagnostic, Severity};
use pinhole_manifest::visible::{is_invisible, visible};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::place;

/// Most faults of one file that are shown.
const SHOWN_MAX: usize = 50;
/// Most characters of a line that are quoted before, under and after a caret.
const BEFORE: usize = 60;
const UNDER: usize = 80;
const AFTER: usize = 60;

/// The first faults of a file, one text each, and how many there are besides.
pub(super) fn faults(path: &Path, bytes: &[u8], diagnostics: &[Diagnostic]) -> (Vec<String>, usize) {
    let text = String::from_utf8_lossy(bytes);
    let quoted: Option<&str> = is_meant_as_a_manifest(&text).then_some(&text);
    let path = visible(&path.display().to_string());
    let shown = diagnostics.iter().take(SHOWN_MAX).map(|one| fault(&path, quoted, one)).collect();
    (shown, diagnostics.len().saturating_sub(SHOWN_MAX))
}

/// Whether a file is a JSON object that says `pinhole`, or was to become one.
fn is_meant_as_a_manifest(text: &str) -> bool {
    match serde_json::from_str::<BTreeMap<String, &RawValue>>(text) {
        Ok(members) => members.contains_key("pinhole"),
        Err(error) if error.classify() == Category::Data => false,
        Err(_syntax) => text.trim_start().starts_with('{') && text.contains("\"pinhole\""),
    }
}

fn fault(path: &str, text: Option<&str>, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity() {
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let message = visible(&diagnostic.message);
    let help = visible(&diagnostic.help);
    let title = visible(&format!("{} ({})", place(diagnostic), diagnostic.code.as_str()));
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let origin = Origin::path(path).line(count(diagnostic.line)).char_column(count(diagnostic.column));
    let help = Group::with_title(Level::HELP.secondary_title(&help));
    let Some(text) = text else {
        let message = format!("{message}: {title}");
        return Renderer::plain().render(&[level.primary_title(&message).element(origin), help]);
    };
    let Window { text, span } = window(text, &diagnostic.span);
    let snippet = Snippet::source(text)
        .line_start(count(diagnostic.line))
        .annotation(AnnotationKind::Primary.span(span).label(&title));
    let report =
        Renderer::plain().render(&[level.primary_title(&message).element(origin).element(snippet), help]);
    // The place is the origin's, for the window does not know its column; the renderer then announces a nameless second file.
    let lines: Vec<&str> = report.lines().filter(|line| line.trim() != ":::").collect();
    lines.join("\n")
}

/// A part of a line that is safe to show, and what of it is at fault.
#[derive(Debug, PartialEq)]
struct Window {
    text: String,
    span: Range<usize>,
}

/// What is around the start of a span, on its line. A span that does not fit the text ends with it.
fn window(text: &str, span: &Range<usize>) -> Window {
    let start = text.floor_char_boundary(span.start);
    let (before, rest) = text.split_at_checked(start).unwrap_or((text, ""));
    let before = before.rsplit('\n').next().unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default();
    let end = line.floor_char_boundary(span.end.saturating_sub(start));
    let (under, after) = line.split_at_checked(end).unwrap_or((line, ""));

    let mut shown = String::new();
    let from = before.char_indices().rev().take(BEFORE).last().map_or(0, |(index, _)| index);
    if from > 0 {
        shown.push('…');
    }
    escape(&mut shown, before.get(from..).unwrap_or_default());
    let start = shown.len();
    let whole = push_first(&mut shown, under, UNDER);
    let span = start..shown.len();
    if !whole || !push_first(&mut shown, after, AFTER) {
        shown.push('…');
    }
    Window { text: shown, span }
}

/// Adds the first characters of a text; says whether they were all.
fn push_first(shown: &mut String, text: &str, most: usize) -> bool {
    let end = text.char_indices().nth(most).map_or(text.len(), |(index, _)| index);
    escape(shown, text.get(..end).unwrap_or_default());
    end == text.len()
}

/// Adds a text of one line with characters that hide or reorder as their escapes.
fn escape(shown: &mut String, text: &str) {
    for c in text.chars() {
        if is_invisible(c) && c != '\t' {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(window: &Window) -> &str {
        window.text.get(window.span.clone()).unwrap()
    }

    #[test]
    fn a_span_moves_with_what_is_escaped_before_it() {
        let text = "first\na\u{200b}\u{1b}\tbc\nlast";
        let at = text.find('b').unwrap();
        let shown = window(text, &(at..at + 1));
        assert_eq!(shown.text, "a\\u{200b}\\u{1b}\tbc");
        assert_eq!(marked(&shown), "b");
        // A span over a hidden character covers its whole escape.
        assert_eq!(marked(&window(text, &(7..10))), "\\u{200b}");
        for span in [0..0, 5..6, 8..9, Range { start: 3, end: 2 }, text.len()..text.len(), 90..99] {
            let shown = window(text, &span);
            assert!(shown.text.get(shown.span.clone()).is_some(), "{span:?}");
        }
        // What goes on over the end of a line is shown up to there.
        assert_eq!(marked(&window("one\ntwo\nthree", &(4..13))), "two");
    }

    #[test]
    fn a_long_line_is_a_window() {
        let line = "é".repeat(100_000);
        for (span, under) in
            [(0..2, 1), (100_000..100_004, 2), (100_000..180_000, UNDER), (199_998..200_000, 1)]
        {
            let shown = window(&line, &span);
            assert_eq!(marked(&shown).chars().count(), under, "{span:?}");
            assert!(shown.text.chars().count() <= BEFORE + UNDER + AFTER + 2, "{}", shown.text);
            assert_eq!(shown.text.starts_with('…'), span.start > 0);
            assert_eq!(shown.text.ends_with('…'), span.end < 200_000);
        }
    }

    #[test]
    fn only_what_is_meant_as_a_manifest_is_quoted() {
        for (text, quoted) in [
            (r#"{"pinhole": 1}"#, true),
            (r#"{"pinhole": 1,}"#, true),
            (r#" {"id": "x", "pinhole""#, true),
            (r#"{"secret": "x"}"#, false),
            (r#"{"secret": {"pinhole": 1}}"#, false),
            (r#"{"secret": "x""#, false),
            (r#"["pinhole"]"#, false),
            (r#""pinhole""#, false),
            ("-----BEGIN PRIVATE KEY-----", false),
            ("", false),
        ] {
            assert_eq!(is_meant_as_a_manifest(text), quoted, "{text}");
        }
    }
}

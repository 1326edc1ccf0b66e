//! The path of a request, and the shapes that a path may have. DESIGN, "Manifest": `path`, `page`, `module`.
//!
//! Refuses everything by which a path could name another host or another endpoint than a reviewer reads: full URLs, two
//! leading slashes, dot segments however encoded, hidden slashes. INVARIANT: literal text of a path is sent as it stands.

use super::reader::{Value, clip};
use super::template;
use super::uses::{Place, Uses};
use crate::diagnostic::Code;
use crate::model::{
    ModuleSegment, PathPattern, PathTemplate, PatternSegment, Piece, Template, is_dot_segment,
};

/// Longest path, in bytes.
const PATH_MAX: usize = 1024;

enum Segment {
    Filled(Template),
    Any,
}

/// The path of a request.
pub(super) fn template(value: &Value<'_>, uses: &mut Uses) -> Option<PathTemplate> {
    let segments = segments(value, uses)?;
    let filled: Option<Vec<_>> = segments
        .into_iter()
        .map(|segment| match segment {
            Segment::Filled(template) => Some(template),
            Segment::Any => wildcard(value, "`{*}` stands in a path shape only", "write `{arg}`"),
        })
        .collect();
    filled.map(PathTemplate)
}

/// A shape whose `{*}` segments may be anything.
pub(super) fn pattern(value: &Value<'_>) -> Option<PathPattern> {
    let segments = segments(value, &mut Uses::default())?;
    let shape: Option<Vec<_>> = segments
        .into_iter()
        .map(|segment| match segment {
            Segment::Any => Some(PatternSegment::Any),
            Segment::Filled(template) => match template.pieces() {
                [] => Some(PatternSegment::Literal(String::new())),
                [Piece::Literal(text)] => Some(PatternSegment::Literal(text.clone())),
                _ => wildcard(
                    value,
                    "a path shape has no args",
                    "write `{*}` for a segment that may be anything",
                ),
            },
        })
        .collect();
    shape.map(PathPattern)
}

/// The path of a module's request: whole segments are fixed, an arg, or anything.
pub(super) fn module(value: &Value<'_>, uses: &mut Uses) -> Option<Vec<ModuleSegment>> {
    let segments = segments(value, uses)?;
    segments
        .into_iter()
        .map(|segment| match segment {
            Segment::Any => Some(ModuleSegment::Any),
            Segment::Filled(template) => match template.pieces() {
                [] => Some(ModuleSegment::Literal(String::new())),
                [Piece::Literal(text)] => Some(ModuleSegment::Literal(text.clone())),
                [Piece::Arg(arg)] => Some(ModuleSegment::Arg(arg.clone())),
                _ => {
                    wildcard(value, "an arg is only a part of a segment", "let `{arg}` be the whole segment")
                }
            },
        })
        .collect()
}

fn wildcard<T>(value: &Value<'_>, message: &str, help: &str) -> Option<T> {
    value.fault(Code::PathWildcard, message, help);
    None
}

fn segments(value: &Value<'_>, uses: &mut Uses) -> Option<Vec<Segment>> {
    let Some(text) = value.text() else {
        uses.incomplete();
        return None;
    };
    if let Some((code, message, help)) = whole(text) {
        value.fault(code, message, help);
        uses.incomplete();
        return None;
    }
    let mut segments = Vec::new();
    let mut good = true;
    let mut rest = text.split('/').skip(1).peekable();
    while let Some(segment) = rest.next() {
        if segment.is_empty() && rest.peek().is_some() {
            value.fault(Code::PathEmptySegment, "a segment is empty", "write one slash between two segments");
            good = false;
        }
        match one(value, segment, uses) {
            Some(segment) => segments.push(segment),
            None => good = false,
        }
    }
    if !good {
        uses.incomplete();
    }
    good.then_some(segments)
}

/// What is wrong with a path as a whole.
fn whole(text: &str) -> Option<(Code, String, &'static str)> {
    let head = text.split(['/', '?', '#', '{']).next().unwrap_or_default();
    if head.contains(':') {
        return Some((
            Code::PathUrl,
            "a full URL stands for a path".to_owned(),
            "write the path alone, such as `/repos`",
        ));
    }
    if !text.starts_with('/') {
        return Some((
            Code::PathRelative,
            format!("`{}` does not start with a slash", clip(text)),
            "write `/` before it",
        ));
    }
    if text.starts_with("//") {
        return Some((Code::PathAuthority, "two slashes name another host".to_owned(), "write one slash"));
    }
    if text.contains(['?', '#']) {
        let message = "a query or fragment stands in the path".to_owned();
        return Some((Code::PathQuery, message, "write the query in `query`, and leave the fragment out"));
    }
    if text.len() > PATH_MAX {
        return Some((Code::OutOfRange, "the path has more than 1,024 bytes".to_owned(), "shorten it"));
    }
    None
}

fn one(value: &Value<'_>, segment: &str, uses: &mut Uses) -> Option<Segment> {
    if segment == "{*}" {
        return Some(Segment::Any);
    }
    if segment.contains("{*}") {
        return wildcard(value, "`{*}` is only a part of a segment", "let `{*}` be the whole segment");
    }
    let template = template::text(value, segment, Place::Path, uses)?;
    for piece in template.pieces() {
        let Piece::Literal(text) = piece else { continue };
        if let Some(c) = text.chars().find(|c| !is_segment_character(*c)) {
            let message = format!("U+{:04X} has no place in a path", u32::from(c));
            value.fault(
                Code::PathCharacter,
                message,
                "write letters, digits and `-._~!$&'()*+,;=:@`, or an escape such as `%20`",
            );
            return None;
        }
        if !escapes_are_good(text) {
            let message = "a `%` is not a valid escape, or hides a slash, a backslash or a control character";
            value.fault(Code::PathEscape, message, "write `%` and two hexadecimal digits");
            return None;
        }
    }
    if let [Piece::Literal(text)] = template.pieces()
        && is_dot_segment(text)
    {
        value.fault(
            Code::PathDotSegment,
            format!("`{}` leads to another path", clip(text)),
            "write the path without it",
        );
        return None;
    }
    Some(Segment::Filled(template))
}

/// RFC 3986, section 3.3: `pchar`, with `%` for escapes.
fn is_segment_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@%".contains(c)
}

fn escapes_are_good(text: &str) -> bool {
    text.split('%').skip(1).all(|rest| {
        let hex = rest.get(..2).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        byte.is_some_and(|byte| !byte.is_ascii_control() && !matches!(byte, b'/' | b'\\'))
    })
}

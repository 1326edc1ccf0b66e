//! The path and the query of a request.
//!
//! Refuses a segment that is empty, dotted or holds a control character once it is filled. Values are percent-encoded
//! but for the unreserved characters of RFC 3986, section 2.3, so that a value is data wherever it stands: a `/` stays
//! `%2F`, and a `%` that was in a value stays `%25`.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use pinhole_manifest::ArgName;
use pinhole_manifest::model::{Args, PathTemplate, Piece, QueryParam, Template};
use serde_json::Value;

use super::RenderError;
use super::fill::{fill_text, required, scalar};

/// All but `A-Z a-z 0-9 - . _ ~`.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What a literal segment may not show as it is: all but `pchar` (RFC 3986, section 3.3). A `%` is left: the manifest
/// has it only in escapes.
const NOT_PCHAR: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'/')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Percent-encodes a value so that no character of it is syntax.
pub(super) fn encode(text: &str) -> impl Iterator<Item = &str> {
    utf8_percent_encode(text, RESERVED)
}

/// A text as a whole segment of a path.
pub fn encoded_segment(text: &str) -> String {
    encode(text).collect()
}

/// Appends `key=value` to pairs joined by `&`.
pub(super) fn push_pair(pairs: &mut String, key: &str, value: &str) {
    if !pairs.is_empty() {
        pairs.push('&');
    }
    pairs.extend(encode(key));
    pairs.push('=');
    pairs.extend(encode(value));
}

/// The path: as many segments as the template has.
pub(super) fn path(template: &PathTemplate, args: &Args) -> Result<String, RenderError> {
    let mut path = String::new();
    for segment in template.segments() {
        path.push('/');
        push_segment(&mut path, segment, args)?;
    }
    if path.is_empty() {
        path.push('/');
    }
    Ok(path)
}

fn push_segment(path: &mut String, template: &Template, args: &Args) -> Result<(), RenderError> {
    let mut first_arg: Option<&ArgName> = None;
    // What a URL reader sees after decoding: there `%2e` of a literal and `.` of a value make `..` together.
    let mut decoded = Vec::new();
    for piece in template.pieces() {
        match piece {
            Piece::Literal(literal) => {
                path.extend(utf8_percent_encode(literal, NOT_PCHAR));
                decoded.extend(percent_decode_str(literal));
            }
            Piece::Arg(name) => {
                let value = required(name, args)?;
                if value.chars().any(char::is_control) {
                    return Err(RenderError::ControlCharacter { arg: name.clone() });
                }
                path.extend(encode(&value));
                decoded.extend_from_slice(value.as_bytes());
                first_arg.get_or_insert(name);
            }
        }
    }
    // A segment without an arg was judged when the manifest was read.
    let Some(arg) = first_arg else {
        return Ok(());
    };
    // Some servers drop what stands behind a `;` before they resolve dots.
    match decoded.split(|byte| *byte == b';').next() {
        None | Some(b"") => Err(RenderError::EmptySegment { arg: arg.clone() }),
        Some(b"." | b"..") => Err(RenderError::DotSegment { arg: arg.clone() }),
        _ => Ok(()),
    }
}

/// Appends `?` and the query, if any parameter has a value. A parameter whose one optional arg is absent, or an empty
/// array, is left out.
pub(super) fn append_query(
    target: &mut String,
    params: &[QueryParam],
    args: &Args,
) -> Result<(), RenderError> {
    let mut pairs = String::new();
    for param in params {
        for value in query_values(param, args)? {
            push_pair(&mut pairs, &param.key, &value);
        }
    }
    if !pairs.is_empty() {
        target.push('?');
        target.push_str(&pairs);
    }
    Ok(())
}

fn query_values<'a>(param: &QueryParam, args: &'a Args) -> Result<Vec<Cow<'a, str>>, RenderError> {
    let Some(name) = param.value.sole_arg() else {
        return Ok(vec![Cow::Owned(fill_text(&param.value, args)?)]);
    };
    let not_scalar = || RenderError::NotScalar { arg: name.clone() };
    let elements = match args.get(name) {
        None => return Ok(Vec::new()),
        Some(Value::Array(elements)) => elements,
        Some(value) => return Ok(vec![scalar(value).ok_or_else(not_scalar)?]),
    };
    let mut texts = Vec::with_capacity(elements.len());
    for element in elements {
        texts.push(scalar(element).ok_or_else(not_scalar)?);
    }
    let Some(separator) = &param.join else { return Ok(texts) };
    if texts.iter().any(|text| text.contains(separator.as_str())) {
        return Err(RenderError::SeparatorInElement { arg: name.clone() });
    }
    if texts.is_empty() { Ok(texts) } else { Ok(vec![Cow::Owned(texts.join(separator))]) }
}

//! Values into templates: the text of a scalar, a text with placeholders, a JSON value with placeholders.
//!
//! Refuses whatever is not a single value where a text is wanted. Encodes nothing: that belongs to the place where the
//! text ends up. DESIGN, "Manifest": placeholders.

use std::borrow::Cow;

use pinhole_manifest::ArgName;
use pinhole_manifest::model::{Args, JsonTemplate, Piece, Template};
use pinhole_manifest::visible::is_invisible;
use serde_json::{Map, Value};

use super::RenderError;

/// Fills a text, such as a confirm line, with the values as they are: whoever shows it makes control characters visible.
/// Every placeholder needs a scalar.
pub fn fill_text(template: &Template, args: &Args) -> Result<String, RenderError> {
    let mut text = String::new();
    for piece in template.pieces() {
        match piece {
            Piece::Literal(literal) => text.push_str(literal),
            Piece::Arg(name) => text.push_str(&required(name, args)?),
        }
    }
    Ok(text)
}

/// Most characters of a value in a confirm line; the whole of it stands among the args.
const CONFIRM_VALUE_CHARS: usize = 100;

/// Fills a confirm line, so that no value passes for a part of the line: what does not show and what quotes is an escape,
/// and a long value is clipped.
pub fn fill_confirm(template: &Template, args: &Args) -> Result<String, RenderError> {
    let mut line = String::new();
    for piece in template.pieces() {
        match piece {
            Piece::Literal(literal) => line.push_str(literal),
            Piece::Arg(name) => confirm_value(&required(name, args)?, &mut line),
        }
    }
    Ok(line)
}

fn confirm_value(value: &str, line: &mut String) {
    for c in value.chars().take(CONFIRM_VALUE_CHARS) {
        if is_invisible(c) || "“”„‟«»‹›\"".contains(c) {
            line.extend(c.escape_unicode());
        } else {
            line.push(c);
        }
    }
    if value.chars().nth(CONFIRM_VALUE_CHARS).is_some() {
        line.push('…');
    }
}

/// Fills a JSON value. A sole placeholder keeps its JSON type; `None`, or a left-out member or element inside, is one
/// whose arg is absent.
pub fn fill_json(template: &JsonTemplate, args: &Args) -> Result<Option<Value>, RenderError> {
    Ok(match template {
        JsonTemplate::Literal(value) => Some(value.clone()),
        JsonTemplate::Arg(name) => args.get(name).cloned(),
        JsonTemplate::Text(text) => Some(Value::String(fill_text(text, args)?)),
        JsonTemplate::Array(elements) => {
            let mut filled = Vec::with_capacity(elements.len());
            for element in elements {
                filled.extend(fill_json(element, args)?);
            }
            Some(Value::Array(filled))
        }
        JsonTemplate::Object(members) => {
            let mut filled = Map::new();
            for (key, member) in members {
                if let Some(value) = fill_json(member, args)? {
                    filled.insert(key.clone(), value);
                }
            }
            Some(Value::Object(filled))
        }
    })
}

/// The text of a scalar arg that must be there.
pub(super) fn required<'a>(name: &ArgName, args: &'a Args) -> Result<Cow<'a, str>, RenderError> {
    let value = args.get(name).ok_or_else(|| RenderError::Missing { arg: name.clone() })?;
    scalar(value).ok_or_else(|| RenderError::NotScalar { arg: name.clone() })
}

/// The text of a scalar: a string as it is, an integer in plain digits, another number in its shortest form, `true` or
/// `false`. `null` has none.
pub(crate) fn scalar(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(number.to_string())),
        Value::Bool(true) => Some(Cow::Borrowed("true")),
        Value::Bool(false) => Some(Cow::Borrowed("false")),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

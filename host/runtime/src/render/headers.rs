//! The headers of a request, without the credential.
//!
//! Refuses a value that is not a field value of RFC 9110, section 5.5, in its visible ASCII part, so that no value ends a
//! header or begins another. Names come from the manifest alone.

use std::collections::BTreeMap;

use pinhole_manifest::model::{Args, Piece, Template};

use super::fill::required;
use super::{Part, RenderError};

/// The manifest's headers, then the op's, then `content-type`. No name stands twice: a manifest that sets one in both
/// places, or `content-type` in any, does not load.
pub(super) fn render(
    fixed: &BTreeMap<String, String>,
    own: &[(String, Template)],
    content_type: Option<&str>,
    args: &Args,
) -> Result<Vec<(String, String)>, RenderError> {
    let mut headers: Vec<(String, String)> = Vec::with_capacity(fixed.len().saturating_add(own.len()));
    headers.extend(fixed.iter().map(|(name, value)| (name.clone(), value.clone())));
    for (name, template) in own {
        if template.sole_arg().is_some_and(|arg| args.get(arg).is_none()) {
            continue;
        }
        headers.push((name.clone(), value(template, args)?));
    }
    headers.extend(content_type.map(|media_type| ("content-type".to_owned(), media_type.to_owned())));
    Ok(headers)
}

fn value(template: &Template, args: &Args) -> Result<String, RenderError> {
    let mut value = String::new();
    let mut first_arg = None;
    for piece in template.pieces() {
        match piece {
            Piece::Literal(literal) => value.push_str(literal),
            Piece::Arg(name) => {
                let text = required(name, args)?;
                if !text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) {
                    return Err(RenderError::HeaderValue { arg: name.clone() });
                }
                value.push_str(&text);
                first_arg.get_or_insert(name);
            }
        }
    }
    // Readers trim a value: what was sent and what was read would differ.
    match first_arg {
        Some(arg) if value.is_empty() || value.trim_matches([' ', '\t']) != value => {
            Err(RenderError::HeaderValue { arg: arg.clone() })
        }
        _ => {
            Part::Header.check(value.len())?;
            Ok(value)
        }
    }
}

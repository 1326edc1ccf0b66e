//! From the body of an operation to the body and args of an op.
//!
//! Refuses a body that is neither JSON nor a form. INVARIANT: a member that the description requires is there in every request,
//! or the op is refused.

use serde_json::{Map, Value};

use super::request::{Around, MEMBERS_MAX, is_key, text_if_untyped};
use super::sketch::{Input, No, Sketch};
use super::subset::Subset;
use crate::draft::RefusedReason as Reason;
use crate::finding::quoted;
use crate::model::is_method_key;
use crate::openapi::operation::{Content, Posted};
use crate::openapi::parts::Parts;

/// The body of the request.
pub(super) fn body<'d>(
    around: &Around<'_>,
    posted: Option<&Posted<'d>>,
    subset: &Subset<'_, 'd>,
    sketch: &mut Sketch,
) -> Result<(), No> {
    let Some(posted) = posted else { return Ok(()) };
    if matches!(around.method, "GET" | "HEAD") {
        if posted.is_required {
            return Err(No::new(Reason::BodyType, format!("{} with a body is not sent", around.method)));
        }
        return Ok(());
    }
    if !matches!(posted.media.as_str(), "application/json" | "application/x-www-form-urlencoded" | "*/*")
        && matches!(posted.content, Content::Json(_))
    {
        let media = quoted(&posted.media);
        sketch.note(
            "/request",
            format!("the service wants `{media}`, and a manifest sends `application/json`"),
        );
    }
    match &posted.content {
        Content::Json(schema) => {
            let parts = schema.map(|schema| subset.reader.parts(schema)).unwrap_or_default();
            json_body(posted, &parts, subset, sketch)
        }
        Content::Form(schema) => {
            let parts = schema.map(|schema| subset.reader.parts(schema)).unwrap_or_default();
            let body = fields_of(&parts, "the form field", subset, sketch)?;
            done("form", posted, body, sketch)
        }
        Content::Fields(fields) => {
            let mut body = Map::new();
            for field in fields {
                let parts = field.parts(subset.reader);
                let (what, description) = ("the form field", field.description());
                let is_required = field.is_required;
                let input = Input { name: field.name, what, parts: &parts, description, is_required };
                add(&input, subset, sketch, &mut body)?;
            }
            done("form", posted, body, sketch)
        }
        Content::Other(media) if posted.is_required || !matches!(around.method, "DELETE") => {
            Err(No::new(Reason::BodyType, format!("its body is `{}`", quoted(media))))
        }
        Content::Other(_) => Ok(()),
    }
}

fn json_body<'d>(
    posted: &Posted<'d>,
    parts: &Parts<'d>,
    subset: &Subset<'_, 'd>,
    sketch: &mut Sketch,
) -> Result<(), No> {
    let types = parts.types();
    if types.is_empty() || types.contains("object") {
        let body = fields_of(parts, "the member", subset, sketch)?;
        return done("json", posted, body, sketch);
    }
    let is_required = posted.is_required;
    let input = Input { name: "body", what: "the whole body", parts, description: None, is_required };
    if let Some(arg) = sketch.declare(&input, subset.arg(parts))? {
        sketch.body = Some(("json", format!("{{{arg}}}").into()));
    }
    Ok(())
}

/// An arg for each member of a body.
fn fields_of<'d>(
    parts: &Parts<'d>,
    what: &'static str,
    subset: &Subset<'_, 'd>,
    sketch: &mut Sketch,
) -> Result<Map<String, Value>, No> {
    let mut body = Map::new();
    let required = parts.required();
    if required != parts.required_somewhere() {
        sketch.note(
            "/args",
            "the description has alternatives with required members of their own: say which is meant",
        );
    }
    let mut members: Vec<_> = parts.members(subset.reader).into_iter().collect();
    members.sort_by_key(|(name, _)| !required.contains(name));
    for (name, member) in members {
        let is_required = required.contains(name);
        if member.says("readOnly") || (member.says("deprecated") && !is_required) {
            continue;
        }
        add(
            &Input { name, what, parts: &member, description: None, is_required },
            subset,
            sketch,
            &mut body,
        )?;
    }
    if let Some(missing) =
        required.iter().find(|name| !body.contains_key(**name) && !parts.names().contains(**name))
    {
        let message = format!("the member `{}` is required, and not described", quoted(missing));
        return Err(No::new(Reason::ArgInexpressible, message));
    }
    Ok(body)
}

fn add<'d>(
    input: &Input<'_, 'd>,
    subset: &Subset<'_, 'd>,
    sketch: &mut Sketch,
    body: &mut Map<String, Value>,
) -> Result<(), No> {
    let is_form = input.what == "the form field";
    if is_method_key(input.name) || !is_key(input.name) || (is_form && body.len() >= MEMBERS_MAX) {
        if input.is_required {
            return Err(No::new(
                Reason::ArgInexpressible,
                format!("the member `{}` cannot be sent", quoted(input.name)),
            ));
        }
        return Ok(());
    }
    // A text of several lines in a form is still a text; a file is none.
    let schema = if is_form { text_if_untyped(subset.arg(input.parts)) } else { subset.arg(input.parts) };
    if let Some(arg) = sketch.declare(input, schema)? {
        body.insert(input.name.to_owned(), format!("{{{arg}}}").into());
    }
    Ok(())
}

fn done(
    word: &'static str,
    posted: &Posted<'_>,
    body: Map<String, Value>,
    sketch: &mut Sketch,
) -> Result<(), No> {
    if body.is_empty() && posted.is_required {
        return Err(No::new(
            Reason::ArgInexpressible,
            "it requires a body, of which no member could be said",
        ));
    }
    if !body.is_empty() {
        sketch.body = Some((word, body.into()));
    }
    Ok(())
}

//! The body of a request: JSON, a form, or a GraphQL document with its variables.
//!
//! Refuses a form value that has no form notation. A GraphQL document leaves exactly as the manifest has it: values go
//! into the variables and nowhere else. DESIGN, "Manifest": request.

use pinhole_manifest::model::{Args, Body, JsonTemplate};
use serde_json::{Map, Value};

use super::fill::{fill_json, scalar};
use super::target::push_pair;
use super::{Change, RenderError};

/// A body and what it is.
pub(super) struct Content {
    /// Its `content-type`.
    pub(super) media_type: &'static str,
    /// Its bytes.
    pub(super) bytes: Vec<u8>,
}

/// The body, if the request has one. A JSON body that is one absent optional arg is none.
pub(super) fn render(body: &Body, args: &Args, change: &Change<'_>) -> Result<Option<Content>, RenderError> {
    match body {
        Body::None => Ok(None),
        Body::Json(template) => fill_json(template, args)?.as_ref().map(json).transpose(),
        Body::Form(fields) => {
            let pairs = form(fields, args)?;
            let media_type = "application/x-www-form-urlencoded";
            Ok(Some(Content { media_type, bytes: pairs.into_bytes() }))
        }
        Body::Graphql { document, variables } => {
            let mut payload = Map::new();
            payload.insert("query".to_owned(), Value::String(document.clone()));
            if let Some(mut variables) = fill_json(variables, args)? {
                if let (Change::Variable(name, value), Value::Object(members)) = (change, &mut variables) {
                    members.insert((*name).to_owned(), Value::String((*value).to_owned()));
                }
                payload.insert("variables".to_owned(), variables);
            }
            json(&Value::Object(payload)).map(Some)
        }
    }
}

fn json(value: &Value) -> Result<Content, RenderError> {
    let bytes = serde_json::to_vec(value).or(Err(RenderError::Unwritable))?;
    Ok(Content { media_type: "application/json", bytes })
}

/// Pairs in the manifest's order. An array repeats its key as written (`expand[]`); an object, an array of objects and
/// what lies in them get brackets: `card[number]`, `items[0][price]`, `items[0][tags][]`.
fn form(fields: &[(String, JsonTemplate)], args: &Args) -> Result<String, RenderError> {
    let mut pairs = String::new();
    for (key, template) in fields {
        if let Some(value) = fill_json(template, args)? {
            let complete = push_value(&mut pairs, key, key, &value);
            complete.ok_or_else(|| RenderError::FormShape { key: key.clone() })?;
        }
    }
    Ok(pairs)
}

/// Appends a value under `key`. `array_key` is the key for the scalars of an array. `None` where a form has no notation
/// for the value.
fn push_value(pairs: &mut String, key: &str, array_key: &str, value: &Value) -> Option<()> {
    match value {
        Value::Array(elements) => {
            let stem = key.strip_suffix("[]").unwrap_or(key);
            for (place, element) in elements.iter().enumerate() {
                match element {
                    Value::Object(members) => push_members(pairs, &format!("{stem}[{place}]"), members)?,
                    _ => push_pair(pairs, array_key, &scalar(element)?),
                }
            }
        }
        Value::Object(members) => push_members(pairs, key, members)?,
        _ => push_pair(pairs, key, &scalar(value)?),
    }
    Some(())
}

fn push_members(pairs: &mut String, key: &str, members: &Map<String, Value>) -> Option<()> {
    for (name, value) in members {
        // A bracket in a name would be read as structure.
        if name.contains(['[', ']']) {
            return None;
        }
        let key = format!("{key}[{name}]");
        push_value(pairs, &key, &format!("{key}[]"), value)?;
    }
    Some(())
}

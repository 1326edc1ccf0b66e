//! From the parameters of an operation to the path, query, headers and args of an op.
//!
//! Refuses what a request of a manifest cannot be: a cookie, an open path, a header of the host's. INVARIANT: what the description
//! requires is there in every request, or the op is refused.

use serde_json::{Map, Value, json};

use super::sketch::{Input, No, Sketch};
use super::subset::{Inexpressible, Subset};
use crate::draft::RefusedReason as Reason;
use crate::draft::texts::escaped;
use crate::finding::quoted;
use crate::model::is_method_key;
use crate::openapi::operation::{Looked, Parameter, Place, Spread};
use crate::openapi::parts::Parts;
use crate::parse::is_free_header;

/// Most query parameters, headers or form fields.
pub(super) const MEMBERS_MAX: usize = 100;

/// What goes on around the parameters of an operation.
pub(super) struct Around<'a> {
    pub(super) method: &'a str,
    pub(super) base: &'a str,
    pub(super) path: &'a str,
    /// The header that carries the key, in lower case.
    pub(super) credential: &'a str,
    /// The query parameter that carries pages on, and so is no arg.
    pub(super) page: Option<&'a str>,
}

/// The path of the request, its placeholders renamed; declares an arg for each.
pub(super) fn path<'d>(
    around: &Around<'_>,
    looked: &Looked<'d>,
    subset: &Subset<'_, 'd>,
    sketch: &mut Sketch,
) -> Result<String, No> {
    let refuse = |why: &str| Err(No::new(Reason::Path, format!("its path {why}")));
    if around.path.contains(['?', '#']) {
        return refuse("holds a query or a fragment");
    }
    if !around.path.starts_with('/') {
        return refuse("does not start with a slash");
    }
    let mut path = escaped(around.base);
    let mut known: Vec<(&str, String)> = Vec::new();
    let mut rest = around.path;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else {
            return refuse("has a brace that is not closed");
        };
        path.push_str(before);
        rest = after;
        if let Some((_, arg)) = known.iter().find(|(one, _)| *one == name) {
            path.extend(["{", arg, "}"]);
            continue;
        }
        let arg = segment(name, looked, subset, sketch)?;
        path.extend(["{", &arg, "}"]);
        known.push((name, arg));
    }
    path.push_str(rest);
    Ok(path)
}

/// The arg of a placeholder in the path.
fn segment<'d>(
    name: &str,
    looked: &Looked<'d>,
    subset: &Subset<'_, 'd>,
    sketch: &mut Sketch,
) -> Result<String, No> {
    let found = looked.parameters.iter().find(|one| one.place == Place::Path && one.name == name);
    let parts = found.map(|one| one.parts(subset.reader)).unwrap_or_default();
    let description = found.and_then(Parameter::description);
    if found.is_none() {
        sketch.note("/request/path", format!("the description has no parameter `{}`", quoted(name)));
    }
    if found.is_some_and(|one| one.node.get("allowReserved") == Some(&Value::Bool(true)))
        || name.starts_with('+')
    {
        return Err(No::new(Reason::Path, format!("`{}` fills more than one segment", quoted(name))));
    }
    if parts.always("pattern").and_then(Value::as_str).is_some_and(|pattern| pattern.contains('/')) {
        sketch.note("/request/path", format!("`{}` may hold a slash, which is sent as %2F", quoted(name)));
    }
    let input = Input { name, what: "the path parameter", parts: &parts, description, is_required: true };
    let schema = text_if_untyped(subset.arg(&parts)).map(|schema| match schema.get("type") {
        Some(kind) if kind == "array" || kind == "object" => text(),
        _ => schema,
    });
    let arg = sketch.declare(&input, schema)?;
    arg.ok_or_else(|| No::new(Reason::ArgInexpressible, "a path parameter finds no arg"))
}

/// The query and headers of the request.
pub(super) fn parameters<'d>(
    around: &Around<'_>,
    looked: &Looked<'d>,
    subset: &Subset<'_, 'd>,
    sketch: &mut Sketch,
) -> Result<(), No> {
    let mut list: Vec<&Parameter<'d>> = looked.parameters.iter().collect();
    list.sort_by_key(|one| !one.is_required);
    for parameter in list {
        let left_out = !parameter.is_required && parameter.is_deprecated();
        match parameter.place {
            Place::Query if around.page == Some(parameter.name) || left_out => {}
            Place::Query => query(parameter, subset, sketch)?,
            Place::Header if !left_out => header(parameter, around, subset, sketch)?,
            Place::Cookie if parameter.is_required => {
                return Err(No::new(
                    Reason::Cookie,
                    format!("it requires the cookie `{}`", quoted(parameter.name)),
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

fn query<'d>(parameter: &Parameter<'d>, subset: &Subset<'_, 'd>, sketch: &mut Sketch) -> Result<(), No> {
    let key = parameter.name;
    let shown = quoted(key);
    let parts = parameter.parts(subset.reader);
    let no_key = is_method_key(key) || !is_key(key) || sketch.query.len() >= MEMBERS_MAX;
    let unsendable = parameter.spread == Spread::Other && parts.types().contains("array");
    if no_key || unsendable || parameter.node.contains_key("content") {
        if parameter.is_required {
            return Err(No::new(
                Reason::ArgInexpressible,
                format!("the query parameter `{shown}` cannot be sent"),
            ));
        }
        sketch.note("/request", format!("the query parameter `{shown}` was left out: it cannot be sent"));
        return Ok(());
    }
    if parts.types().contains("object") && parts.types().len() == 1 {
        return members(parameter, &parts, subset, sketch);
    }
    let (what, description) = ("the query parameter", parameter.description());
    let input = Input { name: key, what, parts: &parts, description, is_required: parameter.is_required };
    let schema = text_if_untyped(subset.arg(&parts)).and_then(of_scalars);
    let is_array = schema.as_ref().is_ok_and(|it| it.get("type").is_some_and(|kind| kind == "array"));
    let Some(arg) = sketch.declare(&input, schema)? else { return Ok(()) };
    let value = match parameter.spread {
        Spread::Joined(join) if is_array => json!({ "value": format!("{{{arg}}}"), "join": join }),
        _ => Value::from(format!("{{{arg}}}")),
    };
    sketch.query.insert(key.to_owned(), value);
    Ok(())
}

/// A query parameter that is an object: each member is an arg of its own.
fn members<'d>(
    parameter: &Parameter<'d>,
    parts: &Parts<'d>,
    subset: &Subset<'_, 'd>,
    sketch: &mut Sketch,
) -> Result<(), No> {
    let required = parts.required();
    let before = sketch.query.len();
    for (name, member) in parts.members(subset.reader) {
        let key = match parameter.spread {
            Spread::Deep => format!("{}[{name}]", parameter.name),
            Spread::Repeated => name.to_owned(),
            _ => break,
        };
        let is_required = parameter.is_required && required.contains(name);
        let what = "the query parameter";
        let input = Input { name: &key, what, parts: &member, description: None, is_required };
        if is_method_key(&key) || !is_key(&key) || sketch.query.len() >= MEMBERS_MAX {
            continue;
        }
        let schema = subset.arg(&member).and_then(of_scalars);
        if let Some(arg) = sketch.declare(&input, schema)? {
            sketch.query.insert(key, format!("{{{arg}}}").into());
        }
    }
    if parameter.is_required && sketch.query.len() == before {
        let message =
            format!("the query parameter `{}` is an object that cannot be sent", quoted(parameter.name));
        return Err(No::new(Reason::ArgInexpressible, message));
    }
    Ok(())
}

fn header<'d>(
    parameter: &Parameter<'d>,
    around: &Around<'_>,
    subset: &Subset<'_, 'd>,
    sketch: &mut Sketch,
) -> Result<(), No> {
    let name = parameter.name.to_ascii_lowercase();
    // OpenAPI: these are said elsewhere, and a parameter of such a name is ignored.
    if matches!(name.as_str(), "accept" | "content-type" | "authorization") || name == around.credential {
        return Ok(());
    }
    if !is_free_header(&name, around.credential) || sketch.headers.len() >= MEMBERS_MAX {
        if parameter.is_required {
            return Err(No::new(Reason::Header, format!("it requires the header `{}`", quoted(&name))));
        }
        return Ok(());
    }
    let parts = parameter.parts(subset.reader);
    let (what, description) = ("the header", parameter.description());
    let input = Input { name: &name, what, parts: &parts, description, is_required: parameter.is_required };
    let schema = text_if_untyped(subset.arg(&parts)).and_then(|schema| match schema.get("type") {
        Some(kind) if kind == "array" || kind == "object" => Err(Inexpressible::Type),
        _ => Ok(schema),
    });
    if let Some(arg) = sketch.declare(&input, schema)? {
        sketch.headers.insert(name, format!("{{{arg}}}").into());
    }
    Ok(())
}

/// A key as `read` takes it.
pub(super) fn is_key(key: &str) -> bool {
    (1..=128).contains(&key.len())
        && key.chars().all(|c| crate::parse::text::is_plain(c) && !c.is_whitespace())
}

fn text() -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), Value::from("string"))])
}

/// What stands in a URL or a form is a text, whatever else it is.
pub(super) fn text_if_untyped(
    schema: Result<Map<String, Value>, Inexpressible>,
) -> Result<Map<String, Value>, Inexpressible> {
    if schema == Err(Inexpressible::Untyped) { Ok(text()) } else { schema }
}

/// In a query an array holds single values.
fn of_scalars(schema: Map<String, Value>) -> Result<Map<String, Value>, Inexpressible> {
    let kind = |schema: &Value| schema.get("type").and_then(Value::as_str).map(str::to_owned);
    let inner = schema.get("items").and_then(kind);
    let own = schema.get("type").and_then(Value::as_str);
    if own == Some("object") || inner.is_some_and(|inner| inner == "object" || inner == "array") {
        return Err(Inexpressible::Type);
    }
    Ok(schema)
}

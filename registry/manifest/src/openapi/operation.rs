//! What an operation takes and gives, the same for every version of the description.
//!
//! Refuses nothing: what it cannot make sense of is said to be of another kind. INVARIANT: a parameter of an operation stands
//! in for one of the path that has the same name and place.

use serde_json::{Map, Value};

use super::description::{Dialect, Operation};
use super::parts::Parts;
use super::reader::{Reader, RefTrouble};

/// Where a parameter goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Path,
    Query,
    Header,
    Cookie,
    /// A form field (Swagger 2.0).
    Field,
    /// The whole body (Swagger 2.0).
    Body,
}

/// How the elements of an array stand in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spread {
    /// The key is repeated.
    Repeated,
    /// The elements are joined by this.
    Joined(&'static str),
    /// Members in brackets behind the key.
    Deep,
    /// Not as this program could send it.
    Other,
}

/// One parameter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameter<'d> {
    pub(super) name: &'d str,
    pub(super) place: Place,
    pub(super) is_required: bool,
    /// Its type: the parameter itself in Swagger 2.0.
    pub(super) schema: Option<&'d Value>,
    pub(super) node: &'d Map<String, Value>,
    pub(super) spread: Spread,
}

impl<'d> Parameter<'d> {
    pub(super) fn parts(&self, reader: &Reader<'d>) -> Parts<'d> {
        self.schema.map(|schema| reader.parts(schema)).unwrap_or_default()
    }

    pub(super) fn description(&self) -> Option<&'d str> {
        self.node.get("description").and_then(Value::as_str)
    }

    pub(super) fn is_deprecated(&self) -> bool {
        self.node.get("deprecated") == Some(&Value::Bool(true))
    }
}

/// What the body of a request may be.
#[derive(Debug)]
pub(super) enum Content<'d> {
    /// JSON of this schema; `None` where the description has none.
    Json(Option<&'d Value>),
    /// A form of this schema.
    Form(Option<&'d Value>),
    /// A form of these fields (Swagger 2.0).
    Fields(Vec<Parameter<'d>>),
    /// Something else, by its media type.
    Other(String),
}

/// The body of a request.
#[derive(Debug)]
pub(super) struct Posted<'d> {
    pub(super) is_required: bool,
    pub(super) content: Content<'d>,
    /// The media type that the description has.
    pub(super) media: String,
}

/// What an answer holds.
#[derive(Debug, Clone)]
pub(super) enum Held<'d> {
    Nothing,
    /// JSON of this schema; `None` where the description has none.
    Json(Option<&'d Value>),
    /// Something else, by its media type.
    Other(String),
}

/// One answer.
#[derive(Debug, Clone)]
pub(super) struct Answer<'d> {
    /// `200`, `2XX`, `default`.
    pub(super) status: &'d str,
    pub(super) held: Held<'d>,
    /// Whether it has a `Link` header.
    pub(super) has_link: bool,
}

impl Answer<'_> {
    pub(super) fn is_success(&self) -> bool {
        self.status.len() == 3 && self.status.starts_with('2')
    }

    pub(super) fn is_failure(&self) -> bool {
        self.status.len() == 3 && self.status.starts_with(['4', '5'])
    }
}

/// An operation that has been looked at.
#[derive(Debug)]
pub(super) struct Looked<'d> {
    pub(super) parameters: Vec<Parameter<'d>>,
    pub(super) body: Option<Posted<'d>>,
    pub(super) answers: Vec<Answer<'d>>,
}

/// Looks at an operation. `Err` where a reference could not be followed that everything hangs on.
pub(super) fn look<'d>(
    operation: &Operation<'d>,
    dialect: Dialect,
    reader: &Reader<'d>,
    root: &'d Value,
) -> Result<Looked<'d>, RefTrouble> {
    let mut parameters: Vec<Parameter<'d>> = Vec::new();
    for list in [operation.item.get("parameters"), operation.node.get("parameters")].into_iter().flatten() {
        for node in list.as_array().into_iter().flatten() {
            let Some(parameter) = parameter(reader.follow(node)?, dialect) else { continue };
            reader.spend(parameters.len())?;
            let same = |one: &Parameter<'_>| one.name == parameter.name && one.place == parameter.place;
            match parameters.iter_mut().find(|one| same(one)) {
                Some(known) => *known = parameter,
                None => parameters.push(parameter),
            }
        }
    }
    let body = match dialect {
        Dialect::OpenApi3 => match operation.node.get("requestBody") {
            Some(node) => reader.object(node)?.and_then(|body| posted(body, reader)),
            None => None,
        },
        Dialect::Swagger2 => posted_2(&mut parameters, operation, root),
    };
    let mut answers = Vec::new();
    let responses = operation.node.get("responses").and_then(Value::as_object);
    for (status, node) in responses.into_iter().flatten().filter(|(status, _)| !status.starts_with("x-")) {
        let held = match reader.object(node) {
            Ok(Some(answer)) => {
                let held = match dialect {
                    Dialect::OpenApi3 => held(answer, reader),
                    Dialect::Swagger2 => held_2(answer, operation, root),
                };
                (held, has_link(answer))
            }
            // What cannot be looked at may hold anything.
            Ok(None) | Err(_) => (Held::Json(None), false),
        };
        answers.push(Answer { status, held: held.0, has_link: held.1 });
    }
    Ok(Looked { parameters, body, answers })
}

fn parameter(value: &Value, dialect: Dialect) -> Option<Parameter<'_>> {
    let node = value.as_object()?;
    let text = |name: &str| node.get(name).and_then(Value::as_str);
    let place = match text("in")? {
        "path" => Place::Path,
        "query" => Place::Query,
        "header" => Place::Header,
        "cookie" => Place::Cookie,
        "formData" => Place::Field,
        "body" => Place::Body,
        _ => return None,
    };
    let name = text("name").or((place == Place::Body).then_some("body"))?;
    let is_required = node.get("required") == Some(&Value::Bool(true)) || place == Place::Path;
    let (schema, spread) = match dialect {
        Dialect::OpenApi3 => (node.get("schema"), spread(node, place)),
        Dialect::Swagger2 if place == Place::Body => (node.get("schema"), Spread::Other),
        Dialect::Swagger2 => (Some(value), spread_2(text("collectionFormat"))),
    };
    Some(Parameter { name, place, is_required, schema, node, spread })
}

/// OpenAPI 3: `style` and `explode`.
fn spread(node: &Map<String, Value>, place: Place) -> Spread {
    if node.contains_key("content") {
        return Spread::Other;
    }
    let default = if place == Place::Query { "form" } else { "simple" };
    let style = node.get("style").and_then(Value::as_str).unwrap_or(default);
    let explode = node.get("explode").and_then(Value::as_bool).unwrap_or(style == "form");
    match (style, explode) {
        ("form" | "spaceDelimited" | "pipeDelimited", true) => Spread::Repeated,
        ("form" | "simple", _) => Spread::Joined(","),
        ("spaceDelimited", false) => Spread::Joined(" "),
        ("pipeDelimited", false) => Spread::Joined("|"),
        ("deepObject", _) => Spread::Deep,
        _ => Spread::Other,
    }
}

/// Swagger 2.0: `collectionFormat`.
fn spread_2(format: Option<&str>) -> Spread {
    match format {
        None | Some("csv") => Spread::Joined(","),
        Some("ssv") => Spread::Joined(" "),
        Some("pipes") => Spread::Joined("|"),
        Some("multi") => Spread::Repeated,
        Some(_) => Spread::Other,
    }
}

/// Whether a media type is JSON that a client of `application/json` gets along with.
fn is_json(media: &str) -> bool {
    let bare = bare(media);
    bare == "application/json"
        || bare == "text/json"
        || bare == "*/*"
        || bare == "application/*"
        || (bare.starts_with("application/") && bare.ends_with("+json"))
}

/// A media type without its parameters, in lower case.
fn bare(media: &str) -> String {
    media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The JSON of some content: `application/json` before its relatives.
fn json_in(content: &Map<String, Value>) -> Option<(&String, &Value)> {
    let exact = content.iter().find(|(media, _)| bare(media) == "application/json");
    exact.or_else(|| content.iter().find(|(media, _)| is_json(media)))
}

fn posted<'d>(body: &'d Map<String, Value>, reader: &Reader<'d>) -> Option<Posted<'d>> {
    let is_required = body.get("required") == Some(&Value::Bool(true));
    let content = body.get("content").and_then(Value::as_object).filter(|content| !content.is_empty())?;
    let schema = |holder: &'d Value| reader.object(holder).ok().flatten().and_then(|it| it.get("schema"));
    if let Some((media, holder)) = json_in(content) {
        let content = Content::Json(schema(holder));
        return Some(Posted { is_required, content, media: bare(media) });
    }
    let form = content.iter().find(|(media, _)| bare(media) == "application/x-www-form-urlencoded");
    if let Some((media, holder)) = form {
        return Some(Posted { is_required, content: Content::Form(schema(holder)), media: bare(media) });
    }
    let media = content.keys().next().map(|media| bare(media)).unwrap_or_default();
    Some(Posted { is_required, content: Content::Other(media.clone()), media })
}

fn held<'d>(answer: &'d Map<String, Value>, reader: &Reader<'d>) -> Held<'d> {
    let Some(content) = answer.get("content").and_then(Value::as_object).filter(|it| !it.is_empty()) else {
        return Held::Nothing;
    };
    if let Some((_, holder)) = json_in(content) {
        return Held::Json(reader.object(holder).ok().flatten().and_then(|it| it.get("schema")));
    }
    Held::Other(content.keys().next().map(|media| bare(media)).unwrap_or_default())
}

fn has_link(answer: &Map<String, Value>) -> bool {
    let headers = answer.get("headers").and_then(Value::as_object);
    headers.into_iter().flatten().any(|(name, _)| name.eq_ignore_ascii_case("link"))
}

/// The media types of a Swagger 2.0 operation: its own, or the document's.
fn media_2<'d>(word: &str, operation: &Operation<'d>, root: &'d Value) -> Vec<String> {
    let own = operation.node.get(word).and_then(Value::as_array);
    let list = own.or_else(|| root.get(word).and_then(Value::as_array));
    list.into_iter().flatten().filter_map(Value::as_str).map(bare).collect()
}

/// Takes the body out of the parameters of a Swagger 2.0 operation.
fn posted_2<'d>(
    parameters: &mut Vec<Parameter<'d>>,
    operation: &Operation<'d>,
    root: &'d Value,
) -> Option<Posted<'d>> {
    let consumes = media_2("consumes", operation, root);
    let (posted, rest): (Vec<_>, Vec<_>) =
        parameters.drain(..).partition(|one| matches!(one.place, Place::Body | Place::Field));
    *parameters = rest;
    let is_required = posted.iter().any(|one| one.is_required);
    if let Some(body) = posted.iter().find(|one| one.place == Place::Body) {
        let json = consumes.iter().find(|media| is_json(media));
        let (content, media) = match (json, consumes.first()) {
            (None, Some(other)) => (Content::Other(other.clone()), other.clone()),
            (json, _) => {
                let media = json.map_or_else(|| "application/json".to_owned(), Clone::clone);
                (Content::Json(body.schema), media)
            }
        };
        return Some(Posted { is_required, content, media });
    }
    if posted.is_empty() {
        return None;
    }
    let form = "application/x-www-form-urlencoded";
    let is_file = |one: &Parameter<'_>| one.node.get("type").and_then(Value::as_str) == Some("file");
    let multipart = consumes.iter().any(|media| media == "multipart/form-data");
    let plain = consumes.iter().any(|media| media == form);
    if posted.iter().any(|one| is_file(one) && one.is_required) || (multipart && !plain) {
        let media = "multipart/form-data".to_owned();
        return Some(Posted { is_required, content: Content::Other(media.clone()), media });
    }
    let fields = posted.into_iter().filter(|one| !is_file(one)).collect();
    Some(Posted { is_required, content: Content::Fields(fields), media: form.to_owned() })
}

fn held_2<'d>(answer: &'d Map<String, Value>, operation: &Operation<'d>, root: &'d Value) -> Held<'d> {
    let Some(schema) = answer.get("schema") else { return Held::Nothing };
    let produces = media_2("produces", operation, root);
    if schema.get("type").and_then(Value::as_str) == Some("file") {
        return Held::Other(produces.into_iter().next().unwrap_or_else(|| "a file".to_owned()));
    }
    match produces.first() {
        Some(first) if !produces.iter().any(|media| is_json(media)) => Held::Other(first.clone()),
        _ => Held::Json(Some(schema)),
    }
}

//! What an op sends: method, path, query, headers, body. DESIGN, "Manifest": request.
//!
//! Refuses a method that does not go with the op's access, and keys and headers that would make it another.
//! INVARIANT: where a part is `None` a fault was reported.

use super::body::{self, BodyDraft};
use super::names;
use super::op::ServiceContext;
use super::path;
use super::reader::{At, Faults, Object, Value};
use super::template;
use super::text;
use super::uses::{Place, Uses};
use crate::Access;
use crate::diagnostic::Code;
use crate::model::{Body, Method, PathTemplate, Piece, QueryParam, Request, Template};

/// Most query parameters, headers or form fields.
const MEMBERS_MAX: usize = 100;
/// Longest `join`, in characters.
const JOIN_MAX: usize = 4;

/// The words for methods.
pub(crate) const METHODS: [(&str, Method); 6] = [
    ("GET", Method::Get),
    ("HEAD", Method::Head),
    ("POST", Method::Post),
    ("PUT", Method::Put),
    ("PATCH", Method::Patch),
    ("DELETE", Method::Delete),
];

/// A request as far as it could be read.
#[derive(Debug)]
pub(super) struct RequestDraft {
    pub(super) at: At,
    pub(super) method: Option<Method>,
    pub(super) path: Option<PathTemplate>,
    pub(super) query: Vec<QueryParam>,
    headers: Vec<(String, Template)>,
    pub(super) body: BodyDraft,
    pub(super) reads: Reads,
}

/// Whether a POST is said to look only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    Unsaid,
    Said,
}

impl RequestDraft {
    pub(super) fn build(self) -> Option<Request> {
        Some(Request {
            method: self.method?,
            path: self.path?,
            query: self.query,
            headers: self.headers,
            body: self.body.body?,
        })
    }

    /// The names of its headers.
    pub(super) fn header_names(&self) -> impl Iterator<Item = &str> {
        self.headers.iter().map(|(name, _)| name.as_str())
    }
}

/// Reads a request. What cannot be read is reported, and said to `uses`.
pub(super) fn request(
    value: &Value<'_>,
    context: &ServiceContext<'_>,
    uses: &mut Uses,
) -> Option<RequestDraft> {
    let Some(mut object) = value.object() else {
        uses.incomplete();
        return None;
    };
    let method = object.required("method").and_then(|value| value.word(&METHODS));
    let path = if let Some(value) = object.required("path") {
        path::template(&value, uses)
    } else {
        uses.incomplete();
        None
    };
    let query = object.optional("query").map(|value| query(&value, uses)).unwrap_or_default();
    let headers = object.optional("headers").map(|value| headers(&value, context, uses)).unwrap_or_default();
    let body = body::body(&mut object, uses);
    let reads = reads(&mut object);
    object.finish();
    Some(RequestDraft { at: value.at.clone(), method, path, query, headers, body, reads })
}

/// `"reads": true`, or nothing.
pub(super) fn reads(object: &mut Object<'_>) -> Reads {
    let Some(value) = object.optional("reads") else { return Reads::Unsaid };
    if value.flag() == Some(false) {
        value.fault(Code::ReadsMisplaced, "`reads` says nothing when it is false", "leave it out");
    }
    Reads::Said
}

fn count(value: &Value<'_>, members: usize) {
    if members > MEMBERS_MAX {
        value.fault(Code::OutOfRange, format!("there are {members} members"), "keep at most 100");
    }
}

fn query(value: &Value<'_>, uses: &mut Uses) -> Vec<QueryParam> {
    let Some(entries) = value.entries() else {
        uses.incomplete();
        return Vec::new();
    };
    count(value, entries.len());
    let mut query = Vec::new();
    for (key, entry) in &entries {
        names::key(entry, key);
        match param(key, entry, uses) {
            Some(param) => query.push(param),
            None => uses.incomplete(),
        }
    }
    query
}

fn param(key: &str, entry: &Value<'_>, uses: &mut Uses) -> Option<QueryParam> {
    if let crate::json::Node::Object(_) = entry.node {
        let mut object = entry.object()?;
        let content = object.required("value");
        let join = object.required("join");
        object.finish();
        let content = content?;
        let value = template::text(&content, content.text()?, Place::Joined, uses)?;
        let join = join?;
        let separator = separator(&join)?;
        if value.sole_arg().is_none() {
            content.fault(
                Code::JoinMisplaced,
                "only an array arg alone is joined",
                "write `{arg}`, or leave `join` out",
            );
            return None;
        }
        return Some(QueryParam { key: key.to_owned(), value, join: Some(separator) });
    }
    let crate::json::Node::String(content) = entry.node else {
        return entry.wrong("a text, or an object with `value` and `join`");
    };
    let value = template::text(entry, content, Place::Query, uses)?;
    Some(QueryParam { key: key.to_owned(), value, join: None })
}

/// What joins an array's elements; a blank is one of the usual ones.
fn separator(value: &Value<'_>) -> Option<String> {
    let text = value.text()?;
    let good = (1..=JOIN_MAX).contains(&text.chars().count()) && text.chars().all(text::is_plain);
    if !good {
        value.fault(
            Code::Text,
            "this cannot join the elements",
            "write 1 to 4 visible characters, such as `,`",
        );
    }
    good.then(|| text.to_owned())
}

fn headers(value: &Value<'_>, context: &ServiceContext<'_>, uses: &mut Uses) -> Vec<(String, Template)> {
    let Some(entries) = value.entries() else {
        uses.incomplete();
        return Vec::new();
    };
    count(value, entries.len());
    let mut headers = Vec::new();
    for (name, entry) in &entries {
        if names::header(entry, name, context.credential) && context.headers.contains_key(*name) {
            repeated(entry, name);
        }
        let template = entry.text().and_then(|content| template::text(entry, content, Place::Header, uses));
        match template {
            Some(template) => {
                header_value(entry, &template);
                headers.push(((*name).to_owned(), template));
            }
            None => uses.incomplete(),
        }
    }
    headers
}

/// Reports a header that is set elsewhere too.
pub(super) fn repeated(value: &Value<'_>, name: &str) {
    let message = format!("the header `{name}` is set in another place too");
    value.faults.add_at_key(Code::HeaderRepeated, &value.at, message, "set it in one of the two");
}

fn header_value(entry: &Value<'_>, template: &Template) {
    // An arg stands for one visible character: what it may hold is checked when the request is rendered.
    let sample: String = template
        .pieces()
        .iter()
        .map(|piece| match piece {
            Piece::Literal(text) => text.as_str(),
            Piece::Arg(_) => "x",
        })
        .collect();
    text::header_value(entry, &sample);
}

/// Whether the method goes with what the op is said to do.
pub(super) fn check_method(access: Access, draft: &RequestDraft, faults: &Faults) {
    let Some(method) = draft.method else { return };
    let at = draft.at.name("method");
    let said = draft.reads == Reads::Said;
    let reads_misplaced = |why: &str| {
        faults.add_at_key(Code::ReadsMisplaced, &draft.at.name("reads"), why, "leave `reads` out");
    };
    if draft.body.is_graphql {
        if method != Method::Post {
            faults.add(
                Code::GraphqlMethod,
                &at,
                format!("a GraphQL document is not sent by {}", method.as_str()),
                "write `POST`",
            );
        } else if said {
            reads_misplaced("a GraphQL document says itself whether it reads");
        }
        return;
    }
    let has_body = !matches!(draft.body.body, Some(Body::None) | None);
    match access {
        Access::Write if method.is_safe() => {
            let message = format!("{} changes nothing, and the op is a write", method.as_str());
            faults.add(
                Code::WriteMethod,
                &at,
                message,
                "write `POST`, `PUT`, `PATCH` or `DELETE`, or make it a read",
            );
        }
        Access::Write if said => reads_misplaced("the op is a write"),
        Access::Read if said && method != Method::Post => {
            reads_misplaced("only a POST needs to say that it reads");
        }
        Access::Read if !said && !method.is_safe() => {
            let message = format!("{} may change something, and the op is a read", method.as_str());
            let help =
                "write `GET`; or `\"reads\": true` beside a POST that only searches; or make it a write";
            faults.add(Code::ReadMethod, &at, message, help);
        }
        Access::Read if method.is_safe() && has_body => {
            faults.add(
                Code::BodyMisplaced,
                &at,
                format!("{} has no body", method.as_str()),
                "leave the body out",
            );
        }
        Access::Read | Access::Write => {}
    }
}

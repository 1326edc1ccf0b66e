//! One operation as an op of a manifest.
//!
//! Refuses what a request of a manifest cannot be, with a reason. A guess is on the careful side, and noted: what may spend or
//! delete is said to. INVARIANT: a drafted confirm line begins with `Draft:`, so that it shows wherever a person is asked.

use std::cell::Cell;

use serde_json::{Map, Value};

use super::auth::{Chosen, Served};
use super::request::{self, Around};
use super::sketch::{No, Sketch};
use super::subset::Subset;
use super::{body, page, pick};
use crate::draft::RefusedReason as Reason;
use crate::draft::secrets::{self, Topic, speaks_of};
use crate::draft::texts::{escaped, sentence};
use crate::draft::words::words;
use crate::openapi::description::{Description, Operation};
use crate::openapi::operation::{self, Held};
use crate::openapi::reader::{Reader, RefTrouble};
use crate::openapi::servers::{self, Server};

/// Longest summary, in characters.
const SUMMARY_MAX: usize = 160;
/// Longest confirm line, in characters: shorter than a manifest may have it.
const CONFIRM_MAX: usize = 280;
/// What every drafted confirm line begins with.
pub(super) const DRAFT: &str = "Draft:";

/// What drafting an op needs to know of the rest.
pub(super) struct Context<'c, 'd> {
    pub(super) description: &'d Description,
    pub(super) reader: &'c Reader<'d>,
    pub(super) server: &'c Server,
    pub(super) auth: &'c Chosen,
    pub(super) patterns: &'c Cell<u32>,
}

/// An op that was drafted.
#[derive(Debug)]
pub(super) struct Drafted {
    pub(super) op: Value,
    pub(super) is_read: bool,
    pub(super) scopes: Vec<String>,
    /// Where in the op, and what.
    pub(super) notes: Vec<(String, String)>,
    /// Where failures keep their text.
    pub(super) message: Option<&'static str>,
}

/// Drafts one operation.
pub(super) fn op<'d>(operation: &Operation<'d>, context: &Context<'_, 'd>) -> Result<Drafted, No> {
    let Context { description, reader, auth, .. } = *context;
    reader.begin();
    if matches!(operation.method, "OPTIONS" | "TRACE") {
        return Err(No::new(Reason::Method, format!("a manifest has no {}", operation.method)));
    }
    let scopes = match auth.serves(operation) {
        Served::Yes(scopes) => scopes,
        Served::No(why) => return Err(No::new(Reason::Auth, why)),
    };
    let base = base(operation, context)?;
    let looked = operation::look(operation, description.dialect(), reader, description.root())
        .map_err(|trouble| troubled(&trouble))?;
    let is_read = matches!(operation.method, "GET" | "HEAD");
    let mut sketch = Sketch::default();
    let paged = page::page(&looked, operation.method, reader);
    let page_query = paged.as_ref().and_then(|paged| paged.query.as_deref());
    let around = Around {
        method: operation.method,
        base: &base,
        path: operation.path,
        credential: auth.header(),
        page: page_query,
    };
    let subset = Subset::new(reader, context.patterns);
    let path = untangled(request::path(&around, &looked, &subset, &mut sketch), reader)?;
    untangled(request::parameters(&around, &looked, &subset, &mut sketch), reader)?;
    untangled(body::body(&around, looked.body.as_ref(), &subset, &mut sketch), reader)?;
    sketch.note_left_out(&subset);
    let topic = topic(operation, &mut sketch);
    let found = untangled(pick::pick(&looked, is_read, operation.method, topic, reader), reader)?;
    if let Some(note) = found.note {
        sketch.note("/pick", note);
    }
    let mut op = Map::new();
    let mut set = |name: &str, value: Value| drop(op.insert(name.to_owned(), value));
    set("access", if is_read { "read" } else { "write" }.into());
    set("summary", summary(operation).into());
    set("args", sketch.args());
    if !is_read {
        let (effect, is_final) = effect(operation);
        sketch.note("/confirm", "write the question that a person answers");
        sketch.note(
            "/effect",
            format!("`{effect}` is a guess: say what the op does, and whether it can be undone"),
        );
        set("confirm", confirm(operation, &sketch.said).into());
        set("effect", effect.into());
        set("irreversible", is_final.into());
    }
    if is_read && paged.is_some() {
        sketch.note("/page", "see whether the service has its pages so");
    }
    set("request", request_of(operation.method, path, &mut sketch));
    if let Some(paged) = paged {
        set("page", paged.page);
    }
    set("pick", found.pick);
    if operation.is_deprecated() {
        sketch.note("", "the description says that it is deprecated");
    }
    let message = message(&looked, reader);
    Ok(Drafted { op: op.into(), is_read, scopes, notes: sketch.notes, message })
}

/// What the operation speaks of, in its id, its summary and its path; notes where it is secrets.
fn topic(operation: &Operation<'_>, sketch: &mut Sketch) -> Topic {
    let path: Vec<&str> = operation.path.split('/').filter(|part| !part.contains('{')).collect();
    let said = [operation.id().unwrap_or_default(), &summary(operation), &path.join("/")].join(" ");
    let Some(word) = speaks_of(&said) else { return Topic::Other };
    sketch.note("", secrets::about_the_op(&word));
    Topic::Secrets
}

fn request_of(method: &str, path: String, sketch: &mut Sketch) -> Value {
    let mut request = Map::new();
    request.insert("method".to_owned(), method.into());
    request.insert("path".to_owned(), path.into());
    for (name, members) in [("query", &mut sketch.query), ("headers", &mut sketch.headers)] {
        if !members.is_empty() {
            request.insert(name.to_owned(), std::mem::take(members).into());
        }
    }
    if let Some((word, body)) = sketch.body.take() {
        request.insert(word.to_owned(), body);
    }
    request.into()
}

fn troubled(trouble: &RefTrouble) -> No {
    let reason = match trouble {
        RefTrouble::Remote(_) => Reason::RemoteReference,
        RefTrouble::Nowhere(_) => Reason::BrokenReference,
        RefTrouble::Budget => Reason::TooComplex,
    };
    No::new(reason, trouble.says())
}

/// Says that a reference was at fault where something could not be said because of one.
fn untangled<T>(result: Result<T, No>, reader: &Reader<'_>) -> Result<T, No> {
    result.map_err(|no| match (no.reason, reader.trouble()) {
        (Reason::ArgInexpressible | Reason::NothingToPick, Some(trouble)) => troubled(&trouble),
        _ => no,
    })
}

/// The path before the operation's own: its servers, the path's, or the document's.
fn base(operation: &Operation<'_>, context: &Context<'_, '_>) -> Result<String, No> {
    let Some(own) = servers::own(operation.node).or_else(|| servers::own(operation.item)) else {
        return Ok(context.server.base.clone());
    };
    let here = |server: &Server| server.host == context.server.host;
    if let Some(server) = own.iter().filter_map(|one| one.as_ref().ok()).find(|server| here(server)) {
        return Ok(server.base.clone());
    }
    let why = match own.into_iter().next() {
        Some(Err(fault)) => fault.to_string(),
        Some(Ok(server)) => format!("it has a host of its own, `{}`", server.host),
        None => "it has a host of its own".to_owned(),
    };
    Err(No::new(Reason::OtherHost, why))
}

fn text<'d>(operation: &Operation<'d>, name: &str) -> Option<&'d str> {
    operation.node.get(name).and_then(Value::as_str)
}

fn summary(operation: &Operation<'_>) -> String {
    let said = text(operation, "summary").and_then(|text| sentence(text, SUMMARY_MAX));
    let said = said.or_else(|| text(operation, "description").and_then(|text| sentence(text, SUMMARY_MAX)));
    said.unwrap_or_else(|| plain(operation))
}

fn plain(operation: &Operation<'_>) -> String {
    let path = sentence(operation.path, 100).unwrap_or_default();
    format!("{} {path}", operation.method).trim().to_owned()
}

/// `Draft: Create an issue (owner {owner}, repo {repo})?`
fn confirm(operation: &Operation<'_>, said: &[String]) -> String {
    let summary = text(operation, "summary").or_else(|| text(operation, "description"));
    let what = summary.and_then(|text| sentence(text, 100)).unwrap_or_else(|| plain(operation));
    let what = escaped(what.trim_end_matches(['.', '?', '!', ' ']));
    let mut line = format!("{DRAFT} {what}");
    let mut args = String::new();
    for name in said {
        let gap = if args.is_empty() { "" } else { ", " };
        let next = format!("{gap}{name} “{{{name}}}”");
        let length = |text: &str| text.chars().count();
        if length(&line).saturating_add(length(&args)).saturating_add(length(&next)) > CONFIRM_MAX {
            break;
        }
        args.push_str(&next);
    }
    if !args.is_empty() {
        line.extend([" (", &args, ")"]);
    }
    line.push('?');
    line
}

/// What a write does, on the careful side, and whether it is taken for final.
fn effect(operation: &Operation<'_>) -> (&'static str, bool) {
    const DELETE: [&str; 14] = [
        "archive",
        "cancel",
        "close",
        "deactivate",
        "delete",
        "destroy",
        "disable",
        "erase",
        "purge",
        "remove",
        "revoke",
        "terminate",
        "uninstall",
        "void",
    ];
    const SPEND: [&str; 16] = [
        "bill", "buy", "capture", "charge", "charges", "checkout", "order", "orders", "pay", "payment",
        "payments", "payout", "payouts", "purchase", "refund", "transfer",
    ];
    const SEND: [&str; 14] = [
        "broadcast",
        "comment",
        "email",
        "emails",
        "invite",
        "mail",
        "message",
        "messages",
        "notify",
        "post",
        "publish",
        "reply",
        "send",
        "sms",
    ];
    let mut said = words(operation.id().unwrap_or_default());
    let tail = operation.path.rsplit('/').find(|part| !part.is_empty() && !part.contains('{'));
    said.extend(words(tail.unwrap_or_default()));
    let has = |list: &[&str]| said.iter().any(|word| list.contains(&word.as_str()));
    match operation.method {
        "DELETE" => ("delete", true),
        _ if has(&DELETE) => ("delete", true),
        _ if has(&SPEND) => ("spend", true),
        "POST" if has(&SEND) => ("send", true),
        "POST" => ("create", false),
        _ => ("update", false),
    }
}

/// Where the failures of an operation keep their text, if all that are described have it in one place.
fn message<'d>(looked: &operation::Looked<'d>, reader: &Reader<'d>) -> Option<&'static str> {
    const PLACES: [&str; 8] =
        ["message", "error.message", "error_message", "error_description", "detail", "error", "title", "msg"];
    let failures = looked.answers.iter().filter(|one| one.is_failure() || one.status == "default");
    let schemas: Vec<_> = failures
        .filter_map(|one| match one.held {
            Held::Json(Some(schema)) => Some(reader.parts(schema)),
            _ => None,
        })
        .filter(|parts| !parts.is_open())
        .collect();
    if schemas.is_empty() {
        return None;
    }
    PLACES.into_iter().find(|place| schemas.iter().all(|parts| page::has_text(parts, place, reader)))
}

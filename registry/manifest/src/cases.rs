//! A case: args, the exact exchanges that they lead to, and what must come of it. DESIGN, "Cases".
//!
//! Refuses unknown members and anything that could be read in two ways. INVARIANT: JSON that is compared later is kept as
//! the text that stands in the file, so that no digit of a number is lost. Holds no credential: a case shows one as
//! `<credential>`.

use std::fmt;

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::ids::{Access, OpId};
use crate::json::{self, Document, Numbers};
use crate::model::Method;
use crate::parse::reader::{Faults, Value, clip};
use crate::parse::{METHODS, lone};

/// Most exchanges of a case.
const EXCHANGES_MAX: usize = 20;

/// One case of one op.
#[derive(Debug)]
#[non_exhaustive]
pub struct Case {
    /// The args as the caller gives them: an object, not yet normalised.
    pub args: JsonText,
    /// The access that the grant allows.
    pub access: Access,
    /// Every exchange with the service, in order; none for a case that is refused before one.
    pub exchanges: Vec<Exchange>,
    /// What comes of it.
    pub expect: Expect,
    /// The notes of the outcome, where the case says them.
    pub notes: Option<Vec<String>>,
    /// Whether the outcome leads on to a next page, where the case says it.
    pub next: Option<bool>,
}

/// A request and the answer to it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Exchange {
    /// Exactly what is sent.
    pub request: CaseRequest,
    /// What the service answers.
    pub response: CaseResponse,
}

/// Exactly what is sent.
#[derive(Debug)]
#[non_exhaustive]
pub struct CaseRequest {
    /// The method.
    pub method: Method,
    /// The path as it is sent: encoded, without the query.
    pub path: String,
    /// The query's parameters before encoding, each key with its values in their order.
    pub query: Vec<(String, Vec<String>)>,
    /// The headers that the manifest and the credential lead to; names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body: JSON, or a JSON text that holds a form as it is sent.
    pub body: Option<JsonText>,
}

/// What the service answers.
#[derive(Debug)]
#[non_exhaustive]
pub struct CaseResponse {
    /// The status, from 100 to 599.
    pub status: u16,
    /// The headers; names in lower case.
    pub headers: Vec<(String, String)>,
    /// The bytes of the body.
    pub body: Vec<u8>,
}

/// What comes of a case.
#[derive(Debug)]
pub enum Expect {
    /// This result.
    Result(JsonText),
    /// A refusal with this code.
    Refusal(String),
}

/// A JSON value as it stands in a file.
#[derive(Clone, PartialEq, Eq)]
pub struct JsonText(Box<str>);

impl JsonText {
    /// The text, exactly.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a case's file, `<op>.<name>.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaseName {
    /// The op that it is a case of.
    pub op: OpId,
    /// What it is about.
    pub name: String,
}

/// Why a text is not the name of a case's file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a case's file: write `<op>.<name>.json`, the name in lower-case letters, digits, `-` and `_`")]
pub struct CaseNameError;

impl CaseName {
    /// Takes the last part of a file's path.
    pub fn parse(file: &str) -> Result<Self, CaseNameError> {
        let (op, name) =
            file.strip_suffix(".json").and_then(|stem| stem.split_once('.')).ok_or(CaseNameError)?;
        let op = OpId::parse(op).map_err(|_grammar| CaseNameError)?;
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b);
        if !(1..=64).contains(&name.len()) || !name.bytes().all(plain) {
            return Err(CaseNameError);
        }
        Ok(Self { op, name: name.to_owned() })
    }
}

impl Case {
    /// Reads a case from the bytes of its file, at most 2 MiB; gives every fault at once.
    pub fn parse(bytes: &[u8]) -> Result<Self, Vec<Diagnostic>> {
        let mut document = match json::parse(bytes, Numbers::Any) {
            Ok(document) => document,
            Err(fault) => return Err(vec![lone(bytes, fault)]),
        };
        let faults = Faults::default();
        let case = case(&Value::top(&document.root, &faults), &document);
        let diagnostics = faults.into_diagnostics(&mut document);
        if diagnostics.iter().any(|diagnostic| diagnostic.severity() == Severity::Error) {
            return Err(diagnostics);
        }
        case.ok_or(diagnostics)
    }
}

fn case(value: &Value<'_>, document: &Document<'_>) -> Option<Case> {
    let mut object = value.object()?;
    let args = object.required("args").and_then(|value| {
        value.object()?;
        text_of(&value, document)
    });
    let words = [("read", Access::Read), ("write", Access::Write)];
    let access = object.required("access").and_then(|value| value.word(&words));
    let exchanges = object.required("exchanges").and_then(|value| {
        let elements = value.elements()?;
        if elements.len() > EXCHANGES_MAX {
            value.fault(
                Code::OutOfRange,
                format!("there are {} exchanges", elements.len()),
                "keep at most 20",
            );
        }
        let exchanges: Vec<_> = elements.iter().map(|element| exchange(element, document)).collect();
        exchanges.into_iter().collect::<Option<Vec<_>>>()
    });
    let expect = object.required("expect").map(|value| expect(&value, document));
    object.finish();
    let (expect, notes, next) = expect??;
    Some(Case { args: args?, access: access?, exchanges: exchanges?, expect, notes, next })
}

fn text_of(value: &Value<'_>, document: &Document<'_>) -> Option<JsonText> {
    let text = document.value_text(&value.at.pointer());
    if text.is_none() {
        value.fault(Code::JsonSyntax, "the value's place in the file is not known", "write plain JSON");
    }
    text.map(|text| JsonText(text.into()))
}

type Expected = (Expect, Option<Vec<String>>, Option<bool>);

fn expect(value: &Value<'_>, document: &Document<'_>) -> Option<Expected> {
    let mut object = value.object()?;
    let expect = object.one_of(&["result", "refusal"]).and_then(|(name, value)| match name {
        "result" => text_of(&value, document).map(Expect::Result),
        _ => code(&value).map(Expect::Refusal),
    });
    let notes = object.optional("notes").map(|value| texts(&value));
    let next = object.optional("next").map(|value| value.flag());
    object.finish();
    let notes = match notes {
        Some(notes) => Some(notes?),
        None => None,
    };
    let next = match next {
        Some(next) => Some(next?),
        None => None,
    };
    Some((expect?, notes, next))
}

fn code(value: &Value<'_>) -> Option<String> {
    let text = value.text()?;
    let good = text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if !good {
        value.fault(
            Code::UnknownWord,
            format!("`{}` is not a code", clip(text)),
            "write a code such as `root_absent`",
        );
    }
    good.then(|| text.to_owned())
}

fn texts(value: &Value<'_>) -> Option<Vec<String>> {
    value.elements()?.iter().map(|element| element.text().map(str::to_owned)).collect()
}

fn exchange(value: &Value<'_>, document: &Document<'_>) -> Option<Exchange> {
    let mut object = value.object()?;
    let request = object.required("request").and_then(|value| request(&value, document));
    let response = object.required("response").and_then(|value| response(&value, document));
    object.finish();
    Some(Exchange { request: request?, response: response? })
}

fn request(value: &Value<'_>, document: &Document<'_>) -> Option<CaseRequest> {
    let mut object = value.object()?;
    let method = object.required("method").and_then(|value| value.word(&METHODS));
    let path = object.required("path").and_then(|value| {
        let text = value.text()?;
        let good =
            text.starts_with('/') && text.bytes().all(|b| b.is_ascii_graphic() && !b"?#\\".contains(&b));
        if !good {
            let message = format!("`{}` is not a path as it is sent", clip(text));
            value.fault(Code::PathCharacter, message, "write it encoded, from its slash, without the query");
        }
        good.then(|| text.to_owned())
    });
    let query = object.optional("query").map_or(Some(Vec::new()), |value| query(&value));
    let headers = object.optional("headers").map_or(Some(Vec::new()), |value| headers(&value));
    let body = object.optional("body").map(|value| text_of(&value, document));
    object.finish();
    let body = match body {
        Some(body) => Some(body?),
        None => None,
    };
    Some(CaseRequest { method: method?, path: path?, query: query?, headers: headers?, body })
}

fn query(value: &Value<'_>) -> Option<Vec<(String, Vec<String>)>> {
    let entries = value.entries()?;
    let values = |entry: &Value<'_>| match entry.node {
        json::Node::String(text) => Some(vec![text.clone()]),
        json::Node::Array(_) => texts(entry),
        _ => entry.wrong("a text or an array of texts"),
    };
    entries.iter().map(|(key, entry)| Some(((*key).to_owned(), values(entry)?))).collect()
}

fn headers(value: &Value<'_>) -> Option<Vec<(String, String)>> {
    let entries = value.entries()?;
    let header = |name: &str, entry: &Value<'_>| Some((name.to_ascii_lowercase(), entry.text()?.to_owned()));
    entries.iter().map(|(name, entry)| header(name, entry)).collect()
}

fn response(value: &Value<'_>, document: &Document<'_>) -> Option<CaseResponse> {
    let mut object = value.object()?;
    let status = object.required("status").and_then(|value| value.integer(100, 599));
    let headers = object.optional("headers").map_or(Some(Vec::new()), |value| headers(&value));
    let (body, body_text) = (object.optional("body"), object.optional("body_text"));
    let body = match (body, body_text) {
        (Some(_), Some(second)) => {
            second.faults.add_at_key(Code::OneOf, &second.at, "there are two bodies", "keep one of the two");
            None
        }
        (Some(body), None) => text_of(&body, document).map(|text| text.as_str().as_bytes().to_vec()),
        (None, Some(text)) => text.text().map(|text| text.as_bytes().to_vec()),
        (None, None) => Some(Vec::new()),
    };
    object.finish();
    Some(CaseResponse { status: u16::try_from(status?).ok()?, headers: headers?, body: body? })
}

#[cfg(test)]
mod tests;

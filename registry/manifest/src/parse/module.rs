//! What a module may ask for. DESIGN, "Manifest": `module`.
//!
//! Refuses a line that could change something: in format 1 a module only reads. INVARIANT: every request that a module
//! can make stands in the file, a line each.

use super::body::{PageFeed, check_graphql, module_graphql};
use super::names;
use super::op::ServiceContext;
use super::path;
use super::posted::{self, Sent};
use super::reader::{Value, clip};
use super::request::{METHODS, Reads, reads};
use super::uses::Uses;
use crate::Access;
use crate::diagnostic::Code;
use crate::digest::Digest;
use crate::model::{Method, Module, ModuleRequest};

/// Most lines of a module.
const REQUESTS_MAX: usize = 50;
/// Most query keys or headers of a line.
const NAMES_MAX: usize = 50;

/// Reads a module; the args that its paths name go to `uses`.
pub(super) fn module(value: &Value<'_>, context: &ServiceContext<'_>, uses: &mut Uses) -> Option<Module> {
    let mut object = value.object()?;
    let file = object.required("file").and_then(|value| file(&value));
    let sha256 = object.required("sha256").and_then(|value| digest(&value));
    let requests = object.required("requests").and_then(|value| {
        let elements = value.elements()?;
        if !(1..=REQUESTS_MAX).contains(&elements.len()) {
            value.fault(
                Code::OutOfRange,
                format!("there are {} lines", elements.len()),
                "write 1 to 50 lines",
            );
        }
        let requests: Vec<_> = elements.iter().map(|line| request(line, context, uses)).collect();
        requests.into_iter().collect::<Option<Vec<_>>>()
    });
    object.finish();
    Some(Module { file: file?, sha256: sha256?, requests: requests? })
}

fn file(value: &Value<'_>) -> Option<String> {
    let text = value.text()?;
    let name = text.strip_prefix("modules/").and_then(|rest| rest.strip_suffix(".wasm"));
    let good = name.is_some_and(|name| {
        (1..=64).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b))
    });
    if !good {
        let message = format!("`{}` is not a module's file", clip(text));
        value.fault(Code::ModuleFile, message, "write `modules/<name>.wasm`, the name in lower case");
    }
    good.then(|| text.to_owned())
}

fn digest(value: &Value<'_>) -> Option<Digest> {
    let text = value.text()?;
    // The member's name says which digest it is; the text form of one is taken as well.
    let parsed = Digest::parse(text).or_else(|_bare| Digest::parse(&format!("sha256:{text}"))).ok();
    if parsed.is_none() {
        let message = "this is not a SHA-256 digest";
        value.fault(
            Code::ModuleDigest,
            message,
            "write the file's SHA-256 as 64 lower-case hexadecimal digits",
        );
    }
    parsed
}

fn request(value: &Value<'_>, context: &ServiceContext<'_>, uses: &mut Uses) -> Option<ModuleRequest> {
    let mut object = value.object()?;
    let method = object.required("method");
    let at = method.as_ref().map(|method| method.at.clone());
    let method = method.and_then(|value| value.word(&METHODS));
    let path = object.required("path").and_then(|value| path::module(&value, uses));
    let query = object.optional("query").map_or(Some(Vec::new()), |value| names(&value, names::key_value));
    let header = |value: &Value<'_>, name: &str| {
        names::header_value(value, name, context.credential) && {
            let free = !context.headers.contains_key(name);
            if !free {
                value.fault(Code::HeaderRepeated, "the service sets this header", "leave it out");
            }
            free
        }
    };
    let headers = object.optional("headers").map_or(Some(Vec::new()), |value| names(&value, header));
    let document = object.optional("graphql");
    let graphql = document.as_ref().and_then(|value| module_graphql(value));
    let said = reads(&mut object);
    object.finish();
    if let (Some((_, draft)), Some(_)) = (&graphql, &document) {
        check_graphql(draft, Some(Access::Read), None, PageFeed::Unknown, value.faults);
    }
    if let (Some(method), Some(at)) = (method, at) {
        let reading = method.is_safe() || (method == Method::Post && said == Reads::Said);
        if document.is_some() && method != Method::Post {
            value.faults.add(Code::GraphqlMethod, &at, "a GraphQL document is posted", "write `POST`");
        } else if document.is_none() && !reading {
            let message = format!("{} may change something, and a module only reads", method.as_str());
            let help = "write `GET`, or `\"reads\": true` beside a POST that only searches";
            value.faults.add(Code::ReadMethod, &at, message, help);
        } else if said == Reads::Said && (document.is_some() || method != Method::Post) {
            let at = value.at.name("reads");
            let message = "only a POST without a GraphQL document needs to say that it reads";
            value.faults.add_at_key(Code::ReadsMisplaced, &at, message, "leave `reads` out");
        }
    }
    if let (Some(method), Some(path), Some(query), None) = (method, &path, &query, &document) {
        let sent = Sent::by(method, false, !query.is_empty());
        posted::check_plain_line(path, sent, &value.at.name("path"), value.faults);
    }
    let graphql = graphql.map(|(text, _)| text);
    Some(ModuleRequest { method: method?, path: path?, query: query?, headers: headers?, graphql })
}

/// A list of names, each good and each once.
fn names(value: &Value<'_>, good: impl Fn(&Value<'_>, &str) -> bool) -> Option<Vec<String>> {
    let elements = value.elements()?;
    if elements.len() > NAMES_MAX {
        value.fault(Code::OutOfRange, format!("there are {} names", elements.len()), "keep at most 50");
    }
    let mut names = Vec::new();
    for element in &elements {
        let name = element.text()?;
        if good(element, name) {
            names.push(name.to_owned());
        }
    }
    Some(names)
}

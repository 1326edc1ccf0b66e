//! A module, and the requests that it may make. DESIGN, "Manifest": `module`.
//!
//! Another component may compute anything within its lines, so its lines are what a reviewer has to go by.

use std::collections::BTreeSet;

use super::change::Direction;
use super::kind::Kind;
use super::log::{At, Log};
use super::shown::{code, codes};
use crate::model::{Module, ModuleRequest, ModuleSegment};

pub(super) fn compare(log: &mut Log, at: &At, old: &Module, new: &Module) {
    if old.sha256 != new.sha256 {
        let lines: Vec<String> = new.requests.iter().map(shown).collect();
        let says = format!("another component computes the answer; it may ask for {}", lines.join(", "));
        log.now(Kind::Module, Direction::Unproven, &at.name("sha256"), says)
            .between(Some(old.sha256.to_string()), Some(new.sha256.to_string()));
    }
    if old.file != new.file {
        let says = "the component stands in a file of another name; its digest says which bytes they are";
        log.now(Kind::ModuleFile, Direction::Neutral, &at.name("file"), says)
            .between(Some(&old.file), Some(&new.file));
    }
    let at = at.name("requests");
    for (index, line) in new.requests.iter().enumerate() {
        if !old.requests.iter().any(|known| covers(known, line)) {
            let at = at.index(index);
            log.now(Kind::ModuleLine, Direction::Widens, &at, wider(line, &old.requests))
                .between(None::<&str>, Some(shown(line)));
        }
    }
    for (index, line) in old.requests.iter().enumerate() {
        if !new.requests.iter().any(|left| covers(left, line)) {
            let says = format!("the module may no longer ask for all of {}", shown(line));
            log.was(Kind::ModuleLine, Direction::Narrows, &at.index(index), says)
                .between(Some(shown(line)), None::<&str>);
        }
    }
}

/// What a line that no old one covers lets a module do.
fn wider(line: &ModuleRequest, old: &[ModuleRequest]) -> String {
    let Some(known) = old.iter().find(|known| is_alike(known, line)) else {
        return format!("the module may ask for {}", shown(line));
    };
    let more = |new: &[String], old: &[String]| -> Vec<String> {
        new.iter().filter(|name| !old.contains(name)).cloned().collect()
    };
    let (query, headers) = (more(&line.query, &known.query), more(&line.headers, &known.headers));
    let named: Vec<&str> = query.iter().chain(&headers).map(String::as_str).collect();
    format!("the module may say {} when it asks for {}", codes(named), shown(line))
}

/// The same method, path and document. A `{*}` does not cover an arg or a text: a grant that narrows args refuses the one
/// and not the others.
fn is_alike(one: &ModuleRequest, other: &ModuleRequest) -> bool {
    one.method == other.method && one.path == other.path && one.graphql == other.graphql
}

/// Whether each request of `line` is one of `known` too.
fn covers(known: &ModuleRequest, line: &ModuleRequest) -> bool {
    let within = |part: &[String], whole: &[String]| {
        let whole: BTreeSet<&String> = whole.iter().collect();
        part.iter().all(|name| whole.contains(name))
    };
    is_alike(known, line) && within(&line.query, &known.query) && within(&line.headers, &known.headers)
}

/// A line in a few words.
pub(super) fn shown(line: &ModuleRequest) -> String {
    let segment = |segment: &ModuleSegment| match segment {
        ModuleSegment::Literal(text) => format!("/{text}"),
        ModuleSegment::Arg(arg) => format!("/{{{arg}}}"),
        ModuleSegment::Any => "/{*}".to_owned(),
    };
    let path: String = line.path.iter().map(segment).collect();
    let what = if line.graphql.is_some() { " (a GraphQL query)" } else { "" };
    format!("{}{what}", code(&format!("{} {path}", line.method.as_str())))
}

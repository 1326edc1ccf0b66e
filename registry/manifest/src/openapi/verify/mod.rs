//! A manifest held against the provider's own description: what it says otherwise, and what cannot be said.
//!
//! Refuses nothing: each difference is a finding, and a description that leaves something open is said to. INVARIANT: what is
//! described in some variant counts as described; nothing is taken from examples, and from prose only `(max N)`.

mod answers;
mod args;
mod body;
mod cases;
mod module;
mod parameters;
mod route;

pub use cases::verify_cases;

use std::collections::BTreeSet;

use super::description::{Description, Operation};
use super::operation::{self, Looked};
use super::reader::Reader;
use super::servers::Servers;
use crate::finding::{Finding, FindingCode as Code};
use crate::ids::OpId;
use crate::json::pointer;
use crate::model::{Action, Body, Manifest, Op, Piece, Request, Template};
use route::{Routes, Wanted};

/// Most findings that are given.
const FINDINGS_MAX: usize = 2_000;

/// Holds a manifest against a description, in the order of its ops. What a whole description leaves open is a warning.
pub fn verify(manifest: &Manifest, description: &Description) -> Vec<Finding> {
    let reader = description.reader();
    let servers = Servers::of(description);
    let routes = Routes::new(description, &servers, manifest.host());
    let mut check = Check { manifest, description, reader: &reader, routes: &routes, findings: Vec::new() };
    check.host(&servers);
    for (id, op) in manifest.ops() {
        reader.begin();
        check.op(id, op);
    }
    check.findings
}

/// A manifest while it is held against a description.
struct Check<'c, 'd> {
    manifest: &'c Manifest,
    description: &'d Description,
    reader: &'c Reader<'d>,
    routes: &'c Routes<'d>,
    findings: Vec<Finding>,
}

/// Where in an op something stands.
#[derive(Clone)]
struct At<'o> {
    op: &'o OpId,
    way: Vec<String>,
}

impl At<'_> {
    fn down(&self, names: &[&str]) -> Self {
        let mut way = self.way.clone();
        way.extend(names.iter().map(|name| (*name).to_owned()));
        Self { op: self.op, way }
    }

    fn pointer(&self) -> String {
        let mut way = vec!["ops", self.op.as_str()];
        way.extend(self.way.iter().map(String::as_str));
        pointer(&way)
    }
}

impl<'d> Check<'_, 'd> {
    fn add(&mut self, code: Code, at: &At<'_>, message: impl Into<String>, help: &str) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(Finding::new(code, Some(at.op), at.pointer(), message, help));
        }
    }

    fn host(&mut self, servers: &Servers) {
        let host = self.manifest.host();
        let known: BTreeSet<&str> = servers.good.iter().map(|server| server.host.as_str()).collect();
        if known.contains(host.as_str()) || self.routes.is_own_host() {
            return;
        }
        let (code, message) = if known.is_empty() || servers.is_open() {
            let why =
                servers.faults.first().map_or_else(|| "it names no server".to_owned(), ToString::to_string);
            (Code::Unchecked, format!("the description does not fix the host: {why}"))
        } else {
            let names: Vec<&str> = known.into_iter().take(8).collect();
            (Code::HostUnknown, format!("`{host}` is not a server of the description: {}", names.join(", ")))
        };
        self.findings.push(Finding::new(
            code,
            None,
            "/host",
            message,
            "see that it is the service's own host",
        ));
    }

    fn op(&mut self, id: &OpId, op: &Op) {
        let at = At { op: id, way: Vec::new() };
        match &op.action {
            Action::Request(request) => self.request(op, request, &at),
            Action::Module(module) => self.module(op, module, &at),
        }
    }

    fn request(&mut self, op: &Op, request: &Request, at: &At<'_>) {
        let place = at.down(&["request"]);
        let wanted = Wanted::of_request(request);
        let Some(operation) = self.routes.find(&wanted) else {
            let message = format!("`{} {}` is not described", request.method.as_str(), wanted.shown());
            let help = "look for the path and method in the description";
            return self.add(Code::OperationUnknown, &place.down(&["path"]), message, help);
        };
        self.deprecated(&operation, &place);
        let Some(looked) = self.look(&operation, &place) else { return };
        self.parameters(op, request, &looked, &place);
        if !matches!(request.body, Body::Graphql { .. }) {
            self.body(op, request, &looked, &place);
        }
        self.pick(op, &looked, at);
        self.page(op, request, &looked, at);
        self.require(op, at);
        self.error(&looked, at);
    }

    fn deprecated(&mut self, operation: &Operation<'_>, at: &At<'_>) {
        if operation.is_deprecated() {
            let message = format!("`{}` is deprecated", operation.label());
            self.add(Code::Deprecated, at, message, "look for what stands in for it");
        }
    }

    /// What an operation takes and gives; a finding where it cannot be said.
    fn look(&mut self, operation: &Operation<'d>, at: &At<'_>) -> Option<Looked<'d>> {
        let dialect = self.description.dialect();
        match operation::look(operation, dialect, self.reader, self.description.root()) {
            Ok(looked) => Some(looked),
            Err(trouble) => {
                let message = format!("`{}` cannot be looked at: {}", operation.label(), trouble.says());
                self.add(Code::Unchecked, at, message, "take a description that is whole in one file");
                None
            }
        }
    }
}

/// A text with placeholders as the file has it.
fn shown(template: &Template) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Literal(text) => text.clone(),
        Piece::Arg(name) => format!("{{{name}}}"),
    };
    template.pieces().iter().map(piece).collect()
}

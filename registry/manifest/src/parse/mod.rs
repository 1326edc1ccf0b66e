//! The only way to a [`Manifest`]: reads a file whole and reports every fault at once.
//!
//! Refuses whatever format 1 does not say. INVARIANT: a manifest comes out only when no diagnostic is an error, and every
//! model type is made below this module. DESIGN, "Manifest" and "Pick".

mod answer;
mod args;
mod auth;
mod beside;
mod body;
mod cross;
pub(crate) mod faults;
mod invisible;
mod module;
mod names;
mod op;
mod page;
mod path;
mod posted;
pub(crate) mod reader;
mod request;
mod require;
mod service;
mod template;
pub(crate) mod text;
mod uses;

use crate::Digest;
use crate::diagnostic::{Diagnostic, Severity};
use crate::json::{self, JsonFault, Numbers};
use crate::model::Manifest;
pub use beside::{Finding, places_of};
pub use names::is_method_key;
pub(crate) use names::{is_auth_header, is_free_header};
pub use posted::is_graphql as is_graphql_segment;
use reader::{Faults, Value};
pub(crate) use request::METHODS;
pub(crate) use service::OPS_MAX;

/// What came of reading a file.
#[derive(Debug)]
#[non_exhaustive]
pub struct Reading {
    /// The manifest, where no diagnostic is an error.
    pub manifest: Option<Manifest>,
    /// What is wrong, in the order of the file; at most 1,000 of the JSON and 1,000 of its meaning.
    pub diagnostics: Vec<Diagnostic>,
}

impl Reading {
    /// The manifest, warnings or not; or everything that is wrong with it.
    pub fn into_result(self) -> Result<Manifest, Vec<Diagnostic>> {
        self.manifest.ok_or(self.diagnostics)
    }
}

/// Reads a manifest (format 1) from the bytes of its file, at most 2 MiB.
///
/// Never stops at the first fault: diagnostics name all that can be seen of it. A fault of the JSON syntax hides the rest.
pub fn read(bytes: &[u8]) -> Reading {
    let mut document = match json::parse(bytes, Numbers::Safe) {
        Ok(document) => document,
        Err(fault) => return Reading { manifest: None, diagnostics: vec![lone(bytes, fault)] },
    };
    let faults = Faults::default();
    let manifest = service::manifest(&Value::top(&document.root, &faults), Digest::of(bytes));
    invisible::check(&document.root, &faults);
    let diagnostics = faults.into_diagnostics(&mut document);
    let failed = failed(&diagnostics);
    Reading { manifest: manifest.filter(|_| !failed), diagnostics }
}

fn failed(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.severity() == Severity::Error)
}

/// The diagnostic of a file that could not be read on.
pub(crate) fn lone(bytes: &[u8], fault: JsonFault) -> Diagnostic {
    let JsonFault { code, pointer, span, message, help } = fault;
    let mut diagnostic =
        Diagnostic { code, pointer, span, line: 1, column: 1, message, help: help.to_owned() };
    let readable = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    faults::place(readable, std::slice::from_mut(&mut diagnostic));
    diagnostic
}

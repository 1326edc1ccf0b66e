//! A manifest held against its service's GraphQL schema.
//!
//! Each document is validated, what its variables are fed is held against their types, and what is picked is looked for in
//! what the document selects. Says nothing of a module's variables and result, which only the module knows. INVARIANT: an
//! op that cannot be checked has a finding that says so. Issue 6, point 7.

mod arg;
mod document;
mod feed;
mod picked;

use std::collections::HashMap;

use graphql_tools::static_graphql::query::Type;

use self::document::Parsed;
use super::Schema;
use crate::finding::{Finding, FindingCode};
use crate::ids::OpId;
use crate::model::{Action, Body, JsonTemplate, Manifest, Op};

/// Most findings on one op.
const FINDINGS_MAX: usize = 100;

/// Holds every op of a manifest against the schema. What comes back is in the order of the ops' names; nothing at all means
/// that every document is valid, is fed what it wants and selects what is picked.
pub fn verify(manifest: &Manifest, schema: &Schema) -> Vec<Finding> {
    let mut documents = HashMap::new();
    for (id, op) in manifest.ops() {
        if let Some((text, _)) = graphql(op)
            && let Some(parsed) = Parsed::new(text, schema)
        {
            documents.insert(id, parsed);
        }
    }
    let mut findings = Vec::new();
    for (id, op) in manifest.ops() {
        let mut found = Found { op: id, findings: Vec::new() };
        match &op.action {
            Action::Request(_) => declared(op, schema, &documents, &mut found),
            Action::Module(module) => {
                for (at, line) in module.requests.iter().enumerate() {
                    let pointer = format!("/module/requests/{at}");
                    let text = line.graphql.as_deref();
                    let parsed = text.and_then(|text| Parsed::new(text, schema));
                    match parsed {
                        Some(parsed) => {
                            document::check(&parsed, schema, &format!("{pointer}/graphql"), &mut found);
                        }
                        None => found.unchecked(&pointer),
                    }
                }
            }
        }
        required(op, &documents, schema, &mut found);
        findings.append(&mut found.findings);
    }
    findings
}

fn graphql(op: &Op) -> Option<(&str, &JsonTemplate)> {
    match &op.request()?.body {
        Body::Graphql { document, variables } => Some((document, variables)),
        Body::None | Body::Json(_) | Body::Form(_) => None,
    }
}

/// An op with a request of its own.
fn declared(op: &Op, schema: &Schema, documents: &HashMap<&OpId, Parsed>, found: &mut Found<'_>) {
    let (Some((_, variables)), Some(parsed)) = (graphql(op), documents.get(&op.id)) else {
        found.unchecked("/request");
        return;
    };
    document::check(parsed, schema, "/request/graphql/query", found);
    feed::check(parsed, op, variables, schema, found);
    picked::check(parsed, op, schema, found);
}

/// What an op wants to find in the answer of another.
fn required(op: &Op, documents: &HashMap<&OpId, Parsed>, schema: &Schema, found: &mut Found<'_>) {
    for (at, requirement) in op.require.iter().enumerate() {
        if let Some(parsed) = documents.get(&requirement.op) {
            let pointer = format!("/require/{at}/path");
            picked::check_singular(parsed, &requirement.condition.path, schema, &pointer, found);
        }
    }
}

/// The findings on one op.
struct Found<'f> {
    op: &'f OpId,
    findings: Vec<Finding>,
}

impl Found<'_> {
    /// Adds a finding, once; the pointer starts below the op.
    fn add(&mut self, code: FindingCode, pointer: &str, message: impl Into<String>, help: &str) {
        let pointer = format!("/ops/{}{pointer}", self.op);
        let finding = Finding::new(code, Some(self.op), pointer, message, help);
        if self.findings.len() < FINDINGS_MAX && !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    fn unchecked(&mut self, pointer: &str) {
        let message = "what is sent here is no GraphQL document";
        self.add(FindingCode::Unchecked, pointer, message, "look at the service's documentation yourself");
    }

    fn deprecated(&mut self, pointer: &str, what: &str, reason: &str) {
        let reason = crate::finding::quoted(reason.trim());
        let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        let message = format!("{what} is deprecated{because}");
        self.add(FindingCode::Deprecated, pointer, message, "use what the service offers instead");
    }
}

/// A JSON Pointer one step further (RFC 6901).
fn push(pointer: &str, step: &str) -> String {
    format!("{pointer}/{}", step.replace('~', "~0").replace('/', "~1"))
}

/// The type without its outer non-null mark.
fn nullable(kind: &Type) -> &Type {
    match kind {
        Type::NonNullType(inner) => nullable(inner),
        other => other,
    }
}

//! Any schema is read, held against and drafted from without a panic, and what is drafted is sound by the schema.

use proptest::prelude::*;

use super::super::{Endpoint, Schema, Service, Wanted, draft, verify};
use super::reading::INTROSPECTED;
use super::{SMALL, small};
use crate::diagnostic::Severity;
use crate::ids::ServiceId;
use crate::model::AuthScheme;

/// Reads a schema, drafts from it and holds the draft against it. Calls nothing that may fail but in a typed way.
fn judged(bytes: &[u8]) {
    let Ok(schema) = Schema::read(bytes) else { return };
    let (id, endpoint) =
        (ServiceId::parse("small").unwrap(), Endpoint::parse("api.pinhole.dev/graphql").unwrap());
    let service = Service { id: &id, name: "Small", endpoint: &endpoint, auth: &AuthScheme::Bearer };
    let Ok(drafted) = draft(&schema, &service, Wanted::All) else { return };
    let manifest = crate::read(drafted.manifest.as_bytes()).into_result().unwrap();
    let findings = verify(&manifest, &schema);
    let errors: Vec<_> = findings.iter().filter(|one| one.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}\n{}", drafted.manifest);
}

/// Words of a schema, and what tears one apart.
const PIECES: &[&str] = &[
    "type",
    "Query",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "!",
    ":",
    "=",
    "@deprecated",
    "|",
    "&",
    "Int",
    "String",
    "Issue",
    "Found",
    "IssueFilter",
    "\"\"\"",
    "\"",
    "\\",
    "#",
    "\n",
    "\u{3000}",
    "é",
    "extend",
    "union",
    "input",
    "enum",
    "schema",
    "$",
    "...",
    "-1e999",
    "\"data\"",
    "\"ofType\"",
    "\"kind\"",
    "null",
    "{}",
    "[]",
    "\"NON_NULL\"",
    "\"LIST\"",
    "\"OBJECT\"",
    "\"ID\"",
    "99999999999999999999",
    "implements",
    "null",
    "first",
    "after",
    "pageInfo",
    "edges",
    "_",
    "JSON",
];

/// Documents, and what tears one apart.
const DOCUMENT: &str = "query Q($id: ID!, $f: IssueFilter = {title: {in: [\"a\"]}}, $p: Priority) { issue(id: $id) { id
    called: title labels { ...F } author { ... on User { name } } } issues(filter: $f, order: $p) { nodes { id } } }
    fragment F on Label { id name }";

fn altered(text: &str, changes: &[(usize, usize, usize)]) -> String {
    let mut words: Vec<&str> = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()).collect();
    for (at, length, piece) in changes {
        let at = at % words.len().max(1);
        let end = at.saturating_add(*length).min(words.len());
        words.splice(at..end, [PIECES[piece % PIECES.len()], " "]);
    }
    words.concat()
}

/// Names that may stand for each other, so that what comes of a change is still a schema.
const NAMES: &[&str] = &[
    "Int",
    "String",
    "ID",
    "Boolean",
    "DateTime",
    "JSON",
    "Issue",
    "User",
    "Node",
    "Found",
    "IssueFilter",
    "IssueInput",
    "Priority",
    "PageInfo",
    "IssueConnection",
    "CommentEdge",
    "id",
    "name",
    "first",
    "after",
    "nodes",
    "edges",
    "node",
    "pageInfo",
    "endCursor",
    "hasNextPage",
    "input",
    "apiToken",
    "clientMutationId",
    "delete",
    "A",
    "__typename",
    "Query",
];

/// The text with some of its names replaced, each as a whole: also by a list of them, or by one that must be there.
fn renamed(text: &str, changes: &[(usize, usize)]) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut joined = false;
    for c in text.chars() {
        let is_word = c.is_ascii_alphanumeric() || c == '_';
        match words.last_mut() {
            Some(word) if is_word && joined => word.push(c),
            _ => words.push(c.into()),
        }
        joined = is_word;
    }
    let places: Vec<usize> = (0..words.len())
        .filter(|at| words[*at].starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
        .collect();
    for (at, name) in changes {
        let (name, place) = (NAMES[name % NAMES.len()], places[at % places.len()]);
        let is_type =
            words[..place].iter().rev().find(|word| !word.trim().is_empty()).is_some_and(|word| word == ":");
        words[place] = match name.len() % 4 {
            0 if is_type => format!("[{name}!]"),
            1 if is_type => format!("{name}!"),
            _ => name.to_owned(),
        };
    }
    words.concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_change_to_a_schema_is_judged_without_a_panic(
        changes in proptest::collection::vec((any::<usize>(), 0..4_usize, any::<usize>()), 1..4)
    ) {
        judged(altered(SMALL, &changes).as_bytes());
        judged(altered(INTROSPECTED, &changes).as_bytes());
    }

    #[test]
    fn any_change_of_names_in_a_schema_is_judged_without_a_panic(
        changes in proptest::collection::vec((any::<usize>(), any::<usize>()), 1..4)
    ) {
        judged(renamed(SMALL, &changes).as_bytes());
        judged(renamed(INTROSPECTED, &changes).replace('!', "").as_bytes());
    }

    #[test]
    fn any_change_to_a_document_is_judged_without_a_panic(
        changes in proptest::collection::vec((any::<usize>(), 0..4_usize, any::<usize>()), 0..4),
        root in "[$.a-z\\[\\]*]{1,12}|\\$\\.data(\\.(issue|issues|nodes|labels|author|id)(\\[\\*\\])?){0,3}",
        field in "(id|called|labels|author|name|nodes)(\\[\\*\\])?(\\.(id|name|\\*)){0,2}",
    ) {
        let arg = |kind: &str| serde_json::json!({ "type": kind, "description": "A value." });
        let manifest = serde_json::json!({
            "pinhole": 1, "id": "small", "version": "1.0.0", "name": "Small", "summary": "Small.", "host": "api.pinhole.dev",
            "auth": { "scheme": "bearer" }, "ops": { "op": {
                "access": "read", "summary": "Something.",
                "args": { "type": "object", "additionalProperties": false, "required": ["id"],
                    "properties": { "id": arg("string"), "p": arg("integer"), "t": arg("boolean") } },
                "request": { "method": "POST", "path": "/graphql", "graphql": { "query": altered(DOCUMENT, &changes),
                    "variables": { "id": "{id}", "p": "{p}", "f": { "title": { "eq": "{t}" } } } } },
                "pick": { "root": root, "fields": [field] }
            } }
        });
        if let Some(manifest) = crate::read(manifest.to_string().as_bytes()).manifest {
            prop_assert!(!verify(&manifest, &small()).is_empty(), "the args do not fit");
        }
    }

    #[test]
    fn any_text_is_judged_without_a_panic(text in "[ \\PC\n\"{}\\[\\]()!:@|&=#$]{0,60}") {
        judged(text.as_bytes());
        judged(format!("type Query {{ a: Int }} {text}").as_bytes());
    }
}

#[test]
fn a_draft_of_the_small_schema_is_sound() {
    judged(SMALL.as_bytes());
}

//! Any schema is read, held against and drafted from without a panic, and what is drafted is sound by the schema.

use proptest::prelude::*;

use super::super::{Endpoint, Schema, Service, Wanted, draft, verify};
use super::SMALL;
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

fn altered(changes: &[(usize, usize, usize)]) -> String {
    let mut words: Vec<&str> = SMALL.split_inclusive(|c: char| !c.is_ascii_alphanumeric()).collect();
    for (at, length, piece) in changes {
        let at = at % words.len().max(1);
        let end = at.saturating_add(*length).min(words.len());
        words.splice(at..end, [PIECES[piece % PIECES.len()], " "]);
    }
    words.concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_change_to_a_schema_is_judged_without_a_panic(
        changes in proptest::collection::vec((any::<usize>(), 0..4_usize, any::<usize>()), 1..4)
    ) {
        judged(altered(&changes).as_bytes());
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

//! How further pages of a list are found, where a description leaves no doubt.
//!
//! Says nothing where two readings are possible: without `page` an op gives its first page, and a person may add it.

use serde_json::{Value, json};

use super::pick::{best, wrapped_list};
use crate::openapi::operation::{Held, Looked, Parameter, Place};
use crate::openapi::parts::{Member, Parts};
use crate::openapi::reader::Reader;

/// Parameters that take a cursor, each with where answers keep the next one.
const CURSORS: [(&str, &[&str]); 9] = [
    ("pageToken", &["nextPageToken"]),
    ("page_token", &["next_page_token"]),
    (
        "cursor",
        &[
            "next_cursor",
            "nextCursor",
            "response_metadata.next_cursor",
            "meta.next_cursor",
            "pagination.next_cursor",
        ],
    ),
    ("after", &["paging.next.after", "meta.after", "next_cursor"]),
    ("next_token", &["next_token"]),
    ("nextToken", &["nextToken"]),
    ("start_cursor", &["next_cursor"]),
    ("continuation_token", &["continuation_token", "next_continuation_token"]),
    ("page_cursor", &["next_page_cursor", "next_cursor"]),
];

/// How a list goes on, and the query parameter that carries it on.
#[derive(Debug)]
pub(super) struct Paged {
    pub(super) page: Value,
    /// No arg of the op: the page sets it.
    pub(super) query: Option<String>,
}

/// What a description says of further pages.
pub(super) fn page<'d>(looked: &Looked<'d>, method: &str, reader: &Reader<'d>) -> Option<Paged> {
    let answer = best(looked)?;
    let Held::Json(Some(schema)) = answer.held else { return None };
    if method != "GET" {
        return None;
    }
    let parts = reader.parts(schema);
    let parameter = |name: &str| {
        let here = |one: &&Parameter<'_>| one.place == Place::Query && one.name == name && !one.is_required;
        looked.parameters.iter().find(here)
    };
    let is_list = parts.types().contains("array") || wrapped_list(&parts, reader).is_some();
    if answer.has_link && is_list {
        let query = parameter("page").map(|one| one.name.to_owned());
        return Some(Paged { page: json!({ "style": "link" }), query });
    }
    for (name, places) in CURSORS {
        if parameter(name).is_none() {
            continue;
        }
        let mut found = places.iter().filter(|place| holds(&parts, place, reader));
        if let (Some(place), None) = (found.next(), found.next()) {
            let page = json!({ "style": "cursor", "next": format!("$.{place}"), "query": name });
            return Some(Paged { page, query: Some(name.to_owned()) });
        }
    }
    let number = parameter("page")?;
    let counted = number.parts(reader);
    let from_one = |word: &str| counted.always(word).and_then(Value::as_u64) == Some(1);
    let is_number = counted.types().contains("integer") || counted.types().contains("number");
    if is_list && is_number && (from_one("minimum") || from_one("default")) {
        return Some(Paged {
            page: json!({ "style": "page", "query": "page" }),
            query: Some("page".to_owned()),
        });
    }
    None
}

/// Whether an answer has one text or number at such a place.
fn holds<'d>(answer: &Parts<'d>, place: &str, reader: &Reader<'d>) -> bool {
    has(answer, place, &["string", "integer"], reader)
}

/// Whether an answer has a text at such a place.
pub(super) fn has_text<'d>(answer: &Parts<'d>, place: &str, reader: &Reader<'d>) -> bool {
    has(answer, place, &["string"], reader)
}

fn has<'d>(answer: &Parts<'d>, place: &str, wanted: &[&str], reader: &Reader<'d>) -> bool {
    let mut parts = answer.clone();
    for name in place.split('.') {
        let Member::Described(inner) = parts.member(name, reader) else { return false };
        parts = inner;
    }
    let types = parts.types();
    !types.is_empty() && types.iter().all(|kind| wanted.contains(kind))
}

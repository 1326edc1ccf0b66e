//! A provider's description in a file: OpenAPI or Swagger in JSON or YAML, or a GraphQL schema.
//!
//! Refuses a file that is larger than any of them is read, and YAML whose aliases grow. Holds no rule of its own: what a
//! description means is the library's.

use std::path::Path;

use pinhole_manifest::graphql_schema::Schema;
use pinhole_manifest::openapi::{Description, DescriptionError};
use serde_json::Value;

use crate::end::{End, Failure};
use crate::files;

/// Longest description, in bytes: 64 MiB.
const SPEC_MAX: u64 = 64 << 20;
/// Most nodes of a description in YAML.
const NODES_MAX: usize = 4_000_000;
/// Most events that aliases may repeat.
const REPEATED_MAX: usize = 500_000;
/// How deep it may nest.
const DEPTH_MAX: usize = 120;

/// A description, as what it is.
pub(super) enum Spec {
    OpenApi(Box<Description>),
    Graphql(Box<Schema>),
}

/// Reads a description. What it is is seen by its name and its first characters.
pub(super) fn read(path: &Path) -> anyhow::Result<Spec> {
    let bytes = files::read_up_to(path, SPEC_MAX)?;
    let name = path.extension().and_then(|one| one.to_str()).unwrap_or_default().to_ascii_lowercase();
    let shown = path.display().to_string();
    let head = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes).trim_ascii_start();
    if matches!(name.as_str(), "graphql" | "graphqls" | "gql" | "sdl") || is_sdl(head) {
        return graphql(&shown, &bytes);
    }
    if head.starts_with(b"{") {
        return match Description::parse(&bytes) {
            Ok(description) => Ok(Spec::OpenApi(Box::new(description))),
            // A schema as introspection gives it is JSON too.
            Err(DescriptionError::Unknown) if has_introspection(&bytes) => graphql(&shown, &bytes),
            Err(error) => Err(unreadable(&shown, &error.to_string())),
        };
    }
    let root = yaml(&bytes).map_err(|message| unreadable(&shown, &message))?;
    let description = Description::new(root).map_err(|error| unreadable(&shown, &error.to_string()))?;
    Ok(Spec::OpenApi(Box::new(description)))
}

fn graphql(shown: &str, bytes: &[u8]) -> anyhow::Result<Spec> {
    let schema = Schema::read(bytes).map_err(|error| unreadable(shown, &error.to_string()))?;
    Ok(Spec::Graphql(Box::new(schema)))
}

fn unreadable(shown: &str, why: &str) -> anyhow::Error {
    let hint = "pass an OpenAPI 3.0 or 3.1 or Swagger 2.0 description (JSON or YAML), or a GraphQL schema (SDL or introspection)";
    Failure::new(End::Usage, format!("`{shown}` cannot be read as a description: {why}"), hint).into()
}

/// Whether a text without a telling name begins as a schema does.
fn is_sdl(head: &[u8]) -> bool {
    const WORDS: [&[u8]; 9] = [
        b"schema ",
        b"schema{",
        b"type ",
        b"scalar ",
        b"interface ",
        b"directive ",
        b"enum ",
        b"input ",
        b"union ",
    ];
    head.starts_with(b"\"\"\"") || WORDS.iter().any(|word| head.starts_with(word))
}

fn has_introspection(bytes: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Outline {
        #[serde(rename = "__schema")]
        own: Option<serde::de::IgnoredAny>,
        data: Option<Inner>,
    }
    #[derive(serde::Deserialize)]
    struct Inner {
        #[serde(rename = "__schema")]
        own: Option<serde::de::IgnoredAny>,
    }
    let outline: Option<Outline> = serde_json::from_slice(bytes).ok();
    outline.is_some_and(|one| one.own.is_some() || one.data.is_some_and(|data| data.own.is_some()))
}

/// YAML as the JSON that it stands for.
fn yaml(bytes: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(bytes).map_err(|_error| "it is not UTF-8 text".to_owned())?;
    let budget = serde_saphyr::budget! {
        max_events: NODES_MAX,
        max_nodes: NODES_MAX,
        max_depth: DEPTH_MAX,
        max_documents: 1,
        max_inclusion_depth: 0,
    };
    let mut limits = serde_saphyr::options::AliasLimits::default();
    limits.max_total_replayed_events = REPEATED_MAX;
    let options = serde_saphyr::options! { budget: budget, alias_limits: limits, strict_booleans: true };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| first_line(&error.to_string()))
}

/// The parser shows the place in the text below its first line.
fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or("it is not YAML").to_owned()
}

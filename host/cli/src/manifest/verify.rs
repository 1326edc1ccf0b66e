//! `pinhole manifest verify`: a manifest and its cases against the provider's own description.
//!
//! Exit status 1 where one is an error, and where a difference that is said to be known is not there. A manifest that does not
//! load is not verified.

use std::path::{Path, PathBuf};

use clap::Args;
use pinhole_manifest::cases::{Case, CaseName};
use pinhole_manifest::diagnostic::Severity;
use pinhole_manifest::finding::Finding;
use pinhole_manifest::visible::visible;
use pinhole_manifest::{Manifest, graphql_schema, openapi, places_of};
use serde_json::json;

use super::spec::{self, Spec};
use crate::end::{End, Failure};
use crate::{files, out};

const EXAMPLES: &str = "Examples:
  pinhole manifest verify manifests/github --spec github.json
  pinhole manifest verify manifests/linear/manifest.json --spec schema.graphql --json";

/// What to hold against what.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct VerifyFlags {
    /// The manifest, or the folder that holds `manifest.json` and `cases/`
    manifest: PathBuf,
    /// The description: OpenAPI 3.0 or 3.1 or Swagger 2.0 (JSON or YAML), or a GraphQL schema (SDL or introspection)
    #[arg(long, value_name = "FILE")]
    spec: PathBuf,
    /// A difference that is known and right, by its code and place: it is not counted, and missing it is an error
    #[arg(long, value_name = "CODE:POINTER")]
    known: Vec<String>,
    /// Print one JSON document
    #[arg(long, conflicts_with = "annotations")]
    json: bool,
    /// Print annotations for a pull request (GitHub's workflow commands)
    #[arg(long)]
    annotations: bool,
}

pub(super) fn main(flags: &VerifyFlags) -> anyhow::Result<End> {
    files::one_reader_of_stdin(&[
        ("MANIFEST", flags.manifest == Path::new("-")),
        ("--spec", flags.spec == Path::new("-")),
    ])?;
    let path = super::manifest_file(&flags.manifest);
    let bytes = files::read(&path)?;
    let Some(manifest) = pinhole_manifest::read(&bytes).manifest else {
        let shown = path.display();
        let message = format!("`{shown}` does not load, so it cannot be held against anything");
        return Err(Failure::new(
            End::Invalid,
            message,
            format!("`pinhole manifest check {shown}` says why"),
        )
        .into());
    };
    let cases = if path == Path::new("-") { Vec::new() } else { cases(&path)? };
    let found = match spec::read(&flags.spec)? {
        Spec::OpenApi(description) => {
            let mut found = openapi::verify(&manifest, &description);
            if !cases.is_empty() {
                found.extend(openapi::verify_cases(&manifest, &description, &cases));
            }
            found
        }
        Spec::Graphql(schema) => graphql_schema::verify(&manifest, &schema),
    };
    let (found, stale) = unknown(found, &flags.known);
    let is_error = |one: &Finding| one.severity == Severity::Error;
    let failed = found.iter().any(is_error) || !stale.is_empty();
    let pointers: Vec<&str> = found.iter().map(|one| one.pointer.as_str()).collect();
    let placed = || found.iter().zip(places_of(&bytes, &pointers));
    if flags.json {
        let findings: Vec<_> = placed().map(|(one, place)| as_json(one, place)).collect();
        let file = path.display().to_string();
        out::json(&json!({"file": file, "holds": !failed, "findings": findings, "not_found": stale}))?;
    } else if flags.annotations {
        for (one, place) in placed() {
            out::line(annotation(&path, one, place));
        }
        for one in &stale {
            out::line(format_args!("::error title=known::{}", data(&gone(one))));
        }
    } else {
        say(&path, &manifest, &found, &stale, cases.len());
    }
    Ok(if failed { End::Failed } else { End::Done })
}

/// The findings that are not known, and what was said to be known and was not found.
fn unknown(found: Vec<Finding>, known: &[String]) -> (Vec<Finding>, Vec<String>) {
    let name = |one: &Finding| format!("{}:{}", one.code.as_str(), one.pointer);
    let stale = known.iter().filter(|known| !found.iter().any(|one| name(one) == **known)).cloned().collect();
    (found.into_iter().filter(|one| !known.contains(&name(one))).collect(), stale)
}

/// The cases beside a manifest, if there are any.
fn cases(manifest: &Path) -> anyhow::Result<Vec<(CaseName, Case)>> {
    let folder = manifest.parent().unwrap_or(Path::new("."));
    if !folder.join("cases").is_dir() {
        return Ok(Vec::new());
    }
    let mut cases = Vec::new();
    for file in super::case_files(folder)? {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let shown = file.display().to_string();
        let invalid = |why: String| {
            let hint = "`pinhole manifest test` says more";
            Failure::new(End::Invalid, format!("`{shown}` is no case: {why}"), hint)
        };
        let name = CaseName::parse(name).map_err(|error| invalid(error.to_string()))?;
        let case = Case::parse(&files::read(&file)?).map_err(|faults| {
            invalid(faults.first().map_or_else(String::new, |fault| fault.message.clone()))
        })?;
        cases.push((name, case));
    }
    Ok(cases)
}

fn severity(one: &Finding) -> &'static str {
    match one.severity {
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

fn as_json(one: &Finding, (line, column): (u32, u32)) -> serde_json::Value {
    json!({
        "code": one.code.as_str(),
        "severity": severity(one),
        "op": one.op,
        "pointer": one.pointer,
        "line": line,
        "column": column,
        "message": one.message,
        "help": one.help,
    })
}

fn data(text: &str) -> String {
    visible(text).replace('%', "%25")
}

fn annotation(path: &Path, one: &Finding, (line, column): (u32, u32)) -> String {
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    format!(
        "::{} file={},line={line},col={column},title={}::{}",
        severity(one),
        property(&path.display().to_string()),
        property(one.code.as_str()),
        data(&format!("{}: {} ({})", one.pointer, one.message, one.help)),
    )
}

fn gone(known: &str) -> String {
    format!("`{known}` is said to be known, and is not found: take `--known` for it out")
}

fn say(path: &Path, manifest: &Manifest, found: &[Finding], stale: &[String], cases: usize) {
    for one in found {
        let (pointer, message) = (visible(&one.pointer), visible(&one.message));
        out::line(format_args!(
            "{} ({}): {pointer}: {message}; {}",
            severity(one),
            one.code.as_str(),
            visible(&one.help)
        ));
    }
    for one in stale {
        out::line(format_args!("error (known): {}", visible(&gone(one))));
    }
    let errors =
        found.iter().filter(|one| one.severity == Severity::Error).count().saturating_add(stale.len());
    let warnings = found.iter().filter(|one| one.severity == Severity::Warning).count();
    let path = visible(&path.display().to_string());
    let ops = manifest.ops().len();
    out::line(format_args!(
        "{path}: {} ({ops} ops, {cases} cases): {errors} errors, {warnings} warnings",
        manifest.label()
    ));
}

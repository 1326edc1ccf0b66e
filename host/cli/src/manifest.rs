//! `pinhole manifest check|test|schema`.

use std::path::{Path, PathBuf};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use pinhole_manifest::diagnostic::{Diagnostic, Severity};
use pinhole_manifest::visible::visible;
use pinhole_runtime::replay;
use serde_json::json;

use crate::args::ManifestCommand;
use crate::end::{End, Failure};
use crate::{files, occasion, out};

pub(crate) async fn main(command: ManifestCommand) -> anyhow::Result<End> {
    match command {
        ManifestCommand::Check { paths, json, annotations } => check(&paths, Shape::of(json, annotations)),
        ManifestCommand::Test { paths, json } => test(&paths, Shape::of(json, false)).await,
        ManifestCommand::Schema => {
            out::line(serde_json::to_string_pretty(&pinhole_manifest::schema::schema())?);
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
        let reading = pinhole_manifest::read(&bytes);
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
                let text = String::from_utf8_lossy(&bytes);
                for one in &reading.diagnostics {
                    out::line(caret(&path, &text, one));
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

fn manifest_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("manifest.json") } else { path.to_owned() }
}

fn summary(path: &Path, reading: &pinhole_manifest::Reading) -> String {
    match &reading.manifest {
        Some(manifest) => {
            format!(
                "{}: {} is valid, {} ops, {}",
                path.display(),
                manifest.label(),
                manifest.ops().len(),
                manifest.digest()
            )
        }
        None => format!("{}: {} faults; it does not load", path.display(), reading.diagnostics.len()),
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

/// The fault with its line and a caret under it.
fn caret(path: &Path, text: &str, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity() {
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let message = visible(&diagnostic.message);
    let help = visible(&diagnostic.help);
    let title = format!("{} ({})", diagnostic.pointer, diagnostic.code.as_str());
    let path = path.display().to_string();
    let snippet = Snippet::source(text)
        .path(&path)
        .annotation(AnnotationKind::Primary.span(diagnostic.span.clone()).label(&title));
    let report: &[Group<'_>] = &[
        level.primary_title(&message).element(snippet),
        Group::with_title(Level::HELP.secondary_title(&help)),
    ];
    Renderer::plain().render(report)
}

/// A GitHub workflow command, with the characters escaped that would end it.
fn annotation(path: &Path, diagnostic: &Diagnostic) -> String {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    format!(
        "::{} file={},line={},col={},title={}::{}",
        severity(diagnostic),
        property(&path.display().to_string()),
        diagnostic.line,
        diagnostic.column,
        property(diagnostic.code.as_str()),
        data(&format!("{} {} ({})", diagnostic.pointer, diagnostic.message, diagnostic.help)),
    )
}

async fn test(folders: &[PathBuf], shape: Shape) -> anyhow::Result<End> {
    let mut passed = 0_usize;
    let mut failed = Vec::new();
    for folder in folders {
        let manifest = files::read(&folder.join("manifest.json"))?;
        for file in case_files(folder)? {
            let bytes = files::read(&file)?;
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            match replay::replay(&manifest, name, &bytes, &mut occasion::entropy()).await {
                Ok(()) => passed += 1,
                Err(fault) => failed.push((file, fault)),
            }
        }
    }
    if passed == 0 && failed.is_empty() {
        return Err(Failure::new(
            End::Failed,
            "there is no case to replay",
            "write `cases/<op>.<name>.json`",
        )
        .into());
    }
    if shape == Shape::Json {
        let failures: Vec<_> = failed
            .iter()
            .map(|(file, fault)| json!({"file": file.display().to_string(), "fault": fault.to_string()}))
            .collect();
        out::json(&json!({"passed": passed, "failed": failures}))?;
    } else {
        for (file, fault) in &failed {
            out::line(format_args!("{}: {}", file.display(), visible(&fault.to_string())));
        }
        out::line(format_args!("{passed} passed, {} failed", failed.len()));
    }
    Ok(if failed.is_empty() { End::Done } else { End::Failed })
}

/// The cases of a manifest's folder, in order of their names.
fn case_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let cases = folder.join("cases");
    let entries = std::fs::read_dir(&cases).map_err(|error| {
        Failure::new(End::Usage, format!("`{}` cannot be read: {error}", cases.display()), "look at the path")
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

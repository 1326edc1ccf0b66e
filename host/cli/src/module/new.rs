//! `pinhole module new`: a folder with a module that builds and runs, its op, and a case.
//!
//! Its op asks for one thing that the service is known to answer, its account, and counts what the answer has: a place to
//! begin. Nothing that is there is written over.

use std::fs;
use std::path::{Path, PathBuf};

use pinhole_manifest::{OpId, ServiceId};
use serde_json::{Value, json};

use super::args::{Language, NewFlags};
use super::project::{base_of, text_at};
use super::sdk;
use crate::end::{End, Failure};
use crate::out;

/// Names that are words of a language, or of what a new module is made of; one a line.
const TAKEN: &str = include_str!("taken.txt");

/// The request that a new module makes.
struct First {
    path: String,
    /// The document, where the service speaks GraphQL.
    document: Option<String>,
}

pub(super) fn main(flags: &NewFlags) -> anyhow::Result<End> {
    let usage = |message: String, hint: &str| Failure::new(End::Usage, message, hint);
    let named = flags.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    let op = OpId::parse(&flags.name.replace('-', "_")).ok().filter(|_| named).ok_or_else(|| {
        usage(
            format!("`{}` is not a module's name", flags.name),
            "write small letters, digits and hyphens: `stale-issues`",
        )
    })?;
    if TAKEN.lines().any(|taken| taken == op.as_str()) {
        let message = format!("`{op}` is a word that means something else where the module is written");
        return Err(usage(message, "choose another name, such as `stale-issues`").into());
    }
    let service = ServiceId::parse(&flags.service)
        .map_err(|error| usage(format!("`{}`: {error}", flags.service), "`pinhole services` lists them"))?;
    let first = first(flags, &service)?;
    let folder = flags.dir.clone().unwrap_or_else(|| PathBuf::from(&flags.name));
    if fs::symlink_metadata(&folder).is_ok() {
        let message = format!("`{}` is there already", folder.display());
        return Err(usage(message, "choose another name, or another place with `--dir`").into());
    }
    make(&folder, flags, &service, &op, &first)?;
    let shown = folder.display();
    out::line(format_args!(
        "{shown}: a module in {}, whose op is `{op}` of `{service}`",
        word(flags.language)
    ));
    out::line(format_args!("  cd {shown}"));
    match flags.language {
        Language::Rust => {}
        Language::JavaScript => out::line("  npm install"),
        Language::Python => {
            out::line("  python3 -m venv .venv && .venv/bin/pip install componentize-py==0.25.1");
        }
    }
    out::line("  pinhole module build");
    out::line("  pinhole module run");
    Ok(End::Done)
}

fn word(language: Language) -> &'static str {
    match language {
        Language::Rust => "Rust",
        Language::JavaScript => "JavaScript",
        Language::Python => "Python",
    }
}

/// What proves a key: the manifest's viewer asks for the account.
fn first(flags: &NewFlags, service: &ServiceId) -> anyhow::Result<First> {
    let manifest: Value = base_of(service, flags.manifest.as_deref())?;
    let viewer = text_at(&manifest, "/auth/viewer").unwrap_or_default();
    manifest.pointer(&format!("/ops/{viewer}/request")).and_then(plain).ok_or_else(|| {
        let message = format!("`{service}` has no op without args that asks for the account");
        Failure::new(End::Usage, message, "begin with another service, and change what the op asks for")
            .into()
    })
}

/// A request without args.
fn plain(request: &Value) -> Option<First> {
    let path = text_at(request, "/path")?.to_owned();
    let document = text_at(request, "/graphql/query").map(str::to_owned);
    (!path.contains('{')).then_some(First { path, document })
}

fn make(
    folder: &Path,
    flags: &NewFlags,
    service: &ServiceId,
    op: &OpId,
    first: &First,
) -> anyhow::Result<()> {
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let draft = tempfile::Builder::new().prefix(".pinhole-module").tempdir_in(parent).map_err(|error| {
        let message = format!("nothing can be made in `{}`: {error}", parent.display());
        Failure::new(End::Local, message, "look at the path and the disk")
    })?;
    let fill = |text: &str| {
        let document = first.document.as_deref().unwrap_or_default();
        text.replace("@NAME@", &flags.name)
            .replace("@OP@", op.as_str())
            .replace("@PATH@", &first.path)
            .replace("@DOCUMENT@", &Value::from(document).to_string())
    };
    let write = |name: &str, text: &str| -> anyhow::Result<()> {
        let path = draft.path().join(name);
        fs::create_dir_all(path.parent().unwrap_or(draft.path()))?;
        Ok(fs::write(path, text)?)
    };
    let kit = sdk::kit(flags.language);
    for (name, text) in kit.template {
        let for_graphql = name.contains(".graphql.");
        let other = kit.template.iter().any(|(other, _)| *other == graphql_name(name));
        // A file for GraphQL takes the place of the plain one.
        if for_graphql != (first.document.is_some() && (for_graphql || other)) {
            continue;
        }
        write(&fill(&name.replace(".graphql.", ".")), &fill(text))?;
    }
    for (name, text) in kit.library {
        write(&format!("{}/{name}", kit.library_folder), text)?;
    }
    if let (Some(document), Language::Rust) = (&first.document, flags.language) {
        write("src/query.graphql", document)?;
    }
    write("op.json", &pretty(&spec(service, op, first))?)?;
    write(&format!("cases/{op}.sample.json"), &pretty(&sample(first))?)?;
    write(".gitignore", "/target\n/node_modules\n/.venv\n__pycache__\n")?;
    write("README.md", &fill(sdk::NEW_README))?;
    fs::rename(draft.path(), folder)?;
    // It has its own name now: there is nothing left to remove.
    let _gone = draft.keep();
    Ok(())
}

/// The name of the file that takes this one's place for GraphQL.
fn graphql_name(name: &str) -> String {
    name.rsplit_once('.').map_or_else(String::new, |(stem, ending)| format!("{stem}.graphql.{ending}"))
}

fn pretty(value: &Value) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// The op, as it will stand in the service's manifest.
fn spec(service: &ServiceId, op: &OpId, first: &First) -> Value {
    let mut line = json!({"method": "GET", "path": first.path});
    if let Some(document) = &first.document {
        line = json!({"method": "POST", "path": first.path, "graphql": document});
    }
    let op_itself = json!({
        "access": "read",
        "summary": "Say which members the account has.",
        "args": {"type": "object", "additionalProperties": false, "properties": {}},
        "module": {
            "file": format!("modules/{op}.wasm"),
            "sha256": "0".repeat(64),
            "requests": [line],
        },
        "pick": {"fields": ["members", "names"]},
    });
    json!({"service": service.as_str(), "op": {op.as_str(): op_itself}})
}

/// An invented answer, for a first run.
fn sample(first: &First) -> Value {
    let (method, answer) = match &first.document {
        None => ("GET", json!({"id": 1, "name": "A sample"})),
        Some(_) => ("POST", json!({"data": {"viewer": {"id": "1"}}})),
    };
    json!({
        "args": {},
        "access": "read",
        "exchanges": [{
            "request": {"method": method, "path": first.path},
            "response": {"status": 200, "headers": {"content-type": "application/json"}, "body": answer},
        }],
    })
}

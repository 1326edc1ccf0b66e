//! `pinhole module check`: what a component imports and exports, how large it is, and what it would be allowed.

use std::path::Path;

use pinhole_manifest::Digest;
use pinhole_manifest::model::Op;
use pinhole_manifest::visible::visible;
use pinhole_runtime::sandbox::{self, Misfit, SandboxSettings};
use serde_json::{Value, json};

use super::args::CheckFlags;
use super::project::Project;
use super::{component, loads, size, source};
use crate::end::{End, Failure};
use crate::out;

pub(super) fn main(flags: &CheckFlags) -> anyhow::Result<End> {
    let project = if flags.module.is_dir() { Some(Project::find(&flags.module)?) } else { None };
    if let Some(project) = &project {
        source::say_if_changed(project);
    }
    let path = project.as_ref().map_or_else(|| flags.module.clone(), Project::component);
    let bytes = component(&path)?;
    let found = sandbox::inspect(&bytes).map_err(|why| misfit(&why))?;
    let digest = Digest::of(&bytes);
    let manifest = match &project {
        Some(project) => {
            let (whole, _) = project.manifest(bytes, flags.manifest.as_deref())?;
            Some(loads(&whole, &project.spec)?)
        }
        None => None,
    };
    let op = project.as_ref().and_then(|project| manifest.as_ref()?.op(&project.op));
    let lines = project.as_ref().map_or(&[][..], Project::requests);
    let named = project.as_ref().and_then(Project::digest);
    let changed = named.is_some_and(|named| named != digest.hex());
    if flags.json {
        out::json(&json!({
            "file": path.display().to_string(),
            "sha256": digest.hex(),
            "size": found.bytes,
            "imports": found.imports.iter().map(|import| json!({"name": import.name, "given": import.given})).collect::<Vec<_>>(),
            "exports": found.exports,
            "loads": found.fits().is_ok(),
            "why_not": found.misfit.as_ref().map(ToString::to_string),
            "digest_is_the_op_s": named.map(|_| !changed),
            "allowed": op.map(|op| allowed(op, lines)),
        }))?;
    } else {
        out::line(format_args!("{}: {}, {digest}", shown(&path), size(found.bytes)));
        for import in &found.imports {
            let not = if import.given { "" } else { "   which no module is given" };
            out::line(format_args!("  imports  {}{not}", visible(&import.name)));
        }
        for export in &found.exports {
            out::line(format_args!("  exports  {}", visible(export)));
        }
        for line in op.into_iter().flat_map(|op| words(op, lines)) {
            out::line(format_args!("  {}", visible(&line)));
        }
        if changed {
            out::line("  the op names another digest: `pinhole module build` writes the new one");
        }
    }
    match found.fits() {
        Err(why) => Err(misfit(&why)),
        Ok(()) if changed => Ok(End::Failed),
        Ok(()) => Ok(End::Done),
    }
}

fn shown(path: &Path) -> String {
    visible(&path.display().to_string())
}

/// A component that no host would run.
pub(super) fn misfit(why: &Misfit) -> anyhow::Error {
    let hint = "build a component of the world `pinhole:op/module@1.0.0` (`wit/pinhole-op.wit`)";
    Failure::new(End::Invalid, format!("the component does not load: {why}"), hint).into()
}

/// What an op's module is allowed, a line each. `lines` are the requests as the op has them.
fn words(op: &Op, lines: &[Value]) -> Vec<String> {
    let limits = SandboxSettings::default();
    let bytes = |bytes: u64| size(usize::try_from(bytes).unwrap_or(usize::MAX));
    let mut words: Vec<String> = lines.iter().map(|line| format!("may ask  {}", request(line))).collect();
    words.push(format!(
        "may take {} of memory, {} requests, {} of answers, {} ms",
        size(limits.memory_bytes),
        limits.requests,
        bytes(limits.bytes_in),
        op.limits.timeout_ms,
    ));
    words.push(format!("may give {} of what the op picks", bytes(op.limits.result_bytes)));
    words
}

fn request(line: &Value) -> String {
    let listed = |name: &str, before: &str, between: &str| {
        let names = line.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let names: Vec<&str> = names.collect();
        if names.is_empty() { String::new() } else { format!("{before}{}", names.join(between)) }
    };
    let word = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default();
    format!(
        "{} {}{}{}{}",
        word("method"),
        word("path"),
        listed("query", "?", "&"),
        listed("headers", ", headers ", ", "),
        if line.get("graphql").is_some() { ", one GraphQL document" } else { "" },
    )
}

/// The same for programs.
fn allowed(op: &Op, lines: &[Value]) -> Value {
    let limits = SandboxSettings::default();
    json!({
        "requests": lines,
        "memory_bytes": limits.memory_bytes,
        "requests_a_call": limits.requests,
        "bytes_in": limits.bytes_in,
        "timeout_ms": op.limits.timeout_ms,
        "result_bytes": op.limits.result_bytes,
    })
}

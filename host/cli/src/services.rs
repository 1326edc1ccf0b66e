//! `pinhole services`: what there is, in the manifests' own words.

use pinhole_manifest::Manifest;
use pinhole_manifest::model::Op;
use pinhole_manifest::pick::Pick;
use pinhole_manifest::visible::visible;
use pinhole_runtime::catalog::{Entry, Source};
use serde_json::json;

use crate::args::ServicesFlags;
use crate::config::Config;
use crate::end::{End, Failure};
use crate::{local, occasion, out};

pub(crate) fn main(flags: &ServicesFlags, config: &Config) -> anyhow::Result<End> {
    let catalog = occasion::catalog(&flags.local, config)?;
    let named = flags.name.as_deref().map(|name| match name.split_once('.') {
        Some((service, op)) => (service, Some(op)),
        None => (name, None),
    });
    let (service, op) = match named {
        None => (None, None),
        Some((service, op)) => (Some(local::service(&catalog, service)?), op),
    };
    let Some(entry) = service else {
        if flags.json {
            out::json(&catalog.iter().map(describe).collect::<Vec<_>>())?;
        } else {
            catalog.iter().for_each(list);
        }
        return Ok(End::Done);
    };
    let Some(op) = op else {
        if flags.json {
            out::json(&describe(entry))?;
        } else {
            list(entry);
        }
        return Ok(End::Done);
    };
    let manifest = &entry.manifest;
    let Some(op) = manifest.ops().values().find(|known| known.id.as_str() == op) else {
        let message = format!("`{}` has no op `{op}`", manifest.id());
        return Err(Failure::new(
            End::Refused,
            message,
            format!("`pinhole services {}` lists them", manifest.id()),
        )
        .into());
    };
    if flags.json {
        out::json(&describe_op(op))?;
    } else {
        show(manifest, op);
    }
    Ok(End::Done)
}

/// A line of a manifest's words: nothing in them hides, reorders or begins a line of its own.
fn line(text: &str) {
    out::line(visible(text));
}

/// Where a manifest is from, where that is not the binary.
fn source(entry: &Entry) -> String {
    match &entry.source {
        Source::BuiltIn => String::new(),
        Source::Signed(registry) => format!(", signed by {registry}"),
        Source::UnsignedFile => ", unsigned".to_owned(),
    }
}

fn list(entry: &Entry) {
    let manifest = &entry.manifest;
    let verified = manifest.verified().map_or("unverified".to_owned(), |day| format!("verified {day}"));
    let source = source(entry);
    line(&format!("{}  {} ({}, {verified}{source})", manifest.label(), manifest.name(), manifest.host()));
    line(&format!("  {}", manifest.summary()));
    let widest = manifest.ops().keys().map(|op| op.as_str().len()).max().unwrap_or(0);
    for op in manifest.ops().values() {
        line(&format!("  {:<widest$}  {:<5}  {}", op.id.as_str(), op.access.as_str(), op.summary));
    }
}

fn show(manifest: &Manifest, op: &Op) {
    line(&format!("{}.{} ({})", manifest.id(), op.id, op.access));
    line(&format!("  {}", op.summary));
    if !op.args.defs().is_empty() {
        line("args:");
    }
    for (name, def) in op.args.defs() {
        let need = match (&def.default, def.required) {
            (Some(default), _) => format!("default {default}"),
            (None, true) => "required".to_owned(),
            (None, false) => "optional".to_owned(),
        };
        let name = name.as_str();
        line(&format!("  {name:<16}{:<9}{need:<16}{}", kind(op, name), def.description));
        let values = values(op, name);
        if !values.is_empty() {
            line(&format!("  {:<41}{values}", ""));
        }
    }
    if let Some(effect) = op.effect {
        let undone = if op.irreversible { ", and it cannot be taken back" } else { "" };
        line(&format!("effect: {}{undone}", effect.as_str()));
    }
    match &op.pick {
        Pick::None => line("returns nothing"),
        Pick::Fields(projection) => {
            let fields: Vec<&str> = projection.fields.iter().map(|field| field.text.as_str()).collect();
            line(&format!("returns: {}", fields.join(", ")));
        }
    }
}

/// The arg's type as its schema has it.
fn kind(op: &Op, name: &str) -> String {
    let kind = op.args.json().pointer(&format!("/properties/{name}/type"));
    kind.and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}

/// The values that an arg may have, where its schema says so.
fn values(op: &Op, name: &str) -> String {
    let schema = op.args.json().pointer(&format!("/properties/{name}"));
    let Some(schema) = schema.and_then(serde_json::Value::as_object) else {
        return String::new();
    };
    let listed = schema.get("enum").and_then(serde_json::Value::as_array);
    let mut said: Vec<String> = Vec::new();
    if let Some(listed) = listed {
        let words =
            listed.iter().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        said.push(format!("one of {}", words.collect::<Vec<_>>().join(", ")));
    }
    for (keyword, word) in [
        ("minimum", "at least"),
        ("maximum", "at most"),
        ("maxLength", "at most, in characters:"),
        ("maxItems", "at most, in elements:"),
    ] {
        said.extend(schema.get(keyword).map(|limit| format!("{word} {limit}")));
    }
    said.join("; ")
}

fn describe(entry: &Entry) -> serde_json::Value {
    let manifest = &entry.manifest;
    json!({
        "service": manifest.id(), "version": manifest.version().to_string(), "name": manifest.name(),
        "summary": manifest.summary(), "host": manifest.host(), "verified": manifest.verified(),
        "digest": manifest.digest(), "source": entry.source.name(),
        "ops": manifest.ops().values().map(describe_op).collect::<Vec<_>>(),
    })
}

fn describe_op(op: &Op) -> serde_json::Value {
    let returns: Vec<&str> = match &op.pick {
        Pick::None => Vec::new(),
        Pick::Fields(projection) => projection.fields.iter().map(|field| field.text.as_str()).collect(),
    };
    json!({
        "op": op.id, "access": op.access, "summary": op.summary, "args": op.args.json(), "returns": returns,
        "effect": op.effect.map(pinhole_manifest::model::Effect::as_str), "irreversible": op.irreversible,
    })
}

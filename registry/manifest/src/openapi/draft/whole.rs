//! From drafted ops to a manifest that loads: what [`crate::read`] does not take is left out, op by op.
//!
//! Refuses to give a manifest that was not read. INVARIANT: an op that breaks a rule takes no other with it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::DraftError;
use super::op::Drafted;
use crate::diagnostic::{Diagnostic, Severity};
use crate::draft::{Draft, Note, Refused, RefusedReason as Reason, text};
use crate::ids::OpId;
use crate::json::SIZE_MAX;
use crate::parse::OPS_MAX;

/// Ops that are read at a time.
const CHUNK: usize = 100;

/// A drafted op with its id.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) name: OpId,
    /// As people name the operation.
    pub(super) label: String,
    pub(super) drafted: Drafted,
}

/// Puts ops into a manifest, as many as there is room for.
pub(super) fn put_together(
    mut members: Map<String, Value>,
    drafted: Vec<Named>,
    mut refused: Vec<Refused>,
) -> Result<Draft, DraftError> {
    // What there is no room for need not be read.
    let drafted = fitting(&members, drafted, &mut refused);
    let mut good = Vec::new();
    let mut rest = drafted.into_iter().peekable();
    while rest.peek().is_some() {
        let chunk: Vec<Named> = rest.by_ref().take(CHUNK).collect();
        good.extend(sound(&members, chunk, &mut refused));
    }
    if let Some(message) = message(&good) {
        members.insert("error".to_owned(), json!({ "message": format!("$.{message}") }));
    }
    let (mut ops, mut notes) = (Map::new(), Vec::new());
    for Named { name, drafted, .. } in good {
        let note = |(at, message)| Note::new(Some(&name), format!("/ops/{name}{at}"), message);
        notes.extend(drafted.notes.into_iter().map(note));
        ops.insert(name.to_string(), drafted.op);
    }
    if ops.is_empty() {
        return Err(DraftError::Nothing(refused));
    }
    members.insert("ops".to_owned(), ops.into());
    let manifest = text(&members.into());
    // INVARIANT of a draft. Each op has been read among others already; a fault here is one of their number.
    if crate::read(manifest.as_bytes()).manifest.is_none() {
        refused.push(Refused::new(
            "the manifest",
            Reason::NotTaken,
            "what was drafted does not load as a whole",
        ));
        return Err(DraftError::Nothing(refused));
    }
    notes.sort_by(|a: &Note, b| (&a.op, &a.pointer).cmp(&(&b.op, &b.pointer)));
    Ok(Draft { manifest, notes, refused })
}

/// The ops of a chunk that break no rule.
fn sound(members: &Map<String, Value>, chunk: Vec<Named>, refused: &mut Vec<Refused>) -> Vec<Named> {
    let mut chunk = chunk;
    loop {
        let ops: Map<String, Value> =
            chunk.iter().map(|one| (one.name.to_string(), one.drafted.op.clone())).collect();
        if ops.is_empty() {
            return chunk;
        }
        let mut manifest = members.clone();
        manifest.insert("ops".to_owned(), ops.into());
        let reading = crate::read(manifest_bytes(&manifest).as_slice());
        if reading.manifest.is_some() {
            return chunk;
        }
        let faults = by_op(&reading.diagnostics);
        if faults.is_empty() {
            // Something of the service itself, or too much: nothing of the chunk can be shown to load.
            let why = reading.diagnostics.first().map_or("it does not load", |one| one.message.as_str());
            refused.extend(chunk.iter().map(|one| Refused::new(&one.label, Reason::NotTaken, why)));
            return Vec::new();
        }
        let (bad, good): (Vec<_>, Vec<_>) =
            chunk.into_iter().partition(|one| faults.contains_key(one.name.as_str()));
        for one in bad {
            let why = faults.get(one.name.as_str()).map_or("", |fault| fault.as_str());
            refused.push(Refused::new(one.label, Reason::NotTaken, why));
        }
        chunk = good;
    }
}

fn manifest_bytes(manifest: &Map<String, Value>) -> Vec<u8> {
    serde_json::to_vec(manifest).unwrap_or_default()
}

/// The first fault of each op.
fn by_op(diagnostics: &[Diagnostic]) -> BTreeMap<&str, String> {
    let mut faults = BTreeMap::new();
    for one in diagnostics.iter().filter(|one| one.severity() == Severity::Error) {
        let op = one.pointer.strip_prefix("/ops/").map(|rest| rest.split('/').next().unwrap_or(rest));
        if let Some(op) = op {
            faults.entry(op).or_insert_with(|| format!("{}: {}", one.code.as_str(), one.message));
        }
    }
    faults
}

/// As many ops as a file has room for.
fn fitting(members: &Map<String, Value>, good: Vec<Named>, refused: &mut Vec<Refused>) -> Vec<Named> {
    // Room for what is set later: `error`, scopes.
    let mut left = SIZE_MAX.saturating_sub(text(&members.clone().into()).len()).saturating_sub(4_096);
    let mut kept = Vec::new();
    for one in good {
        let alone = json!({ "ops": { one.name.as_str(): one.drafted.op.clone() } });
        let length = text(&alone).len();
        if kept.len() >= OPS_MAX {
            let message = format!("a manifest has at most {OPS_MAX} ops");
            refused.push(Refused::new(one.label, Reason::TooManyOps, message));
        } else if let Some(rest) = left.checked_sub(length) {
            left = rest;
            kept.push(one);
        } else {
            refused.push(Refused::new(
                one.label,
                Reason::TooLarge,
                "the manifest would be larger than a file may be",
            ));
        }
    }
    kept
}

/// Where most ops keep the text of a failure.
fn message(good: &[Named]) -> Option<&'static str> {
    let said: BTreeSet<&'static str> = good.iter().filter_map(|one| one.drafted.message).collect();
    let count = |place: &&'static str| good.iter().filter(|one| one.drafted.message == Some(place)).count();
    let all = good.iter().filter(|one| one.drafted.message.is_some()).count();
    said.into_iter().max_by_key(count).filter(|place| count(place).saturating_mul(2) > all)
}

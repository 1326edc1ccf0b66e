//! Changes as one JSON document, with stable names.

use pinhole_manifest::Digest;
use pinhole_manifest::diff::{Change, Place, Side, places};
use serde_json::{Value, json};

use super::source::File;
use super::{Compared, Unread};
use crate::manifest::as_json;
use crate::out::plain_json;

pub(super) fn changes(services: &[Compared]) -> String {
    let document = json!({
        "valid": true,
        "widens": services.iter().any(|service| service.comparison.widens()),
        "versions_right": !services.iter().any(|service| service.comparison.version().is_broken()),
        "services": services.iter().map(service).collect::<Vec<_>>(),
        "unread": [],
    });
    plain_json(&document.to_string())
}

pub(super) fn unread(unread: &[Unread]) -> String {
    let one = |one: &Unread| {
        json!({
            "side": one.side.as_str(),
            "file": one.file.shown(),
            "diagnostics": one.diagnostics.iter().map(as_json).collect::<Vec<_>>(),
        })
    };
    let unread: Vec<Value> = unread.iter().map(one).collect();
    // What is not understood is never narrower.
    let document =
        json!({ "valid": false, "widens": true, "versions_right": false, "services": [], "unread": unread });
    plain_json(&document.to_string())
}

fn service(service: &Compared) -> Value {
    let comparison = &service.comparison;
    let what = match (&service.old, &service.new) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => "changed",
    };
    let version = comparison.version();
    json!({
        "service": service.service,
        "what": what,
        "old": side(service.old.as_ref()),
        "new": side(service.new.as_ref()),
        "widens": comparison.widens(),
        "version": { "verdict": version.as_str(), "says": version.says() },
        "changes": all(service),
    })
}

fn side(side: Option<&(String, File)>) -> Value {
    let Some((version, file)) = side else { return Value::Null };
    json!({ "version": version, "file": file.shown(), "digest": Digest::of(&file.bytes) })
}

fn all(service: &Compared) -> Vec<Value> {
    let changes = service.comparison.changes();
    let places_in = |side: Side, file: Option<&(String, File)>| -> Vec<Option<Place>> {
        let Some((_, file)) = file else { return vec![None; changes.len()] };
        let found = places(&file.bytes, changes.iter().map(Change::pointer));
        found
            .into_iter()
            .zip(changes)
            .map(|(place, change)| (change.side() == side).then_some(place))
            .collect()
    };
    let old = places_in(Side::Old, service.old.as_ref());
    let new = places_in(Side::New, service.new.as_ref());
    let places = old.into_iter().zip(new).map(|(old, new)| old.or(new));
    changes.iter().zip(places).map(|(change, place)| one(change, place)).collect()
}

fn one(change: &Change, place: Option<Place>) -> Value {
    json!({
        "kind": change.kind().as_str(),
        "direction": change.direction().as_str(),
        "widens": change.widens(),
        "op": change.op(),
        "side": change.side().as_str(),
        "pointer": change.pointer(),
        "line": place.map(|place| place.line),
        "column": place.map(|place| place.column),
        "says": change.says(),
        "before": change.before(),
        "after": change.after(),
    })
}

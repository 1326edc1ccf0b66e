//! One vector for each thing that can be changed, named after it.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use pinhole_manifest::Manifest;
use pinhole_manifest::diff::{Change, Comparison, Direction, Kind, Side, diff};
use serde_json::Value;

use crate::{base, manifest};

/// One file of `tests/vectors/diff`: two manifests, each a base with patches, and what has changed between them.
struct Vector {
    name: String,
    old: (Value, Manifest),
    new: (Value, Manifest),
    /// `<direction> <kind> <pointer>` of each change, in order.
    changes: Vec<String>,
    /// What is said of the version.
    version: String,
}

impl Vector {
    fn compared(&self) -> Comparison {
        diff(&self.old.1, &self.new.1)
    }
}

static VECTORS: LazyLock<Vec<Vector>> = LazyLock::new(|| {
    let entries = std::fs::read_dir(base::folder().join("diff")).unwrap();
    let mut vectors: Vec<Vector> = entries.map(|entry| vector(&entry.unwrap().path())).collect();
    vectors.sort_by(|a, b| a.name.cmp(&b.name));
    vectors
});

fn vector(path: &std::path::Path) -> Vector {
    let (name, file) = (path.file_stem().unwrap().to_str().unwrap().to_owned(), base::load(path));
    let side = |side: &str| {
        let mut value = base::base(file["base"].as_str().unwrap());
        for change in file[side].as_array().unwrap() {
            base::apply(&mut value, change, &name);
        }
        let loaded = manifest(&value, &name);
        (value, loaded)
    };
    let changes = file["expect"]["changes"].as_array().unwrap();
    let changes = changes.iter().map(|line| line.as_str().unwrap().to_owned()).collect();
    let version = file["expect"]["version"].as_str().unwrap().to_owned();
    Vector { old: side("old"), new: side("new"), changes, version, name }
}

fn line(change: &Change) -> String {
    let place = format!("{} {} {}", change.direction().as_str(), change.kind().as_str(), change.pointer());
    place.trim_end().to_owned()
}

#[test]
fn every_vector_is_compared_as_it_says() {
    assert!(VECTORS.len() > 200, "{}", VECTORS.len());
    let mut wrong = Vec::new();
    for vector in &*VECTORS {
        let comparison = vector.compared();
        let found: Vec<String> = comparison.changes().iter().map(line).collect();
        let version = comparison.version().as_str();
        if found != vector.changes || version != vector.version {
            let expected = (&vector.changes, &vector.version);
            wrong.push(format!("{}: expected {expected:#?}, found {found:#?} {version}", vector.name));
        }
        let widens =
            vector.changes.iter().any(|line| line.starts_with("widens") || line.starts_with("unproven"));
        assert_eq!(comparison.widens(), widens, "{}", vector.name);
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_change_says_in_words_what_it_is_and_where() {
    for vector in &*VECTORS {
        let name = &vector.name;
        for change in vector.compared().changes() {
            let says = change.says();
            assert!(says.len() > 15 && !says.ends_with('.') && !says.contains('\n'), "{name}: {says}");
            let side = if change.side() == Side::New { &vector.new.0 } else { &vector.old.0 };
            // A member with a default may not be written: then the place is that of what would hold it.
            let mut pointer = change.pointer();
            for _ in 0..2 {
                if side.pointer(pointer).is_none() {
                    pointer = pointer.rsplit_once('/').unwrap().0;
                }
            }
            assert!(side.pointer(pointer).is_some(), "{name}: {}", change.pointer());
            if let Some(op) = change.op() {
                assert!(change.pointer().starts_with(&format!("/ops/{op}")), "{name}: {}", change.pointer());
            }
        }
    }
}

#[test]
fn every_kind_of_change_has_a_vector() {
    let found: BTreeSet<Kind> = VECTORS
        .iter()
        .flat_map(|vector| vector.compared().changes().iter().map(Change::kind).collect::<Vec<_>>())
        .collect();
    let of_services = [Kind::ServiceAdded, Kind::ServiceRemoved];
    let missing: Vec<_> =
        Kind::ALL.iter().filter(|kind| !found.contains(kind) && !of_services.contains(kind)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn turned_around_what_only_narrows_widens() {
    for vector in &*VECTORS {
        let (there, back) = (vector.compared(), diff(&vector.new.1, &vector.old.1));
        let narrows = there.changes().iter().any(|change| change.direction() == Direction::Narrows);
        if narrows && !there.widens() {
            assert!(back.widens(), "{}: {:?}", vector.name, back.changes());
        }
        assert_eq!(there.is_empty(), back.is_empty(), "{}", vector.name);
    }
}

#[test]
fn a_widening_bears_on_its_op_alone_and_one_of_the_service_on_every_op() {
    let compared = |name: &str| VECTORS.iter().find(|vector| vector.name == name).unwrap().compared();
    let op = |id: &str| pinhole_manifest::OpId::parse(id).unwrap();
    let one = compared("pick_field_added");
    assert!(one.op_widens(&op("list_things")) && !one.op_widens(&op("get_thing")));
    let all = compared("host");
    assert!(all.op_widens(&op("list_things")) && all.op_widens(&op("get_thing")));
    let none = compared("pick_field_removed");
    assert!(!none.op_widens(&op("list_things")) && !none.op_widens(&op("get_thing")));
}

//! Delegated targets: in which order roles are looked into, and whose word counts for what.

use pinhole_registry::client::Refused;
use serde_json::{Value, json};

use crate::folder::{Bare, refusal};
use crate::kit::{Forge, Key, in_days, now, sha256, signed};

/// A delegation: by whom, to whom, for what, and whether it ends the search elsewhere.
#[derive(Clone, Copy)]
struct Edge(&'static str, &'static str, &'static [&'static str], bool);

const ALL: &[&str] = &["*"];

fn edge(by: &'static str, to: &'static str) -> Edge {
    Edge(by, to, ALL, false)
}

fn key(role: &str) -> Key {
    Key::new(100 + role.as_bytes()[0] % 100)
}

/// A repository of delegations, each role of which has its files.
fn tree(edges: &[Edge], files: &[(&str, &str)], twist: impl Fn(&str, &mut Value)) -> Forge {
    let mut forge = Forge::honest();
    let mut roles: Vec<&str> = vec!["targets"];
    roles.extend(edges.iter().map(|edge| edge.1).filter(|role| *role != "targets"));
    roles.sort_unstable();
    roles.dedup();
    let mut meta = serde_json::Map::new();
    for role in roles {
        let delegated = edges.iter().filter(|edge| edge.0 == role);
        let keys: serde_json::Map<_, _> =
            delegated.clone().map(|edge| (key(edge.1).id(), key(edge.1).json())).collect();
        let delegations: Vec<_> = delegated
            .map(|Edge(_, to, paths, terminating)| {
                json!({"name": to, "keyids": [key(to).id()], "threshold": 1, "terminating": terminating, "paths": paths})
            })
            .collect();
        let mut targets = serde_json::Map::new();
        for (_, name) in files.iter().filter(|(of, _)| *of == role) {
            let bytes = format!("{name} by {role}").into_bytes();
            targets
                .insert((*name).into(), json!({"length": bytes.len(), "hashes": {"sha256": sha256(&bytes)}}));
            let (folder, file) = name
                .rsplit_once('/')
                .map_or((String::new(), *name), |(folder, file)| (format!("{folder}/"), file));
            forge.files.insert(format!("targets/{folder}{}.{file}", sha256(&bytes)), bytes);
        }
        let mut value = json!({
            "_type": "targets", "spec_version": "1.0.31", "version": 2, "expires": in_days(30).to_string(),
            "targets": targets, "delegations": {"keys": keys, "roles": delegations}
        });
        twist(role, &mut value);
        let signers = if role == "targets" { forge.targets.signers.clone() } else { vec![key(role)] };
        forge.files.insert(format!("metadata/2.{role}.json"), signed(&value, &signers));
        meta.insert(format!("{role}.json"), json!({"version": 2}));
    }
    let snapshot = json!({
        "_type": "snapshot", "spec_version": "1.0.31", "version": 2, "expires": in_days(30).to_string(), "meta": meta
    });
    forge.snapshot.version = 2;
    forge.timestamp.version = 2;
    forge.files.insert("metadata/2.snapshot.json".into(), signed(&snapshot, &forge.snapshot.signers));
    forge.write_timestamp();
    forge
}

/// The delegated roles that were asked for, in order.
fn visited(forge: &Forge) -> String {
    let asked = forge.asked();
    let roles = asked.iter().filter_map(|path| path.strip_prefix("metadata/2.")?.strip_suffix(".json"));
    roles.filter(|role| !["root", "snapshot", "targets"].contains(role)).collect::<Vec<_>>().join(" ")
}

#[test]
fn roles_are_looked_into_depth_first_in_their_order() {
    let py: &[&str] = &["*.py"];
    let cases: &[(&[Edge], &str)] = &[
        (&[edge("targets", "A")], "A"),
        (&[edge("targets", "A"), edge("targets", "B"), edge("B", "C")], "A B C"),
        (&[edge("targets", "A"), edge("targets", "B"), edge("A", "C"), edge("A", "D")], "A C D B"),
        (&[edge("targets", "A"), edge("targets", "B"), edge("A", "C"), edge("C", "D")], "A C D B"),
        (&[edge("targets", "A"), edge("targets", "B"), Edge("A", "C", ALL, true), edge("A", "D")], "A C"),
        (&[edge("targets", "A"), edge("targets", "B"), Edge("A", "C", ALL, true), edge("C", "D")], "A C D"),
        (&[Edge("targets", "A", py, false), edge("targets", "B"), edge("A", "C")], "B"),
        (&[edge("targets", "A"), edge("targets", "B"), Edge("A", "C", py, false), edge("C", "D")], "A B"),
        (&[edge("targets", "B"), edge("B", "C"), edge("C", "D"), edge("D", "B")], "B C D"),
        (&[edge("targets", "A"), edge("targets", "B"), edge("B", "C"), edge("A", "C")], "A C B"),
        (&[edge("targets", "A"), edge("targets", "B"), edge("B", "C"), Edge("A", "C", py, false)], "A B C"),
    ];
    for (edges, order) in cases {
        let forge = tree(edges, &[], |_, _| {});
        let bare = Bare::new(&forge);
        assert!(matches!(refusal(bare.download(&forge, "missing")), Refused::NoTarget { .. }), "{order}");
        assert_eq!(visited(&forge), *order);
    }
}

#[test]
fn a_word_counts_for_names_that_every_delegation_on_the_way_covers() {
    let edges = [
        Edge("targets", "A", &["*.doc", "*.md"], false),
        Edge("targets", "B", &["releases/*/*"], false),
        Edge("B", "C", &["releases/x/*"], false),
        Edge("B", "D", &["releases/y/*.zip"], false),
    ];
    let files = [
        ("targets", "top"),
        ("A", "README.md"),
        ("A", "folder/README.md"),
        ("C", "releases/x/x_v1"),
        ("D", "releases/y/y_v1.zip"),
        ("D", "releases/z/z_v1.zip"),
    ];
    let forge = tree(&edges, &files, |_, _| {});
    for (name, by, order) in [
        ("top", "targets", ""),
        ("README.md", "A", "A"),
        ("releases/x/x_v1", "C", "B C"),
        ("releases/y/y_v1.zip", "D", "B D"),
    ] {
        let bare = Bare::new(&forge);
        assert_eq!(bare.download(&forge, name).unwrap(), format!("{name} by {by}").into_bytes());
        assert_eq!(visited(&forge), order);
        // What was verified once is not asked for again.
        bare.download(&forge, name).unwrap();
        assert_eq!(visited(&forge), "");
    }
    for (name, order) in [("releases/z/z_v1.zip", "B"), ("folder/README.md", "")] {
        assert!(
            matches!(refusal(Bare::new(&forge).download(&forge, name)), Refused::NoTarget { .. }),
            "{name}"
        );
        assert_eq!(visited(&forge), order);
    }
}

#[test]
fn a_delegated_role_is_held_to_the_same_rules() {
    let edges = [edge("targets", "A")];
    let files = [("A", "x")];
    let expired = tree(&edges, &files, |role, value| {
        if role == "A" {
            value["expires"] = now().to_string().into();
        }
    });
    assert!(matches!(refusal(Bare::new(&expired).download(&expired, "x")), Refused::Expired { .. }));
    let older = tree(&edges, &files, |role, value| {
        if role == "A" {
            value["version"] = 1.into();
        }
    });
    assert!(matches!(refusal(Bare::new(&older).download(&older, "x")), Refused::OtherVersion { .. }));
    let mut unsigned = tree(&edges, &files, |_, _| {});
    let file: Value = serde_json::from_slice(&unsigned.files["metadata/2.A.json"]).unwrap();
    unsigned.files.insert("metadata/2.A.json".into(), signed(&file["signed"], &[Key::new(9)]));
    assert!(matches!(refusal(Bare::new(&unsigned).download(&unsigned, "x")), Refused::NotSigned { .. }));
    // One key under two ids is not the two that must sign.
    let mut twice = tree(&edges, &files, |role, value| {
        if role == "targets" {
            let alias = key("A").alias();
            value["delegations"]["keys"][alias.id()] = alias.json();
            value["delegations"]["roles"][0]["keyids"] = json!([key("A").id(), alias.id()]);
            value["delegations"]["roles"][0]["threshold"] = 2.into();
        }
    });
    twice.files.insert("metadata/2.A.json".into(), signed(&file["signed"], &[key("A"), key("A").alias()]));
    assert!(matches!(refusal(Bare::new(&twice).download(&twice, "x")), Refused::NotSigned { .. }));
}

#[test]
fn a_search_looks_into_so_many_roles_and_no_more() {
    let names: Vec<&'static str> = (0..40).map(|n| &*Box::leak(format!("r{n}").into_boxed_str())).collect();
    let edges: Vec<_> = names.iter().map(|name| edge("targets", name)).collect();
    let forge = tree(&edges, &[("r39", "x")], |_, _| {});
    assert!(matches!(refusal(Bare::new(&forge).download(&forge, "x")), Refused::NoTarget { .. }));
    assert_eq!(visited(&forge).split(' ').count(), 32);
}

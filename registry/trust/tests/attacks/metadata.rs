//! Metadata that is too large, of another form, or read differently by different readers.

use pinhole_registry::RoleName;
use pinhole_registry::client::{JsonFault, Malformed, Refused};
use serde_json::json;

use crate::host::{Attack, Host, refusal};
use crate::kit::{Forge, signed};

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "timestamp_without_end",
        done: |forge| {
            forge.endless.insert("metadata/timestamp.json".into());
        },
        refused: is_too_large,
    },
    Attack {
        name: "root_without_end",
        done: |forge| {
            forge.endless.insert("metadata/2.root.json".into());
        },
        refused: is_too_large,
    },
    Attack {
        name: "snapshot_without_end",
        done: |forge| {
            forge.sealed = false;
            forge.next();
            forge.endless.insert(format!("metadata/{}.snapshot.json", forge.snapshot.version));
        },
        refused: is_too_large,
    },
    Attack {
        name: "targets_without_end",
        done: |forge| {
            forge.sealed = false;
            forge.next();
            forge.endless.insert(format!("metadata/{}.targets.json", forge.targets.version));
        },
        refused: is_too_large,
    },
    Attack {
        name: "targets_listed_as_larger_than_they_may_be",
        done: |forge| {
            forge.twist = Some(|role, signed| {
                if role == "snapshot" {
                    signed["meta"]["targets.json"]["length"] = json!(u64::MAX);
                }
            });
            forge.next();
        },
        refused: is_too_large,
    },
    Attack {
        name: "snapshot_shorter_than_listed",
        done: |forge| {
            forge.twist = Some(|role, signed| {
                if role == "timestamp" {
                    let length = signed["meta"]["snapshot.json"]["length"].as_u64().unwrap();
                    signed["meta"]["snapshot.json"]["length"] = json!(length + 1);
                }
            });
            forge.next();
        },
        refused: |refused| matches!(refused, Refused::WrongLength { .. }),
    },
    Attack {
        name: "snapshot_of_another_hash",
        done: |forge| {
            forge.twist = Some(|role, signed| {
                if role == "timestamp" {
                    signed["meta"]["snapshot.json"]["hashes"]["sha256"] = json!("00".repeat(32));
                }
            });
            forge.next();
        },
        refused: |refused| matches!(refused, Refused::WrongHash { .. }),
    },
    Attack {
        name: "targets_of_another_hash",
        done: |forge| {
            forge.next();
            let name = format!("metadata/{}.targets.json", forge.targets.version);
            let bytes = forge.files.get_mut(&name).unwrap();
            // A space less somewhere and one more elsewhere: same length, same meaning.
            bytes.insert(0, b' ');
            bytes.pop();
        },
        refused: |refused| matches!(refused, Refused::WrongHash { .. }),
    },
    Attack {
        name: "unknown_version_of_the_specification",
        done: |forge| {
            forge.twist = Some(|role, signed| {
                if role == "timestamp" {
                    signed["spec_version"] = json!("2.0.0");
                }
            });
            forge.next();
        },
        refused: |refused| is_malformed(refused, |fault| matches!(fault, Malformed::SpecVersion { .. })),
    },
    Attack {
        name: "role_of_another_type",
        done: |forge| {
            forge.twist = Some(|role, signed| {
                if role == "timestamp" {
                    signed["_type"] = json!("snapshot");
                }
            });
            forge.next();
        },
        refused: |refused| is_malformed(refused, |fault| matches!(fault, Malformed::OtherRole { .. })),
    },
    Attack {
        name: "version_nought",
        done: |forge| {
            forge.timestamp.version = 0;
            forge.write_timestamp();
        },
        refused: |refused| is_malformed(refused, |fault| matches!(fault, Malformed::Schema(_))),
    },
    Attack {
        name: "timestamp_of_two_snapshots",
        done: |forge| {
            forge.twist = Some(|role, signed| {
                if role == "timestamp" {
                    signed["meta"]["other.json"] = json!({"version": 1});
                }
            });
            forge.next();
        },
        refused: |refused| is_malformed(refused, |fault| matches!(fault, Malformed::Listing(_))),
    },
    Attack {
        name: "member_twice",
        done: |forge| {
            forge.next();
            twice(forge, "\"signed\":{", "\"signed\":{\"version\":1,");
        },
        refused: |refused| {
            is_malformed(refused, |fault| matches!(fault, Malformed::Json(JsonFault::Duplicate)))
        },
    },
    Attack {
        name: "member_twice_under_an_escape",
        done: |forge| {
            forge.next();
            twice(forge, "\"meta\":{", "\"meta\":{\"snapsho\\u0074.json\":{\"version\":1},");
        },
        refused: |refused| {
            is_malformed(refused, |fault| matches!(fault, Malformed::Json(JsonFault::Duplicate)))
        },
    },
    Attack {
        name: "depth_without_end",
        done: |forge| {
            let bytes = "[".repeat(10_000).into_bytes();
            forge.files.insert("metadata/timestamp.json".into(), bytes);
        },
        refused: |refused| is_malformed(refused, |fault| matches!(fault, Malformed::Json(JsonFault::Deep))),
    },
    Attack {
        name: "depth_in_a_member_that_nobody_reads",
        done: |forge| {
            forge.twist = Some(|role, signed| {
                if role == "timestamp" {
                    signed["x"] = (0..40).fold(json!(1), |inner, _| json!([inner]));
                }
            });
            forge.next();
        },
        refused: |refused| is_malformed(refused, |fault| matches!(fault, Malformed::Json(JsonFault::Deep))),
    },
    Attack {
        name: "no_json",
        done: |forge| {
            forge.files.insert("metadata/timestamp.json".into(), b"<html>".to_vec());
        },
        refused: |refused| {
            is_malformed(refused, |fault| matches!(fault, Malformed::Json(JsonFault::NotJson)))
        },
    },
    Attack {
        name: "something_behind_the_document",
        done: |forge| {
            forge.next();
            forge.files.get_mut("metadata/timestamp.json").unwrap().extend(b"{}");
        },
        refused: |refused| {
            is_malformed(refused, |fault| matches!(fault, Malformed::Json(JsonFault::NotJson)))
        },
    },
];

fn is_too_large(refused: &Refused) -> bool {
    matches!(refused, Refused::TooLarge { .. })
}

fn is_malformed(refused: &Refused, fault: fn(&Malformed) -> bool) -> bool {
    matches!(refused, Refused::Malformed { source, .. } if fault(source))
}

fn twice(forge: &mut Forge, from: &str, to: &str) {
    let bytes = forge.files["metadata/timestamp.json"].clone();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains(from), "{text}");
    forge.files.insert("metadata/timestamp.json".into(), text.replace(from, to).into_bytes());
}

/// A chain of roots without end is gone along in bounded steps; each sync goes on where the last one stopped.
#[test]
fn too_many_root_updates() {
    let mut forge = Forge::honest();
    let host = Host::synced(&forge);
    for _ in 0..300 {
        forge.rotate(|_| {});
    }
    let before = host.view();
    forge.asked();
    assert!(matches!(refusal(host.sync(&forge)), Refused::TooManyRoots));
    let roots = forge.asked().len();
    assert_eq!(roots, 257, "256 are taken over, and one more shows that there are more");
    assert_eq!(host.view(), before);
    assert_eq!(host.sync(&forge).unwrap().root, 301);
}

/// What the file says beside what is signed has no meaning.
#[test]
fn what_is_not_signed_is_not_believed() {
    let mut forge = Forge::honest();
    let host = Host::synced(&forge);
    forge.next();
    let text = String::from_utf8(forge.files["metadata/timestamp.json"].clone()).unwrap();
    let text = text.replacen('{', "{\"version\":99,", 1);
    forge.files.insert("metadata/timestamp.json".into(), text.into_bytes());
    host.sync(&forge).unwrap();
}

/// The root that the operator is to trust gets the same look.
#[test]
fn a_root_that_cannot_be_trusted_is_not() {
    use pinhole_registry::client::inspect_root;
    let forge = Forge::honest();
    assert!(inspect_root(&forge.root_bytes()).is_ok());
    let unsigned = signed(&forge.root_value(), &[]);
    assert!(matches!(inspect_root(&unsigned), Err(Refused::NotSigned { role: RoleName::Root, .. })));
    let timestamp = &forge.files["metadata/timestamp.json"];
    assert!(matches!(inspect_root(timestamp), Err(Refused::Malformed { .. })));
    assert!(matches!(inspect_root(b""), Err(Refused::Malformed { .. })));
}

//! Targets that are not what was signed, or whose names lead elsewhere.

use pinhole_registry::MANIFEST_BYTES_MAX;
use pinhole_registry::client::Refused;
use serde_json::json;

use crate::host::Attack;
use crate::kit::{Forge, manifest, sha256};

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "target_of_another_hash",
        done: |forge| {
            let bytes = offer(forge);
            let mut other = bytes.clone();
            *other.last_mut().unwrap() = b' ';
            forge.files.insert(format!("targets/{}.books.json", sha256(&bytes)), other);
        },
        refused: |refused| matches!(refused, Refused::WrongHash { file } if file == "books.json"),
    },
    Attack {
        name: "target_shorter_than_listed",
        done: |forge| {
            let bytes = offer(forge);
            let shorter = bytes[..bytes.len() - 1].to_vec();
            forge.files.insert(format!("targets/{}.books.json", sha256(&bytes)), shorter);
        },
        refused: |refused| matches!(refused, Refused::WrongLength { file, .. } if file == "books.json"),
    },
    Attack {
        name: "target_longer_than_listed",
        done: |forge| {
            let bytes = offer(forge);
            let longer = [&bytes[..], b" "].concat();
            forge.files.insert(format!("targets/{}.books.json", sha256(&bytes)), longer);
        },
        refused: |refused| matches!(refused, Refused::TooLarge { .. }),
    },
    Attack {
        name: "target_without_end",
        done: |forge| {
            let bytes = offer(forge);
            forge.endless.insert(format!("targets/{}.books.json", sha256(&bytes)));
        },
        refused: |refused| matches!(refused, Refused::TooLarge { .. }),
    },
    Attack {
        name: "manifest_larger_than_one_may_be",
        done: |forge| {
            forge.twist = Some(|role, signed| {
                if role == "targets" {
                    signed["targets"]["shelf.json"]["length"] = json!(MANIFEST_BYTES_MAX + 1);
                }
            });
            forge.next();
        },
        refused: |refused| matches!(refused, Refused::TooLarge { .. }),
    },
    Attack {
        name: "hash_that_is_too_short",
        done: |forge| {
            forge.twist = Some(|role, signed| {
                if role == "targets" {
                    signed["targets"]["shelf.json"]["hashes"]["sha256"] = json!("abcd");
                }
            });
            forge.next();
        },
        refused: |refused| matches!(refused, Refused::WrongHash { .. }),
    },
    Attack {
        name: "target_without_a_hash",
        done: |forge| {
            forge.twist = Some(|role, signed| {
                if role == "targets" {
                    signed["targets"]["shelf.json"]["hashes"] = json!({"sha512": "ab".repeat(64)});
                }
            });
            forge.next();
        },
        refused: |refused| matches!(refused, Refused::Malformed { .. }),
    },
    Attack { name: "name_that_escapes", done: |forge| name(forge, "../shelf.json"), refused: is_name },
    Attack { name: "name_that_is_absolute", done: |forge| name(forge, "/etc/passwd"), refused: is_name },
    Attack { name: "name_with_a_folder", done: |forge| name(forge, "a/shelf.json"), refused: is_name },
    Attack { name: "name_with_a_backslash", done: |forge| name(forge, "..\\shelf.json"), refused: is_name },
    Attack {
        name: "name_that_resolves_to_ours",
        done: |forge| name(forge, "./books.json"),
        refused: is_name,
    },
    Attack { name: "name_with_a_control", done: |forge| name(forge, "books.json\u{7}"), refused: is_name },
    Attack { name: "name_that_is_not_ours", done: |forge| name(forge, "readme.txt"), refused: is_name },
    Attack {
        name: "delegation",
        done: |forge| {
            forge.twist = Some(|role, signed| {
                if role == "targets" {
                    let key = crate::kit::Key::new(77);
                    signed["delegations"] = json!({
                        "keys": {key.id(): key.json()},
                        "roles": [{"name": "others", "keyids": [key.id()], "threshold": 1,
                                   "terminating": false, "paths": ["*"]}]
                    });
                }
            });
            forge.next();
        },
        refused: |refused| matches!(refused, Refused::Delegations),
    },
    Attack {
        name: "more_targets_than_are_taken",
        done: |forge| {
            for n in 0..32_769 {
                forge.content.insert(format!("s{n}.json"), Vec::new());
            }
            forge.next();
        },
        refused: |refused| matches!(refused, Refused::TooManyTargets { .. }),
    },
];

fn is_name(refused: &Refused) -> bool {
    matches!(refused, Refused::TargetName { .. } | Refused::Malformed { .. })
}

/// A second service, published.
fn offer(forge: &mut Forge) -> Vec<u8> {
    let bytes = manifest("books", "1.0.0", &["id"]);
    forge.content.insert("books.json".into(), bytes.clone());
    forge.next();
    bytes
}

fn name(forge: &mut Forge, name: &str) {
    forge.content.insert(name.to_owned(), b"x".to_vec());
    forge.next();
}

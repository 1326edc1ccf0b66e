//! Too few signatures, the wrong ones, and keys that would count twice.

use pinhole_registry::RoleName;
use pinhole_registry::client::{KeyFault, Malformed, Refused, Signers};
use serde_json::{Value, json};

use crate::host::{Attack, Host, refusal};
use crate::kit::{Forge, Key, signed};

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "timestamp_signed_by_another_key",
        done: |forge| {
            forge.timestamp.signers = vec![Key::new(99)];
            forge.next();
        },
        refused: |refused| is_unsigned(refused, RoleName::Timestamp, Signers::Trusted),
    },
    Attack {
        name: "snapshot_signed_by_the_timestamp_key",
        done: |forge| {
            forge.snapshot.signers = forge.timestamp.keys.clone();
            forge.next();
        },
        refused: |refused| is_unsigned(refused, RoleName::Snapshot, Signers::Trusted),
    },
    Attack {
        name: "targets_signed_by_nobody",
        done: |forge| {
            forge.targets.signers.clear();
            forge.next();
        },
        refused: |refused| is_unsigned(refused, RoleName::Targets, Signers::Trusted),
    },
    Attack {
        name: "root_signed_by_new_keys_alone",
        done: |forge| {
            forge.root.version += 1;
            forge.root.rekey(&[50], 1);
            forge.write_root();
        },
        refused: |refused| is_unsigned(refused, RoleName::Root, Signers::Trusted),
    },
    Attack {
        name: "root_signed_by_old_keys_alone",
        done: |forge| {
            forge.root.version += 1;
            let old = forge.root.signers.clone();
            forge.root.rekey(&[50], 1);
            forge.root.signers = old;
            forge.write_root();
        },
        refused: |refused| is_unsigned(refused, RoleName::Root, Signers::Own),
    },
    Attack {
        name: "signature_of_other_bytes",
        done: |forge| {
            forge.next();
            let bytes = forge.files["metadata/timestamp.json"].clone();
            let mut file: Value = serde_json::from_slice(&bytes).unwrap();
            file["signed"]["version"] = json!(77);
            forge.files.insert("metadata/timestamp.json".into(), serde_json::to_vec(&file).unwrap());
        },
        refused: |refused| is_unsigned(refused, RoleName::Timestamp, Signers::Trusted),
    },
    Attack {
        name: "one_signature_twice",
        done: |forge| {
            forge.timestamp.signers = vec![forge.timestamp.keys[0].clone(); 2];
            forge.next();
        },
        refused: |refused| matches!(refused, Refused::SignedTwice { role: RoleName::Timestamp }),
    },
    Attack {
        name: "one_key_under_two_ids",
        done: |forge| {
            forge.rotate(|forge| {
                let key = forge.targets.keys[0].clone();
                forge.targets.keys = vec![key.clone(), key.alias()];
                forge.targets.signers = forge.targets.keys.clone();
                forge.targets.threshold = 2;
            });
        },
        refused: |refused| is_key_fault(refused, &KeyFault::TwoIds),
    },
    Attack {
        name: "one_key_under_two_ids_of_two_roles",
        done: |forge| {
            forge.rotate(|forge| forge.snapshot.keys = vec![forge.timestamp.keys[0].alias()]);
        },
        refused: |refused| is_key_fault(refused, &KeyFault::TwoIds),
    },
    Attack {
        name: "one_key_id_listed_twice",
        done: |forge| {
            forge.rotate(|forge| {
                forge.targets.keys = vec![forge.targets.keys[0].clone(); 2];
                forge.targets.threshold = 2;
            });
        },
        refused: |refused| is_key_fault(refused, &KeyFault::ListedTwice(RoleName::Targets)),
    },
    Attack {
        name: "a_threshold_that_nobody_reaches",
        done: |forge| forge.rotate(|forge| forge.targets.threshold = 2),
        refused: |refused| {
            let fault = KeyFault::Threshold { role: RoleName::Targets, threshold: 2, keys: 1 };
            is_key_fault(refused, &fault)
        },
    },
    Attack {
        name: "a_threshold_of_none",
        done: |forge| forge.rotate(|forge| forge.targets.threshold = 0),
        refused: |refused| {
            matches!(refused, Refused::Malformed { role: RoleName::Root, source: Malformed::Schema(_) })
        },
    },
    Attack {
        name: "a_role_without_keys",
        done: |forge| {
            forge.twist = Some(|role, signed| {
                if role == "root" {
                    signed["roles"].as_object_mut().unwrap().remove("targets");
                }
            });
            forge.rotate(|_| {});
        },
        refused: |refused| is_key_fault(refused, &KeyFault::NoRole(RoleName::Targets)),
    },
    Attack {
        name: "a_key_that_is_not_there",
        done: |forge| {
            forge.twist = Some(|role, signed| {
                if role == "root" {
                    signed["roles"]["targets"]["keyids"] = json!(["ab".repeat(32)]);
                }
            });
            forge.rotate(|_| {});
        },
        refused: |refused| is_key_fault(refused, &KeyFault::Unknown(RoleName::Targets)),
    },
    Attack {
        name: "a_key_under_the_id_of_another",
        done: |forge| {
            forge.twist = Some(|role, signed| {
                if role == "root" {
                    let keys = signed["keys"].as_object_mut().unwrap();
                    let id = keys.keys().next().unwrap().clone();
                    keys.insert(id, Key::new(99).json());
                }
            });
            forge.rotate(|_| {});
        },
        refused: |refused| {
            matches!(refused, Refused::Malformed { role: RoleName::Root, source: Malformed::Schema(_) })
        },
    },
    Attack {
        name: "a_key_of_another_type",
        done: |forge| {
            forge.twist = Some(|role, signed| {
                if role == "root" {
                    let key = json!({
                        "keytype": "ecdsa", "scheme": "ecdsa-sha2-nistp256",
                        "keyval": {"public": "04".to_owned() + &"ab".repeat(64)}
                    });
                    let id = crate::kit::sha256(&crate::kit::canonical(&key));
                    signed["keys"][&id] = key;
                }
            });
            forge.rotate(|_| {});
        },
        refused: |refused| is_key_fault(refused, &KeyFault::NotEd25519),
    },
    Attack {
        name: "a_key_with_which_anybody_signs",
        done: |forge| {
            forge.twist = Some(|role, signed| {
                if role == "root" {
                    // The neutral element: one signature is right for every text.
                    let public = format!("01{}", "00".repeat(31));
                    let key = json!({
                        "keytype": "ed25519", "scheme": "ed25519", "keyval": {"public": public}
                    });
                    let id = crate::kit::sha256(&crate::kit::canonical(&key));
                    signed["keys"][&id] = key;
                }
            });
            forge.rotate(|_| {});
        },
        refused: |refused| is_key_fault(refused, &KeyFault::Weak),
    },
];

fn is_unsigned(refused: &Refused, of: RoleName, signers: Signers) -> bool {
    matches!(refused, Refused::NotSigned { role, by, .. } if (*role, *by) == (of, signers))
}

fn is_key_fault(refused: &Refused, fault: &KeyFault) -> bool {
    matches!(refused, Refused::Malformed { role: RoleName::Root, source: Malformed::Keys(found) } if found == fault)
}

/// Two of three: one is too few, whichever it is, and two are enough.
#[test]
fn below_the_threshold() {
    let mut forge = Forge::honest();
    forge.rotate(|forge| forge.targets.rekey(&[40, 41, 42], 2));
    forge.targets.signers.truncate(2);
    forge.next();
    let host = Host::synced(&forge);
    for one in 40..43 {
        let mut forged = forge.clone();
        // The same key under a second signature that is none of its own does not make two.
        forged.targets.signers = vec![Key::new(one), Key::new(99)];
        forged.next();
        let refused = refusal(host.sync(&forged));
        assert!(is_unsigned(&refused, RoleName::Targets, Signers::Trusted), "{refused:?}");
    }
    forge.targets.signers.reverse();
    forge.next();
    host.sync(&forge).unwrap();
}

/// After a rotation the old key is nobody's, though it signed what came before.
#[test]
fn signed_by_an_old_key_after_rotation() {
    let mut forge = Forge::honest();
    let host = Host::synced(&forge);
    let old = forge.targets.keys.clone();
    forge.rotate(|forge| forge.targets.rekey(&[44], 1));
    let mut forged = forge.clone();
    forged.targets.signers = old;
    forged.next();
    let before = host.view();
    let refused = refusal(host.sync(&forged));
    assert!(is_unsigned(&refused, RoleName::Targets, Signers::Trusted), "{refused:?}");
    assert_eq!(host.view(), before);
    forge.next();
    host.sync(&forge).unwrap();
}

/// A root that has advanced stays advanced, though the rest of that sync was refused: the old root's keys are gone.
#[test]
fn a_root_that_was_left_behind_does_not_come_back() {
    let mut forge = Forge::honest();
    let host = Host::synced(&forge);
    let stolen = forge.root.keys.clone();
    forge.rotate(|forge| forge.root.rekey(&[51], 1));
    let mut forged = forge.clone();
    forged.files.remove("metadata/timestamp.json");
    refusal(host.sync(&forged));
    // The key that was replaced signs another second root, and a third.
    let mut stray = Forge::honest();
    stray.root.version = 3;
    let third = signed(&stray.root_value(), &stolen);
    forge.files.insert("metadata/3.root.json".into(), third);
    let refused = refusal(host.sync(&forge));
    assert!(is_unsigned(&refused, RoleName::Root, Signers::Trusted), "{refused:?}");
}

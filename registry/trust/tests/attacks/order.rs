//! What is older, mixed, withheld, or two things at once.

use jiff::SignedDuration;
use pinhole_registry::RoleName;
use pinhole_registry::client::{FetchError, Refused};

use crate::host::{Attack, Host, refusal};
use crate::kit::{Forge, days, manifest, now};

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "timestamp_rollback",
        done: |forge| {
            forge.timestamp.version -= 1;
            forge.write_timestamp();
        },
        refused: |refused| is_rollback(refused, RoleName::Timestamp),
    },
    Attack {
        name: "snapshot_rollback",
        done: |forge| {
            forge.timestamp.version += 1;
            forge.snapshot.version -= 1;
            forge.write_timestamp();
        },
        refused: |refused| is_rollback(refused, RoleName::Snapshot),
    },
    Attack {
        name: "targets_rollback",
        done: |forge| {
            forge.timestamp.version += 1;
            forge.snapshot.version += 1;
            forge.targets.version -= 1;
            forge.write_snapshot();
        },
        refused: |refused| is_rollback(refused, RoleName::Targets),
    },
    Attack {
        name: "everything_rolled_back",
        done: |forge| {
            let old = Forge::honest();
            forge.files = old.files;
        },
        refused: |refused| is_rollback(refused, RoleName::Timestamp),
    },
    Attack {
        name: "root_of_an_older_version_as_the_next",
        done: |forge| {
            let first = forge.files["metadata/1.root.json"].clone();
            forge.files.insert("metadata/2.root.json".into(), first);
        },
        refused: |refused| {
            matches!(refused, Refused::OtherVersion { role: RoleName::Root, expected: 2, found: 1 })
        },
    },
    Attack {
        name: "root_skips_a_version",
        done: |forge| {
            forge.root.version = 3;
            forge.write_root();
            let third = forge.files["metadata/3.root.json"].clone();
            forge.files.insert("metadata/2.root.json".into(), third);
        },
        refused: |refused| {
            matches!(refused, Refused::OtherVersion { role: RoleName::Root, expected: 2, found: 3 })
        },
    },
    Attack {
        name: "snapshot_dropped_the_targets",
        done: |forge| {
            forge.twist = Some(|role, signed| {
                if role == "snapshot" {
                    let targets = signed["meta"]["targets.json"].take();
                    signed["meta"] = serde_json::json!({ "other.json": targets });
                }
            });
            forge.next();
        },
        refused: |refused| matches!(refused, Refused::NoLongerListed { file } if file == "targets.json"),
    },
    Attack {
        name: "mix_of_an_old_snapshot_with_a_new_timestamp",
        done: |forge| {
            let old = forge.files[&format!("metadata/{}.snapshot.json", forge.snapshot.version)].clone();
            forge.sealed = false;
            forge.next();
            forge.files.insert(format!("metadata/{}.snapshot.json", forge.snapshot.version), old);
        },
        refused: |refused| matches!(refused, Refused::OtherVersion { role: RoleName::Snapshot, .. }),
    },
    Attack {
        name: "mix_of_old_targets_with_a_new_snapshot",
        done: |forge| {
            let old = forge.files[&format!("metadata/{}.targets.json", forge.targets.version)].clone();
            forge.sealed = false;
            forge.next();
            forge.files.insert(format!("metadata/{}.targets.json", forge.targets.version), old);
        },
        refused: |refused| matches!(refused, Refused::OtherVersion { role: RoleName::Targets, .. }),
    },
    Attack {
        name: "mix_of_two_registries",
        done: |forge| {
            let mut other = Forge::honest();
            other.targets.version = forge.targets.version + 1;
            other.content.insert("books.json".into(), manifest("books", "1.0.0", &["id"]));
            other.write();
            forge.next();
            let name = format!("metadata/{}.targets.json", forge.targets.version);
            forge.files.insert(name.clone(), other.files[&name].clone());
        },
        refused: |refused| matches!(refused, Refused::TooLarge { .. } | Refused::WrongLength { .. }),
    },
    Attack {
        name: "equivocation_of_the_timestamp",
        done: |forge| {
            forge.timestamp.expires = crate::kit::in_days(6);
            forge.write_timestamp();
        },
        refused: |refused| is_equivocation(refused, RoleName::Timestamp),
    },
    Attack {
        name: "equivocation_of_the_snapshot",
        done: |forge| {
            forge.timestamp.version += 1;
            forge.snapshot.expires = crate::kit::in_days(29);
            forge.write_snapshot();
        },
        refused: |refused| is_equivocation(refused, RoleName::Snapshot),
    },
    Attack {
        name: "equivocation_of_the_targets",
        done: |forge| {
            forge.timestamp.version += 1;
            forge.snapshot.version += 1;
            forge.content.insert("shelf.json".into(), manifest("shelf", "1.1.1", &["secret"]));
            forge.write();
        },
        refused: |refused| is_equivocation(refused, RoleName::Targets),
    },
    Attack {
        name: "timestamp_withheld",
        done: |forge| {
            forge.files.remove("metadata/timestamp.json");
        },
        refused: is_absent,
    },
    Attack {
        name: "snapshot_withheld",
        done: |forge| {
            forge.next();
            forge.files.remove(&format!("metadata/{}.snapshot.json", forge.snapshot.version));
        },
        refused: is_absent,
    },
    Attack {
        name: "target_withheld",
        done: |forge| {
            forge.content.insert("books.json".into(), manifest("books", "1.0.0", &["id"]));
            forge.next();
            forge.files.retain(|path, _| !path.ends_with(".books.json"));
        },
        refused: is_absent,
    },
];

fn is_rollback(refused: &Refused, of: RoleName) -> bool {
    matches!(refused, Refused::Rollback { role, .. } if *role == of)
}

fn is_equivocation(refused: &Refused, of: RoleName) -> bool {
    matches!(refused, Refused::Equivocation { role, .. } if *role == of)
}

fn is_absent(refused: &Refused) -> bool {
    matches!(refused, Refused::NotFetched { source: FetchError::Absent, .. })
}

/// Each role frozen: the same files, served until they expire. The second before, they are taken.
#[test]
fn freeze_of_each_role() {
    for role in [RoleName::Root, RoleName::Timestamp, RoleName::Snapshot, RoleName::Targets] {
        let mut forge = Forge::empty();
        forge.content.insert("shelf.json".into(), manifest("shelf", "1.0.0", &["id"]));
        let frozen = match role {
            RoleName::Root => &mut forge.root,
            RoleName::Timestamp => &mut forge.timestamp,
            RoleName::Snapshot => &mut forge.snapshot,
            RoleName::Targets => &mut forge.targets,
        };
        frozen.expires = now() + days(3);
        forge.write_root();
        forge.write();
        let host = Host::synced(&forge);
        let before = host.view();
        host.sync_at(&forge, now() + days(3) - SignedDuration::from_secs(1)).unwrap();
        for at in [now() + days(3), now() + days(4)] {
            let refused = refusal(host.sync_at(&forge, at));
            let Refused::Expired { role: expired, since } = refused else { panic!("{role}: {refused:?}") };
            assert_eq!((expired, since), (role, now() + days(3)));
        }
        assert_eq!(host.view(), before);
        // One that has never synced does not begin with it either.
        let late = Host::trusting(&forge);
        let refused = refusal(late.sync_at(&forge, now() + days(3)));
        assert!(matches!(refused, Refused::Expired { role: expired, .. } if expired == role), "{refused:?}");
    }
}

/// Roots that have expired still lead to the next: only the last one's age counts.
#[test]
fn an_expired_root_leads_to_the_next() {
    let mut forge = Forge::honest();
    forge.root.expires = now() - days(100);
    forge.write_root();
    let host = Host::trusting(&forge);
    assert!(matches!(refusal(host.sync(&forge)), Refused::Expired { role: RoleName::Root, .. }));
    forge.rotate(|forge| forge.root.expires = now() + days(300));
    host.sync(&forge).unwrap();
}

/// More signatures under the same version are no equivocation.
#[test]
fn a_further_signature_changes_nothing() {
    let mut forge = Forge::empty();
    forge.timestamp.rekey(&[2, 20], 1);
    forge.timestamp.signers.truncate(1);
    forge.content.insert("shelf.json".into(), manifest("shelf", "1.0.0", &["id"]));
    forge.write_root();
    forge.write();
    let host = Host::synced(&forge);
    forge.timestamp.signers = forge.timestamp.keys.clone();
    forge.write_timestamp();
    host.sync(&forge).unwrap();
}

/// After an attacker had the keys and ran the versions up, new keys let them begin anew.
#[test]
fn rotation_recovers_from_versions_that_were_run_up() {
    let mut forge = Forge::honest();
    let host = Host::synced(&forge);
    forge.timestamp.version = 9_000;
    forge.snapshot.version = 9_000;
    forge.targets.version = 9_000;
    forge.write();
    host.sync(&forge).unwrap();
    (forge.timestamp.version, forge.snapshot.version, forge.targets.version) = (2, 2, 2);
    forge.write();
    assert!(matches!(refusal(host.sync(&forge)), Refused::Rollback { role: RoleName::Timestamp, .. }));
    forge.rotate(|forge| {
        forge.timestamp.rekey(&[20], 1);
        forge.snapshot.rekey(&[30], 1);
    });
    forge.write();
    assert_eq!(host.sync(&forge).unwrap().targets, 2);
}

/// A new snapshot key alone lets the snapshots begin anew, under timestamps that go on.
#[test]
fn a_new_snapshot_key_lets_the_snapshots_begin_anew() {
    let mut forge = Forge::honest();
    forge.snapshot.version = 9_000;
    forge.targets.version = 9_000;
    forge.write();
    let host = Host::synced(&forge);
    forge.rotate(|forge| forge.snapshot.rekey(&[30], 1));
    forge.timestamp.version = 2;
    (forge.snapshot.version, forge.targets.version) = (3, 3);
    forge.write();
    assert_eq!(host.sync(&forge).unwrap().targets, 3);
}

/// Keys that are only listed in another order, or joined by another, forget nothing.
#[test]
fn a_root_that_keeps_the_keys_forgets_no_version() {
    let mut forge = Forge::honest();
    forge.next();
    let host = Host::synced(&forge);
    forge.rotate(|forge| {
        let old = forge.timestamp.keys.clone();
        forge.timestamp.rekey(&[20], 1);
        forge.timestamp.keys.extend(old);
    });
    forge.timestamp.version = 1;
    forge.write_timestamp();
    let refused = refusal(host.sync(&forge));
    assert!(matches!(refused, Refused::Rollback { role: RoleName::Timestamp, .. }), "{refused:?}");
}

/// A new timestamp key alone does not let an older snapshot come back.
#[test]
fn a_new_timestamp_key_brings_no_older_snapshot_back() {
    let mut forge = Forge::honest();
    forge.next();
    let host = Host::synced(&forge);
    forge.rotate(|forge| forge.timestamp.rekey(&[20], 1));
    forge.timestamp.version = 1;
    forge.snapshot.version = 1;
    forge.write_timestamp();
    let refused = refusal(host.sync(&forge));
    assert!(matches!(refused, Refused::Rollback { role: RoleName::Snapshot, .. }), "{refused:?}");
}

//! What another program may have signed with the maintainers' own keys: well signed, and not a registry.

use std::collections::HashMap;

use tough::TargetName;
use tough::schema::{Delegations, Root, Signed, Snapshot, Targets, Timestamp};

use super::*;
use crate::names::Held;

/// A registry with one manifest and its module, at version 2.
fn registry(folder: &Path, manifests: &Path) -> Workshop {
    let workshop = alone(folder);
    workshop.add(&[manifest(manifests, "acme", "1.0.0", b"one")], day(1)).unwrap();
    workshop.publish(&[key(1), key(9)], day(1)).unwrap();
    workshop
}

fn read<T: serde::de::DeserializeOwned>(folder: &Path, name: &str) -> Signed<T> {
    serde_json::from_slice(&std::fs::read(folder.join("public/metadata").join(name)).unwrap()).unwrap()
}

fn write<T: tough::schema::Role>(
    folder: &Path,
    name: &str,
    role: RoleName,
    mut signed: Signed<T>,
    by: &[u8],
) -> Vec<u8> {
    let message = envelope::canonical(&signed.signed).unwrap();
    signed.signatures = by.iter().map(|number| envelope::signature(&message, &key(*number))).collect();
    let bytes = envelope::file(role, &signed).unwrap();
    std::fs::write(folder.join("public/metadata").join(name), &bytes).unwrap();
    bytes
}

/// Changes the current targets, and signs all that leads to them anew.
fn forge(folder: &Path, change: fn(&mut Targets)) {
    let mut targets: Signed<Targets> = read(folder, "2.targets.json");
    change(&mut targets.signed);
    let mut snapshot: Signed<Snapshot> = read(folder, "2.snapshot.json");
    let role = targets.signed.clone();
    let bytes = write(folder, "2.targets.json", RoleName::Targets, targets, &[1]);
    snapshot.signed.meta = HashMap::from([("targets.json".to_owned(), envelope::metafile(&role, &bytes))]);
    let mut timestamp: Signed<Timestamp> = read(folder, "timestamp.json");
    let role = snapshot.signed.clone();
    let bytes = write(folder, "2.snapshot.json", RoleName::Snapshot, snapshot, &[9]);
    timestamp.signed.meta = HashMap::from([("snapshot.json".to_owned(), envelope::metafile(&role, &bytes))]);
    write(folder, "timestamp.json", RoleName::Timestamp, timestamp, &[9]);
}

fn name(text: &str) -> TargetName {
    TargetName::new(text).unwrap()
}

/// What is done to the targets, and the fault that must be found.
type Case = (&'static str, fn(&mut Targets), fn(&FaultKind) -> bool);

const CASES: &[Case] = &[
    (
        "a name that leads out of the folder",
        |targets| {
            let target = targets.targets.remove(&name("acme.json")).unwrap();
            targets.targets.insert(name("../../acme.json"), target);
        },
        |kind| matches!(kind, FaultKind::Name(name) if name == "../../acme.json"),
    ),
    (
        "keys of somebody else for some of the targets",
        |targets| targets.delegations = Some(Delegations::new()),
        |kind| matches!(kind, FaultKind::Delegated),
    ),
    (
        "a manifest under another service's name",
        |targets| {
            let mut target = targets.targets[&name("acme.json")].clone();
            target.custom.insert("service".to_owned(), json!("other"));
            targets.targets.insert(name("other.json"), target);
        },
        // The file would be there under that name too, so it is the first thing that is missed.
        |kind| matches!(kind, FaultKind::Absent),
    ),
    (
        "a word about another service",
        |targets| {
            let target = targets.targets.get_mut(&name("acme.json")).unwrap();
            target.custom.insert("service".to_owned(), json!("other"));
        },
        |kind| matches!(kind, FaultKind::Word(Held::Manifest(_))),
    ),
    (
        "more words than a registry has",
        |targets| {
            let target = targets.targets.get_mut(&name("acme.stale_things.wasm")).unwrap();
            target.custom.insert("note".to_owned(), json!("hello"));
        },
        |kind| matches!(kind, FaultKind::Word(Held::Module(..))),
    ),
    (
        "a version that the manifest does not have",
        |targets| {
            let target = targets.targets.get_mut(&name("acme.json")).unwrap();
            target.custom.insert("version".to_owned(), json!("9.0.0"));
        },
        |kind| matches!(kind, FaultKind::Service { found, stated } if found == "acme@1.0.0" && stated == "acme@9.0.0"),
    ),
    (
        "a manifest without its module",
        |targets| drop(targets.targets.remove(&name("acme.stale_things.wasm"))),
        |kind| matches!(kind, FaultKind::NoModule(_)),
    ),
    (
        "a module without its manifest",
        |targets| drop(targets.targets.remove(&name("acme.json"))),
        |kind| matches!(kind, FaultKind::IdleModule),
    ),
    (
        "a length that the file does not have",
        |targets| targets.targets.get_mut(&name("acme.json")).unwrap().length += 1,
        |kind| matches!(kind, FaultKind::Length { .. }),
    ),
];

#[test]
fn what_is_well_signed_and_no_registry_is_found() {
    for (what, change, expected) in CASES {
        let (folder, manifests) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let workshop = registry(folder.path(), manifests.path());
        forge(folder.path(), |_| {});
        sound(&workshop, day(1));
        forge(folder.path(), *change);
        let audit = workshop.verify(day(1));
        assert!(audit.faults.iter().any(|fault| expected(&fault.kind)), "{what}: {:#?}", audit.faults);
        let signatures = |fault: &Fault| {
            matches!(fault.kind, FaultKind::Below(_) | FaultKind::BadSignature(_) | FaultKind::Hash { .. })
        };
        assert!(!audit.faults.iter().any(signatures), "{what}: {:#?}", audit.faults);
    }
}

#[test]
fn a_root_with_one_key_under_two_ids_is_found_though_all_have_signed() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = alone(folder.path());
    let mut root: Signed<Root> = read(folder.path(), "1.root.json");
    let mut again = public(1).to_tuf();
    let tough::schema::key::Key::Ed25519 { _extra: comments, .. } = &mut again else { panic!() };
    comments.insert("comment".to_owned(), json!("mine too"));
    let id = again.key_id().unwrap();
    root.signed.keys.insert(id.clone(), again);
    let seats = root.signed.roles.get_mut(&tough::schema::RoleType::Root).unwrap();
    seats.keyids.push(id);
    seats.threshold = NonZeroU64::new(2).unwrap();
    write(folder.path(), "1.root.json", RoleName::Root, root, &[1]);
    let audit = workshop.verify(day(0));
    let found = |fault: &Fault| matches!(fault.kind, FaultKind::Root(RootFault::Key { .. }));
    assert!(audit.faults.iter().any(found), "{:#?}", audit.faults);
    // Nor is anything published under it.
    assert!(matches!(workshop.publish(&[key(1), key(9)], day(1)), Err(PublishError::Root(_))));
}

#[test]
fn what_no_host_would_take_is_not_published() {
    type Staged = (fn(&mut Targets), fn(&PublishError) -> bool);
    let cases: &[Staged] = &[
        (
            |targets| {
                let target = targets.targets.remove(&name("acme.json")).unwrap();
                targets.targets.insert(name("../acme.json"), target);
            },
            |error| matches!(error, PublishError::Name(_)),
        ),
        (
            |targets| targets.delegations = Some(Delegations::new()),
            |error| matches!(error, PublishError::Delegated),
        ),
        (
            |targets| targets.targets.get_mut(&name("acme.json")).unwrap().length += 1,
            |error| matches!(error, PublishError::File(_)),
        ),
    ];
    for (change, expected) in cases {
        let (folder, manifests) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let workshop = alone(folder.path());
        let staged =
            staged(workshop.add(&[manifest(manifests.path(), "acme", "1.0.0", b"one")], day(1)).unwrap());
        let mut targets: Signed<Targets> =
            serde_json::from_slice(&std::fs::read(&staged.file).unwrap()).unwrap();
        change(&mut targets.signed);
        std::fs::write(&staged.file, envelope::file(RoleName::Targets, &targets).unwrap()).unwrap();
        let refused = workshop.publish(&[key(1), key(9)], day(1)).unwrap_err();
        assert!(expected(&refused), "{refused:?}");
        assert_eq!(version_of(&workshop.verify(day(1)), RoleName::Targets), 1);
    }
}

//! What a look at the folder finds.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tough::schema::{Root, Signed, Snapshot};

use super::*;

/// Every published file, by its path from the folder.
fn published(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for part in ["public/metadata", "public/targets"] {
        for entry in std::fs::read_dir(folder.join(part)).unwrap() {
            let path = entry.unwrap().path();
            files.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
    files
}

#[test]
fn any_single_flipped_bit_of_a_published_file_is_a_fault() {
    let (folder, manifests) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let workshop = full(folder.path(), manifests.path());
    sound(&workshop, day(2));
    let files: Vec<(PathBuf, Vec<u8>)> = published(folder.path()).into_iter().collect();
    assert_eq!(files.len(), 2 + 3 + 3 + 1 + 6, "roots, targets, snapshots, timestamp, files");
    let mut runner =
        proptest::test_runner::TestRunner::new(ProptestConfig { cases: 250, ..Default::default() });
    let flipped = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..8_u32);
    runner
        .run(&flipped, |(file, byte, bit)| {
            let (path, bytes) = &files[file.index(files.len())];
            let mut changed = bytes.clone();
            let at = byte.index(changed.len());
            changed[at] ^= 1 << bit;
            std::fs::write(path, &changed).unwrap();
            let sound = workshop.verify(day(2)).is_sound();
            std::fs::write(path, bytes).unwrap();
            prop_assert!(!sound, "{} at {at}, bit {bit}", path.display());
            Ok(())
        })
        .unwrap();
    sound(&workshop, day(2));
}

/// What is done to a folder, and a fault that must be found.
type Case = (&'static str, fn(&Path), fn(&FaultKind) -> bool);

fn one(folder: &Path, part: &str, ending: &str) -> PathBuf {
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(folder.join(part)).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found.into_iter().find(|path| path.to_string_lossy().ends_with(ending)).unwrap()
}

/// Changes the signatures of the second root.
fn signatures(folder: &Path, change: fn(&mut Signed<Root>)) {
    let path = folder.join("public/metadata/2.root.json");
    let mut root: Signed<Root> = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(root.signatures.len(), 2);
    change(&mut root);
    std::fs::write(path, envelope::file(RoleName::Root, &root).unwrap()).unwrap();
}

const CASES: &[Case] = &[
    (
        "a root is gone",
        |folder| std::fs::remove_file(folder.join("public/metadata/1.root.json")).unwrap(),
        |kind| matches!(kind, FaultKind::Absent),
    ),
    (
        "the timestamp is gone",
        |folder| std::fs::remove_file(folder.join("public/metadata/timestamp.json")).unwrap(),
        |kind| matches!(kind, FaultKind::Absent),
    ),
    (
        "the current snapshot is gone",
        |folder| std::fs::remove_file(folder.join("public/metadata/3.snapshot.json")).unwrap(),
        |kind| matches!(kind, FaultKind::Absent),
    ),
    (
        "the current targets are gone",
        |folder| std::fs::remove_file(folder.join("public/metadata/3.targets.json")).unwrap(),
        |kind| matches!(kind, FaultKind::Absent),
    ),
    (
        "older targets stand in the place of the current ones",
        |folder| {
            let metadata = folder.join("public/metadata");
            std::fs::copy(metadata.join("2.targets.json"), metadata.join("3.targets.json")).unwrap();
        },
        |kind| matches!(kind, FaultKind::Version { found: 2, stated: 3 }),
    ),
    (
        "an older snapshot is said to be a later one",
        |folder| {
            let metadata = folder.join("public/metadata");
            std::fs::copy(metadata.join("2.snapshot.json"), metadata.join("9.snapshot.json")).unwrap();
        },
        |kind| matches!(kind, FaultKind::Version { found: 2, stated: 9 }),
    ),
    (
        "a root that was never signed by the old keys",
        |folder| {
            let seats = Seats::one(public(7));
            let charter = Charter::new(seats.clone(), seats.clone(), seats.clone(), seats);
            let mut root = envelope::unsigned(charter.root(NonZeroU64::new(3).unwrap(), day(300)));
            let message = envelope::canonical(&root.signed).unwrap();
            root.signatures.push(envelope::signature(&message, &key(7)));
            let bytes = envelope::file(RoleName::Root, &root).unwrap();
            std::fs::write(folder.join("public/metadata/3.root.json"), bytes).unwrap();
        },
        |kind| matches!(kind, FaultKind::Below(standing) if standing.root == 2),
    ),
    (
        "of more signatures than it takes, one does not verify",
        |folder| {
            signatures(folder, |root| {
                let mut sig = root.signatures[0].sig.to_vec();
                sig[9] ^= 1;
                root.signatures[0].sig = sig.into();
            });
        },
        |kind| matches!(kind, FaultKind::BadSignature(_)),
    ),
    (
        "of more signatures than it takes, one is a stranger's",
        |folder| {
            signatures(folder, |root| {
                let message = envelope::canonical(&root.signed).unwrap();
                root.signatures.push(envelope::signature(&message, &key(7)));
            });
        },
        |kind| matches!(kind, FaultKind::IdleSignature),
    ),
    (
        "of more signatures than it takes, one is there twice",
        |folder| signatures(folder, |root| root.signatures.push(root.signatures[0].clone())),
        |kind| matches!(kind, FaultKind::IdleSignature),
    ),
    (
        "another snapshot of the same version, well signed",
        |folder| {
            let path = folder.join("public/metadata/3.snapshot.json");
            let mut snapshot: Signed<Snapshot> =
                serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            snapshot.signed.expires = day(33);
            let message = envelope::canonical(&snapshot.signed).unwrap();
            snapshot.signatures = vec![envelope::signature(&message, &key(9))];
            std::fs::write(path, envelope::file(RoleName::Snapshot, &snapshot).unwrap()).unwrap();
        },
        |kind| matches!(kind, FaultKind::Hash { .. }),
    ),
    (
        "a file of a target is gone",
        |folder| std::fs::remove_file(one(folder, "public/targets", ".acme.json")).unwrap(),
        |kind| matches!(kind, FaultKind::Absent),
    ),
    (
        "a file that nothing names",
        |folder| {
            let name = layout::hashed(Digest::of(b"{}"), &crate::names::Held::parse("evil.json").unwrap());
            std::fs::write(folder.join("public/targets").join(name), b"{}").unwrap();
        },
        |kind| matches!(kind, FaultKind::Unnamed),
    ),
    (
        "a key among what is served",
        |folder| std::fs::write(folder.join("public/targets/root.pem"), b"x").unwrap(),
        |kind| matches!(kind, FaultKind::Stray),
    ),
    (
        "a folder among what is served",
        |folder| std::fs::create_dir(folder.join("public/staged")).unwrap(),
        |kind| matches!(kind, FaultKind::Stray),
    ),
    #[cfg(unix)]
    (
        "a link in the place of metadata",
        |folder| {
            let path = folder.join("public/metadata/2.targets.json");
            std::fs::rename(&path, folder.join("elsewhere")).unwrap();
            std::os::unix::fs::symlink(folder.join("elsewhere"), path).unwrap();
        },
        |kind| matches!(kind, FaultKind::Io(_)),
    ),
];

#[test]
fn each_fault_of_a_folder_is_found() {
    for (name, spoil, expected) in CASES {
        let (folder, manifests) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let workshop = full(folder.path(), manifests.path());
        sound(&workshop, day(2));
        spoil(folder.path());
        let audit = workshop.verify(day(2));
        assert!(audit.faults.iter().any(|fault| expected(&fault.kind)), "{name}: {:#?}", audit.faults);
    }
}

#[test]
fn each_word_ends_in_its_time() {
    let (folder, manifests) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let workshop = full(folder.path(), manifests.path());
    let ended = |number| workshop.verify(day(number)).faults.len();
    assert_eq!([2, 31, 32, 91, 92, 366, 367].map(ended), [0, 0, 2, 2, 3, 3, 4]);
}

#[test]
fn a_manifest_that_is_not_what_the_targets_say_is_found() {
    let (folder, manifests) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let workshop = alone(folder.path());
    workshop.add(&[manifest(manifests.path(), "acme", "1.0.0", b"one")], day(1)).unwrap();
    // A maintainer's own program signed what is not so.
    let staged = folder.path().join("staged/targets.json");
    let text = std::fs::read_to_string(&staged).unwrap().replace("\"1.0.0\"", "\"1.0.1\"");
    std::fs::write(&staged, text.replace("\"spec_version\": \"1.0.1\"", "\"spec_version\": \"1.0.0\""))
        .unwrap();
    workshop.publish(&[key(1), key(9)], day(1)).unwrap();
    let audit = workshop.verify(day(1));
    assert!(matches!(audit.faults[..], [Fault { kind: FaultKind::Service { .. }, .. }]), "{audit:#?}");
}

#[test]
fn an_empty_folder_is_no_fault_and_a_half_one_is() {
    let folder = tempfile::tempdir().unwrap();
    let (workshop, _) =
        Workshop::init(folder.path(), &charter(&[1], 1), Terms::default(), &[], day(0)).unwrap();
    let audit = sound(&workshop, day(0));
    assert_eq!(audit.pending.len(), 2);
    std::fs::create_dir_all(folder.path().join("public/metadata")).unwrap();
    std::fs::write(folder.path().join("public/metadata/timestamp.json"), b"{}").unwrap();
    assert!(!workshop.verify(day(0)).is_sound());
}

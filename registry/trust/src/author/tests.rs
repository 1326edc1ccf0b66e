//! How a maintainer works, what she is refused, and what a killed command leaves.

mod forged;
mod kill;
mod shelve;
mod sign;
mod turn;
mod verify;

use std::path::{Path, PathBuf};

use jiff::Timestamp as Moment;
use pinhole_manifest::Digest;
use serde_json::{Value, json};

use super::*;
use crate::keys::{PublicKey, RegistryKey};

const BASE: &[u8] = include_bytes!("../../../manifest/tests/vectors/base/module.json");
const DAY: i64 = 86_400;

/// The key of this number, the same each time.
fn key(number: u8) -> RegistryKey {
    RegistryKey::from_seed(&[number; 32])
}

fn public(number: u8) -> PublicKey {
    key(number).public()
}

/// A day, counted from the one on which the tests begin.
fn day(number: i64) -> Moment {
    Moment::from_second(1_796_000_000 + number * DAY).unwrap()
}

/// `threshold` of these keys, and key 9 online.
fn charter(keys: &[u8], threshold: u64) -> Charter {
    let seats = Seats::new(keys.iter().map(|number| public(*number)), threshold).unwrap();
    Charter::with_online(seats, public(9))
}

/// A registry of one maintainer, key 1, published with nothing in it on day 0.
fn alone(folder: &Path) -> Workshop {
    let keys = [key(1), key(9)];
    let (workshop, progress) =
        Workshop::init(folder, &charter(&[1], 1), Terms::default(), &keys, day(0)).unwrap();
    assert!(matches!(progress, Progress::Published(_)), "{progress:?}");
    workshop
}

/// Writes a manifest's folder, with a module of these bytes.
fn manifest(folder: &Path, service: &str, version: &str, module: &[u8]) -> PathBuf {
    let at = folder.join(format!("{service}-{version}-{}", Digest::of(module).hex()));
    std::fs::create_dir_all(at.join("modules")).unwrap();
    let mut manifest: Value = serde_json::from_slice(BASE).unwrap();
    manifest["id"] = json!(service);
    manifest["version"] = json!(version);
    manifest["ops"]["stale_things"]["module"]["sha256"] = json!(Digest::of(module).to_string());
    std::fs::write(at.join("manifest.json"), serde_json::to_vec(&manifest).unwrap()).unwrap();
    std::fs::write(at.join("modules/stale_things.wasm"), module).unwrap();
    at
}

fn staged(staging: Staging) -> Staged {
    match staging {
        Staging::Staged(staged) => staged,
        Staging::Unchanged => panic!("nothing was staged"),
    }
}

/// A registry with one manifest in its second version, a rotated root and something staged: all that a folder can hold.
fn full(folder: &Path, manifests: &Path) -> Workshop {
    let workshop = alone(folder);
    let keys = [key(1), key(2), key(9)];
    workshop.add(&[manifest(manifests, "acme", "1.0.0", b"one")], day(1)).unwrap();
    workshop.publish(&keys, day(1)).unwrap();
    let more = manifest(manifests, "other", "0.1.0", b"three");
    workshop.add(&[manifest(manifests, "acme", "1.1.0", b"two"), more], day(2)).unwrap();
    let seat = Reseat::Seat(RoleName::Root, public(2));
    // Both keys sign the new root, one of them more than it takes.
    workshop.rotate(&[seat], day(2)).unwrap();
    workshop.publish(&keys, day(2)).unwrap();
    workshop
}

fn sound(workshop: &Workshop, now: Moment) -> Audit {
    let audit = workshop.verify(now);
    assert!(audit.is_sound(), "{:#?}", audit.faults);
    audit
}

fn version_of(audit: &Audit, role: RoleName) -> u64 {
    audit.roles.iter().find(|(known, _, _)| *known == role).unwrap().1
}

#[test]
fn with_all_keys_at_hand_a_registry_is_published_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = alone(folder.path());
    let audit = sound(&workshop, day(29));
    assert_eq!(audit.roles.len(), 4);
    assert!(audit.services.is_empty() && audit.pending.is_empty());
    let seats: Vec<_> =
        audit.seats.iter().map(|(role, seats)| (*role, seats.keys().next().unwrap().id())).collect();
    let expected = RoleName::ALL.map(|role| {
        let online = matches!(role, RoleName::Snapshot | RoleName::Timestamp);
        (role, public(if online { 9 } else { 1 }).id())
    });
    assert_eq!(seats, expected);
    assert!(workshop.pending().unwrap().is_empty());
}

#[test]
fn a_registry_is_not_begun_where_there_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = alone(folder.path());
    let again = Workshop::init(folder.path(), &charter(&[2], 1), Terms::default(), &[key(2), key(9)], day(1));
    assert!(matches!(again, Err(InitError::Taken(_))), "{again:?}");
    sound(&workshop, day(1));
    // What has no settings and serves something is somebody's too.
    std::fs::remove_file(folder.path().join("settings.json")).unwrap();
    assert!(matches!(Workshop::open(folder.path()), Err(OpenError::NotARegistry(_))));
    let again = Workshop::init(folder.path(), &charter(&[2], 1), Terms::default(), &[key(2), key(9)], day(1));
    assert!(matches!(again, Err(InitError::Taken(_))), "{again:?}");
}

#[test]
fn two_of_three_who_hold_their_keys_apart_begin_a_registry() {
    let folder = tempfile::tempdir().unwrap();
    let (workshop, progress) =
        Workshop::init(folder.path(), &charter(&[1, 2, 3], 2), Terms::default(), &[key(9)], day(0)).unwrap();
    let Progress::Waiting(waiting) = progress else { panic!("{progress:?}") };
    assert_eq!(waiting.len(), 2);
    assert!(waiting.iter().flat_map(|file| &file.standing).all(|standing| standing.wanted() == 2));
    // Each signs by a file, without the folder.
    for number in [1, 3] {
        for file in &waiting {
            let sheet = Sheet::read(&std::fs::read(&file.file).unwrap(), None).unwrap();
            let signed = sheet.sign(&key(number)).unwrap();
            let collected = workshop.collect(&signed.bytes).unwrap();
            assert_eq!(collected.added, [public(number).id()]);
        }
        if number == 1 {
            let early = workshop.publish(&[key(9)], day(0));
            let Err(PublishError::Below(below)) = early else { panic!("{early:?}") };
            assert_eq!(below.len(), 2);
            assert_eq!((below[0].wanted(), &below[0].signed[..]), (1, &[public(1).id()][..]));
            assert_eq!(below[0].missing.len(), 2);
        }
    }
    workshop.publish(&[key(9)], day(0)).unwrap();
    sound(&workshop, day(0));
}

#[test]
fn seats_that_nobody_could_fill_are_refused() {
    let three = || [1, 2, 3].map(public);
    assert!(matches!(Seats::new([], 1), Err(SeatsError::Nobody)));
    assert!(matches!(Seats::new(three(), 0), Err(SeatsError::Threshold { .. })));
    assert!(matches!(Seats::new(three(), 4), Err(SeatsError::Threshold { .. })));
    assert!(matches!(Seats::new([public(1), public(1)], 2), Err(SeatsError::Twice(_))));
    assert!(matches!(Seats::new((0..33).map(public), 1), Err(SeatsError::Crowd)));
    assert_eq!(Seats::new(three(), 3).unwrap().keys().count(), 3);
}

#[test]
fn the_terms_are_kept_and_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let terms = Terms::default().with(RoleName::Timestamp, 2).unwrap();
    Workshop::init(folder.path(), &charter(&[1], 1), terms, &[key(1), key(9)], day(0)).unwrap();
    let workshop = Workshop::open(folder.path()).unwrap();
    assert_eq!(workshop.terms(), terms);
    sound(&workshop, day(1));
    let ended = workshop.verify(day(2));
    assert!(matches!(ended.faults[..], [Fault { kind: FaultKind::Expired(_), .. }]), "{ended:?}");
    for days in [0, DAYS_MAX + 1] {
        assert!(Terms::default().with(RoleName::Root, days).is_err());
    }
    let settings = folder.path().join("settings.json");
    std::fs::write(&settings, r#"{"days":{"root":0,"targets":1,"snapshot":1,"timestamp":1}}"#).unwrap();
    assert!(matches!(Workshop::open(folder.path()), Err(OpenError::Settings { .. })));
}

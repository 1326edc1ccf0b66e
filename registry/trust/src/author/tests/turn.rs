//! Keys and thresholds that change, and words that end.

use super::*;

#[test]
fn a_replaced_root_key_needs_the_old_and_the_new_to_sign() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = alone(folder.path());
    let changes = [Reseat::Unseat(RoleName::Root, public(1).id()), Reseat::Seat(RoleName::Root, public(2))];
    let staged = workshop.rotate(&changes, day(1)).unwrap();
    assert_eq!(staged.len(), 1, "the targets keys stay");
    assert_eq!(staged[0].standing.len(), 2, "both roots have a say");
    for keys in [[key(1), key(9)], [key(2), key(9)]] {
        let published = workshop.publish(&keys, day(1));
        assert!(
            matches!(published, Err(PublishError::Below(ref below)) if below.len() == 1),
            "{published:?}"
        );
        assert_eq!(version_of(&sound(&workshop, day(1)), RoleName::Root), 1);
    }
    workshop.publish(&[key(1), key(2), key(9)], day(1)).unwrap();
    assert_eq!(version_of(&sound(&workshop, day(1)), RoleName::Root), 2);
    // From now on the old key has no say.
    workshop.rotate(&[], day(2)).unwrap();
    assert!(matches!(workshop.publish(&[key(1), key(9)], day(2)), Err(PublishError::Below(_))));
    workshop.publish(&[key(2), key(9)], day(2)).unwrap();
    assert_eq!(version_of(&sound(&workshop, day(2)), RoleName::Root), 3);
}

#[test]
fn replaced_targets_keys_sign_what_is_held_anew() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = alone(folder.path());
    let changes =
        [Reseat::Seat(RoleName::Targets, public(2)), Reseat::Unseat(RoleName::Targets, public(1).id())];
    let staged = workshop.rotate(&changes, day(1)).unwrap();
    let roles: Vec<RoleName> = staged.iter().map(|staged| staged.statement.role).collect();
    assert_eq!(roles, [RoleName::Root, RoleName::Targets]);
    assert!(matches!(workshop.publish(&[key(1), key(9)], day(1)), Err(PublishError::Below(_))));
    workshop.publish(&[key(1), key(2), key(9)], day(1)).unwrap();
    let audit = sound(&workshop, day(1));
    assert_eq!((version_of(&audit, RoleName::Root), version_of(&audit, RoleName::Targets)), (2, 2));
}

#[test]
fn a_replaced_online_key_signs_at_the_next_publish() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = alone(folder.path());
    let both = [RoleName::Snapshot, RoleName::Timestamp];
    let changes = both
        .into_iter()
        .flat_map(|role| [Reseat::Unseat(role, public(9).id()), Reseat::Seat(role, public(8))]);
    workshop.rotate(&changes.collect::<Vec<_>>(), day(1)).unwrap();
    let early = workshop.publish(&[key(1), key(9)], day(1));
    assert!(matches!(early, Err(PublishError::Below(ref below)) if below.len() == 2), "{early:?}");
    workshop.publish(&[key(1), key(8)], day(1)).unwrap();
    sound(&workshop, day(1));
}

#[test]
fn changes_that_lead_nowhere_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = alone(folder.path());
    let rotate = |change| workshop.rotate(&[change], day(1)).unwrap_err();
    let role = RoleName::Root;
    assert!(matches!(rotate(Reseat::Seat(role, public(1))), RotateError::Seated { .. }));
    assert!(matches!(rotate(Reseat::Unseat(role, public(5).id())), RotateError::NotSeated { .. }));
    assert!(matches!(rotate(Reseat::Unseat(role, public(1).id())), RotateError::Seats { .. }));
    assert!(matches!(rotate(Reseat::Threshold(role, 2)), RotateError::Seats { .. }));
    assert!(workshop.pending().unwrap().is_empty());
    workshop.rotate(&[], day(1)).unwrap();
    assert!(matches!(workshop.rotate(&[], day(1)), Err(RotateError::Waiting(2))));
    workshop.discard().unwrap();
    assert!(workshop.pending().unwrap().is_empty());
}

#[test]
fn with_nothing_staged_a_publish_holds_for_longer() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = alone(folder.path());
    assert!(!workshop.verify(day(30)).is_sound());
    let published = workshop.publish(&[key(9)], day(31)).unwrap();
    assert!(published.statements.is_empty());
    let audit = sound(&workshop, day(60));
    assert_eq!(version_of(&audit, RoleName::Timestamp), 2);
    assert_eq!(version_of(&audit, RoleName::Targets), 1);
    assert!(matches!(workshop.publish(&[key(1)], day(31)), Err(PublishError::Below(_))));
}

#[test]
fn a_word_that_has_ended_is_not_published() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = alone(folder.path());
    let published = workshop.publish(&[key(9)], day(90));
    let ended = matches!(published, Err(PublishError::Expired { role: RoleName::Targets, .. }));
    assert!(ended, "{published:?}");
    workshop.renew_targets(day(90)).unwrap();
    workshop.publish(&[key(1), key(9)], day(90)).unwrap();
    sound(&workshop, day(90));
    let published = workshop.publish(&[key(9)], day(365));
    assert!(matches!(published, Err(PublishError::Expired { role: RoleName::Root, .. })), "{published:?}");
}

#[test]
fn two_commands_do_not_work_in_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = alone(folder.path());
    let work = workshop.work().unwrap();
    let other = Workshop::open(folder.path()).unwrap();
    assert!(matches!(other.publish(&[key(9)], day(1)), Err(PublishError::Lock(LockError::Busy(_)))));
    drop(work);
    other.publish(&[key(9)], day(1)).unwrap();
}

#[test]
fn what_is_staged_on_another_registry_is_not_published() {
    let (folder, manifests) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let workshop = alone(folder.path());
    let staged =
        staged(workshop.add(&[manifest(manifests.path(), "acme", "1.0.0", b"one")], day(1)).unwrap());
    let early = std::fs::read(&staged.file).unwrap();
    workshop.add(&[manifest(manifests.path(), "other", "1.0.0", b"two")], day(1)).unwrap();
    workshop.publish(&[key(1), key(9)], day(1)).unwrap();
    std::fs::create_dir_all(folder.path().join("staged")).unwrap();
    std::fs::write(folder.path().join("staged/targets.json"), early).unwrap();
    let published = workshop.publish(&[key(1), key(9)], day(1));
    assert!(
        matches!(published, Err(PublishError::Version { version: 2, published: 2, .. })),
        "{published:?}"
    );
    let audit = workshop.verify(day(1));
    assert!(audit.faults.iter().any(|fault| matches!(fault.kind, FaultKind::StagedVersion { .. })));
}

#[test]
fn targets_whose_file_was_changed_are_not_published() {
    let (folder, manifests) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let workshop = alone(folder.path());
    workshop.add(&[manifest(manifests.path(), "acme", "1.0.0", b"one")], day(1)).unwrap();
    for file in std::fs::read_dir(folder.path().join("staged/targets")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "wasm") {
            std::fs::write(path, b"eno").unwrap();
        }
    }
    let published = workshop.publish(&[key(1), key(9)], day(1));
    assert!(matches!(published, Err(PublishError::File(_))), "{published:?}");
    let audit = workshop.verify(day(1));
    assert!(matches!(audit.faults[..], [Fault { kind: FaultKind::Hash { .. }, .. }]), "{audit:?}");
}

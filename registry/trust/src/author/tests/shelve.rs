//! What may be added, and what the registry then says.

use pinhole_manifest::ServiceId;

use super::*;

#[test]
fn a_manifest_with_its_module_is_staged_then_published() {
    let (folder, manifests) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let workshop = alone(folder.path());
    let offered = manifest(manifests.path(), "acme", "1.0.0", b"module");
    let staged = staged(workshop.add(&[offered], day(1)).unwrap());
    assert_eq!((staged.statement.version, staged.statement.against), (2, Some(1)));
    assert_eq!(staged.statement.changes.len(), 2, "{}", staged.statement);
    assert!(sound(&workshop, day(1)).services.is_empty(), "nothing is published by adding");
    workshop.publish(&[key(1), key(9)], day(1)).unwrap();
    let audit = sound(&workshop, day(1));
    let [(service, version, _)] = &audit.services[..] else { panic!("{audit:?}") };
    assert_eq!((service.as_str(), version.to_string().as_str()), ("acme", "1.0.0"));
    assert_eq!(std::fs::read_dir(folder.path().join("public/targets")).unwrap().count(), 2);
    assert!(!folder.path().join("staged").exists());
}

#[test]
fn all_that_is_wrong_with_every_folder_is_said_and_nothing_is_staged() {
    let (folder, manifests) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let workshop = alone(folder.path());
    let good = manifest(manifests.path(), "acme", "1.0.0", b"module");
    let other = manifest(manifests.path(), "other", "1.0.0", b"module");
    std::fs::write(other.join("modules/stale_things.wasm"), b"changed").unwrap();
    let absent = manifest(manifests.path(), "third", "1.0.0", b"module");
    std::fs::remove_file(absent.join("modules/stale_things.wasm")).unwrap();
    let broken = manifest(manifests.path(), "fourth", "one", b"module");
    let twice = manifest(manifests.path(), "acme", "2.0.0", b"module");
    let empty = manifests.path().to_owned();
    let Err(ShelveError::Refused(refused)) =
        workshop.add(&[good, other, absent, broken, twice, empty], day(1))
    else {
        panic!("it was taken")
    };
    let faults: Vec<&OfferFault> = refused.iter().map(|refused| &refused.fault).collect();
    let [first, second, third, fourth, fifth] = faults[..] else { panic!("{faults:?}") };
    assert!(matches!(first, OfferFault::Modules(each) if matches!(each[..], [ModuleFault::Digest { .. }])));
    assert!(matches!(second, OfferFault::Modules(each) if matches!(each[..], [ModuleFault::Absent(_)])));
    assert!(matches!(third, OfferFault::Manifest(diagnostics) if !diagnostics.is_empty()));
    assert!(matches!(fourth, OfferFault::Twice(_)));
    assert!(matches!(fifth, OfferFault::NoManifest));
    assert!(!folder.path().join("staged").exists());
}

#[test]
fn a_version_means_its_bytes_for_ever_and_none_goes_back() {
    let (folder, manifests) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let workshop = alone(folder.path());
    let keys = [key(1), key(9)];
    let offer = |version, module| [manifest(manifests.path(), "acme", version, module)];
    workshop.add(&offer("1.1.0", b"a"), day(1)).unwrap();
    // What is only staged may still change.
    assert!(matches!(workshop.add(&offer("1.1.0", b"b"), day(1)).unwrap(), Staging::Staged(_)));
    workshop.publish(&keys, day(1)).unwrap();
    let refused = |offer: &[PathBuf]| match workshop.add(offer, day(2)) {
        Err(ShelveError::Refused(mut refused)) => refused.remove(0).fault,
        other => panic!("{other:?}"),
    };
    assert!(matches!(refused(&offer("1.1.0", b"c")), OfferFault::SameVersion { .. }));
    assert!(matches!(refused(&offer("1.0.9", b"c")), OfferFault::GoesBack { .. }));
    // Nor by way of a removal.
    workshop.remove(&[ServiceId::parse("acme").unwrap()], day(2)).unwrap();
    workshop.publish(&keys, day(2)).unwrap();
    assert!(sound(&workshop, day(2)).services.is_empty());
    assert!(matches!(refused(&offer("1.1.0", b"c")), OfferFault::SameVersion { .. }));
    assert!(matches!(refused(&offer("1.0.9", b"c")), OfferFault::GoesBack { .. }));
    assert!(matches!(workshop.add(&offer("1.1.0", b"b"), day(3)).unwrap(), Staging::Staged(_)));
}

#[test]
fn what_is_held_already_stages_nothing() {
    let (folder, manifests) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let workshop = alone(folder.path());
    let offered = [manifest(manifests.path(), "acme", "1.0.0", b"module")];
    workshop.add(&offered, day(1)).unwrap();
    assert!(matches!(workshop.add(&offered, day(1)).unwrap(), Staging::Unchanged));
    workshop.publish(&[key(1), key(9)], day(1)).unwrap();
    assert!(matches!(workshop.add(&offered, day(1)).unwrap(), Staging::Unchanged));
    assert!(!folder.path().join("staged").exists());
}

#[test]
fn a_module_that_a_new_version_does_not_name_goes_with_the_old_one() {
    let (folder, manifests) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let workshop = alone(folder.path());
    let keys = [key(1), key(9)];
    workshop.add(&[manifest(manifests.path(), "acme", "1.0.0", b"module")], day(1)).unwrap();
    workshop.publish(&keys, day(1)).unwrap();
    let next = manifest(manifests.path(), "acme", "2.0.0", b"module");
    let mut without: Value =
        serde_json::from_slice(&std::fs::read(next.join("manifest.json")).unwrap()).unwrap();
    without["ops"].as_object_mut().unwrap().remove("stale_things");
    std::fs::write(next.join("manifest.json"), without.to_string()).unwrap();
    let staged = staged(workshop.add(&[next], day(2)).unwrap());
    let removed = staged.statement.changes.iter().filter(|change| matches!(change, Change::Removed(..)));
    assert_eq!(removed.count(), 1, "{}", staged.statement);
    workshop.publish(&keys, day(2)).unwrap();
    sound(&workshop, day(2));
}

#[test]
fn a_service_that_is_not_held_cannot_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    let removed = alone(folder.path()).remove(&[ServiceId::parse("acme").unwrap()], day(1));
    assert!(matches!(removed, Err(ShelveError::NotHeld(_))), "{removed:?}");
}

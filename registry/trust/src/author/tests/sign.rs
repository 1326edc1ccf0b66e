//! Signing apart, and what is not taken back.

use tough::schema::{Signed, Targets};

use super::*;

/// Two of keys 1, 2 and 3, with a manifest staged.
fn waiting(folder: &Path, manifests: &Path) -> (Workshop, Vec<u8>) {
    let keys = [key(1), key(2), key(9)];
    let charter = charter(&[1, 2, 3], 2);
    let (workshop, _) = Workshop::init(folder, &charter, Terms::default(), &keys, day(0)).unwrap();
    let staged = staged(workshop.add(&[manifest(manifests, "acme", "1.0.0", b"module")], day(1)).unwrap());
    let bytes = std::fs::read(staged.file).unwrap();
    (workshop, bytes)
}

fn edited(file: &[u8], edit: impl FnOnce(&mut Signed<Targets>)) -> Vec<u8> {
    let mut signed: Signed<Targets> = serde_json::from_slice(file).unwrap();
    edit(&mut signed);
    envelope::file(RoleName::Targets, &signed).unwrap()
}

#[test]
fn what_is_signed_is_said_in_words() {
    let (folder, manifests) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (workshop, file) = waiting(folder.path(), manifests.path());
    let said = Sheet::read(&file, Some(&workshop)).unwrap().statement().to_string();
    for word in
        ["targets 2", "from version 1", "+ acme 1.0.0 (sha256:", "+ acme modules/stale_things.wasm 1.0.0"]
    {
        assert!(said.contains(word), "{word}: {said}");
    }
    let alone = Sheet::read(&file, None).unwrap().statement().to_string();
    assert!(alone.contains("nothing to compare"), "{alone}");
}

#[test]
fn a_key_signs_once_and_only_where_it_has_a_say() {
    let (folder, manifests) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (workshop, file) = waiting(folder.path(), manifests.path());
    let sheet = || Sheet::read(&file, Some(&workshop)).unwrap();
    for number in [4, 9] {
        let signed = sheet().sign(&key(number));
        assert!(matches!(signed, Err(SignError::Foreign { .. })), "{signed:?}");
    }
    let signed = sheet().sign(&key(1)).unwrap();
    assert_eq!(signed.standing[0].wanted(), 1);
    let again = Sheet::read(&signed.bytes, Some(&workshop)).unwrap().sign(&key(1));
    assert!(matches!(again, Err(SignError::Again(_))), "{again:?}");
    // Without the folder nobody can say whose key it is; collecting can.
    let foreign = Sheet::read(&file, None).unwrap().sign(&key(4)).unwrap();
    let collected = workshop.collect(&foreign.bytes);
    assert!(matches!(collected, Err(CollectError::Foreign(RoleName::Targets))), "{collected:?}");
}

#[test]
fn what_came_back_is_refused_unless_each_signature_is_one_under_what_is_staged() {
    let (folder, manifests) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (workshop, file) = waiting(folder.path(), manifests.path());
    let signed = Sheet::read(&file, None).unwrap().sign(&key(1)).unwrap().bytes;
    let other = edited(&signed, |targets| targets.signed.expires = day(400));
    let bad = edited(&signed, |targets| {
        let mut sig = targets.signatures[0].sig.to_vec();
        sig[5] ^= 1;
        targets.signatures[0].sig = sig.into();
    });
    let twice = edited(&signed, |targets| targets.signatures.push(targets.signatures[0].clone()));
    let lent = edited(&signed, |targets| targets.signatures[0].keyid = public(2).id().to_tuf());
    let mut spaced = signed.clone();
    spaced.push(b' ');
    let check = |bytes: &[u8]| workshop.collect(bytes).unwrap_err();
    assert!(matches!(check(&file), CollectError::Unsigned));
    assert!(matches!(check(&other), CollectError::Other(RoleName::Targets)));
    assert!(matches!(check(&bad), CollectError::Bad(id) if id == public(1).id()));
    assert!(matches!(check(&twice), CollectError::Again(id) if id == public(1).id()));
    assert!(matches!(check(&lent), CollectError::Bad(id) if id == public(2).id()));
    assert!(matches!(check(&spaced), CollectError::Sheet(SheetError::Envelope(EnvelopeError::Form))));
    assert!(matches!(check(b"{}"), CollectError::Sheet(SheetError::Unknown)));
    assert_eq!(
        std::fs::read(folder.path().join("staged/targets.json")).unwrap(),
        file,
        "nothing of it was taken"
    );
    workshop.collect(&signed).unwrap();
    let again = workshop.collect(&signed).unwrap();
    assert_eq!((again.added.len(), again.had.len(), again.standing[0].wanted()), (0, 1, 1));
    assert!(matches!(workshop.publish(&[key(9)], day(1)), Err(PublishError::Below(_))));
    let both = Sheet::read(&signed, None).unwrap().sign(&key(3)).unwrap().bytes;
    assert_eq!(workshop.collect(&both).unwrap().added, [public(3).id()]);
    workshop.publish(&[key(9)], day(1)).unwrap();
    sound(&workshop, day(1));
    // The file is of yesterday now.
    assert!(matches!(check(&signed), CollectError::NotStaged(RoleName::Targets)));
    assert!(matches!(Sheet::read(&file, Some(&workshop)), Err(SheetError::Version { .. })));
}

#[test]
fn what_was_staged_since_it_was_read_is_not_signed() {
    let (folder, manifests) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (workshop, _) = waiting(folder.path(), manifests.path());
    let read = workshop.pending().unwrap();
    workshop.add(&[manifest(manifests.path(), "other", "1.0.0", b"more")], day(1)).unwrap();
    let signed = workshop.sign_staged(&read, &[key(1)]);
    assert!(matches!(signed, Err(InitError::Unread(RoleName::Targets))), "{signed:?}");
    assert!(workshop.pending().unwrap()[0].standing[0].signed.is_empty());
    let signed = workshop.sign_staged(&workshop.pending().unwrap(), &[key(1), key(4), key(2)]).unwrap();
    assert_eq!(signed[0].standing[0].signed.len(), 2);
    workshop.publish(&[key(9)], day(1)).unwrap();
}

#[test]
fn any_flipped_bit_of_a_file_that_came_back_is_refused() {
    use proptest::prelude::*;
    let (folder, manifests) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (workshop, file) = waiting(folder.path(), manifests.path());
    let signed = Sheet::read(&file, None).unwrap().sign(&key(1)).unwrap().bytes;
    let mut runner =
        proptest::test_runner::TestRunner::new(ProptestConfig { cases: 200, ..Default::default() });
    runner
        .run(&(any::<prop::sample::Index>(), 0..8_u32), |(byte, bit)| {
            let mut changed = signed.clone();
            let at = byte.index(changed.len());
            changed[at] ^= 1 << bit;
            prop_assert!(workshop.collect(&changed).is_err(), "byte {at}, bit {bit}");
            // Nor does it bring down who only wants to read it.
            drop(Sheet::read(&changed, Some(&workshop)));
            Ok(())
        })
        .unwrap();
    assert_eq!(std::fs::read(folder.path().join("staged/targets.json")).unwrap(), file);
}

#[test]
fn what_cannot_be_put_into_words_is_not_signed() {
    let (folder, manifests) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (_, file) = waiting(folder.path(), manifests.path());
    let delegated = edited(&file, |targets| {
        targets.signed.delegations = Some(tough::schema::Delegations::new());
    });
    let further = edited(&file, |targets| {
        targets.signed._extra.insert("more".to_owned(), json!("words"));
    });
    let unknown = edited(&file, |targets| {
        let target = targets.signed.targets.values().next().unwrap().clone();
        let name = tough::TargetName::new("../\u{202e}x").unwrap();
        targets.signed.targets.insert(name, target);
    });
    for bytes in [delegated, further, unknown] {
        let sheet = Sheet::read(&bytes, None).unwrap();
        assert!(!sheet.statement().to_string().contains('\u{202e}'));
        let signed = sheet.sign(&key(1));
        assert!(matches!(signed, Err(SignError::Unsaid(_))), "{signed:?}");
    }
}

#[test]
fn one_key_under_two_ids_makes_no_root() {
    let folder = tempfile::tempdir().unwrap();
    let (_, progress) =
        Workshop::init(folder.path(), &charter(&[1, 2], 2), Terms::default(), &[], day(0)).unwrap();
    let Progress::Waiting(waiting) = progress else { panic!("{progress:?}") };
    let mut root: Signed<tough::schema::Root> =
        serde_json::from_slice(&std::fs::read(&waiting[0].file).unwrap()).unwrap();
    let mut further = public(1).to_tuf();
    let tough::schema::key::Key::Ed25519 { _extra: comments, .. } = &mut further else { panic!() };
    comments.insert("comment".to_owned(), json!("mine too"));
    let id = further.key_id().unwrap();
    root.signed.keys.insert(id.clone(), further);
    root.signed.roles.get_mut(&tough::schema::RoleType::Root).unwrap().keyids.push(id);
    let bytes = envelope::file(RoleName::Root, &root).unwrap();
    let read = Sheet::read(&bytes, None);
    assert!(matches!(read, Err(SheetError::Root(RootFault::Key { .. }))), "{read:?}");
}

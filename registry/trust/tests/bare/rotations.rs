//! Roots one after the other, by who had to sign them and who did.

use pinhole_registry::RoleName;
use pinhole_registry::client::Refused;

use crate::folder::{Bare, refusal};
use crate::kit::{Forge, Key, signed};

/// The root keys of a version, how many must sign, and who signs.
type Version = (&'static [u8], u64, &'static [u8]);

const GOOD: &[&[Version]] = &[
    &[(&[1], 1, &[1]), (&[2], 1, &[2, 1]), (&[2], 1, &[2])],
    &[(&[1], 1, &[3, 1, 4]), (&[2], 1, &[3, 2, 1, 4]), (&[2], 1, &[3, 2, 4])],
    &[(&[10, 1, 2, 3, 4], 3, &[10, 2, 4]), (&[10, 1, 2, 3, 4], 3, &[10, 4, 1])],
    &[(&[10, 1, 2, 3, 4], 3, &[10, 2, 4]), (&[10, 1, 3, 4, 5], 3, &[10, 4, 1])],
    &[(&[10, 1, 2], 3, &[10, 1, 2]), (&[5, 6, 7], 3, &[10, 1, 2, 5, 6, 7]), (&[5, 6, 7], 3, &[5, 6, 7])],
    &[(&[1, 2, 3], 1, &[1]), (&[1, 2, 3], 2, &[1, 2])],
    &[(&[1, 2, 3], 2, &[1, 2]), (&[1, 2, 3], 1, &[1, 2]), (&[1, 2, 3], 1, &[1])],
];

const BAD: &[&[Version]] = &[
    &[(&[1], 1, &[1]), (&[2], 1, &[2, 3, 4])],
    &[(&[1], 1, &[1]), (&[2], 1, &[1, 3, 4])],
    &[(&[10, 1, 2, 3, 4], 3, &[10, 2, 4]), (&[10, 1, 3, 4, 5], 3, &[10, 2, 4])],
    &[(&[10, 1, 2, 3, 4], 3, &[10, 2, 4]), (&[10, 1, 3, 4, 5], 3, &[10, 4, 5])],
    &[(&[1, 2, 3], 1, &[1]), (&[1, 2, 3], 2, &[2])],
    &[(&[1, 2, 3], 2, &[1, 2]), (&[1, 2, 3], 1, &[1])],
];

fn chain(versions: &[Version]) -> Forge {
    let mut forge = Forge::honest();
    for ((keys, threshold, signers), version) in versions.iter().zip(1..) {
        forge.root.version = version;
        forge.root.rekey(keys, *threshold);
        forge.root.signers = signers.iter().map(|seed| Key::new(*seed)).collect();
        forge.write_root();
    }
    forge
}

#[test]
fn a_root_is_taken_over_when_enough_of_the_old_and_of_the_new_keys_have_signed() {
    for versions in GOOD {
        let forge = chain(versions);
        let root = Bare::new(&forge).refresh(&forge).unwrap().root;
        assert_eq!(usize::try_from(root).unwrap(), versions.len(), "{versions:?}");
    }
    for versions in BAD {
        let forge = chain(versions);
        let refused = refusal(Bare::new(&forge).refresh(&forge));
        assert!(
            matches!(refused, Refused::NotSigned { role: RoleName::Root, .. }),
            "{versions:?}: {refused:?}"
        );
    }
}

/// The specification lets a root want more signatures than it has keys: then nothing of that role is taken until a later
/// root puts it right.
#[test]
fn a_threshold_out_of_reach_is_gone_through() {
    let mut forge = Forge::honest();
    let bare = Bare::new(&forge);
    bare.refresh(&forge).unwrap();
    forge.rotate(|forge| forge.snapshot.threshold = 3);
    forge.next();
    let refused = refusal(bare.refresh(&forge));
    assert!(matches!(refused, Refused::NotSigned { role: RoleName::Snapshot, .. }), "{refused:?}");
    forge.rotate(|forge| forge.snapshot.rekey(&[30, 31, 32], 3));
    forge.next();
    let versions = bare.refresh(&forge).unwrap();
    assert_eq!((versions.root, versions.snapshot), (3, 3));
}

/// A key under two ids is one key, in a repository that has such.
#[test]
fn one_key_under_two_ids_counts_once() {
    let mut forge = Forge::honest();
    let bare = Bare::new(&forge);
    forge.rotate(|forge| {
        let key = Key::new(30);
        forge.snapshot.keys = vec![key.clone(), key.alias(), Key::new(31)];
        forge.snapshot.threshold = 2;
    });
    forge.snapshot.signers = forge.snapshot.keys[..2].to_vec();
    forge.next();
    let refused = refusal(bare.refresh(&forge));
    assert!(matches!(refused, Refused::NotSigned { role: RoleName::Snapshot, .. }), "{refused:?}");
    forge.snapshot.signers = forge.snapshot.keys[1..].to_vec();
    forge.next();
    bare.refresh(&forge).unwrap();
}

/// Members that nobody here knows are part of what is signed.
#[test]
fn unknown_members_are_signed_and_kept() {
    let mut forge = Forge::honest();
    let bare = Bare::new(&forge);
    forge.twist = Some(|_, signed| signed["x-note"] = serde_json::json!({"a": [1, "ä", null, true]}));
    forge.rotate(|_| {});
    forge.next();
    assert_eq!(bare.refresh(&forge).unwrap().root, 2);
    let mut value = forge.root_value();
    value["version"] = 3.into();
    let bytes = signed(&value, &forge.root.signers);
    let text = String::from_utf8(bytes).unwrap().replace("\"ä\"", "\"a\"");
    forge.files.insert("metadata/3.root.json".into(), text.into_bytes());
    assert!(matches!(refusal(bare.refresh(&forge)), Refused::NotSigned { role: RoleName::Root, .. }));
}

//! What is kept in the two folders, and what is not.

use std::fs;
use std::path::PathBuf;

use pinhole_registry::RoleName;
use pinhole_registry::client::{self, BareError, BareVersions, Refused};
use tempfile::TempDir;

use crate::kit::{Forge, Key, in_days, now};

/// Two folders, as a conformance suite hands them over.
pub(crate) struct Bare {
    pub(crate) home: TempDir,
}

impl Bare {
    pub(crate) fn new(forge: &Forge) -> Self {
        let bare = Self { home: tempfile::tempdir().unwrap() };
        client::init(&bare.metadata(), &forge.root_bytes()).unwrap();
        bare
    }

    pub(crate) fn metadata(&self) -> PathBuf {
        self.home.path().join("metadata")
    }

    pub(crate) fn targets(&self) -> PathBuf {
        self.home.path().join("targets")
    }

    pub(crate) fn refresh(&self, forge: &Forge) -> Result<BareVersions, BareError> {
        block_on(client::refresh(&self.metadata(), forge, now()))
    }

    pub(crate) fn download(&self, forge: &Forge, name: &str) -> Result<Vec<u8>, BareError> {
        let file = block_on(client::download(&self.metadata(), forge, now(), &self.targets(), name))?;
        assert_eq!(file.parent(), Some(self.targets().as_path()));
        Ok(fs::read(file).unwrap())
    }

    fn kept(&self, role: RoleName) -> Option<Vec<u8>> {
        fs::read(self.metadata().join(role.file())).ok()
    }
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

pub(crate) fn refusal<T: std::fmt::Debug>(outcome: Result<T, BareError>) -> Refused {
    match outcome {
        Err(BareError::Refused(refused)) => refused,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn each_role_is_kept_byte_for_byte_as_far_as_a_refresh_has_got() {
    let mut forge = Forge::honest();
    let bare = Bare::new(&forge);
    forge.files.remove("metadata/1.targets.json");
    assert!(matches!(refusal(bare.refresh(&forge)), Refused::NotFetched { .. }));
    assert_eq!(bare.kept(RoleName::Timestamp).as_ref(), forge.files.get("metadata/timestamp.json"));
    assert_eq!(bare.kept(RoleName::Snapshot).as_ref(), forge.files.get("metadata/1.snapshot.json"));
    assert_eq!(bare.kept(RoleName::Targets), None);
    forge.rotate(|_| {});
    forge.write();
    bare.refresh(&forge).unwrap();
    assert_eq!(bare.kept(RoleName::Root).as_ref(), forge.files.get("metadata/2.root.json"));
    assert_eq!(bare.kept(RoleName::Targets).as_ref(), forge.files.get("metadata/1.targets.json"));
    // What was kept holds, though no refresh has got to its end since.
    let before = forge.clone();
    forge.next();
    forge.files.remove("metadata/2.snapshot.json");
    assert!(matches!(refusal(bare.refresh(&forge)), Refused::NotFetched { .. }));
    let refused = refusal(bare.refresh(&before));
    assert!(matches!(refused, Refused::Rollback { role: RoleName::Timestamp, .. }), "{refused:?}");
}

/// Though the snapshot itself could not be had, the timestamp that listed it is trusted.
#[test]
fn a_snapshot_that_was_only_listed_is_not_gone_back_behind() {
    let mut forge = Forge::honest();
    let bare = Bare::new(&forge);
    let first = forge.clone();
    forge.next();
    forge.files.remove("metadata/2.snapshot.json");
    assert!(matches!(refusal(bare.refresh(&forge)), Refused::NotFetched { .. }));
    let mut back = first;
    back.timestamp.version = 3;
    back.write_timestamp();
    let refused = refusal(bare.refresh(&back));
    assert!(matches!(refused, Refused::Rollback { role: RoleName::Snapshot, .. }), "{refused:?}");
}

#[test]
fn a_timestamp_of_the_same_version_is_no_update() {
    let mut forge = Forge::honest();
    let bare = Bare::new(&forge);
    bare.refresh(&forge).unwrap();
    let before = bare.kept(RoleName::Timestamp);
    forge.timestamp.expires = in_days(6);
    forge.write_timestamp();
    bare.refresh(&forge).unwrap();
    assert_eq!(bare.kept(RoleName::Timestamp), before);
}

#[test]
fn a_target_is_fetched_once_and_again_when_its_file_is_another() {
    let mut forge = Forge::honest();
    forge.content.insert("a b/c?.txt".into(), b"one".to_vec());
    forge.next();
    let bare = Bare::new(&forge);
    assert_eq!(bare.download(&forge, "a b/c?.txt").unwrap(), b"one");
    let fetched = |forge: &Forge| forge.asked().iter().any(|path| path.starts_with("targets/"));
    assert!(fetched(&forge));
    assert_eq!(bare.download(&forge, "a b/c?.txt").unwrap(), b"one");
    assert!(!fetched(&forge));
    fs::write(bare.targets().join("a%20b%2Fc%3F.txt"), b"two").unwrap();
    assert_eq!(bare.download(&forge, "a b/c?.txt").unwrap(), b"one");
    assert!(fetched(&forge));
}

#[test]
fn no_name_leads_out_of_the_folder() {
    let mut forge = Forge::honest();
    for name in ["../evil", "/evil", "a/../../evil", "..", "a\\..\\evil", ".evil"] {
        forge.content.insert(name.into(), b"evil".to_vec());
    }
    forge.twist = Some(|role, signed| {
        if role == "targets" {
            // The library refuses this one in any metadata.
            signed["targets"].as_object_mut().unwrap().remove("..");
        }
    });
    forge.next();
    let bare = Bare::new(&forge);
    for name in ["../evil", "/evil", "a/../../evil", "a\\..\\evil"] {
        assert!(matches!(refusal(bare.download(&forge, name)), Refused::Path(_)), "{name}");
    }
    assert!(matches!(refusal(bare.download(&forge, "..")), Refused::NoTarget { .. }));
    assert_eq!(bare.download(&forge, ".evil").unwrap(), b"evil");
    let mut files: Vec<_> =
        fs::read_dir(bare.home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["metadata", "targets"]);
}

#[test]
fn a_folder_begins_with_one_root_and_is_refused_when_it_is_damaged() {
    let forge = Forge::honest();
    let bare = Bare::new(&forge);
    client::init(&bare.metadata(), &forge.root_bytes()).unwrap();
    let mut other = Forge::empty();
    other.root.rekey(&[70], 1);
    other.write_root();
    let taken = client::init(&bare.metadata(), &other.root_bytes());
    assert!(matches!(taken, Err(BareError::OtherRoot(_))), "{taken:?}");
    other.root.signers = vec![Key::new(71)];
    other.write_root();
    let unsigned = client::init(&bare.home.path().join("new"), &other.root_bytes());
    assert!(matches!(unsigned, Err(BareError::Refused(Refused::NotSigned { .. }))), "{unsigned:?}");
    let none = block_on(client::refresh(&bare.home.path().join("new"), &forge, now()));
    assert!(matches!(none, Err(BareError::NoRoot(_))), "{none:?}");
    bare.refresh(&forge).unwrap();
    for role in [RoleName::Targets, RoleName::Snapshot, RoleName::Timestamp, RoleName::Root] {
        let path = bare.metadata().join(role.file());
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        let refused = bare.refresh(&forge);
        assert!(matches!(refused, Err(BareError::Damaged { .. })), "{role}: {refused:?}");
        fs::write(&path, whole).unwrap();
    }
    bare.refresh(&forge).unwrap();
}

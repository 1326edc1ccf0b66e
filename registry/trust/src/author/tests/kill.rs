//! A command that is killed between any two changes of the disk.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::disk::{Disk, Exchanges};
use super::*;
use crate::client::{self, FolderFetch, Location, Registries, RegistryName};

/// The folder as one whose commands are killed before the change of this number.
fn cut(folder: &Path, steps: usize, exchanges: Exchanges) -> Workshop {
    let opened = Workshop::open(folder).unwrap();
    let fuse = Some(Arc::new(AtomicUsize::new(steps)));
    Workshop { disk: Disk { fuse, exchanges }, ..opened }
}

/// Whether the published registry is whole, by what a host can see.
fn whole(folder: &Path) -> u64 {
    let workshop = Workshop::open(folder).unwrap();
    let audit = workshop.verify(day(2));
    let public: Vec<&Fault> = audit
        .faults
        .iter()
        // The files of a publish that did not come to its end are named by nothing yet, and harm nobody.
        .filter(|fault| fault.file.starts_with("public") && !matches!(fault.kind, FaultKind::Unnamed))
        .collect();
    assert!(public.is_empty(), "{public:#?}");
    version_of(&audit, RoleName::Timestamp)
}

/// A host that has trusted the registry's first root.
struct Host {
    _folder: tempfile::TempDir,
    registries: Registries,
    name: RegistryName,
}

impl Host {
    fn new(registry: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let registries = Registries::at(folder.path().join("registries"));
        let name = RegistryName::parse("ours").unwrap();
        let root = std::fs::read(registry.join("public/metadata/1.root.json")).unwrap();
        let location = Location::url("https://registry.example/").unwrap();
        registries.trust(&name, location, &root).unwrap();
        Self { _folder: folder, registries, name }
    }

    /// Syncs, and says how many services it has then.
    fn sync(&self, registry: &Path, now: Moment) -> usize {
        let terms = client::Terms {
            owner: &|_| None,
            judge: &|_, _| client::Verdict::Widens,
            now,
            consent: client::Consent::Held,
        };
        let fetch = FolderFetch::new(registry.join("public"));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(self.registries.sync(&self.name, &fetch, terms)).unwrap();
        self.registries.load(now).unwrap().services.len()
    }
}

fn killed_everywhere(exchanges: Exchanges) -> (usize, usize) {
    let (mut old, mut new) = (0, 0);
    for steps in 0.. {
        let (folder, manifests) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let workshop = alone(folder.path());
        workshop.add(&[manifest(manifests.path(), "acme", "1.0.0", b"one")], day(1)).unwrap();
        workshop.rotate(&[Reseat::Seat(RoleName::Root, public(2))], day(1)).unwrap();
        let host = Host::new(folder.path());
        assert_eq!(host.sync(folder.path(), day(1)), 0);
        let keys = [key(1), key(9)];
        let published = cut(folder.path(), steps, exchanges).publish(&keys, day(1));
        let gone = exchanges == Exchanges::Cannot && !folder.path().join("public/metadata").exists();
        if gone {
            // For a moment there is no registry, which a host takes for none, never for another.
            let audit = Workshop::open(folder.path()).unwrap().verify(day(2));
            assert!(audit.faults.iter().any(|fault| matches!(fault.kind, FaultKind::CutOff)), "{steps}");
            old += 1;
        } else {
            // What a host gets is all of one or all of the other.
            match (whole(folder.path()), host.sync(folder.path(), day(1))) {
                (1, 0) => old += 1,
                (2, 1) => new += 1,
                other => panic!("{other:?} after {steps}"),
            }
        }
        // Whoever comes next finishes it, or begins again.
        let workshop = Workshop::open(folder.path()).unwrap();
        workshop.publish(&keys, day(2)).unwrap();
        let audit = sound(&workshop, day(2));
        assert_eq!((audit.services.len(), version_of(&audit, RoleName::Root)), (1, 2), "{steps}");
        assert_eq!(host.sync(folder.path(), day(2)), 1, "{steps}");
        let left: Vec<_> = layout::names(folder.path()).unwrap();
        assert_eq!(left, [".lock", "public", "settings.json"], "{steps}");
        if published.is_ok() {
            return (old, new);
        }
        assert!(steps < 200);
    }
    (old, new)
}

#[test]
fn a_publish_that_is_killed_anywhere_leaves_the_old_registry_or_the_new_one() {
    let (old, new) = killed_everywhere(Exchanges::Can);
    assert!(old > 10 && new > 3, "{old} {new}");
}

#[test]
fn so_it_does_where_the_disk_cannot_exchange_two_folders() {
    let (old, new) = killed_everywhere(Exchanges::Cannot);
    assert!(old > 10 && new > 3, "{old} {new}");
}

#[test]
fn a_begin_that_is_killed_anywhere_is_begun_again() {
    for steps in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let keys = [key(1), key(9)];
        let disk = Disk { fuse: Some(Arc::new(AtomicUsize::new(steps))), exchanges: Exchanges::Can };
        let begun =
            Workshop::init_on(disk, folder.path(), &charter(&[1], 1), Terms::default(), &keys, day(0));
        if begun.is_ok() {
            assert!(steps > 10);
            return;
        }
        let workshop = match Workshop::open(folder.path()) {
            // It had begun: what is left is to publish it.
            Ok(workshop) => {
                workshop.publish(&keys, day(0)).unwrap();
                workshop
            }
            Err(_) => alone(folder.path()),
        };
        sound(&workshop, day(0));
        assert!(steps < 200);
    }
}

#[test]
fn an_add_that_is_killed_anywhere_is_done_again() {
    let manifests = tempfile::tempdir().unwrap();
    let offered = [manifest(manifests.path(), "acme", "1.0.0", b"one")];
    for steps in 0.. {
        let folder = tempfile::tempdir().unwrap();
        alone(folder.path());
        let added = cut(folder.path(), steps, Exchanges::Can).add(&offered, day(1));
        assert_eq!(whole(folder.path()), 1);
        let workshop = Workshop::open(folder.path()).unwrap();
        workshop.add(&offered, day(1)).unwrap();
        workshop.publish(&[key(1), key(9)], day(1)).unwrap();
        assert_eq!(sound(&workshop, day(1)).services.len(), 1);
        if added.is_ok() {
            assert!(steps > 5);
            return;
        }
        assert!(steps < 200);
    }
}

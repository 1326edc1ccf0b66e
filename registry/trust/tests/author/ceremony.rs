//! A registry from the first ceremony to a host: maintainers who are apart, each with a copy of the folder and a key of her
//! own.

use std::path::{Path, PathBuf};

use jiff::Timestamp as Moment;
use pinhole_manifest::Digest;
use pinhole_registry::RoleName;
use pinhole_registry::author::{
    Charter, CollectError, Progress, PublishError, Reseat, Seats, Sheet, Staged, Staging, Terms, Workshop,
};
use pinhole_registry::client::{self, Consent, FolderFetch, Location, Registries, RegistryName, Verdict};
use pinhole_registry::keys::{PublicKey, RegistryKey};
use serde_json::{Value, json};

const BASE: &[u8] = include_bytes!("../../../manifest/tests/vectors/base/module.json");

fn day(number: i64) -> Moment {
    Moment::from_second(1_796_000_000 + number * 86_400).unwrap()
}

fn key(number: u8) -> RegistryKey {
    RegistryKey::from_seed(&[number; 32])
}

/// As it comes out of a ceremony: a line that was handed around.
fn handed(number: u8) -> PublicKey {
    PublicKey::parse(&key(number).public().to_string()).unwrap()
}

fn manifest(folder: &Path, version: &str, module: &[u8]) -> PathBuf {
    let at = folder.join(version);
    std::fs::create_dir_all(at.join("modules")).unwrap();
    let mut manifest: Value = serde_json::from_slice(BASE).unwrap();
    manifest["version"] = json!(version);
    manifest["ops"]["stale_things"]["module"]["sha256"] = json!(Digest::of(module).to_string());
    std::fs::write(at.join("manifest.json"), manifest.to_string()).unwrap();
    std::fs::write(at.join("modules/stale_things.wasm"), module).unwrap();
    at
}

/// What a maintainer does at home with a file that she was sent, and her copy of the folder beside her.
fn sign_at_home(file: &[u8], copy: &Workshop, number: u8) -> Vec<u8> {
    let sheet = Sheet::read(file, Some(copy)).unwrap();
    assert!(!sheet.statement().changes.is_empty(), "{}", sheet.statement());
    sheet.sign(&key(number)).unwrap().bytes
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Sends each file that waits to these maintainers, and collects what comes back.
fn ceremony(workshop: &Workshop, folder: &Path, waiting: &[Staged], maintainers: &[u8]) {
    let homes = tempfile::tempdir().unwrap();
    for number in maintainers {
        let home = homes.path().join(number.to_string());
        copy(folder, &home);
        let at_home = Workshop::open(&home).unwrap();
        for staged in waiting {
            // Each has the file as it was sent out, so their signatures come apart.
            let file = std::fs::read(home.join("staged").join(staged.file.file_name().unwrap())).unwrap();
            workshop.collect(&sign_at_home(&file, &at_home, *number)).unwrap();
        }
    }
}

fn sync(host: &Registries, name: &RegistryName, folder: &Path, now: Moment) -> Vec<String> {
    let terms =
        client::Terms { owner: &|_| None, judge: &|_, _| Verdict::Narrower, now, consent: Consent::Held };
    let fetch = FolderFetch::new(folder.join("public"));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(host.sync(name, &fetch, terms)).unwrap();
    let services = host.load(now).unwrap().services;
    let labels =
        services.iter().map(|loaded| pinhole_manifest::read(&loaded.manifest).manifest.unwrap().label());
    labels.collect()
}

#[test]
fn two_of_three_maintainers_who_are_apart_keep_a_registry_that_a_host_follows() {
    let (folder, manifests, hosts) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = folder.path();
    let maintainers = Seats::new([1, 2, 3].map(handed), 2).unwrap();
    let charter = Charter::with_online(maintainers, handed(9));
    let (workshop, progress) = Workshop::init(folder, &charter, Terms::default(), &[], day(0)).unwrap();
    let Progress::Waiting(waiting) = progress else { panic!("{progress}") };
    // The first root and the first targets.
    let homes = waiting.iter().map(|staged| std::fs::read(&staged.file).unwrap());
    for file in homes.collect::<Vec<_>>() {
        for number in [1, 2] {
            let signed = Sheet::read(&file, None).unwrap().sign(&key(number)).unwrap();
            workshop.collect(&signed.bytes).unwrap();
        }
    }
    workshop.publish(&[key(9)], day(0)).unwrap();
    let host = Registries::at(hosts.path().join("registries"));
    let name = RegistryName::parse("ours").unwrap();
    let root = std::fs::read(folder.join("public/metadata/1.root.json")).unwrap();
    host.trust(&name, Location::url("https://registry.example/").unwrap(), &root).unwrap();
    assert!(sync(&host, &name, folder, day(0)).is_empty());

    // A manifest.
    let staging = workshop.add(&[manifest(manifests.path(), "1.0.0", b"one")], day(1)).unwrap();
    let Staging::Staged(staged) = staging else { panic!("{staging}") };
    assert!(matches!(workshop.publish(&[key(9)], day(1)), Err(PublishError::Below(_))));
    ceremony(&workshop, folder, &[staged], &[1, 3]);
    workshop.publish(&[key(9)], day(1)).unwrap();
    assert_eq!(sync(&host, &name, folder, day(1)), ["acme@1.0.0"]);

    // Key 1 is lost; key 4 takes its seats. The targets have a new version at the same time.
    let staging = workshop.add(&[manifest(manifests.path(), "1.1.0", b"two")], day(2)).unwrap();
    assert!(matches!(staging, Staging::Staged(_)));
    let moves = [RoleName::Root, RoleName::Targets]
        .into_iter()
        .flat_map(|role| [Reseat::Unseat(role, handed(1).id()), Reseat::Seat(role, handed(4))]);
    workshop.rotate(&moves.collect::<Vec<_>>(), day(2)).unwrap();
    let waiting = workshop.pending().unwrap();
    assert_eq!(waiting.len(), 2);
    ceremony(&workshop, folder, &waiting, &[2, 3]);
    let root = std::fs::read(folder.join("staged/root.json")).unwrap();
    workshop.publish(&[key(9)], day(2)).unwrap();
    assert!(workshop.verify(day(2)).is_sound(), "{}", workshop.verify(day(2)));
    assert_eq!(sync(&host, &name, folder, day(2)), ["acme@1.1.0"]);
    assert!(matches!(workshop.collect(&root), Err(CollectError::NotStaged(RoleName::Root))));

    // A month passes with nothing new.
    assert_eq!(workshop.publish(&[key(9)], day(31)).unwrap().statements.len(), 0);
    assert_eq!(sync(&host, &name, folder, day(60)), ["acme@1.1.0"]);
}

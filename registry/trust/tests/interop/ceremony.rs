//! python-tuf's client on a registry that our own maintainers' side makes: a ceremony of two of three, modules, a rotation.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use pinhole_registry::RoleName;
use pinhole_registry::author::{Charter, Reseat, Seats, Terms, Workshop};
use pinhole_registry::keys::RegistryKey;
use serde_json::json;

use crate::both_ways::{tools, update};
use crate::kit::sha256;

fn seats(keys: &[RegistryKey], threshold: u64) -> Seats {
    Seats::new(keys.iter().map(RegistryKey::public), threshold).unwrap()
}

fn keys(seeds: std::ops::Range<u8>) -> Vec<RegistryKey> {
    seeds.map(|seed| RegistryKey::from_seed(&[seed; 32])).collect()
}

#[test]
fn their_client_follows_a_registry_of_our_maintainers_through_a_rotation() {
    let test = "their_client_follows_a_registry_of_our_maintainers_through_a_rotation";
    let Some(tools) = tools(test) else { return };
    let home = tempfile::tempdir().unwrap();
    // Long after anybody runs this, for their client looks at the machine's clock.
    let now: Timestamp = "2080-01-01T00:00:00Z".parse().unwrap();
    let (maintainers, online, others) = (keys(1..4), keys(9..10), keys(20..23));
    let charter =
        Charter::new(seats(&maintainers, 2), seats(&maintainers, 2), seats(&online, 1), seats(&online, 1));
    let all = || keys(1..24);
    let (workshop, _) =
        Workshop::init(&home.path().join("registry"), &charter, Terms::default(), &all(), now).unwrap();
    let manifests = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join("manifests");
    let github: PathBuf = manifests.join("github");
    workshop.add(std::slice::from_ref(&github), now).unwrap();
    workshop.publish(&all(), now).unwrap();
    let root = home.path().join("root.json");
    fs::copy(workshop.public().join("metadata/1.root.json"), &root).unwrap();
    let state = home.path().join("state");
    fs::create_dir(&state).unwrap();
    let names = ["github.json", "github.stale_issues.wasm"];
    let said = update(&tools, &workshop.public(), &state, &root, &names);
    let digest = |file: &str| sha256(&fs::read(github.join(file)).unwrap());
    assert_eq!(said["github.json"], digest("manifest.json"), "{said}");
    assert_eq!(said["github.stale_issues.wasm"], digest("modules/stale_issues.wasm"));
    assert_eq!(said["versions"][0], json!(1));
    let mut changes = Vec::new();
    for role in [RoleName::Root, RoleName::Targets] {
        changes.extend(others.iter().map(|key| Reseat::Seat(role, key.public())));
        changes.extend(maintainers.iter().map(|key| Reseat::Unseat(role, key.public().id())));
    }
    workshop.rotate(&changes, now).unwrap();
    workshop.publish(&all(), now).unwrap();
    workshop.add(&[manifests.join("stripe")], now).unwrap();
    workshop.publish(&all(), now).unwrap();
    let said = update(&tools, &workshop.public(), &state, &root, &["stripe.json", "github.json"]);
    assert_eq!(
        said["stripe.json"],
        sha256(&fs::read(manifests.join("stripe/manifest.json")).unwrap()),
        "{said}"
    );
    assert_eq!(said["versions"][0], json!(2));
}

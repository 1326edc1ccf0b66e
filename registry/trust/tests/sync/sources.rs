//! Who owns a service, and what a registry is to a credential.

use pinhole_registry::client::{Consent, ConsentError, Happened, TrustError};

use crate::host::{Host, id, location, name, of};
use crate::kit::{Forge, manifest, now, sha256};

#[test]
fn a_service_of_the_binary_is_refused_until_it_is_replaced() {
    let forge = Forge::honest();
    let host = Host::trusting(&forge);
    let compiled = ["shelf"];
    let synced = host.sync_with("acme", &forge, Consent::Held, &compiled);
    assert!(matches!(of(&synced, "shelf"), Happened::OwnedBy(owner) if owner == "the binary"));
    assert!(host.loads().is_empty());
    assert_eq!(host.registries.list().unwrap()[0].refused, [(id("shelf"), "the binary".to_owned())]);
    let not_offered = host.registries.replace(&id("books"), &name("acme"));
    assert!(matches!(not_offered, Err(ConsentError::NotOffered { .. })));
    let replaced = host.registries.replace(&id("shelf"), &name("acme")).unwrap();
    assert_eq!(replaced.before.as_deref(), Some("the binary"));
    let synced = host.sync_with("acme", &forge, Consent::Held, &compiled);
    assert!(matches!(of(&synced, "shelf"), Happened::Added { .. }));
    assert_eq!(host.loads(), ["shelf@1.0.0 of acme"]);
}

#[test]
fn a_service_of_another_registry_is_refused_until_it_is_replaced() {
    let forge = Forge::honest();
    let mut other = Forge::empty();
    other.root.rekey(&[70], 1);
    other.content.insert("shelf.json".into(), manifest("shelf", "9.0.0", &["id"]));
    other.write_root();
    other.write();
    let host = Host::trusting(&forge);
    host.registries.trust(&name("other"), location(), &other.root_bytes()).unwrap();
    host.sync(&forge);
    let synced = host.sync_with("other", &other, Consent::Held, &[]);
    assert!(matches!(of(&synced, "shelf"), Happened::OwnedBy(owner) if owner == "the registry acme"));
    host.registries.replace(&id("shelf"), &name("other")).unwrap();
    // Until the other has synced, hosts keep what they have, and it is kept up to date.
    assert!(matches!(of(&host.sync(&forge), "shelf"), Happened::Unchanged));
    assert_eq!(host.loads(), ["shelf@1.0.0 of acme"]);
    host.sync_with("other", &other, Consent::Held, &[]);
    assert_eq!(host.loads(), ["shelf@9.0.0 of other"]);
    let synced = host.sync(&forge);
    assert!(matches!(of(&synced, "shelf"), Happened::OwnedBy(owner) if owner == "the registry other"));
    assert_eq!(host.loads(), ["shelf@9.0.0 of other"]);
    host.registries.untrust(&name("other")).unwrap();
    host.sync(&forge);
    assert_eq!(host.loads(), ["shelf@1.0.0 of acme"]);
}

/// Who was given a service has it before the first sync, too: nobody gets in between.
#[test]
fn a_service_that_was_given_to_a_registry_is_no_other_s() {
    let forge = Forge::honest();
    let mut other = Forge::empty();
    other.root.rekey(&[70], 1);
    other.content.insert("shelf.json".into(), manifest("shelf", "9.0.0", &["id"]));
    other.write_root();
    other.write();
    let host = Host::trusting(&forge);
    host.registries.trust(&name("other"), location(), &other.root_bytes()).unwrap();
    host.sync_with("other", &other, Consent::Held, &["shelf"]);
    host.registries.replace(&id("shelf"), &name("other")).unwrap();
    let synced = host.sync(&forge);
    assert!(matches!(of(&synced, "shelf"), Happened::OwnedBy(owner) if owner == "the registry other"));
    assert!(host.loads().is_empty());
    host.sync_with("other", &other, Consent::Held, &["shelf"]);
    assert_eq!(host.loads(), ["shelf@9.0.0 of other"]);
}

#[test]
fn another_registry_under_the_same_name_is_another_source() {
    let forge = Forge::honest();
    let host = Host::trusting(&forge);
    let mut other = Forge::empty();
    other.root.rekey(&[70], 1);
    other.write_root();
    other.write();
    let taken = host.registries.trust(&name("acme"), location(), &other.root_bytes());
    assert!(matches!(taken, Err(TrustError::NameTaken { .. })), "{taken:?}");
    let again = host.registries.trust(&name("acme"), location(), &forge.root_bytes()).unwrap();
    assert!(again.known);
    assert_eq!(again.identity.as_str(), format!("acme.{:.16}", sha256(&forge.root_bytes())));
    let gone = host.registries.untrust(&name("acme")).unwrap();
    assert_eq!(gone.identity, again.identity);
    let new = host.registries.trust(&name("acme"), location(), &other.root_bytes()).unwrap();
    assert_ne!(new.identity, again.identity);
    assert!(!new.known);
}

#[test]
fn the_identity_stays_when_the_root_rotates() {
    let mut forge = Forge::honest();
    let host = Host::trusting(&forge);
    host.sync(&forge);
    let before = host.registries.load(now()).unwrap().services[0].identity.clone();
    forge.rotate(|forge| forge.root.rekey(&[60, 61, 62], 2));
    forge.next();
    assert_eq!(host.sync(&forge).root, 2);
    assert_eq!(host.registries.load(now()).unwrap().services[0].identity, before);
}

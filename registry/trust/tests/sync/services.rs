//! A sync, service by service.

use std::sync::atomic::{AtomicUsize, Ordering};

use pinhole_manifest::{Digest, Manifest};
use pinhole_registry::client::{Consent, ConsentError, Happened, Terms, Unfit, Verdict, Why};

use crate::host::{Host, block_on, id, name, of, publish};
use crate::kit::{Forge, manifest, manifest_with_module, now, sha256};

/// Whether this is why a manifest is of no use.
type IsRight = fn(&Unfit) -> bool;

#[test]
fn what_is_new_applies_and_what_is_the_same_stays() {
    let mut forge = Forge::honest();
    let host = Host::trusting(&forge);
    assert!(host.loads().is_empty());
    assert!(matches!(of(&host.sync(&forge), "shelf"), Happened::Added { .. }));
    assert!(matches!(of(&host.sync(&forge), "shelf"), Happened::Unchanged));
    publish(&mut forge, "books", "2.0.0", &["id"]);
    let synced = host.sync(&forge);
    assert!(matches!(of(&synced, "books"), Happened::Added { .. }));
    assert_eq!(host.loads(), ["books@2.0.0 of acme", "shelf@1.0.0 of acme"]);
    assert_eq!((synced.root, synced.targets, synced.expires), (1, 2, crate::kit::in_days(7)));
}

#[test]
fn what_is_there_already_is_not_fetched_again() {
    let mut forge = Forge::honest();
    let host = Host::trusting(&forge);
    host.sync(&forge);
    forge.asked();
    host.sync(&forge);
    assert_eq!(forge.asked(), ["metadata/2.root.json", "metadata/timestamp.json"]);
    let digest = publish(&mut forge, "shelf", "1.0.1", &["id"]);
    host.sync(&forge);
    let target = format!("targets/{}.shelf.json", digest.hex());
    let rest = ["metadata/timestamp.json", "metadata/2.snapshot.json", "metadata/2.targets.json", &target];
    assert_eq!(forge.asked()[1..], rest);
}

#[test]
fn a_narrower_update_applies_and_a_wider_one_waits() {
    let mut forge = Forge::honest();
    publish(&mut forge, "shelf", "1.0.0", &["id", "name", "color"]);
    let host = Host::trusting(&forge);
    host.sync(&forge);
    publish(&mut forge, "shelf", "1.0.1", &["id", "name"]);
    assert!(matches!(of(&host.sync(&forge), "shelf"), Happened::Updated { .. }));
    assert_eq!(host.loads(), ["shelf@1.0.1 of acme"]);
    let wider = publish(&mut forge, "shelf", "1.1.0", &["id", "name", "owner"]);
    for _ in 0..2 {
        let synced = host.sync(&forge);
        let Happened::Held { why, from, to, digest } = of(&synced, "shelf") else { panic!("{synced:?}") };
        assert_eq!(
            (*why, from.to_string(), to.to_string(), *digest),
            (Why::Widens, "1.0.1".into(), "1.1.0".into(), wider)
        );
        assert_eq!(host.loads(), ["shelf@1.0.1 of acme"]);
    }
    let held = host.registries.held().unwrap();
    assert_eq!((held.len(), held[0].digest), (1, wider));
    assert_eq!(Digest::of(&held[0].offered), wider);
    assert_eq!(
        Digest::of(held[0].accepted.as_ref().unwrap()),
        Digest::of(&manifest("shelf", "1.0.1", &["id", "name"]))
    );
    // Another than the one that was shown is not said yes to.
    let other = host.registries.accept(&id("shelf"), &Digest::of(b""), now());
    assert!(matches!(other, Err(ConsentError::Other { held, .. }) if held == wider), "{other:?}");
    assert_eq!(host.registries.accept(&id("shelf"), &wider, now()).unwrap().to_string(), "1.1.0");
    assert_eq!(host.loads(), ["shelf@1.1.0 of acme"]);
    assert!(matches!(host.registries.accept(&id("shelf"), &wider, now()), Err(ConsentError::NothingHeld(_))));
    assert!(matches!(of(&host.sync(&forge), "shelf"), Happened::Unchanged));
}

#[test]
fn what_waits_gives_way_to_what_comes_after_it() {
    let mut forge = Forge::honest();
    publish(&mut forge, "shelf", "1.0.0", &["id", "name", "color"]);
    let host = Host::trusting(&forge);
    host.sync(&forge);
    let first = publish(&mut forge, "shelf", "1.1.0", &["id", "name", "color", "owner"]);
    host.sync(&forge);
    let second = publish(&mut forge, "shelf", "1.2.0", &["id", "name", "color", "price"]);
    host.sync(&forge);
    assert!(matches!(host.registries.accept(&id("shelf"), &first, now()), Err(ConsentError::Other { .. })));
    assert_eq!(host.registries.held().unwrap()[0].digest, second);
    // Narrower than what is accepted: it applies, and nothing waits any more.
    publish(&mut forge, "shelf", "1.3.0", &["id"]);
    assert!(matches!(of(&host.sync(&forge), "shelf"), Happened::Updated { .. }));
    assert!(host.registries.held().unwrap().is_empty());
}

#[test]
fn the_operators_flag_applies_a_wider_update_and_no_older_one() {
    let mut forge = Forge::honest();
    let host = Host::trusting(&forge);
    host.sync(&forge);
    publish(&mut forge, "shelf", "1.1.0", &["id", "name"]);
    let synced = host.sync_with("acme", &forge, Consent::AcceptWidening, &[]);
    assert!(matches!(of(&synced, "shelf"), Happened::Updated { .. }));
    let older = publish(&mut forge, "shelf", "1.0.9", &["id"]);
    let synced = host.sync_with("acme", &forge, Consent::AcceptWidening, &[]);
    assert!(matches!(of(&synced, "shelf"), Happened::Held { why: Why::Older, .. }), "{synced:?}");
    assert_eq!(host.loads(), ["shelf@1.1.0 of acme"]);
    host.registries.accept(&id("shelf"), &older, now()).unwrap();
    assert_eq!(host.loads(), ["shelf@1.0.9 of acme"]);
}

#[test]
fn what_leaves_the_collection_is_gone_and_does_not_come_back_wider() {
    let mut forge = Forge::honest();
    publish(&mut forge, "books", "1.0.0", &["id"]);
    let host = Host::trusting(&forge);
    host.sync(&forge);
    let kept = forge.content.remove("books.json").unwrap();
    forge.next();
    assert!(matches!(of(&host.sync(&forge), "books"), Happened::Removed));
    assert_eq!(host.loads(), ["shelf@1.0.0 of acme"]);
    assert!(host.sync(&forge).services.iter().all(|(id, _)| id.as_str() != "books"), "said once");
    publish(&mut forge, "books", "1.1.0", &["id", "reader"]);
    assert!(matches!(of(&host.sync(&forge), "books"), Happened::Held { why: Why::Widens, .. }));
    assert_eq!(host.loads(), ["shelf@1.0.0 of acme"]);
    forge.content.insert("books.json".into(), kept);
    forge.next();
    assert!(matches!(of(&host.sync(&forge), "books"), Happened::Added { .. }));
    assert_eq!(host.loads(), ["books@1.0.0 of acme", "shelf@1.0.0 of acme"]);
}

#[test]
fn a_manifest_that_is_of_no_use_is_left_out_and_the_accepted_one_stays() {
    let mut forge = Forge::honest();
    let host = Host::trusting(&forge);
    host.sync(&forge);
    let module = b"\0asm module".to_vec();
    let cases: [(Vec<u8>, IsRight); 4] = [
        (
            b"{\"pinhole\":2}".to_vec(),
            |unfit| matches!(unfit, Unfit::Manifest(diagnostics) if !diagnostics.is_empty()),
        ),
        (
            manifest("books", "1.0.0", &["id"]),
            |unfit| matches!(unfit, Unfit::OtherService(id) if id.as_str() == "books"),
        ),
        (
            manifest_with_module("shelf", "1.1.0", &module),
            |unfit| matches!(unfit, Unfit::Module(file) if file == "modules/sum.wasm"),
        ),
        (manifest_with_module("shelf", "1.1.0", b"another"), |unfit| matches!(unfit, Unfit::Module(_))),
    ];
    for (n, (bytes, is_right)) in cases.into_iter().enumerate() {
        forge.content.insert("shelf.json".into(), bytes);
        if n == 3 {
            forge.content.insert("shelf.sum.wasm".into(), module.clone());
        }
        publish(&mut forge, "pens", &format!("1.0.{n}"), &["id"]);
        let synced = host.sync_with("acme", &forge, Consent::AcceptWidening, &[]);
        let Happened::Unfit(unfit) = of(&synced, "shelf") else { panic!("{synced:?}") };
        assert!(is_right(unfit), "{n}: {unfit:?}");
        // The others are taken over all the same.
        assert_eq!(host.loads(), [format!("pens@1.0.{n} of acme"), "shelf@1.0.0 of acme".into()]);
    }
}

/// What can no longer be read can no longer be compared: the operator looks at what comes in its place.
#[test]
fn an_update_of_what_cannot_be_read_any_more_waits() {
    let mut forge = Forge::honest();
    publish(&mut forge, "shelf", "1.0.0", &["id", "name", "color"]);
    let host = Host::trusting(&forge);
    host.sync(&forge);
    let kept = host.folder.path().join("registries/files").join(sha256(&forge.content["shelf.json"]));
    std::fs::write(kept, b"damaged").unwrap();
    let digest = publish(&mut forge, "shelf", "1.0.1", &["id"]);
    assert!(matches!(of(&host.sync(&forge), "shelf"), Happened::Held { why: Why::Widens, .. }));
    assert_eq!(host.registries.held().unwrap()[0].accepted, None);
    host.registries.accept(&id("shelf"), &digest, now()).unwrap();
    assert_eq!(host.loads(), ["shelf@1.0.1 of acme"]);
}

#[test]
fn modules_come_with_their_manifest_and_are_checked_when_they_are_read() {
    let mut forge = Forge::honest();
    let module = b"\0asm one".to_vec();
    forge.content.insert("shelf.json".into(), manifest_with_module("shelf", "1.0.0", &module));
    forge.content.insert("shelf.sum.wasm".into(), module.clone());
    forge.content.insert("shelf.stray.wasm".into(), b"\0asm of nobody".to_vec());
    forge.next();
    let host = Host::trusting(&forge);
    host.sync(&forge);
    let asked = forge.asked();
    assert!(!asked.iter().any(|path| path.contains("stray")), "{asked:?}");
    let loaded = host.registries.load(now()).unwrap().services.remove(0);
    let file = &loaded.modules["modules/sum.wasm"];
    assert_eq!(file.read().unwrap(), module);
    assert_eq!(file.digest().hex(), sha256(&module));
    // What is replaced stays readable for hosts that run, until nobody can need it.
    let second = b"\0asm two".to_vec();
    forge.content.insert("shelf.json".into(), manifest_with_module("shelf", "1.0.1", &second));
    forge.content.insert("shelf.sum.wasm".into(), second);
    forge.next();
    host.sync_with("acme", &forge, Consent::AcceptWidening, &[]);
    assert_eq!(file.read().unwrap(), module);
    std::fs::write(file.path(), b"\0asm 0ne").unwrap();
    assert!(file.read().is_err());
}

#[test]
fn earlier_manifests_are_kept_for_the_grants_made_under_them() {
    let mut forge = Forge::honest();
    let host = Host::trusting(&forge);
    host.sync(&forge);
    let first = Digest::of(&forge.content["shelf.json"]);
    let second = publish(&mut forge, "shelf", "1.1.0", &["id", "name"]);
    host.sync(&forge);
    let earlier = |digest| host.registries.earlier(&id("shelf"), digest).unwrap();
    assert_eq!(earlier(&second), None, "what only waits was never accepted");
    host.registries.accept(&id("shelf"), &second, now()).unwrap();
    assert_eq!(Digest::of(&earlier(&first).unwrap()), first);
    assert_eq!(Digest::of(&earlier(&second).unwrap()), second);
    assert_eq!(host.registries.earlier(&id("books"), &first).unwrap(), None);
    // A hundred days later no grant of then is left.
    let third = publish(&mut forge, "shelf", "1.2.0", &["id", "name", "color"]);
    host.sync(&forge);
    host.registries.accept(&id("shelf"), &third, now() + crate::kit::days(101)).unwrap();
    assert_eq!(earlier(&first), None);
    assert!(earlier(&second).is_some());
    // And a file that nobody names goes with the next sync.
    let file = host.folder.path().join("registries/files").join(first.hex());
    assert!(file.exists());
    host.sync(&forge);
    assert!(!file.exists());
}

#[test]
fn the_judge_is_asked_about_changes_alone() {
    let mut forge = Forge::honest();
    let host = Host::trusting(&forge);
    let asked = AtomicUsize::new(0);
    let judge = |_: &Manifest, _: &Manifest| {
        asked.fetch_add(1, Ordering::SeqCst);
        Verdict::Widens
    };
    let sync = |forge: &Forge| {
        let terms = Terms { owner: &|_| None, judge: &judge, now: now(), consent: Consent::Held };
        block_on(host.registries.sync(&name("acme"), forge, terms)).unwrap()
    };
    sync(&forge);
    sync(&forge);
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    publish(&mut forge, "shelf", "1.0.1", &["id"]);
    sync(&forge);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

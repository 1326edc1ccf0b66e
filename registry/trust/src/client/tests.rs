//! Kills: whatever changes the state is stopped after each of its steps on the disk, and the state is then the old or the
//! new one, whole, and good to go on with.

use pinhole_manifest::{Digest, ServiceId};

use super::{Consent, Location, Registries, RegistryName, Terms, Verdict};
use crate::client::state::Store;
use kit::{Forge, manifest, now};

#[path = "../../tests/kit/mod.rs"]
mod kit;

struct Host(tempfile::TempDir);

impl Host {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn whole(&self) -> Registries {
        Registries::at(self.0.path().join("registries"))
    }

    /// One whose process is killed after so many steps.
    fn dying(&self, steps: usize) -> Registries {
        Registries { store: Store::dying(self.0.path().join("registries"), steps) }
    }

    fn view(&self) -> String {
        let registries = self.whole();
        let held = registries.held().unwrap();
        format!("{:?} {:?} {held:?}", registries.load(now()).unwrap(), registries.list().unwrap())
    }
}

fn name() -> RegistryName {
    RegistryName::parse("acme").unwrap()
}

fn shelf() -> ServiceId {
    ServiceId::parse("shelf").unwrap()
}

fn trust(registries: &Registries, forge: &Forge) -> bool {
    let location = Location::url("https://registry.example/").unwrap();
    registries.trust(&name(), location, &forge.root_bytes()).is_ok()
}

fn sync(registries: &Registries, forge: &Forge) -> bool {
    let judge = |_: &pinhole_manifest::Manifest, _: &pinhole_manifest::Manifest| Verdict::Widens;
    let terms = Terms { owner: &|_| None, judge: &judge, now: now(), consent: Consent::Held };
    let name = name();
    let work = registries.sync(&name, forge, terms);
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work).is_ok()
}

/// Kills it after each step. `before` brings a host to where it begins; it must then end the same, killed or not.
fn kill_at_each_step(least: usize, before: impl Fn(&Host), work: impl Fn(&Registries) -> bool) {
    let reference = Host::new();
    before(&reference);
    let old = reference.view();
    assert!(work(&reference.whole()));
    let new = strip(&reference.view(), &reference);
    let old = strip(&old, &reference);
    assert_ne!(old, new);
    for steps in 0.. {
        let host = Host::new();
        before(&host);
        let done = work(&host.dying(steps));
        let view = strip(&host.view(), &host);
        assert!(view == old || view == new, "killed after {steps}: {view}");
        if done {
            assert_eq!(view, new);
            assert!(steps >= least, "{steps} steps");
            return;
        }
        // A yes that was taken before the kill is not taken again; all else goes on as if it were the first time.
        assert!(view == new || work(&host.whole()), "killed after {steps}");
        assert_eq!(strip(&host.view(), &host), new, "killed after {steps}");
    }
}

/// Two hosts differ in their folder alone.
fn strip(view: &str, host: &Host) -> String {
    view.replace(host.0.path().to_str().unwrap(), "")
}

fn next(forge: &mut Forge) {
    forge.content.insert("shelf.json".into(), manifest("shelf", "1.1.0", &["id", "name"]));
    forge.content.insert("books.json".into(), manifest("books", "1.0.0", &["id"]));
    forge.content.remove("pens.json");
    forge.rotate(|forge| forge.timestamp.rekey(&[20], 1));
    forge.next();
}

fn first() -> Forge {
    let mut forge = Forge::honest();
    forge.content.insert("pens.json".into(), manifest("pens", "1.0.0", &["id"]));
    forge.next();
    forge
}

#[test]
fn a_kill_at_any_step_of_the_first_trust() {
    let forge = first();
    // Before, there is not even the folder.
    kill_at_each_step(8, |_| {}, |registries| trust(registries, &forge));
}

#[test]
fn a_kill_at_any_step_of_a_sync() {
    let forge = first();
    let mut later = forge.clone();
    next(&mut later);
    let before = |host: &Host| {
        assert!(trust(&host.whole(), &forge) && sync(&host.whole(), &forge));
    };
    kill_at_each_step(30, before, |registries| sync(registries, &later));
}

#[test]
fn a_kill_at_any_step_of_a_refused_sync_keeps_a_root_or_not() {
    let forge = first();
    let mut later = forge.clone();
    next(&mut later);
    let mut broken = later.clone();
    broken.files.retain(|path, _| !path.contains(".books.json"));
    for steps in 0..16 {
        let host = Host::new();
        assert!(trust(&host.whole(), &forge) && sync(&host.whole(), &forge));
        let before = host.view();
        assert!(!sync(&host.dying(steps), &broken));
        assert_eq!(host.view(), before, "killed after {steps}");
        assert!(sync(&host.whole(), &later), "killed after {steps}");
    }
}

#[test]
fn a_kill_at_any_step_of_a_yes() {
    let forge = first();
    let mut later = forge.clone();
    next(&mut later);
    let digest = Digest::of(&later.content["shelf.json"]);
    let before = |host: &Host| {
        assert!(trust(&host.whole(), &forge) && sync(&host.whole(), &forge) && sync(&host.whole(), &later));
    };
    let accept = |registries: &Registries| registries.accept(&shelf(), &digest, now()).is_ok();
    kill_at_each_step(5, before, accept);
    let untrust = |registries: &Registries| registries.untrust(&name()).is_ok();
    kill_at_each_step(5, before, untrust);
}

/// What the maintainers' side publishes is never too large for a host.
#[test]
fn hosts_take_whatever_maintainers_may_publish() {
    assert!(crate::RoleName::Targets.bytes_max() >= crate::author::METADATA_BYTES_MAX);
}

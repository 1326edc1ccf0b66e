//! Every attack that TUF knows, by its name: what is done to a registry, how it is refused, and that this host is then as
//! it was, and goes on with the honest registry.

#[path = "../kit/mod.rs"]
mod kit;

mod disk;
mod keys;
mod metadata;
mod order;
mod targets;

use kit::{Forge, days, now};
use pinhole_registry::client::{
    Consent, Location, Refused, Registries, RegistryName, SyncError, Synced, Terms, Verdict,
};
use tempfile::TempDir;

/// An attack on a registry that this host has synced once.
struct Attack {
    /// The fault's name.
    name: &'static str,
    /// What the attacker does.
    done: fn(&mut Forge),
    /// Whether this is how it is refused.
    refused: fn(&Refused) -> bool,
}

/// A host that trusts one registry.
struct Host {
    folder: TempDir,
    registries: Registries,
    name: RegistryName,
}

impl Host {
    fn trusting(forge: &Forge) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let registries = Registries::at(folder.path().join("registries"));
        let name = RegistryName::parse("acme").unwrap();
        let location = Location::url("https://registry.example/").unwrap();
        registries.trust(&name, location, &forge.root_bytes()).unwrap();
        Self { folder, registries, name }
    }

    /// One that has synced.
    fn synced(forge: &Forge) -> Self {
        let host = Self::trusting(forge);
        host.sync(forge).unwrap();
        host
    }

    fn sync(&self, forge: &Forge) -> Result<Synced, SyncError> {
        self.sync_at(forge, now())
    }

    fn sync_at(&self, forge: &Forge, now: jiff::Timestamp) -> Result<Synced, SyncError> {
        let terms = Terms { owner: &|_| None, judge: &|_, _| Verdict::Narrower, now, consent: Consent::Held };
        block_on(self.registries.sync(&self.name, forge, terms))
    }

    /// All that hosts would load, and when it expires.
    fn view(&self) -> String {
        format!("{:?}", self.registries.load(now()).unwrap())
    }
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

fn refusal(outcome: Result<Synced, SyncError>) -> Refused {
    match outcome {
        Err(SyncError::Refused { source, .. }) => source,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn each_attack_is_refused_by_its_name_and_leaves_the_host_as_it_was() {
    let tables = [order::ATTACKS, keys::ATTACKS, metadata::ATTACKS, targets::ATTACKS];
    for attack in tables.into_iter().flatten() {
        let mut honest = Forge::honest();
        let host = Host::synced(&honest);
        // Something for the attacker to keep from the host, or to go back behind.
        honest.content.insert("shelf.json".into(), kit::manifest("shelf", "1.1.0", &["id", "name"]));
        honest.next();
        host.sync(&honest).unwrap();
        let before = host.view();
        let mut forged = honest.clone();
        (attack.done)(&mut forged);
        let refused = refusal(host.sync(&forged));
        assert!((attack.refused)(&refused), "{}: {refused:?}", attack.name);
        assert_eq!(host.view(), before, "{}", attack.name);
        // A second time it is refused alike, and the honest registry is taken over as if nothing had been.
        let again = refusal(host.sync(&forged));
        assert!((attack.refused)(&again), "{}: {again:?}", attack.name);
        honest.content.insert("shelf.json".into(), kit::manifest("shelf", "1.2.0", &["id"]));
        honest.next();
        host.sync(&honest).unwrap_or_else(|error| panic!("{}: {error:?}", attack.name));
    }
}

#[test]
fn a_host_that_has_never_synced_refuses_the_same_forgeries_of_form() {
    for attack in [keys::ATTACKS, metadata::ATTACKS, targets::ATTACKS].into_iter().flatten() {
        let mut forged = Forge::honest();
        forged.next();
        let host = Host::trusting(&forged);
        (attack.done)(&mut forged);
        if forged.root.version > 2 || attack.name.contains("equivocation") {
            continue;
        }
        let refused = refusal(host.sync(&forged));
        assert!((attack.refused)(&refused), "{}: {refused:?}", attack.name);
        assert!(host.registries.load(now()).unwrap().services.is_empty(), "{}", attack.name);
    }
}

#[test]
fn a_clock_set_back_revives_nothing() {
    let mut forge = Forge::honest();
    let host = Host::synced(&forge);
    forge.timestamp.expires = kit::in_days(20);
    forge.next();
    host.sync_at(&forge, now() + days(15)).unwrap();
    // Expired at the time of the last sync, and offered under an earlier clock.
    forge.timestamp.expires = kit::in_days(14);
    forge.next();
    let refused = refusal(host.sync_at(&forge, now() - days(1)));
    assert!(matches!(refused, Refused::Expired { .. }), "{refused:?}");
}

#[test]
fn what_has_expired_is_stale_when_loaded() {
    use pinhole_registry::client::Freshness;
    let forge = Forge::honest();
    let host = Host::synced(&forge);
    let freshness = |at| host.registries.load(at).unwrap().services[0].freshness;
    assert_eq!(freshness(now()), Freshness::Fresh { until: kit::in_days(7) });
    assert_eq!(freshness(kit::in_days(7)), Freshness::Stale { since: kit::in_days(7) });
    // The last sync was at noon: whoever sets the clock back does not make it younger than that.
    assert_eq!(freshness(now() - days(900)), Freshness::Fresh { until: kit::in_days(7) });
}

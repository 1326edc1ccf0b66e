//! Goes through the tables of attacks, and sets the clock back.

use pinhole_registry::client::{Freshness, Refused};

use crate::host::{Host, refusal};
use crate::kit::{Forge, days, in_days, manifest, now};
use crate::{keys, metadata, order, targets};

#[test]
fn each_attack_is_refused_by_its_name_and_leaves_the_host_as_it_was() {
    let mut honest = Forge::honest();
    let host = Host::synced(&honest);
    // Something for the attacker to keep from the host, or to go back behind.
    honest.content.insert("shelf.json".into(), manifest("shelf", "1.1.0", &["id", "name"]));
    honest.next();
    host.sync(&honest).unwrap();
    let before = (host.view(), host.state());
    let tables = [order::ATTACKS, keys::ATTACKS, metadata::ATTACKS, targets::ATTACKS];
    for attack in tables.into_iter().flatten() {
        let mut forged = honest.clone();
        (attack.done)(&mut forged);
        for _ in 0..2 {
            let refused = refusal(host.sync(&forged));
            assert!((attack.refused)(&refused), "{}: {refused:?}", attack.name);
            assert!((host.view(), host.state()) == before, "{} has left something", attack.name);
        }
    }
    honest.next();
    host.sync(&honest).unwrap();
}

#[test]
fn a_host_that_has_never_synced_refuses_the_same_forgeries_of_form() {
    let mut honest = Forge::honest();
    honest.next();
    let host = Host::trusting(&honest);
    let before = host.state();
    for attack in [keys::ATTACKS, metadata::ATTACKS, targets::ATTACKS].into_iter().flatten() {
        let mut forged = honest.clone();
        (attack.done)(&mut forged);
        let refused = refusal(host.sync(&forged));
        assert!((attack.refused)(&refused), "{}: {refused:?}", attack.name);
        assert!(host.state() == before, "{} has left something", attack.name);
    }
    host.sync(&honest).unwrap();
}

#[test]
fn a_clock_set_back_revives_nothing() {
    let mut forge = Forge::honest();
    let host = Host::synced(&forge);
    forge.timestamp.expires = in_days(20);
    forge.next();
    host.sync_at(&forge, now() + days(15)).unwrap();
    // Expired at the time of the last sync, and offered under an earlier clock.
    forge.timestamp.expires = in_days(14);
    forge.next();
    let refused = refusal(host.sync_at(&forge, now() - days(1)));
    assert!(matches!(refused, Refused::Expired { .. }), "{refused:?}");
}

#[test]
fn what_has_expired_is_stale_when_loaded() {
    let forge = Forge::honest();
    let host = Host::synced(&forge);
    let freshness = |at| host.registries.load(at).unwrap().services[0].freshness;
    assert_eq!(freshness(now()), Freshness::Fresh { until: in_days(7) });
    assert_eq!(freshness(in_days(7)), Freshness::Stale { since: in_days(7) });
    // The last sync was at noon: whoever sets the clock back does not make it younger than that.
    assert_eq!(freshness(now() - days(900)), Freshness::Fresh { until: in_days(7) });
}

/// A root that has expired makes what was accepted stale, at once and for good: a clock set back does not help.
#[test]
fn an_expired_root_makes_what_was_accepted_stale() {
    let mut forge = Forge::honest();
    let host = Host::synced(&forge);
    host.sync_at(&forge, now() + days(5)).unwrap();
    forge.rotate(|forge| forge.root.expires = now() + days(3));
    assert!(matches!(refusal(host.sync_at(&forge, now() + days(5))), Refused::Expired { .. }));
    for at in [now() + days(6), now()] {
        let freshness = host.registries.load(at).unwrap().services[0].freshness;
        assert_eq!(freshness, Freshness::Stale { since: in_days(3) });
    }
}

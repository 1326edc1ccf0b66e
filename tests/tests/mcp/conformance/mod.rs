//! The official conformance suite against Pinhole's HTTP door and handler, both requirement sets, with a token on the way.
//!
//! The scenarios want tools, prompts and resources of fixed names; `fixture.rs` puts them in front of the real handler. What
//! does not simply succeed stands below with its reason, check by check, so that a check which begins to fail shows, and one
//! which begins to pass too. Needs Node 22 and the suite, which `.ci/run` installs.

mod data;
mod fixture;
mod suite;

use std::collections::BTreeMap;

use self::fixture::Fixture;
use self::suite::{Odd, Suite};

/// Nothing is subscribed to: what is connected shows in the next list, which clients may keep for a minute.
const NO_SUBSCRIPTIONS: &str = "SKIPPED: ";

/// What is not passed, by design: scenario, check, how it comes out.
const BY_DESIGN: [(&str, &str, &str); 5] = [
    ("server-stateless", "sep-2575-server-sends-subscription-ack", NO_SUBSCRIPTIONS),
    ("server-stateless", "sep-2575-server-tags-subscription-id", NO_SUBSCRIPTIONS),
    ("server-stateless", "sep-2575-server-honors-notification-filter", NO_SUBSCRIPTIONS),
    ("server-stateless", "sep-2575-server-sends-prompts-list-changed-on-subscription", NO_SUBSCRIPTIONS),
    ("server-stateless", "sep-2575-server-sends-tools-list-changed-on-subscription", NO_SUBSCRIPTIONS),
];

async fn conforms(test: &str, revision: &str, scenarios: usize, odd: Odd) {
    let Some(suite) = Suite::find(test) else { return };
    let door = crate::real::behind_a_door(Fixture::around).await;
    let run = suite.run(&door.url(), revision).await;
    assert_eq!(run.scored.len(), scenarios, "the suite requires other scenarios than it did");
    assert_eq!(run.ran, run.scored);
    assert_eq!(run.odd, odd);
    assert!(run.passed > 2 * scenarios, "{} checks passed", run.passed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_conforms_to_2026_07_28() {
    let by_design =
        BY_DESIGN.map(|(scenario, check, how)| ((scenario.to_owned(), check.to_owned()), how.to_owned()));
    let test = "the_server_conforms_to_2026_07_28";
    conforms(test, "2026-07-28", 37, by_design.into()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_conforms_to_2025_11_25() {
    conforms("the_server_conforms_to_2025_11_25", "2025-11-25", 30, BTreeMap::new()).await;
}

//! The official conformance suite against Pinhole's HTTP door and handler, both requirement sets, with a token on the way.
//!
//! The scenarios want tools, prompts and resources of fixed names; `fixture.rs` puts them in front of the real handler. What
//! does not simply succeed stands below with its reason, check by check, so that a check which begins to fail shows, and one
//! which begins to pass too. Needs Node 22 and the suite, which `.ci/run` installs.

mod data;
mod fixture;
mod suite;

use pinhole_server::http::Sessions;

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

/// Without sessions, as `pinhole mcp --http` is, a client of the older protocol cannot be asked in the middle of a call: what
/// it said of itself at the beginning is not known any more, and its answer would belong to no request. Pinhole then asks the
/// person by the question that waits for her.
const WITHOUT_SESSIONS: [(&str, &str, &str); 5] = [
    (
        "tools-call-sampling",
        "tools-call-sampling",
        "FAILURE: Failed: MCP error -32600: the client cannot be asked for samples",
    ),
    (
        "tools-call-elicitation",
        "tools-call-elicitation",
        "FAILURE: Failed: MCP error -32600: the client cannot be asked",
    ),
    (
        "elicitation-sep1034-defaults",
        "elicitation-sep1034-general",
        "FAILURE: Failed: MCP error -32600: the client cannot be asked",
    ),
    (
        "elicitation-sep1330-enums",
        "elicitation-sep1330-general",
        "FAILURE: Failed: MCP error -32600: the client cannot be asked",
    ),
    // It wants to see several streams of one session.
    ("server-sse-multiple-streams", "server-sse-multiple-streams-session", "WARNING: "),
];

async fn conforms(test: &str, (revision, scenarios): (&str, usize), sessions: Sessions, odd: Odd) {
    let Some(suite) = Suite::find(test) else { return };
    let door = crate::real::behind_a_door(Fixture::around, sessions).await;
    let run = suite.run(&door.url(), revision).await;
    assert_eq!(run.scored.len(), scenarios, "the suite requires other scenarios than it did");
    assert_eq!(run.ran, run.scored);
    assert_eq!(run.odd, odd);
    assert!(run.passed > scenarios, "{} checks passed", run.passed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_conforms_to_2026_07_28() {
    let test = "the_server_conforms_to_2026_07_28";
    for sessions in [Sessions::Off, Sessions::On] {
        conforms(test, ("2026-07-28", 37), sessions, odd(&BY_DESIGN)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_conforms_to_2025_11_25() {
    let test = "the_server_conforms_to_2025_11_25";
    conforms(test, ("2025-11-25", 30), Sessions::On, odd(&[])).await;
    conforms(test, ("2025-11-25", 30), Sessions::Off, odd(&WITHOUT_SESSIONS)).await;
}

fn odd(known: &[(&str, &str, &str)]) -> Odd {
    let one = |(scenario, check, how): &(&str, &str, &str)| {
        (((*scenario).to_owned(), (*check).to_owned()), (*how).to_owned())
    };
    known.iter().map(one).collect()
}

/// What asks for nothing of a fixture's: the handler stands there as `pinhole mcp --http` has it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_fixture_it_conforms_in_what_every_server_has() {
    let Some(suite) = Suite::find("without_the_fixture_it_conforms_in_what_every_server_has") else { return };
    let door = crate::real::behind_a_door(|mcp| mcp, Sessions::Off).await;
    for (scenario, revision) in [
        ("server-initialize", "2025-11-25"),
        ("ping", "2025-11-25"),
        ("tools-list", "2025-11-25"),
        ("dns-rebinding-protection", "2025-11-25"),
        ("tools-list", "2026-07-28"),
        ("dns-rebinding-protection", "2026-07-28"),
        ("server-sse-multiple-streams", "2026-07-28"),
        ("http-header-validation", "2026-07-28"),
        ("input-required-result-unsupported-methods", "2026-07-28"),
    ] {
        let run = suite.run_one(&door.url(), scenario, revision).await;
        assert_eq!(run.ran, run.scored, "{scenario}");
        assert_eq!(run.odd, Odd::new(), "{scenario} of {revision}");
        assert!(run.passed > 0, "{scenario}");
    }
}

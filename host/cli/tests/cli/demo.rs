//! `pinhole demo`: the outcomes, in order, and no key in sight.

use crate::home::Home;

/// The key that the demo's stand-in expects.
const DEMO_KEY: &str = "ghp_demo_key_that_opens_nothing_at_all";

#[test]
fn the_demo_shows_six_steps_as_one_document() {
    let home = Home::empty();
    let ran = home.run(&["demo", "--json"]).expect(0).hides(DEMO_KEY);
    let outcomes = ran.json();
    let codes: Vec<&serde_json::Value> = outcomes
        .as_array()
        .unwrap()
        .iter()
        .map(|outcome| if outcome["ok"] == true { &outcome["op"] } else { &outcome["refusal"]["code"] })
        .collect();
    let expected = [
        "list_org_repo_names",
        "grant_used_up",
        "read_only_grant",
        "create_issue",
        "approval_mismatch",
        "result_too_large",
    ];
    assert_eq!(codes, expected);
    let first = &outcomes[0]["meta"];
    assert!(first["bytes_in"].as_u64().unwrap() > 500_000, "{first}");
    assert!(first["bytes_out"].as_u64().unwrap() < 4_000, "{first}");
    for refused in [1, 2, 4] {
        assert_eq!(outcomes[refused]["refusal"]["sent"], "no");
        assert_eq!(outcomes[refused]["meta"]["requests"], 0);
    }
    // It leaves nothing behind, and needs nothing that is there.
    assert_eq!(std::fs::read_dir(home.path("")).unwrap().count(), 0);
}

#[test]
fn the_demo_tells_people_what_was_kept_back() {
    let ran = Home::empty().run(&["demo"]).expect(0).hides(DEMO_KEY);
    for words in ["kept back", "refused (grant_used_up)", "no request reached the service", "nothing left"] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("not what should have happened"), "{}", ran.stdout);
}

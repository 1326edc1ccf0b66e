//! Grants in the wrong hands, or out of their time.

use serde_json::json;

use super::served::{PATIENCE, Served, call, read, text};
use crate::home::Home;
use crate::stage::Stage;

#[test]
fn a_grant_of_another_bot_or_of_a_stranger_opens_nothing() {
    let (home, other, stage) = (Home::new(), Home::new(), Stage::new());
    let served = Served::new(&home, &stage, &[]);
    let of_another_bot = text(&home.mint_for(&other.bot(), &["--stand-in"]));
    let of_a_stranger = text(&other.mint_for(&home.bot(), &["--stand-in"]));
    for (grant, code) in [
        (of_another_bot.as_str(), "wrong_bot"),
        (&of_a_stranger, "unknown_issuer"),
        ("{}", "grant_malformed"),
        ("\"bm9uc2Vuc2U=\"", "grant_malformed"),
    ] {
        for path in ["/v1/run", "/v1/explain"] {
            let refusal = served.post(path, &call("github.get_repo", &read(), grant)).refused(422, code);
            assert_eq!(refusal["sent"], "no");
        }
    }
    assert_eq!(stage.connections(), 0);
}

#[test]
fn a_grant_that_is_revoked_runs_no_more_in_a_sidecar_that_goes_on() {
    let (home, stage) = (Home::new(), Stage::new());
    let served = Served::new(&home, &stage, &[]);
    let file = home.mint(&[]);
    let body = call("github.get_repo", &read(), &text(&file));
    served.post("/v1/run", &body).is(200);
    home.run(&["grant", "revoke", &file]).expect(0);
    served.post("/v1/run", &body).refused(403, "grant_revoked");
    assert_eq!(stage.requests(), 1);
}

#[test]
fn a_grant_that_is_over_is_over() {
    let (home, stage) = (Home::new(), Stage::new());
    let served = Served::new(&home, &stage, &[]);
    let body = call("github.get_repo", &read(), &text(&home.mint(&["--ttl", "1s"])));
    let began = std::time::Instant::now();
    let refused = loop {
        let answer = served.post("/v1/run", &body);
        if answer.status != 200 {
            break answer;
        }
        assert!(began.elapsed() < PATIENCE);
    };
    refused.refused(403, "grant_expired");
}

#[test]
fn a_grant_does_what_it_says_and_no_more() {
    let (home, stage) = (Home::new(), Stage::new());
    let served = Served::new(&home, &stage, &[]);
    let narrow = text(&home.mint(&["--op", "get_repo", "--where", "repo=lantern"]));
    served.post("/v1/run", &call("github.get_repo", &read(), &narrow)).is(200);
    for (op, args, code) in [
        ("github.get_repo", json!({"owner": "pinhole-demo", "repo": "other"}), "args_out_of_scope"),
        ("github.list_issues", read(), "op_out_of_scope"),
        ("stripe.get_balance", json!({}), "wrong_service"),
        ("nobody.get_balance", json!({}), "unknown_service"),
        ("github.nothing", json!({}), "unknown_op"),
    ] {
        served.post("/v1/run", &call(op, &args, &narrow)).refused(403, code);
    }
    assert_eq!(stage.requests(), 1);
}

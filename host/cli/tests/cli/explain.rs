//! `pinhole explain`: the exact request and the rule that decides; nothing is sent and nothing is spent.

use serde_json::json;

use crate::home::{Home, KEY};
use crate::stage::{READ, Stage, WRITE, WRITE_ARGS};

#[test]
fn without_a_grant_it_says_what_it_would_take() {
    let home = Home::empty();
    let read = home.run(&[&["explain"], &READ[..], &["--json"]].concat()).expect(3).json();
    assert_eq!((&read["would"], &read["refusal"]["code"]), (&json!("refuse"), &json!("not_connected")));
    let explanation = &read["explanation"];
    assert_eq!(explanation["request"]["url"], "https://api.github.com/repos/pinhole-demo/lantern");
    assert_eq!(explanation["grant"], json!(null));
    let headers = explanation["request"]["headers"].as_array().unwrap();
    assert!(headers.contains(&json!(["authorization", "Bearer <credential>"])), "{headers:?}");
    let write = home.run(&[&["explain"], &WRITE[..], &["--json"]].concat()).expect(3).json();
    let explanation = &write["explanation"];
    assert_eq!(explanation["request"]["method"], "POST");
    assert_eq!(explanation["request"]["body"], json!({"title": "The lamp flickers"}));
    assert_eq!(explanation["requires"][0]["op"], "get_repo");
    assert!(explanation["rule"].as_str().unwrap().contains("approval"), "{explanation}");
    let people = home.run(&[&["explain"], &WRITE[..]].concat()).expect(3).stdout;
    for words in [
        "asks: Open issue “The lamp flickers” in pinhole-demo/lantern?",
        "POST https://api.github.com/repos/pinhole-demo/lantern/issues",
        "authorization: Bearer <credential>",
        "rule: nothing permits it yet",
        "nothing was sent",
    ] {
        assert!(people.contains(words), "{words}: {people}");
    }
}

#[test]
fn under_a_grant_it_sends_nothing_and_spends_nothing() {
    let (home, stage) = (Home::guarded(), Stage::new());
    for (grant, what) in [
        (home.mint(&["--uses", "1"]), &READ[..]),
        (home.mint(&["--approve", "github.create_issue", WRITE_ARGS]), &WRITE[..]),
    ] {
        let (connections, flags) = (stage.connections(), ["--grant", grant.as_str(), "--json"]);
        let explain = stage.args(&home, &[&["explain"], what, &flags].concat());
        for _ in 0..3 {
            let shown = home.run(&explain.words()).expect(0).hides(KEY).json();
            assert_eq!(shown["would"], "run");
            assert_eq!(shown["explanation"]["grant"]["credential"]["secret"], "<secret>");
        }
        let people = stage.args(&home, &[&["explain"], what, &["--grant", &grant]].concat());
        let people = home.run(&people.words()).expect(0).hides(KEY);
        assert!(people.stdout.contains("<credential>"), "{}", people.stdout);
        assert_eq!(stage.connections(), connections, "something was dialled");
        let run = stage.args(&home, &[&["run"], what, &flags].concat());
        home.run(&run.words()).expect(0);
        // Now it is spent, and the explanation knows.
        let spent = home.run(&explain.words()).expect(3).json();
        assert_eq!(spent["would"], "refuse");
        assert_eq!(spent["refusal"]["code"], "grant_used_up");
    }
}

#[test]
fn what_would_be_refused_is_refused_in_the_same_words() {
    let (home, stage) = (Home::guarded(), Stage::new());
    let read = home.mint(&["--op", "get_repo"]);
    let undialled = home.mint_for(&home.bot(), &[]);
    let approval = home.mint(&["--approve", "github.create_issue", WRITE_ARGS]);
    let mut other = WRITE;
    other[6] = "title=other";
    for (grant, what, status, code) in [
        (&read, &WRITE[..], 3, "read_only_grant"),
        (&read, &["github.get_viewer"][..], 3, "op_out_of_scope"),
        (&read, &["github.nope"][..], 3, "unknown_op"),
        (&read, &["github.get_repo", "--arg", "owner=.."][..], 3, "invalid_args"),
        (&undialled, &READ[..], 3, "dial_mismatch"),
        (&approval, &other[..], 3, "approval_mismatch"),
    ] {
        let flags = ["--grant", grant.as_str(), "--json"];
        let explained =
            home.run(&stage.args(&home, &[&["explain"], what, &flags].concat()).words()).expect(status);
        assert_eq!(explained.json()["would"], "refuse");
        explained.refusal(code);
        let ran = home.run(&stage.args(&home, &[&["run"], what, &flags].concat()).words()).expect(status);
        assert_eq!(ran.json()["refusal"], explained.json()["refusal"]);
    }
    let other = Home::new();
    other
        .run(&[&["explain"], &READ[..], &["--grant", &read, "--json"]].concat())
        .expect(4)
        .refusal("wrong_bot");
    assert_eq!(stage.connections(), 0);
}

#[test]
fn without_a_grant_wrong_args_are_what_is_wrong() {
    let home = Home::empty();
    for op in ["github.create_issue", "github.get_repo"] {
        home.run(&["explain", op, "--arg", "owner=a", "--json"]).expect(3).refusal("invalid_args");
    }
    home.run(&["explain", "github.nope", "--json"]).expect(3).refusal("unknown_op");
    home.run(&["explain", "nope.nope", "--json"]).expect(3).refusal("unknown_service");
    home.run(&["explain", "github.get_repo", "--arg", "owner=..", "--arg", "repo=b", "--json"])
        .expect(3)
        .refusal("arg_refused");
}

#[test]
fn characters_that_hide_are_shown() {
    let home = Home::empty();
    let title = "title=pay\u{202e}\u{200b}\u{7}\u{1b}[31m\u{e0041} up";
    let args = ["explain", "github.create_issue", "--arg", "owner=a", "--arg", "repo=b", "--arg", title];
    let shown = home.run(&args).expect(3).stdout;
    for c in ['\u{202e}', '\u{200b}', '\u{7}', '\u{1b}', '\u{e0041}'] {
        assert!(!shown.contains(c), "{c:?} is shown as itself");
    }
    assert_eq!(shown.matches("\\u{202e}").count(), 3, "in the question, the args and the body: {shown}");
}

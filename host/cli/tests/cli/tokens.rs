//! `pinhole tokens`: shown once, stored as a digest, revoked by name or id; and whose question it is.

use serde_json::{Value, json};

use crate::home::{Home, Ran};
use crate::stage::{Stage, WRITE};

fn tokens(home: &Home, what: &[&str]) -> Ran {
    home.run(&[&["tokens"], what].concat())
}

fn list(home: &Home) -> Value {
    tokens(home, &["list", "--json"]).expect(0).json()
}

#[test]
fn a_token_is_shown_once_and_kept_nowhere() {
    let home = Home::new();
    let made = tokens(&home, &["new", "laptop"]).expect(0);
    let token = made.stdout.trim_end().to_owned();
    assert!(
        token.starts_with("pinm_") && token.len() == 53 && made.stdout.lines().count() == 1,
        "{}",
        made.stdout
    );
    assert!(
        !made.stderr.contains("pinm_") && made.stderr.contains("read of every service"),
        "{}",
        made.stderr
    );
    let made = tokens(&home, &["new", "other", "--json"]).expect(0).json();
    let other = made["token"].as_str().unwrap();
    for text in [token.as_str(), other] {
        home.hides(text);
        tokens(&home, &["list"]).expect(0).hides(text);
        tokens(&home, &["list", "--json"]).expect(0).hides(text);
    }
    assert_eq!(made["id"], list(&home)[0]["id"]);
    assert!(made["expires_at"].as_i64() == made["created_at"].as_i64().map(|made| made + 30 * 86_400));
}

#[test]
fn making_a_token_needs_a_member_but_not_her_key() {
    let home = Home::empty();
    let refused = tokens(&home, &["new", "laptop"]).expect(3);
    assert!(
        refused.stderr.contains("there is no member yet") && refused.stdout.is_empty(),
        "{}",
        refused.stderr
    );
    assert_eq!(list(&home), json!([]));
    assert!(!home.path("pinhole.db").exists(), "looking made something");
    let home = Home::guarded();
    std::fs::rename(home.path("keys/member.json"), home.path("elsewhere.json")).unwrap();
    tokens(&home, &["new", "laptop"]).expect(0);
}

#[test]
fn a_token_is_for_what_was_said_and_no_more() {
    let home = Home::new();
    tokens(&home, &["new", "reads"]).expect(0);
    tokens(&home, &["new", "writes", "--scope", "write", "--service", "github", "--ttl", "12h"]).expect(0);
    let both =
        ["new", "both", "--scope", "read", "--scope", "write", "--service", "stripe", "--service", "github"];
    let made = tokens(&home, &[&both[..], &["--ttl", "365d"]].concat()).expect(0);
    assert!(made.stderr.contains("nothing of `stripe` is connected yet"), "{}", made.stderr);
    let rows = list(&home);
    let shown = |name: &str| rows.as_array().unwrap().iter().map(|row| row[name].clone()).collect::<Value>();
    assert_eq!(shown("name"), json!(["both", "writes", "reads"]));
    assert_eq!(shown("scopes"), json!([["read", "write"], ["write"], ["read"]]));
    assert_eq!(shown("services"), json!([["github", "stripe"], ["github"], null]));
    let life = |row: &Value| row["expires_at"].as_i64().unwrap() - row["created_at"].as_i64().unwrap();
    assert_eq!(
        rows.as_array().unwrap().iter().map(life).collect::<Vec<_>>(),
        [365 * 86_400, 43_200, 30 * 86_400]
    );
    for wrong in [
        &["new", "x", "--ttl", "366d"][..],
        &["new", "x", "--ttl", "0s"],
        &["new", "x", "--ttl", "soon"],
        &["new", "x", "--scope", "admin"],
        &["new", "x", "--service", "GitHub"],
        &["new", " x"],
        &["new", "x\u{202e}y"],
        &["new"],
    ] {
        assert!(tokens(&home, wrong).expect(2).stdout.is_empty(), "{wrong:?}");
    }
    assert_eq!(list(&home).as_array().unwrap().len(), 3);
}

#[test]
fn a_token_is_revoked_by_its_name_or_its_id_and_its_name_is_free_again() {
    let home = Home::new();
    tokens(&home, &["new", "laptop"]).expect(0);
    let refused = tokens(&home, &["new", "laptop"]).expect(3);
    assert!(refused.stderr.contains("`pinhole tokens revoke laptop`"), "{}", refused.stderr);
    tokens(&home, &["revoke", "laptop"]).expect(0);
    tokens(&home, &["revoke", "laptop"]).expect(3);
    tokens(&home, &["new", "laptop"]).expect(0);
    let id = list(&home)[0]["id"].as_str().unwrap().to_owned();
    tokens(&home, &["revoke", &id]).expect(0);
    let states = list(&home).as_array().unwrap().iter().map(|row| row["state"].clone()).collect::<Value>();
    assert_eq!(states, json!(["revoked", "revoked"]));
    let shown = tokens(&home, &["list"]).expect(0).stdout;
    assert_eq!(shown.matches("revoked 2").count(), 2, "{shown}");
    tokens(&home, &["revoke", "nobody"]).expect(3);
}

#[test]
fn a_token_whose_row_was_tampered_with_is_named_and_can_be_ended() {
    let home = Home::new();
    tokens(&home, &["new", "laptop"]).expect(0);
    let id = list(&home)[0]["id"].as_str().unwrap().to_owned();
    let database = home.database();
    database.execute("UPDATE tokens SET services = '[]'", []).unwrap();
    let refused = tokens(&home, &["list"]).expect(6);
    assert!(
        refused.stderr.contains(&id) && refused.stderr.contains("`pinhole tokens revoke ID`"),
        "{}",
        refused.stderr
    );
    tokens(&home, &["revoke", &id]).expect(0);
    database.execute("UPDATE tokens SET id = 'no id'", []).unwrap();
    tokens(&home, &["revoke", "no id"]).expect(0);
    assert_eq!(list(&home), json!([]));
}

#[test]
fn a_question_says_which_token_asks_it() {
    let (home, stage) = (Home::empty(), Stage::new());
    home.connect_for_writes(&stage);
    let ask = stage.args(&home, &[&["run"], &WRITE[..], &["--json"]].concat());
    home.run(&ask.words()).expect(3).refusal("approval_required");
    let approvals = |what: &[&str]| home.run(&[&["approvals"], what].concat()).expect(0);
    let question = approvals(&["list", "--json"]).json()[0].clone();
    assert_eq!((&question["principal"], &question["asked_by"]), (&json!(null), &json!(null)));
    let id = question["question"].as_str().unwrap();
    assert!(!approvals(&["show", id]).stdout.contains("asked by"));
    let holder = tokens(&home, &["new", "the laptop", "--json"]).expect(0).json()["id"].clone();
    home.database().execute("UPDATE questions SET principal = ?1", [holder.as_str().unwrap()]).unwrap();
    assert!(approvals(&["list"]).stdout.contains("by the token `the laptop`: github."));
    assert!(approvals(&["show", id]).stdout.contains("  asked by: the token `the laptop`"));
    assert_eq!(approvals(&["show", id, "--json"]).json()["principal"], holder);
    // A token that was revoked keeps its name, and takes its questions with it.
    tokens(&home, &["revoke", "the laptop"]).expect(0);
    assert!(approvals(&["show", id]).stdout.contains("  asked by: the token `the laptop`"));
    assert_eq!(approvals(&["show", id, "--json"]).json()["state"], "expired");
    home.run(&["approvals", "approve", id]).expect(3);
    home.database().execute_batch("DELETE FROM tokens; UPDATE questions SET state = 'pending'").unwrap();
    assert!(approvals(&["list"]).stdout.contains(&format!("({})", holder.as_str().unwrap())));
}

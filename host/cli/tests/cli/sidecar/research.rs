//! Research sessions of a sidecar: several grants for a while, as tools that only read.

use pinhole_client::{Called, Client, Dialect, Refusal, Session};
use serde_json::{Value, json};

use super::served::{READ_ARGS, Served, block_on, call, read, text};
use crate::home::{Home, KEY};
use crate::stage::{Stage, WRITE_ARGS};

fn opened(client: &Client, grants: &[&str]) -> Session {
    block_on(client.research(grants, Dialect::Messages)).unwrap().unwrap()
}

fn called(client: &Client, session: &Session, tool: &str, args: &str) -> Called {
    block_on(client.call_tool(session, tool, args)).unwrap().unwrap()
}

fn declined(client: &Client, session: &Session) -> Refusal {
    block_on(client.call_tool(session, "github_get_repo", READ_ARGS)).unwrap().unwrap_err()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn a_session_offers_exactly_the_reads_of_its_grants_and_fences_what_they_give() {
    let (home, stage) = (Home::new(), Stage::new());
    let served = Served::new(&home, &stage, &[]);
    let client = served.client();
    let grant = text(&home.mint(&["--op", "get_repo", "--op", "list_org_repos"]));
    let session = opened(&client, &[&grant]);
    assert_eq!(names(&session.tools), ["github_get_repo", "github_list_org_repos"]);
    assert_eq!(session.tools[0]["input_schema"]["type"], "object");
    let got = called(&client, &session, "github_get_repo", READ_ARGS);
    assert!(got.content.contains("<untrusted-") && got.content.contains("pinhole-demo/lantern"), "{got:?}");
    assert_eq!((got.refusal, got.calls_left), (None, session.calls_left - 1));
    assert!(got.bytes_left < session.bytes_left && got.rotated.is_none());
    let receipt = got.meta.unwrap().receipt.unwrap();
    let receipts = block_on(client.receipts()).unwrap().unwrap().receipts;
    assert_eq!((receipts.len(), &receipts[0]["id"]), (1, &json!(receipt)));
    let other = called(&client, &session, "github_list_issues", READ_ARGS);
    assert_eq!((other.refusal.unwrap().code.as_str(), other.calls_left), ("no_such_tool", got.calls_left));
    let bad = called(&client, &session, "github_get_repo", r#"{"owner": 7}"#);
    assert_eq!(bad.refusal.unwrap().code, "invalid_args");
    assert_eq!(stage.requests(), 1);
    block_on(client.end_research(&session)).unwrap().unwrap();
    assert_eq!(declined(&client, &session).code, "no_such_session");
    assert_eq!(block_on(client.end_research(&session)).unwrap().unwrap_err().code, "no_such_session");
}

#[test]
fn no_grant_makes_a_session_write() {
    let (home, stage) = (Home::guarded(), Stage::new());
    let served = Served::new(&home, &stage, &[]);
    let client = served.client();
    let writes = text(&home.mint(&["--access", "write"]));
    let session = opened(&client, &[&writes]);
    assert!(names(&session.tools).contains(&"github_get_repo"));
    assert!(!names(&session.tools).contains(&"github_create_issue"));
    let tried = called(&client, &session, "github_create_issue", WRITE_ARGS);
    assert_eq!(tried.refusal.unwrap().code, "no_such_tool");
    let only = text(&home.mint(&["--access", "write", "--op", "create_issue"]));
    let refused = block_on(client.research(&[&only], Dialect::Messages)).unwrap().unwrap_err();
    assert_eq!(refused.code, "op_out_of_scope");
    assert_eq!(stage.connections(), 0);
}

#[test]
fn a_session_of_another_is_none() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = text(&home.mint(&[]));
    let served = Served::new(&home, &stage, &["--listen", "127.0.0.1:0"]);
    let (one, other) = (home.token("one", &[]), home.token("other", &[]));
    let [one, other] = [one, other].map(|token| served.client_with(&token));
    let session = opened(&one, &[&grant]);
    assert_eq!(declined(&other, &session).code, "no_such_session");
    assert_eq!(block_on(other.end_research(&session)).unwrap().unwrap_err().code, "no_such_session");
    assert_eq!(stage.connections(), 0);
    assert_eq!(called(&one, &session, "github_get_repo", READ_ARGS).refusal, None);
    // Who may not call the service opens no session over it.
    let stripe = served.client_with(&home.token("stripe", &["--service", "stripe"]));
    let refused = block_on(stripe.research(&[&grant], Dialect::Messages)).unwrap().unwrap_err();
    assert_eq!(refused.code, "unknown_service");
    // Nor who says no token at all.
    for line in ["POST /v1/research", "POST /v1/research/x/call", "DELETE /v1/research/x"] {
        let head = format!("{line} HTTP/1.1\r\ncontent-type: application/json");
        served.ask(&head, "{}").refused(401, "no_token");
    }
}

#[test]
fn a_session_that_is_used_up_reads_no_more() {
    let (home, stage) = (Home::new(), Stage::new());
    let served = Served::new(&home, &stage, &[]);
    let client = served.client();
    let session = opened(&client, &[&text(&home.mint(&[]))]);
    for left in (0..session.calls_left).rev() {
        let got = called(&client, &session, "github_get_repo", READ_ARGS);
        assert_eq!((got.refusal, got.calls_left), (None, left));
    }
    let asked = stage.requests();
    let over = called(&client, &session, "github_get_repo", READ_ARGS);
    assert_eq!((over.refusal.unwrap().code.as_str(), over.calls_left), ("no_calls_left", 0));
    assert_eq!(stage.requests(), asked);
}

#[test]
fn grants_that_are_no_good_open_no_session() {
    let (home, stranger, stage) = (Home::new(), Home::new(), Stage::new());
    let served = Served::new(&home, &stage, &[]);
    let good = text(&home.mint(&[]));
    let of_a_stranger = text(&stranger.mint_for(&home.bot(), &["--stand-in"]));
    let body = |grants: &[&str]| format!(r#"{{"grants":[{}]}}"#, grants.join(","));
    let refused = served.post("/v1/research", &body(&[&good, &of_a_stranger])).refused(422, "unknown_issuer");
    assert!(refused["message"].as_str().unwrap().starts_with("grant 2:"), "{refused}");
    served.post("/v1/research", &body(&["{}"])).refused(422, "grant_malformed");
    for bad in [
        body(&[]),
        body(&[good.as_str(); 17]),
        "{}".to_owned(),
        "[]".to_owned(),
        format!(r#"{{"grants":{good}}}"#),
        format!(r#"{{"grants":[{good}],"dialect":"x"}}"#),
        format!(r#"{{"grants":[{good}],"calls":9}}"#),
    ] {
        served.post("/v1/research", &bad).refused(400, "malformed_request");
    }
    let id = served.post("/v1/research", &body(&[&good])).is(200)["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/research/{id}/call");
    for bad in ["[]", "{}", r#"{"tool":"github_get_repo","args":[]}"#, r#"{"tool":"x","grant":{}}"#] {
        served.post(&path, bad).refused(400, "malformed_request");
    }
    served.post(&path, &json!({"tool": "github_get_repo", "args": read()}).to_string()).is(200);
    served.post(&path, r#"{"tool":"nothing"}"#).refused(404, "no_such_tool");
    served.get(&path).refused(405, "wrong_method");
    served.get(&format!("/v1/research/{id}")).refused(405, "wrong_method");
    served.get(&format!("/v1/research/{id}/other")).refused(404, "not_found");
    let log = served.stop().1;
    assert!(log.contains("research_call") && !log.contains(&id), "{log}");
}

#[test]
fn a_flood_of_sessions_is_held_and_hides_no_call() {
    let (home, stage) = (Home::new(), Stage::new());
    let served = Served::new(&home, &stage, &[]);
    let grant = text(&home.mint(&[]));
    let body = format!(r#"{{"grants":[{grant}]}}"#);
    let open = || served.post("/v1/research", &body);
    let first = open().is(200)["id"].as_str().unwrap().to_owned();
    let mut ids = std::collections::BTreeSet::from([first.clone()]);
    for _ in 1..32 {
        ids.insert(open().is(200)["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(ids.len(), 32);
    let full = open();
    full.refused(429, "too_many_sessions");
    assert_eq!(full.headers["retry-after"], "60");
    served.post("/v1/run", &call("github.get_repo", &read(), &grant)).is(200);
    served.ask(&format!("DELETE /v1/research/{first} HTTP/1.1"), "").is(200);
    open().is(200);
}

#[test]
fn the_key_and_the_grant_are_in_nothing_that_a_session_says() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = text(&home.mint(&[]));
    let served = Served::new(&home, &stage, &["--log", "trace"]);
    let opening = served.post("/v1/research", &format!(r#"{{"grants":[{grant}]}}"#));
    let id = opening.is(200)["id"].as_str().unwrap().to_owned();
    let wish = json!({"tool": "github_get_repo", "args": read()}).to_string();
    let got = served.post(&format!("/v1/research/{id}/call"), &wish);
    got.is(200);
    let sealed: Value = serde_json::from_str(&grant).unwrap();
    let said = opening.body.clone() + &got.body + &served.stop().1;
    assert!(!said.contains(KEY) && !said.contains(sealed["ct"].as_str().unwrap()));
}

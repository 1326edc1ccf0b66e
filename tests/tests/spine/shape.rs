//! What a run gives: the outcome of a read and of a write, key by key, and its figures. DESIGN, "Outcome": without
//! `receipt`, which belongs to what is not built yet.

use std::collections::BTreeSet;

use pinhole_runtime::outcome::Code;
use pinhole_standin::Alpn;
use pinhole_tests::{KEY, ORG, REPO, Setup, Stage};
use serde_json::{Value, json};

use crate::common::{get, issue_args, parsed, refusal, result};

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

const META: [&str; 8] =
    ["status", "bytes_in", "bytes_out", "requests", "receipt", "ms", "manifest", "digest"];

#[tokio::test]
async fn a_read_gives_the_picked_fields_and_the_figures() {
    let stage = Setup::github().start().await;
    let outcome = stage.read("github.list_org_repos", &json!({"org": ORG, "per_page": 4})).await;
    let json = parsed(&outcome);
    assert_eq!(keys(&json), BTreeSet::from(["ok", "service", "op", "result", "next", "notes", "meta"]));
    assert_eq!((&json["ok"], &json["service"]), (&json!(true), &json!("github")));
    assert_eq!((&json["op"], &json["notes"]), (&json!("list_org_repos"), &json!([])));
    let fields = BTreeSet::from([
        "name",
        "private",
        "archived",
        "language",
        "stargazers_count",
        "open_issues_count",
        "pushed_at",
    ]);
    let repositories = json["result"].as_array().unwrap();
    assert_eq!(repositories.len(), 4);
    assert!(repositories.iter().all(|repository| keys(repository) == fields), "{json}");

    let meta = &json["meta"];
    // There are six repositories, and four were asked for; `next` leads to the rest.
    assert_eq!(keys(meta), BTreeSet::from(META));
    assert_eq!((&meta["status"], &meta["requests"]), (&json!(200), &json!(1)));
    let manifest = &stage.entry("github").manifest;
    assert_eq!(meta["manifest"], format!("github@{}", manifest.version()));
    assert_eq!(meta["digest"], manifest.digest().to_string());
    assert_eq!(meta["bytes_out"], json["result"].to_string().len());
    assert_eq!(meta["bytes_in"], as_anybody_reads_it(&stage, "/orgs/pinhole-demo/repos?per_page=4").await);
    assert!(meta["ms"].as_u64().unwrap() < 60_000);
}

/// The size of a page as a client reads it that has nothing to do with ours.
async fn as_anybody_reads_it(stage: &Stage, target: &str) -> usize {
    let request = stage.bare_client().get(format!("https://api.github.com{target}")).bearer_auth(KEY);
    request.send().await.unwrap().bytes().await.unwrap().len()
}

#[tokio::test]
async fn an_approved_write_runs_and_gives_what_was_made() {
    let stage = Setup::github().start().await;
    let args = json!({"owner": ORG, "repo": REPO, "title": "The lamp flickers", "labels": ["bug"]});
    let outcome = stage.write("github.create_issue", &args).await;
    let json = parsed(&outcome);
    assert_eq!(keys(&json), BTreeSet::from(["ok", "service", "op", "result", "notes", "meta"]));
    assert_eq!(json["result"]["title"], "The lamp flickers");
    assert_eq!(json["result"]["labels"], json!([{"name": "bug"}]));
    assert_eq!(keys(&json["meta"]), BTreeSet::from(META));
    // The op requires a look at the repository first.
    assert_eq!((&json["meta"]["status"], &json["meta"]["requests"]), (&json!(201), &json!(2)));
    let seen = stage.standin.requests();
    assert_eq!(stage.seen(), ["GET /repos/pinhole-demo/lantern", "POST /repos/pinhole-demo/lantern/issues"]);
    let body: Value = serde_json::from_slice(&seen[1].body).unwrap();
    assert_eq!(body, json!({"title": "The lamp flickers", "labels": ["bug"]}));
    assert_eq!(seen[1].header("content-type"), Some("application/json"));
    assert_eq!(seen[1].header("accept"), Some("application/vnd.github+json"));
    let number = &json["result"]["number"];
    let again =
        stage.read("github.get_issue", &json!({"owner": ORG, "repo": REPO, "issue_number": number})).await;
    assert_eq!(result(&again)["title"], "The lamp flickers");
}

#[tokio::test]
async fn a_write_grant_runs_what_can_be_taken_back() {
    let stage = Setup::github().start().await;
    let grant = stage.grant("github").write(2).seal();
    for title in ["One", "Two"] {
        assert!(stage.run("github.create_issue", &issue_args(title), &grant).await.result().is_some());
    }
    let third = stage.run("github.create_issue", &issue_args("Three"), &grant).await;
    assert_eq!(refusal(&third).code, Code::GrantUsedUp);
    assert_eq!(stage.seen().iter().filter(|seen| seen.starts_with("POST")).count(), 2);
}

#[tokio::test]
async fn an_approved_comment_is_sent() {
    let stage = Setup::github().start().await;
    let args = crate::common::comment_args("Hello @wren \u{202e}");
    let outcome = stage.write("github.comment_issue", &args).await;
    assert_eq!(keys(&result(&outcome)), BTreeSet::from(["id", "html_url", "user", "created_at"]));
    let body: Value = serde_json::from_slice(&stage.standin.requests()[0].body).unwrap();
    assert_eq!(body, json!({"body": "Hello @wren \u{202e}"}));
}

#[tokio::test]
async fn a_manifest_that_nobody_signed_is_marked() {
    let stage = Setup::thing(vec![get("/touch", &json!({"id": 1}))]).start().await;
    let json = parsed(&stage.read("thing.touch_thing", &json!({})).await);
    assert_eq!(json["meta"]["unsigned"], true);
    assert_eq!(json["result"], Value::Null);
    assert_eq!(json["ok"], true);
    let refused = parsed(&stage.read("thing.get_thing", &json!({})).await);
    assert_eq!(refused["meta"]["unsigned"], true);
}

#[tokio::test]
async fn both_http_versions_give_the_same() {
    let mut outcomes = Vec::new();
    for alpn in [Alpn::H2, Alpn::Http1, Alpn::None] {
        let mut setup = Setup::github();
        setup.standin.alpn = alpn;
        let stage = setup.start().await;
        let outcome = stage.read("github.list_org_repos", &json!({"org": ORG})).await;
        outcomes.push((result(&outcome), outcome.meta.bytes_in));
    }
    assert!(outcomes.windows(2).all(|pair| pair[0] == pair[1]));
}

/// One connection for many calls: pinned to one host, it is not made anew each time.
#[tokio::test]
async fn a_connection_is_kept() {
    let stage = Setup::github().start().await;
    for _number in 0..5 {
        assert!(stage.read("github.get_viewer", &json!({})).await.result().is_some());
    }
    assert_eq!((stage.standin.requests().len(), stage.standin.connections()), (5, 1));
}

//! GitHub, as `emulate` has it: all that our ops read and write but an organisation's repositories and notifications.

use pinhole_runtime::outcome::Code;
use serde_json::{Value, json};

use crate::common::{Emulated, row};

const JSON: &str = "application/json";
const REPO: &str = "/repos/harbour/lantern";

fn world() -> Value {
    json!({
        "users": [{"login": "wren", "name": "Wren"}],
        "orgs": [{"login": "harbour", "name": "Harbour", "members": [{"login": "wren", "role": "admin"}]}],
        "repos": [
            {"owner": "harbour", "name": "lantern", "description": "Lamps", "language": "Rust", "auto_init": true},
            {"owner": "wren", "name": "oil", "auto_init": true},
            {"owner": "wren", "name": "old", "auto_init": true}]
    })
}

fn of(mut args: Value) -> Value {
    args["owner"] = "harbour".into();
    args["repo"] = "lantern".into();
    args
}

#[tokio::test]
async fn every_op_that_is_served_reads_back_what_was_written() {
    let Some(github) = Emulated::start("github", world()).await else { return };
    repositories(&github).await;
    let number = issues(&github).await;
    changes(&github, number).await;
    pulls(&github).await;
    releases_and_runs(&github).await;
    unserved(&github).await;
    github.every_op_had_its_turn();
}

async fn repositories(github: &Emulated) {
    assert_eq!(github.done("get_viewer", json!({})).await["login"], "wren");
    let repos = github.done("list_repos", json!({"affiliation": ["owner"]})).await;
    assert_eq!(row(&repos, "/full_name", &json!("wren/oil"))["archived"], false);
    // Its links to further pages are `http`, as what stands behind TLS may think it is; no such link is followed.
    let one = github.outcome("list_repos", json!({"affiliation": ["owner"], "per_page": 1})).await;
    assert_eq!(one["result"].as_array().map(Vec::len), Some(1));
    assert_eq!((&one["meta"]["more_pages"], one.get("next")), (&json!(true), None), "{one:#}");
    let repo = github.done("get_repo", of(json!({}))).await;
    assert_eq!((&repo["full_name"], &repo["description"]), (&json!("harbour/lantern"), &json!("Lamps")));
    let none = json!({"owner": "harbour", "repo": "a/../lantern"});
    github.refused("get_repo", none, (Code::UpstreamNotFound, "Not Found")).await;
}

async fn issues(github: &Emulated) -> u64 {
    let title = "Tides are \"late\" – #1 {owner} \\";
    let made =
        of(json!({"title": title, "body": "# Since\n\nMarch", "labels": ["bug"], "assignees": ["wren"]}));
    let made = github.done("create_issue", made).await;
    let number = made["number"].as_u64().expect("a number");
    let got = github.done("get_issue", of(json!({"issue_number": number}))).await;
    assert_eq!((&got["title"], &got["body"]), (&json!(title), &json!("# Since\n\nMarch")));
    assert_eq!((&got["labels"][0]["name"], &got["assignees"][0]["login"]), (&json!("bug"), &json!("wren")));
    let listed = github.done("list_issues", of(json!({"labels": ["bug"], "state": "all"}))).await;
    assert_eq!(row(&listed, "/number", &json!(number))["title"], title);
    let found = github.done("search_issues", json!({"q": "repo:harbour/lantern is:issue Tides"})).await;
    assert_eq!(row(&found, "/number", &json!(number))["state"], "open");
    let stale = github.done("stale_issues", of(json!({"labels": ["bug"], "assignee": "wren"}))).await;
    // The emulator has the machine's time and we have our own: 30 days before it.
    let updated_at = row(&listed, "/number", &json!(number))["updated_at"].as_str().expect("a time");
    if updated_at < "2026-12-16T08:00:00" {
        assert_eq!((&stale["stale"], &stale["issues"][0]["title"]), (&json!(1), &json!(title)), "{stale}");
        let groups = github.done("stale_issues", of(json!({"by": "label"}))).await;
        assert_eq!(row(&groups["groups"], "/name", &json!("bug"))["stale"], 1);
    } else {
        assert_eq!(stale, json!({"stale": 0, "issues": []}));
    }
    number
}

async fn changes(github: &Emulated, number: u64) {
    let comment = of(json!({"issue_number": number, "body": "Since the bridge."}));
    assert_eq!(github.done("comment_issue", comment).await["user"]["login"], "wren");
    let got = github.done("get_issue", of(json!({"issue_number": number}))).await;
    assert_eq!(got["comments"], 1);
    let change =
        of(json!({"issue_number": number, "state": "closed", "state_reason": "not_planned", "labels": []}));
    assert_eq!(github.done("update_issue", change).await["state"], "closed");
    let got = github.done("get_issue", of(json!({"issue_number": number}))).await;
    assert_eq!((&got["state"], &got["state_reason"]), (&json!("closed"), &json!("not_planned")));
    assert_eq!((&got["labels"], &got["body"]), (&json!([]), &json!("# Since\n\nMarch")));
    assert_eq!(github.done("list_issues", of(json!({"state": "open"}))).await, json!([]));
}

async fn pulls(github: &Emulated) {
    let pull = json!({"title": "Trim the wick", "head": "wick", "base": "main", "body": "Shorter."});
    let pull = github.arrange(&format!("{REPO}/pulls"), JSON, &pull.to_string()).await;
    let listed = github.done("list_pulls", of(json!({"state": "open"}))).await;
    assert_eq!(row(&listed, "/number", &pull["number"])["head"]["ref"], "wick");
    let got = github.done("get_pull", of(json!({"pull_number": pull["number"]}))).await;
    assert_eq!((&got["body"], &got["base"]["ref"]), (&json!("Shorter."), &json!("main")));
}

async fn releases_and_runs(github: &Emulated) {
    let release = json!({"tag_name": "v1", "name": "First light", "body": "x"});
    github.arrange(&format!("{REPO}/releases"), JSON, &release.to_string()).await;
    let listed = github.done("list_releases", of(json!({}))).await;
    assert_eq!(row(&listed, "/tag_name", &json!("v1"))["name"], "First light");
    let runs = github.done("list_workflow_runs", of(json!({"branch": "main", "status": "success"}))).await;
    assert_eq!(runs, json!([]), "no workflow can be made on it");
}

async fn unserved(github: &Emulated) {
    let lacks = (Code::UpstreamNotFound, "Not Found");
    github.refused("list_org_repos", json!({"org": "harbour"}), lacks).await;
    github.refused("list_org_repo_names", json!({"org": "harbour"}), lacks).await;
    github.refused("list_notifications", json!({}), lacks).await;
}

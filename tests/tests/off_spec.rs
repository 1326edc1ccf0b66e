//! GitHub's own description between us and a stand-in: npm Prism lets a request through that is by the description, and
//! refuses any other. Each op of GitHub's manifest gets through; planted requests do not.
//!
//! Prism reads the 13 MB description in some seconds. Needs Node and what `.ci/run` installs; says so loudly
//! where they are missing, and fails there in CI.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use pinhole_manifest::Access;
use pinhole_runtime::net::{Outgoing, PinnedClient};
use pinhole_runtime::outcome::Code;
use pinhole_tests::{Front, NodeServer, ORG, REPO, Setup, Spoiling, Stage, op_name, without_tls};
use serde_json::{Value, json};

const HOST: &str = "api.github.com";
const DESCRIPTION: &str = "@octokit/openapi/generated/api.github.com.json";

struct Held {
    stage: Stage,
    front: Front,
    _prism: NodeServer,
}

impl Held {
    async fn start() -> Option<Self> {
        let stage = Setup::github().start().await;
        let upstream = format!("http://{}", without_tls(HOST, &stage.standin).await);
        let args = [DESCRIPTION, &upstream];
        let prism = NodeServer::start("off_spec", "@stoplight/prism-cli", "prism.mjs", &args)?;
        let front = Front::start(HOST, prism.addr()).await;
        Some(Self { stage, front, _prism: prism })
    }

    /// Runs an op through a client that may be spoiled; gives the outcome, and what reached the stand-in.
    async fn run(&mut self, op: &str, args: &Value) -> (Value, Vec<String>) {
        let name = format!("github.{op}");
        let access = self.stage.entry("github").manifest.op(&op_name(&name).1).expect("an op").access;
        let before = self.stage.standin.requests().len();
        let outcome = match access {
            Access::Read => self.stage.read(&name, args).await,
            Access::Write => self.stage.write(&name, args).await,
        };
        let outcome = serde_json::from_str(&outcome.to_json()).expect("an outcome is JSON");
        (outcome, self.stage.seen().split_off(before))
    }

    fn spoil(&mut self, spoil: impl Fn(&mut Outgoing) + Send + Sync + 'static) {
        let client: PinnedClient = self.front.client();
        self.stage.executor.wire = Arc::new(Spoiling::new(client, spoil));
    }
}

fn of(mut args: Value) -> Value {
    args["owner"] = ORG.into();
    args["repo"] = REPO.into();
    args
}

/// Each op with every arg that it has.
fn calls() -> [(&'static str, Value); 17] {
    let since = "2026-01-31T00:00:00Z";
    [
        ("get_viewer", json!({})),
        (
            "list_repos",
            json!({"visibility": "all", "affiliation": ["owner", "collaborator"], "sort": "pushed", "direction": "asc", "per_page": 2}),
        ),
        (
            "list_org_repos",
            json!({"org": ORG, "type": "public", "sort": "created", "direction": "desc", "per_page": 1}),
        ),
        ("list_org_repo_names", json!({"org": ORG, "type": "all", "per_page": 100})),
        ("get_repo", of(json!({}))),
        (
            "list_issues",
            of(
                json!({"state": "all", "labels": ["bug", "question"], "assignee": "*", "creator": "demo-wren", "sort": "comments", "direction": "asc", "since": since, "per_page": 3}),
            ),
        ),
        ("get_issue", of(json!({"issue_number": 4}))),
        (
            "create_issue",
            of(
                json!({"title": "Late", "body": "Since *March*", "labels": ["bug"], "assignees": ["demo-wren"]}),
            ),
        ),
        ("comment_issue", of(json!({"issue_number": 4, "body": "Since the bridge."}))),
        (
            "update_issue",
            of(
                json!({"issue_number": 4, "title": "Later", "body": "", "state": "closed", "state_reason": "completed", "labels": [], "assignees": []}),
            ),
        ),
        (
            "list_pulls",
            of(
                json!({"state": "all", "head": "pinhole-demo:wick", "base": "main", "sort": "long-running", "direction": "asc", "per_page": 2}),
            ),
        ),
        ("get_pull", of(json!({"pull_number": 3}))),
        ("search_issues", json!({"q": "is:issue lamp", "sort": "created", "order": "asc", "per_page": 1})),
        ("list_releases", of(json!({"per_page": 1}))),
        (
            "list_workflow_runs",
            of(json!({"branch": "main", "event": "push", "status": "success", "per_page": 1})),
        ),
        (
            "stale_issues",
            of(json!({"days": 1, "labels": ["bug", "question"], "assignee": "*", "by": "label"})),
        ),
        ("list_notifications", json!({"all": true, "participating": false, "since": since, "per_page": 50})),
    ]
}

#[tokio::test]
async fn no_request_is_off_githubs_description() {
    let Some(mut held) = Held::start().await else { return };
    held.stage.executor.wire = Arc::new(held.front.client());
    let mut faults = Vec::new();
    let mut ops = BTreeSet::new();
    for (op, args) in calls() {
        let (outcome, seen) = held.run(op, &args).await;
        if outcome["ok"] != true || seen.is_empty() {
            faults.push(format!("{op}: {seen:?} {outcome}"));
        }
        ops.insert(op.to_owned());
    }
    assert!(faults.is_empty(), "{faults:#?}");
    let manifest = &held.stage.entry("github").manifest;
    assert_eq!(ops, manifest.ops().keys().map(ToString::to_string).collect(), "an op was forgotten");
    planted(&mut held).await;
}

/// Requests that are off the description go nowhere.
async fn planted(held: &mut Held) {
    let refused = |(outcome, seen): (Value, Vec<String>), code: Code, status: u16| {
        assert_eq!(seen, Vec::<String>::new(), "it got through: {outcome}");
        let found = (outcome["refusal"]["code"].as_str(), outcome["meta"]["status"].as_u64());
        assert_eq!(found, (Some(code.as_str()), Some(status.into())), "{outcome}");
    };
    held.spoil(|request| request.target = request.target.replace("per_page=1", "per_page=one"));
    refused(held.run("list_releases", &of(json!({"per_page": 1}))).await, Code::UpstreamInvalid, 422);
    held.spoil(|request| request.target = request.target.replace("sort=created", "sort=beauty"));
    let sorted = json!({"org": ORG, "sort": "created"});
    refused(held.run("list_org_repos", &sorted).await, Code::UpstreamInvalid, 422);
    held.spoil(|request| request.target = request.target.replace("/releases", "/released"));
    refused(held.run("list_releases", &of(json!({}))).await, Code::UpstreamNotFound, 404);
    held.spoil(|request| request.body = Some(Bytes::from_static(b"{\"text\":\"no body\"}")));
    let comment = of(json!({"issue_number": 4, "body": "x"}));
    refused(held.run("comment_issue", &comment).await, Code::UpstreamInvalid, 422);
    held.spoil(|_| ());
    let (outcome, seen) = held.run("get_viewer", &json!({})).await;
    assert_eq!(
        (&outcome["ok"], seen),
        (&json!(true), vec!["GET /user".to_owned()]),
        "an unspoiled one gets through"
    );
}

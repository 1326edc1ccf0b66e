//! What a grant that opens covers, and what an approval does: this op, these args, this action, and nothing beside it.

use pinhole_grant::{Account, Action, CredentialId, CredentialKind, KeyKind, Secret};
use pinhole_manifest::Digest;
use pinhole_manifest::host::HttpsUrl;
use pinhole_runtime::outcome::Code;
use pinhole_runtime::{CallRequest, Outcome};
use pinhole_tests::{Granting, Setup, action, op_name};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use serde_json::json;

use crate::common::{comment_args, issue_args, refusal, repo_args};
use crate::grants::{other, run_under};

#[tokio::test]
async fn a_credential_of_another_token_url_is_a_host_that_changed() {
    let of = |url: &str| {
        let url = HttpsUrl::parse(url).unwrap();
        async move {
            run_under(Setup::github(), "github.get_repo", &repo_args(), |grant| {
                grant.with(|credential| {
                    credential.kind = CredentialKind::Oauth;
                    credential.token_url = Some(url);
                    credential.refresh = Some(Secret::new("ghr_refresh_token".to_owned()).unwrap());
                })
            })
            .await
        }
    };
    of("https://github.com/login/oauth/token").await.is_before_connecting(Code::HostChanged);
    let same = of("https://github.com/login/oauth/access_token").await;
    assert!(same.outcome.result().is_some());
}

fn older(grant: Granting<'_>) -> Vec<u8> {
    grant.asking(|request| request.manifest = Digest::of(b"an earlier manifest")).seal()
}

#[tokio::test]
async fn a_list_of_ops_outlives_a_reviewed_manifest_for_reads_alone() {
    let stage = Setup::github().start().await;
    let read = older(stage.grant("github").ops(&["get_repo"]));
    assert!(stage.run("github.get_repo", &repo_args(), &read).await.result().is_some());
    let write = older(stage.grant("github").write(1).ops(&["create_issue"]));
    let outcome = stage.run("github.create_issue", &issue_args("A title"), &write).await;
    assert_eq!(refusal(&outcome).code, Code::ManifestChanged);
    // What an arg is used for may have changed.
    let narrowed = older(stage.grant("github").ops(&["get_repo"]).narrowed("repo", &[json!("lantern")]));
    let outcome = stage.run("github.get_repo", &repo_args(), &narrowed).await;
    assert_eq!(refusal(&outcome).code, Code::ManifestChanged);
    assert_eq!(stage.standin.requests().len(), 1, "the read");
}

#[tokio::test]
async fn nothing_outlives_a_manifest_that_nobody_reviews() {
    let stage = Setup::thing(Vec::new()).start().await;
    let grant = older(stage.grant("thing").ops(&["touch_thing"]));
    let outcome = stage.run("thing.touch_thing", &json!({}), &grant).await;
    assert_eq!(refusal(&outcome).code, Code::ManifestChanged);
    assert_eq!(stage.standin.connections(), 0);
}

#[tokio::test]
async fn a_narrowed_arg_must_be_there_and_be_one_of_the_values() {
    let stage = Setup::github().start().await;
    let grant = stage.grant("github").narrowed("repo", &[json!("lantern")]).seal();
    assert!(stage.run("github.get_repo", &repo_args(), &grant).await.result().is_some());
    let seen = stage.standin.requests().len();
    // The op has no such arg: nothing to compare, so nothing is covered.
    for (name, args) in [
        ("github.get_viewer", json!({})),
        ("github.list_org_repos", json!({"org": "pinhole-demo"})),
        ("github.get_repo", json!({"owner": "pinhole-demo", "repo": "lantern/"})),
        ("github.get_repo", json!({"owner": "pinhole-demo", "repo": "LANTERN"})),
    ] {
        let outcome = stage.run(name, &args, &grant).await;
        assert_eq!(refusal(&outcome).code, Code::ArgsOutOfScope, "{name} {args}");
    }
    // A default is an arg like any other.
    let by_default = stage.grant("github").narrowed("per_page", &[json!(30)]).seal();
    let outcome = stage.run("github.list_org_repos", &json!({"org": "pinhole-demo"}), &by_default).await;
    assert!(outcome.result().is_some());
    let outcome = stage
        .run("github.list_org_repos", &json!({"org": "pinhole-demo", "per_page": 31}), &by_default)
        .await;
    assert_eq!(refusal(&outcome).code, Code::ArgsOutOfScope);
    assert_eq!(stage.standin.requests().len(), seen + 1);
}

/// An approval for `create_issue`, with one part of what it names changed.
async fn approved_but(change: impl FnOnce(&mut Action<'_>)) -> Outcome {
    let stage = Setup::github().start().await;
    let args = issue_args("A title");
    let (_, op) = op_name("github.create_issue");
    let normal = stage.normal_args("github.create_issue", &args);
    let whose = stage.grant("github").credential;
    let bot = stage.executor.bot.public().id();
    let mut named = action(stage.entry("github"), &op, &normal, (whose.id, &whose.account), bot);
    change(&mut named);
    let digest = named.digest().unwrap();
    let grant = stage.grant("github").write(1).asking(|request| request.approves = Some(digest)).seal();
    let outcome = stage.run("github.create_issue", &args, &grant).await;
    if outcome.result().is_none() {
        assert_eq!(stage.standin.connections(), 0);
    }
    outcome
}

#[tokio::test]
async fn an_approval_is_for_exactly_one_action() {
    assert!(approved_but(|_| ()).await.result().is_some(), "unchanged, it runs");
    let (gitlab, other_op) = op_name("gitlab.update_issue");
    // What an action names is borrowed for as long as there are actions: here, for good.
    let (gitlab, other_op): (&'static _, &'static _) = (Box::leak(gitlab.into()), Box::leak(other_op.into()));
    let account: &'static _ = Box::leak(Account::parse("heron").unwrap().into());
    let connection = CredentialId::random(&mut UnwrapErr(SysRng));
    let bot = other(KeyKind::Bot).public().id();
    let outcomes = [
        ("service", approved_but(|action| action.service = gitlab).await),
        ("op", approved_but(|action| action.op = other_op).await),
        ("manifest", approved_but(|action| action.manifest = Digest::of(b"another")).await),
        ("connection", approved_but(|action| action.connection = connection).await),
        ("account", approved_but(|action| action.account = account).await),
        ("bot", approved_but(|action| action.bot = bot).await),
    ];
    for (part, outcome) in outcomes {
        assert_eq!(refusal(&outcome).code, Code::ApprovalMismatch, "another {part}");
    }
}

#[tokio::test]
async fn an_approval_runs_nothing_else_not_even_a_read() {
    let stage = Setup::github().start().await;
    let args = issue_args("A title");
    let listed = stage.approval("github.create_issue", &args).seal();
    let outcome = stage.run("github.get_repo", &repo_args(), &listed).await;
    assert_eq!(refusal(&outcome).code, Code::OpOutOfScope);
    let unlisted = stage.approval("github.create_issue", &args).scoped(|scope| scope.ops = None).seal();
    for (name, args) in [("github.get_repo", repo_args()), ("github.comment_issue", comment_args("Hello"))] {
        let outcome = stage.run(name, &args, &unlisted).await;
        assert_eq!(refusal(&outcome).code, Code::ApprovalMismatch, "{name}");
    }
    assert_eq!(stage.standin.connections(), 0);
    // What was refused has not been spent.
    assert!(stage.run("github.create_issue", &args, &unlisted).await.result().is_some());
}

#[tokio::test]
async fn a_refusal_before_the_spend_leaves_the_use() {
    let stage = Setup::github().start().await;
    let grant = stage.grant("github").uses(1).narrowed("repo", &[json!("lantern")]).seal();
    for args in [
        json!({}),
        json!({"owner": "pinhole-demo", "repo": "beacon"}),
        // Within the grant, and no request can be made of it.
        json!({"owner": "..", "repo": "lantern"}),
    ] {
        assert!(stage.run("github.get_repo", &args, &grant).await.result().is_none());
    }
    let request = |op: &str| {
        let (service, op) = op_name(op);
        CallRequest::new(service, op, repo_args().to_string(), grant.clone())
    };
    assert!(stage.executor.run(request("github.create_issue")).await.result().is_none());
    assert!(stage.executor.run(request("github.get_repo")).await.result().is_some());
}

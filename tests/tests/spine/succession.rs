//! A manifest that a registry signed is replaced by a later one: which grants still cover what.

use pinhole_manifest::Digest;
use pinhole_runtime::catalog::{BuiltIn, Catalog};
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_tests::{HOUR, NOW, Setup, Stage, signed};
use serde_json::{Value, json};

use crate::common::{is, repo_args};

fn github() -> Value {
    let mut manifest: Value = serde_json::from_slice(BuiltIn::of("github").unwrap().manifest).unwrap();
    manifest["version"] = json!("2.0.0");
    manifest
}

/// A stage whose GitHub was `before`, and is `now`.
async fn stage(before: &Value, now: &Value) -> Stage {
    let before = before.to_string().into_bytes();
    let mut catalog = Catalog::default();
    let later = now.to_string().into_bytes();
    catalog.add_signed(signed("github", &later, NOW.plus_secs(HOUR), &[&before])).unwrap();
    Setup { catalog, ..Setup::github() }.start().await
}

fn digest(manifest: &Value) -> Digest {
    Digest::of(manifest.to_string().as_bytes())
}

/// What runs under a grant that was given under `before`.
async fn reads(before: &Value, now: &Value, ops: Option<&[&str]>) -> Result<(), (Code, Sent)> {
    let stage = stage(before, now).await;
    let mut grant = stage.grant("github").under(digest(before));
    if let Some(ops) = ops {
        grant = grant.ops(ops);
    }
    let outcome = stage.run("github.get_repo", &repo_args(), &grant.seal()).await;
    outcome.refusal().map_or(Ok(()), |refusal| Err((refusal.code, refusal.sent)))
}

fn without_a_field(manifest: &Value) -> Value {
    let mut later = manifest.clone();
    later["version"] = json!("2.0.1");
    later["ops"]["get_repo"]["pick"]["fields"].as_array_mut().unwrap().pop();
    later
}

fn with_a_field(manifest: &Value) -> Value {
    let mut later = manifest.clone();
    later["version"] = json!("2.1.0");
    later["ops"]["get_repo"]["pick"]["fields"].as_array_mut().unwrap().push(json!("owner.node_id"));
    later
}

#[tokio::test]
async fn a_grant_goes_on_under_what_is_proven_narrower() {
    assert_eq!(reads(&github(), &without_a_field(&github()), None).await, Ok(()));
    assert_eq!(reads(&github(), &without_a_field(&github()), Some(&["get_repo"])).await, Ok(()));
}

#[tokio::test]
async fn a_grant_does_not_cover_an_op_that_widened_even_if_it_names_it() {
    let changed = Err((Code::ManifestChanged, Sent::No));
    assert_eq!(reads(&github(), &with_a_field(&github()), None).await, changed);
    assert_eq!(reads(&github(), &with_a_field(&github()), Some(&["get_repo"])).await, changed);
}

#[tokio::test]
async fn an_op_that_did_not_widen_is_covered_beside_one_that_did() {
    let mut later = github();
    later["version"] = json!("2.1.0");
    later["ops"]["list_repos"]["pick"]["fields"].as_array_mut().unwrap().push(json!("owner.node_id"));
    assert_eq!(reads(&github(), &later, None).await, Ok(()));
}

#[tokio::test]
async fn a_grant_covers_no_op_that_its_own_manifest_had_not() {
    let mut before = github();
    before["ops"].as_object_mut().unwrap().remove("get_repo");
    for name in ["create_issue", "comment_issue", "update_issue"] {
        before["ops"][name].as_object_mut().unwrap().remove("require");
    }
    let mut later = github();
    later["version"] = json!("2.1.0");
    let changed = Err((Code::ManifestChanged, Sent::No));
    assert_eq!(reads(&before, &later, None).await, changed);
    assert_eq!(reads(&before, &later, Some(&["get_repo"])).await, changed);
}

#[tokio::test]
async fn a_write_is_not_as_it_was_where_the_read_that_it_requires_widened() {
    for (later, widened) in [(with_a_field(&github()), true), (without_a_field(&github()), false)] {
        let stage = stage(&github(), &later).await;
        let args = json!({"owner": "pinhole-demo", "repo": "lantern", "title": "A title"});
        let grant = stage.grant("github").write(5).under(digest(&github())).seal();
        let outcome = stage.run("github.create_issue", &args, &grant).await;
        let code = outcome.refusal().map(|refusal| refusal.code);
        assert_eq!(code == Some(Code::ManifestChanged), widened, "{code:?}");
        assert_eq!(stage.seen().is_empty(), widened, "{:?}", stage.seen());
    }
}

#[tokio::test]
async fn a_grant_of_a_manifest_that_this_host_never_had_covers_nothing() {
    let stage = stage(&without_a_field(&github()), &github()).await;
    let unknown = stage.grant("github").under(Digest::of(b"a manifest of elsewhere"));
    is(&stage.run("github.get_repo", &repo_args(), &unknown.seal()).await, Code::ManifestChanged, Sent::No);
}

#[tokio::test]
async fn a_change_of_the_whole_service_ends_every_grant() {
    let mut later = github();
    later["version"] = json!("2.1.0");
    later["headers"]["x-other"] = json!("1");
    assert_eq!(reads(&github(), &later, Some(&["get_repo"])).await, Err((Code::ManifestChanged, Sent::No)));
}

#[tokio::test]
async fn a_signed_manifest_runs_until_it_expires_and_not_a_second_longer() {
    let manifest = github().to_string().into_bytes();
    for (expires, code) in [(NOW.plus_secs(1), None), (NOW, Some(Code::RegistryStale))] {
        let mut catalog = Catalog::default();
        catalog.add_signed(signed("github", &manifest, expires, &[])).unwrap();
        let stage = Setup { catalog, ..Setup::github() }.start().await;
        let outcome = stage.run("github.get_repo", &repo_args(), &stage.grant("github").seal()).await;
        assert_eq!(outcome.refusal().map(|refusal| refusal.code), code);
        assert!(outcome.meta.digest.is_none() == code.is_some());
    }
}

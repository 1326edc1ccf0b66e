//! The digest is that of the written-out canonical form, and every part of an action counts.

use serde_json::json;

use super::*;

fn digest_of(change: impl FnOnce(&mut Value)) -> Result<ActionDigest, ActionError> {
    let mut parts = json!({
        "service": "github", "op": "create_issue", "args": {"title": "a", "labels": ["x", "y"]},
        "manifest": Digest::of(b"manifest"), "connection": "AAAAAAAAAAAAAAAAAAAAAA", "account": "octocat",
        "bot": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    });
    change(&mut parts);
    let text = |name: &str| parts[name].as_str().unwrap();
    let service = ServiceId::parse(text("service")).unwrap();
    let op = OpId::parse(text("op")).unwrap();
    let manifest = Digest::parse(text("manifest")).unwrap();
    let connection = CredentialId::parse(text("connection")).unwrap();
    let account = Account::parse(text("account")).unwrap();
    let bot = KeyId::parse(text("bot")).unwrap();
    let parts_of = Parts { service: &service, op: &op, manifest, connection, account: &account, bot };
    parts_of.digest_with(&parts["args"])
}

#[test]
fn the_digest_is_that_of_the_canonical_form() {
    let manifest = Digest::of(b"manifest");
    let canonical = format!(
        r#"{{"account":"octocat","args":{{"labels":["x","y"],"title":"a"}},"bot":"{}","connection":"{}","manifest":"{manifest}","op":"create_issue","service":"github"}}"#,
        "A".repeat(43),
        "A".repeat(22),
    );
    assert_eq!(digest_of(|_| ()).unwrap(), ActionDigest(Digest::of(canonical.as_bytes())));
}

#[test]
fn every_part_counts() {
    let plain = digest_of(|_| ()).unwrap();
    for (pointer, value) in [
        ("/service", json!("gitlab")),
        ("/op", json!("create_issues")),
        ("/args/title", json!("b")),
        ("/args/labels", json!(["y", "x"])),
        ("/args", json!({"title": "a"})),
        ("/manifest", json!(Digest::of(b"another"))),
        ("/connection", json!("AAAAAAAAAAAAAAAAAAAAAQ")),
        ("/account", json!("hubot")),
        ("/bot", json!("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE")),
    ] {
        let changed = digest_of(|parts| *parts.pointer_mut(pointer).unwrap() = value);
        assert_ne!(changed.unwrap(), plain, "{pointer}");
    }
}

#[test]
fn the_order_of_members_and_the_writing_of_a_number_do_not_count() {
    let args = |text: &str| {
        let value: Value = serde_json::from_str(text).unwrap();
        digest_of(|parts| parts["args"] = value).unwrap()
    };
    assert_eq!(args(r#"{"a":1,"b":2}"#), args(r#"{"b":2.0,"a":1e0}"#));
    assert_ne!(args(r#"{"a":1}"#), args(r#"{"a":"1"}"#));
}

#[test]
fn a_number_that_would_be_rounded_is_refused_and_named() {
    for (number, refused) in [
        (json!(9_007_199_254_740_991_i64), false),
        (json!(-9_007_199_254_740_991_i64), false),
        (json!(9_007_199_254_740_992_i64), true),
        (json!(9_007_199_254_740_993_i64), true),
        (json!(-9_007_199_254_740_992_i64), true),
        (json!(u64::MAX), true),
        (json!(1e16), true),
        (json!(0.1), false),
    ] {
        let digest = digest_of(|parts| parts["args"]["a/b"] = json!([1, { "n": number.clone() }]));
        let pointer = "/a~1b/1/n".to_owned();
        assert_eq!(digest.err(), refused.then_some(ActionError::UnsafeNumber { pointer }), "{number}");
    }
}

//! Every kind of bad token: each is a refusal of its own, and nothing is sent.

use std::sync::Arc;

use pinhole_grant::{CredentialId, GrantId, KeyKind, PageParts, SecretKey, seal_page};
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_tests::{HOUR, NOW, Setup, Stage, action, op_name};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use serde_json::{Value, json};

use super::next;
use crate::common::{Provoked, is, result};

const NAME: &str = "shelf.linked";

fn args() -> Value {
    json!({"shelf": "a"})
}

/// A stage without a request, a grant and a token of its own.
async fn staged() -> (Stage, Vec<u8>, String) {
    let stage = Setup::shelf(9).start().await;
    let grant = stage.grant("shelf").uses(1).seal();
    let token = next(&stage.run(NAME, &args(), &grant).await).unwrap();
    (stage, grant, token)
}

/// One run with a token on a stage that no request has reached.
async fn provoked(token: &str) -> Provoked {
    let stage = Setup::shelf(9).start().await;
    let grant = stage.grant("shelf").seal();
    let outcome = stage.run_next(NAME, &args(), &grant, token).await;
    Provoked { stage, outcome }
}

pub(crate) async fn that_is_none() -> Provoked {
    provoked("the next page, please").await
}

/// Sealed with the bot's own key, by hand.
fn sealed(stage: &Stage, name: &str, args: &Value, place: &str) -> String {
    let (service, op) = op_name(name);
    let args = stage.normal_args(name, args);
    let account = pinhole_grant::Account::parse("wren").unwrap();
    let bot = stage.executor.bot.public().id();
    let entry = stage.entry(service.as_str());
    let parts = PageParts {
        issuer: stage.member.public().id(),
        action: action(entry, &op, &args, (stage.connection, &account), bot).digest().unwrap(),
        grant: GrantId::random(&mut UnwrapErr(SysRng)),
        principal: None,
        place: place.to_owned(),
    };
    seal_page(parts, stage.executor.bot.current(), NOW, [3; 12]).unwrap().to_string()
}

pub(crate) async fn that_is_old() -> Provoked {
    let stage = Setup::shelf(9).start().await;
    let token = sealed(&stage, NAME, &args(), "");
    stage.clock.set(HOUR);
    let grant = stage.grant("shelf").scoped(|scope| scope.expires_at = NOW.plus_secs(2 * HOUR)).seal();
    let outcome = stage.run_next(NAME, &args(), &grant, &token).await;
    Provoked { stage, outcome }
}

pub(crate) async fn of_another_call() -> Provoked {
    let stage = Setup::shelf(9).start().await;
    let token = sealed(&stage, NAME, &json!({"shelf": "b"}), "");
    let grant = stage.grant("shelf").seal();
    let outcome = stage.run_next(NAME, &args(), &grant, &token).await;
    Provoked { stage, outcome }
}

#[tokio::test]
async fn what_is_no_token_is_refused() {
    let (_, _, foreign) = staged().await;
    let (stage, grant, token) = staged().await;
    let spoiled = [
        String::new(),
        " ".to_owned(),
        foreign,
        format!(" {token}"),
        format!("{token}="),
        token.to_uppercase(),
        token.replacen("pnx1", "pnx2", 1),
        token.get(4..).unwrap().to_owned(),
        token.get(..token.len() - 4).unwrap().to_owned(),
        format!("{}AAAA", token.get(..token.len() - 4).unwrap()),
        "pnx1".to_owned() + &"A".repeat(1 << 20),
        "https://api.shelf.dev/shelf/7/things?page=2".to_owned(),
        "\u{0}\u{202e}é".to_owned(),
    ];
    for spoiled in spoiled {
        let outcome = stage.run_next(NAME, &args(), &grant, &spoiled).await;
        is(&outcome, Code::PageTokenMalformed, Sent::No);
        assert!(spoiled.trim().is_empty() || !outcome.to_json().contains(&spoiled), "it is repeated");
    }
    assert_eq!(stage.standin.requests().len(), 1);
    assert!(stage.run_next(NAME, &args(), &grant, &token).await.result().is_some());
}

/// What only another version of this program, or a thief of the bot's key, could have sealed.
#[tokio::test]
async fn a_place_that_is_none_is_refused() {
    let stage = Setup::shelf(9).start().await;
    let grant = stage.grant("shelf").seal();
    let mark = pinhole_manifest::Digest::of(b"x");
    let place = |at: &str| format!(r#"{{"at":{at},"number":2,"mark":"{mark}"}}"#);
    for (at, code) in [
        (String::new(), Code::PageTokenMalformed),
        ("{}".to_owned(), Code::PageTokenMalformed),
        (place(r#"{"body":"x"}"#), Code::PageTokenMalformed),
        (place(r#"{"link":1}"#), Code::PageTokenMalformed),
        (place(r#"{"cursor":"x"}"#), Code::PageTokenMismatch),
        (place(r#"{"page":2}"#), Code::PageTokenMismatch),
        (place(r#"{"link":"/shelf/7/other"}"#), Code::ArgsOutOfScope),
        (place(r#"{"link":"//other.dev/shelf/7/things"}"#), Code::ArgsOutOfScope),
        (place(r#"{"link":"/shelf/../things"}"#), Code::ArgsOutOfScope),
        (place(r#"{"link":"/shelf/%2e%2e/things"}"#), Code::ArgsOutOfScope),
    ] {
        let token = sealed(&stage, NAME, &args(), &at);
        is(&stage.run_next(NAME, &args(), &grant, &token).await, code, Sent::No);
    }
    // The op has no pages at all.
    let token = sealed(&stage, "shelf.whole", &json!({}), &place(r#"{"page":2}"#));
    is(&stage.run_next("shelf.whole", &json!({}), &grant, &token).await, Code::PageTokenMismatch, Sent::No);
    assert_eq!(stage.standin.requests().len(), 0);
    let token = sealed(&stage, NAME, &args(), &place(r#"{"link":"/shelf/7/things?page=3"}"#));
    let outcome = stage.run_next(NAME, &args(), &grant, &token).await;
    assert_eq!(result(&outcome)[0]["id"], 5);
}

#[tokio::test]
async fn it_is_good_for_an_hour_of_the_latest_clock() {
    let (stage, grant, token) = staged().await;
    stage.clock.set(HOUR - 1);
    assert!(stage.run_next(NAME, &args(), &grant, &token).await.result().is_some());
    let lasting = stage.grant("shelf").scoped(|scope| scope.expires_at = NOW.plus_secs(9 * HOUR)).seal();
    for after in [HOUR, 8 * HOUR, 0, -HOUR] {
        stage.clock.set(after);
        let outcome = stage.run_next(NAME, &args(), &lasting, &token).await;
        is(&outcome, Code::PageTokenExpired, Sent::No);
    }
}

#[tokio::test]
async fn it_is_for_one_call_alone() {
    let (mut stage, grant, token) = staged().await;
    let mismatched = |outcome| is(&outcome, Code::PageTokenMismatch, Sent::No);
    mismatched(stage.run_next(NAME, &json!({"shelf": "b"}), &grant, &token).await);
    mismatched(stage.run_next(NAME, &json!({"shelf": "a", "size": 3}), &grant, &token).await);
    mismatched(stage.run_next("shelf.cursor", &json!({}), &grant, &token).await);
    let other = stage.grant("shelf").with(|credential| {
        credential.id = CredentialId::random(&mut UnwrapErr(SysRng));
    });
    mismatched(stage.run_next(NAME, &args(), &other.seal(), &token).await);
    let other = stage.grant("shelf").with(|credential| {
        credential.account = pinhole_grant::Account::parse("robin").unwrap();
    });
    mismatched(stage.run_next(NAME, &args(), &other.seal(), &token).await);
    // The same args, said otherwise.
    let same = json!({"color": null, "size": 2.0, "shelf": "a"});
    assert!(stage.run_next(NAME, &same, &grant, &token).await.result().is_some());
    // Another member who gives the same.
    let member = SecretKey::generate(KeyKind::Member, &mut UnwrapErr(SysRng));
    stage.executor.issuers.push(member.public().clone());
    stage.member = member;
    let theirs = stage.grant("shelf").seal();
    mismatched(stage.run_next(NAME, &args(), &theirs, &token).await);
    assert_eq!(stage.standin.requests().len(), 2);
}

/// Another bot has another key: it has no use for the token, whatever grant it has.
#[tokio::test]
async fn it_is_one_bots_alone() {
    let (mut stage, _, token) = staged().await;
    stage.executor.bot = Arc::new(SecretKey::generate(KeyKind::Bot, &mut UnwrapErr(SysRng)).into());
    let grant = stage.grant("shelf").seal();
    is(&stage.run_next(NAME, &args(), &grant, &token).await, Code::PageTokenMalformed, Sent::No);
}

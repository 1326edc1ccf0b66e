//! Opening: each refusal by its own name, and what an opened grant covers.

use pinhole_grant::grant::{READ_LIFETIME_SECS_MAX, WRITE_LIFETIME_SECS_MAX};
use pinhole_grant::{
    Credential, Inconsistency, InspectError, Kind, MintRequest, OpenError, OpenedGrant, RuleBroken, Scope,
    ScopeError, SecretKey, Standing, UnixTime, inspect, mint, open, seal, seal_credential, sign,
};
use pinhole_manifest::Access;
use serde_json::{Value, json};

use crate::common::{
    DAY, HOUR, NOW, REFRESH, TOKEN, altered, bot, credential, forged, forged_by, manifest, member, minted,
    oauth_parts, op, other_bot, other_member, payload_of, publics, read_scope, request, rng, write_scope,
};
use crate::mint::action;

pub(crate) fn open_at(envelope: &[u8], now: UnixTime) -> Result<OpenedGrant, OpenError> {
    open(envelope, &bot(), &publics(&[&other_member(), &member()]), now)
}

fn refused(envelope: &[u8]) -> OpenError {
    open_at(envelope, NOW).unwrap_err()
}

pub(crate) fn approval() -> MintRequest {
    let bot = bot().public().clone();
    MintRequest::approval(bot, manifest(), op("create_issue"), action(), NOW, NOW.plus_secs(HOUR))
}

#[test]
fn another_bot_does_not_open_it() {
    let envelope = minted(&request(read_scope()));
    let issuers = publics(&[&member()]);
    assert_eq!(open(&envelope, &other_bot(), &issuers, NOW).unwrap_err(), OpenError::WrongBot);
    assert_eq!(open(&envelope, &member(), &issuers, NOW).unwrap_err(), OpenError::NotABot);
}

#[test]
fn a_grant_sealed_on_to_another_bot_is_refused() {
    // The bot that it was given to opens the seal, and seals what is inside, signature and all, to a friend.
    let envelope = minted(&request(read_scope()));
    let signed = seal::open(Kind::Grant, &envelope, &bot()).unwrap();
    let passed_on = seal::seal(Kind::Grant, other_bot().public(), &signed, &mut rng(9)).unwrap();
    let refused = open(&passed_on, &other_bot(), &publics(&[&member()]), NOW).unwrap_err();
    assert_eq!(refused, OpenError::Resealed);
}

#[test]
fn only_known_members_issue() {
    let envelope = minted(&request(read_scope()));
    assert_eq!(open(&envelope, &bot(), &[], NOW).unwrap_err(), OpenError::UnknownIssuer);
    let others = publics(&[&other_member()]);
    assert_eq!(open(&envelope, &bot(), &others, NOW).unwrap_err(), OpenError::UnknownIssuer);
    // A bot's key among the issuers does not make the bot a member.
    let by_bot = forged_by(&serde_json::to_vec(&payload_of(&envelope)).unwrap(), &other_bot());
    let with_bot = publics(&[&member(), &other_bot()]);
    assert_eq!(open(&by_bot, &bot(), &with_bot, NOW).unwrap_err(), OpenError::UnknownIssuer);
}

#[test]
fn a_grant_in_another_members_name_is_refused() {
    let envelope = minted(&request(read_scope()));
    let signed_by_other = forged_by(&serde_json::to_vec(&payload_of(&envelope)).unwrap(), &other_member());
    assert_eq!(refused(&signed_by_other), OpenError::IssuerMismatch);
    let swapped = altered(&request(read_scope()), "/issuer", json!(other_member().public().id()));
    assert_eq!(refused(&swapped), OpenError::IssuerMismatch);
}

#[test]
fn a_signature_over_something_else_is_refused() {
    let signed = |key: &SecretKey| {
        let payload = serde_json::to_vec(&payload_of(&minted(&request(read_scope())))).unwrap();
        serde_json::from_slice::<Value>(&sign::sign(Kind::Grant, &payload, key).unwrap()).unwrap()
    };
    let mut envelope = signed(&member());
    envelope["signatures"][0]["sig"] = signed(&other_member())["signatures"][0]["sig"].clone();
    let seal_up = |json: &Value| {
        let bytes = serde_json::to_vec(json).unwrap();
        seal::seal(Kind::Grant, bot().public(), &bytes, &mut rng(9)).unwrap()
    };
    assert_eq!(refused(&seal_up(&envelope)), OpenError::BadSignature);
    let mut retyped = signed(&member());
    retyped["payloadType"] = json!(sign::payload_type(Kind::Credential));
    assert_eq!(refused(&seal_up(&retyped)), OpenError::NotSigned);
    assert_eq!(refused(&seal_up(&json!({}))), OpenError::NotSigned);
}

#[test]
fn another_kind_of_envelope_is_no_grant() {
    let credential = seal_credential(&credential(), &member(), &mut rng(1)).unwrap();
    assert_eq!(refused(&credential), OpenError::WrongKind);
    // A signed credential inside a seal that says grant.
    let inner = seal::open(Kind::Credential, &credential, &member()).unwrap();
    let disguised = seal::seal(Kind::Grant, bot().public(), &inner, &mut rng(9)).unwrap();
    assert_eq!(refused(&disguised), OpenError::NotSigned);
    assert_eq!(refused(b"{}"), OpenError::NotAnEnvelope);
    assert_eq!(refused(&vec![b'x'; 1 << 20]), OpenError::TooLarge);
}

#[test]
fn what_was_signed_is_exactly_a_grant() {
    let with = |name: &str, value: Value| refused(&altered(&request(read_scope()), name, value));
    for (name, value) in [
        ("/extra", json!(1)),
        ("/uses", json!(0)),
        ("/uses", json!(-1)),
        ("/access", json!("admin")),
        ("/where", json!({"owner": []})),
        ("/where", json!({"owner": [null]})),
        ("/where", json!({"owner": "octocat"})),
        ("/where", json!({"owner": [["a"]]})),
        ("/where", json!({"Owner": ["a"]})),
        ("/where", json!({"n": [9_007_199_254_740_992_u64]})),
        ("/iat", json!(1.5)),
        ("/manifest", json!("sha256:00")),
        ("/return_to", json!("pin1AAAA")),
        ("/credential/secret", json!("a b")),
        ("/credential/extra", json!(1)),
        ("/expires_at", Value::Null),
        ("/not_before", Value::Null),
        ("/iat", Value::Null),
        ("/bot", Value::Null),
        ("/credential", Value::Null),
    ] {
        assert_eq!(with(name, value.clone()), OpenError::Malformed, "{name} {value}");
    }
    assert_eq!(refused(&forged(b"not json")), OpenError::Malformed);
    let text = payload_of(&minted(&request(read_scope()))).to_string();
    for doubled in [
        text.replacen('{', "{\"iat\":1,", 1),
        text.replacen('{', "{\"where\":{\"a\":[1],\"a\":[2]},", 1),
        format!("{text} {text}"),
    ] {
        assert_eq!(refused(&forged(doubled.as_bytes())), OpenError::Malformed);
    }
}

#[test]
fn no_access_is_read() {
    let envelope = altered(&request(write_scope()), "/access", Value::Null);
    assert_eq!(open_at(&envelope, NOW).unwrap().grant().access(), Access::Read);
}

#[test]
fn the_credential_inside_is_the_grants_own() {
    for (name, value, what) in [
        ("/connection", json!("AAAAAAAAAAAAAAAAAAAAAA"), Inconsistency::Connection),
        ("/account", json!("hubot"), Inconsistency::Account),
        ("/service", json!("gitlab"), Inconsistency::Service),
        ("/host", json!("api.evil.com"), Inconsistency::Host),
        ("/credential/id", json!("AAAAAAAAAAAAAAAAAAAAAA"), Inconsistency::Connection),
        ("/credential/account", json!("hubot"), Inconsistency::Account),
        ("/credential/service", json!("gitlab"), Inconsistency::Service),
        ("/credential/host", json!("api.evil.com"), Inconsistency::Host),
    ] {
        let envelope = altered(&request(read_scope()), name, value);
        assert_eq!(refused(&envelope), OpenError::Inconsistent(what), "{name}");
    }
}

#[test]
fn the_rules_hold_on_opening_too() {
    let rule = |request: &MintRequest, name: &str, value: Value| match refused(&altered(request, name, value))
    {
        OpenError::Rule(rule) => rule,
        other => panic!("{other:?}"),
    };
    let (read, write) = (request(read_scope()), request(write_scope()));
    assert_eq!(rule(&write, "/credential/cap", json!("read")), RuleBroken::AboveCap);
    assert_eq!(rule(&write, "/credential/cap", Value::Null), RuleBroken::AboveCap);
    assert_eq!(rule(&write, "/uses", Value::Null), RuleBroken::WriteWithoutUses);
    assert_eq!(rule(&approval(), "/uses", json!(2)), RuleBroken::ApprovalShape);
    assert_eq!(rule(&approval(), "/access", json!("read")), RuleBroken::ApprovalShape);
    assert_eq!(rule(&read, "/ops", json!([])), RuleBroken::NoOps);
    assert_eq!(rule(&read, "/expires_at", json!(NOW)), RuleBroken::NoLifetime);
    assert_eq!(rule(&read, "/iat", json!(NOW.plus_secs(1))), RuleBroken::NoLifetime);
    let (read_limit, write_limit) = (READ_LIFETIME_SECS_MAX, WRITE_LIFETIME_SECS_MAX);
    let after = |secs| json!(NOW.plus_secs(secs));
    assert_eq!(
        rule(&read, "/expires_at", after(90 * DAY + 1)),
        RuleBroken::TooLong { limit_secs: read_limit }
    );
    assert_eq!(rule(&write, "/expires_at", after(DAY + 1)), RuleBroken::TooLong { limit_secs: write_limit });
    assert_eq!(rule(&read, "/iat", json!(i64::MIN)), RuleBroken::TooLong { limit_secs: read_limit });
}

#[test]
fn skew_helps_at_the_beginning_alone() {
    let later = NOW.plus_secs(2 * HOUR);
    let scope = Scope { not_before: NOW.plus_secs(HOUR), expires_at: later, ..read_scope() };
    let envelope = minted(&request(scope));
    let at = |secs: i64| open_at(&envelope, NOW.plus_secs(secs)).map(|_opened| ());
    assert_eq!(at(HOUR - 61).unwrap_err(), OpenError::NotYetValid);
    assert_eq!(at(HOUR - 60), Ok(()));
    assert_eq!(at(2 * HOUR - 1), Ok(()));
    assert_eq!(at(2 * HOUR).unwrap_err(), OpenError::Expired);
    assert_eq!(open_at(&envelope, UnixTime::from_secs(i64::MAX)).unwrap_err(), OpenError::Expired);
    assert_eq!(open_at(&envelope, UnixTime::from_secs(i64::MIN)).unwrap_err(), OpenError::NotYetValid);
    let opened = open_at(&envelope, NOW.plus_secs(HOUR)).unwrap();
    assert_eq!(opened.check_time(later).unwrap_err(), ScopeError::Expired);
    assert_eq!(opened.check_time(NOW).unwrap_err(), ScopeError::NotYetValid);
}

#[test]
fn neither_inspection_nor_debug_shows_a_secret() {
    let oauth = Credential::new(oauth_parts()).unwrap();
    let sealed = mint(&request(read_scope()), &oauth, &member(), NOW, &mut rng(6)).unwrap();
    let opened = open_at(sealed.as_bytes(), NOW).unwrap();
    let inspection = inspect(sealed.as_bytes(), &bot(), &publics(&[&member()])).unwrap();
    let json = serde_json::to_value(&inspection).unwrap();
    assert_eq!(json["credential"]["secret"], "<secret>");
    assert_eq!(json["credential"]["refresh"], "<secret>");
    assert_eq!(json["standing"], "good");
    for shown in [format!("{opened:?}"), format!("{inspection:?}"), json.to_string()] {
        assert!(!shown.contains(TOKEN) && !shown.contains(REFRESH), "{shown}");
    }
}

#[test]
fn inspection_shows_a_grant_that_does_not_open_and_says_so() {
    let standing = |envelope: &[u8], issuers: &[&SecretKey]| {
        inspect(envelope, &bot(), &publics(issuers)).map(|inspection| inspection.standing)
    };
    let envelope = minted(&request(read_scope()));
    assert_eq!(standing(&envelope, &[&member()]), Ok(Standing::Good));
    assert_eq!(standing(&envelope, &[]), Ok(Standing::UnknownIssuer));
    let mismatched = altered(&request(read_scope()), "/account", json!("hubot"));
    assert_eq!(standing(&mismatched, &[&member()]), Ok(Standing::Unsound));
    let unruly = altered(&request(write_scope()), "/uses", Value::Null);
    assert_eq!(standing(&unruly, &[&member()]), Ok(Standing::Unsound));
    assert!(matches!(standing(b"{}", &[]), Err(InspectError::Unseal(_))));
    assert_eq!(standing(&forged(b"{}"), &[&member()]), Err(InspectError::Malformed));
}

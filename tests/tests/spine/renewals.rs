//! Tokens that run out: renewed before the call or on a surprise 401, once, by an authorization server that ends the family
//! when a spent refresh token is shown again; and what her bot renewed waits for the member.

use std::net::IpAddr;
use std::sync::Arc;

use futures_util::future::join_all;
use pinhole_grant::{
    Account, ClientId, Credential, CredentialId, CredentialKind, CredentialParts, Dial, Label, Renewer,
    Secret, SourceName, open_returned, seal_credential,
};
use pinhole_manifest::Access;
use pinhole_manifest::host::HttpsUrl;
use pinhole_runtime::net::{NetSettings, PinnedClient, Sent};
use pinhole_runtime::outcome::Code;
use pinhole_runtime::renew::{Ask, Asked, Asking, Renewing, Unanswered};
use pinhole_runtime::store::{Carried, ConnectionRow, Connections as _, Returns as _};
use pinhole_runtime::{CallRequest, Explained, Outcome};
use pinhole_server::research::Research;
use pinhole_standin::{Manners, Provider, Reply, Route};
use pinhole_tests::{Answers, Granting, LocalStage, NOW, Setup, Stage, call, op_name, thing};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use serde_json::{Value, json};

use crate::common::{Provoked, forms, get, is, post, refusal, result};

const CLIENT: &str = "public-client";
const TOKEN_URL: &str = "https://api.thing.dev/oauth/token";
const PLAIN: &str = "thing.plain_thing";
const NOTE: &str = "thing.add_note";

fn manifest() -> Value {
    let mut manifest = thing();
    manifest["auth"] = json!({"scheme": "header", "header": "x-key", "oauth": {
        "authorize_url": "https://api.thing.dev/oauth/authorize", "token_url": TOKEN_URL,
        "scopes": ["read"], "scopes_write": ["read", "write"], "client_auth": "post", "pkce": true
    }});
    manifest["ops"]["add_note"] = json!({
        "access": "write", "summary": "Add a note.", "confirm": "Add {text}?", "effect": "create",
        "args": {
            "type": "object", "additionalProperties": false, "required": ["text"],
            "properties": {"text": {"type": "string", "description": "The text."}}
        },
        "request": {"method": "POST", "path": "/notes", "json": {"text": "{text}"}},
        "pick": {"fields": ["id"]}
    });
    manifest
}

fn routes() -> Vec<Route> {
    vec![
        get("/plain", &json!({"id": "1", "name": "access-1+/= refresh-2+/= access-3+/= refresh-4+/="})),
        get("/quick", &json!({"id": "1"})),
        post("/notes", &json!({"id": 7})),
    ]
}

fn setup(routes: Vec<Route>, provider: &Provider) -> Setup {
    let mut setup = Setup::manifest(&manifest(), routes);
    setup.standin.provider = Some(provider.clone());
    setup.standin.token = None;
    setup
}

pub(crate) async fn staged() -> (Stage, Provider) {
    let provider = Provider::new(Manners::default());
    (setup(routes(), &provider).start().await, provider)
}

fn secret(text: &str) -> Secret {
    Secret::new(text.to_owned()).unwrap()
}

/// A grant of a pair that was just obtained, with a way back to the member. It runs out so many seconds after the stage's
/// clock begins.
pub(crate) fn granted<'s>(stage: &'s Stage, provider: &Provider, until: Option<i64>) -> Granting<'s> {
    let (access, refresh) = provider.connected(CLIENT);
    let member = stage.member.public().clone();
    stage
        .grant("thing")
        .with(|parts| {
            parts.kind = CredentialKind::Oauth;
            parts.secret = secret(&access);
            parts.refresh = Some(secret(&refresh));
            parts.token_url = Some(HttpsUrl::parse(TOKEN_URL).unwrap());
            parts.expires_at = until.map(|until| NOW.plus_secs(until));
            parts.renewer = Some(Box::new(Renewer::Client(ClientId::parse(CLIENT).unwrap())));
        })
        .asking(|request| request.return_to = Some(member))
}

/// The credential that a grant was made of, as its member has it.
pub(crate) fn held(grant: &Granting<'_>) -> Credential {
    let parts = &grant.credential;
    Credential::new(CredentialParts {
        id: parts.id,
        service: parts.service.clone(),
        label: parts.label.clone(),
        account: parts.account.clone(),
        host: parts.host.clone(),
        token_url: parts.token_url.clone(),
        registry: parts.registry.clone(),
        kind: parts.kind,
        secret: secret(parts.secret.expose()),
        refresh: parts.refresh.as_ref().map(|refresh| secret(refresh.expose())),
        expires_at: parts.expires_at,
        renewer: parts.renewer.clone(),
        cap: parts.cap,
        dial: parts.dial,
    })
    .unwrap()
}

/// What an outcome hands back, as its member opens it.
fn handed_back(outcome: &Outcome, stage: &Stage, held: &Credential) -> Credential {
    let rotated = outcome.rotated.as_ref().unwrap_or_else(|| panic!("nothing: {}", outcome.to_json()));
    let shown: Value = serde_json::from_str(&outcome.to_json()).unwrap();
    assert_eq!(shown["rotated"]["kind"], "returned");
    let bots = [stage.executor.bot.public().clone()];
    open_returned(&rotated.to_bytes(), &stage.member, &bots, held).unwrap()
}

/// The bearer tokens that the API saw, in order.
pub(crate) fn tokens(stage: &Stage) -> Vec<String> {
    let seen = stage.standin.requests();
    let api = seen.iter().filter(|seen| !seen.path.starts_with("/oauth/"));
    api.map(|seen| seen.header("authorization").unwrap_or_default().replace("Bearer ", "")).collect()
}

pub(crate) async fn run(stage: &Stage, grant: &[u8]) -> Outcome {
    stage.run("thing.quick_thing", &json!({}), grant).await
}

#[tokio::test]
async fn a_pair_that_is_due_is_renewed_before_the_call_and_goes_back() {
    let (stage, provider) = staged().await;
    let grant = granted(&stage, &provider, Some(20));
    let held = held(&grant);
    let grant = grant.seal();
    for _ in 0..3 {
        let outcome = run(&stage, &grant).await;
        result(&outcome);
        let newer = handed_back(&outcome, &stage, &held);
        assert_eq!((newer.generation(), newer.secret().expose()), (1, "access-3+/="));
        assert!(provider.takes(newer.secret().expose()));
        assert_eq!(newer.expires_at(), Some(NOW.plus_secs(3600)));
    }
    assert_eq!(provider.refreshes(), 1);
    assert_eq!(tokens(&stage), ["access-3+/="; 3]);
    // A grant that has the newest hands nothing back.
    let again = granted(&stage, &provider, None).with(|parts| {
        parts.secret = secret("access-3+/=");
        parts.refresh = Some(secret("refresh-4+/="));
    });
    assert!(run(&stage, &again.seal()).await.rotated.is_none());
    // An hour later the first grant still finds its line.
    stage.clock.set(3590);
    let outcome = run(&stage, &grant).await;
    assert_eq!(handed_back(&outcome, &stage, &held).generation(), 2);
    assert_eq!((provider.refreshes(), provider.dead_families()), (2, 0));
}

#[tokio::test]
async fn fifty_calls_at_the_moment_of_expiry_share_one_renewal() {
    let (stage, provider) = staged().await;
    let grant = granted(&stage, &provider, Some(0)).seal();
    for outcome in join_all((0..50).map(|_| run(&stage, &grant))).await {
        result(&outcome);
    }
    assert_eq!((provider.refreshes(), provider.dead_families()), (1, 0));
}

#[tokio::test]
async fn a_renewal_stands_in_the_receipt_of_the_one_run_that_asked_for_it() {
    let (stage, provider) = staged().await;
    let grant = granted(&stage, &provider, Some(0)).seal();
    for outcome in join_all((0..20).map(|_| run(&stage, &grant))).await {
        result(&outcome);
    }
    let another = granted(&stage, &provider, Some(0)).seal();
    provider.kill();
    is(&run(&stage, &another).await, Code::ReconnectRequired, Sent::No);
    let rows = stage.store.receipts_from(stage.executor.bot.public().id(), 0, 99).unwrap();
    let facts: Vec<_> = rows.iter().map(|row| row.receipt().unwrap().facts().clone()).collect();
    let asked: u32 = facts.iter().take(20).map(|facts| facts.token_requests).sum();
    assert_eq!((asked, facts.len()), (1, 21));
    assert!(facts.iter().take(20).all(|facts| facts.requests.len() == 1));
    // One that came to nothing but the request for a pair.
    assert_eq!((facts[20].token_requests, facts[20].requests.len()), (1, 0));
}

#[tokio::test]
async fn a_surprise_401_is_answered_by_one_renewal_also_for_a_write() {
    for (name, args) in [("thing.quick_thing", json!({})), (NOTE, json!({"text": "a"}))] {
        let (stage, provider) = staged().await;
        let grant = granted(&stage, &provider, None).write(2);
        let held = held(&grant);
        let grant = grant.seal();
        provider.expire();
        let outcome = stage.run(name, &args, &grant).await;
        result(&outcome);
        assert_eq!(handed_back(&outcome, &stage, &held).secret().expose(), "access-3+/=");
        assert_eq!(tokens(&stage), ["access-1+/=", "access-3+/="]);
        assert_eq!((provider.refreshes(), outcome.meta.requests), (1, 2));
    }
}

#[tokio::test]
async fn a_second_401_is_the_usual_refusal_and_burns_no_more() {
    let provider = Provider::new(Manners::default());
    let no = Route::get("/quick", Reply::json(401, &json!({"message": "not for you"})));
    let stage = setup(vec![no], &provider).start().await;
    let grant = granted(&stage, &provider, None).seal();
    for round in 1..=3 {
        let outcome = run(&stage, &grant).await;
        is(&outcome, Code::UpstreamUnauthorized, Sent::Yes);
        assert!(outcome.rotated.is_some());
        // The pair was renewed a moment ago: the service refuses it for another reason.
        assert_eq!(tokens(&stage).len(), round + 1);
    }
    assert_eq!((provider.refreshes(), provider.dead_families()), (1, 0));
}

#[tokio::test]
async fn what_cannot_be_renewed_is_used_until_it_runs_out() {
    let (stage, provider) = staged().await;
    let nowhere = granted(&stage, &provider, Some(20)).asking(|request| request.return_to = None).seal();
    result(&run(&stage, &nowhere).await);
    let nobody = granted(&stage, &provider, Some(20)).with(|parts| parts.renewer = None).seal();
    result(&run(&stage, &nobody).await);
    stage.clock.set(20);
    is(&run(&stage, &nowhere).await, Code::NoWayBack, Sent::No);
    is(&run(&stage, &nobody).await, Code::ReconnectRequired, Sent::No);
    assert_eq!(provider.refreshes(), 0);
    // Without a way back a surprise stays what the service says.
    provider.expire();
    let surprised = granted(&stage, &provider, None).asking(|request| request.return_to = None).seal();
    provider.expire();
    is(&run(&stage, &surprised).await, Code::UpstreamUnauthorized, Sent::Yes);
    assert_eq!(provider.refreshes(), 0);
}

#[tokio::test]
async fn a_grant_without_a_use_left_and_a_look_renew_nothing() {
    let (stage, provider) = staged().await;
    let once = granted(&stage, &provider, Some(3600)).uses(1).seal();
    result(&run(&stage, &once).await);
    stage.clock.set(3600 - 10);
    is(&run(&stage, &once).await, Code::GrantUsedUp, Sent::No);
    let (service, op) = op_name(PLAIN);
    let due = granted(&stage, &provider, Some(0)).seal();
    let explained = stage.executor.explain(CallRequest::new(service, op, "{}", due)).await;
    assert!(matches!(explained, Explained::WouldRun(_)), "{explained:?}");
    assert_eq!(provider.refreshes(), 0);
}

#[tokio::test]
async fn a_family_that_has_ended_is_asked_once_and_never_again() {
    let (stage, provider) = staged().await;
    let grant = granted(&stage, &provider, Some(0)).seal();
    provider.kill();
    for _ in 0..5 {
        is(&run(&stage, &grant).await, Code::ReconnectRequired, Sent::No);
    }
    assert_eq!(provider.refreshes(), 1);
    assert!(tokens(&stage).is_empty());
    // Reconnected: another family, whatever the first one's end.
    result(&run(&stage, &granted(&stage, &provider, Some(0)).seal()).await);
    is(&run(&stage, &grant).await, Code::ReconnectRequired, Sent::No);
}

#[tokio::test]
async fn every_secret_of_a_renewed_call_is_scrubbed() {
    let (stage, provider) = staged().await;
    let due = granted(&stage, &provider, Some(0)).seal();
    let outcome = stage.run(PLAIN, &json!({}), &due).await;
    assert_eq!(result(&outcome)["name"], "[redacted] [redacted] [redacted] [redacted]");
    let (stage, provider) = staged().await;
    let surprised = granted(&stage, &provider, None).seal();
    provider.expire();
    let outcome = stage.run(PLAIN, &json!({}), &surprised).await;
    assert_eq!(result(&outcome)["name"], "[redacted] [redacted] [redacted] [redacted]");
    for secret in ["access-1+/=", "refresh-2+/=", "access-3+/=", "refresh-4+/="] {
        assert!(forms(secret).iter().all(|form| !format!("{outcome:?}").contains(form)));
    }
}

#[tokio::test]
async fn a_member_who_names_anothers_credential_gets_nothing_of_hers() {
    let (stage, provider) = staged().await;
    let hers = granted(&stage, &provider, Some(0)).seal();
    assert!(run(&stage, &hers).await.rotated.is_some());
    let mut hostile = stage;
    // Another trusted member, the same credential id, and even the pair that the line began with.
    let other = pinhole_grant::SecretKey::generate(pinhole_grant::KeyKind::Member, &mut UnwrapErr(SysRng));
    hostile.executor.issuers.push(other.public().clone());
    hostile.member = other;
    let grant = granted(&hostile, &provider, Some(0)).with(|parts| {
        parts.secret = secret("access-1+/=");
        parts.refresh = Some(secret("refresh-2+/="));
    });
    let outcome = run(&hostile, &grant.seal()).await;
    is(&outcome, Code::ReconnectRequired, Sent::No);
    assert!(outcome.rotated.is_none());
}

#[tokio::test]
async fn a_pair_that_goes_back_counts_towards_the_size_of_an_outcome() {
    let mut manifest = manifest();
    manifest["ops"]["quick_thing"]["limits"] = json!({"timeout_ms": 1000, "result_bytes": 700});
    let provider = Provider::new(Manners::default());
    let mut setup = Setup::manifest(&manifest, routes());
    setup.standin.provider = Some(provider.clone());
    setup.standin.token = None;
    let stage = setup.start().await;
    let fresh = granted(&stage, &provider, Some(3600)).seal();
    result(&run(&stage, &fresh).await);
    let outcome = run(&stage, &granted(&stage, &provider, Some(0)).seal()).await;
    is(&outcome, Code::ResultTooLarge, Sent::Yes);
    // It is not lost for that.
    assert!(outcome.rotated.is_some());
}

/// More often than a request whose end nobody knows is tried.
#[tokio::test]
async fn a_token_endpoint_takes_the_guard_and_a_name_without_a_good_address_burns_nothing() {
    let good: IpAddr = [140, 82, 121, 6].into();
    let (own, inside): (IpAddr, IpAddr) = ([127, 0, 0, 1].into(), [169, 254, 169, 254].into());
    for addresses in [vec![], vec![own], vec![inside], vec![good, inside]] {
        let (mut stage, provider) = staged().await;
        let client = PinnedClient::with_lookup(NetSettings::default(), Arc::new(Answers(addresses.clone())));
        stage.executor.wire = Arc::new(client.unwrap());
        let grant = granted(&stage, &provider, Some(0))
            .with(|parts| parts.dial = Dial::Real)
            .scoped(|scope| scope.expires_at = NOW.plus_secs(24 * 3600))
            .seal();
        for second in [0, 6, 70, 700, 4_400, 8_100, 11_800] {
            stage.clock.set(second);
            let outcome = run(&stage, &grant).await;
            is(&outcome, Code::RenewalFailed, Sent::No);
            assert_eq!(outcome.meta.requests, 0, "{addresses:?}");
            let why = if addresses.is_empty() { "could not be found" } else { "not public" };
            let detail = refusal(&outcome).private_detail().unwrap_or_default();
            assert!(detail.contains(why), "{detail}");
        }
        assert_eq!(provider.refreshes(), 0, "{addresses:?}");
    }
}

/// A connection of the pair that a person has just obtained; it runs out at once.
async fn connected() -> (LocalStage, Provider, ConnectionRow) {
    let provider = Provider::new(Manners::default());
    let stage = setup(routes(), &provider).start_local().await;
    let (access, refresh) = provider.connected(CLIENT);
    let credential = Credential::new(CredentialParts {
        id: CredentialId::random(&mut UnwrapErr(SysRng)),
        service: op_name(PLAIN).0,
        label: Label::parse("work").unwrap(),
        account: Account::parse("wren").unwrap(),
        host: stage.bot.executor.catalog.find(&op_name(PLAIN).0).unwrap().manifest.host().clone(),
        token_url: Some(HttpsUrl::parse(TOKEN_URL).unwrap()),
        registry: SourceName::parse("local").unwrap(),
        kind: CredentialKind::Oauth,
        secret: secret(&access),
        refresh: Some(secret(&refresh)),
        expires_at: Some(NOW),
        renewer: Some(Box::new(Renewer::Client(ClientId::parse(CLIENT).unwrap()))),
        cap: Access::Write,
        dial: Dial::Overridden,
    });
    let credential = credential.unwrap();
    let sealed = seal_credential(&credential, &stage.member, &mut UnwrapErr(SysRng)).unwrap();
    let row = ConnectionRow::new(&credential, stage.member.public().id(), NOW, sealed);
    stage.store.insert_connection(&row).unwrap();
    let renewed = stage.present().renew().unwrap();
    assert!(renewed.iter().all(|renewal| renewal.reads_until.is_ok()), "{renewed:?}");
    (stage, provider, row)
}

#[tokio::test]
async fn what_her_bot_renews_waits_for_the_member_and_her_connection_follows() {
    let (stage, provider, row) = connected().await;
    let member = stage.member.public().id();
    for _ in 0..2 {
        let outcome = stage.run("thing.quick_thing", &json!({})).await;
        assert!(outcome.result().is_some() && outcome.rotated.is_none(), "{}", outcome.to_json());
        assert_eq!(stage.store.returned(member).unwrap().len(), 1);
    }
    let taken = stage.present().take_in().unwrap();
    assert_eq!(taken.iter().map(|row| (row.id, row.generation)).collect::<Vec<_>>(), [(row.id, 1)]);
    assert_eq!(stage.store.returned(member).unwrap(), []);
    assert_eq!(stage.store.connection(member, row.id).unwrap().unwrap().generation, 1);
    let outcome = stage.run("thing.quick_thing", &json!({})).await;
    assert!(outcome.result().is_some());
    assert_eq!(provider.refreshes(), 1);
    // Her bot's grant has the newest now, so nothing waits.
    assert_eq!(stage.store.returned(member).unwrap(), []);
    assert!(stage.present().take_in().unwrap().is_empty());
}

#[tokio::test]
async fn a_pair_of_the_family_before_does_not_come_after_a_reconnection() {
    let (stage, provider, row) = connected().await;
    let member = stage.member.public().id();
    stage.run("thing.quick_thing", &json!({})).await;
    // She connects anew, of another family, before she takes in what waits.
    let held = pinhole_grant::open_credential(&row.sealed, &stage.member).unwrap();
    let (access, refresh) = provider.connected(CLIENT);
    let parts = pinhole_grant::open_credential(&row.sealed, &stage.member).unwrap().into_parts();
    let anew = CredentialParts { secret: secret(&access), refresh: Some(secret(&refresh)), ..parts };
    let anew = held.reconnected(anew).unwrap();
    let sealed = seal_credential(&anew, &stage.member, &mut UnwrapErr(SysRng)).unwrap();
    stage.store.replace_connection(&ConnectionRow::new(&anew, member, NOW, sealed)).unwrap();
    assert!(stage.present().take_in().unwrap().is_empty());
    assert_eq!(stage.store.returned(member).unwrap(), []);
    let stored = stage.store.connection(member, row.id).unwrap().unwrap();
    let stored = pinhole_grant::open_credential(&stored.sealed, &stage.member).unwrap();
    assert_eq!(stored.secret().expose(), access);
}

#[tokio::test]
async fn an_approved_write_renews_and_hands_back_as_a_read_does() {
    let (stage, provider, _) = connected().await;
    let args = json!({"text": "a"});
    let id = stage.ask(NOTE, &args).await;
    stage.approve(id).unwrap();
    let outcome = stage.bot.run(call(NOTE, &args)).await;
    assert!(outcome.result().is_some(), "{}", outcome.to_json());
    assert_eq!(provider.refreshes(), 1);
    assert_eq!(stage.store.returned(stage.member.public().id()).unwrap().len(), 1);
}

/// Whoever renews is away.
struct Away;

impl Ask for Away {
    fn ask<'a>(&'a self, _asked: Asked<'a>) -> Asking<'a> {
        let detail = "away".to_owned();
        let away = Unanswered::Away { carried: Carried::Not, retry_after: Some(9), detail };
        Box::pin(std::future::ready(Err(away)))
    }
}

pub(crate) async fn without_a_renewer() -> Provoked {
    let (stage, provider) = staged().await;
    let grant = granted(&stage, &provider, Some(0)).with(|parts| parts.renewer = None).seal();
    let outcome = run(&stage, &grant).await;
    Provoked { stage, outcome }
}

pub(crate) async fn without_a_way_back() -> Provoked {
    let (stage, provider) = staged().await;
    let grant = granted(&stage, &provider, Some(0)).asking(|request| request.return_to = None).seal();
    let outcome = run(&stage, &grant).await;
    Provoked { stage, outcome }
}

pub(crate) async fn with_nobody_there() -> Provoked {
    let (mut stage, provider) = staged().await;
    stage.executor.renewing = Renewing::new(Arc::new(Away));
    let grant = granted(&stage, &provider, Some(0)).seal();
    let outcome = run(&stage, &grant).await;
    assert_eq!(outcome.refusal().unwrap().retry_after, Some(9));
    Provoked { stage, outcome }
}

#[tokio::test]
async fn a_pair_that_is_renewed_in_a_research_session_goes_back_and_is_not_told() {
    let (stage, provider) = staged().await;
    let grant = granted(&stage, &provider, Some(20));
    let held = held(&grant);
    let session = Research::default().open(vec![grant.seal()], &stage.executor, NOW).await.unwrap();
    for _ in 0..2 {
        let called = session.call("thing_plain_thing", serde_json::Map::new(), &stage.executor).await;
        assert!(called.ok, "{}", called.text);
        let outcome = called.outcome.unwrap();
        let back = handed_back(&outcome, &stage, &held);
        for token in [back.secret(), back.refresh().unwrap()] {
            assert!(!forms(token.expose()).iter().any(|form| called.text.contains(form)), "{}", called.text);
        }
        assert!(!called.text.contains("rotated") && !called.text.contains("returned"), "{}", called.text);
    }
    assert_eq!(provider.refreshes(), 1);
}

//! Opening a page token: nobody without the bot's key makes one that opens, none opens for another call, and whatever place
//! stands in one that was sealed, the request that it leads to is one of the op's.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pinhole_grant::page::PAGE_LIFE_SECS;
use pinhole_grant::{
    Account, Credential, CredentialId, CredentialKind, CredentialParts, Dial, GrantId, KeyKind, Label,
    MintRequest, OpenPageError, PageParts, Scope, Secret, SecretKey, SourceName, UnixTime, Where, mint,
    open_page, seal_page,
};
use pinhole_manifest::{Access, ArgName, Digest, OpId, ServiceId};
use pinhole_runtime::catalog::{Catalog, Source};
use pinhole_runtime::clock::FixedClock;
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_runtime::outcome::Code;
use pinhole_runtime::renew::Renewing;
use pinhole_runtime::sandbox::Sandbox;
use pinhole_runtime::store::MemoryStore;
use pinhole_runtime::{CallRequest, Executor, Explained, Retries};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use url::Url;

use crate::stage::{HOUR, NOW, SHELF, action};
use crate::times::TestTimer;
use crate::wires::Canned;

/// The ops with pages, and args of each.
const CALLS: [(&str, &str); 4] = [
    ("linked", r#"{"shelf":"a","page":1,"color":"red"}"#),
    ("cursor", "{}"),
    ("numbered", "{}"),
    ("relay", "{}"),
];

const PREFIX: &str = "pnx1";

struct World {
    executor: Executor,
    /// The member's grant, which narrows nothing, and the one that holds the shelf and the colour fast.
    grants: [Vec<u8>; 2],
    /// What each call is, as tokens name it.
    parts: Vec<PageParts>,
    /// A token of each call.
    tokens: Vec<String>,
    other_bot: SecretKey,
    runtime: tokio::runtime::Runtime,
}

fn rng() -> StdRng {
    StdRng::seed_from_u64(5)
}

impl World {
    fn new() -> Self {
        let key = |kind, seed| SecretKey::generate(kind, &mut StdRng::seed_from_u64(seed));
        let (member, bot) = (key(KeyKind::Member, 1), key(KeyKind::Bot, 2));
        let mut catalog = Catalog::default();
        catalog.add(SHELF.as_bytes(), Source::UnsignedFile).expect("the manifest loads");
        let service = ServiceId::parse("shelf").expect("a service");
        let entry = catalog.find(&service).expect("the manifest");
        let (account, connection) =
            (Account::parse("wren").expect("an account"), CredentialId::random(&mut rng()));
        let credential = Credential::new(CredentialParts {
            id: connection,
            service: service.clone(),
            label: Label::parse("work").expect("a label"),
            account: account.clone(),
            host: entry.manifest.host().clone(),
            token_url: None,
            registry: SourceName::parse(entry.source.name()).expect("a source"),
            kind: CredentialKind::Pat,
            secret: Secret::new("hidden-key".to_owned()).expect("a key"),
            refresh: None,
            expires_at: None,
            renewer: None,
            cap: Access::Read,
            dial: Dial::Overridden,
        })
        .expect("a credential");
        let narrowed = [("shelf", json!("a")), ("color", json!("red"))]
            .map(|(arg, value)| (ArgName::parse(arg).expect("an arg"), vec![value]));
        let grants =
            [Where::default(), Where::new(BTreeMap::from(narrowed)).expect("a narrowing")].map(|wheres| {
                let mut scope = Scope::new(Access::Read, NOW, NOW.plus_secs(HOUR));
                scope.wheres = wheres;
                let request = MintRequest::new(bot.public().clone(), entry.manifest.digest(), scope);
                mint(&request, &credential, &member, NOW, &mut rng()).expect("a grant").into_bytes()
            });
        let parts: Vec<PageParts> = CALLS
            .iter()
            .map(|(op, args)| {
                let op = OpId::parse(op).expect("a name");
                let args = entry.manifest.op(&op).expect("an op").args.parse_text(args).expect("args");
                let whose = (connection, &account);
                let action = action(entry, &op, &args, whose, bot.public().id()).digest().expect("an action");
                let (issuer, grant) = (member.public().id(), GrantId::random(&mut rng()));
                PageParts { issuer, action, grant, principal: None, place: "a place".to_owned() }
            })
            .collect();
        let sealed =
            |parts: &PageParts| seal_page(parts.clone(), &bot, NOW, [9; 12]).expect("a token").to_string();
        Self {
            tokens: parts.iter().map(sealed).collect(),
            parts,
            grants,
            other_bot: key(KeyKind::Bot, 4),
            executor: Executor {
                bot: Arc::new(bot.into()),
                issuers: vec![member.public().clone()],
                catalog,
                store: Arc::new(MemoryStore::default()),
                clock: Box::new(FixedClock(NOW)),
                timer: Box::new(TestTimer::default()),
                entropy: Box::new(SystemEntropy),
                retries: Retries::Never,
                sandbox: Sandbox::default(),
                book: pinhole_runtime::book::Book::default(),
                renewing: Renewing::default(),
                wire: Arc::new(Canned::new("[]")),
            },
            runtime: tokio::runtime::Builder::new_current_thread().build().expect("a runtime"),
        }
    }
}

thread_local! {
    static WORLD: World = World::new();
}

/// The first byte says what the rest is: the text of a token, its bytes, changes to a sound one, or a place that is sealed
/// with the bot's own key. Its high bits choose the call.
pub fn page_token(bytes: &[u8]) {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let call = usize::from(first >> 4) % CALLS.len();
    WORLD.with(|world| match first % 4 {
        0 => outside(world, &String::from_utf8_lossy(rest)),
        1 => outside(world, &format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(rest))),
        2 => outside(world, &altered(&world.tokens[call], rest)),
        _ => placed(world, call, &String::from_utf8_lossy(rest)),
    });
}

/// A token with bytes of it exchanged: each change is two bytes that choose a place, and one that is put there.
fn altered(token: &str, changes: &[u8]) -> String {
    let encoded = token.strip_prefix(PREFIX).expect("a token");
    let mut bytes = URL_SAFE_NO_PAD.decode(encoded).expect("base64url");
    for change in changes.chunks_exact(3) {
        let at = usize::from(u16::from_be_bytes([change[0], change[1]])) % bytes.len();
        bytes[at] ^= change[2];
    }
    format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// What anybody can make opens only if it is one of those that were handed out.
fn outside(world: &World, token: &str) {
    let given = world.tokens.iter().position(|given| given == token);
    let opened = open_page(token, world.executor.bot.current(), NOW);
    assert_eq!(opened.is_ok(), given.is_some(), "{token}");
    assert!(open_page(token, &world.other_bot, NOW).is_err());
    for now in [NOW.plus_secs(-1), NOW.plus_secs(PAGE_LIFE_SECS), UnixTime::from_secs(i64::MIN)] {
        assert!(open_page(token, world.executor.bot.current(), now).is_err());
    }
    for (place, parts) in world.parts.iter().enumerate() {
        let Ok(opened) = open_page(token, world.executor.bot.current(), NOW) else { continue };
        let checked = opened.check(parts.issuer, parts.action, parts.principal);
        let own = given == Some(place);
        let wanted = if own { Ok((parts.grant, parts.place.clone())) } else { Err(OpenPageError::OtherCall) };
        assert_eq!(checked, wanted);
    }
}

/// A place as only the bot's own host seals one, whatever stands in it.
fn placed(world: &World, call: usize, place: &str) {
    let parts = PageParts { place: whole(place), ..world.parts[call].clone() };
    let Ok(token) = seal_page(parts.clone(), world.executor.bot.current(), NOW, [9; 12]) else {
        assert!(parts.place.len() > 1000);
        return;
    };
    let opened = open_page(token.as_str(), world.executor.bot.current(), NOW).expect("what was sealed opens");
    assert_eq!(opened.check(parts.issuer, parts.action, parts.principal), Ok((parts.grant, parts.place)));
    let (op, args) = CALLS[call];
    for grant in &world.grants {
        if op != "linked" && grant == &world.grants[1] {
            continue;
        }
        let (service, op) = (ServiceId::parse("shelf").expect("a service"), OpId::parse(op).expect("a name"));
        let request = CallRequest::new(service, op, args, grant.clone()).with_next(token.as_str());
        match world.runtime.block_on(world.executor.explain(request)) {
            Explained::Refused(refusal) => assert!(
                matches!(
                    refusal.code,
                    Code::PageTokenMalformed
                        | Code::PageTokenMismatch
                        | Code::ArgsOutOfScope
                        | Code::ArgRefused
                ),
                "{refusal:?}"
            ),
            Explained::WouldAsk(explanation) => panic!("a read is asked about: {explanation:?}"),
            Explained::WouldRun(explanation) => {
                let request = explanation.request.as_ref().expect("the op has a request");
                led(call, grant == &world.grants[1], &request.url, request.body.as_ref());
            }
        }
    }
}

/// A place that lacks what is beside it gets it: a fuzzer then need not find a digest.
fn whole(place: &str) -> String {
    match serde_json::from_str::<Value>(place) {
        Ok(at @ Value::Object(_)) if at.get("at").is_none() => {
            json!({"at": at, "number": 2, "mark": Digest::of(b"x").to_string()}).to_string()
        }
        _ => place.to_owned(),
    }
}

/// The request of a further page is the op's.
fn led(call: usize, narrowed: bool, written: &str, body: Option<&Value>) {
    let url = Url::parse(written).expect("a URL");
    assert_eq!(url.as_str(), written, "no reader of URLs changes it");
    assert_eq!((url.scheme(), url.host_str(), url.port()), ("https", Some("api.shelf.dev"), None));
    let segments: Vec<&str> = url.path_segments().expect("a path").collect();
    let of = |key: &str| -> Vec<String> {
        url.query_pairs().filter(|(name, _)| name == key).map(|(_, value)| value.into_owned()).collect()
    };
    match call {
        0 => {
            assert!(
                matches!(segments.as_slice(), ["shelves", "a", "things"] | ["shelf", _, "things"]),
                "{written}"
            );
            assert!(!pinhole_manifest::model::is_dot_segment(segments[1]) && !segments[1].is_empty());
            assert_eq!(of("kind"), ["plain"]);
            assert!(of("_method").is_empty());
            assert!(!narrowed || of("color") == ["red"], "{written}");
            // At most one of the op's own is another.
            let kept = [("color", "red"), ("page", "1"), ("size", "2")];
            assert!(kept.iter().filter(|(key, value)| of(key) != [*value]).count() <= 1, "{written}");
        }
        1 => assert_eq!((segments, of("size"), of("after").len()), (vec!["cursor"], vec!["2".to_owned()], 1)),
        2 => assert_eq!((segments, of("page").len()), (vec!["numbered"], 1)),
        _ => {
            assert_eq!((segments, url.query()), (vec!["graphql"], None));
            let variables = &body.expect("a body")["variables"];
            assert!(variables["after"].is_string() && variables["size"] == 2, "{variables}");
        }
    }
}

/// Sound inputs of each kind, named.
pub fn page_token_seeds() -> Vec<(String, Vec<u8>)> {
    let mut seeds = Vec::new();
    WORLD.with(|world| {
        for (call, token) in (0_u8..).zip(&world.tokens) {
            let kind = |kind: u8| call << 4 | kind;
            let bytes =
                URL_SAFE_NO_PAD.decode(token.strip_prefix(PREFIX).expect("a token")).expect("base64url");
            seeds.push((format!("text_{call}"), [&[kind(0)], token.as_bytes()].concat()));
            seeds.push((format!("bytes_{call}"), [&[kind(1)], bytes.as_slice()].concat()));
            seeds.push((format!("changes_{call}"), vec![kind(2), 0, 0, 1, 0, 40, 0x80]));
        }
    });
    let places = [
        r#"{"link":"/shelf/7/things?page=2"}"#,
        r#"{"link":"/shelves/a/things?page=2&color=red&after=x%2F"}"#,
        r#"{"link":"/shelf/%2e%2e/things?color=blue"}"#,
        r#"{"cursor":"x&y=z"}"#,
        r#"{"page":3}"#,
        r#"{"relay":"\u0000\"after"}"#,
    ];
    for (number, place) in places.iter().enumerate() {
        for call in 0..4_u8 {
            seeds.push((format!("place_{call}_{number}"), [&[call << 4 | 3], place.as_bytes()].concat()));
        }
    }
    seeds
}

//! Opening a grant: nobody without the member's key makes one that opens, whichever layer is attacked; and one that the
//! member signed opens only within every rule.

use std::num::NonZeroU32;

use pinhole_grant::{
    Account, Credential, CredentialId, CredentialKind, CredentialParts, Dial, GrantId, InspectError, KeyKind,
    Kind, Label, MintRequest, OpenError, PublicKey, Scope, Secret, SecretKey, SourceName, Standing, UnixTime,
    inspect, mint, open, open_credential, seal, seal_credential, sign,
};
use pinhole_manifest::host::HttpsUrl;
use pinhole_manifest::{Access, ApiHost, Digest, OpId, ServiceId};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::Value;

use crate::stage::{HOUR, NOW};

/// Longest life of a grant, in seconds: DESIGN, "Crypto": Grant.
const LIFE_SECS_MAX: [(Access, i64); 2] = [(Access::Read, 90 * 24 * HOUR), (Access::Write, 24 * HOUR)];

struct Keys {
    member: SecretKey,
    bot: SecretKey,
    stranger: SecretKey,
    other_bot: SecretKey,
    /// Those that a grant is accepted from here; the second is no member.
    issuers: Vec<PublicKey>,
    /// The one grant that the member gave.
    given: Vec<u8>,
    given_id: GrantId,
    payload: Vec<u8>,
}

impl Keys {
    fn new() -> Self {
        let key = |kind, seed| SecretKey::generate(kind, &mut StdRng::seed_from_u64(seed));
        let (member, bot) = (key(KeyKind::Member, 1), key(KeyKind::Bot, 2));
        let (stranger, other_bot) = (key(KeyKind::Member, 3), key(KeyKind::Bot, 4));
        let scope = Scope::new(Access::Write, NOW, NOW.plus_secs(HOUR))
            .with_ops([OpId::parse("create_issue").expect("a name")])
            .with_uses(NonZeroU32::MIN);
        let request = MintRequest::new(bot.public().clone(), Digest::of(b"a manifest"), scope)
            .returning_to(member.public().clone());
        let given = mint(&request, &credential(), &member, NOW, &mut rng()).expect("a grant");
        let issuers = vec![member.public().clone(), other_bot.public().clone()];
        let signed = seal::open(Kind::Grant, given.as_bytes(), &bot).expect("the bot's grant");
        let payload = sign::verify(Kind::Grant, &signed, &issuers).expect("the member's").payload().to_vec();
        Self {
            given_id: given.id(),
            given: given.into_bytes(),
            payload,
            member,
            bot,
            stranger,
            other_bot,
            issuers,
        }
    }
}

fn rng() -> StdRng {
    StdRng::seed_from_u64(5)
}

fn credential() -> Credential {
    let parts = CredentialParts {
        id: CredentialId::random(&mut rng()),
        service: ServiceId::parse("github").expect("a service"),
        label: Label::parse("work").expect("a label"),
        account: Account::parse("wren").expect("an account"),
        host: ApiHost::parse("api.github.com").expect("a host"),
        token_url: Some(HttpsUrl::parse("https://github.com/login/oauth/access_token").expect("a URL")),
        registry: SourceName::parse("compiled-in").expect("a source"),
        kind: CredentialKind::Oauth,
        secret: Secret::new("hidden-access-token".to_owned()).expect("a secret"),
        refresh: Some(Secret::new("hidden-refresh-token".to_owned()).expect("a secret")),
        expires_at: Some(NOW.plus_secs(HOUR)),
        renewer: None,
        cap: Access::Write,
        dial: Dial::Real,
    };
    Credential::new(parts).expect("a credential")
}

thread_local! {
    static KEYS: Keys = Keys::new();
}

/// The first byte says what the rest is: an envelope, what is sealed in one, a payload that the member signed, one that a
/// stranger or another bot signed, a credential's payload, the text of a public key, or changes to the one sound payload,
/// divided by bytes of 0xFF, which the member then signs.
pub fn grant(bytes: &[u8]) {
    let Some((&first, rest)) = bytes.split_first() else { return };
    KEYS.with(|keys| match first % 8 {
        0 => outside(keys, rest),
        1 => {
            let Ok(envelope) = seal::seal(Kind::Grant, keys.bot.public(), rest, &mut rng()) else { return };
            outside(keys, &envelope);
        }
        2 => signed_by_the_member(keys, rest),
        3 => not_by_a_member(keys, rest, &keys.stranger),
        4 => not_by_a_member(keys, rest, &keys.other_bot),
        5 => kept(keys, rest),
        6 => public_key(rest),
        _ => signed_by_the_member(keys, &altered(keys, rest)),
    });
}

/// What anybody can make opens only if it is the one grant that the member gave.
fn outside(keys: &Keys, envelope: &[u8]) {
    let opened = open(envelope, &keys.bot, &keys.issuers, NOW);
    let inspected = inspect(envelope, &keys.bot, &keys.issuers);
    match opened {
        Ok(opened) => {
            assert_eq!(opened.grant().id(), keys.given_id);
            assert_eq!(inspected.map(|inspection| inspection.standing), Ok(Standing::Good));
        }
        Err(_) => assert!(!inspected.is_ok_and(|inspection| inspection.standing == Standing::Good)),
    }
    assert!(open(envelope, &keys.other_bot, &keys.issuers, NOW).is_err());
}

/// The members of the sound payload, and some that it has not.
const MEMBERS: [&str; 34] = [
    "/id",
    "/issuer",
    "/bot",
    "/connection",
    "/account",
    "/service",
    "/host",
    "/manifest",
    "/access",
    "/ops",
    "/where",
    "/iat",
    "/not_before",
    "/expires_at",
    "/uses",
    "/credential",
    "/return_to",
    "/approves",
    "/other",
    "/credential/id",
    "/credential/gen",
    "/credential/service",
    "/credential/label",
    "/credential/account",
    "/credential/host",
    "/credential/token_url",
    "/credential/registry",
    "/credential/kind",
    "/credential/secret",
    "/credential/refresh",
    "/credential/expires_at",
    "/credential/cap",
    "/credential/dial",
    "/credential/other",
];

/// The sound payload with changes: a byte that names a member, one that says how, and what is put there.
fn altered(keys: &Keys, changes: &[u8]) -> Vec<u8> {
    let mut payload: Value = serde_json::from_slice(&keys.payload).expect("JSON");
    for change in changes.split(|byte| *byte == 0xff) {
        let Some((&[member, how], put)) = change.split_first_chunk::<2>() else { continue };
        let pointer = MEMBERS[usize::from(member) % MEMBERS.len()];
        let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
        let Some(parent) = payload.pointer_mut(parent).and_then(Value::as_object_mut) else { continue };
        let text = String::from_utf8_lossy(put).into_owned();
        let value = match how % 4 {
            0 => serde_json::from_str(&text).unwrap_or(Value::Null),
            1 => Value::String(text),
            // Seconds around the time of opening, where the rules of time are.
            2 => put.iter().fold(NOW.as_secs(), |secs, byte| secs + i64::from(*byte).pow(3) - 50_000).into(),
            _ => {
                parent.remove(name);
                continue;
            }
        };
        parent.insert(name.to_owned(), value);
    }
    payload.to_string().into_bytes()
}

/// Any payload, signed by a key and sealed to the bot as a grant.
fn sealed(keys: &Keys, payload: &[u8], by: &SecretKey) -> Option<Vec<u8>> {
    let signed = sign::sign(Kind::Grant, payload, by).ok()?;
    Some(
        seal::seal(Kind::Grant, keys.bot.public(), &signed, &mut rng())
            .expect("what fits a signature fits a seal"),
    )
}

fn not_by_a_member(keys: &Keys, payload: &[u8], by: &SecretKey) {
    let Some(envelope) = sealed(keys, payload, by) else { return };
    assert_eq!(open(&envelope, &keys.bot, &keys.issuers, NOW).err(), Some(OpenError::UnknownIssuer));
    if let Ok(inspection) = inspect(&envelope, &keys.bot, &keys.issuers) {
        assert_eq!(inspection.standing, Standing::UnknownIssuer);
    }
}

fn signed_by_the_member(keys: &Keys, payload: &[u8]) {
    let Some(envelope) = sealed(keys, payload, &keys.member) else { return };
    let opened = open(&envelope, &keys.bot, &keys.issuers, NOW);
    let inspected = inspect(&envelope, &keys.bot, &keys.issuers);
    let standing = inspected.as_ref().map(|inspection| inspection.standing);
    match &opened {
        Ok(_) | Err(OpenError::NotYetValid | OpenError::Expired) => assert_eq!(standing, Ok(Standing::Good)),
        Err(OpenError::Malformed) => assert_eq!(standing, Err(&InspectError::Malformed)),
        Err(_) => assert_eq!(standing, Ok(Standing::Unsound)),
    }
    let Ok(opened) = opened else { return };
    let (grant, scope) = (opened.grant(), opened.grant().scope());
    assert_eq!((grant.issuer(), grant.bot()), (keys.member.public().id(), keys.bot.public().id()));
    let credential = grant.credential();
    assert_eq!(
        (grant.connection(), grant.account(), grant.service(), grant.host()),
        (credential.id(), credential.account(), credential.service(), credential.host())
    );
    assert!(credential.cap().covers(grant.access()));
    assert!(NOW < scope.expires_at && scope.not_before <= NOW.plus_secs(60));
    let longest =
        LIFE_SECS_MAX.into_iter().find(|(access, _)| *access == grant.access()).map(|(_, secs)| secs);
    assert!(scope.expires_at.secs_since(grant.issued_at()) <= longest);
    assert!(grant.access() == Access::Read || scope.uses.is_some());
    assert!(grant.approves().is_none() || scope.uses == Some(NonZeroU32::MIN));
    let never = UnixTime::from_secs(i64::MAX);
    assert_eq!(open(&envelope, &keys.bot, &keys.issuers, never).err(), Some(OpenError::Expired));
    assert_eq!(open(&envelope, &keys.other_bot, &keys.issuers, NOW).err(), Some(OpenError::WrongBot));
    secret_stays(&format!("{opened:?}"), credential);
}

/// A secret that is no part of anything else is not in a text.
fn secret_stays(text: &str, credential: &Credential) {
    for secret in [Some(credential.secret()), credential.refresh()].into_iter().flatten() {
        let secret = secret.expose();
        assert!(!(secret.starts_with("hidden-") && text.contains(secret)));
    }
}

/// A credential that is opened, sealed and opened again is the same.
fn kept(keys: &Keys, payload: &[u8]) {
    let Ok(signed) = sign::sign(Kind::Credential, payload, &keys.member) else { return };
    let member = keys.member.public();
    let envelope = seal::seal(Kind::Credential, member, &signed, &mut rng()).expect("what fits a signature");
    assert!(open(&envelope, &keys.bot, &keys.issuers, NOW).is_err());
    let Ok(credential) = open_credential(&envelope, &keys.member) else { return };
    secret_stays(&format!("{credential:?}"), &credential);
    let Ok(again) = seal_credential(&credential, &keys.member, &mut rng()) else { return };
    let again = open_credential(&again, &keys.member).expect("what was sealed opens");
    assert_eq!(format!("{again:?}"), format!("{credential:?}"));
    assert_eq!(again.secret().expose(), credential.secret().expose());
    assert_eq!(again.refresh().map(Secret::expose), credential.refresh().map(Secret::expose));
}

/// A key has one text.
fn public_key(text: &[u8]) {
    let Some(text) = std::str::from_utf8(text).ok() else { return };
    if let Ok(key) = text.parse::<PublicKey>() {
        assert_eq!(key.to_string(), text);
    }
}

/// One sound input of each kind, named.
pub fn grant_seeds() -> Vec<(String, Vec<u8>)> {
    KEYS.with(|keys| {
        let signed = seal::open(Kind::Grant, &keys.given, &keys.bot).expect("the grant");
        let credential = seal_credential(&credential(), &keys.member, &mut rng()).expect("a credential");
        let credential = seal::open(Kind::Credential, &credential, &keys.member).expect("the member's");
        let credential = sign::verify(Kind::Credential, &credential, &keys.issuers).expect("the member's");
        let text = keys.bot.public().to_string();
        // Expires elsewhen, covers another op, says nothing of uses.
        let changes = b"\x0d\x02zz\xff\x09\x00[\"get_repo\"]\xff\x0e\x03".as_slice();
        let parts: [&[u8]; 8] = [
            &keys.given,
            &signed,
            &keys.payload,
            &keys.payload,
            &keys.payload,
            credential.payload(),
            text.as_bytes(),
            changes,
        ];
        (0_u8..).zip(parts).map(|(kind, part)| (format!("sound_{kind}"), [&[kind], part].concat())).collect()
    })
}

//! Keys, credentials and grants for the tests, a forger's tools, and where the outside data is.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::PathBuf;

use pinhole_grant::{
    Account, ClientId, Credential, CredentialId, CredentialKind, CredentialParts, Dial, KeyKind, Kind, Label,
    MintRequest, PublicKey, Renewer, Scope, Secret, SecretKey, SourceName, UnixTime, mint, seal, sign,
};
use pinhole_manifest::host::HttpsUrl;
use pinhole_manifest::{Access, ApiHost, Digest, OpId, ServiceId};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::Value;

pub(crate) const NOW: UnixTime = UnixTime::from_secs(1_800_000_000);
pub(crate) const HOUR: i64 = 3600;
pub(crate) const DAY: i64 = 24 * HOUR;
pub(crate) const TOKEN: &str = "ghp_0123456789abcdefSECRET";
pub(crate) const REFRESH: &str = "ghr_fedcba9876543210SECRET";

pub(crate) fn rng(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

pub(crate) fn member() -> SecretKey {
    SecretKey::generate(KeyKind::Member, &mut rng(1))
}

pub(crate) fn bot() -> SecretKey {
    SecretKey::generate(KeyKind::Bot, &mut rng(2))
}

pub(crate) fn other_member() -> SecretKey {
    SecretKey::generate(KeyKind::Member, &mut rng(3))
}

pub(crate) fn other_bot() -> SecretKey {
    SecretKey::generate(KeyKind::Bot, &mut rng(4))
}

pub(crate) fn publics(keys: &[&SecretKey]) -> Vec<PublicKey> {
    keys.iter().map(|key| key.public().clone()).collect()
}

pub(crate) fn secret(text: &str) -> Secret {
    Secret::new(text.to_owned()).unwrap()
}

pub(crate) fn op(name: &str) -> OpId {
    OpId::parse(name).unwrap()
}

pub(crate) fn ops(names: &[&str]) -> BTreeSet<OpId> {
    names.iter().map(|name| op(name)).collect()
}

pub(crate) fn github() -> ServiceId {
    ServiceId::parse("github").unwrap()
}

pub(crate) fn host() -> ApiHost {
    ApiHost::parse("api.github.com").unwrap()
}

pub(crate) fn manifest() -> Digest {
    Digest::of(b"a manifest")
}

pub(crate) fn times(uses: u32) -> NonZeroU32 {
    NonZeroU32::new(uses).unwrap()
}

pub(crate) fn pat_parts() -> CredentialParts {
    CredentialParts {
        id: CredentialId::random(&mut rng(5)),
        service: github(),
        label: Label::parse("work").unwrap(),
        account: Account::parse("octocat").unwrap(),
        host: host(),
        token_url: None,
        registry: SourceName::parse("compiled-in").unwrap(),
        kind: CredentialKind::Pat,
        secret: secret(TOKEN),
        refresh: None,
        expires_at: None,
        renewer: None,
        cap: Access::Write,
        dial: Dial::Real,
    }
}

pub(crate) fn oauth_parts() -> CredentialParts {
    CredentialParts {
        kind: CredentialKind::Oauth,
        token_url: Some(HttpsUrl::parse("https://github.com/login/oauth/access_token").unwrap()),
        refresh: Some(secret(REFRESH)),
        expires_at: Some(NOW.plus_secs(HOUR)),
        renewer: Some(Box::new(Renewer::Client(ClientId::parse("Iv1.8a61f9b3a7aba766").unwrap()))),
        ..pat_parts()
    }
}

/// A pair that a broker renews.
pub(crate) fn brokered_parts() -> CredentialParts {
    let url = HttpsUrl::parse("https://broker.pinhole.dev/oauth").unwrap();
    CredentialParts {
        renewer: Some(Box::new(Renewer::Broker { url, key: other_member().public().clone() })),
        ..oauth_parts()
    }
}

pub(crate) fn credential() -> Credential {
    Credential::new(pat_parts()).unwrap()
}

pub(crate) fn read_scope() -> Scope {
    Scope::new(Access::Read, NOW, NOW.plus_secs(HOUR))
}

pub(crate) fn write_scope() -> Scope {
    Scope::new(Access::Write, NOW, NOW.plus_secs(HOUR)).with_uses(times(3))
}

pub(crate) fn request(scope: Scope) -> MintRequest {
    MintRequest::new(bot().public().clone(), manifest(), scope)
}

/// A grant of this scope for `bot`, from `member`, over `credential`.
pub(crate) fn minted(request: &MintRequest) -> Vec<u8> {
    mint(request, &credential(), &member(), NOW, &mut rng(6)).unwrap().into_bytes()
}

pub(crate) fn payload_of(envelope: &[u8]) -> Value {
    let signed = seal::open(Kind::Grant, envelope, &bot()).unwrap();
    let keys = publics(&[&member()]);
    serde_json::from_slice(sign::verify(Kind::Grant, &signed, &keys).unwrap().payload()).unwrap()
}

/// What a member with a program of her own could make: any payload, signed as a grant and sealed to `bot`.
pub(crate) fn forged(payload: &[u8]) -> Vec<u8> {
    forged_by(payload, &member())
}

pub(crate) fn forged_by(payload: &[u8], key: &SecretKey) -> Vec<u8> {
    let signed = sign::sign(Kind::Grant, payload, key).unwrap();
    seal::seal(Kind::Grant, bot().public(), &signed, &mut rng(7)).unwrap()
}

/// A valid grant with one member of its payload set (or, with `Null`, removed).
pub(crate) fn altered(request: &MintRequest, pointer: &str, value: Value) -> Vec<u8> {
    let mut payload = payload_of(&minted(request));
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = payload.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    if value.is_null() {
        assert!(parent.remove(name).is_some(), "nothing at {pointer}");
    } else {
        parent.insert(name.to_owned(), value);
    }
    forged(&serde_json::to_vec(&payload).unwrap())
}

/// The folder of outside data, or a loud word that the test was skipped; in CI its absence is a failure.
#[expect(clippy::disallowed_methods, reason = "tests are told by the environment where outside data is")]
pub(crate) fn outside(test: &str, path: &str) -> Option<PathBuf> {
    let beside = || {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?.to_path_buf();
        Some(root.parent()?.join("shared"))
    };
    let folder = std::env::var_os("PINHOLE_SHARED").map(PathBuf::from).or_else(beside)?;
    let path = folder.join(path);
    if path.exists() {
        return Some(path);
    }
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{test}: {} is not there", path.display());
    eprintln!("SKIPPED: {test}: {} is not there", path.display());
    None
}

pub(crate) fn outside_json(test: &str, path: &str) -> Option<Value> {
    outside(test, path).map(|path| serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
}

pub(crate) fn hex(value: &Value) -> Vec<u8> {
    let digits = value.as_str().unwrap().as_bytes();
    assert!(digits.len().is_multiple_of(2));
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

/// Every single-bit change of every byte.
pub(crate) fn flipped(bytes: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> + '_ {
    (0..bytes.len() * 8).map(|bit| {
        let mut other = bytes.to_vec();
        other[bit / 8] ^= 1 << (bit % 8);
        (bit, other)
    })
}

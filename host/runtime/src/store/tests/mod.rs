//! What holds for any store: one suite of checks, run by each store's own tests on a database of its kind, and what they
//! are made of.

mod another;
mod rows;
mod suite;

use std::num::NonZeroU32;
use std::sync::Arc;

use pinhole_grant::{
    Account, Action, Credential, CredentialId, CredentialKind, CredentialParts, Dial, GrantId, KeyId,
    KeyKind, Label, PrincipalId, Secret, SecretKey, SourceName, UnixTime,
};
use pinhole_manifest::model::Args;
use pinhole_manifest::{Access, ApiHost, Digest, Manifest, OpId, ServiceId};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};

pub(crate) use another::Another;
pub(crate) use suite::*;

use super::{
    ConnectionRow, Desk, GrantRow, NewQuestion, Party, Question, QuestionId, RaiseError, TokenRow, TokenScope,
};

/// One database, on which any number of stores are opened.
pub(crate) trait Bench: Sync {
    /// Opens the database once more.
    fn store(&self) -> Arc<dyn Desk>;

    /// An empty store; what [`Bench::store`] opens may be emptied for it.
    fn empty(&self) -> Arc<dyn Desk>;

    /// Where it is: what [`Another`] is told.
    fn place(&self) -> String;

    /// Changes rows behind the store's back; whether the tables let it.
    fn change(&self, sql: &str) -> bool;

    /// The one value of the one row that this selects, as text.
    fn value(&self, select: &str) -> Option<String>;

    /// Looks for damage.
    fn check(&self);
}

pub(crate) const NOW: UnixTime = UnixTime::from_secs(1_800_000_000);
pub(crate) const HOUR: i64 = 3_600;
/// Stands for a sealed credential.
pub(crate) const SEALED: &[u8] = b"what stands for a sealed credential";

pub(crate) fn rng(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

pub(crate) fn grant_id(seed: u64) -> GrantId {
    GrantId::random(&mut rng(seed))
}

pub(crate) fn question_id(seed: u64) -> QuestionId {
    QuestionId::random(&mut rng(seed))
}

pub(crate) fn uses(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}

pub(crate) fn key(kind: KeyKind, seed: u64) -> SecretKey {
    SecretKey::generate(kind, &mut rng(seed))
}

pub(crate) fn the_bot() -> Party {
    Party::Bot(bot(), None)
}

pub(crate) fn member() -> KeyId {
    key(KeyKind::Member, 1).public().id()
}

pub(crate) fn bot() -> KeyId {
    key(KeyKind::Bot, 2).public().id()
}

pub(crate) fn somebody_else() -> KeyId {
    key(KeyKind::Member, 3).public().id()
}

pub(crate) fn service(name: &str) -> ServiceId {
    ServiceId::parse(name).unwrap()
}

pub(crate) fn credential(seed: u64, label: &str) -> Credential {
    Credential::new(CredentialParts {
        id: CredentialId::random(&mut rng(seed)),
        service: service("github"),
        label: Label::parse(label).unwrap(),
        account: Account::parse("wren").unwrap(),
        host: ApiHost::parse("api.github.com").unwrap(),
        token_url: None,
        registry: SourceName::parse("compiled-in").unwrap(),
        kind: CredentialKind::Pat,
        secret: Secret::new("ghp_SecretOfTheStoreTests".to_owned()).unwrap(),
        refresh: None,
        expires_at: None,
        renewer: None,
        cap: Access::Write,
        dial: Dial::Real,
    })
    .unwrap()
}

pub(crate) fn connection(seed: u64, label: &str) -> ConnectionRow {
    ConnectionRow::new(&credential(seed, label), member(), NOW, SEALED.to_vec())
}

pub(crate) fn grant(seed: u64, connection: &ConnectionRow) -> GrantRow {
    GrantRow {
        id: grant_id(seed),
        member: member(),
        bot: bot(),
        connection: connection.id,
        service: connection.service.clone(),
        access: Access::Read,
        expires_at: NOW.plus_secs(HOUR),
        sealed: vec![4, 5, 6],
    }
}

pub(crate) fn manifest() -> Manifest {
    let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../manifests/github/manifest.json"));
    pinhole_manifest::read(bytes).into_result().unwrap()
}

/// What an issue of this title would be.
pub(crate) struct Asked {
    pub(crate) service: ServiceId,
    pub(crate) op: OpId,
    pub(crate) args: Args,
    pub(crate) manifest: Digest,
    pub(crate) connection: CredentialId,
    pub(crate) account: Account,
    pub(crate) found: Value,
}

impl Asked {
    pub(crate) fn new(title: &str) -> Self {
        let manifest = manifest();
        let op = OpId::parse("create_issue").unwrap();
        let args = json!({"owner": "wren", "repo": "nest", "title": title}).to_string();
        Self {
            args: manifest.op(&op).unwrap().args.parse_text(&args).unwrap(),
            service: manifest.id().clone(),
            manifest: manifest.digest(),
            connection: CredentialId::random(&mut rng(7)),
            account: Account::parse("wren").unwrap(),
            found: json!([{"path": "$.archived", "found": false}]),
            op,
        }
    }

    pub(crate) fn action(&self, bot: KeyId) -> Action<'_> {
        let Self { service, op, args, account, .. } = self;
        Action { service, op, args, manifest: self.manifest, connection: self.connection, account, bot }
    }

    /// Raised for an hour.
    pub(crate) fn new_question(&self, id: QuestionId, now: UnixTime) -> NewQuestion<'_> {
        let action = self.action(bot());
        let found = &self.found;
        NewQuestion {
            id,
            member: member(),
            principal: None,
            action,
            found,
            raised_at: now,
            expires_at: now.plus_secs(HOUR),
        }
    }

    pub(crate) fn raise(&self, store: &dyn Desk, seed: u64, now: UnixTime) -> Result<Question, RaiseError> {
        store.raise(&self.new_question(question_id(seed), now))
    }
}

/// A store with a connection in it, and a grant of it.
pub(crate) fn furnished(store: &dyn Desk) -> (ConnectionRow, GrantRow) {
    let connection = connection(7, "work");
    store.insert_connection(&connection).unwrap();
    let grant = grant(8, &connection);
    store.put_grant(&grant).unwrap();
    (connection, grant)
}

pub(crate) fn token(seed: u64, name: &str) -> TokenRow {
    TokenRow {
        id: PrincipalId::random(&mut rng(seed)),
        member: member(),
        name: Label::parse(name).unwrap(),
        digest: Digest::of(&seed.to_be_bytes()),
        scope: TokenScope::new([Access::Read], None).unwrap(),
        created_at: NOW,
        expires_at: NOW.plus_secs(HOUR),
        revoked_at: None,
    }
}

//! The SQLite store: exact over threads, processes and kills; what is wrong with a database is named, and nothing changes.

mod doors;
mod earlier;
mod faults;
mod kept;
mod locks;
mod looks;
mod model;
mod processes;
mod questions;
mod receipts;
mod renewals;
mod spine;
mod tokens;
mod versions;

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use pinhole_grant::{
    Account, Action, Credential, CredentialId, CredentialKind, CredentialParts, Dial, GrantId, KeyId,
    KeyKind, Label, Secret, SecretKey, SourceName, UnixTime,
};
use pinhole_manifest::model::Args;
use pinhole_manifest::{Access, ApiHost, Digest, Manifest, OpId, ServiceId};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::SqliteStore;
use crate::store::{
    ConnectionRow, Connections as _, GrantRow, NewQuestion, Party, Question, QuestionId, Questions as _,
    RaiseError,
};

const NOW: UnixTime = UnixTime::from_secs(1_800_000_000);
const HOUR: i64 = 3_600;
/// Stands for a sealed credential.
const SEALED: &[u8] = b"what stands for a sealed credential";

fn rng(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

fn grant_id(seed: u64) -> GrantId {
    GrantId::random(&mut rng(seed))
}

fn question_id(seed: u64) -> QuestionId {
    QuestionId::random(&mut rng(seed))
}

fn uses(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}

fn key(kind: KeyKind, seed: u64) -> SecretKey {
    SecretKey::generate(kind, &mut rng(seed))
}

fn the_bot() -> Party {
    Party::Bot(bot(), None)
}

fn member() -> KeyId {
    key(KeyKind::Member, 1).public().id()
}

fn bot() -> KeyId {
    key(KeyKind::Bot, 2).public().id()
}

fn somebody_else() -> KeyId {
    key(KeyKind::Member, 3).public().id()
}

/// A folder of the test's own, and the database in it.
struct Disk {
    folder: TempDir,
}

impl Disk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join(super::DATABASE)
    }

    fn store(&self) -> SqliteStore {
        SqliteStore::open(&self.path()).unwrap()
    }

    /// The database as anybody with SQLite sees it.
    fn raw(&self) -> rusqlite::Connection {
        raw(&self.path())
    }
}

fn raw(path: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(path).unwrap()
}

fn service(name: &str) -> ServiceId {
    ServiceId::parse(name).unwrap()
}

fn credential(seed: u64, label: &str) -> Credential {
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

fn connection(seed: u64, label: &str) -> ConnectionRow {
    ConnectionRow::new(&credential(seed, label), member(), NOW, SEALED.to_vec())
}

fn grant(seed: u64, connection: &ConnectionRow) -> GrantRow {
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

fn manifest() -> Manifest {
    let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../manifests/github/manifest.json"));
    pinhole_manifest::read(bytes).into_result().unwrap()
}

/// What an issue of this title would be.
struct Asked {
    service: ServiceId,
    op: OpId,
    args: Args,
    manifest: Digest,
    connection: CredentialId,
    account: Account,
    found: Value,
}

impl Asked {
    fn new(title: &str) -> Self {
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

    fn action(&self, bot: KeyId) -> Action<'_> {
        let Self { service, op, args, account, .. } = self;
        Action { service, op, args, manifest: self.manifest, connection: self.connection, account, bot }
    }

    /// Raised for an hour.
    fn new_question(&self, id: QuestionId, now: UnixTime) -> NewQuestion<'_> {
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

    fn raise(&self, store: &SqliteStore, seed: u64, now: UnixTime) -> Result<Question, RaiseError> {
        store.raise(&self.new_question(question_id(seed), now))
    }
}

/// A store with a connection in it, and a grant of it.
fn furnished(store: &SqliteStore) -> (ConnectionRow, GrantRow) {
    use crate::store::Grants as _;
    let connection = connection(7, "work");
    store.insert_connection(&connection).unwrap();
    let grant = grant(8, &connection);
    store.put_grant(&grant).unwrap();
    (connection, grant)
}

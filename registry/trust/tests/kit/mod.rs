//! A forge of registries: an honest one by default, every byte of which a test can have otherwise.

#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    clippy::allow_attributes,
    reason = "each test uses its part of the forge"
)]

mod keys;
mod manifests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use pinhole_registry::client::{Fetch, FetchError, Fetching, RemotePath};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

pub use keys::{Key, canonical, signed};
pub use manifests::{manifest, manifest_with_module};

/// The time at which the tests are.
pub fn now() -> Timestamp {
    "2026-11-30T12:00:00Z".parse().unwrap()
}

pub fn days(days: i64) -> SignedDuration {
    SignedDuration::from_hours(24 * days)
}

pub fn in_days(n: i64) -> Timestamp {
    now() + days(n)
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The keys of a role, how many must sign, and which of them do.
#[derive(Clone)]
pub struct Role {
    pub keys: Vec<Key>,
    pub threshold: u64,
    pub signers: Vec<Key>,
    pub version: u64,
    pub expires: Timestamp,
}

impl Role {
    fn new(seed: u8, expires: i64) -> Self {
        let keys = vec![Key::new(seed)];
        Self { signers: keys.clone(), keys, threshold: 1, version: 1, expires: in_days(expires) }
    }

    /// Takes other keys, all of which sign.
    pub fn rekey(&mut self, seeds: &[u8], threshold: u64) {
        self.keys = seeds.iter().map(|seed| Key::new(*seed)).collect();
        self.signers = self.keys.clone();
        self.threshold = threshold;
    }
}

/// What a forged registry does before it answers.
pub type Hook = Arc<dyn Fn(&str) + Send + Sync>;

/// A registry in memory.
#[derive(Clone)]
pub struct Forge {
    pub root: Role,
    pub timestamp: Role,
    pub snapshot: Role,
    pub targets: Role,
    /// By name, as they are to be published.
    pub content: BTreeMap<String, Vec<u8>>,
    /// What is served, by path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// What was asked for.
    pub asked: Arc<Mutex<Vec<String>>>,
    /// Changes what a role says before it is signed.
    pub twist: Option<fn(&str, &mut Value)>,
    /// Paths that answer with bytes without end.
    pub endless: BTreeSet<String>,
    pub hook: Option<Hook>,
    /// Whether metadata is listed with length and hash.
    pub sealed: bool,
}

impl Forge {
    /// An honest registry of one service, published.
    pub fn honest() -> Self {
        let mut forge = Self::empty();
        forge.content.insert("shelf.json".into(), manifest("shelf", "1.0.0", &["id"]));
        forge.write_root();
        forge.write();
        forge
    }

    pub fn empty() -> Self {
        Self {
            root: Role::new(1, 365),
            timestamp: Role::new(2, 7),
            snapshot: Role::new(3, 30),
            targets: Role::new(4, 90),
            content: BTreeMap::new(),
            files: BTreeMap::new(),
            asked: Arc::default(),
            twist: None,
            endless: BTreeSet::new(),
            hook: None,
            sealed: true,
        }
    }

    pub fn root_bytes(&self) -> Vec<u8> {
        self.files["metadata/1.root.json"].clone()
    }

    fn twisted(&self, role: &str, mut signed: Value) -> Value {
        if let Some(twist) = self.twist {
            twist(role, &mut signed);
        }
        signed
    }

    pub fn root_value(&self) -> Value {
        let mut keys = serde_json::Map::new();
        let mut roles = serde_json::Map::new();
        for (name, role) in self.roles() {
            keys.extend(role.keys.iter().map(|key| (key.id(), key.json())));
            let ids: Vec<_> = role.keys.iter().map(Key::id).collect();
            roles.insert(name.into(), json!({"keyids": ids, "threshold": role.threshold}));
        }
        let head = head("root", &self.root);
        let value = merged(head, json!({"consistent_snapshot": true, "keys": keys, "roles": roles}));
        self.twisted("root", value)
    }

    fn roles(&self) -> [(&'static str, &Role); 4] {
        [
            ("root", &self.root),
            ("timestamp", &self.timestamp),
            ("snapshot", &self.snapshot),
            ("targets", &self.targets),
        ]
    }

    /// Publishes the root as it is now.
    pub fn write_root(&mut self) {
        let bytes = signed(&self.root_value(), &self.root.signers);
        self.files.insert(format!("metadata/{}.root.json", self.root.version), bytes);
    }

    /// Publishes the next root, signed by the signers before and now.
    pub fn rotate(&mut self, change: impl FnOnce(&mut Self)) {
        let before = self.root.signers.clone();
        self.root.version += 1;
        change(self);
        let mut signers = self.root.signers.clone();
        let ids: Vec<_> = signers.iter().map(Key::id).collect();
        signers.extend(before.into_iter().filter(|key| !ids.contains(&key.id())));
        let bytes = signed(&self.root_value(), &signers);
        self.files.insert(format!("metadata/{}.root.json", self.root.version), bytes);
    }

    /// Publishes targets, snapshot and timestamp as they are now.
    pub fn write(&mut self) {
        let targets: serde_json::Map<_, _> = self
            .content
            .iter()
            .map(|(name, bytes)| {
                (name.clone(), json!({"length": bytes.len(), "hashes": {"sha256": sha256(bytes)}}))
            })
            .collect();
        for (name, bytes) in self.content.clone() {
            let place = match name.rsplit_once('/') {
                None => format!("targets/{}.{name}", sha256(&bytes)),
                Some((folder, file)) => format!("targets/{folder}/{}.{file}", sha256(&bytes)),
            };
            self.files.insert(place, bytes);
        }
        let value = merged(head("targets", &self.targets), json!({"targets": targets}));
        let value = self.twisted("targets", value);
        let bytes = signed(&value, &self.targets.signers);
        self.files.insert(format!("metadata/{}.targets.json", self.targets.version), bytes);
        self.write_snapshot();
    }

    /// Publishes snapshot and timestamp over the targets that are there.
    pub fn write_snapshot(&mut self) {
        let targets = self.files[&format!("metadata/{}.targets.json", self.targets.version)].clone();
        let meta = json!({"targets.json": self.listed(self.targets.version, &targets)});
        let value = merged(head("snapshot", &self.snapshot), json!({"meta": meta}));
        let value = self.twisted("snapshot", value);
        let bytes = signed(&value, &self.snapshot.signers);
        self.files.insert(format!("metadata/{}.snapshot.json", self.snapshot.version), bytes);
        self.write_timestamp();
    }

    /// Publishes a timestamp over the snapshot that is there.
    pub fn write_timestamp(&mut self) {
        let snapshot = self.files[&format!("metadata/{}.snapshot.json", self.snapshot.version)].clone();
        let meta = json!({"snapshot.json": self.listed(self.snapshot.version, &snapshot)});
        let value = merged(head("timestamp", &self.timestamp), json!({"meta": meta}));
        let value = self.twisted("timestamp", value);
        let bytes = signed(&value, &self.timestamp.signers);
        self.files.insert("metadata/timestamp.json".into(), bytes);
    }

    fn listed(&self, version: u64, bytes: &[u8]) -> Value {
        if self.sealed {
            json!({"version": version, "length": bytes.len(), "hashes": {"sha256": sha256(bytes)}})
        } else {
            json!({"version": version})
        }
    }

    /// The next version of everything but the root.
    pub fn next(&mut self) {
        self.targets.version += 1;
        self.snapshot.version += 1;
        self.timestamp.version += 1;
        self.write();
    }

    /// What was asked for since the last time.
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

impl Fetch for Forge {
    fn fetch<'a>(&'a self, path: &'a RemotePath, at_most: u64) -> Fetching<'a> {
        let path = path.to_string();
        self.asked.lock().unwrap().push(path.clone());
        if let Some(hook) = &self.hook {
            hook(&path);
        }
        let answer = if self.endless.contains(&path) {
            // One that does not stop reading where it was told to.
            Ok(vec![b' '; usize::try_from(at_most).unwrap() + 1])
        } else {
            self.files.get(&path).cloned().ok_or(FetchError::Absent)
        };
        Box::pin(std::future::ready(answer))
    }
}

fn head(role: &str, of: &Role) -> Value {
    let expires = of.expires.to_string();
    json!({"_type": role, "spec_version": "1.0.31", "version": of.version, "expires": expires})
}

fn merged(mut one: Value, other: Value) -> Value {
    let Value::Object(other) = other else { panic!("an object") };
    one.as_object_mut().unwrap().extend(other);
    one
}

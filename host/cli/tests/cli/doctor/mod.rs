//! `pinhole doctor`: each fault is made for real, named with what to do, and hides nothing else; to look changes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use pinhole_grant::{KeyKind, MintRequest, Passphrase, Scope, SecretKey};
use pinhole_manifest::{Access, Digest};
use pinhole_runtime::catalog::Catalog;
use pinhole_runtime::clock::{Clock as _, SystemClock};
use pinhole_runtime::store::{ConnectionRow, Connections as _, GrantRow, Grants as _, SqliteStore};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use serde_json::Value;

use crate::home::{Home, KEY};
use crate::stage::Stage;

mod database;
mod keys;
mod manifests;
mod modules;
mod services;
mod stored;

const PASSPHRASE: &str = "correct horse battery";
const DAY: i64 = 24 * 60 * 60;

fn connect(home: &Home, stage: &Stage, flags: &[&str]) {
    let passphrase = home.write("passphrase.txt", PASSPHRASE);
    let connect = ["connect", "github", "--token-stdin", "--passphrase-file", &passphrase];
    home.run_with(&stage.args(home, &[&connect[..], flags].concat()).words(), KEY).expect(0);
}

/// As one that the binary has made itself.
fn private(home: Home) -> Home {
    #[cfg(unix)]
    chmod(&home, "", 0o700);
    home
}

/// A home with a connection that only reads, and the stand-in that it is to.
fn connected() -> (Home, Stage) {
    let (home, stage) = (private(Home::new()), Stage::new());
    connect(&home, &stage, &[]);
    (home, stage)
}

/// What the doctor said. Nothing in the home is changed by the look, but for the receipts of what it asks services; and no key is
/// shown.
struct Said {
    status: i32,
    findings: Vec<Value>,
}

impl Said {
    #[track_caller]
    fn of(home: &Home, words: &[&str]) -> Self {
        // What is asked of a service is a run, which is written down.
        let asks = !words.contains(&"--offline");
        let kept = |home: &Home| {
            let mut all = everything(&home.path(""));
            all.retain(|path, _| !asks || !is_written_by_runs(path));
            all
        };
        let before = kept(home);
        let ran = home.run(&[words, &["--json"]].concat()).hides(KEY);
        assert_eq!(kept(home), before, "the look has changed something");
        let people = home.run(words).hides(KEY);
        assert_eq!(people.status, ran.status);
        let document = ran.json();
        assert_eq!(document.as_object().unwrap().len(), 2);
        assert_eq!((document["ok"] == true, ran.status), (ran.status == 0, ran.status & 1));
        let findings = document["findings"].as_array().unwrap().clone();
        for finding in &findings {
            let text = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
            let (state, found, hint) = (text("state"), text("found"), text("hint"));
            assert!(!found.is_empty() && ["ok", "warning", "wrong"].contains(&&*state), "{finding}");
            assert_eq!(hint.is_empty(), state == "ok", "{finding}");
            // The clock has gone on between the two, and a receipt may have come.
            let stable = if ["clock", "receipts"].contains(&&*text("about")) { "" } else { &*found };
            let line = format!("{state:<8} {}: {stable}", text("about"));
            let lines: Vec<&str> = people.stdout.lines().collect();
            let at = lines.iter().position(|said| said.starts_with(&line));
            let at = at.unwrap_or_else(|| panic!("{line}\nis not in\n{}", people.stdout));
            let behind = lines.iter().skip(at + 1).take_while(|said| said.starts_with(' '));
            assert_eq!(behind.last().map_or("", |said| said.trim()), hint);
        }
        Self { status: ran.status, findings }
    }

    #[track_caller]
    fn offline(home: &Home) -> Self {
        Self::of(home, &["doctor", "--offline"])
    }

    #[track_caller]
    fn online(home: &Home, stage: &Stage) -> Self {
        Self::of(home, &stage.args(home, &["doctor"]).words())
    }

    /// These are wrong or want a look, in this order, and everything else is well.
    #[track_caller]
    fn only(self, status: i32, faults: &[(&str, &str, &str, &str)]) -> Self {
        let said: Vec<&Value> = self.findings.iter().filter(|finding| finding["state"] != "ok").collect();
        let names = said.iter().map(|finding| (finding["state"].as_str(), finding["about"].as_str()));
        let wanted = faults.iter().map(|(state, about, ..)| (Some(*state), Some(*about)));
        assert!(names.eq(wanted), "{said:#?}");
        for (finding, (_, _, found, hint)) in said.iter().zip(faults) {
            assert!(finding["found"].as_str().unwrap().contains(found), "{finding} {found}");
            assert!(finding["hint"].as_str().unwrap().contains(hint), "{finding} {hint}");
        }
        assert_eq!(self.status, status);
        self
    }

    #[track_caller]
    fn is_well(&self, abouts: &[&str]) {
        for about in abouts {
            let well = |finding: &&Value| finding["about"] == *about && finding["state"] == "ok";
            assert!(self.findings.iter().any(|finding| well(&finding)), "{about}: {:#?}", self.findings);
        }
    }

    fn found(&self, about: &str) -> String {
        let found = self.findings.iter().find(|finding| finding["about"] == about);
        found.map(|finding| finding["found"].as_str().unwrap().to_owned()).unwrap_or_default()
    }
}

fn is_written_by_runs(path: &Path) -> bool {
    let names = path.iter().map(|name| name.to_string_lossy().into_owned());
    names.into_iter().any(|name| name == "receipts" || name.starts_with("pinhole.db"))
}

/// Every file and folder, with its mode and its bytes.
fn everything(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        #[cfg(unix)]
        let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions());
        #[cfg(not(unix))]
        let mode = u32::from(metadata.permissions().readonly());
        let bytes = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        if metadata.is_dir() {
            found.extend(everything(&path));
        }
        found.insert(path, (mode, bytes));
    }
    found
}

fn store(home: &Home) -> SqliteStore {
    SqliteStore::open_home(&home.path("")).unwrap()
}

fn key(home: &Home, kind: KeyKind) -> SecretKey {
    let name = if kind == KeyKind::Member { "keys/member.json" } else { "keys/bot.json" };
    let passphrase = Passphrase::new(PASSPHRASE.to_owned()).unwrap();
    SecretKey::from_file(&fs::read(home.path(name)).unwrap(), Some(&passphrase)).unwrap()
}

fn entropy() -> UnwrapErr<SysRng> {
    UnwrapErr(SysRng)
}

/// The first of the member's connections.
fn only_connection(home: &Home) -> ConnectionRow {
    store(home).connections(key(home, KeyKind::Member).public().id()).unwrap().remove(0)
}

fn github() -> Digest {
    let catalog = Catalog::built_in().unwrap();
    catalog.iter().find(|entry| entry.manifest.id().as_str() == "github").unwrap().manifest.digest()
}

/// Puts another read grant in the place of the one that there is: of this manifest, given and ending so many days from now.
fn regrant(home: &Home, manifest: Digest, given: i64, ends: i64) {
    let now = SystemClock.now();
    let (given, ends) = (now.plus_secs(given * DAY), now.plus_secs(ends * DAY));
    let (member, bot, row) = (key(home, KeyKind::Member), key(home, KeyKind::Bot), only_connection(home));
    let credential = pinhole_grant::open_credential(&row.sealed, &member).unwrap();
    let scope = Scope::new(Access::Read, given, ends);
    let request = MintRequest::new(bot.public().clone(), manifest, scope);
    let sealed = pinhole_grant::mint(&request, &credential, &member, given, &mut entropy()).unwrap();
    let grant = GrantRow::new(sealed, &request, &credential, member.public().id());
    store(home).put_grant(&grant).unwrap();
}

#[cfg(unix)]
fn chmod(home: &Home, name: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(home.path(name), fs::Permissions::from_mode(mode)).unwrap();
}

const WELL: [&str; 13] = [
    "home",
    "keys",
    "config.toml",
    "compiled modules",
    "keys/member.json",
    "keys/member.pub",
    "keys/bot.json",
    "database",
    "clock",
    "receipts",
    "connection github default",
    "key of github default",
    "questions",
];

#[test]
fn a_healthy_home_is_well() {
    let (home, stage) = connected();
    let said = Said::online(&home, &stage).only(0, &[]);
    said.is_well(&WELL);
    assert_eq!(said.findings.len(), WELL.len());
    assert!(said.found("connection github default").contains("account demo-wren, cap read, reads until 20"));
    assert_eq!(said.found("key of github default"), "the service accepts it, for demo-wren");
    // Once to connect, and the viewer for each of the two looks.
    assert_eq!(stage.requests(), 3);
    assert!(stage.standin.requests().iter().all(|seen| seen.path == "/user"));
}

#[test]
fn offline_nothing_is_sent() {
    let (home, stage) = connected();
    let connections = stage.connections();
    let said = Said::of(&home, &stage.args(&home, &["doctor", "--offline"]).words()).only(0, &[]);
    said.is_well(&["connection github default"]);
    assert_eq!(said.found("key of github default"), "");
    assert_eq!(stage.connections(), connections);
}

#[test]
fn an_empty_home_stays_empty() {
    let home = private(Home::empty());
    Said::of(&home, &["doctor"]).only(0, &[]).is_well(&["home", "keys", "database", "connections"]);
    assert_eq!(fs::read_dir(home.path("")).unwrap().count(), 0);
    let absent = home.path("not/made").to_str().unwrap().to_owned();
    let said = Said::of(&home, &["doctor", "--home", &absent]).only(0, &[]);
    assert!(said.found("home").contains("not made yet"));
    // Keys alone are no fault either.
    let said = Said::of(&private(Home::new()), &["doctor"]).only(0, &[]);
    said.is_well(&["keys/member.json", "keys/bot.json", "database", "connections"]);
}

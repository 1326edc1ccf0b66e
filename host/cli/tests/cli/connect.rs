//! `pinhole connect`: a key is proved on the spot, sealed and kept, and is nowhere to be seen from then on.

use pinhole_standin::{Config, GithubWorld, World};
use serde_json::json;

use crate::home::{Home, KEY, Ran};
use crate::stage::{READ, Stage};

/// Another key of the same service.
const NEWER: &str = "github_pat_NewerKeyOfTheCommandTests0123456789";

const THIRTY_DAYS: i64 = 30 * 24 * 60 * 60;

/// Takes any key.
fn open_stage() -> Stage {
    Stage::with(Config::new(World::Github(GithubWorld { repositories: 3, ..GithubWorld::default() })))
}

fn read(home: &Home, stage: &Stage, flags: &[&str]) -> Ran {
    home.run(&stage.args(home, &[&["run"], &READ[..], flags, &["--json"]].concat()).words())
}

/// One value of the only connection that there is.
fn column<T: rusqlite::types::FromSql>(home: &Home, column: &str) -> T {
    let select = format!("SELECT {column} FROM connections");
    home.database().query_one(&select, [], |row| row.get(0)).unwrap()
}

#[test]
fn a_key_is_proved_on_the_spot_and_only_reads() {
    let (home, stage) = (Home::empty(), Stage::new());
    let connected = home.connect(&stage, &["--json"]).expect(0).json();
    let fields =
        ["ok", "service", "label", "account", "cap", "became", "stand_in"].map(|name| &connected[name]);
    assert_eq!(json!(fields), json!([true, "github", "default", "demo-wren", "read", "connected", true]));
    let seen = stage.standin.requests();
    assert_eq!(seen.iter().map(|seen| (&*seen.method, &*seen.path)).collect::<Vec<_>>(), [("GET", "/user")]);
    assert_eq!(stage.keys(), [KEY]);
    let (id, account, cap): (String, String, String) =
        (column(&home, "id"), column(&home, "account"), column(&home, "cap"));
    assert_eq!(json!([id, account, cap]), json!([connected["connection"], "demo-wren", "read"]));
    let latest: i64 = home.database().query_one("SELECT latest FROM clock", [], |row| row.get(0)).unwrap();
    let reads_until = connected["reads_until"].as_i64().unwrap();
    assert!((latest - 60..=latest).contains(&(reads_until - THIRTY_DAYS)), "{reads_until} {latest}");
    // And then a read answers.
    assert_eq!(read(&home, &stage, &[]).expect(0).json()["result"]["full_name"], "pinhole-demo/lantern");
}

#[test]
fn people_are_told_what_was_connected_and_what_it_is_good_for() {
    let (home, stage) = (Home::empty(), Stage::new());
    let said = home.connect(&stage, &["--label", "work"]).expect(0).stdout;
    for words in [
        "connected: github work, account demo-wren",
        "bots here may read on it until 20",
        "`pinhole connections cap github write --label work`",
        "`pinhole services github`",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn the_key_is_nowhere_to_be_seen() {
    let (home, stage) = (Home::empty(), Stage::new());
    for flags in [&["--log", "trace"][..], &["--log", "trace", "--json"], &["--json"]] {
        home.connect(&stage, flags).expect(0).hides(KEY);
        home.hides(KEY);
    }
    for look in [
        &["connections", "--json"][..],
        &["connections"],
        &["grant", "inspect", &home.grant_of("default"), "--json"],
    ] {
        home.run(look).expect(0).hides(KEY);
    }
    read(&home, &stage, &["--log", "trace"]).expect(0).hides(KEY);
    home.hides(KEY);
    assert_eq!(stage.keys().len(), 4, "the key was never used");
}

#[cfg(unix)]
#[test]
fn an_empty_home_gets_keys_of_its_own_that_are_private_under_a_loose_umask() {
    use std::os::unix::fs::PermissionsExt as _;
    let (home, stage) = (Home::empty(), Stage::new());
    let words = stage.args(&home, &["connect", "github", "--token-stdin"]);
    let inner = home.command(&words.words());
    let mut loose = std::process::Command::new("/bin/sh");
    loose.args(["-c", "umask 000; exec \"$@\"", "sh"]).arg(inner.get_program()).args(inner.get_args());
    loose.env_clear().env("PINHOLE_HOME", home.path("")).current_dir(home.path(""));
    loose.stdin(std::process::Stdio::piped());
    loose.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    crate::home::ran(&mut loose, KEY.as_bytes()).expect(0);
    for (name, wanted) in [
        ("keys", 0o700),
        ("keys/member.json", 0o600),
        ("keys/member.pub", 0o600),
        ("keys/bot.json", 0o600),
        ("pinhole.db", 0o600),
    ] {
        let mode = std::fs::metadata(home.path(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, wanted, "{name}");
    }
    assert_eq!(std::fs::read_dir(home.path("keys")).unwrap().count(), 3, "a draft was left behind");
    let published = std::fs::read_to_string(home.path("keys/member.pub")).unwrap();
    assert_eq!(published, format!("{}\n", home.public("member")));
}

#[test]
fn a_newer_key_of_the_same_account_takes_the_place_of_the_older_and_keeps_its_cap() {
    let (home, stage) = (Home::guarded(), open_stage());
    let passphrase = home.passphrase();
    let passphrase: Vec<&str> = passphrase.iter().map(String::as_str).collect();
    let first = home.connect(&stage, &[&passphrase[..], &["--cap", "write", "--json"]].concat());
    let first = first.expect(0).json();
    let made: i64 = column(&home, "created_at");
    let older = home.grant_of("default");
    let again = home.connect_with(&stage, NEWER, &[&passphrase[..], &["--json"]].concat()).expect(0).json();
    assert_eq!(
        json!([again["became"], again["cap"], again["connection"]]),
        json!(["reconnected", "write", first["connection"]])
    );
    let generation: i64 = column(&home, "gen");
    assert_eq!((generation, column::<i64>(&home, "created_at")), (1, made));
    read(&home, &stage, &[]).expect(0);
    assert_eq!(stage.keys(), [KEY, NEWER, NEWER]);
    // Who runs under the older grant may go on; it was not taken back.
    read(&home, &stage, &["--grant", &older]).expect(0);
    // Asked for, the cap changes.
    let read = home.connect(&stage, &[&passphrase[..], &["--cap", "read", "--json"]].concat());
    assert_eq!(read.expect(0).json()["cap"], "read");
    assert_eq!(column::<i64>(&home, "gen"), 2);
    home.hides(NEWER);
}

#[test]
fn a_key_of_another_account_is_refused_and_with_replace_takes_the_others_place() {
    let (home, stage, other) = (Home::empty(), Stage::new(), Stage::of_viewer(&json!({"login": "demo-owl"})));
    home.connect(&stage, &[]).expect(0);
    let before = home.stored();
    let refused = home.connect_with(&other, NEWER, &[]).expect(3);
    assert_eq!(refused.stdout, "");
    for words in ["demo-wren", "demo-owl", "`--replace`", "no connection was changed"] {
        assert!(refused.stderr.contains(words), "{words}: {}", refused.stderr);
    }
    assert_eq!(home.stored(), before);
    read(&home, &stage, &[]).expect(0);
    // Under another label there is room for both.
    home.connect_with(&other, NEWER, &["--label", "owl"]).expect(0);
    home.run(&["connections", "remove", "github", "--label", "owl"]).expect(0);

    let old_grant = home.grant_of("default");
    read(&home, &stage, &["--grant", &old_grant]).expect(0);
    let replaced = home.connect_with(&other, NEWER, &["--replace", "--json"]).expect(0).json();
    let was = |row: &serde_json::Value| json!([row["became"], row["account"], row["cap"]]);
    assert_eq!(was(&replaced), json!(["replaced", "demo-owl", "read"]));
    assert_eq!((home.rows("connections").len(), home.rows("grants").len()), (1, 1));
    let connections = stage.connections();
    read(&home, &stage, &["--grant", &old_grant]).expect(3).refusal("grant_revoked");
    assert_eq!(stage.connections(), connections);
    read(&home, &other, &[]).expect(0);
    assert_eq!(other.keys().last().unwrap(), NEWER);
    // With the same account `--replace` replaces nothing.
    let again = home.connect_with(&other, NEWER, &["--replace", "--json"]).expect(0).json();
    assert_eq!(json!([again["became"], again["connection"]]), json!(["reconnected", replaced["connection"]]));
}

#[test]
fn a_service_has_several_connections_by_label_and_a_run_says_which() {
    let (home, stage) = (Home::empty(), open_stage());
    home.connect(&stage, &["--label", "work"]).expect(0);
    read(&home, &stage, &[]).expect(0);
    home.connect_with(&stage, NEWER, &["--label", "home"]).expect(0);
    let sent = stage.requests();
    for label in [&[][..], &["--connection", "elsewhere"]] {
        let refusal = read(&home, &stage, label).expect(3).refusal("unknown_connection");
        let message = refusal["message"].as_str().unwrap();
        assert!(message.contains("`home`, `work`"), "{message}");
    }
    assert_eq!(stage.requests(), sent);
    for (label, key) in [("work", KEY), ("home", NEWER)] {
        read(&home, &stage, &["--connection", label]).expect(0);
        assert_eq!(stage.keys().last().unwrap(), key);
    }
}

#[test]
fn a_cap_of_write_protects_the_members_key_and_says_why() {
    let protected = |home: &Home| {
        let file = std::fs::read(home.path("keys/member.json")).unwrap();
        pinhole_grant::keys::is_protected(&file).unwrap()
    };
    // In an empty home, and in one whose key has no passphrase yet.
    for home in [Home::empty(), Home::new()] {
        let stage = Stage::new();
        let public = home.path("keys").exists().then(|| home.public("member"));
        let passphrase = home.passphrase();
        let write = ["--cap", "write", &passphrase[0], &passphrase[1]];
        let connected = home.connect(&stage, &write).expect(0);
        assert!(connected.stderr.contains("it is your yes to each write"), "{}", connected.stderr);
        assert!(connected.stdout.contains("ask for writes"), "{}", connected.stdout);
        assert!(protected(&home));
        assert!(public.is_none_or(|public| public == home.public("member")), "it is another member now");
        assert_eq!(column::<String>(&home, "cap"), "write");
        // Once it is protected nothing is explained again, and the passphrase is the same one.
        let again = home.connect(&stage, &write).expect(0);
        assert!(!again.stderr.contains("your yes"), "{}", again.stderr);
    }
    let home = Home::new();
    home.connect(&Stage::new(), &[]).expect(0);
    assert!(!protected(&home), "reads want no passphrase");
}

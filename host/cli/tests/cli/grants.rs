//! `pinhole grant mint|inspect|revoke`: what is minted, what is shown, and what is not minted at all.

use pinhole_grant::GrantId;
use pinhole_runtime::store::{SqliteStore, Store as _};
use serde_json::Value;

use crate::home::{Home, KEY, Ran};
use crate::stage::{READ, Stage, WRITE_ARGS};

fn mint(home: &Home, flags: &[&str]) -> Ran {
    home.try_mint(&home.bot(), flags)
}

fn inspect(home: &Home, grant: &str) -> Value {
    home.run(&["grant", "inspect", grant, "--json"]).expect(0).hides(KEY).json()
}

#[test]
fn a_grant_is_one_sealed_envelope_on_stdout() {
    let home = Home::new();
    let minted = mint(&home, &[]).expect(0).hides(KEY);
    let envelope = minted.json();
    let members: Vec<&String> = envelope.as_object().unwrap().keys().collect();
    assert_eq!(members, ["ct", "enc", "kind", "to", "v"]);
    assert!(minted.stderr.starts_with("grant ") && minted.stderr.contains(" UTC"), "{}", minted.stderr);
}

#[test]
fn a_grant_says_what_the_flags_said() {
    let home = Home::guarded();
    let shown = inspect(&home, &home.mint(&[]));
    assert_eq!(shown["standing"], "good");
    assert_eq!((shown["access"].as_str(), shown["uses"].as_u64()), (Some("read"), None));
    assert_eq!(shown["credential"]["cap"], "read");
    let life = |shown: &Value| shown["expires_at"].as_i64().unwrap() - shown["not_before"].as_i64().unwrap();
    assert_eq!(life(&shown), 120);
    for (ttl, seconds) in [("90s", 90), ("3m", 180), ("12h", 43_200), ("90d", 7_776_000)] {
        assert_eq!(life(&inspect(&home, &home.mint(&["--ttl", ttl]))), seconds);
    }
    let flags = [
        "--op",
        "get_issue",
        "--op",
        "get_repo",
        "--where",
        "owner=me",
        "--where",
        "owner=you",
        "--uses",
        "7",
        "--account",
        "octavia",
    ];
    let shown = inspect(&home, &home.mint(&flags));
    assert_eq!(shown["ops"], serde_json::json!(["get_issue", "get_repo"]));
    assert_eq!(shown["where"], serde_json::json!({"owner": ["me", "you"]}));
    assert_eq!((shown["uses"].as_u64(), shown["account"].as_str()), (Some(7), Some("octavia")));
    let shown = inspect(&home, &home.mint(&["--op", "get_issue", "--where", "issue_number=4"]));
    assert_eq!(shown["where"], serde_json::json!({"issue_number": [4]}));
    let shown = inspect(&home, &home.mint(&["--access", "write"]));
    assert_eq!((shown["access"].as_str(), shown["uses"].as_u64()), (Some("write"), Some(1)));
}

#[test]
fn an_approval_shows_what_is_approved_and_binds_it() {
    let home = Home::guarded();
    let sly = "{\"owner\":\"me\",\"repo\":\"r\",\"title\":\"pay\\u202e\\u0007 up\"}";
    let minted = mint(&home, &["--approve", "github.create_issue", sly, "--account", "octavia"]).expect(0);
    assert!(minted.stderr.contains("Open issue “pay\\u{202e}\\u{7} up” in me/r?"), "{}", minted.stderr);
    for line in [
        "  owner = \"me\"",
        "  repo = \"r\"",
        "  title = \"pay\\u{202e}\\u0007 up\"",
        "  request: POST https://api.github.com/repos/me/r/issues",
        "  account: octavia",
        "  effect: create",
        "  irreversible: no",
    ] {
        assert!(minted.stderr.lines().any(|shown| shown == line), "{line}: {}", minted.stderr);
    }
    let approval = home.write("approval.json", minted.stdout);
    let shown = inspect(&home, &approval);
    assert_eq!((shown["access"].as_str(), shown["uses"].as_u64()), (Some("write"), Some(1)));
    assert!(shown["approves"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(shown["ops"], serde_json::json!(["create_issue"]));
    // A long arg is shown whole, and so is what cannot be undone.
    let body = "all of it ".repeat(2_000);
    let comment = format!(r#"{{"owner":"me","repo":"r","issue_number":2,"body":"{body}"}}"#);
    let minted = mint(&home, &["--approve", "github.comment_issue", &comment]).expect(0);
    for words in [&body, "effect: send", "/repos/me/r/issues/2/comments", "account: unnamed"] {
        assert!(minted.stderr.contains(words), "{words}: {}", minted.stderr);
    }
    let file = format!("@{}", home.write("args.json", WRITE_ARGS));
    mint(&home, &["--approve", "github.create_issue", &file]).expect(0);
}

#[test]
fn what_cannot_be_minted_is_said_before_the_key_is_used() {
    let home = Home::guarded();
    let usage: [&[&str]; 26] = [
        &["--ttl", "1"],
        &["--ttl", ""],
        &["--ttl", "2x"],
        &["--ttl=-5m"],
        &["--ttl", "1.5h"],
        &["--ttl", "99999999999d"],
        &["--uses", "0"],
        &["--uses", "-1"],
        &["--access", "admin"],
        &["--where", "owner"],
        &["--where", "nope=1"],
        &["--where", "issue_number=seven"],
        &["--where", "issue_number=1.5"],
        &["--where", "issue_number=9007199254740991.4"],
        &["--where", "issue_number=null"],
        &["--where", "state=bogus"],
        &["--op", "get_viewer", "--where", "owner=me"],
        &["--account", ""],
        &["--account", "a\u{202e}b"],
        &["--approve", "github.create_issue", "{"],
        &["--approve", "github.create_issue", r#"{"owner":"me"}"#],
        &["--approve", "github.get_repo", r#"{"owner":"me","repo":"r"}"#],
        &["--approve", "gitlab.create_issue", WRITE_ARGS],
        &["--approve", "github.create_issue", "-"],
        &["--approve", "github.create_issue", r#"{"owner":"..","repo":"r","title":"t"}"#],
        &["--approve", "github.create_issue", WRITE_ARGS, "--uses", "2"],
    ];
    for flags in usage {
        let ran = mint(&home, flags).expect(2);
        assert_eq!(ran.stdout, "", "{flags:?}");
    }
    let refused: [&[&str]; 7] = [
        &["--op", "nope"],
        &["--approve", "github.nope", WRITE_ARGS],
        &["--ttl", "0s"],
        &["--ttl", "91d"],
        &["--access", "write", "--ttl", "25h"],
        &["--approve", "github.create_issue", WRITE_ARGS, "--ttl", "2d"],
        &["--op", "create_issue", "--op", "nope"],
    ];
    for flags in refused {
        let ran = mint(&home, flags).expect(3);
        assert_eq!(ran.stdout, "", "{flags:?}");
    }
    home.run_with(&["grant", "mint", "nope", "--to", &home.bot()], KEY).expect(3);
    let bot = home.bot();
    let short = bot.get(..95).unwrap();
    for to in ["", "pin1", "pin1abc", short, &bot.replace("pin1", "pin2")] {
        home.try_mint(to, &[]).expect(2);
    }
    // A grant is sealed to a bot, never to a member.
    assert_eq!(home.try_mint(&home.public("member"), &[]).expect(3).stdout, "");
}

#[test]
fn a_key_without_a_passphrase_permits_reads_alone() {
    let home = Home::new();
    let approve = ["--approve", "github.create_issue", WRITE_ARGS];
    for flags in [&["--access", "write"][..], &approve] {
        let ran = mint(&home, flags).expect(3);
        assert_eq!(ran.stdout, "", "{flags:?}");
        assert!(ran.stderr.contains("`pinhole keys protect`"), "{}", ran.stderr);
    }
    mint(&home, &["--access", "read"]).expect(0);
    let passphrase = home.write("late", "correct horse battery");
    home.run(&["keys", "protect", "--passphrase-file", &passphrase]).expect(0);
    let opens = ["--passphrase-file", passphrase.as_str()];
    mint(&home, &[&approve[..], &opens].concat()).expect(0);
    mint(&home, &[&["--access", "write"], &opens[..]].concat()).expect(0);
}

#[test]
fn without_keys_it_says_how_to_make_them() {
    let home = Home::empty();
    let bot = Home::new().bot();
    let ran = home.run_with(&["grant", "mint", "github", "--to", &bot], KEY).expect(2);
    assert!(ran.stderr.contains("`pinhole keys new`"), "{}", ran.stderr);
}

#[test]
fn a_grant_that_was_changed_or_is_another_s_is_not_shown() {
    let home = Home::new();
    let grant = home.mint(&[]);
    let mut envelope: Value = serde_json::from_slice(&std::fs::read(&grant).unwrap()).unwrap();
    let text = envelope["ct"].as_str().unwrap().to_owned();
    let flipped = if text.starts_with('A') { "B" } else { "A" };
    envelope["ct"] = format!("{flipped}{}", text.get(1..).unwrap()).into();
    let changed = home.write("changed.json", envelope.to_string());
    let other = Home::new();
    for (home, file) in [(&home, &changed), (&other, &grant)] {
        for args in [
            &["grant", "inspect", file][..],
            &["grant", "inspect", file, "--json"],
            &["grant", "revoke", file],
        ] {
            let ran = home.run(args).expect(4);
            assert_eq!(ran.stdout, "");
        }
    }
    for rubbish in ["", "{}", "grant", "\u{0}"] {
        let file = home.write("rubbish", rubbish);
        home.run(&["grant", "inspect", &file]).expect(4);
    }
    home.run(&["grant", "inspect", "absent.json"]).expect(2);
    home.run(&["grant", "revoke", "absent.json"]).expect(2);
}

#[test]
fn inspect_is_for_people_too_and_reads_stdin() {
    let home = Home::new();
    let grant = home.mint(&["--ttl", "5m"]);
    let shown =
        home.run_with(&["grant", "inspect", "-"], std::fs::read(&grant).unwrap()).expect(0).hides(KEY);
    assert!(shown.stdout.contains("expires_at  20") && shown.stdout.contains(" UTC"), "{}", shown.stdout);
    assert!(shown.stdout.contains("<secret>"), "{}", shown.stdout);
}

#[test]
fn an_id_may_begin_with_a_hyphen() {
    let home = Home::new();
    for id in [
        "-cAAAAAAAAAAAAAAAAAAAA",
        "-hAAAAAAAAAAAAAAAAAAAA",
        "--AAAAAAAAAAAAAAAAAAAA",
        "--helpAAAAAAAAAAAAAAAA",
    ] {
        let ran = home.run(&["grant", "revoke", id]).expect(0);
        assert!(ran.stdout.contains(id), "{}", ran.stdout);
        let store = SqliteStore::open_home(&home.path("")).unwrap();
        assert!(store.is_revoked(&GrantId::parse(id).unwrap()).unwrap());
    }
    let help = home.run(&["grant", "revoke", "--help"]).expect(0).stdout;
    assert!(help.contains("Usage: pinhole grant revoke"), "{help}");
    home.run(&["grant", "revoke", "-x"]).expect(2);
    let other = Home::empty();
    home.run(&["grant", "revoke", "-cAAAAAAAAAAAAAAAAAAAA", "--home", other.path("").to_str().unwrap()])
        .expect(0);
    let store = SqliteStore::open_home(&other.path("")).unwrap();
    assert!(store.is_revoked(&GrantId::parse("-cAAAAAAAAAAAAAAAAAAAA").unwrap()).unwrap());
}

#[test]
fn a_member_whom_this_machine_does_not_know_is_named_unknown() {
    let (member, bot) = (Home::new(), Home::new());
    let grant = member.mint_for(&bot.bot(), &[]);
    assert_eq!(inspect(&bot, &grant)["standing"], "unknown_issuer");
}

#[test]
fn inspect_says_what_has_become_of_a_grant() {
    let (home, stage) = (Home::guarded(), Stage::new());
    let becomes = |grant: &str| {
        let shown = home.run(&["grant", "inspect", grant, "--json"]).expect(0).json();
        assert_eq!(shown["standing"], "good");
        shown["state"].as_str().unwrap().to_owned()
    };
    let used = home.mint(&["--uses", "1"]);
    assert_eq!(becomes(&used), "open");
    let run = stage.args(&home, &[&["run"], &READ[..], &["--grant", used.as_str()]].concat());
    home.run(&run.words()).expect(0);
    assert_eq!(becomes(&used), "used up");
    let revoked = home.mint(&["--uses", "2"]);
    home.run(&["grant", "revoke", &revoked]).expect(0);
    assert_eq!(becomes(&revoked), "revoked");
}

#[test]
fn a_grant_by_which_a_listed_write_never_runs_is_not_minted() {
    let home = Home::guarded();
    let bot = home.bot();
    let mint = |more: &[&str]| {
        let words = [&["grant", "mint", "github", "--to", &bot], more].concat();
        home.run_with(&words, KEY).expect(2).stderr
    };
    assert!(mint(&["--op", "create_issue"]).contains("--access write"));
    assert!(mint(&["--access", "write", "--op", "comment_issue"]).contains("--approve"));
}

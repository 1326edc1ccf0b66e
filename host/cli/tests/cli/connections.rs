//! `pinhole connections`: what is connected is listed, capped, renewed and removed; what a connection no longer covers ends.

use serde_json::{Value, json};

use crate::home::{Home, KEY, Ran};
use crate::stage::{READ, Stage, WRITE};

fn run(home: &Home, stage: &Stage, what: &[&str]) -> Ran {
    home.run(&stage.args(home, &[&["run"], what, &["--json"]].concat()).words())
}

fn connections(home: &Home, what: &[&str]) -> Ran {
    home.run(&[&["connections"], what].concat())
}

/// Raises the question of the write.
fn ask(home: &Home, stage: &Stage) -> String {
    let refusal = run(home, stage, &WRITE).expect(3).refusal("approval_required");
    refusal["question"].as_str().unwrap().to_owned()
}

/// What became of a question.
fn state(home: &Home, question: &str) -> String {
    let select = "SELECT state FROM questions WHERE id = ?1";
    home.database().query_one(select, [question], |row| row.get(0)).unwrap()
}

/// The approval of a question that was said yes to, as a file for `--grant`.
fn approval(home: &Home, question: &str) -> String {
    let [flag, passphrase] = home.passphrase();
    home.run(&["approvals", "approve", question, &flag, &passphrase]).expect(0);
    let select = "SELECT sealed FROM questions WHERE state = 'approved'";
    let sealed: Vec<u8> = home.database().query_one(select, [], |row| row.get(0)).unwrap();
    home.write("approval.json", sealed)
}

#[test]
fn a_list_says_what_there_is_and_no_key() {
    let (home, stage) = (Home::empty(), Stage::new());
    let none = connections(&home, &[]).expect(0);
    assert!(none.stdout.is_empty() && none.stderr.contains("`pinhole connect SERVICE`"), "{}", none.stderr);
    assert_eq!(connections(&home, &["--json"]).expect(0).json(), json!([]));
    assert!(!home.path("keys").exists() && !home.path("pinhole.db").exists(), "looking made something");
    home.connect(&stage, &["--label", "work"]).expect(0);
    home.connect(&stage, &["--label", "home"]).expect(0);
    for list in [&["--json"][..], &["list", "--json"]] {
        let rows = connections(&home, list).expect(0).hides(KEY).json();
        let shown =
            |name: &str| rows.as_array().unwrap().iter().map(|row| row[name].clone()).collect::<Value>();
        assert_eq!(shown("label"), json!(["home", "work"]));
        assert_eq!(shown("service"), json!(["github", "github"]));
        assert_eq!(shown("account"), json!(["demo-wren", "demo-wren"]));
        assert_eq!(shown("host"), json!(["api.github.com", "api.github.com"]));
        assert_eq!(shown("cap"), json!(["read", "read"]));
        assert_eq!(shown("stand_in"), json!([true, true]));
        assert_eq!(shown("generation"), json!([0, 0]));
        assert!(rows[0]["reads_until"].as_i64() > rows[0]["connected_at"].as_i64(), "{rows}");
        assert!(rows[0].get("sealed").is_none());
    }
    let people = connections(&home, &[]).expect(0).hides(KEY).stdout;
    let lines: Vec<&str> = people.lines().collect();
    let shows = |line: &str, label: &str| {
        let words = ["github", label, "read", "account demo-wren", "reads until 20", "for a stand-in"];
        words.iter().all(|word| line.contains(word))
    };
    assert!(
        matches!(lines[..], [first, second] if shows(first, "home") && shows(second, "work")),
        "{people}"
    );
}

#[test]
fn a_bot_without_a_grant_is_listed_as_such_and_is_given_one() {
    let (home, stage) = (Home::empty(), Stage::new());
    home.connect(&stage, &[]).expect(0);
    let sent = stage.requests();
    home.database().execute("DELETE FROM grants", []).unwrap();
    assert_eq!(connections(&home, &["--json"]).expect(0).json()[0]["reads_until"], json!(null));
    assert!(connections(&home, &[]).expect(0).stdout.contains("`pinhole connections renew`"));
    run(&home, &stage, &READ).expect(3).refusal("no_stored_grant");
    assert_eq!(stage.requests(), sent);
    let renewed = connections(&home, &["renew"]).expect(0).stdout;
    assert!(renewed.contains("github default: bots here may read until 20"), "{renewed}");
    run(&home, &stage, &READ).expect(0);
}

#[test]
fn a_cap_of_write_lets_bots_ask_and_takes_the_passphrase() {
    let (home, stage) = (Home::new(), Stage::new());
    home.connect(&stage, &[]).expect(0);
    run(&home, &stage, &WRITE).expect(3).refusal("read_only_connection");
    let before = (home.stored(), std::fs::read(home.path("keys/member.json")).unwrap());
    let [flag, passphrase] = home.passphrase();
    connections(&home, &["cap", "github", "admin", &flag, &passphrase]).expect(2);
    connections(&home, &["cap", "github", "write", &flag, "absent.txt"]).expect(2);
    connections(&home, &["cap", "nope", "write", &flag, &passphrase]).expect(3);
    connections(&home, &["cap", "github", "--label", "nope", "write", &flag, &passphrase]).expect(3);
    assert_eq!((home.stored(), std::fs::read(home.path("keys/member.json")).unwrap()), before);
    let ran = connections(&home, &["cap", "github", "write", &flag, &passphrase]).expect(0).hides(KEY);
    assert!(ran.stderr.contains("it is your yes to each write"), "{}", ran.stderr);
    assert_ne!(std::fs::read(home.path("keys/member.json")).unwrap(), before.1, "her key is not protected");
    ask(&home, &stage);
    // From now on nothing is done in her name without it.
    let (stored, wrong) = (home.stored(), home.write("wrong.txt", "correct horse"));
    for what in [&["cap", "github", "read"][..], &["cap", "github", "write"], &["renew"]] {
        let ran = connections(&home, &[what, &["--passphrase-file", &wrong]].concat()).expect(3);
        assert!(ran.stderr.contains("passphrase"), "{}", ran.stderr);
        assert_eq!(home.stored(), stored, "{what:?}");
    }
    assert_eq!(stage.standin.requests().iter().filter(|seen| seen.method == "POST").count(), 0);
}

/// A way to set a cap, with the flags that open her key.
type Way = fn(&Home, &Stage, &str, [&str; 2]) -> Ran;

/// Whether it is said of the connection or along with a newer key.
#[test]
fn a_cap_of_read_ends_what_waits_and_what_was_not_used() {
    let cap = |home: &Home, _stage: &Stage, cap: &str, pass: [&str; 2]| {
        connections(home, &[&["cap", "github", cap], &pass[..]].concat()).expect(0)
    };
    let reconnect = |home: &Home, stage: &Stage, cap: &str, pass: [&str; 2]| {
        home.connect(stage, &[&["--cap", cap], &pass[..]].concat()).expect(0)
    };
    let ways: [Way; 2] = [cap, reconnect];
    for way in ways {
        let (home, stage) = (Home::guarded(), Stage::new());
        home.connect_for_writes(&stage);
        let [flag, passphrase] = home.passphrase();
        let set = |cap: &str| way(&home, &stage, cap, [&flag, &passphrase]);
        let waiting = ask(&home, &stage);
        set("read");
        assert_eq!(state(&home, &waiting), "expired");
        home.run(&["approvals", "approve", &waiting, &flag, &passphrase]).expect(3);
        run(&home, &stage, &WRITE).expect(3).refusal("read_only_connection");
        // Nobody said no: once it may be written again, it may be asked again.
        set("write");
        assert_ne!(ask(&home, &stage), waiting);
        // Another write, said yes to and not used yet.
        let mut other = WRITE;
        other[6] = "title=Another";
        let refusal = run(&home, &stage, &other).expect(3).refusal("approval_required");
        let approval = approval(&home, refusal["question"].as_str().unwrap());
        set("read");
        run(&home, &stage, &[&other[..], &["--grant", &approval]].concat())
            .expect(3)
            .refusal("grant_revoked");
        run(&home, &stage, &READ).expect(0);
        assert!(!stage.standin.requests().iter().any(|seen| seen.method == "POST"));
    }
}

#[test]
fn what_is_removed_is_over_for_good() {
    let (home, stage) = (Home::guarded(), Stage::new());
    let [flag, passphrase] = home.passphrase();
    home.connect(&stage, &["--label", "other", &flag, &passphrase]).expect(0);
    home.connect_for_writes(&stage);
    let on = |what: &[&'static str]| [what, &["--connection", "default"]].concat();
    let question = |what: &[&str]| {
        run(&home, &stage, what).expect(3).refusal("approval_required")["question"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let approved = question(&on(&WRITE));
    let approval = approval(&home, &approved);
    let mut another = WRITE;
    another[6] = "title=Another";
    let waiting = question(&on(&another));
    let (read, kept) = (home.grant_of("default"), home.grant_of("other"));
    run(&home, &stage, &[&READ[..], &["--grant", &read]].concat()).expect(0);

    let ambiguous = connections(&home, &["remove", "github"]).expect(2);
    assert!(ambiguous.stderr.contains("--label"), "{}", ambiguous.stderr);
    connections(&home, &["remove", "github", "--label", "nope"]).expect(3);
    connections(&home, &["remove", "nope"]).expect(3);
    assert_eq!(home.rows("connections").len(), 2);
    // It takes no passphrase: whoever is here can only take away by it.
    let gone = connections(&home, &["remove", "github", "--label", "default"]).expect(0);
    assert!(gone.stdout.contains("github default is gone"), "{}", gone.stdout);
    assert!(gone.stderr.contains("still good at the service"), "{}", gone.stderr);

    let sent = stage.requests();
    run(&home, &stage, &[&READ[..], &["--grant", &read]].concat()).expect(3).refusal("grant_revoked");
    run(&home, &stage, &[&WRITE[..], &["--grant", &approval]].concat()).expect(3).refusal("grant_revoked");
    run(&home, &stage, &on(&READ)).expect(3).refusal("unknown_connection");
    assert_eq!([state(&home, &approved), state(&home, &waiting)], ["denied", "denied"]);
    home.run(&["approvals", "approve", &waiting, &flag, &passphrase]).expect(3);
    assert_eq!(stage.requests(), sent);
    assert_eq!((home.rows("connections").len(), home.rows("grants").len()), (1, 1));
    // The other is untouched.
    run(&home, &stage, &READ).expect(0);
    run(&home, &stage, &[&READ[..], &["--grant", &kept]].concat()).expect(0);
    connections(&home, &["remove", "github", "--label", "default"]).expect(3);
    connections(&home, &["remove", "github"]).expect(0);
    run(&home, &stage, &READ).expect(3).refusal("not_connected");
    // The name is free again, and what was ended stays so.
    home.connect(&stage, &[&flag, &passphrase]).expect(0);
    run(&home, &stage, &[&READ[..], &["--grant", &read]].concat()).expect(3).refusal("grant_revoked");
    run(&home, &stage, &READ).expect(0);
}

/// A copy of the bot's grant that was made before a newer one took its place.
#[test]
fn an_older_grant_ends_with_its_connection_too() {
    let other = Stage::of_viewer(&json!({"login": "demo-owl"}));
    for replace in [false, true] {
        let (home, stage) = (Home::new(), Stage::new());
        home.connect(&stage, &[]).expect(0);
        let older = home.grant_of("default");
        connections(&home, &["renew"]).expect(0);
        home.connect(&stage, &[]).expect(0);
        run(&home, &stage, &[&READ[..], &["--grant", &older]].concat()).expect(0);
        if replace {
            home.connect(&other, &["--replace"]).expect(0);
        } else {
            connections(&home, &["remove", "github"]).expect(0);
        }
        let sent = stage.requests();
        run(&home, &stage, &[&READ[..], &["--grant", &older]].concat()).expect(3).refusal("grant_revoked");
        assert_eq!(stage.requests(), sent);
    }
}

#[test]
fn where_nothing_is_connected_there_is_nothing_to_do() {
    let empty = Home::empty();
    for what in [&["cap", "github", "write"][..], &["renew"], &["remove", "github"]] {
        let ran = connections(&empty, what).expect(3);
        assert!(ran.stderr.contains("`pinhole connect SERVICE`"), "{}", ran.stderr);
    }
    assert!(!empty.path("keys").exists());
    let home = Home::new();
    for what in [&["cap", "github", "read"][..], &["remove", "github"]] {
        connections(&home, what).expect(3);
    }
    let ran = connections(&home, &["renew"]).expect(0);
    assert!(ran.stderr.contains("`pinhole connect SERVICE`"), "{}", ran.stderr);
}

#[test]
fn what_is_lent_is_shown_first_takes_the_passphrase_and_is_taken_back() {
    let (home, stage) = (Home::new(), Stage::new());
    home.connect_for_writes(&stage);
    let [flag, passphrase] = home.passphrase();
    let lent = "SELECT count(*) FROM grants WHERE access = 'write'";
    let rows = |home: &Home| home.database().query_one(lent, [], |row| row.get::<_, i64>(0)).unwrap();
    let wrong = home.write("wrong", "not the passphrase\n");
    connections(&home, &["lend", "github", "--passphrase-file", &wrong]).expect(3);
    connections(&home, &["lend", "github", "--ttl", "25h", &flag, &passphrase]).expect(2);
    connections(&home, &["lend", "github", "--uses", "0", &flag, &passphrase]).expect(2);
    assert_eq!(rows(&home), 0);
    let ran =
        connections(&home, &["lend", "github", "--uses", "3", "--ttl", "1h", &flag, &passphrase]).expect(0);
    assert!(
        ran.stderr.contains("create_issue: ") && ran.stderr.contains("For 1h, 3 times"),
        "{}",
        ran.stderr
    );
    assert!(ran.stdout.contains("lent: 3 writes on github default, until 20"), "{}", ran.stdout);
    assert_eq!(rows(&home), 1);
    // Lent to a client's word, not to `run`.
    let question = ask(&home, &stage);
    assert_eq!(state(&home, &question), "pending");
    for found in ["nothing of github default is lent any more", "nothing of github default was lent"] {
        let back = connections(&home, &["lend", "github", "--take-back"]).expect(0);
        assert!(back.stdout.contains(found), "{}", back.stdout);
        assert_eq!(rows(&home), 0);
    }
}

#[test]
fn a_connection_that_reads_lends_nothing() {
    let (home, stage) = (Home::new(), Stage::new());
    home.connect(&stage, &[]).expect(0);
    let [flag, passphrase] = home.passphrase();
    let ran = connections(&home, &["lend", "github", &flag, &passphrase]).expect(3);
    assert!(ran.stderr.contains("connections cap github write"), "{}", ran.stderr);
}

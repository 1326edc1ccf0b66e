//! `pinhole keys rotate` and `retire`: the bot reads on, grants to its key of before open for as long as was said, and a command
//! that is killed leaves nothing half done.

use std::time::{Duration, Instant};

use pinhole_standin::{Config, Reply, Route, World};
use serde_json::{Value, json};

use crate::home::{Home, Ran};
use crate::stage::{READ, Stage, WRITE};

fn rotate(home: &Home, flags: &[&str]) -> Ran {
    let [flag, passphrase] = home.passphrase();
    home.run(&[&["keys", "rotate", "--json", &flag, &passphrase], flags].concat())
}

fn read(home: &Home, stage: &Stage, flags: &[&str]) -> Ran {
    home.run(&stage.args(home, &[&["run"], &READ[..], flags, &["--json"]].concat()).words())
}

fn bot_file(home: &Home) -> Vec<u8> {
    std::fs::read(home.path("keys/bot.json")).unwrap()
}

#[test]
fn the_bot_reads_on_under_its_new_key_and_grants_to_the_former_one_open() {
    let (home, stage) = (Home::guarded(), Stage::new());
    home.connect_for_writes(&stage);
    let first = home.bot();
    let to_the_first = home.mint(&[]);
    let said = rotate(&home, &["--grace", "3d"]).expect(0).json();
    let second = home.bot();
    assert_ne!(first, second);
    assert_eq!((said["bot"].as_str(), said["former"].as_str()), (Some(&*second), Some(&*first)));
    assert_eq!(said["connections"].as_array().unwrap().len(), 1);
    let to_the_second = home.mint(&[]);
    for grant in [&[][..], &["--grant", &to_the_first], &["--grant", &to_the_second]] {
        read(&home, &stage, grant).expect(0);
    }
    let shown = home.run(&["keys", "show", "--json"]).expect(0).json();
    assert_eq!(shown["former"][0]["key"], first);
    assert_eq!(shown["former"][0]["until"], said["until"]);
    assert!(home.run(&["keys", "show"]).expect(0).stdout.contains(&format!("former  {first}  until ")));
    // What the former key recorded and what the new one records is sound.
    home.run(&["receipts", "verify"]).expect(0);
    // It ends before its time.
    home.run(&["keys", "retire", &first]).expect(0);
    let refused = read(&home, &stage, &["--grant", &to_the_first]).expect(4).refusal("wrong_bot");
    assert!(refused["hint"].as_str().unwrap().contains(&second), "{refused}");
    assert!(home.run(&["keys", "show"]).expect(0).stdout.contains(&format!("former  {first}  ended\n")));
    let again = home.run(&["keys", "retire", &first]).expect(0);
    assert!(again.stdout.contains("nothing was changed"), "{}", again.stdout);
    read(&home, &stage, &[]).expect(0);
    read(&home, &stage, &["--grant", &to_the_second]).expect(0);
    assert_eq!(stage.requests(), stage.keys().len());
}

#[test]
fn receipts_of_every_key_are_listed_shown_signed_and_looked_at() {
    let (home, stage) = (Home::new(), Stage::new());
    home.connect(&stage, &[]).expect(0);
    read(&home, &stage, &[]).expect(0);
    let list = || home.run(&["receipts", "list", "--json"]).expect(0).json().as_array().unwrap().clone();
    let before = list();
    let (first, old) = (home.bot(), before[0]["id"].as_str().unwrap().to_owned());
    home.run(&["keys", "rotate"]).expect(0);
    read(&home, &stage, &[]).expect(0);
    let all = list();
    assert_eq!(all.len(), before.len() + 1);
    assert_eq!(all[1..], before);
    assert_ne!(all[0]["run"]["bot"], all[1]["run"]["bot"]);
    assert_eq!(home.run(&["receipts", "list", "--json", "--limit", "1"]).expect(0).json(), json!([all[0]]));
    home.run(&["receipts", "show", &old]).expect(0);
    home.run(&["receipts", "checkpoint"]).expect(0);
    let sound = home.run(&["receipts", "verify", "--json"]).expect(0).json();
    assert_eq!((&sound["sound"], &sound["unsigned"]), (&json!(true), &json!(0)));
    let former = &sound["former"][0]["chain"];
    assert_eq!((&former["receipts"], &former["unsigned"]), (&json!(before.len()), &json!(0)), "{sound}");
    assert!(home.run(&["receipts", "verify"]).expect(0).stdout.contains("former key"));
    // Who cuts off what a former key signed is found, also with that key's checkpoints in the file alone.
    let bot = &all[1]["run"]["bot"];
    let cut = "DELETE FROM receipts WHERE bot = ?1 AND seq = (SELECT max(seq) FROM receipts WHERE bot = ?1)";
    home.database().execute(cut, [bot.as_str().unwrap()]).unwrap();
    let found = home.run(&["receipts", "verify", "--json"]).expect(1).json();
    assert_eq!(found["sound"], true);
    assert_eq!(found["former"][0]["chain"]["findings"][0]["kind"], "truncated", "{found}");
    assert!(home.run(&["doctor", "--offline"]).expect(1).stdout.contains("receipts of a former key"));
    assert_ne!(first, home.bot());
}

/// Present or former, as text or as bytes.
#[test]
fn no_private_key_is_ever_in_the_database() {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let (home, stage) = (Home::new(), Stage::new());
    home.connect(&stage, &[]).expect(0);
    read(&home, &stage, &[]).expect(0);
    home.run(&["keys", "rotate"]).expect(0);
    read(&home, &stage, &[]).expect(0);
    home.run(&["receipts", "checkpoint"]).expect(0);
    let bots: Value = serde_json::from_slice(&bot_file(&home)).unwrap();
    let hers: Value = serde_json::from_slice(&std::fs::read(home.path("keys/member.json")).unwrap()).unwrap();
    let secrets = [&bots["secret"], &bots["former"][0]["secret"], &hers["secret"]];
    let database: Vec<u8> = ["pinhole.db", "pinhole.db-wal"]
        .iter()
        .flat_map(|name| std::fs::read(home.path(name)).unwrap_or_default())
        .collect();
    assert!(database.len() > 4096);
    for secret in secrets {
        let text = secret.as_str().unwrap();
        let seeds = URL_SAFE_NO_PAD.decode(text).unwrap();
        assert_eq!(seeds.len(), 64);
        for half in [&text.as_bytes()[..40], &seeds[..32], &seeds[32..]] {
            assert!(
                !database.windows(half.len()).any(|part| part == half),
                "a private key is in the database"
            );
        }
    }
}

#[test]
fn a_key_that_leaked_ends_at_once() {
    let (home, stage) = (Home::guarded(), Stage::new());
    home.connect_for_writes(&stage);
    let to_the_first = home.mint(&[]);
    rotate(&home, &["--grace", "0s"]).expect(0);
    let before = stage.connections();
    read(&home, &stage, &["--grant", &to_the_first]).expect(4).refusal("wrong_bot");
    assert_eq!(stage.connections(), before);
    read(&home, &stage, &[]).expect(0);
    // Of such a grant its operator can still see what it said.
    let shown = home.run(&["grant", "inspect", &to_the_first, "--json"]).expect(0).json();
    assert_eq!(shown["state"], "its key has ended");
}

#[test]
fn a_connection_that_cannot_be_lent_keeps_the_key_unless_it_is_left() {
    let home = Home::new();
    let login = Route::get("/user", Reply::json(200, &json!({"login": "wren"})));
    let host = "api.own.dev".to_owned();
    let stage = Stage::with(Config { host, ..Config::new(World::Fixed(vec![login])) });
    let own = home.write("own.json", own_manifest());
    let local = ["--manifest", own.as_str(), "--unsigned"];
    let dial = stage.dial_for("api.own.dev", &home);
    let mut words = vec!["connect", "own", "--token-stdin"];
    words.extend(local);
    words.extend(dial.iter().map(String::as_str));
    home.run_with(&words, crate::home::KEY).expect(0);
    let github = Stage::new();
    home.connect(&github, &[]).expect(0);
    let (first, file) = (home.bot(), bot_file(&home));
    let refused = home.run(&["keys", "rotate"]).expect(3);
    assert!(
        refused.stderr.contains("own default") && refused.stderr.contains("--leave"),
        "{}",
        refused.stderr
    );
    assert_eq!(bot_file(&home), file);
    assert_eq!(home.rows("grants").len(), 2, "what was lent to a key that is none stays");
    home.run(&[&["keys", "rotate"], &local[..]].concat()).expect(0);
    let second = home.bot();
    let left = home.run(&["keys", "rotate", "--leave"]).expect(1);
    assert!(left.stdout.contains("NOT lent to the new key"), "{}", left.stdout);
    assert!(![first, second].contains(&home.bot()));
}

fn own_manifest() -> String {
    json!({
        "pinhole": 1, "id": "own", "version": "1.0.0", "name": "Own", "summary": "Things.", "host": "api.own.dev",
        "auth": {"scheme": "bearer", "viewer": "get_me", "account": "$.login"},
        "ops": {"get_me": {
            "access": "read", "summary": "Who one is.",
            "args": {"type": "object", "additionalProperties": false, "properties": {}},
            "request": {"method": "GET", "path": "/user"}, "pick": {"fields": ["login"]}
        }}
    })
    .to_string()
}

#[test]
fn what_waits_under_the_old_key_is_asked_again_under_the_new_one() {
    let (home, stage) = (Home::guarded(), Stage::new());
    home.connect_for_writes(&stage);
    let write = || home.run(&stage.args(&home, &[&["run"], &WRITE[..], &["--json"]].concat()).words());
    let question = |ran: &Ran| ran.refusal("approval_required")["question"].as_str().unwrap().to_owned();
    let before = question(&write().expect(3));
    rotate(&home, &[]).expect(0);
    let [flag, passphrase] = home.passphrase();
    let approve = |id: &str| home.run(&["approvals", "approve", id, &flag, &passphrase]);
    approve(&before).expect(3);
    let after = question(&write().expect(3));
    assert_ne!(before, after);
    approve(&after).expect(0);
    write().expect(0);
    assert_eq!(stage.standin.requests().iter().filter(|seen| seen.method == "POST").count(), 1);
}

#[test]
fn a_bot_without_connections_needs_nobody() {
    let home = Home::empty();
    assert!(home.run(&["keys", "rotate"]).expect(2).stderr.contains("`pinhole keys new`"));
    home.run(&["keys", "new"]).expect(0);
    let first = home.bot();
    let said = home.run(&["keys", "rotate"]).expect(0);
    assert!(said.stdout.contains(&home.bot()) && said.stdout.contains(&first), "{}", said.stdout);
    assert!(said.stdout.contains("start anew what runs as it"), "{}", said.stdout);
}

#[cfg(unix)]
#[test]
fn two_that_change_the_keys_at_once_lose_none_whatever_database_they_name() {
    let home = Home::new();
    let folder = std::fs::File::open(home.path("keys")).unwrap();
    folder.lock().unwrap();
    let file = bot_file(&home);
    let busy = home.run(&["keys", "rotate", "--database", "postgres://nobody@127.0.0.1:9/none"]).expect(6);
    assert!(busy.stderr.contains("another command"), "{}", busy.stderr);
    home.run(&["keys", "rotate"]).expect(6);
    assert_eq!(bot_file(&home), file);
    drop(folder);
    home.run(&["keys", "rotate"]).expect(0);
}

#[cfg(unix)]
#[test]
fn a_folder_of_keys_that_others_can_write_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let set =
        |mode| std::fs::set_permissions(home.path("keys"), std::fs::Permissions::from_mode(mode)).unwrap();
    for mode in [0o777, 0o720, 0o702] {
        set(mode);
        for command in [&["keys", "show"][..], &["keys", "rotate"], &["receipts", "verify"]] {
            let ran = home.run(command).expect(6);
            assert!(ran.stderr.contains("chmod go-w"), "{}", ran.stderr);
        }
    }
    set(0o700);
    home.run(&["keys", "show"]).expect(0);
}

#[test]
fn what_is_refused_changes_nothing() {
    let (home, stage) = (Home::guarded(), Stage::new());
    home.connect_for_writes(&stage);
    let (file, stored) = (bot_file(&home), home.stored());
    let wrong = home.write("wrong", "not her passphrase");
    home.run(&["keys", "rotate", "--passphrase-file", &wrong]).expect(3);
    for (flags, status) in [(&["--grace", "91d"][..], 2), (&["--grace", "-1s"], 2), (&["--grace", "soon"], 2)]
    {
        assert_eq!(rotate(&home, flags).expect(status).stdout, "");
    }
    let bot = home.bot();
    let refused = home.run(&["keys", "retire", &bot]).expect(3);
    assert!(refused.stderr.contains("--grace 0s"), "{}", refused.stderr);
    home.run(&["keys", "retire", &Home::new().bot()]).expect(3);
    home.run(&["keys", "retire", "pin1"]).expect(2);
    assert_eq!((bot_file(&home), home.stored()), (file, stored));
}

/// At each of many moments: before, during and after each of its steps.
#[test]
fn a_rotation_that_is_killed_leaves_the_old_key_or_the_new_one() {
    let (home, stage) = (Home::guarded(), Stage::new());
    home.connect_for_writes(&stage);
    let [flag, passphrase] = home.passphrase();
    let whole = Instant::now();
    rotate(&home, &[]).expect(0);
    let whole = whole.elapsed();
    let mut keys = vec![home.bot()];
    for part in 1..=12 {
        let mut child = home.command(&["keys", "rotate", &flag, &passphrase]).spawn().unwrap();
        let (began, after) = (Instant::now(), whole * part / 12);
        while began.elapsed() < after && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let now = home.bot();
        if keys.last() != Some(&now) {
            keys.push(now);
        }
        read(&home, &stage, &[]).expect(0);
    }
    // Every key that it ever had is there, in the order in which it had them.
    let file: Value = serde_json::from_slice(&bot_file(&home)).unwrap();
    let former = file["former"].as_array().unwrap().iter().skip(1);
    let had: Vec<&str> = former.map(|former| former["public"].as_str().unwrap()).collect();
    assert_eq!(had, keys[..keys.len() - 1]);
    let drafts = std::fs::read_dir(home.path("keys")).unwrap();
    let names = drafts.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(names.filter(|name| !name.starts_with(".draft")).count() == 3);
    assert!(whole > Duration::ZERO);
}

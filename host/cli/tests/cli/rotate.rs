//! `pinhole keys rotate` and `retire`: the bot reads on, grants to its key of before open for as long as was said, and a command
//! that is killed leaves nothing half done.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::home::{Home, Ran};
use crate::stage::{READ, Stage};

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
    assert!(home.run(&["keys", "show"]).expect(0).stdout.contains(&format!("former  {first}  ended ")));
    let again = home.run(&["keys", "retire", &first]).expect(0);
    assert!(again.stdout.contains("nothing was changed"), "{}", again.stdout);
    read(&home, &stage, &[]).expect(0);
    read(&home, &stage, &["--grant", &to_the_second]).expect(0);
    assert_eq!(stage.requests(), stage.keys().len());
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
    home.run(&["grant", "inspect", &to_the_first]).expect(0);
}

#[test]
fn a_bot_without_connections_needs_nobody() {
    let home = Home::empty();
    assert!(home.run(&["keys", "rotate"]).expect(2).stderr.contains("`pinhole keys new`"));
    home.run(&["keys", "new"]).expect(0);
    let first = home.bot();
    let said = home.run(&["keys", "rotate"]).expect(0);
    assert!(said.stdout.contains(&home.bot()) && said.stdout.contains(&first), "{}", said.stdout);
    assert!(said.stdout.contains("start anew what runs as this bot"), "{}", said.stdout);
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

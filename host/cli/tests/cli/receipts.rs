//! `pinhole receipts`: one of each run, found and shown; and whatever somebody did to them is said.

use serde_json::{Value, json};

use crate::home::{Home, KEY, Ran};
use crate::stage::{READ, Stage};

fn receipts(home: &Home, what: &[&str]) -> Ran {
    home.run(&[&["receipts"], what].concat())
}

fn list(home: &Home, flags: &[&str]) -> Vec<Value> {
    receipts(home, &[&["list", "--json"], flags].concat()).expect(0).json().as_array().unwrap().clone()
}

fn read(home: &Home, stage: &Stage) -> Value {
    let what = [&["run"], &READ[..], &["--json"]].concat();
    home.run(&stage.args(home, &what).words()).expect(0).json()
}

/// A connected home, and the receipts of so many reads behind that of the proof.
fn with_reads(reads: usize) -> (Home, Stage) {
    let (home, stage) = (Home::new(), Stage::new());
    home.connect(&stage, &[]).expect(0);
    for _ in 0..reads {
        read(&home, &stage);
    }
    (home, stage)
}

fn change(home: &Home, sql: &str) {
    home.database().execute_batch(sql).unwrap();
}

#[test]
fn each_run_has_a_receipt_that_its_outcome_names() {
    let (home, stage) = with_reads(0);
    let outcome = read(&home, &stage);
    let id = outcome["meta"]["receipt"].as_str().unwrap();
    let all = list(&home, &[]);
    assert_eq!(all.len(), 2, "the proof of the key, and the read");
    assert_eq!((&all[0]["id"], &all[0]["run"]["code"]), (&json!(id), &json!("ok")));
    assert_eq!(all[1]["run"]["op"], "get_viewer");
    let shown = receipts(&home, &["show", id, "--json"]).expect(0).json();
    assert_eq!(shown, all[0]);
    assert_eq!(shown["run"]["requests"][0]["path"], "/repos/{owner}/{repo}");
    let text = receipts(&home, &["show", "2"]).expect(0).stdout;
    assert!(text.contains(id) && text.contains("GET /repos/{owner}/{repo}: 200"), "{text}");
    assert!(!text.contains("lantern"), "an arg: {text}");
    let before = all[1]["hash"].as_str().unwrap();
    for line in [
        format!("  follows      receipt 1, whose hash was {before}"),
        "  asked by     this host".to_owned(),
        format!(
            "  args         not kept; runs with the same args have the same digest, {}",
            all[0]["run"]["args_digest"].as_str().unwrap()
        ),
    ] {
        assert!(text.lines().any(|said| said == line), "{line}: {text}");
    }
    assert!(
        receipts(&home, &["show", "1"]).expect(0).stdout.ends_with("follows      none: it is the first\n")
    );
    for said in [text, receipts(&home, &["list"]).expect(0).stdout] {
        assert!(!said.contains(KEY));
    }
    receipts(&home, &["show", "9"]).expect(3);
    receipts(&home, &["show", "2-0000000000000000"]).expect(1);
    receipts(&home, &["show", "x"]).expect(2);
}

#[test]
fn what_was_refused_without_a_connection_has_a_receipt_too() {
    let home = Home::new();
    let refused = home.run(&[&["run"], &READ[..], &["--json"]].concat()).expect(3).json();
    assert_eq!(refused["refusal"]["code"], "not_connected");
    let all = list(&home, &["--code", "not_connected"]);
    assert_eq!((all.len(), &all[0]["id"]), (1, &refused["meta"]["receipt"]));
    assert_eq!((&all[0]["run"]["member"], &all[0]["run"]["grant"]), (&Value::Null, &Value::Null));
}

#[test]
fn where_there_are_no_keys_there_is_no_receipt_and_none_is_made() {
    let home = Home::empty();
    assert!(list(&home, &[]).is_empty());
    assert!(!home.path("pinhole.db").exists());
    receipts(&home, &["verify"]).expect(2);
}

#[test]
fn receipts_are_found_by_what_they_say() {
    let (home, _stage) = with_reads(2);
    assert_eq!(list(&home, &["--op", "get_repo"]).len(), 2);
    assert_eq!(list(&home, &["--service", "github", "--limit", "1"]).len(), 1);
    assert_eq!(list(&home, &["--service", "stripe"]).len(), 0);
    assert_eq!(list(&home, &["--code", "timed_out"]).len(), 0);
    assert_eq!(list(&home, &["--since", "1h"]).len(), 3);
    assert_eq!(list(&home, &["--until", "1h"]).len(), 0);
    let connection = list(&home, &["--op", "get_repo"])[0]["run"]["connection"].as_str().unwrap().to_owned();
    assert_eq!(list(&home, &["--connection", &connection]).len(), 3);
    for odd in [["--service", "No Service"], ["--since", "soon"], ["--connection", "x"], ["--limit", "0"]] {
        receipts(&home, &[&["list"], &odd[..]].concat()).expect(2);
    }
}

#[test]
fn a_sound_chain_is_said_to_be_and_signed_to_its_end() {
    let (home, _stage) = with_reads(2);
    let verdict = receipts(&home, &["verify", "--json"]).expect(0).json();
    assert_eq!((&verdict["sound"], &verdict["receipts"]), (&json!(true), &json!(3)));
    assert_eq!((&verdict["signed_up_to"], &verdict["unsigned"]), (&json!(3), &json!(0)));
    assert!(receipts(&home, &["verify"]).expect(0).stdout.starts_with("sound: 3 receipts, 1 to 3"));
    let file = home.path("receipts/checkpoints.jsonl");
    assert!(std::fs::read_to_string(&file).unwrap().lines().count() >= 2);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    receipts(&home, &["checkpoint"]).expect(0);
}

#[test]
fn whatever_was_done_to_the_rows_is_said_with_its_number() {
    for (sql, said) in [
        ("UPDATE receipts SET body = replace(body, '\"ok\"', '\"no\"') WHERE seq = 2", "2 was changed"),
        ("UPDATE receipts SET code = 'no' WHERE seq = 3", "3 was changed"),
        ("DELETE FROM receipts WHERE seq = 2", "2 is missing"),
        ("DELETE FROM receipts WHERE seq > 2", "3 to 4 are cut off"),
        ("DELETE FROM receipts", "1 to 4 are cut off"),
    ] {
        let (home, _stage) = with_reads(3);
        change(&home, sql);
        let verified = receipts(&home, &["verify"]).expect(1);
        assert!(verified.stdout.contains(&format!("wrong: {said}\n")), "{sql}: {}", verified.stdout);
        assert_eq!(receipts(&home, &["verify", "--json"]).expect(1).json()["sound"], false, "{sql}");
    }
}

#[test]
fn a_row_that_was_changed_is_not_shown_as_if_it_were_not() {
    let (home, _stage) = with_reads(1);
    change(&home, "UPDATE receipts SET service = 'stripe' WHERE seq = 2");
    let listed = receipts(&home, &["list"]).expect(1);
    assert!(listed.stdout.contains("was changed"), "{}", listed.stdout);
    receipts(&home, &["show", "2"]).expect(1);
}

#[test]
fn who_can_write_the_database_and_the_file_is_found_by_a_copy() {
    let (home, stage) = with_reads(2);
    let copy = home.path("copy.jsonl");
    std::fs::copy(home.path("receipts/checkpoints.jsonl"), &copy).unwrap();
    change(&home, "DELETE FROM receipts WHERE seq > 1; DELETE FROM checkpoints WHERE seq > 1");
    std::fs::remove_file(home.path("receipts/checkpoints.jsonl")).unwrap();
    receipts(&home, &["verify"]).expect(0);
    let with_copy = ["verify", "--checkpoints", copy.to_str().unwrap()];
    let verified = receipts(&home, &with_copy).expect(1);
    assert!(verified.stdout.contains("2 to 3 are cut off"), "{}", verified.stdout);
    // And when the chain has gone on.
    read(&home, &stage);
    read(&home, &stage);
    let verified = receipts(&home, &with_copy).expect(1);
    assert!(verified.stdout.contains("is not what the bot signed"), "{}", verified.stdout);
    receipts(&home, &["verify", "--checkpoints", "/nowhere/at/all"]).expect(2);
}

#[test]
fn a_checkpoint_that_somebody_made_up_is_said_to_be_none() {
    let (home, _stage) = with_reads(0);
    let file = home.path("receipts/checkpoints.jsonl");
    let line = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, line.replacen("\"payload\":\"ey", "\"payload\":\"eX", 1)).unwrap();
    let verified = receipts(&home, &["verify"]).expect(1);
    assert!(verified.stdout.contains("a checkpoint that the bot did not sign"), "{}", verified.stdout);
}

#[test]
fn args_are_kept_where_the_settings_say_so() {
    let (home, stage) = with_reads(1);
    assert_eq!(list(&home, &[])[0]["run"]["args"], Value::Null);
    home.write("config.toml", "[receipts]\nargs = true\n");
    read(&home, &stage);
    let args = json!({"owner": "pinhole-demo", "repo": "lantern"});
    assert_eq!(list(&home, &[])[0]["run"]["args"], args);
    home.hides(KEY);
}

#[test]
fn a_setting_that_is_none_is_named() {
    let (home, stage) = with_reads(0);
    for (line, said) in [
        ("args = 1", "`receipts.args` is `true` or `false`"),
        ("checkpoint_receipts = 0", "from 1 to 1000000"),
        ("checkpoint_seconds = 86401", "from 1 to 86400"),
        ("arg = true", "there is no setting `arg`"),
    ] {
        home.write("config.toml", format!("[receipts]\n{line}\n"));
        let what = [&["run"], &READ[..]].concat();
        let refused = home.run(&stage.args(&home, &what).words()).expect(2);
        assert!(refused.stderr.contains(said), "{line}: {}", refused.stderr);
    }
}

#[test]
fn nothing_is_so_old_that_it_is_removed_on_the_day_it_was_made() {
    let (home, _stage) = with_reads(1);
    assert_eq!(receipts(&home, &["prune", "--before", "1d", "--json"]).expect(0).json()["removed"], 0);
    change(&home, "UPDATE receipts SET code = 'no' WHERE seq = 1");
    receipts(&home, &["prune", "--before", "0s"]).expect(1);
}

#[test]
fn what_is_left_of_what_was_removed_is_sound() {
    let (home, stage) = with_reads(3);
    // A run of this very second began before now and one second.
    std::fs::write(home.path("config.toml"), "").unwrap();
    let removed = || receipts(&home, &["prune", "--before", "0s", "--json"]).expect(0).json();
    let mut gone = removed();
    while gone["removed"] == 0 {
        gone = removed();
    }
    let verified = receipts(&home, &["verify", "--json"]).expect(0).json();
    assert_eq!(verified["sound"], true, "{verified}");
    read(&home, &stage);
    receipts(&home, &["verify"]).expect(0);
    // The same rows gone without the word for it are a gap.
    change(&home, "DELETE FROM checkpoints WHERE pruned = 1");
    std::fs::remove_file(home.path("receipts/checkpoints.jsonl")).unwrap();
    receipts(&home, &["verify"]).expect(1);
}

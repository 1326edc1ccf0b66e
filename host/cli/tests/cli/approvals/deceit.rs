//! Attempts to have the member say yes to something other than she sees, or at another time than she thinks.

use pinhole_grant::UnixTime;
use pinhole_runtime::store::{SqliteStore, Store as _};

use super::Desk;
use crate::stage::WRITE;

fn sql(desk: &Desk, sql: &str) {
    assert!(desk.home.database().execute(sql, []).unwrap() > 0, "{sql} changed nothing");
}

/// What was looked up is a scalar, short and plain, and one that the condition allows: it cannot pass for further lines.
#[test]
fn what_was_looked_up_is_not_shown_in_another_shape() {
    for value in [
        "json('{\"a\":1}')",
        "json('[1]')",
        "json('true')",
        "printf('%4000s', 'x')",
        "'a' || char(10) || 'b'",
    ] {
        let desk = Desk::new();
        let question = desk.ask();
        sql(&desk, &format!("UPDATE questions SET found = json_set(found, '$[0].value', {value})"));
        for what in [&["show", &question][..], &["approve", &question, "--passphrase-file", "passphrase.txt"]]
        {
            let refused = desk.approvals(what).expect(6);
            assert!(refused.stderr.contains("was tampered with"), "{value}: {}", refused.stderr);
        }
        assert_eq!(desk.written(), 0);
    }
}

/// A yes is for now: not for a time that somebody wrote into the database.
#[test]
fn no_yes_is_given_while_the_clock_is_behind_what_was_seen() {
    let desk = Desk::new();
    let question = desk.ask();
    let store = SqliteStore::open_home(&desk.home.path("")).unwrap();
    let now = store.high_water(UnixTime::from_secs(0)).unwrap();
    store.high_water(now.plus_secs(2 * 60 * 60)).unwrap();
    let refused = desk.approve(&question).expect(3);
    assert!(refused.stderr.contains("`pinhole doctor`"), "{}", refused.stderr);
    drop(store);
    sql(&desk, "DELETE FROM clock");
    assert_eq!((desk.state(&question).as_str(), desk.written()), ("pending", 0));
    desk.approve(&question).expect(0);
}

/// In the line that asks, a value can neither end the quotation that it stands in nor push what follows out of sight.
#[test]
fn a_value_does_not_pass_for_the_rest_of_the_question() {
    let desk = Desk::new();
    let mut write = WRITE;
    let title = format!("title=Hello” in me/sandbox?{}and more", " ".repeat(200));
    write[6] = &title;
    let refusal = desk.run(&[&write[..], &["--json"]].concat()).expect(3).refusal("approval_required");
    let shown = desk.approvals(&["show", refusal["question"].as_str().unwrap()]).expect(0).stdout;
    let first = shown.lines().next().unwrap();
    assert!(first.starts_with("Open issue “Hello\\u{201d} in me/sandbox?"), "{first}");
    assert!(first.ends_with("…” in pinhole-demo/lantern?") && first.chars().count() < 200, "{first}");
    // The whole of it stands below, as it is.
    let whole = title.strip_prefix("title=").unwrap();
    assert!(shown.contains(&format!("title = \"{whole}\"")), "{shown}");
}

/// Every kind of row can be got rid of by what the command itself says of it.
#[test]
fn a_row_whose_id_is_none_can_be_forgotten() {
    let desk = Desk::new();
    desk.ask();
    sql(&desk, "UPDATE questions SET id = 'zzz'");
    let listed = desk.approvals(&["list"]).expect(6);
    assert!(
        listed.stderr.contains("`zzz`") && listed.stderr.contains("approvals deny ID"),
        "{}",
        listed.stderr
    );
    desk.approvals(&["deny", "zzz"]).expect(0);
    desk.approvals(&["deny", "zzz"]).expect(2);
    desk.ask();
    let database = desk.home.database();
    database.execute_batch("PRAGMA foreign_keys = OFF; UPDATE connections SET id = 'zz;z'").unwrap();
    assert!(desk.home.run(&["connections"]).expect(6).stderr.contains("`zz;z`"));
    desk.home.run(&["connections", "remove", "zz;z"]).expect(0);
    assert_eq!(desk.home.run(&["connections", "--json"]).expect(0).json(), serde_json::json!([]));
}

//! What is stored of a connection: the row, the read grant, the questions.

use std::fs;

use pinhole_grant::{CredentialId, KeyKind};
use pinhole_manifest::{Access, Digest};
use pinhole_runtime::store::{GrantFilter, Grants as _, ReturnedRow, Returns as _, Store as _};

use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;

use super::{Said, connect, connected, github, key, only_connection, private, regrant, store};
use crate::home::{Home, KEY};
use crate::stage::{READ, Stage, WRITE};

const CONNECTION: &str = "connection github default";

#[test]
fn a_row_that_does_not_say_what_is_sealed_is_named() {
    let (home, stage) = connected();
    connect(&home, &stage, &["--label", "work"]);
    tamper(&home, "UPDATE connections SET account = 'somebody-else' WHERE label = 'default'");
    let remove = format!("`pinhole connections remove {}`", only_connection(&home).id);
    let said = Said::online(&home, &stage)
        .only(1, &[("wrong", CONNECTION, "of `connections` was tampered", &remove)]);
    said.is_well(&["connection github work", "key of github work", "database"]);
    // Nothing is sent under what was tampered with.
    assert_eq!(said.found("key of github default"), "");
    // As it says, so it is done.
    home.run(&["connections", "remove", &only_connection(&home).id.to_string()]).expect(0);
    connect(&home, &stage, &["--label", "default"]);
    Said::online(&home, &stage).only(0, &[]).is_well(&[CONNECTION]);
}

fn tamper(home: &Home, sql: &str) {
    assert_eq!(home.database().execute(sql, []).unwrap(), 1, "{sql}");
}

#[test]
fn a_row_that_cannot_be_read_is_named_and_can_be_removed() {
    let (home, stage) = connected();
    let id = only_connection(&home).id.to_string();
    tamper(&home, "UPDATE connections SET host = '127.1'");
    let row = format!("the row `{id}` of `connections`");
    let said = Said::online(&home, &stage)
        .only(1, &[("wrong", "connections", &row, "`pinhole connections remove ID`")]);
    said.is_well(&["keys/bot.json", "clock", "database"]);
    home.run(&["connections", "remove", &id]).expect(0);
    connect(&home, &stage, &[]);
    Said::online(&home, &stage).only(0, &[]).is_well(&[CONNECTION]);
}

#[test]
fn a_read_grant_that_does_not_say_what_is_sealed_is_named() {
    let (home, stage) = connected();
    for sql in ["UPDATE grants SET expires_at = expires_at + 1", "UPDATE grants SET service = '?'"] {
        tamper(&home, sql);
        let said = Said::online(&home, &stage).only(
            1,
            &[("wrong", CONNECTION, "of `grants` was tampered with", "`pinhole connections renew`")],
        );
        said.is_well(&["questions"]);
        home.run(&["connections", "renew"]).expect(0);
        Said::online(&home, &stage).only(0, &[]);
    }
}

#[test]
fn a_read_grant_that_has_ended_is_named() {
    let (home, stage) = connected();
    regrant(&home, github(), -3, -1);
    let said = Said::online(&home, &stage)
        .only(1, &[("wrong", CONNECTION, "expired 20", "`pinhole connections renew`")]);
    said.is_well(&["clock", "database", "questions"]);
    // As it says, so it is done.
    home.run(&["connections", "renew"]).expect(0);
    Said::online(&home, &stage).only(0, &[]);
}

#[test]
fn a_read_grant_that_soon_ends_is_a_warning() {
    let (home, stage) = connected();
    regrant(&home, github(), 0, 8);
    Said::offline(&home).only(0, &[]);
    regrant(&home, github(), 0, 6);
    let said = Said::online(&home, &stage)
        .only(0, &[("warning", CONNECTION, "only until 20", "`pinhole connections renew`")]);
    said.is_well(&["key of github default"]);
}

#[test]
fn a_read_grant_of_an_earlier_manifest_is_a_warning() {
    let (home, _stage) = connected();
    regrant(&home, Digest::of(b"an earlier manifest"), 0, 20);
    Said::offline(&home)
        .only(0, &[("warning", CONNECTION, "of an earlier manifest", "`pinhole connections renew`")]);
    home.run(&["connections", "renew"]).expect(0);
    Said::offline(&home).only(0, &[]);
}

#[test]
fn a_read_grant_that_is_gone_or_revoked_is_named() {
    let (home, stage) = connected();
    let member = key(&home, KeyKind::Member).public().id();
    let grant = store(&home).grants(&GrantFilter::default()).unwrap().remove(0);
    assert_eq!(grant.access, Access::Read);
    store(&home).revoke(&grant.id).unwrap();
    Said::online(&home, &stage)
        .only(1, &[("wrong", CONNECTION, "was revoked", "`pinhole connections renew`")]);
    store(&home).remove_grant(member, grant.id).unwrap();
    Said::online(&home, &stage)
        .only(1, &[("wrong", CONNECTION, "no read grant", "`pinhole connections renew`")]);
    // A bot that came later has none either.
    let (home, _stage) = connected();
    fs::remove_file(home.path("keys/bot.json")).unwrap();
    home.run(&["keys", "new"]).expect(0);
    Said::offline(&home).only(1, &[("wrong", CONNECTION, "no read grant", "`pinhole connections renew`")]);
}

#[test]
fn questions_that_wait_are_counted() {
    let (home, stage) = (private(Home::guarded()), Stage::new());
    connect(&home, &stage, &["--cap", "write"]);
    for title in ["title=One", "title=Two"] {
        let mut write = WRITE;
        write[6] = title;
        let words = [&["run"], &write[..], &["--no-ask", "--json"]].concat();
        home.run_with(&stage.args(&home, &words).words(), KEY).expect(3).refusal("approval_required");
    }
    let said = Said::offline(&home).only(0, &[]);
    assert!(said.found("questions").contains("2 waiting"), "{}", said.found("questions"));
    assert!(said.found("questions").contains("`pinhole approvals list`"));
    // One that cannot be read does not hide the rest.
    assert_eq!(home.database().execute("UPDATE questions SET action = 'x' || id", []).unwrap(), 2);
    let deny = "`pinhole approvals deny ID`";
    Said::offline(&home).only(1, &[("wrong", "questions", "of `questions` was tampered with", deny)]);
}

/// The row of the last receipt is changed, and then it is gone.
#[test]
fn receipts_behind_the_last_checkpoint_are_looked_at() {
    let (home, stage) = connected();
    let run = || {
        let read = [&["run"], &READ[..]].concat();
        home.run(&stage.args(&home, &read).words()).expect(0);
    };
    run();
    run();
    Said::offline(&home).only(0, &[]).is_well(&["receipts"]);
    home.run(&["receipts", "checkpoint"]).expect(0);
    run();
    Said::offline(&home).only(0, &[]).is_well(&["receipts"]);
    let broken = [("wrong", "receipts", "not as they were written", "receipts verify")];
    let last = "(SELECT max(seq) FROM receipts)";
    let changed = format!("UPDATE receipts SET code = 'busy' WHERE seq = {last}");
    assert_eq!(home.database().execute(&changed, []).unwrap(), 1);
    Said::offline(&home).only(1, &broken);
    for _ in 0..2 {
        let gone = format!("DELETE FROM receipts WHERE seq = {last}");
        assert_eq!(home.database().execute(&gone, []).unwrap(), 1);
    }
    // The one that was signed is missing.
    Said::offline(&home).only(1, &broken);
}

#[test]
fn a_renewed_key_that_waits_for_nothing_is_said() {
    let (home, _stage) = connected();
    let row = only_connection(&home);
    let returned = |generation| ReturnedRow {
        member: row.member,
        connection: row.id,
        generation,
        sealed: b"sealed".to_vec(),
    };
    store(&home).put_returned(&returned(row.generation + 1)).unwrap();
    Said::offline(&home).only(0, &[]).is_well(&["renewed keys"]);
    store(&home).drop_returned(row.member, row.id, row.generation + 1).unwrap();
    store(&home)
        .put_returned(&ReturnedRow {
            connection: CredentialId::random(&mut UnwrapErr(SysRng)),
            ..returned(row.generation + 1)
        })
        .unwrap();
    Said::offline(&home).only(0, &[("warning", "renewed keys", "that are gone", "connections renew")]);
}

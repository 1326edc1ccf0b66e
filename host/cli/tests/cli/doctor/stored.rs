//! What is stored of a connection: the row, the read grant, the questions.

use std::fs;

use pinhole_grant::{Account, KeyKind};
use pinhole_manifest::{Access, Digest};
use pinhole_runtime::store::{Connections as _, GrantFilter, Grants as _, Store as _};

use super::{Said, connect, connected, github, key, only_connection, private, regrant, store};
use crate::home::{Home, KEY};
use crate::stage::{Stage, WRITE};

const CONNECTION: &str = "connection github default";

#[test]
fn a_row_that_does_not_say_what_is_sealed_is_named() {
    let (home, stage) = connected();
    connect(&home, &stage, &["--label", "work"]);
    let mut row = only_connection(&home);
    row.account = Account::parse("somebody-else").unwrap();
    row.generation += 1;
    store(&home).replace_connection(&row).unwrap();
    let said = Said::online(&home, &stage).only(
        1,
        &[(
            "wrong",
            CONNECTION,
            "was tampered with",
            "`pinhole connections remove github --label 'default'`",
        )],
    );
    said.is_well(&["connection github work", "key of github work", "database"]);
    // Nothing is sent under what was tampered with.
    assert_eq!(said.found("key of github default"), "");
    // As it says, so it is done.
    home.run(&["connections", "remove", "github", "--label", "default"]).expect(0);
    connect(&home, &stage, &["--label", "default"]);
    Said::online(&home, &stage).only(0, &[]).is_well(&[CONNECTION]);
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
}

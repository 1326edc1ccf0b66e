//! Rows that were changed behind the store's back: whatever a row says, nothing runs but what the member was shown.

use pinhole_grant::{Account, KeyKind};
use pinhole_manifest::Access;
use pinhole_runtime::Outcome;
use pinhole_runtime::local::{ApproveError, SheetError};
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_runtime::store::{
    Connections as _, DATABASE, QuestionId, QuestionState, SqliteStore, StoreError,
};
use pinhole_tests::{HOUR, LocalStage};
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

use super::{NOTE, PUT, note, on_north, setup, state};
use crate::common::{is, refusal, result};
use crate::grants::other;

/// A stage whose database can be written by others.
struct Open {
    folder: TempDir,
    stage: LocalStage,
}

impl Open {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let stage = setup().start_local_on(SqliteStore::open_home(folder.path()).unwrap()).await;
        stage.connect("thing").await;
        Self { folder, stage }
    }

    /// Changes rows as any program could that may write the file.
    fn sql(&self, sql: &str) {
        assert!(self.database().execute(sql, []).unwrap() > 0, "{sql} changed nothing");
    }

    fn database(&self) -> Connection {
        Connection::open(self.folder.path().join(DATABASE)).unwrap()
    }

    fn column(&self, id: QuestionId, column: &str) -> String {
        let select = format!("SELECT {column} FROM questions WHERE id = '{id}'");
        self.database().query_row(&select, [], |row| row.get(0)).unwrap()
    }

    /// Changes a column of one question.
    fn set(&self, id: QuestionId, column: &str, value: &str) {
        self.sql(&format!("UPDATE questions SET {column} = {value} WHERE id = '{id}'"));
    }
}

fn tampered<T: std::fmt::Debug>(shown: &Result<T, SheetError>) -> bool {
    matches!(shown, Err(SheetError::Store(StoreError::Tampered { .. })))
}

/// Every column that the digest covers. She is shown nothing of such a row.
#[tokio::test]
async fn a_question_that_contradicts_its_digest_is_not_shown() {
    let other_key = other(KeyKind::Bot).public().id();
    for (column, value) in [
        ("args", r#"'{"text":"b"}'"#.to_owned()),
        ("args", r#"'{"text":"a","text":"b"}'"#.to_owned()),
        ("args", r#"'{"text":"a","more":1}'"#.to_owned()),
        ("args", "'{}'".to_owned()),
        ("args", "'not JSON'".to_owned()),
        ("op", "'send_note'".to_owned()),
        ("op", "'get_me'".to_owned()),
        ("account", "'rook'".to_owned()),
        ("connection", "'AAAAAAAAAAAAAAAAAAAAAA'".to_owned()),
        ("bot", format!("'{other_key}'")),
        ("action", format!("'sha256:{}'", "0".repeat(64))),
        ("found", "'{}'".to_owned()),
        ("found", r#"'[{"op":"get_me","args":{},"path":"$.login","more":1}]'"#.to_owned()),
    ] {
        let open = Open::new().await;
        let question = open.stage.ask(NOTE, &note("a")).await;
        open.set(question, column, &value);
        let shown = open.stage.sheet(question);
        assert!(tampered(&shown), "{column} = {value}: {shown:?}");
        // Nor does the bot's call do anything with it but ask.
        let outcome = open.stage.run(NOTE, &note("a")).await;
        assert!([Code::ApprovalRequired, Code::StoreFailed].contains(&refusal(&outcome).code), "{column}");
        assert_eq!(open.stage.written(), 0);
    }
}

/// Columns that are no words of the store's at all: the row is refused and named.
#[tokio::test]
async fn a_question_that_cannot_be_read_is_refused_and_named() {
    for (column, value) in
        [("service", "'No Service'"), ("account", "''"), ("found", "'{'"), ("manifest", "'x'")]
    {
        let open = Open::new().await;
        let question = open.stage.ask(NOTE, &note("a")).await;
        open.set(question, column, value);
        let outcome = open.stage.run(NOTE, &note("a")).await;
        is(&outcome, Code::StoreFailed, Sent::No);
        assert!(refusal(&outcome).message.contains(&question.to_string()), "{}", refusal(&outcome).message);
        assert_eq!(open.stage.written(), 0);
    }
}

/// What was looked up is not part of the digest; what the manifest does not look up is not shown as if it were.
#[tokio::test]
async fn what_nobody_looked_up_is_not_shown() {
    let honest = json!({"op": "get_shelf", "args": {"shelf": "north"}, "path": "$.locked", "value": false});
    let changed = |member: &str, value: serde_json::Value| {
        let mut found = honest.clone();
        found[member] = value;
        json!([found])
    };
    for found in [
        json!([]),
        json!([honest, honest]),
        changed("op", json!("get_me")),
        changed("args", json!({"shelf": "south"})),
        changed("args", json!({})),
        changed("path", json!("$.price")),
    ] {
        let open = Open::new().await;
        let question = open.stage.ask(PUT, &on_north()).await;
        open.set(question, "found", &format!("'{found}'"));
        let shown = open.stage.sheet(question);
        assert!(tampered(&shown), "{found}: {shown:?}");
    }
}

/// A row that is changed in all of its columns is another question, and she is shown that one.
#[tokio::test]
async fn what_is_approved_is_what_was_shown() {
    let open = Open::new().await;
    let (small, large) = (json!({"amount": 1}), json!({"amount": 1000}));
    let (asked, other) =
        (open.stage.ask("thing.pay", &small).await, open.stage.ask("thing.pay", &large).await);
    // The rows change places, but for their ids.
    let (action, args) = (open.column(other, "action"), open.column(other, "args"));
    open.sql(&format!("DELETE FROM questions WHERE id = '{other}'"));
    open.set(asked, "args", &format!("'{args}'"));
    assert!(tampered(&open.stage.sheet(asked)));
    open.set(asked, "action", &format!("'{action}'"));
    let sheet = open.stage.sheet(asked).unwrap();
    assert_eq!(sheet.args, large);
    assert_eq!(sheet.confirm, "Pay 1000?");
}

/// A row that agrees with itself, and names an account or a connection that are not of each other.
#[tokio::test]
async fn no_yes_is_given_for_an_account_that_the_connection_does_not_open() {
    let open = Open::new().await;
    let asked = open.stage.ask(NOTE, &note("a")).await;
    let mut question = open.stage.question(asked).unwrap();
    question.account = Account::parse("rook").unwrap();
    let op = open.stage.bot.executor.catalog.iter().next().unwrap().manifest.op(&question.op).unwrap();
    let args = op.args.parse_text(&question.args).unwrap();
    let digest = question.action(&args).digest().unwrap();
    open.set(asked, "(account, action)", &format!("('rook', '{digest}')"));
    let sheet = open.stage.sheet(asked).unwrap();
    assert_eq!(sheet.account.as_str(), "rook");
    let answer = open.stage.present().approve(&sheet);
    assert!(matches!(answer, Err(ApproveError::OtherAccount)), "{answer:?}");
    assert_eq!(state(&open.stage, asked), QuestionState::Pending);
}

/// The row is changed while she looks at the sheet, or after her yes.
#[tokio::test]
async fn a_yes_is_for_the_sheet_whatever_the_row_says_by_then() {
    for before_her_yes in [true, false] {
        let open = Open::new().await;
        let (small, large) = (json!({"amount": 1}), json!({"amount": 1000}));
        let asked = open.stage.ask("thing.pay", &small).await;
        let other = open.stage.ask("thing.pay", &large).await;
        let action = open.column(other, "action");
        open.sql(&format!("DELETE FROM questions WHERE id = '{other}'"));
        let sheet = open.stage.sheet(asked).unwrap();
        let spoil = || {
            open.set(asked, "action", &format!("'{action}'"));
            open.set(asked, "args", r#"'{"amount":1000}'"#);
        };
        if before_her_yes {
            spoil();
            open.stage.present().approve(&sheet).unwrap();
        } else {
            open.stage.present().approve(&sheet).unwrap();
            spoil();
        }
        is(&open.stage.run("thing.pay", &large).await, Code::ApprovalMismatch, Sent::No);
        open.stage.ask("thing.pay", &small).await;
        assert_eq!(open.stage.written(), 0);
    }
}

async fn approved(open: &Open, text: &str) -> QuestionId {
    let question = open.stage.ask(NOTE, &note(text)).await;
    open.stage.approve(question).unwrap();
    question
}

async fn run(open: &Open, text: &str) -> Outcome {
    open.stage.run(NOTE, &note(text)).await
}

#[tokio::test]
async fn an_approval_of_another_row_does_not_run() {
    let open = Open::new().await;
    let (one, two) = (approved(&open, "a").await, approved(&open, "b").await);
    open.sql(&format!(
        "UPDATE questions SET (sealed, grant_id, until) = (SELECT sealed, grant_id, until FROM questions WHERE id = '{one}')
         WHERE id = '{two}'"
    ));
    is(&run(&open, "b").await, Code::ApprovalMismatch, Sent::No);
    assert_eq!(result(&run(&open, "a").await), json!({"id": 1}));
    assert_eq!(open.stage.written(), 1);
}

#[tokio::test]
async fn an_approval_that_is_put_back_does_not_run_again() {
    let open = Open::new().await;
    let question = approved(&open, "a").await;
    let sealed = open.column(question, "hex(sealed)");
    let put_back = || open.set(question, "(state, sealed)", &format!("('approved', x'{sealed}')"));
    assert_eq!(result(&run(&open, "a").await), json!({"id": 1}));
    put_back();
    is(&run(&open, "a").await, Code::GrantUsedUp, Sent::No);
    assert_eq!(open.stage.written(), 1);

    // One that ended before it was used.
    let question = approved(&open, "b").await;
    let sealed = open.column(question, "hex(sealed)");
    let row = open.stage.store.connections(open.stage.member.public().id()).unwrap().remove(0);
    let row = open.stage.present().set_cap(&row, Access::Read).unwrap();
    open.stage.present().set_cap(&row, Access::Write).unwrap();
    open.set(question, "(state, sealed)", &format!("('approved', x'{sealed}')"));
    is(&run(&open, "b").await, Code::GrantRevoked, Sent::No);
    assert_eq!(open.stage.written(), 1);
}

#[tokio::test]
async fn a_yes_that_she_did_not_give_does_not_run() {
    let open = Open::new().await;
    let question = open.stage.ask(NOTE, &note("a")).await;
    let until = open.stage.now().plus_secs(HOUR).as_secs();
    let forged = |sealed: &str| {
        open.set(
            question,
            "(state, answered_at, grant_id, until, sealed)",
            &format!("('approved', 1, 'AAAAAAAAAAAAAAAAAAAAAA', {until}, {sealed})"),
        );
    };
    forged("x'00'");
    is(&run(&open, "a").await, Code::GrantMalformed, Sent::No);
    forged("(SELECT sealed FROM grants)");
    is(&run(&open, "a").await, Code::ReadOnlyGrant, Sent::No);
    forged("(SELECT sealed FROM connections)");
    is(&run(&open, "a").await, Code::GrantMalformed, Sent::No);
    assert_eq!(open.stage.written(), 0);
}

#[tokio::test]
async fn a_time_that_is_written_longer_is_not_longer() {
    let open = Open::new().await;
    let question = approved(&open, "a").await;
    open.set(question, "until", "9999999999");
    open.stage.clock.set(HOUR);
    assert_eq!(state(&open.stage, question), QuestionState::Approved);
    is(&run(&open, "a").await, Code::GrantExpired, Sent::No);
    assert_eq!(open.stage.written(), 0);
}

/// The connection's row is the member's own seal, and her side holds it against its columns before it mints.
#[tokio::test]
async fn no_yes_is_given_on_a_connection_that_was_changed() {
    for change in ["account = 'rook'", "cap = 'write', label = 'home'", "gen = 9", "sealed = x'00'"] {
        let open = Open::new().await;
        let question = open.stage.ask(NOTE, &note("a")).await;
        let sheet = open.stage.sheet(question).unwrap();
        open.sql(&format!("UPDATE connections SET {change}"));
        let answer = open.stage.present().approve(&sheet);
        assert!(
            matches!(answer, Err(ApproveError::Store(StoreError::Tampered { .. }))),
            "{change}: {answer:?}"
        );
        assert_eq!(state(&open.stage, question), QuestionState::Pending);
    }
    // What it is called, and whom it reaches, are hers to see.
    for change in ["label = 'sandbox'", "dial = CASE dial WHEN 'real' THEN 'overridden' ELSE 'real' END"] {
        let open = Open::new().await;
        let question = open.stage.ask(NOTE, &note("a")).await;
        let before = open.stage.sheet(question).unwrap();
        open.sql(&format!("UPDATE connections SET {change}"));
        let sheet = open.stage.sheet(question).unwrap();
        let (column, _) = change.split_once(' ').unwrap();
        let was =
            if column == "label" { before.label.as_ref().unwrap().to_string() } else { "overridden".into() };
        open.sql(&format!("UPDATE connections SET {column} = '{was}'"));
        let answer = open.stage.present().approve(&sheet);
        assert!(matches!(answer, Err(ApproveError::OtherConnection)), "{change}: {answer:?}");
        assert_eq!(state(&open.stage, question), QuestionState::Pending);
        open.stage.present().approve(&before).unwrap();
    }
    let open = Open::new().await;
    let row = open.stage.store.connections(open.stage.member.public().id()).unwrap().remove(0);
    open.stage.present().set_cap(&row, Access::Read).unwrap();
    open.sql("UPDATE connections SET cap = 'write'");
    is(&run(&open, "a").await, Code::StoreFailed, Sent::No);
}

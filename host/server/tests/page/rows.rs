//! Rows that change, or are made to, between what she saw and what she says.

use std::sync::atomic::Ordering;

use pinhole_runtime::catalog::Catalog;
use pinhole_runtime::store::{DATABASE, QuestionState, SqliteStore};
use pinhole_server::page::Patience;
use pinhole_tests::Setup;

use crate::stage::{Desk, PASSPHRASE, PASSPHRASE_IN_A_FORM};

/// A desk on a database in a folder, and a way into that database past everything.
async fn on_disk() -> (Desk, tempfile::TempDir, rusqlite::Connection) {
    let home = tempfile::tempdir().unwrap();
    let stage = Setup::github().start_local_on(SqliteStore::open_home(home.path()).unwrap()).await;
    stage.connect("github").await;
    let database = rusqlite::Connection::open(home.path().join(DATABASE)).unwrap();
    let desk = Desk::with(stage, Catalog::built_in().unwrap(), Some(PASSPHRASE), Patience::default()).await;
    (desk, home, database)
}

#[tokio::test]
async fn what_changed_in_a_row_since_it_was_shown_is_another_sheet() {
    for change in [
        "UPDATE questions SET args = replace(args, 'flickers', 'burns')",
        "UPDATE questions SET account = 'somebody-else'",
        "UPDATE questions SET found = '[]'",
        "UPDATE questions SET expires_at = expires_at + 1",
        "UPDATE questions SET principal = 'AAAAAAAAAAAAAAAAAAAAAA'",
        "UPDATE connections SET label = 'home'",
        "UPDATE connections SET dial = 'real'",
    ] {
        let (desk, _home, database) = on_disk().await;
        let id = desk.ask().await;
        let browser = desk.enter().await;
        let form = browser.look(id).await;
        assert_eq!(database.execute(change, []).unwrap(), 1, "{change}");
        let answered = browser.yes(id, &form, PASSPHRASE_IN_A_FORM).await;
        assert!([409, 500].contains(&answered.status), "{change}: {answered:?}");
        assert!(
            answered.body.contains("Nothing was done") || answered.status == 500,
            "{change}: {answered:?}"
        );
        assert_eq!(desk.tried.load(Ordering::SeqCst), 0, "{change}");
        let state: String = database.query_row("SELECT state FROM questions", [], |row| row.get(0)).unwrap();
        assert_eq!(state, "pending", "{change}");
    }
}

#[tokio::test]
async fn a_row_that_was_tampered_with_is_not_approved_though_she_saw_it_so() {
    for change in [
        "UPDATE connections SET label = 'home'",
        "UPDATE connections SET dial = 'real'",
        "UPDATE questions SET args = replace(args, 'flickers', 'burns')",
    ] {
        let (desk, _home, database) = on_disk().await;
        let id = desk.ask().await;
        let browser = desk.enter().await;
        assert_eq!(database.execute(change, []).unwrap(), 1, "{change}");
        let form = browser.look(id).await;
        let answered = browser.yes(id, &form, PASSPHRASE_IN_A_FORM).await;
        assert!([409, 500].contains(&answered.status), "{change}: {answered:?}");
        assert_eq!(desk.stage.question(id).unwrap().state, QuestionState::Pending, "{change}");
        // It can be got rid of.
        assert_eq!(browser.no(id, &form).await.status, 303, "{change}");
    }
}

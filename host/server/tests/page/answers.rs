//! Yes and no: what was shown is what is answered, once, with the passphrase.

use std::sync::atomic::Ordering;

use pinhole_manifest::Access;
use pinhole_runtime::catalog::Catalog;
use pinhole_runtime::store::{Connections as _, QuestionState};
use pinhole_server::page::Patience;
use pinhole_tests::Setup;
use serde_json::json;

use crate::stage::{Desk, Form, PASSPHRASE_IN_A_FORM, WRITE, args};

#[tokio::test]
async fn she_sees_it_says_yes_and_the_same_call_runs_once() {
    let desk = Desk::new().await;
    let id = desk.ask().await;
    let browser = desk.enter().await;
    let list = browser.get("/").send().await;
    assert_eq!(list.status, 200);
    assert!(list.body.contains(&format!("href=\"/question/{id}\"")), "{}", list.body);
    let form = browser.look(id).await;
    let said = browser.yes(id, &form, PASSPHRASE_IN_A_FORM).await;
    assert_eq!((said.status, said.header("location")), (303, Some(format!("/question/{id}").as_str())));
    let page = browser.get(&format!("/question/{id}")).send().await;
    assert!(
        page.body.contains("The same call runs it now, once, until 2027-01-15 09:00:00 UTC"),
        "{}",
        page.body
    );
    assert_eq!(desk.stage.written(), 0);
    assert!(desk.stage.run(WRITE, &args()).await.result().is_some());
    assert_eq!(desk.stage.written(), 1);
    // It is over, and not on the list.
    assert_eq!(desk.stage.question(id).unwrap().state, QuestionState::Used);
    assert!(browser.get("/").send().await.body.contains("Nothing waits for your yes."));
    assert_ne!(desk.ask().await, id);
}

#[tokio::test]
async fn a_no_is_a_no_and_a_yes_can_be_taken_back() {
    let desk = Desk::new().await;
    let id = desk.ask().await;
    let browser = desk.enter().await;
    assert_eq!(browser.no(id, &browser.look(id).await).await.status, 303);
    assert_eq!(desk.stage.question(id).unwrap().state, QuestionState::Denied);
    desk.stage.clock.set(2 * 24 * 3600);
    let again = desk.ask().await;
    assert_ne!(again, id);
    assert_eq!(browser.yes(again, &browser.look(again).await, PASSPHRASE_IN_A_FORM).await.status, 303);
    let approved = browser.get(&format!("/question/{again}")).send().await;
    assert!(
        approved.body.contains("Take it back") && !approved.body.contains("passphrase"),
        "{}",
        approved.body
    );
    // On the list too: it still waits for being used.
    assert!(browser.get("/").send().await.body.contains("Approved, not used yet."));
    assert_eq!(browser.no(again, &Form::of(&approved)).await.status, 303);
    assert_eq!(desk.stage.question(again).unwrap().state, QuestionState::Denied);
    assert!(desk.stage.run(WRITE, &args()).await.refusal().is_some());
    assert_eq!(desk.stage.written(), 0);
}

#[tokio::test]
async fn an_answer_to_another_sheet_is_refused_and_shown_anew() {
    let desk = Desk::new().await;
    let id = desk.ask().await;
    let mut changed = args();
    changed["title"] = json!("The lamp burns");
    let other = desk.stage.ask(WRITE, &changed).await;
    let browser = desk.enter().await;
    let form = browser.look(id).await;
    for sheet in
        [browser.look(other).await.sheet, form.sheet.to_uppercase(), "sha256:".to_owned(), String::new()]
    {
        let wrong = Form { sheet, ..form.clone() };
        for answered in [browser.yes(id, &wrong, PASSPHRASE_IN_A_FORM).await, browser.no(id, &wrong).await] {
            assert_eq!(answered.status, 409, "{answered:?}");
            assert!(answered.body.contains("what you answered is not what it is now"), "{}", answered.body);
            // What it is now, to be read and answered.
            assert!(answered.body.contains("The lamp flickers"));
            assert_eq!(Form::of(&answered).sheet, form.sheet);
        }
    }
    assert_eq!(desk.stage.question(id).unwrap().state, QuestionState::Pending);
    assert_eq!(desk.tried.load(Ordering::SeqCst), 0, "the key was opened for what she did not see");
}

#[tokio::test]
async fn a_connection_that_changed_since_it_was_shown_is_another_sheet() {
    let desk = Desk::new().await;
    let id = desk.ask().await;
    let browser = desk.enter().await;
    let form = browser.look(id).await;
    let row = desk.connection();
    desk.stage.store.remove_connection(row.member, row.id).unwrap();
    // The removal has ended the question.
    let answered = browser.yes(id, &form, PASSPHRASE_IN_A_FORM).await;
    assert_eq!(answered.status, 409, "{answered:?}");
    assert!(answered.body.contains("the question is denied already"), "{}", answered.body);
    assert!(!answered.body.contains("name=\"passphrase\""));
    assert_eq!(desk.tried.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_question_that_is_over_takes_no_answer() {
    let desk = Desk::new().await;
    let browser = desk.enter().await;
    let id = desk.ask().await;
    let form = browser.look(id).await;
    // Answered at the terminal.
    desk.stage.deny(id);
    for answered in [browser.yes(id, &form, PASSPHRASE_IN_A_FORM).await, browser.no(id, &form).await] {
        assert_eq!(answered.status, 409, "{answered:?}");
        assert!(answered.body.contains("the question is denied already"), "{}", answered.body);
    }
    // Nobody answered in time.
    desk.stage.clock.set(2 * 24 * 3600);
    let id = desk.ask().await;
    let form = browser.look(id).await;
    desk.stage.clock.set(4 * 24 * 3600);
    let answered = browser.yes(id, &form, PASSPHRASE_IN_A_FORM).await;
    assert!(answered.body.contains("the question is expired already"), "{answered:?}");
    // And with the sheet of the present state.
    let id = desk.ask().await;
    let form = browser.look(id).await;
    desk.stage.approve(id).unwrap();
    assert_eq!(browser.yes(id, &form, PASSPHRASE_IN_A_FORM).await.status, 409);
    let approved = browser.look(id).await;
    let answered = browser.yes(id, &approved, PASSPHRASE_IN_A_FORM).await;
    assert!(answered.body.contains("the question is approved already"), "{answered:?}");
    assert_eq!(desk.tried.load(Ordering::SeqCst), 0);
    // One that there never was.
    let none = browser.yes("0000-0000".parse().unwrap(), &form, PASSPHRASE_IN_A_FORM).await;
    assert_eq!(none.status, 404);
}

#[tokio::test]
async fn a_wrong_passphrase_says_no_yes_and_too_many_close_it_for_a_minute() {
    let desk = Desk::new().await;
    let id = desk.ask().await;
    let browser = desk.enter().await;
    let form = browser.look(id).await;
    let empty = browser.yes(id, &form, "").await;
    assert_eq!(empty.status, 422);
    assert_eq!(browser.no(id, &Form { token: form.token.clone(), sheet: String::new() }).await.status, 409);
    for time in 1..=5 {
        let wrong = browser.yes(id, &form, "wrong+horse+battery").await;
        assert_eq!(wrong.status, 403, "{wrong:?}");
        assert!(wrong.body.contains("the passphrase does not open your key"), "{}", wrong.body);
        assert!(!wrong.body.contains("wrong horse"), "the page says what was typed");
        assert_eq!(desk.timer.short_waits(), time);
        // Each question is the same key.
        assert_eq!(Form::of(&wrong).sheet, form.sheet);
    }
    assert_eq!(desk.tried.load(Ordering::SeqCst), 5);
    // The right one too has to wait, and is not even tried.
    for passphrase in [PASSPHRASE_IN_A_FORM, "wrong+horse+battery"] {
        let locked = browser.yes(id, &form, passphrase).await;
        let seconds: u64 = locked.header("retry-after").unwrap().parse().unwrap();
        assert_eq!((locked.status, (1..=60).contains(&seconds)), (429, true), "{locked:?}");
    }
    assert_eq!(desk.tried.load(Ordering::SeqCst), 5);
    desk.timer.pass(std::time::Duration::from_mins(1));
    assert_eq!(browser.yes(id, &form, PASSPHRASE_IN_A_FORM).await.status, 303);
    assert_eq!(desk.stage.question(id).unwrap().state, QuestionState::Approved);
}

#[tokio::test]
async fn who_hangs_up_before_the_answer_is_counted_all_the_same() {
    use tokio::io::AsyncWriteExt as _;
    let desk = Desk::new().await;
    let id = desk.ask().await;
    let browser = desk.enter().await;
    let form = browser.look(id).await;
    let body = format!("{}&passphrase=wrong", form.body());
    for _ in 0..5 {
        let asking = browser.post(&format!("/question/{id}/approve"), &body);
        let mut stream = asking.connect().await;
        stream.write_all(format!("{}{body}", asking.head()).as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        drop(stream);
    }
    // It waits for its turn behind those five.
    let mut last = browser.yes(id, &form, "wrong").await;
    for _ in 0..5 {
        if last.status == 403 {
            last = browser.yes(id, &form, "wrong").await;
        }
    }
    assert_eq!(last.status, 429, "{last:?}");
    assert_eq!(desk.tried.load(Ordering::SeqCst), 5);
}

#[tokio::test]
async fn ten_at_once_are_one_yes() {
    let desk = Desk::new().await;
    let id = desk.ask().await;
    let browser = desk.enter().await;
    let form = browser.look(id).await;
    let answers = (0..10).map(|_| browser.yes(id, &form, PASSPHRASE_IN_A_FORM));
    let answers = futures_util::future::join_all(answers).await;
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [[303].as_slice(), &[409; 9]].concat());
    assert_eq!(desk.tried.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_key_without_a_passphrase_permits_no_write_and_the_page_says_what_to_do() {
    let stage = Setup::github().start_local().await;
    stage.connect("github").await;
    let desk = Desk::with(stage, Catalog::built_in().unwrap(), None, Patience::default()).await;
    let id = desk.ask().await;
    let browser = desk.enter().await;
    let page = browser.get(&format!("/question/{id}")).send().await;
    assert!(
        page.body.contains("pinhole keys protect") && !page.body.contains("name=\"passphrase\""),
        "{}",
        page.body
    );
    let form = Form::of(&page);
    let answered = browser.yes(id, &form, "anything").await;
    assert_eq!(answered.status, 403);
    assert!(answered.body.contains("your key has no passphrase"), "{}", answered.body);
    assert_eq!(desk.stage.question(id).unwrap().state, QuestionState::Pending);
    // A no takes none.
    assert_eq!(browser.no(id, &form).await.status, 303);
}

#[tokio::test]
async fn what_the_runtime_does_not_approve_stays_a_question() {
    let desk = Desk::new().await;
    let id = desk.ask().await;
    let browser = desk.enter().await;
    let form = browser.look(id).await;
    // A clock that was set back: the yes would be for another time than now.
    desk.stage.clock.set(-3600);
    let answered = browser.yes(id, &form, PASSPHRASE_IN_A_FORM).await;
    assert_eq!(answered.status, 409, "{answered:?}");
    assert!(answered.body.contains("the clock stands before"), "{}", answered.body);
    assert!(answered.body.contains("`pinhole doctor`"), "{}", answered.body);
    assert_eq!(desk.stage.question(id).unwrap().state, QuestionState::Pending);
    // A connection that only reads now has no such question any more.
    desk.stage.clock.set(0);
    desk.stage.present().set_cap(&desk.connection(), Access::Read).unwrap();
    assert_eq!(browser.yes(id, &form, PASSPHRASE_IN_A_FORM).await.status, 409);
    assert_ne!(desk.stage.question(id).unwrap().state, QuestionState::Approved);
}

//! What is too large, too slow or too idle ends, and takes nothing else with it.

use std::time::Duration;

use pinhole_runtime::catalog::Catalog;
use pinhole_runtime::store::QuestionState;
use pinhole_server::page::{Ended, FORM_BYTES_MAX, Patience};
use pinhole_tests::Setup;
use tokio::io::AsyncWriteExt as _;

use crate::stage::{Answer, Desk, PASSPHRASE, PASSPHRASE_IN_A_FORM};

async fn hasty() -> Desk {
    let stage = Setup::github().start_local().await;
    stage.connect("github").await;
    let patience = Patience::default().for_requests(Duration::from_millis(200));
    Desk::with(stage, Catalog::built_in().unwrap(), Some(PASSPHRASE), patience).await
}

#[tokio::test]
async fn a_form_that_is_too_large_is_refused_before_it_is_read() {
    let desk = Desk::new().await;
    let id = desk.ask().await;
    let browser = desk.enter().await;
    let form = browser.look(id).await;
    let path = format!("/question/{id}/deny");
    let padded = |length: usize| {
        let body = format!("{}&passphrase=", form.body());
        format!("{body}{}", "x".repeat(length - body.len()))
    };
    let answer = browser.post(&path, &padded(FORM_BYTES_MAX + 1)).send().await;
    assert_eq!(answer.status, 413, "{answer:?}");
    // Its length is only said.
    let said = browser.post(&path, "").with("content-length", "10000000").send().await;
    assert_eq!(said.status, 413, "{said:?}");
    // Its length is not said.
    let chunk = padded(FORM_BYTES_MAX + 1);
    let asking = browser.post(&path, "").without("content-length").with("transfer-encoding", "chunked");
    let mut stream = asking.connect().await;
    let text = format!("{}{:x}\r\n{chunk}\r\n0\r\n\r\n", asking.head(), chunk.len());
    stream.write_all(text.as_bytes()).await.unwrap_or_default();
    assert_eq!(Answer::read(&mut stream).await.status, 413);
    assert_eq!(desk.stage.question(id).unwrap().state, QuestionState::Pending);
    // As large as it may be.
    assert_eq!(browser.post(&path, &padded(FORM_BYTES_MAX)).send().await.status, 303);
}

#[tokio::test]
async fn a_passphrase_that_is_too_long_is_none() {
    let desk = Desk::new().await;
    let id = desk.ask().await;
    let browser = desk.enter().await;
    let form = browser.look(id).await;
    let answer = browser.yes(id, &form, &"x".repeat(1025)).await;
    assert_eq!(answer.status, 422, "{answer:?}");
    assert!(!answer.body.contains("xxxx"));
}

#[tokio::test]
async fn who_is_slow_is_let_go_of() {
    let desk = hasty().await;
    let id = desk.ask().await;
    let browser = desk.enter().await;
    let form = browser.look(id).await;
    let path = format!("/question/{id}/deny");
    // A body that never comes to its end.
    let asking = browser.post(&path, &form.body());
    let mut slow = asking.connect().await;
    slow.write_all(asking.head().as_bytes()).await.unwrap();
    slow.write_all(b"token=").await.unwrap();
    let answer = Answer::read(&mut slow).await;
    assert_eq!(answer.status, 408, "{answer:?}");
    // Headers that never do, and nothing at all.
    let mut headers = asking.connect().await;
    headers.write_all(b"GET / HTTP/1.1\r\nhost: ").await.unwrap();
    let mut nothing = asking.connect().await;
    for stream in [&mut headers, &mut nothing] {
        let answer = Answer::read(stream).await;
        assert!([0, 408].contains(&answer.status), "{answer:?}");
    }
    assert_eq!(desk.stage.question(id).unwrap().state, QuestionState::Pending);
    assert_eq!(browser.no(id, &form).await.status, 303);
}

#[tokio::test]
async fn many_who_say_nothing_keep_nobody_out_for_long() {
    let desk = hasty().await;
    let asking = desk.get("/style.css");
    let mut silent = Vec::new();
    for _ in 0..200 {
        silent.push(asking.connect().await);
    }
    assert_eq!(asking.send().await.status, 200);
}

#[tokio::test]
async fn what_is_no_request_of_the_page_is_an_error_and_no_more() {
    let desk = Desk::new().await;
    for text in [
        "\0\0\0\0\r\n\r\n".to_owned(),
        "GET / HTTP/1.0\r\n\r\n".to_owned(),
        "GET http://evil.example/ HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n".to_owned(),
        format!("GET / HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nx: {}\r\n\r\n", desk.port, "y".repeat(64 << 10)),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        "CONNECT evil.example:443 HTTP/1.1\r\nhost: evil.example:443\r\n\r\n".to_owned(),
    ] {
        let mut stream = desk.get("/").connect().await;
        stream.write_all(text.as_bytes()).await.unwrap_or_default();
        stream.shutdown().await.unwrap_or_default();
        let answer = Answer::read(&mut stream).await;
        assert!(answer.status != 200 && answer.status < 500, "{text:.40}: {answer:?}");
    }
    let browser = desk.enter().await;
    for path in [
        "/question/",
        "/question/x",
        "/question/0000-0000/",
        "/question/0000-0000/approve/x",
        "/question/../",
        "/question/%30000-0000",
        "/%2e%2e/etc/passwd",
        "//",
        "/open",
        "/index.html",
        "/favicon.ico",
    ] {
        assert_eq!(browser.get(path).send().await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn an_hour_without_use_is_the_end_and_a_stranger_s_use_is_none() {
    let desk = Desk::new().await;
    let browser = desk.enter().await;
    let most = Duration::from_mins(59);
    desk.timer.pass(most);
    assert_eq!(browser.get("/").send().await.status, 200);
    desk.timer.pass(most);
    for path in ["/", "/question/0000-0000", "/style.css", "/open/x"] {
        desk.get(path).send().await;
    }
    assert!(!desk.ended.is_finished());
    desk.timer.pass(Duration::from_mins(1));
    let Desk { ended, stop, .. } = desk;
    let ended = tokio::time::timeout(Duration::from_mins(1), ended).await;
    assert_eq!(ended.expect("an end").unwrap(), Ended::Unused);
    drop(stop);
}

#[tokio::test]
async fn a_wrong_passphrase_keeps_the_page_from_nobody_but_who_guesses() {
    let desk = Desk::new().await;
    let id = desk.ask().await;
    let browser = desk.enter().await;
    let form = browser.look(id).await;
    for _ in 0..6 {
        browser.yes(id, &form, "wrong").await;
    }
    assert_eq!(browser.get("/").send().await.status, 200);
    // A no takes no passphrase, and can only take away.
    assert_eq!(browser.yes(id, &form, PASSPHRASE_IN_A_FORM).await.status, 429);
    assert_eq!(browser.no(id, &form).await.status, 303);
}

//! What reaches the listener, and what only tries to.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pinhole_runtime::clock::{SystemTimer, Timer, Wait};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::Url;

use super::{Callback, NoAnswer};

async fn sent(at: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(at).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

async fn got(at: SocketAddr, method: &str, target: &str, host: &str) -> String {
    sent(at, &format!("{method} {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")).await
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

/// Takes the one answer that is `good`.
fn judge(query: &str) -> Option<String> {
    query.strip_prefix("good=").map(str::to_owned)
}

const LONG: Duration = Duration::from_mins(1);

#[tokio::test]
async fn what_is_not_the_answer_neither_ends_the_wait_nor_learns_anything() {
    let callback = Callback::listen(0).await.unwrap();
    let redirect = Url::parse(&callback.redirect()).unwrap();
    let at: SocketAddr = format!("127.0.0.1:{}", redirect.port().unwrap()).parse().unwrap();
    assert_eq!(redirect.as_str(), format!("http://{at}/callback"));
    let waiting = tokio::spawn(callback.answer(LONG, Arc::new(SystemTimer), judge));
    let host = at.to_string();
    for (method, target, host, expected) in [
        ("GET", "/favicon.ico", host.as_str(), "404"),
        ("GET", "/", &host, "404"),
        ("GET", "/callback/?good=1", &host, "404"),
        ("GET", "/callback", &host, "400"),
        ("GET", "/callback?bad=1", &host, "400"),
        ("HEAD", "/callback?good=1", &host, "400"),
        ("POST", "/callback?good=1", &host, "405"),
        ("OPTIONS", "/callback?good=1", &host, "405"),
        ("GET", "/callback?good=1", "evil.example", "403"),
        ("GET", "/callback?good=1", "127.0.0.1:1", "403"),
        ("GET", "/callback?good=1", "127.1", "403"),
        ("GET", "/callback?good=1&access_token=x", &host, "400"),
    ] {
        let answer = got(at, method, target, host).await;
        assert_eq!(status(&answer), expected, "{method} {target} {host}: {answer}");
        assert!(!answer.contains("good"), "{answer}");
    }
    let from_page = format!(
        "GET /callback?good=1 HTTP/1.1\r\nhost: {host}\r\norigin: https://evil.example\r\n\
        connection: close\r\n\r\n"
    );
    assert_eq!(status(&sent(at, &from_page).await), "403");
    assert!(!waiting.is_finished());

    let page = got(at, "GET", "/callback?good=the-code", &host).await;
    assert_eq!(status(&page), "200");
    assert!(page.contains("You can close this page.") && !page.contains("the-code"), "{page}");
    for header in [
        "content-security-policy: default-src 'none'",
        "x-frame-options: DENY",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cache-control: no-store",
    ] {
        assert!(page.contains(header), "{header}: {page}");
    }
    assert_eq!(waiting.await.unwrap().unwrap(), "the-code");
    // Whoever comes later finds nobody.
    assert!(TcpStream::connect(at).await.is_err());
}

#[tokio::test]
async fn the_first_answer_is_the_one() {
    let callback = Callback::listen(0).await.unwrap();
    let at: SocketAddr = callback.bound;
    let host = at.to_string();
    let waiting = tokio::spawn(callback.answer(LONG, Arc::new(SystemTimer), judge));
    let (first, second) = (
        format!("GET /callback?good=first HTTP/1.1\r\nhost: {host}\r\n\r\n"),
        format!("GET /callback?good=second HTTP/1.1\r\nhost: {host}\r\n\r\n"),
    );
    // Both on one connection, sent together: the second is there before the first is answered.
    let both = sent(at, &format!("{first}{second}")).await;
    assert_eq!(waiting.await.unwrap().unwrap(), "first");
    assert_eq!(both.matches("You can close").count(), 1, "{both}");
}

#[tokio::test]
async fn nobody_is_waited_for_without_end() {
    struct Over;
    impl Timer for Over {
        fn now(&self) -> Instant {
            Instant::now()
        }
        fn wait(&self, _time: Duration) -> Wait<'_> {
            Box::pin(std::future::ready(()))
        }
    }
    let callback = Callback::listen(0).await.unwrap();
    let at = callback.bound;
    assert_eq!(callback.answer(LONG, Arc::new(Over), judge).await.unwrap_err(), NoAnswer::TooLate);
    assert!(TcpStream::connect(at).await.is_err());
}

#[tokio::test]
async fn a_wait_that_is_given_up_ends_the_listener() {
    let callback = Callback::listen(0).await.unwrap();
    let at = callback.bound;
    let waiting = tokio::spawn(callback.answer(LONG, Arc::new(SystemTimer), judge));
    assert_eq!(status(&got(at, "GET", "/callback", &at.to_string()).await), "400");
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    while TcpStream::connect(at).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_port_that_is_taken_is_said() {
    let callback = Callback::listen(0).await.unwrap();
    let refused = Callback::listen(callback.bound.port()).await.unwrap_err();
    assert!(matches!(refused, crate::http::ListenError::InUse(_)));
}

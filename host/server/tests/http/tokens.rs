//! Who is let in, and what they are told who are not.

use pinhole_manifest::Access;
use pinhole_runtime::store::Tokens as _;
use pinhole_server::Reach;
use serde_json::Value;

use crate::client::{Answer, Ask, calls, legacy_call};
use crate::server::{Server, Setup, member};

/// Who a tool was called by.
fn caller(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{answer:?}");
    let text = answer.json()["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    serde_json::from_str::<Value>(&text).unwrap()["principal"].clone()
}

#[tokio::test]
async fn the_handler_is_called_on_behalf_of_who_holds_the_token() {
    let server = Server::new().await;
    let [ada, bob] = ["ada", "bob"].map(|name| server.token(name));
    let mut connection = server.connect().await;
    // One connection may carry several people's requests.
    for held in [&ada, &bob, &ada] {
        let answer = connection.ask(&Ask::modern(&held.text, "tools/call", calls("echo"))).await;
        assert_eq!(caller(&answer), held.id.to_string());
        let answer = connection.ask(&Ask::legacy(&held.text, &legacy_call("echo"))).await;
        assert_eq!(caller(&answer), held.id.to_string());
    }
    // What it is handed has no token in it.
    assert!(!server.echo.headers().contains(&"authorization".to_owned()), "{:?}", server.echo.headers());
    assert!(server.echo.headers().contains(&"accept".to_owned()));
}

#[tokio::test]
async fn without_a_token_nothing_is_read() {
    let server = Server::new().await;
    // The body never comes.
    let ask =
        Ask::legacy("x", &legacy_call("echo")).without("authorization").header("content-length", "10485760");
    let answer = server.connect().await.ask(&ask).await;
    assert_eq!(answer.status, 401);
    let metadata = format!("http://{}/.well-known/oauth-protected-resource/mcp", server.address);
    let challenge = format!("Bearer resource_metadata=\"{metadata}\", scope=\"read write\"");
    assert_eq!(answer.header("www-authenticate"), Some(challenge.as_str()));
    for method in ["GET", "DELETE", "PUT"] {
        let answer = server.connect().await.ask(&Ask::new(method, "/mcp")).await;
        assert_eq!(answer.status, 401, "{method}");
    }
}

#[tokio::test]
async fn tokens_that_are_not_good_all_look_the_same() {
    let server = Server::new().await;
    let [good, revoked, expired] = ["good", "revoked", "expired"].map(|name| server.token(name));
    server
        .store
        .revoke_token(server.member, revoked.id, pinhole_runtime::clock::Clock::now(&*server.time))
        .unwrap();
    let another_members = server.token_of(member(9), "other", &[Access::Read], None);
    let mut mistyped = good.text.clone();
    mistyped.pop();
    server.time.pass(std::time::Duration::from_hours(24));
    let fresh = server.token("fresh");
    let mut connection = server.connect().await;
    let mut answers = Vec::new();
    for text in [
        &revoked.text,
        &expired.text,
        &another_members.text,
        &mistyped,
        "pinm_",
        "",
        "x y",
        &"x".repeat(9_000),
    ] {
        let answer = connection.ask(&Ask::modern(text, "tools/call", calls("echo"))).await;
        assert!(!format!("{answer:?}").contains("pinm_"), "{answer:?}");
        answers.push((answer.status, answer.header("www-authenticate").map(str::to_owned), answer.body));
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:?}");
    let (status, challenge, _) = &answers[0];
    assert_eq!(*status, 401);
    assert!(
        challenge.as_ref().unwrap().starts_with("Bearer error=\"invalid_token\", resource_metadata=\"http")
    );
    let ask = Ask::modern(&fresh.text, "tools/call", calls("echo"));
    for scheme in ["Bearer", "bearer", "BEARER "] {
        let asked = ask.clone().with("authorization", &format!("{scheme} {}", fresh.text));
        assert_eq!(connection.ask(&asked).await.status, 200);
    }
    for header in [fresh.text.clone(), format!("Basic {}", fresh.text), format!("Bearer{}", fresh.text)] {
        let answer = connection.ask(&ask.clone().with("authorization", &header)).await;
        assert_eq!(answer.status, 401);
        let message = answer.json()["error"]["message"].to_string();
        assert!(message.contains("write `Bearer `") && !message.contains("pinm_"), "{message}");
    }
    let twice = ask.header("authorization", &format!("Bearer {}", fresh.text));
    assert_eq!(connection.ask(&twice).await.status, 400);
}

#[tokio::test]
async fn a_token_that_is_good_for_nothing_here_is_told_which_scope_is() {
    let reads = Setup { reach: Reach::default().only(&[Access::Read]), ..Setup::new() };
    let server = reads.start().await;
    let [writes, both] = [&[Access::Write][..], &[Access::Read, Access::Write]]
        .map(|accesses| server.token_for(&format!("{accesses:?}"), accesses, None));
    let mut connection = server.connect().await;
    let answer = connection
        .ask(&Ask::modern(&writes.text, "tools/list", Value::Object([].into_iter().collect())))
        .await;
    assert_eq!(answer.status, 403);
    let metadata = format!("http://{}/.well-known/oauth-protected-resource/mcp", server.address);
    let wanted =
        format!("Bearer error=\"insufficient_scope\", resource_metadata=\"{metadata}\", scope=\"read\"");
    assert_eq!(answer.header("www-authenticate"), Some(wanted.as_str()));
    let answer = connection.ask(&Ask::modern(&both.text, "tools/call", calls("echo"))).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn a_token_ends_between_two_requests_of_one_connection() {
    let server = Server::new().await;
    let [revoked, expired] = ["revoked", "expired"].map(|name| server.token(name));
    let mut connection = server.connect().await;
    let ask = |text: &str| Ask::legacy(text, &legacy_call("echo"));
    assert_eq!(connection.ask(&ask(&revoked.text)).await.status, 200);
    assert_eq!(connection.ask(&ask(&expired.text)).await.status, 200);
    server
        .store
        .revoke_token(server.member, revoked.id, pinhole_runtime::clock::Clock::now(&*server.time))
        .unwrap();
    assert_eq!(connection.ask(&ask(&revoked.text)).await.status, 401);
    server.time.pass(std::time::Duration::from_secs(86_399));
    assert_eq!(connection.ask(&ask(&expired.text)).await.status, 200);
    server.time.pass(std::time::Duration::from_secs(1));
    assert_eq!(connection.ask(&ask(&expired.text)).await.status, 401);
}

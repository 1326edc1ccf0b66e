//! The environment names no proxy for this client. A child process has the variables set, because setting them here would
//! change every other test.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::TcpListener;

use super::server::{Server, reply};
use super::*;

#[tokio::test]
async fn a_proxy_in_the_environment_is_ignored() {
    let proxy = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port");
    let url = format!("http://{}", proxy.local_addr().expect("an address"));
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    tokio::spawn(async move {
        while proxy.accept().await.is_ok() {
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    let program = std::env::current_exe().expect("this test");
    let output = tokio::task::spawn_blocking(move || {
        Command::new(program)
            .args([
                "--exact",
                "net::tests::proxy::with_a_proxy_in_the_environment",
                "--ignored",
                "--nocapture",
            ])
            .envs(["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"].map(|name| (name, &url)))
            .env_remove("NO_PROXY")
            .env_remove("no_proxy")
            .output()
    });
    let output = output.await.expect("no panic").expect("a child process");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

#[tokio::test]
#[ignore = "run by a_proxy_in_the_environment_is_ignored, with the variables set"]
async fn with_a_proxy_in_the_environment() {
    let (ca, server) = Server::h1(vec![reply("200 OK", b"direct")]).await;
    assert_eq!(send(&client(&server, &ca), get("/")).await.expect("an answer").body, "direct");
    assert_eq!(server.connections(), 1);
}

//! A second user of the machine: sees nothing of the page, even with the member's own cookie, nor of the file that says where
//! it is; answers nothing, and keeps nobody from it.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use pinhole_runtime::catalog::Catalog;
use pinhole_runtime::store::QuestionState;
use pinhole_server::page::{ADDRESS_FILE, Announced, Patience};
use pinhole_tests::Setup;
use url::Url;

use crate::browser::driver::in_ci;
use crate::stage::{Desk, PASSPHRASE};

/// Nobody's number.
const OTHER: &str = "65534";

/// A command that runs as another user; `None` where this one may not do that.
fn of_another(command: &[&str]) -> Option<Command> {
    let become_other = ["--reuid", OTHER, "--regid", OTHER, "--clear-groups", "--"];
    let whoami = Command::new("setpriv").args(become_other).args(["id", "-u"]).output();
    if !whoami.is_ok_and(|said| said.stdout == format!("{OTHER}\n").as_bytes()) {
        assert!(!in_ci(), "CI runs as the superuser, and has `setpriv`");
        println!("SKIPPED: only the superuser can be somebody else");
        return None;
    }
    let mut other = Command::new("setpriv");
    other.args(become_other).args(command);
    Some(other)
}

fn as_another(command: &[&str]) -> Option<Output> {
    of_another(command).map(|mut command| command.output().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn another_user_sees_nothing_even_with_her_cookie() {
    let desk = Desk::new().await;
    let id = desk.ask().await;
    let browser = desk.enter().await;
    let url = format!("http://127.0.0.1:{}/question/{id}", desk.port);
    let cookie = format!("cookie: {}", browser.cookie);
    let curl = ["curl", "--silent", "--show-error", "--header", &cookie, &url];
    let Some(seen) = as_another(&curl) else { return };
    assert!(!seen.status.success() && seen.stdout.is_empty(), "{seen:?}");
    // Not for want of the cookie.
    let own = Command::new(curl[0]).args(&curl[1..]).output().unwrap();
    assert!(String::from_utf8(own.stdout).unwrap().contains("The lamp flickers"));
    // Nor does a one-time address let another in, or get used up.
    let fresh = Desk::new().await;
    let open = format!("http://127.0.0.1:{}/open/{}", fresh.port, fresh.code);
    let seen = as_another(&["curl", "--silent", "--include", &open]).unwrap();
    assert!(seen.stdout.is_empty(), "{seen:?}");
    fresh.enter().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_user_s_connections_keep_the_member_from_nothing() {
    let stage = Setup::github().start_local().await;
    stage.connect("github").await;
    // Longer than this test would wait for a place.
    let patience = Patience::default().for_requests(Duration::from_mins(10));
    let desk = Desk::with(stage, Catalog::built_in().unwrap(), Some(PASSPHRASE), patience).await;
    let hold = "for each in {1..200}; do exec {held}<>/dev/tcp/127.0.0.1/$1; done; echo held; read -r";
    let Some(mut other) = of_another(&["bash", "-c", hold, "hold", &desk.port.to_string()]) else { return };
    let mut other = other.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(other.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "held\n");
    assert_eq!(desk.get("/style.css").send().await.status, 200);
    desk.enter().await;
    // Its input ends, and so does it.
    drop(other.stdin.take());
    other.wait().unwrap();
}

// On one thread, the page does not look before the other has hung up.
#[tokio::test(flavor = "current_thread")]
async fn another_user_who_hangs_up_is_no_less_another() {
    let desk = Desk::new().await;
    let id = desk.ask().await;
    let browser = desk.enter().await;
    let form = browser.look(id).await;
    let deny = browser.post(&format!("/question/{id}/deny"), &form.body());
    // What follows keeps the server from seeing at once that it was left.
    let head = deny.head().replace("connection: close\r\n", "");
    let text = format!("{head}{}GET / HTTP/1.1\r\n", form.body());
    let hang_up = "printf %s \"$1\" >/dev/tcp/127.0.0.1/$2";
    let port = desk.port.to_string();
    let Some(_ended) = as_another(&["bash", "-c", hang_up, "hang-up", &text, &port]) else { return };
    // Until its end is known at this one, its socket still has a user.
    let ending = format!(":{:04X} 04 ", desk.port);
    while std::fs::read_to_string("/proc/net/tcp").unwrap().contains(&ending) {
        std::thread::yield_now();
    }
    // Whoever comes later is answered later.
    assert_eq!(browser.get("/").send().await.status, 200);
    assert_eq!(desk.stage.question(id).unwrap().state, QuestionState::Pending);
    assert_eq!(deny.send().await.status, 303);
}

#[test]
fn another_user_does_not_read_where_the_page_is() {
    let home = tempfile::tempdir().unwrap();
    let address = Url::parse("http://127.0.0.1:4711/").unwrap();
    let _held = Announced::write(home.path(), &address).unwrap();
    // Though the home were open to everybody.
    std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let file = home.path().join(ADDRESS_FILE);
    let Some(read) = as_another(&["cat", file.to_str().unwrap()]) else { return };
    assert!(!read.status.success() && read.stdout.is_empty());
}

//! A second user of the machine: sees nothing of the page, even with the member's own cookie, nor of the file that says where
//! it is.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};

use pinhole_server::page::{ADDRESS_FILE, Announced};
use url::Url;

use crate::browser::driver::in_ci;
use crate::stage::Desk;

/// Nobody's number.
const OTHER: &str = "65534";

/// A command run as another user; `None` where this one may not do that.
fn as_another(command: &[&str]) -> Option<Output> {
    let become_other = ["setpriv", "--reuid", OTHER, "--regid", OTHER, "--clear-groups", "--"];
    let whoami = Command::new("setpriv").args(&become_other[1..]).args(["id", "-u"]).output();
    if !whoami.is_ok_and(|said| said.stdout == format!("{OTHER}\n").as_bytes()) {
        assert!(!in_ci(), "CI runs as the superuser, and has `setpriv`");
        println!("SKIPPED: only the superuser can be somebody else");
        return None;
    }
    Some(Command::new("setpriv").args(&become_other[1..]).args(command).output().unwrap())
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
    assert_eq!(String::from_utf8(seen.stdout).unwrap(), "this page is another user's\n");
    // Not for want of the cookie.
    let own = Command::new(curl[0]).args(&curl[1..]).output().unwrap();
    assert!(String::from_utf8(own.stdout).unwrap().contains("The lamp flickers"));
    // Nor does a one-time address let another in, or get used up.
    let fresh = Desk::new().await;
    let open = format!("http://127.0.0.1:{}/open/{}", fresh.port, fresh.code);
    let seen = as_another(&["curl", "--silent", "--include", &open]).unwrap();
    assert!(!String::from_utf8(seen.stdout).unwrap().to_lowercase().contains("set-cookie"));
    fresh.enter().await;
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

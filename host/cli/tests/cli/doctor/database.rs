//! The database and the clock.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};

use pinhole_runtime::clock::{Clock as _, SystemClock};
use pinhole_runtime::store::{DATABASE, Store as _};

use super::{DAY, Said, connected, store};
use crate::home::Home;

fn overwrite(home: &Home, at: u64, bytes: &[u8]) {
    let mut file = fs::OpenOptions::new().write(true).open(home.path(DATABASE)).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(bytes).unwrap();
}

fn cut_off(home: &Home) {
    fs::OpenOptions::new().write(true).open(home.path(DATABASE)).unwrap().set_len(10_000).unwrap();
}

/// The database is named so, with what to do; the keys are looked at all the same, and its connections are not.
#[track_caller]
fn is_named(spoil: impl FnOnce(&Home), found: &str, hint: &str) {
    let (home, _stage) = connected();
    spoil(&home);
    fs::write(home.path("keys/member.json"), "garbage").unwrap();
    let said = Said::offline(&home).only(
        1,
        &[
            ("wrong", "keys/member.json", "not a key file", "restore the file"),
            ("wrong", "database", found, hint),
            ("warning", "connections", "not looked at", "then look again"),
        ],
    );
    said.is_well(&["home", "keys/member.pub", "keys/bot.json", "clock"]);
}

#[test]
fn a_database_that_cannot_be_used_is_named_and_hides_nothing() {
    is_named(cut_off, "is damaged", "look at the disk");
    is_named(|home| overwrite(home, 60, &9_u32.to_be_bytes()), "a later version", "run the later version");
    is_named(|home| overwrite(home, 68, b"ABCD"), "not a database of Pinhole's", "move it away");
    is_named(|home| overwrite(home, 4096, &[0xa5; 64]), "is damaged", "look at the disk");
    let lost = |home: &Home| fs::rename(home.path(DATABASE), home.path("pinhole.db-wal")).unwrap();
    #[cfg(unix)]
    is_named(lost, "is damaged", "look at the disk");
}

#[test]
fn the_state_of_an_earlier_version_is_left_where_it_is() {
    let (home, _stage) = connected();
    // What waits to be taken over by the next command is no fault.
    fs::create_dir_all(home.path("state/uses")).unwrap();
    Said::offline(&home).only(0, &[]);
    assert!(home.path("state/uses").is_dir());
    drop(store(&home));
    assert!(home.path("state").is_file());
    fs::remove_file(home.path("state")).unwrap();
    fs::create_dir_all(home.path("state/uses")).unwrap();
    let said = Said::offline(&home)
        .only(1, &[("wrong", "state", "an earlier version has run here", "no earlier version run")]);
    said.is_well(&["database", "connection github default"]);
}

#[test]
fn a_clock_that_has_been_later_is_named() {
    let (home, _stage) = connected();
    let now = SystemClock.now();
    store(&home).high_water(now.plus_secs(50)).unwrap();
    Said::offline(&home).only(0, &[]).is_well(&["clock"]);
    store(&home).high_water(now.plus_secs(2 * DAY)).unwrap();
    let said = Said::offline(&home)
        .only(1, &[("wrong", "clock", "it has been 20", "sqlite3 pinhole.db \"DELETE FROM clock\"")]);
    said.is_well(&["database", "connection github default"]);
}

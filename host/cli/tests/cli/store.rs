//! The database of a home: what is wrong with it ends a command with status 6 and says what to do, and nothing is sent.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};

use pinhole_grant::GrantId;
use pinhole_runtime::store::{SqliteStore, Store as _};

use crate::home::{Home, Ran, ran};
use crate::stage::{READ, Stage};

const DATABASE: &str = "pinhole.db";

/// A home that has run once, so that its database is there, and a grant that has a use left.
fn used() -> (Home, Stage, String) {
    let (home, stage) = (Home::new(), Stage::new());
    let first = home.mint(&["--uses", "1"]);
    call(&home, &stage, &first).expect(0);
    let grant = home.mint(&["--uses", "1"]);
    (home, stage, grant)
}

fn call(home: &Home, stage: &Stage, grant: &str) -> Ran {
    home.run(&stage.args(home, &[&["run"], &READ[..], &["--grant", grant, "--json"]].concat()).words())
}

/// Refused, with the file untouched and nothing sent; when it is put back, the use is still there.
#[track_caller]
fn refused_until_put_back(
    (home, stage, grant): (Home, Stage, String),
    spoil: impl FnOnce(&std::path::Path),
) -> Ran {
    let path = home.path(DATABASE);
    let whole = fs::read(&path).unwrap();
    spoil(&path);
    let spoilt = fs::read(&path).unwrap();
    let refused = call(&home, &stage, &grant).expect(6);
    assert_eq!(fs::read(&path).unwrap(), spoilt, "what is wrong was changed");
    assert_eq!((refused.stdout.as_str(), stage.requests()), ("", 1));
    home.run(&["grant", "revoke", "AAAAAAAAAAAAAAAAAAAAAA"]).expect(6);
    fs::write(&path, whole).unwrap();
    call(&home, &stage, &grant).expect(0);
    call(&home, &stage, &grant).expect(3).refusal("grant_used_up");
    refused
}

fn overwrite(path: &std::path::Path, at: u64, bytes: &[u8]) {
    let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(bytes).unwrap();
}

#[test]
fn a_file_that_is_no_database_is_left_alone() {
    let ran = refused_until_put_back(used(), |path| fs::write(path, "notes of mine\n".repeat(400)).unwrap());
    assert!(ran.stderr.contains("move it away"), "{}", ran.stderr);
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    // The four bytes in the header that say whose it is.
    refused_until_put_back(used(), |path| overwrite(path, 68, b"ABCD"));
}

#[test]
fn a_database_of_a_later_version_is_left_alone() {
    let ran = refused_until_put_back(used(), |path| overwrite(path, 60, &9_u32.to_be_bytes()));
    assert!(ran.stderr.contains("later version"), "{}", ran.stderr);
}

#[test]
fn a_damaged_database_is_not_used() {
    let ran = refused_until_put_back(used(), |path| overwrite(path, 4096, &[0xa5; 64]));
    assert!(ran.stderr.contains("damaged"), "{}", ran.stderr);
}

#[test]
fn a_database_that_was_cut_off_is_not_used() {
    for left in [0, 100, 4096, 10_000] {
        refused_until_put_back(used(), |path| {
            fs::OpenOptions::new().write(true).open(path).unwrap().set_len(left).unwrap();
        });
    }
}

#[test]
fn a_folder_in_the_place_of_the_database_is_refused() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = home.mint(&["--uses", "1"]);
    fs::create_dir(home.path(DATABASE)).unwrap();
    call(&home, &stage, &grant).expect(6);
    fs::remove_dir(home.path(DATABASE)).unwrap();
    call(&home, &stage, &grant).expect(0);
    assert_eq!(stage.requests(), 1);
}

/// The shell's limit on the size of files stands for a disk that is full.
#[cfg(unix)]
#[test]
fn without_room_nothing_is_sent() {
    let (home, stage, grant) = used();
    let words = stage.args(&home, &[&["run"], &READ[..], &["--grant", &grant, "--json"]].concat());
    let limited = |blocks: &str| {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        let inner = home.command(&words.words());
        let mut command = std::process::Command::new("/bin/sh");
        command.args(["-c", &script, "sh"]).arg(inner.get_program()).args(inner.get_args());
        command.env_clear().env("PINHOLE_HOME", home.path("")).current_dir(home.path(""));
        command.stdin(std::process::Stdio::piped());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        ran(&mut command, b"")
    };
    // In blocks of 512 bytes: too few for the log of one change.
    limited("4").expect(6);
    assert_eq!(stage.requests(), 1);
    limited("100000").expect(0);
    call(&home, &stage, &grant).expect(3).refusal("grant_used_up");
}

/// What the version before the database has left: the use is spent, the grant revoked, the time seen.
#[test]
fn the_state_of_an_earlier_version_is_not_forgotten() {
    let (home, stage) = (Home::new(), Stage::new());
    let hex = |text: &str| text.bytes().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    let id = |grant: &str| {
        let shown = home.run(&["grant", "inspect", grant, "--json"]).expect(0).json();
        shown["id"].as_str().unwrap().to_owned()
    };
    let [spent, left, revoked] = [&["--uses", "1"][..], &["--uses", "3"], &[]].map(|flags| home.mint(flags));
    let names = [&spent, &left, &revoked].map(|grant| hex(&id(grant)));
    fs::remove_file(home.path(DATABASE)).unwrap();
    home.write(&format!("state/uses/{}.1", names[0]), "\n");
    home.write(&format!("state/uses/{}.1", names[1]), "\n");
    home.write(&format!("state/uses/{}.2", names[1]), "\n");
    home.write(&format!("state/revoked/{}", names[2]), "\n");
    home.write("state/clock/1700000000", "");
    call(&home, &stage, &spent).expect(3).refusal("grant_used_up");
    call(&home, &stage, &revoked).expect(3).refusal("grant_revoked");
    call(&home, &stage, &left).expect(0);
    call(&home, &stage, &left).expect(3).refusal("grant_used_up");
    // Kept beside, and an earlier version cannot run on it.
    assert!(home.path("state.taken-over/uses").is_dir() && home.path("state").is_file());
    // Where one did, somehow, what it spent is not known here.
    fs::remove_file(home.path("state")).unwrap();
    fs::create_dir_all(home.path("state/uses")).unwrap();
    let ran = call(&home, &stage, &left).expect(6);
    assert!(ran.stderr.contains("earlier version"), "{}", ran.stderr);
    fs::remove_dir_all(home.path("state")).unwrap();
    let store = SqliteStore::open_home(&home.path("")).unwrap();
    assert!(store.is_revoked(&GrantId::parse(&id(&revoked)).unwrap()).unwrap());
}

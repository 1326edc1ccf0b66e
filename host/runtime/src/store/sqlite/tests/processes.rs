//! Real processes: this test binary started again, to do one job and to be killed at it.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use rusqlite::TransactionBehavior;

use super::{Asked, Disk, HOUR, NOW, grant_id, member, question_id, raw, receipts, the_bot, uses};
use crate::store::{
    Answer, Connections as _, LockName, Locks as _, QuestionState, Questions as _, Receipts as _, Settled,
    SpendError, SqliteStore, Store as _, StoreError, TakeError,
};

/// What a child prints before its own lines; the test harness prints lines of its own.
const MARK: &str = "child:";

/// Another process.
pub(super) struct Another {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Another {
    /// Starts one that does this job on this database. `adjust` changes how it is started.
    pub(super) fn start(job: &str, path: &Path, adjust: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new("/proc/self/exe");
        if !Path::new("/proc/self/exe").exists() {
            command = Command::new(std::env::current_exe().unwrap());
        }
        let this = concat!(module_path!(), "::another_process");
        let name = this.split_once("::").unwrap().1;
        command.args([name, "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        adjust(&mut command);
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        writeln!(stdin, "{job}\n{}", path.display()).unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout }
    }

    /// Its next line, without the mark; none when it is at its end.
    pub(super) fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        while self.stdout.read_line(&mut line).unwrap() > 0 {
            if let Some((_, said)) = line.trim_end().split_once(MARK) {
                return Some(said.to_owned());
            }
            line.clear();
        }
        None
    }

    fn go(&mut self) {
        self.stdin.write_all(b"go\n").unwrap();
    }

    pub(super) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Another {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        self.child.wait().map_or_else(|_error| (), |_ended| ());
    }
}

/// Not a test: what another process does, told on stdin.
#[test]
#[ignore = "other tests run it, as a process of its own"]
fn another_process() {
    let mut lines = std::io::stdin().lines().map(Result::unwrap);
    let (job, path) = (lines.next().unwrap(), lines.next().unwrap());
    let path = Path::new(&path);
    let mut wait = || assert!(lines.next().is_some(), "nobody waits for this process any more");
    let say = |what: &str| {
        let mut line = String::new();
        writeln!(line, "{MARK}{what}").unwrap();
        std::io::stdout().write_all(line.as_bytes()).unwrap();
        std::io::stdout().flush().unwrap();
    };
    let open = || SqliteStore::open(path);
    match job.as_str() {
        "open" => say(&open().map_or_else(|error| word(&error), |_store| "opened".to_owned())),
        "spend" => {
            say("ready");
            wait();
            let store = open().unwrap();
            match store.spend(&grant_id(1), uses(1)) {
                Ok(()) => say("spent"),
                Err(SpendError::UsedUp) => say("used up"),
                Err(SpendError::Store(error)) => say(&word(&error)),
            }
        }
        "take" => {
            say("ready");
            wait();
            match open().unwrap().take(the_bot(), question_id(1), NOW) {
                Ok(_) => say("taken"),
                Err(TakeError::NotApproved(QuestionState::Used)) => say("used"),
                Err(error) => say(&format!("{error:?}")),
            }
        }
        "receipts" => {
            say("ready");
            wait();
            let store = open().unwrap();
            for number in 0..20 {
                let settled = if number % 4 == 0 { Settled::Durably } else { Settled::Lightly };
                store.append(&receipts::facts(number), None, settled).unwrap();
            }
            say("written");
        }
        "spend on and on" => {
            let store = open().unwrap();
            while store.spend(&grant_id(1), uses(u32::MAX)).is_ok() {
                say("spent");
            }
        }
        "lock" => {
            let mut connection = raw(path);
            let _held = connection.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
            say("held");
            wait();
        }
        "hold" => {
            let store = open().unwrap();
            let _held = store.hold(&LockName::new("test", &["a"]), Duration::ZERO).unwrap();
            say("held");
            wait();
        }
        other => panic!("what is {other}?"),
    }
}

/// The name of an error.
fn word(error: &StoreError) -> String {
    let shown = format!("{error:?}");
    shown.split([' ', '(']).next().unwrap().to_owned()
}

fn twenty(job: &str, disk: &Disk) -> Vec<String> {
    let mut all: Vec<Another> = (0..20).map(|_| Another::start(job, &disk.path(), |_| {})).collect();
    for another in &mut all {
        assert_eq!(another.line().as_deref(), Some("ready"));
    }
    all.iter_mut().for_each(Another::go);
    all.iter_mut().map(|another| another.line().unwrap()).collect()
}

#[test]
fn of_twenty_processes_one_spends_the_use() {
    // None of them finds a database: all make it.
    let disk = Disk::new();
    let said = twenty("spend", &disk);
    assert_eq!(said.iter().filter(|said| *said == "spent").count(), 1, "{said:?}");
    assert_eq!(said.iter().filter(|said| *said == "used up").count(), 19, "{said:?}");
}

#[test]
fn of_twenty_processes_one_takes_the_approval() {
    let disk = Disk::new();
    let store = disk.store();
    let id = Asked::new("A title").raise(&store, 1, NOW).unwrap().id;
    let yes = Answer::Approve { grant: grant_id(5), sealed: b"sealed", until: NOW.plus_secs(HOUR) };
    store.answer(member(), id, yes, NOW).unwrap();
    let said = twenty("take", &disk);
    assert_eq!(said.iter().filter(|said| *said == "taken").count(), 1, "{said:?}");
    assert_eq!(said.iter().filter(|said| *said == "used").count(), 19, "{said:?}");
}

#[test]
fn twenty_processes_make_one_chain() {
    let disk = Disk::new();
    let said = twenty("receipts", &disk);
    assert!(said.iter().all(|said| said == "written"), "{said:?}");
    let verdict = receipts::verdict(&disk.store());
    assert!(verdict.is_sound(), "{verdict:?}");
    assert_eq!((verdict.receipts, verdict.last), (400, Some(400)));
}

/// Killed in the middle of what it does, at a different place each time: what it was told is spent is spent.
#[test]
fn what_was_spent_before_a_kill_is_spent() {
    let disk = Disk::new();
    let mut known = 0_u32;
    for round in 0..12_u32 {
        let mut another = Another::start("spend on and on", &disk.path(), |_| {});
        for _ in 0..=round * 3 {
            assert_eq!(another.line().as_deref(), Some("spent"));
            known += 1;
        }
        another.kill();
        while another.line().is_some() {
            known += 1;
        }
        let spent: u32 = {
            let store = disk.store();
            store.check().unwrap();
            let light = store.light();
            light.query_row("SELECT spent FROM uses", [], |row| row.get(0)).unwrap()
        };
        // One more at the most: spent, and killed before it could say so.
        assert!(spent == known || spent == known + 1, "{spent} spent, {known} known");
        known = spent;
    }
}

#[test]
fn a_database_that_another_process_locks_is_given_up_in_time() {
    let disk = Disk::new();
    let store = SqliteStore::open_waiting(&disk.path(), Duration::from_millis(30)).unwrap();
    store.spend(&grant_id(1), uses(2)).unwrap();
    let mut another = Another::start("lock", &disk.path(), |_| {});
    assert_eq!(another.line().as_deref(), Some("held"));
    let locked =
        |error: &StoreError| matches!(error, StoreError::Locked { waited, .. } if waited.as_millis() == 30);
    assert!(matches!(store.spend(&grant_id(1), uses(2)), Err(SpendError::Store(error)) if locked(&error)));
    assert!(locked(&store.high_water(NOW).unwrap_err()));
    assert!(locked(&store.revoke(&grant_id(1)).unwrap_err()));
    // Who only looks need not wait, and it can be opened.
    assert!(store.has_use_left(&grant_id(1), uses(2)).unwrap());
    assert!(
        !SqliteStore::open_waiting(&disk.path(), Duration::from_millis(30))
            .unwrap()
            .is_revoked(&grant_id(1))
            .unwrap()
    );
    assert_eq!(store.connections(member()).unwrap(), []);
    another.kill();
    store.spend(&grant_id(1), uses(2)).unwrap();
    assert!(!store.is_revoked(&grant_id(1)).unwrap());
    assert!(matches!(store.spend(&grant_id(1), uses(2)), Err(SpendError::UsedUp)));
}

//! Real processes: this test binary started again, to do one job and to be killed at it.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::TransactionBehavior;

use super::{NOW, grant_id, question_id, receipts, the_bot, uses};
use crate::store::{
    Desk, LockName, PostgresAddress, PostgresStore, QuestionState, Settled, SpendError, SqliteStore,
    StoreError, TakeError,
};

/// What a child prints before its own lines; the test harness prints lines of its own.
const MARK: &str = "child:";

/// Another process.
pub(crate) struct Another {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Another {
    /// Starts one that does this job on this database. `adjust` changes how it is started.
    pub(crate) fn start(job: &str, place: &str, adjust: impl FnOnce(&mut Command)) -> Self {
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
        writeln!(stdin, "{job}\n{place}").unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout }
    }

    /// Its next line, without the mark; none when it is at its end.
    pub(crate) fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        while self.stdout.read_line(&mut line).unwrap() > 0 {
            if let Some((_, said)) = line.trim_end().split_once(MARK) {
                return Some(said.to_owned());
            }
            line.clear();
        }
        None
    }

    pub(crate) fn go(&mut self) {
        self.stdin.write_all(b"go\n").unwrap();
    }

    pub(crate) fn kill(&mut self) {
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
    let (job, place) = (lines.next().unwrap(), lines.next().unwrap());
    let mut wait = || assert!(lines.next().is_some(), "nobody waits for this process any more");
    let say = |what: &str| {
        let mut line = String::new();
        writeln!(line, "{MARK}{what}").unwrap();
        std::io::stdout().write_all(line.as_bytes()).unwrap();
        std::io::stdout().flush().unwrap();
    };
    let open = || open(&place);
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
            let mut connection = rusqlite::Connection::open(&place).unwrap();
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

/// The store at a place, which is a path or a URL.
fn open(place: &str) -> Result<Arc<dyn Desk>, StoreError> {
    if place.starts_with("postgres://") {
        return Ok(Arc::new(PostgresStore::open(&PostgresAddress::parse(place).unwrap())?));
    }
    Ok(Arc::new(SqliteStore::open(Path::new(place))?))
}

/// The name of an error.
fn word(error: &StoreError) -> String {
    let shown = format!("{error:?}");
    shown.split([' ', '(']).next().unwrap().to_owned()
}

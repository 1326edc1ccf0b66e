//! Real processes on one database: this test binary started again, to renew a pair, or to be killed at a step of it.
//!
//! The provider is a folder: a line for each refresh token that was shown, so that all processes ask the same one. It ends the
//! family when a spent token is shown again.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use pinhole_grant::{KeyId, PairDigest};
use tempfile::TempDir;

use super::super::{Ask, Asked, Asking, Fresh, NotRenewed, Renewing, Unanswered};
use super::{Host, LIFE, NOW, bot, credential, given, member, secret};
use crate::store::{
    Held, Line, LineError, LineState, Lines, LockError, LockName, Locks, Renewals, SqliteStore, StoreError,
    TRIES_MAX,
};

/// What a child prints before its own lines; the test harness prints lines of its own.
const MARK: &str = "child:";
/// A step at which a process may be killed.
const STEPS: [&str; 4] = ["locked", "noted", "answered", "stored"];

/// A database and a provider, in a folder of the test's own.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        drop(place.store());
        place
    }

    fn store(&self) -> SqliteStore {
        SqliteStore::open_home(self.folder.path()).unwrap()
    }

    fn shown(&self) -> Vec<String> {
        shown(&asked_at(self.folder.path()))
    }

    /// What comes of a renewal here, so many seconds later.
    async fn renewed(&self, after: i64) -> Result<u64, NotRenewed> {
        let host = host(self.folder.path(), Arc::new(self.store()));
        let pair = host.renew(given(&member(1), &credential("one", 0)), after).await?;
        assert_eq!(pair.expires_at, Some(NOW.plus_secs(after + LIFE)), "a pair of its own");
        Ok(pair.generation)
    }

    fn line(&self) -> Line {
        self.store().line(&given(&member(1), &credential("one", 0)).digest).unwrap().unwrap()
    }
}

fn asked_at(folder: &Path) -> PathBuf {
    folder.join("shown")
}

fn shown(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// The provider as every process sees it.
struct Folder(PathBuf);

impl Ask for Folder {
    fn ask<'a>(&'a self, asked: Asked<'a>) -> Asking<'a> {
        Box::pin(async move {
            say("noted");
            stop_at("noted");
            let before = shown(&self.0);
            let refresh = asked.refresh.expose();
            let mut file = fs::OpenOptions::new().append(true).create(true).open(&self.0).unwrap();
            writeln!(file, "{refresh}").unwrap();
            if before.iter().any(|spent| spent == refresh) {
                return Err(Unanswered::Dead);
            }
            let next = before.len() + 1;
            Ok(Fresh {
                access: secret(&format!("one-access-{next}")),
                refresh: Some(secret(&format!("one-refresh-{next}"))),
                obtained_at: asked.now,
                expires_at: Some(asked.now.plus_secs(LIFE)),
            })
        })
    }
}

fn host(folder: &Path, store: Arc<dyn Lines>) -> Host {
    Host { renewing: Renewing::new(Arc::new(Folder(asked_at(folder)))), store, bot: Arc::new(bot().into()) }
}

/// The store, with a stop where a test wants one.
struct Stopping(SqliteStore);

impl Renewals for Stopping {
    fn line(&self, pair: &PairDigest) -> Result<Option<Line>, StoreError> {
        self.0.line(pair)
    }

    fn begin_line(&self, line: &Line) -> Result<Line, StoreError> {
        self.0.begin_line(line)
    }

    fn change_line(&self, from: &Line, to: &Line) -> Result<(), LineError> {
        let step = if to.state == LineState::Sent { "locked" } else { "answered" };
        say(step);
        stop_at(step);
        self.0.change_line(from, to)
    }

    fn lines(&self, member: KeyId) -> Result<Vec<Line>, StoreError> {
        self.0.lines(member)
    }
}

impl Locks for Stopping {
    fn hold(&self, what: &LockName, patience: Duration) -> Result<Held, LockError> {
        self.0.hold(what, patience)
    }
}

/// Where the process of the child stops; other processes never do.
static STOPS_AT: std::sync::OnceLock<String> = std::sync::OnceLock::new();

fn stop_at(step: &str) {
    if STOPS_AT.get().is_some_and(|stop| stop == step) {
        // Until it is killed, or nobody waits for it any more.
        std::io::stdin().lines().for_each(drop);
        std::process::abort();
    }
}

/// A word to the parent, of a child alone.
fn say(what: &str) {
    if STOPS_AT.get().is_some() {
        let mut out = std::io::stdout().lock();
        out.write_all(format!("{MARK}{what}\n").as_bytes()).unwrap();
        out.flush().unwrap();
    }
}

/// Another process.
struct Another {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Another {
    fn start(stop: &str, folder: &Path) -> Self {
        let mut command = Command::new("/proc/self/exe");
        if !Path::new("/proc/self/exe").exists() {
            command = Command::new(std::env::current_exe().unwrap());
        }
        let this = concat!(module_path!(), "::another_process");
        let name = this.split_once("::").unwrap().1;
        command.args([name, "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        writeln!(stdin, "{stop}\n{}", folder.display()).unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout }
    }

    /// Its next line, without the mark; none when it is at its end.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        while self.stdout.read_line(&mut line).unwrap() > 0 {
            if let Some((_, said)) = line.trim_end().split_once(MARK) {
                return Some(said.to_owned());
            }
            line.clear();
        }
        None
    }

    /// Waits until it says this.
    fn says(&mut self, wanted: &str) {
        while let Some(said) = self.line() {
            if said == wanted {
                return;
            }
        }
        panic!("it never said `{wanted}`");
    }

    fn go(&mut self) {
        self.stdin.write_all(b"go\n").unwrap();
    }

    fn kill(&mut self) {
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

/// Not a test: what another process does, told on stdin. It renews thirteen times at once, and says how each ended.
#[test]
#[ignore = "other tests run it, as a process of its own"]
fn another_process() {
    let line = || {
        let mut line = String::new();
        assert!(std::io::stdin().read_line(&mut line).unwrap() > 0, "nobody waits for this process any more");
        line.trim_end().to_owned()
    };
    let (stop, folder) = (line(), PathBuf::from(line()));
    STOPS_AT.set(stop.clone()).unwrap();
    let host = host(&folder, Arc::new(Stopping(SqliteStore::open_home(&folder).unwrap())));
    if stop == "never" {
        say("ready");
        line();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ends = runtime.block_on(async {
        let due = || given(&member(1), &credential("one", 0));
        join_all((0..13).map(|_| host.renew(due(), 0))).await
    });
    say("stored");
    stop_at("stored");
    for end in ends {
        match end {
            Ok(pair) => say(&format!("renewed {} {}", pair.generation, pair.access.expose())),
            Err(error) => say(&format!("{error:?}")),
        }
    }
}

#[test]
fn four_processes_at_once_share_one_renewal() {
    let place = Place::new();
    let mut all: Vec<Another> = (0..4).map(|_| Another::start("never", place.folder.path())).collect();
    for another in &mut all {
        another.says("ready");
    }
    all.iter_mut().for_each(Another::go);
    for another in &mut all {
        another.says("stored");
        for _ in 0..13 {
            assert_eq!(another.line().as_deref(), Some("renewed 1 one-access-1"));
        }
    }
    assert_eq!(place.shown(), ["one-refresh-0"]);
}

/// Killed at each step. Whoever comes next ends with a fresh pair or a clear refusal, and no refresh token is shown more
/// often than it may be.
#[tokio::test]
async fn a_process_that_is_killed_at_any_step_leaves_a_pair_or_a_clear_end() {
    for step in STEPS {
        let place = Place::new();
        let mut another = Another::start(step, place.folder.path());
        another.says(step);
        another.kill();
        match step {
            // Nothing had left, or what came was stored.
            "locked" | "stored" => {
                assert_eq!(place.renewed(0).await.unwrap(), 1, "{step}");
                assert_eq!(place.shown(), ["one-refresh-0"], "{step}");
            }
            // It may have left: not at once, then once more, and it had not.
            "noted" => {
                assert!(matches!(place.renewed(0).await, Err(NotRenewed::Wait(5))));
                assert_eq!(place.renewed(5).await.unwrap(), 1);
                assert_eq!(place.shown(), ["one-refresh-0"]);
            }
            // It had, and the answer died with the process: the service ends the family, and that is the end.
            _ => {
                assert!(matches!(place.renewed(0).await, Err(NotRenewed::Wait(5))));
                for hour in 1..6 {
                    assert!(matches!(place.renewed(hour * 3600).await, Err(NotRenewed::Dead)));
                }
                assert_eq!(place.shown(), ["one-refresh-0", "one-refresh-0"]);
            }
        }
    }
}

#[tokio::test]
async fn killed_again_and_again_it_is_not_tried_without_end() {
    let place = Place::new();
    for round in 0..TRIES_MAX {
        let mut another = Another::start("noted", place.folder.path());
        another.says("noted");
        another.kill();
        assert_eq!(place.line().tries, round + 1);
        // As if its wait were over.
        let line = place.line();
        place.store().change_line(&line, &Line { again_at: Some(NOW), ..line.clone() }).unwrap();
    }
    assert!(matches!(place.renewed(0).await, Err(NotRenewed::Dead)));
    assert!(matches!(place.renewed(3600).await, Err(NotRenewed::Dead)));
    assert_eq!(place.shown().len(), 0);
}

//! What breaks around a sidecar: the service goes away in the middle, the disk is full, the clock is set back. Nothing is sent
//! that was not to be, and what was sent is known.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use pinhole_standin::{Misbehaviour, When};
use serde_json::{Value, json};

use super::served::{Served, call, eventually, own_socket, read, text};
use crate::home::Home;
use crate::stage::{Stage, WRITE_ARGS};

fn run_of(home: &Home) -> Value {
    home.run(&["receipts", "list", "--json", "--limit", "1"]).expect(0).json()[0]["run"].clone()
}

fn written(stage: &Stage) -> usize {
    stage.standin.requests().iter().filter(|seen| seen.method == "POST").count()
}

fn write_of(home: &Home) -> String {
    let grant = text(&home.mint(&["--approve", "github.create_issue", WRITE_ARGS]));
    call("github.create_issue", &WRITE_ARGS.parse().unwrap(), &grant)
}

#[test]
fn a_service_that_goes_away_in_the_middle_may_have_done_it_and_then_nothing_is_sent() {
    let (home, stage) = (Home::guarded(), Stage::new());
    let served = Served::new(&home, &stage, &[]);
    let delay = Duration::from_mins(10);
    let path = "/repos/pinhole-demo/lantern/issues".to_owned();
    stage.standin.misbehave(When::Path(path), Misbehaviour::SlowHeaders { delay });
    let (body, next) = (write_of(&home), write_of(&home));
    std::thread::scope(|scope| {
        let running = scope.spawn(|| served.post("/v1/run", &body));
        eventually("the write is at the service", || written(&stage) == 1);
        // The whole service with all its connections.
        drop(stage);
        let refusal = running.join().unwrap().refused(424, "interrupted");
        assert_eq!(refusal["sent"], "maybe");
    });
    assert_eq!((&run_of(&home)["code"], &run_of(&home)["sent"]), (&json!("interrupted"), &json!("maybe")));
    served.post("/v1/run", &body).refused(403, "grant_used_up");
    // With nobody there nothing is sent, and that is said.
    let refusal = served.post("/v1/run", &next).refused(403, "connect_failed");
    assert_eq!(refusal["sent"], "no");
    served.get("/healthz").is(200);
    home.run(&["receipts", "verify"]).expect(0);
}

/// A home on a disk of one megabyte that the sidecar alone sees, in a mount namespace of its own.
struct Small {
    served: Served,
    folder: PathBuf,
}

impl Small {
    fn new(home: &Home, stage: &Stage, test: &str) -> Option<Self> {
        let tries = Command::new("unshare").args(["-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
        if !tries.is_ok_and(|tried| tried.status.success()) {
            eprintln!("SKIPPED: {test}: no disk can be mounted here, which only the superuser may");
            return None;
        }
        let small = home.path("small");
        std::fs::create_dir(&small).unwrap();
        let script = "mount -t tmpfs -o size=1m,mode=700 tmpfs \"$1\" && cp -rp keys config.toml \"$1\" && \
                      export PINHOLE_HOME=\"$1\" && shift && exec \"$@\"";
        home.write("config.toml", "");
        let socket = own_socket(home);
        let member = home.public("member");
        let args = stage.args(home, &["sidecar", "--issuer", &member, "--socket", &socket]);
        let inner = home.command(&args.words());
        let mut command = Command::new("unshare");
        command.args(["-m", "--propagation", "private", "sh", "-c", script, "sh"]).arg(&small);
        command.arg(inner.get_program()).args(inner.get_args()).current_dir(home.path(""));
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let served = Served::of(home, command);
        // As the sidecar sees it.
        let seen = PathBuf::from(format!("/proc/{}/root", served.child.id()));
        let folder = seen.join(small.strip_prefix("/").unwrap());
        assert!(folder.join("pinhole.db").exists());
        Some(Self { served, folder })
    }

    /// Fills the disk to its last byte.
    fn fill(&self) {
        let mut file = std::fs::File::create(self.folder.join("fill")).unwrap();
        for bytes in [4096, 1] {
            while file.write_all(&vec![0; bytes]).is_ok() {}
        }
    }

    fn empty(&self) {
        std::fs::remove_file(self.folder.join("fill")).unwrap();
    }
}

#[test]
fn on_a_disk_that_is_full_nothing_is_sent_and_with_room_again_it_is() {
    let test = "on_a_disk_that_is_full_nothing_is_sent_and_with_room_again_it_is";
    let (home, stage) = (Home::guarded(), Stage::new());
    let Some(small) = Small::new(&home, &stage, test) else { return };
    let once = call("github.get_repo", &read(), &text(&home.mint(&["--uses", "1"])));
    let write = write_of(&home);
    for _ in 0..2 {
        small.fill();
        for body in [&once, &write, &once, &write] {
            assert_eq!(small.served.post("/v1/run", body).refused(500, "store_failed")["sent"], "no");
        }
        assert_eq!(stage.requests(), 0, "nothing reaches the service");
        small.empty();
    }
    // What was refused took no use.
    for body in [&once, &write] {
        small.served.post("/v1/run", body).is(200);
    }
    assert_eq!(written(&stage), 1);
    for body in [&once, &write] {
        small.served.post("/v1/run", body).refused(403, "grant_used_up");
    }
    small.served.get("/healthz").is(200);
}

/// The library that stands between a process and its clock.
fn library() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let mut files = folders.map(|folder| folder.path().join("faketime/libfaketimeMT.so.1"));
    files.find(|file| file.exists())
}

/// A sidecar whose clock is so far off.
fn at_time(home: &Home, stage: &Stage, library: &Path, offset: &str) -> Served {
    let member = home.public("member");
    let socket = own_socket(home);
    let args = stage.args(home, &["sidecar", "--issuer", &member, "--socket", &socket]);
    let mut command = home.command(&args.words());
    // What it waits for is as long as ever.
    command.env("LD_PRELOAD", library).env("FAKETIME", offset).env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    Served::of(home, command)
}

#[test]
#[expect(clippy::disallowed_methods, reason = "CI says by the environment that nothing may be skipped")]
fn a_clock_that_was_set_back_revives_nothing() {
    let test = "a_clock_that_was_set_back_revives_nothing";
    let Some(library) = library() else {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{test}: faketime is not installed");
        eprintln!("SKIPPED: {test}: faketime is not installed");
        return;
    };
    let (home, stage) = (Home::new(), Stage::new());
    let at_time = |offset| at_time(&home, &stage, &library, offset);
    let [short, long] = ["10m", "12h"].map(|ttl| text(&home.mint(&["--ttl", ttl])));
    let [short, long] = [short, long].map(|grant| call("github.get_repo", &read(), &grant));
    let now = at_time("+0");
    now.post("/v1/run", &short).is(200);
    drop(now);
    let later = at_time("+1h");
    later.post("/v1/run", &short).refused(403, "grant_expired");
    later.post("/v1/run", &long).is(200);
    drop(later);
    // The latest time that was seen counts, for a clock that is right now and for one that is wrong the other way.
    for offset in ["+0", "-2h"] {
        let back = at_time(offset);
        back.post("/v1/run", &short).refused(403, "grant_expired");
        back.post("/v1/run", &long).is(200);
    }
    assert_eq!(stage.requests(), 4);
    home.run(&["receipts", "verify"]).expect(0);
}

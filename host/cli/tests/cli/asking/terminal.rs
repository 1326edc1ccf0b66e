//! A terminal for the binary, by the `script` program of util-linux: what is typed goes in, what is on the screen comes out.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::approvals::Desk;
use crate::home::Home;

/// How long a terminal may be silent.
const PATIENCE: Duration = Duration::from_mins(1);

/// A command at a terminal of its own.
pub(crate) struct Terminal {
    child: Child,
    keyboard: Option<ChildStdin>,
    wires: Receiver<Vec<u8>>,
    screen: Vec<u8>,
}

/// Whether there is a `script` that this file knows how to use. Where there is none a test says so and is skipped, but not
/// where everything must run.
pub(crate) fn is_there() -> bool {
    let version = Command::new("script").arg("--version").output();
    let there = version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("util-linux"));
    if !there {
        #[expect(clippy::disallowed_methods, reason = "CI may not skip what it lacks")]
        let skips = std::env::var("CI").as_deref() != Ok("true");
        assert!(skips, "there is no `script` of util-linux, and CI must have it");
        eprintln!("SKIPPED: there is no `script` of util-linux, so there is no terminal to test at");
    }
    there
}

impl Terminal {
    /// `run WHAT…` of a desk at a new terminal.
    pub(crate) fn run(desk: &Desk, what: &[&str]) -> Self {
        Self::command(desk, &[&["run"], what].concat())
    }

    /// A command that dials the stand-in, at a new terminal.
    pub(crate) fn command(desk: &Desk, words: &[&str]) -> Self {
        Self::open(&desk.home, &format!("exec {}", quoted(desk, words)))
    }

    /// A command that dials nothing, at a new terminal.
    pub(crate) fn of(home: &Home, words: &[&str]) -> Self {
        Self::open(home, &format!("exec {}", as_a_shell_reads(home, words)))
    }

    /// `run WHAT…`, not before a line has been typed and taken.
    pub(crate) fn run_after_a_line(desk: &Desk, what: &[&str]) -> Self {
        let words = [&["run"], what].concat();
        Self::open(&desk.home, &format!("echo ready; read -r go; exec {}", quoted(desk, &words)))
    }

    /// `run WHAT…`, and then another line of the shell's.
    pub(crate) fn run_and_then(desk: &Desk, what: &[&str], then: &str) -> Self {
        let words = [&["run"], what].concat();
        Self::open(&desk.home, &format!("{}; {then}", quoted(desk, &words)))
    }

    /// `run WHAT…`, whose stdout goes into a file.
    pub(crate) fn run_into(desk: &Desk, what: &[&str], file: &str) -> Self {
        let words = [&["run"], what].concat();
        Self::open(&desk.home, &format!("exec {} > {}", quoted(desk, &words), quote(file)))
    }

    /// A shell's line at a new terminal, in the environment of a home.
    fn open(home: &Home, line: &str) -> Self {
        let file = home.write("at-the-terminal.sh", line);
        let mut child = Command::new("script");
        // What a session would be written to is nowhere.
        child.args(["-qec", &format!("exec /bin/sh {}", quote(&file)), "/dev/null"]);
        child.env("SHELL", "/bin/sh").current_dir(home.path(""));
        child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = child.spawn().unwrap();
        let (keyboard, mut stdout) = (child.stdin.take(), child.stdout.take().unwrap());
        let (sender, wires) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = stdout.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { child, keyboard, wires, screen: Vec::new() }
    }

    /// Types this.
    pub(crate) fn types(&mut self, text: &str) {
        let keyboard = self.keyboard.as_mut().unwrap();
        keyboard.write_all(text.as_bytes()).and_then(|()| keyboard.flush()).unwrap();
    }

    /// Waits until this stands on the screen so many times.
    #[track_caller]
    pub(crate) fn shows(&mut self, text: &str, times: usize) {
        while self.screen().matches(text).count() < times {
            assert!(self.goes_on(), "`{text}` never came: {}", self.screen());
        }
    }

    /// Waits for the end: the exit status, and all that was on the screen.
    #[track_caller]
    pub(crate) fn ends(mut self) -> (i32, String) {
        while self.goes_on() {}
        drop(self.keyboard.take());
        (self.child.wait().unwrap().code().unwrap_or(-1), self.screen())
    }

    fn screen(&self) -> String {
        String::from_utf8_lossy(&self.screen).into_owned()
    }

    /// Takes in what comes next; not so when the command has ended.
    #[track_caller]
    fn goes_on(&mut self) -> bool {
        match self.wires.recv_timeout(PATIENCE) {
            Ok(bytes) => self.screen.extend(bytes),
            Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) => {
                self.child.kill().unwrap();
                panic!("nothing comes any more: {}", self.screen());
            }
        }
        true
    }
}

fn quoted(desk: &Desk, words: &[&str]) -> String {
    as_a_shell_reads(&desk.home, &desk.stage.args(&desk.home, words).words())
}

/// The binary and its args as a shell reads them, with nothing else in its environment.
fn as_a_shell_reads(home: &Home, words: &[&str]) -> String {
    let home = format!("PINHOLE_HOME={}", home.path("").display());
    let words = [&["env", "-i", &home, env!("CARGO_BIN_EXE_pinhole")], words].concat();
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

//! A home of one test's own: its keys, its state, its files, and the binary run in it with an empty environment.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::stage::Stage;

/// The service's key in these tests. It opens nothing.
pub(crate) const KEY: &str = "ghp_KeyOfTheCommandTests0123456789abcdef";

/// A folder that goes away with the test.
pub(crate) struct Home {
    folder: tempfile::TempDir,
}

/// What a command did.
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Home {
    /// Without keys.
    pub(crate) fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// With a member's and a bot's key.
    pub(crate) fn new() -> Self {
        let home = Self::empty();
        home.run(&["keys", "new"]).expect(0);
        home
    }

    /// The same, the member's key protected by a passphrase, as it must be before it permits a write.
    pub(crate) fn guarded() -> Self {
        let home = Self::empty();
        let passphrase = home.write(PASSPHRASE, "correct horse battery");
        home.run(&["keys", "new", "--passphrase-file", &passphrase]).expect(0);
        home
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file and gives its path.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// `connect github` against a stand-in with these flags, and [`KEY`] on stdin.
    pub(crate) fn connect(&self, stage: &Stage, flags: &[&str]) -> Ran {
        self.connect_with(stage, KEY, flags)
    }

    /// The same with this on stdin.
    pub(crate) fn connect_with(&self, stage: &Stage, stdin: impl AsRef<[u8]>, flags: &[&str]) -> Ran {
        let connect = stage.args(self, &[&["connect", "github", "--token-stdin"], flags].concat());
        self.run_with(&connect.words(), stdin)
    }

    /// Connects it so that bots may ask for writes.
    #[track_caller]
    pub(crate) fn connect_for_writes(&self, stage: &Stage) {
        let [flag, passphrase] = self.passphrase();
        self.connect(stage, &["--cap", "write", &flag, &passphrase]).expect(0);
    }

    /// The flags that open the key of a guarded home.
    pub(crate) fn passphrase(&self) -> [String; 2] {
        let file = self.write(PASSPHRASE, "correct horse battery");
        ["--passphrase-file".to_owned(), file]
    }

    /// The database as anybody with SQLite sees it.
    pub(crate) fn database(&self) -> rusqlite::Connection {
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE;
        rusqlite::Connection::open_with_flags(self.path("pinhole.db"), flags).unwrap()
    }

    /// Every column of every row of a table, in the order of their ids.
    pub(crate) fn rows(&self, table: &str) -> Vec<Vec<rusqlite::types::Value>> {
        let database = self.database();
        let mut select = database.prepare(&format!("SELECT * FROM {table} ORDER BY id")).unwrap();
        let columns = select.column_count();
        let rows = select.query_map([], |row| (0..columns).map(|column| row.get(column)).collect());
        rows.unwrap().collect::<Result<_, _>>().unwrap()
    }

    /// All that is stored but the clock, spent uses and revocations; nothing where there is no database.
    pub(crate) fn stored(&self) -> [Vec<Vec<rusqlite::types::Value>>; 3] {
        let there = self.path("pinhole.db").exists();
        ["connections", "grants", "questions"].map(|table| if there { self.rows(table) } else { Vec::new() })
    }

    /// The stored read grant of a connection, as a file for `--grant`.
    pub(crate) fn grant_of(&self, label: &str) -> String {
        let select = "SELECT grants.sealed FROM grants JOIN connections ON connections.id = connection WHERE label = ?1";
        let sealed: Vec<u8> = self.database().query_row(select, [label], |row| row.get(0)).unwrap();
        self.write(&format!("grant-of-{label}.json"), sealed)
    }

    /// Asserts that a key is in no file, plain or in base64 or hexadecimal.
    #[track_caller]
    pub(crate) fn hides(&self, key: &str) {
        let forms = forms(key);
        let mut folders = vec![self.path("")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let bytes = std::fs::read(&path).unwrap();
                for form in &forms {
                    let there = bytes.windows(form.len()).any(|part| part == form.as_bytes());
                    assert!(!there, "{form} is in {}", path.display());
                }
            }
        }
    }

    /// The binary, in this home, with nothing else in its environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pinhole"));
        command
            .args(args)
            .env_clear()
            .env("PINHOLE_HOME", self.folder.path())
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, "")
    }

    /// The same with this on stdin.
    pub(crate) fn run_with(&self, args: &[&str], stdin: impl AsRef<[u8]>) -> Ran {
        ran(&mut self.command(args), stdin.as_ref())
    }

    /// The bot's public key.
    pub(crate) fn bot(&self) -> String {
        self.public("bot")
    }

    /// The member's or the bot's public key.
    pub(crate) fn public(&self, who: &str) -> String {
        self.run(&["keys", "show", "--json"]).json()[who].as_str().unwrap().to_owned()
    }

    /// Mints a grant for this home's own bot, for a stand-in, and gives the file that it is in.
    pub(crate) fn mint(&self, flags: &[&str]) -> String {
        self.mint_for(&self.bot(), &[flags, &["--stand-in"]].concat())
    }

    /// `grant mint` with these flags, and the passphrase where there is one.
    pub(crate) fn try_mint(&self, bot: &str, flags: &[&str]) -> Ran {
        let mint = [&["grant", "mint", "github", "--to", bot], flags].concat();
        let opens = ["--passphrase-file", PASSPHRASE];
        let opens = if self.path(PASSPHRASE).exists() { &opens[..] } else { &[] };
        self.run_with(&[&mint[..], opens].concat(), KEY)
    }

    /// The same for another bot and without a word about stand-ins.
    pub(crate) fn mint_for(&self, bot: &str, flags: &[&str]) -> String {
        let minted = self.try_mint(bot, flags).expect(0);
        let count = std::fs::read_dir(self.folder.path()).unwrap().count();
        self.write(&format!("grant-{count}.json"), minted.stdout)
    }
}

/// Where a guarded home's passphrase is.
pub(crate) const PASSPHRASE: &str = "passphrase.txt";

/// Runs a command to its end.
pub(crate) fn ran(command: &mut Command, stdin: &[u8]) -> Ran {
    let mut child = command.spawn().unwrap();
    // A command that does not read its stdin may be gone already.
    child.stdin.take().unwrap().write_all(stdin).unwrap_or_default();
    Ran::of(&child.wait_with_output().unwrap())
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self {
            status: output.status.code().unwrap_or(-1),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Asserts the exit status. A command that fails says why and, below it, what to do.
    #[track_caller]
    pub(crate) fn expect(self, status: i32) -> Self {
        assert_eq!(self.status, status, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        if ![0, 1, 4].contains(&status) && self.stdout.is_empty() {
            assert!(self.stderr.lines().count() >= 2, "nothing says what to do: {}", self.stderr);
        }
        self
    }

    /// Stdout as exactly one JSON document on one line.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// Asserts that an outcome on stdout is a refusal with this code, and gives it.
    #[track_caller]
    pub(crate) fn refusal(&self, code: &str) -> Value {
        let outcome = self.json();
        assert_eq!(outcome["refusal"]["code"], code, "{outcome}");
        assert!(!outcome["refusal"]["hint"].as_str().unwrap().is_empty());
        outcome["refusal"].clone()
    }

    /// Asserts that a key is nowhere in what was printed, plain or in base64 at any alignment or in hexadecimal.
    #[track_caller]
    pub(crate) fn hides(self, key: &str) -> Self {
        for form in forms(key) {
            assert!(!self.stdout.contains(&form) && !self.stderr.contains(&form), "{form} was printed");
        }
        self
    }
}

/// A key as it might be written down: plain, in hexadecimal, in base64 at any alignment.
fn forms(key: &str) -> Vec<String> {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
    let mut forms = vec![key.to_owned(), hexadecimal(key)];
    for lead in 0..3 {
        let mut bytes = vec![b' '; lead];
        bytes.extend(key.bytes());
        for text in [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
            // The ends depend on what stands beside the key.
            forms.push(text.get(4..text.len() - 4).unwrap().to_owned());
        }
    }
    forms
}

fn hexadecimal(text: &str) -> String {
    text.bytes().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

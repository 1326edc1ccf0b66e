//! A PostgreSQL server of the test's own: Debian's binaries, a temporary folder, a Unix socket in it and no port.
//!
//! `fsync` is off: a test kills the server, and nobody cuts the power; what a process wrote the system keeps. The server
//! refuses to run as the superuser, so it then runs as nobody. INVARIANT: it ends with the process that started it, however
//! that ends, for the script that keeps it reads its stdin to the end and no signal to the group ends it before; its folder goes
//! with it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Keeps one server: says where it is, then does what each line says, and answers with `done`.
const KEEPER: &str = r#"
set -e
# The server is in a session of its own: a signal that ended this script alone would leave it behind.
trap '' TERM INT HUP PIPE
bin=$1 port=$2 certificate=$3 key=$4
dir=$(mktemp -d /tmp/pinhole-postgres.XXXXXX)
trap '"$bin/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
"$bin/initdb" -D "$dir/data" -U pinhole --auth=trust --no-sync --encoding=UTF8 --locale=C >/dev/null
cat >>"$dir/data/postgresql.conf" <<END
listen_addresses = ''
unix_socket_directories = '$dir'
fsync = off
max_connections = 300
shared_buffers = 32MB
log_min_messages = fatal
port = $port
END
if [ -n "$certificate" ]; then
  umask 077
  printf '%s' "$certificate" >"$dir/data/server.crt"
  printf '%s' "$key" >"$dir/data/server.key"
  printf '%s\n' "ssl = on" "listen_addresses = '127.0.0.1'" >>"$dir/data/postgresql.conf"
fi
start() { "$bin/pg_ctl" -D "$dir/data" -l "$dir/log" -w -t 60 start >/dev/null 2>&1; }
start
echo "$dir"
while read -r word; do
  case $word in
    kill) kill -9 "$(head -n1 "$dir/data/postmaster.pid")" ;;
    # Until the processes of one that was killed have ended.
    start) tries=0; until start; do tries=$((tries + 1)); [ $tries -lt 50 ]; done ;;
    stop) "$bin/pg_ctl" -D "$dir/data" -m fast -w stop >/dev/null ;;
  esac
  echo done
done
"#;

/// A running server.
#[derive(Debug)]
pub struct Postgres {
    keeper: Child,
    orders: Mutex<(Option<ChildStdin>, BufReader<ChildStdout>)>,
    folder: PathBuf,
    psql: PathBuf,
    port: u16,
    databases: AtomicU32,
}

impl Postgres {
    /// The server that all tests of this process share. `None` and a loud word where PostgreSQL is missing, but for CI,
    /// where that is a failure.
    pub fn shared(test: &str) -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Postgres>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| Self::start(test)).as_ref();
        if shared.is_none() {
            missing(test);
        }
        shared
    }

    /// A server that this test may stop and kill.
    pub fn start(test: &str) -> Option<Self> {
        Self::start_at(test, 5432, ["", ""])
    }

    /// One that listens on a port of 127.0.0.1 too, and has this certificate and key: PEM.
    pub fn start_encrypted(test: &str, certificate_and_key: [&str; 2]) -> Option<Self> {
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        Self::start_at(test, port, certificate_and_key)
    }

    fn start_at(test: &str, port: u16, certificate_and_key: [&str; 2]) -> Option<Self> {
        let Some(bin) = binaries() else {
            missing(test);
            return None;
        };
        let sh = ["sh", "-c", KEEPER, "keeper"];
        let mut command = if is_superuser() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]).args(sh);
            command
        } else {
            let mut command = Command::new("sh");
            command.args(sh.iter().skip(1));
            command
        };
        command.arg(&bin).arg(port.to_string()).args(certificate_and_key).current_dir("/").env("TZ", "UTC");
        let mut keeper = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a shell");
        let stdin = keeper.stdin.take();
        let mut stdout = BufReader::new(keeper.stdout.take().expect("a pipe"));
        let mut folder = String::new();
        stdout.read_line(&mut folder).expect("a line");
        assert!(folder.ends_with('\n'), "{test}: PostgreSQL does not start");
        Some(Self {
            keeper,
            orders: Mutex::new((stdin, stdout)),
            folder: folder.trim_end().into(),
            psql: bin.join("psql"),
            port,
            databases: AtomicU32::new(0),
        })
    }

    /// The URL of a new, empty database.
    pub fn database(&self) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        format!("postgres://pinhole@/{name}?host={}&port={}", self.folder.display(), self.port)
    }

    /// The port on which a server of [`Postgres::start_encrypted`] listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The process that keeps it.
    pub fn keeper(&self) -> u32 {
        self.keeper.id()
    }

    /// The folder that it is in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs SQL as the database's owner, and gives what it answers: a line a row, `|` between columns.
    ///
    /// # Panics
    /// Where the server refuses it.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let mut psql = Command::new(&self.psql);
        psql.args(["-XqAt", "-v", "ON_ERROR_STOP=1", "-U", "pinhole", "-d", database, "-c", sql]);
        psql.arg("-h").arg(&self.folder).args(["-p", &self.port.to_string()]);
        let said = psql.output().expect("psql");
        assert!(said.status.success(), "{sql}: {}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8(said.stdout).expect("text")
    }

    /// Kills the server as a crash would: SIGKILL.
    pub fn kill(&self) {
        self.order("kill");
    }

    /// Stops the server in good order, as one who updates it does.
    pub fn stop(&self) {
        self.order("stop");
    }

    /// Starts it again, and waits until it answers.
    pub fn start_again(&self) {
        self.order("start");
    }

    fn order(&self, word: &str) {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        let stdin = orders.0.as_mut().expect("it is running");
        writeln!(stdin, "{word}").expect("a keeper");
        let mut line = String::new();
        orders.1.read_line(&mut line).expect("a line");
        assert_eq!(line, "done\n", "the server does not {word}");
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.orders.get_mut().unwrap_or_else(PoisonError::into_inner).0.take());
        drop(self.keeper.wait());
    }
}

/// Where the server's programs are.
fn binaries() -> Option<PathBuf> {
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = debian.map(|version| version.path().join("bin")).collect();
    folders.sort();
    folders.extend(["/usr/local/bin", "/usr/bin"].map(PathBuf::from));
    folders.into_iter().find(|bin| ["initdb", "pg_ctl", "psql"].iter().all(|name| bin.join(name).exists()))
}

fn is_superuser() -> bool {
    let uid = Command::new("id").arg("-u").output();
    Path::new("/usr/bin/setpriv").exists() && uid.is_ok_and(|said| said.stdout == b"0\n")
}

/// Says loudly that a test is skipped and why; in CI that is a failure.
#[expect(clippy::disallowed_methods, reason = "CI says by the environment that nothing may be skipped")]
fn missing(test: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{test}: PostgreSQL is not installed");
    eprintln!("SKIPPED: {test}: PostgreSQL is not installed");
}

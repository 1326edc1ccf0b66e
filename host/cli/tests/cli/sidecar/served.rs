//! A sidecar that runs, and the ways to speak to it. Every JSON answer that is read here is held against its description.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use pinhole_client::Client;
use serde_json::{Value, json};

use crate::home::Home;
use crate::stage::Stage;

/// The args of a read.
pub(super) const READ_ARGS: &str = r#"{"owner":"pinhole-demo","repo":"lantern"}"#;
/// Longer than anything here takes.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);

/// Where it is.
#[derive(Debug, Clone)]
pub(super) enum Place {
    File(PathBuf),
    At(SocketAddr),
}

/// A sidecar that runs. It is killed with this.
pub(super) struct Served {
    pub(super) child: Child,
    pub(super) place: Place,
    log: PathBuf,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: String,
    path: String,
}

/// Anything that can be written to and read from.
pub(super) trait Stream: Read + Write {
    /// Says that nothing more is written.
    fn close_writing(&self);
}

impl Stream for UnixStream {
    fn close_writing(&self) {
        self.shutdown(std::net::Shutdown::Write).unwrap();
    }
}

impl Stream for TcpStream {
    fn close_writing(&self) {
        self.shutdown(std::net::Shutdown::Write).unwrap();
    }
}

impl Served {
    /// Of a home, whose member it believes, before a stand-in.
    pub(super) fn new(home: &Home, stage: &Stage, flags: &[&str]) -> Self {
        Self::bare(home, stage, &[&["--issuer", &home.public("member")], flags].concat())
    }

    /// The same at this socket file.
    pub(super) fn at(home: &Home, stage: &Stage, path: &str) -> Self {
        Self::new(home, stage, &["--socket", path])
    }

    /// The same without a word on whom it believes.
    pub(super) fn bare(home: &Home, stage: &Stage, flags: &[&str]) -> Self {
        let args = stage.args(home, &[&["sidecar"], flags].concat());
        Self::start(home, &args.words())
    }

    /// With these words on the command line.
    pub(super) fn start(home: &Home, words: &[&str]) -> Self {
        Self::of(home, home.command(words))
    }

    /// By this command.
    pub(super) fn of(home: &Home, mut command: Command) -> Self {
        let log = home.path(&format!("log-{}", rand_name()));
        let stderr = File::create(&log).unwrap();
        let mut child = command.stderr(Stdio::from(stderr)).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said = || std::fs::read_to_string(&log).unwrap();
        let at = line.trim_end().strip_prefix("serving ").unwrap_or_else(|| panic!("{line}{}", said()));
        let place = if let Some(path) = at.strip_prefix("unix:") {
            Place::File(path.into())
        } else {
            let address = at.strip_prefix("http://").unwrap().split(' ').next().unwrap();
            Place::At(address.parse().unwrap())
        };
        Self { child, place, log }
    }

    /// A client at its socket file.
    pub(super) fn client(&self) -> Client {
        match &self.place {
            Place::File(path) => Client::unix(path),
            Place::At(_) => panic!("it wants a token"),
        }
    }

    /// A client with a token.
    pub(super) fn client_with(&self, token: &str) -> Client {
        match &self.place {
            Place::File(_) => panic!("it wants no token"),
            Place::At(address) => Client::tcp(*address, token.to_owned()).unwrap(),
        }
    }

    /// A connection.
    pub(super) fn connect(&self) -> Box<dyn Stream> {
        match &self.place {
            Place::File(path) => Box::new(UnixStream::connect(path).unwrap()),
            Place::At(address) => Box::new(TcpStream::connect(address).unwrap()),
        }
    }

    pub(super) fn host(&self) -> String {
        match &self.place {
            Place::File(_) => "localhost".to_owned(),
            Place::At(address) => address.to_string(),
        }
    }

    /// What it answers to these lines, its host and a body added.
    pub(super) fn ask(&self, head: &str, body: &str) -> Answer {
        let host = self.host();
        self.say(&format!(
            "{head}\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ))
    }

    /// What it answers to these very bytes.
    pub(super) fn say(&self, bytes: &str) -> Answer {
        let mut stream = self.connect();
        // It may answer and end before it has read all.
        stream.write_all(bytes.as_bytes()).unwrap_or_default();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap_or_default();
        let path = bytes.split(' ').nth(1).unwrap_or_default().split('?').next().unwrap();
        Answer::read(&String::from_utf8(answer).unwrap(), path)
    }

    pub(super) fn get(&self, target: &str) -> Answer {
        self.ask(&format!("GET {target} HTTP/1.1"), "")
    }

    pub(super) fn post(&self, path: &str, body: &str) -> Answer {
        self.ask(&format!("POST {path} HTTP/1.1\r\ncontent-type: application/json"), body)
    }

    /// The value of a line of `/metrics`; 0 where there is none.
    pub(super) fn count(&self, line: &str) -> u64 {
        let text = self.get("/metrics").body;
        let found = text.lines().find_map(|said| said.strip_prefix(line)?.trim().parse().ok());
        found.unwrap_or(0)
    }

    /// Waits until that is so.
    pub(super) fn until(&self, line: &str, count: u64) {
        eventually(line, || self.count(line) == count);
    }

    pub(super) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    /// How it ends when it is told to stop, and what it has logged.
    pub(super) fn stop(mut self) -> (ExitStatus, String) {
        self.signal("-TERM");
        self.ended()
    }

    /// How it has ended, and what it has logged.
    pub(super) fn ended(&mut self) -> (ExitStatus, String) {
        let status = self.child.wait().unwrap();
        (status, std::fs::read_to_string(&self.log).unwrap())
    }

    pub(super) fn logged(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        self.child.wait().unwrap();
    }
}

impl Answer {
    fn read(text: &str, path: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text}"));
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Self { status, headers, body: body.to_owned(), path: path.to_owned() }
    }

    /// The document, once the status is that and the description allows it.
    #[track_caller]
    pub(super) fn is(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        let document: Value = serde_json::from_str(&self.body).unwrap();
        described(&self.path, status, &document);
        document
    }

    /// The refusal, once the status and the code are those.
    #[track_caller]
    pub(super) fn refused(&self, status: u16, code: &str) -> Value {
        let document = self.is(status);
        assert_eq!(
            (&document["ok"], &document["refusal"]["code"]),
            (&json!(false), &json!(code)),
            "{document}"
        );
        document["refusal"].clone()
    }
}

/// Holds an answer against what `/openapi.json` says of it.
#[track_caller]
fn described(path: &str, status: u16, document: &Value) {
    let description = pinhole_server::sidecar::openapi();
    // The id of a session stands for any.
    let template = match path.strip_prefix("/v1/research/").map(|rest| rest.split_once('/')) {
        None => path.to_owned(),
        Some(None) => "/v1/research/{id}".to_owned(),
        Some(Some((_id, rest))) => format!("/v1/research/{{id}}/{rest}"),
    };
    let of_path = &description["paths"][&template];
    let schema = match of_path.as_object().and_then(|methods| methods.values().next()) {
        None => json!({"$ref": "#/components/schemas/Refused"}),
        Some(operation) => {
            let answers = &operation["responses"];
            let answer = answers.get(status.to_string()).unwrap_or(&answers["default"]);
            answer["content"]["application/json"]["schema"].clone()
        }
    };
    let schema = json!({"$ref": schema["$ref"], "components": description["components"]});
    let faults: Vec<String> = jsonschema::validator_for(&schema)
        .unwrap()
        .iter_errors(document)
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{path} {status}: {faults:?} {document}");
}

/// Waits, not for long, until something is so.
#[track_caller]
pub(super) fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "never: {what}");
        std::thread::yield_now();
    }
}

/// What a file has.
pub(super) fn text(path: &str) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// The args of a read.
pub(super) fn read() -> Value {
    serde_json::from_str(READ_ARGS).unwrap()
}

/// The body of a call.
pub(super) fn call(op: &str, args: &Value, grant: &str) -> String {
    let (service, op) = op.split_once('.').unwrap();
    format!(r#"{{"service":"{service}","op":"{op}","args":{args},"grant":{grant}}}"#)
}

/// A socket file that no other has, in a folder of the home.
pub(super) fn own_socket(home: &Home) -> String {
    home.path(&format!("{}.sock", rand_name())).to_str().unwrap().to_owned()
}

fn rand_name() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Runs a future of the client's.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    use std::sync::OnceLock;
    static RUNTIME: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    let new = || tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    RUNTIME.get_or_init(new).block_on(future)
}

impl Home {
    /// A new token's text.
    pub(super) fn token(&self, name: &str, flags: &[&str]) -> String {
        let made = self.run(&[&["tokens", "new", name], flags].concat()).expect(0);
        made.stdout.trim_end().to_owned()
    }
}

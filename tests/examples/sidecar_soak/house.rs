//! A home with a connection made by OAuth, the service and its authorization server, and the sidecar in front of them.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, bail};
use http::Method;
use pinhole_client::Client;
use pinhole_standin::{Config, Manners, Provider, Reply, Route, Standin, World};
use serde_json::{Value, json};

const HOST: &str = "api.acme.com";

/// All of it. The sidecar ends with this.
pub(crate) struct House {
    folder: tempfile::TempDir,
    pinhole: PathBuf,
    provider: Provider,
    _standin: Standin,
    sidecar: Child,
    /// Grants of the one connection: for reads, and for writes.
    pub(crate) read: String,
    pub(crate) write: String,
}

impl House {
    pub(crate) async fn new(pinhole: &Path) -> anyhow::Result<Self> {
        // Due in the last tenth of its life: every five seconds a new one.
        let provider = Provider::new(Manners { expires_in: Some(json!(5)), ..Manners::default() });
        let things: Vec<Value> = (0..50).map(|at| json!({"id": at, "name": "a thing", "more": at})).collect();
        let standin = Standin::start(Config {
            host: HOST.to_owned(),
            provider: Some(provider.clone()),
            ..Config::new(World::Fixed(vec![
                Route::get("/me", Reply::json(200, &json!({"login": "wren"}))),
                Route::get("/things", Reply::json(200, &json!(things))),
                Route::new(Method::POST, "/notes", Reply::json(201, &json!({"id": 7}))),
            ]))
        })
        .await?;
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("ca.pem"), standin.ca_pem())?;
        std::fs::write(folder.path().join("acme.json"), manifest())?;
        std::fs::write(folder.path().join("passphrase"), "correct horse battery")?;
        let home = Home { folder: folder.path(), pinhole };
        let resolve = format!("{HOST}:443:{}", standin.addr());
        let dial = ["--resolve", &resolve, "--ca-cert", "ca.pem"];
        home.run(&["keys", "new", "--passphrase-file", "passphrase"])?;
        home.connect(&provider, &dial)?;
        let keys: Value = serde_json::from_str(&home.run(&["keys", "show", "--json"])?)?;
        let key = |who: &str| keys[who].as_str().map(str::to_owned).context("no key");
        let bot = key("bot")?;
        let mint = ["grant", "mint", "acme", "--to", &bot, "--connection", "default", "--ttl", "12h"];
        let mint = [&mint[..], &["--passphrase-file", "passphrase"], &LOCAL].concat();
        let read = home.run(&mint)?;
        let write = home.run(&[&mint[..], &["--access", "write", "--uses", "1000000"]].concat())?;
        let member = key("member")?;
        let serve = [&["sidecar", "--issuer", &member, "--log", "error"], &dial[..], &LOCAL].concat();
        let mut command = home.command(&serve);
        command.stderr(Stdio::from(File::create(folder.path().join("log"))?));
        let mut sidecar = command.spawn()?;
        let mut line = String::new();
        BufReader::new(sidecar.stdout.take().context("no stdout")?).read_line(&mut line)?;
        if !line.starts_with("serving unix:") {
            bail!("the sidecar does not start: {}", std::fs::read_to_string(folder.path().join("log"))?);
        }
        let pinhole = pinhole.to_owned();
        Ok(Self { folder, pinhole, provider, _standin: standin, sidecar, read, write })
    }

    pub(crate) fn client(&self) -> Client {
        Client::unix(self.home().join("sidecar.sock"))
    }

    pub(crate) fn home(&self) -> &Path {
        self.folder.path()
    }

    /// The id of the sidecar, once it is known to run.
    pub(crate) fn process(&mut self) -> anyhow::Result<u32> {
        if let Some(status) = self.sidecar.try_wait()? {
            bail!("the sidecar has ended: {status}");
        }
        Ok(self.sidecar.id())
    }

    pub(crate) fn renewals(&self) -> usize {
        self.provider.refreshes()
    }

    pub(crate) fn dead_families(&self) -> usize {
        self.provider.dead_families()
    }

    /// Tells the sidecar to stop, and says what is wrong with what it leaves.
    pub(crate) fn stop(&mut self) -> anyhow::Result<Vec<String>> {
        let mut faults = Vec::new();
        let id = self.process()?.to_string();
        Command::new("kill").args(["-TERM", &id]).status()?;
        let status = self.sidecar.wait()?;
        if !status.success() {
            faults.push(format!("the sidecar ended with {status}"));
        }
        let log = std::fs::read_to_string(self.home().join("log"))?;
        if !log.is_empty() {
            faults.push(format!("it logged: {}", log.lines().next().unwrap_or_default()));
        }
        let home = Home { folder: self.folder.path(), pinhole: &self.pinhole };
        println!("{}", home.run(&["receipts", "verify"])?.trim_end());
        Ok(faults)
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.sidecar.kill().unwrap_or_default();
        drop(self.sidecar.wait());
    }
}

const LOCAL: [&str; 3] = ["--manifest", "acme.json", "--unsigned"];

/// The binary in a folder that is its home and where it runs.
struct Home<'h> {
    folder: &'h Path,
    pinhole: &'h Path,
}

impl Home<'_> {
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.pinhole);
        command.args(words).env_clear().env("PINHOLE_HOME", self.folder).current_dir(self.folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, words: &[&str]) -> anyhow::Result<String> {
        let output = self.command(words).output()?;
        if !output.status.success() {
            bail!("{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Connects as a person does who says yes at once.
    fn connect(&self, provider: &Provider, dial: &[&str]) -> anyhow::Result<()> {
        let connect = ["connect", "acme", "--oauth", "--client-id", "public-client", "--cap", "write"];
        let words = [&connect[..], &["--passphrase-file", "passphrase", "--json"], dial, &LOCAL].concat();
        let mut child = self.command(&words).spawn()?;
        let mut stderr = BufReader::new(child.stderr.take().context("no stderr")?);
        let mut said = String::new();
        let page = loop {
            let start = said.len();
            if stderr.read_line(&mut said)? == 0 {
                bail!("it does not connect: {said}");
            }
            let line = said.get(start..).unwrap_or_default().trim().to_owned();
            if line.starts_with("https://") {
                break line;
            }
        };
        let back = provider.visit(&page).context("the page is an error")?;
        let (host, path) =
            back.strip_prefix("http://").and_then(|rest| rest.split_once('/')).context("no way back")?;
        let mut stream = TcpStream::connect(host)?;
        write!(stream, "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")?;
        stream.read_to_string(&mut String::new())?;
        stderr.read_to_string(&mut said)?;
        if !child.wait()?.success() {
            bail!("it does not connect: {said}");
        }
        Ok(())
    }
}

fn manifest() -> String {
    let no_args = json!({"type": "object", "additionalProperties": false, "properties": {}});
    json!({
        "pinhole": 1, "id": "acme", "version": "1.0.0", "name": "Acme", "summary": "Things.", "host": HOST,
        "auth": {"scheme": "bare", "viewer": "get_me", "account": "$.login", "oauth": {
            "authorize_url": format!("https://{HOST}/oauth/authorize"),
            "token_url": format!("https://{HOST}/oauth/token"),
            "scopes": ["read"], "scopes_write": ["read", "write"]}},
        "ops": {
            "get_me": {"access": "read", "summary": "Who one is.", "args": no_args,
                "request": {"method": "GET", "path": "/me"}, "pick": {"fields": ["login"]}},
            "list_things": {"access": "read", "summary": "Things.", "args": no_args,
                "request": {"method": "GET", "path": "/things"}, "pick": {"fields": ["id", "name"]}},
            "add_note": {"access": "write", "summary": "Add a note.", "confirm": "Add {text}?", "effect": "create",
                "args": {"type": "object", "additionalProperties": false, "required": ["text"],
                    "properties": {"text": {"type": "string", "description": "The text."}}},
                "request": {"method": "POST", "path": "/notes", "json": {"text": "{text}"}},
                "pick": {"fields": ["id"]}}
        }
    })
    .to_string()
}

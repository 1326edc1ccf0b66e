//! A headless Chromium, driven over `WebDriver` by requests written out by hand. It ends with its value.
//!
//! W3C `WebDriver`. Every name ends on the loopback address: nothing here reaches the internet.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::stage::Answer;

/// What names an element in `WebDriver`'s answers.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Whether pages may run scripts of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scripts {
    Run,
    DoNotRun,
}

/// A browser with a profile of its own.
pub(super) struct Chromium {
    driver: Child,
    port: u16,
    session: String,
    profile: tempfile::TempDir,
}

/// Whether the tests can be run here. Where they cannot, says so; under CI that is a failure.
pub(super) fn is_there() -> bool {
    let missing: Vec<&str> = ["chromium", "chromedriver"]
        .into_iter()
        .filter(|name| {
            Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err()
        })
        .collect();
    if missing.is_empty() {
        return true;
    }
    let missing = missing.join(" and ");
    assert!(!in_ci(), "{missing} missing: `apt-get install chromium chromium-driver`");
    println!("SKIPPED: {missing} missing: `apt-get install chromium chromium-driver`");
    false
}

#[expect(clippy::disallowed_methods, reason = "a test that was skipped is a failure in CI")]
pub(crate) fn in_ci() -> bool {
    std::env::var_os("CI").is_some_and(|ci| ci == "true")
}

impl Chromium {
    pub(super) async fn start(scripts: Scripts) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let said = lines
            .map_while(Result::ok)
            .find_map(|line| line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok());
        let port = said.expect("chromedriver says its port");
        let mut browser = Self { driver, port, session: String::new(), profile };
        let folder = format!("--user-data-dir={}", browser.profile.path().display());
        let javascript = if scripts == Scripts::Run { 1 } else { 2 };
        let options = json!({
            "binary": "/usr/bin/chromium",
            "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--host-resolver-rules=MAP * 127.0.0.1", folder
            ],
            "prefs": {"profile.managed_default_content_settings.javascript": javascript}
        });
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options,
            "timeouts": {"pageLoad": 60_000, "script": 60_000, "implicit": 30_000}
        }}});
        let session = browser.ask("POST", "/session", &wanted).await;
        let id = session["sessionId"].as_str().unwrap_or_else(|| panic!("{session}"));
        id.clone_into(&mut browser.session);
        browser
    }

    pub(super) async fn open(&self, url: &str) {
        self.command("POST", "/url", &json!({"url": url})).await;
    }

    /// Where it is.
    pub(super) async fn url(&self) -> String {
        self.command("GET", "/url", &Value::Null).await.as_str().unwrap().to_owned()
    }

    /// Waits until a page says this.
    pub(super) async fn shows(&self, words: &str) {
        let xpath = format!("//body[contains(normalize-space(.), '{words}')]");
        let found = self.command("POST", "/element", &json!({"using": "xpath", "value": xpath})).await;
        assert!(found[ELEMENT].is_string(), "no `{words}`: {found}");
    }

    /// What a person reads.
    pub(super) async fn text(&self) -> String {
        let body = self.find("body").await;
        self.command("GET", &format!("/element/{body}/text"), &Value::Null).await.as_str().unwrap().to_owned()
    }

    pub(super) async fn source(&self) -> String {
        self.command("GET", "/source", &Value::Null).await.as_str().unwrap().to_owned()
    }

    pub(super) async fn click(&self, selector: &str) {
        let element = self.find(selector).await;
        self.command("POST", &format!("/element/{element}/click"), &json!({})).await;
    }

    /// Presses keys, wherever the focus is.
    pub(super) async fn press(&self, keys: &str) {
        let keys = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": key.to_string()})));
        let actions =
            json!({"actions": [{"type": "key", "id": "keys", "actions": keys.collect::<Vec<_>>()}]});
        self.command("POST", "/actions", &actions).await;
    }

    /// The name and the words of what has the focus.
    pub(super) async fn focus(&self) -> (String, String) {
        let active = self.command("GET", "/element/active", &Value::Null).await;
        let active = active[ELEMENT].as_str().unwrap().to_owned();
        let name = self.command("GET", &format!("/element/{active}/property/id"), &Value::Null).await;
        let text = self.command("GET", &format!("/element/{active}/text"), &Value::Null).await;
        (name.as_str().unwrap_or_default().to_owned(), text.as_str().unwrap_or_default().to_owned())
    }

    /// What a script gives, run as the page's own. A promise is waited for.
    pub(super) async fn script(&self, script: &str) -> Value {
        self.command("POST", "/execute/sync", &json!({"script": script, "args": []})).await
    }

    /// Looks into the first frame of the page.
    pub(super) async fn frame(&self) {
        self.command("POST", "/frame", &json!({"id": 0})).await;
    }

    async fn find(&self, selector: &str) -> String {
        let found =
            self.command("POST", "/element", &json!({"using": "css selector", "value": selector})).await;
        found[ELEMENT].as_str().unwrap_or_else(|| panic!("no `{selector}`: {found}")).to_owned()
    }

    async fn command(&self, method: &str, path: &str, body: &Value) -> Value {
        self.ask(method, &format!("/session/{}{path}", self.session), body).await
    }

    async fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let text = format!(
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\ncontent-type: application/json\r\nconnection: close\r\n\
             content-length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        );
        stream.write_all(text.as_bytes()).await.unwrap();
        let answer = Answer::read(&mut stream).await;
        let mut value: Value =
            serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {answer:?}"));
        assert_eq!(answer.status, 200, "{method} {path}: {value}");
        value["value"].take()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // The browser is the driver's child, and would outlive it: both are of one group.
        let group = format!("-{}", self.driver.id());
        Command::new("kill").args(["-KILL", "--", &group]).status().map(drop).unwrap_or_default();
        self.driver.wait().map(drop).unwrap_or_default();
    }
}

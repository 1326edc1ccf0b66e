//! The client of the Python package `mcp` against `pinhole mcp`: both transports, both eras, from the list to a write that was
//! approved.
//!
//! `tests/wide/mcp_client.py` is the client's session; it holds results to their schemas by itself. Needs Python and the
//! package, which `.ci/run` puts into `.ci-tools/mcp-python`. Without them a test says loudly that it was skipped.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::approvals::Desk;
use crate::home::PASSPHRASE;

/// How the client is to find out which protocol the server speaks, and what they then speak over stdio and over HTTP.
const MODES: [(&str, &str); 3] =
    [("auto", "2026-07-28"), ("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28")];

/// A running client.
struct Client {
    child: Child,
    answers: ChildStdin,
    lines: BufReader<ChildStdout>,
}

impl Client {
    /// Starts it with a plan; `None` where it is missing, but for CI.
    fn start(test: &str, plan: &Value) -> Option<Self> {
        let packages = tool(test, "mcp-python")?;
        let script = root().join("tests/wide/mcp_client.py");
        let mut command = Command::new("python3");
        command.arg("-B").arg(script).arg(plan.to_string()).env("PYTHONPATH", packages);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let answers = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Some(Self { child, answers, lines })
    }

    /// The next thing that it says.
    fn says(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("the client ended early: {line}"))
    }

    /// Lets it go on.
    fn goes_on(&mut self) {
        self.answers.write_all(b"\n").unwrap();
    }

    fn ends(mut self) {
        assert!(self.child.wait().unwrap().success());
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What is at a path below the folder of tools; `None` and a loud word where it is missing, but for CI.
fn tool(test: &str, path: &str) -> Option<PathBuf> {
    let found = root().join(".ci-tools").join(path);
    if found.exists() {
        return Some(found);
    }
    #[expect(clippy::disallowed_methods, reason = "CI may not skip what it lacks")]
    let skips = std::env::var("CI").as_deref() != Ok("true");
    assert!(skips, "{test}: {} is not there", found.display());
    eprintln!("SKIPPED: {test}: {} is not there; `.ci/run` installs it", found.display());
    None
}

/// What a server is started with, besides the stand-in.
fn words(desk: &Desk, flags: &[&str]) -> Vec<String> {
    let what = [&["mcp", "--ops", "github.*"], flags].concat();
    desk.stage.args(&desk.home, &what).words().iter().map(|word| (*word).to_owned()).collect()
}

/// A plan that has the client start the server.
fn over_stdio(desk: &Desk, mode: &str, flags: &[&str]) -> Value {
    let mut command = vec![env!("CARGO_BIN_EXE_pinhole").to_owned()];
    command.extend(words(desk, flags));
    json!({"mode": mode, "command": command, "env": {"PINHOLE_HOME": desk.home.path("")}, "org": "pinhole-demo"})
}

/// The refusal in what a model is told.
#[track_caller]
fn refusal(told: &Value) -> Value {
    assert_eq!(told["error"], true, "{told}");
    let first = told["text"].as_str().unwrap().lines().next().unwrap();
    serde_json::from_str::<Value>(first).unwrap()["refusal"].clone()
}

/// Holds a report to what every client is to see, whatever it speaks.
#[track_caller]
fn reads_are_as_they_should_be(report: &Value, version: &str) {
    assert_eq!(report["version"], version);
    let repo = &report["tools"]["github_get_repo"];
    assert_eq!(repo, &json!({"read_only": true, "destructive": false, "has_output": true}));
    assert_eq!(report["read"]["value"]["result"]["full_name"], "pinhole-demo/lantern");
    assert_eq!(report["null"]["error"], false, "{}", report["null"]);
    let pages = report["pages"].as_array().unwrap();
    assert_eq!(pages.len(), 3, "{pages:#?}");
    let names: Vec<&Value> = pages.iter().map(|page| &page["value"]["result"][0]["name"]).collect();
    assert!(names[0] != names[1] && names[1] != names[2] && names[0].is_string(), "{names:?}");
    for (what, word) in [("unknown", "visibility"), ("missing", "repo"), ("nothing", "owner")] {
        let refusal = refusal(&report[what]);
        assert_eq!(refusal["sent"], "no", "{what}");
        assert!(refusal["message"].as_str().unwrap().contains(word), "{what}: {refusal}");
    }
    assert!(report["no_such_tool"].is_string(), "{report:#}");
}

#[track_caller]
fn written(desk: &Desk) -> usize {
    desk.stage.standin.requests().iter().filter(|seen| seen.method == "POST").count()
}

/// Goes through a session in which a write waits for the member, who approves it.
#[track_caller]
fn a_write_waits_and_then_runs_once(desk: &Desk, mut client: Client, version: &str) {
    let before = written(desk);
    let waits = client.says();
    let told = waits["waits"].as_str().unwrap().lines().next().unwrap().to_owned();
    let asked = serde_json::from_str::<Value>(&told).unwrap()["refusal"].clone();
    assert_eq!(asked["code"], "approval_required", "{asked}");
    assert!(asked["hint"].as_str().unwrap().contains("pinhole approvals approve"), "{asked}");
    assert_eq!(written(desk), before);
    let question = asked["question"].as_str().unwrap();
    desk.approve(question).expect(0);
    client.goes_on();
    let report = client.says();
    client.ends();
    reads_are_as_they_should_be(&report, version);
    let other = refusal(&report["other"]);
    assert!(other["code"] == "approval_required" && other["question"] != question, "{other}");
    assert_eq!(report["written"]["value"]["result"]["title"], "The lamp flickers", "{}", report["written"]);
    let again = refusal(&report["again"]);
    assert!(again["code"] == "approval_required" && again["question"] != question, "{again}");
    assert_eq!(written(desk), before + 1);
    assert_eq!(report["elicited"], json!([]));
}

#[test]
fn over_stdio_it_reads_pages_and_writes_what_was_approved() {
    let test = "over_stdio_it_reads_pages_and_writes_what_was_approved";
    let desk = Desk::new();
    for (mode, version) in MODES {
        let Some(client) = Client::start(test, &over_stdio(&desk, mode, &[])) else { return };
        a_write_waits_and_then_runs_once(&desk, client, version);
    }
}

#[test]
fn over_http_it_reads_pages_and_writes_what_was_approved() {
    let test = "over_http_it_reads_pages_and_writes_what_was_approved";
    let desk = Desk::new();
    let served = Served::start(&desk, &[]);
    for (mode, version) in MODES {
        let Some(client) = Client::start(test, &served.plan(mode)) else { return };
        a_write_waits_and_then_runs_once(&desk, client, version);
    }
}

#[test]
fn over_stdio_it_asks_its_person_where_the_operator_lets_it_and_the_member_has_lent() {
    let test = "over_stdio_it_asks_its_person_where_the_operator_lets_it_and_the_member_has_lent";
    let desk = Desk::new();
    lend(&desk);
    for (mode, version) in MODES {
        let mut plan = over_stdio(&desk, mode, &["--ask-in-client"]);
        plan["elicits"] = json!(true);
        let Some(client) = Client::start(test, &plan) else { return };
        a_form_is_a_yes(&desk, client, version);
    }
}

#[test]
fn over_http_it_asks_its_person_in_both_eras() {
    let test = "over_http_it_asks_its_person_in_both_eras";
    let desk = Desk::new();
    lend(&desk);
    let served = Served::start(&desk, &["--ask-in-client"]);
    for (mode, version) in MODES {
        let mut plan = served.plan(mode);
        plan["elicits"] = json!(true);
        let Some(client) = Client::start(test, &plan) else { return };
        a_form_is_a_yes(&desk, client, version);
    }
}

/// Lets a client's word be the yes, once for each session.
#[track_caller]
fn lend(desk: &Desk) {
    let lend = ["connections", "lend", "github", "--uses", "3", "--passphrase-file", PASSPHRASE];
    desk.home.run(&lend).expect(0);
}

/// Goes through a session in which the client's person is asked by a form, and says yes.
#[track_caller]
fn a_form_is_a_yes(desk: &Desk, mut client: Client, version: &str) {
    let before = written(desk);
    let report = client.says();
    client.ends();
    reads_are_as_they_should_be(&report, version);
    assert_eq!(report["asked"]["error"], false, "{}", report["asked"]);
    assert_eq!(report["asked"]["value"]["result"]["title"], "The lamp flickers");
    let forms = report["elicited"].as_array().unwrap();
    assert_eq!(forms.len(), 1, "{forms:?}");
    assert!(forms[0].as_str().unwrap().contains("title = \"The lamp flickers\""), "{forms:?}");
    assert_eq!(written(desk), before + 1);
}

/// `pinhole mcp --http` on a port of loopback, and a token for it.
struct Served {
    child: Child,
    url: String,
    token: String,
}

impl Served {
    fn start(desk: &Desk, flags: &[&str]) -> Self {
        let new = ["tokens", "new", "laptop", "--scope", "read", "--scope", "write", "--service", "github"];
        let token = desk.home.run(&new).expect(0).stdout.trim().to_owned();
        let words = words(desk, &[&["--http", "127.0.0.1:0"], flags].concat());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut child = desk.home.command(&words).stderr(Stdio::inherit()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url =
            line.split(' ').find(|word| word.starts_with("http://")).unwrap_or_else(|| panic!("{line}"));
        Self { url: url.to_owned(), child, token }
    }

    /// A plan that has the client call it.
    fn plan(&self, mode: &str) -> Value {
        json!({"mode": mode, "url": self.url, "token": self.token, "org": "pinhole-demo"})
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself already.
        self.child.kill().unwrap_or_default();
        self.child.wait().unwrap();
    }
}

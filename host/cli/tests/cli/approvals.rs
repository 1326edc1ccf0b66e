//! `pinhole approvals`, and what leads to it: a `run` that writes asks, the member answers, the same `run` does it once.

mod deceit;
mod manifests;
mod once;
#[cfg(target_os = "linux")]
mod page;
mod sheets;

use pinhole_standin::{Misbehaviour, When};
use serde_json::Value;

use crate::home::{Home, KEY, PASSPHRASE, Ran, ran};
use crate::stage::{Stage, WRITE};

/// A home whose member has connected the stand-in; her key has a passphrase.
pub(crate) struct Desk {
    pub(crate) home: Home,
    pub(crate) stage: Stage,
}

impl Desk {
    /// The connection lets writes be asked for.
    pub(crate) fn new() -> Self {
        Self::connected("write")
    }

    fn connected(cap: &str) -> Self {
        let desk = Self { home: Home::guarded(), stage: Stage::new() };
        let connect = ["connect", "github", "--token-stdin", "--cap", cap, "--passphrase-file", PASSPHRASE];
        desk.home.run_with(&desk.stage.args(&desk.home, &connect).words(), format!("{KEY}\n")).expect(0);
        desk
    }

    /// `run WHAT…`, dialling the stand-in.
    pub(crate) fn run(&self, what: &[&str]) -> Ran {
        ran(&mut self.command(what), b"")
    }

    pub(crate) fn command(&self, what: &[&str]) -> std::process::Command {
        self.home.command(&self.stage.args(&self.home, &[&["run"], what].concat()).words())
    }

    /// The write of these tests, with its outcome as JSON.
    pub(crate) fn write(&self) -> Ran {
        self.run(&[&WRITE[..], &["--json"]].concat())
    }

    /// The same where nobody has approved it: the question that waits.
    #[track_caller]
    pub(crate) fn ask(&self) -> String {
        let refusal = self.write().expect(3).refusal("approval_required");
        refusal["question"].as_str().unwrap().to_owned()
    }

    pub(crate) fn approvals(&self, args: &[&str]) -> Ran {
        self.home.run(&[&["approvals"], args].concat())
    }

    /// `approvals approve` with the passphrase from its file.
    pub(crate) fn approve(&self, question: &str) -> Ran {
        self.approvals(&["approve", question, "--passphrase-file", PASSPHRASE])
    }

    /// How far a question has come.
    #[track_caller]
    pub(crate) fn state(&self, question: &str) -> String {
        let all = self.approvals(&["list", "--all", "--json"]).expect(0).json();
        let row = all.as_array().unwrap().iter().find(|row| row["question"] == question);
        row.unwrap_or_else(|| panic!("{question} is not in {all}"))["state"].as_str().unwrap().to_owned()
    }

    /// How many writes have reached the service.
    pub(crate) fn written(&self) -> usize {
        self.stage.standin.requests().iter().filter(|seen| seen.method == "POST").count()
    }
}

#[test]
fn a_write_runs_once_after_her_yes() {
    let desk = Desk::new();
    let question = desk.ask();
    assert_eq!(desk.ask(), question);
    assert_eq!(desk.written(), 0);
    let approved = desk.approve(&question).expect(0);
    assert!(approved.stdout.starts_with("approved: it runs once, until 2"), "{}", approved.stdout);
    // What she says yes to stands above it.
    assert!(approved.stderr.contains("Open issue “The lamp flickers” in pinhole-demo/lantern?"));
    let outcome = desk.write().expect(0).json();
    assert_eq!(outcome["result"]["title"], "The lamp flickers");
    assert_eq!((desk.written(), desk.state(&question).as_str()), (1, "used"));
    assert_ne!(desk.ask(), question);
    assert_eq!(desk.written(), 1);
}

#[test]
fn a_write_that_waits_says_which_question_it_is() {
    let desk = Desk::new();
    let refusal = desk.write().expect(3).hides(KEY).refusal("approval_required");
    let question = refusal["question"].as_str().unwrap();
    assert_eq!((question.len(), &refusal["sent"]), (9, &Value::from("no")));
    let people = desk.run(&WRITE).expect(3).hides(KEY);
    assert_eq!(people.stdout, "");
    for said in [
        "refused (approval_required)",
        &format!("(question {question})"),
        &format!("pinhole approvals show {question}"),
        &format!("pinhole approvals approve {question}"),
        "nothing was sent",
    ] {
        assert!(people.stderr.contains(said), "{said}: {}", people.stderr);
    }
}

#[test]
fn what_waits_is_listed() {
    let desk = Desk::new();
    let nothing = desk.approvals(&["list"]).expect(0);
    assert_eq!((nothing.stdout.as_str(), nothing.stderr.as_str()), ("", "nothing waits for your yes\n"));
    assert_eq!(desk.approvals(&["list", "--json"]).expect(0).json(), Value::Array(Vec::new()));

    let question = desk.ask();
    let listed = desk.approvals(&["list"]).expect(0);
    assert_eq!(listed.stdout.lines().count(), 1);
    assert!(listed.stdout.starts_with(&format!("{question}  pending ")), "{}", listed.stdout);
    assert!(listed.stdout.contains("github.create_issue "), "{}", listed.stdout);
    let rows = desk.approvals(&["list", "--json"]).expect(0).json();
    let row = &rows[0];
    assert_eq!((&row["question"], &row["state"]), (&Value::from(question.clone()), &Value::from("pending")));
    assert_eq!((&row["service"], &row["op"]), (&Value::from("github"), &Value::from("create_issue")));
    let day = row["expires_at"].as_i64().unwrap() - row["raised_at"].as_i64().unwrap();
    assert_eq!(day, 24 * 60 * 60);

    desk.approve(&question).expect(0);
    // It waits to be used, and can still be taken back.
    let approved = desk.approvals(&["list"]).expect(0).stdout;
    assert!(approved.starts_with(&format!("{question}  approved")), "{approved}");
    desk.approvals(&["deny", &question]).expect(0);
    assert_eq!(desk.approvals(&["list"]).expect(0).stdout, "");
    let all = desk.approvals(&["list", "--all"]).expect(0);
    assert!(all.stdout.starts_with(&format!("{question}  denied")), "{}", all.stdout);
}

#[test]
fn a_denied_write_does_not_run() {
    let desk = Desk::new();
    let question = desk.ask();
    let denied = desk.approvals(&["deny", &question]).expect(0);
    assert_eq!(denied.stdout, format!("denied: {question}\n"));
    let refusal = desk.write().expect(3).refusal("approval_denied");
    assert_eq!(refusal["question"], question);
    let people = desk.run(&WRITE).expect(3);
    assert!(people.stderr.contains("the member said no"), "{}", people.stderr);
    desk.approvals(&["deny", &question]).expect(3);
    desk.approve(&question).expect(3);
    assert_eq!((desk.state(&question).as_str(), desk.written()), ("denied", 0));
}

#[test]
fn a_question_is_answered_once() {
    let desk = Desk::new();
    let question = desk.ask();
    desk.approve(&question).expect(0);
    let again = desk.approve(&question).expect(3);
    assert!(again.stderr.contains("the question is approved already"), "{}", again.stderr);
    assert_eq!(again.stdout, "");
    desk.write().expect(0);
    let late = desk.approve(&question).expect(3);
    assert!(late.stderr.contains("the question is used already"), "{}", late.stderr);
    desk.write().expect(3).refusal("approval_required");
    assert_eq!(desk.written(), 1);
}

#[test]
fn what_is_no_question_is_refused() {
    let desk = Desk::new();
    let question = desk.ask();
    let other = if question == "k7f3-9m2x" { "k7f3-9m2y" } else { "k7f3-9m2x" };
    for command in ["show", "deny", "approve"] {
        let absent = desk.approvals(&[command, other]).expect(3);
        assert!(absent.stderr.contains("there is no such question"), "{}", absent.stderr);
        for malformed in
            ["", "k7f3", "k7f3-9m2", "k7f3-9m2xx", "u7f3-9m2x", "../../etc", "k7f3 9m2x", "\u{202e}"]
        {
            let refused = desk.approvals(&[command, malformed]).expect(2);
            assert!(refused.stderr.contains("not the id of a question"), "{}", refused.stderr);
            assert!(!refused.stderr.contains('\u{202e}'));
        }
    }
    assert_eq!(desk.state(&question), "pending");
    // What a hand writes means the same.
    let shouted = question.to_uppercase().replace('-', "");
    desk.approvals(&["deny", &shouted]).expect(0);
    assert_eq!(desk.state(&question), "denied");
}

#[test]
fn without_her_passphrase_there_is_no_yes() {
    let desk = Desk::new();
    let question = desk.ask();
    let wrong = desk.home.write("wrong.txt", "incorrect horse battery");
    let refused = desk.approvals(&["approve", &question, "--passphrase-file", &wrong]).expect(3);
    assert!(refused.stderr.contains("does not open the member's key"), "{}", refused.stderr);
    desk.approvals(&["approve", &question, "--passphrase-file", &desk.home.write("empty.txt", "")]).expect(2);
    desk.approvals(&["approve", &question, "--passphrase-file", "nowhere.txt"]).expect(2);
    // There is no terminal to ask at.
    desk.approvals(&["approve", &question]).expect(2);
    // The passphrase on stdin is for who says so.
    desk.home.run_with(&["approvals", "approve", &question], "correct horse battery\n").expect(2);
    assert_eq!(desk.state(&question), "pending");
    desk.write().expect(3).refusal("approval_required");
    let dash = ["approvals", "approve", &question, "--passphrase-file", "-"];
    desk.home.run_with(&dash, "correct horse battery\n").expect(0);
    desk.write().expect(0);
    assert_eq!(desk.written(), 1);
}

/// A key without a passphrase permits reads alone, however it came to have none.
#[test]
fn an_unprotected_key_gives_no_yes() {
    let desk = Desk { home: Home::new(), stage: Stage::new() };
    let open = std::fs::read(desk.home.path("keys/member.json")).unwrap();
    let passphrase = desk.home.write(PASSPHRASE, "correct horse battery");
    let connect = ["connect", "github", "--token-stdin", "--cap", "write", "--passphrase-file", &passphrase];
    desk.home.run_with(&desk.stage.args(&desk.home, &connect).words(), KEY).expect(0);
    let question = desk.ask();
    let protected = std::fs::read(desk.home.path("keys/member.json")).unwrap();
    assert_ne!(open, protected);
    std::fs::write(desk.home.path("keys/member.json"), &open).unwrap();
    let refused = desk.approve(&question).expect(3);
    assert!(refused.stderr.contains("has no passphrase"), "{}", refused.stderr);
    assert_eq!((desk.state(&question).as_str(), desk.written()), ("pending", 0));
    std::fs::write(desk.home.path("keys/member.json"), protected).unwrap();
    desk.approve(&question).expect(0);
}

#[test]
fn a_connection_that_only_reads_is_not_asked_about() {
    let desk = Desk::connected("read");
    desk.write().expect(3).refusal("read_only_connection");
    assert_eq!(desk.approvals(&["list", "--all", "--json"]).expect(0).json(), Value::Array(Vec::new()));
    let cap =
        |cap: &str| desk.home.run(&["connections", "cap", "github", cap, "--passphrase-file", PASSPHRASE]);
    cap("write").expect(0);
    let question = desk.ask();
    desk.approve(&question).expect(0);
    cap("read").expect(0);
    desk.write().expect(3).refusal("read_only_connection");
    cap("write").expect(0);
    assert_ne!(desk.ask(), question);
    assert_eq!((desk.state(&question).as_str(), desk.written()), ("expired", 0));
}

/// `connect --cap read` over it lowers the cap too.
#[test]
fn a_reconnect_that_only_reads_ends_what_was_approved() {
    let desk = Desk::new();
    let question = desk.ask();
    desk.approve(&question).expect(0);
    let connect = ["connect", "github", "--token-stdin", "--cap", "read", "--passphrase-file", PASSPHRASE];
    desk.home.run_with(&desk.stage.args(&desk.home, &connect).words(), KEY).expect(0);
    desk.write().expect(3).refusal("read_only_connection");
    assert_eq!((desk.state(&question).as_str(), desk.written()), ("expired", 0));
}

#[test]
fn a_connection_that_is_removed_takes_its_approvals_with_it() {
    let desk = Desk::new();
    let question = desk.ask();
    desk.approve(&question).expect(0);
    desk.home.run(&["connections", "remove", "github"]).expect(0);
    desk.write().expect(3).refusal("not_connected");
    assert_eq!((desk.state(&question).as_str(), desk.written()), ("denied", 0));
}

/// What the yes was about is read again before it is done.
#[test]
fn a_condition_that_fails_after_her_yes_keeps_the_write_here() {
    let desk = Desk::new();
    let question = desk.ask();
    desk.approve(&question).expect(0);
    desk.stage.standin.misbehave(When::Always, Misbehaviour::Status { code: 404, retry_after: None });
    let refusal = desk.write().expect(1).refusal("upstream_not_found");
    assert_eq!((&refusal["sent"], &refusal["use_spent"]), (&Value::from("no"), &Value::from(true)));
    desk.stage.standin.behave();
    assert_ne!(desk.ask(), question);
    assert_eq!(desk.written(), 0);
}

#[test]
fn where_nothing_is_connected_there_is_nothing_to_answer() {
    let home = Home::empty();
    assert_eq!(home.run(&["approvals", "list", "--json"]).expect(0).json(), Value::Array(Vec::new()));
    for args in [&["show", "k7f3-9m2x"][..], &["deny", "k7f3-9m2x"], &["approve", "k7f3-9m2x"]] {
        let refused = home.run(&[&["approvals"], args].concat()).expect(3);
        assert!(refused.stderr.contains("pinhole connect"), "{}", refused.stderr);
    }
    assert!(!home.path("pinhole.db").exists());
}

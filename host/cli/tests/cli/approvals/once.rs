//! One yes is one write: among many processes at once, and after a process that was killed.

use std::net::TcpListener;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use pinhole_standin::{Misbehaviour, When};
use serde_json::Value;

use super::Desk;
use crate::home::{PASSPHRASE, Ran};
use crate::stage::WRITE;

/// Starts them all at once. What they read is written before the first of them starts.
fn spawned(commands: impl Iterator<Item = Command>) -> Vec<Child> {
    let commands: Vec<Command> = commands.collect();
    commands.into_iter().map(|mut command| command.spawn().unwrap()).collect()
}

fn ended(children: Vec<Child>) -> Vec<Ran> {
    children.into_iter().map(|child| Ran::of(&child.wait_with_output().unwrap())).collect()
}

#[test]
fn of_twenty_processes_one_writes() {
    let desk = Desk::new();
    let question = desk.ask();
    desk.approve(&question).expect(0);
    let write = [&WRITE[..], &["--json"]].concat();
    let children = spawned((0..20).map(|_| desk.command(&write)));
    let (done, refused): (Vec<Ran>, Vec<Ran>) = ended(children).into_iter().partition(|ran| ran.status == 0);
    assert_eq!((done.len(), refused.len(), desk.written()), (1, 19, 1));
    for ran in refused {
        let code = ran.expect(3).json()["refusal"]["code"].clone();
        assert!(code == "approval_taken" || code == "approval_required", "{code}");
    }
    // Whoever came late asks for one more, all of them the same.
    let all = desk.approvals(&["list", "--all", "--json"]).expect(0).json();
    assert!(all.as_array().unwrap().len() <= 2, "{all}");
    assert_eq!(desk.state(&question), "used");
}

#[test]
fn of_twenty_processes_that_ask_one_question_comes() {
    let desk = Desk::new();
    let write = [&WRITE[..], &["--json"]].concat();
    let children = spawned((0..20).map(|_| desk.command(&write)));
    let asked: std::collections::BTreeSet<String> = ended(children)
        .into_iter()
        .map(|ran| ran.expect(3).refusal("approval_required")["question"].to_string())
        .collect();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(desk.approvals(&["list", "--all", "--json"]).expect(0).json().as_array().unwrap().len(), 1);
    assert_eq!(desk.written(), 0);
}

#[test]
fn of_four_answers_at_once_one_counts() {
    let desk = Desk::new();
    let question = desk.ask();
    let yes = ["approvals", "approve", &question, "--passphrase-file", PASSPHRASE];
    let no = ["approvals", "deny", &question];
    let answers = [&yes[..], &yes, &no, &no];
    let children = spawned(answers.iter().map(|answer| desk.home.command(answer)));
    let statuses: Vec<i32> = ended(children).iter().map(|ran| ran.status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 0).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 3).count(), 3, "{statuses:?}");
    let approved = statuses.iter().take(2).any(|status| *status == 0);
    assert_eq!(desk.state(&question), if approved { "approved" } else { "denied" });
    desk.write().expect(if approved { 0 } else { 3 });
    assert_eq!(desk.written(), usize::from(approved));
}

/// Waits until so many requests have reached the stand-in.
fn until_it_has(desk: &Desk, requests: usize) {
    let until = Instant::now() + Duration::from_mins(1);
    while desk.stage.requests() < requests {
        assert!(Instant::now() < until, "it is not sent");
        std::thread::yield_now();
    }
}

/// The requests of a write: one for what it requires, then its own. It is killed when the stand-in has the one or the
/// other and says nothing.
#[test]
fn a_run_that_is_killed_leaves_its_approval_used() {
    for (stalled, written) in [(1, 0), (2, 1)] {
        let desk = Desk::new();
        let question = desk.ask();
        desk.approve(&question).expect(0);
        let before = desk.stage.requests();
        let path = ["/repos/pinhole-demo/lantern", "/repos/pinhole-demo/lantern/issues"][stalled - 1];
        let delay = Duration::from_mins(10);
        desk.stage.standin.misbehave(When::Path(path.to_owned()), Misbehaviour::SlowHeaders { delay });
        let mut child = desk.command(&WRITE).spawn().unwrap();
        until_it_has(&desk, before + stalled);
        child.kill().unwrap();
        assert_eq!(Ran::of(&child.wait_with_output().unwrap()).status, -1, "it was not killed");
        desk.stage.standin.behave();
        assert_eq!((desk.state(&question).as_str(), desk.written()), ("used", written));
        assert_ne!(desk.ask(), question);
        assert_eq!(desk.written(), written);
    }
}

#[test]
fn a_run_that_is_killed_before_its_first_byte_leaves_its_approval_used() {
    let desk = Desk::new();
    let question = desk.ask();
    desk.approve(&question).expect(0);
    // Accepts and says nothing: the handshake never ends, so no request has left.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let resolve = format!("api.github.com:443:{}", listener.local_addr().unwrap());
    let run = [&["run"], &WRITE[..], &["--resolve", &resolve]].concat();
    let mut child = desk.home.command(&run).spawn().unwrap();
    let (_held, _) = listener.accept().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(desk.state(&question), "used");
    assert_ne!(desk.ask(), question);
    assert_eq!(desk.written(), 0);
}

/// At any moment, however far it had come: the write is done at most once, and its approval either waits untouched or is
/// gone.
#[test]
fn a_run_that_is_killed_at_any_moment_writes_at_most_once() {
    let desk = Desk::new();
    let writes = |title: &str| {
        let requests = desk.stage.standin.requests();
        let of_title = |body: &[u8]| serde_json::from_slice::<Value>(body).unwrap()["title"] == title;
        requests.iter().filter(|seen| seen.method == "POST" && of_title(&seen.body)).count()
    };
    let titles: Vec<String> = (0..12).map(|moment| format!("The lamp flickers {moment}")).collect();
    for (moment, title) in (0..).zip(&titles) {
        let title_arg = format!("title={title}");
        let write = [&WRITE[..6], &[&title_arg, "--json"]].concat();
        let asked = || desk.run(&write).expect(3).refusal("approval_required")["question"].clone();
        let question = asked();
        let question = question.as_str().unwrap();
        desk.approve(question).expect(0);
        let mut child = desk.command(&write).spawn().unwrap();
        let until = Instant::now() + Duration::from_millis(2) * moment;
        while Instant::now() < until {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        if desk.state(question) == "approved" {
            assert_eq!(writes(title), 0, "{title}: it was sent, and the approval is still there");
            desk.run(&write).expect(0);
        } else {
            assert_eq!(desk.state(question), "used");
        }
        assert_ne!(asked(), question);
    }
    // What was sent may reach the stand-in a moment after the kill; a second one never does.
    for title in &titles {
        assert!(writes(title) <= 1, "{title} was written {} times", writes(title));
    }
}

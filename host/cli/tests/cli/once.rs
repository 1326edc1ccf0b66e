//! One use is one use: among many processes at once, and after a process that was killed.

use std::net::TcpListener;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use pinhole_standin::{Misbehaviour, When};

use crate::home::{Home, Ran};
use crate::stage::{READ, Stage, WRITE, WRITE_ARGS};

fn all(commands: impl Iterator<Item = Command>) -> Vec<Ran> {
    let children: Vec<Child> = commands.map(|mut command| command.spawn().unwrap()).collect();
    children.into_iter().map(|child| Ran::of(&child.wait_with_output().unwrap())).collect()
}

#[test]
fn of_twenty_processes_one_runs() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = home.mint(&["--uses", "1"]);
    let args = stage.args(&home, &[&["run"], &READ[..], &["--grant", &grant, "--json"]].concat());
    let ended = all((0..20).map(|_| home.command(&args.words())));
    let (done, refused): (Vec<Ran>, Vec<Ran>) = ended.into_iter().partition(|ran| ran.status == 0);
    assert_eq!((done.len(), refused.len(), stage.requests()), (1, 19, 1));
    for ran in refused {
        ran.expect(3).refusal("grant_used_up");
    }
}

#[test]
fn of_twenty_processes_as_many_run_as_there_are_uses() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = home.mint(&["--uses", "3"]);
    let args = stage.args(&home, &[&["run"], &READ[..], &["--grant", &grant, "--json"]].concat());
    let ended = all((0..20).map(|_| home.command(&args.words())));
    assert_eq!(ended.iter().filter(|ran| ran.status == 0).count(), 3);
    assert_eq!(stage.requests(), 3);
}

#[test]
fn an_approval_that_twenty_processes_hold_writes_once() {
    let (home, stage) = (Home::guarded(), Stage::new());
    let grant = home.mint(&["--approve", "github.create_issue", WRITE_ARGS]);
    let args = stage.args(&home, &[&["run"], &WRITE[..], &["--grant", &grant, "--json"]].concat());
    let ended = all((0..20).map(|_| home.command(&args.words())));
    assert_eq!(ended.iter().filter(|ran| ran.status == 0).count(), 1);
    let posts = stage.standin.requests().iter().filter(|seen| seen.method == "POST").count();
    assert_eq!(posts, 1);
}

#[test]
fn a_process_killed_while_it_waits_has_spent_its_use() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = home.mint(&["--uses", "1"]);
    stage.standin.misbehave(When::Next(1), Misbehaviour::SlowHeaders { delay: Duration::from_mins(10) });
    let args = stage.args(&home, &[&["run"], &READ[..], &["--grant", &grant, "--json"]].concat());
    let mut child = home.command(&args.words()).spawn().unwrap();
    let patience = Instant::now() + Duration::from_mins(1);
    while stage.requests() == 0 {
        assert!(Instant::now() < patience, "no request came");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    assert_eq!(Ran::of(&child.wait_with_output().unwrap()).status, -1, "it was not killed");
    home.run(&args.words()).expect(3).refusal("grant_used_up");
    assert_eq!(stage.requests(), 1);
}

#[test]
fn a_process_killed_before_its_first_byte_has_spent_its_use() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = home.mint(&["--uses", "1"]);
    // Accepts and says nothing: the handshake never ends, so no request has left.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let resolve = format!("api.github.com:443:{}", listener.local_addr().unwrap());
    let call = [&["run"], &READ[..], &["--grant", &grant, "--json"]].concat();
    let mut child = home.command(&[&call[..], &["--resolve", &resolve]].concat()).spawn().unwrap();
    let (_held, _) = listener.accept().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    home.run(&stage.args(&home, &call).words()).expect(3).refusal("grant_used_up");
    assert_eq!(stage.connections(), 0);
}

//! How it ends: told to, or killed; and how it begins again.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use pinhole_standin::{Misbehaviour, When};
use serde_json::Value;

use super::served::{Place, Served, Stream, call, eventually, own_socket, read, text};
use crate::home::Home;
use crate::stage::{Stage, WRITE_ARGS};

fn begin(served: &Served, body: &str) -> Box<dyn Stream> {
    let mut stream = served.connect();
    let head = "POST /v1/run HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json";
    stream.write_all(format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
    stream
}

fn write_of(home: &Home) -> String {
    let grant = text(&home.mint(&["--approve", "github.create_issue", WRITE_ARGS]));
    call("github.create_issue", &WRITE_ARGS.parse().unwrap(), &grant)
}

/// Lets whatever goes to this path take so long. What a write requires is looked up elsewhere.
fn is_slow(stage: &Stage, path: &str, delay: Duration) {
    stage.standin.misbehave(When::Path(path.to_owned()), Misbehaviour::SlowHeaders { delay });
}

const ISSUES: &str = "/repos/pinhole-demo/lantern/issues";

fn written(stage: &Stage) -> usize {
    stage.standin.requests().iter().filter(|seen| seen.method == "POST").count()
}

fn path(served: &Served) -> std::path::PathBuf {
    match &served.place {
        Place::File(path) => path.clone(),
        Place::At(_) => panic!("it listens at an address"),
    }
}

#[test]
fn told_to_stop_it_carries_a_write_to_its_end_and_begins_nothing() {
    let (home, stage) = (Home::guarded(), Stage::new());
    let mut served = Served::new(&home, &stage, &[]);
    is_slow(&stage, ISSUES, Duration::from_secs(2));
    let mut running = begin(&served, &write_of(&home));
    eventually("the write is at the service", || written(&stage) == 1);
    served.signal("-TERM");
    let socket = path(&served);
    eventually("nobody new is let in", || std::os::unix::net::UnixStream::connect(&socket).is_err());
    let mut answer = String::new();
    running.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{answer}");
    let outcome: Value = serde_json::from_str(body).unwrap();
    assert_eq!(outcome["result"]["title"], "The lamp flickers");
    let (status, log) = served.ended();
    assert!(status.success(), "{log}");
    assert!(!socket.exists(), "the socket is left behind");
    assert_eq!(written(&stage), 1);
}

#[test]
fn a_write_whose_client_went_away_is_carried_to_its_end() {
    let (home, stage) = (Home::guarded(), Stage::new());
    let served = Served::new(&home, &stage, &[]);
    is_slow(&stage, ISSUES, Duration::from_secs(1));
    let body = write_of(&home);
    let running = begin(&served, &body);
    eventually("the write is at the service", || written(&stage) == 1);
    drop(running);
    served.until("pinhole_requests_total{route=\"run\",code=\"gone\"}", 1);
    served.until("pinhole_calls_running{service=\"github\"}", 0);
    served.post("/v1/run", &body).refused(403, "grant_used_up");
    let (status, _log) = served.stop();
    assert!(status.success());
    assert_eq!(written(&stage), 1);
}

#[test]
fn what_takes_longer_than_it_may_is_cut_off() {
    let (home, stage) = (Home::guarded(), Stage::new());
    let mut served = Served::new(&home, &stage, &["--drain", "1s"]);
    is_slow(&stage, ISSUES, Duration::from_mins(10));
    let _running = begin(&served, &write_of(&home));
    eventually("the write is at the service", || written(&stage) == 1);
    served.signal("-TERM");
    let (status, log) = served.ended();
    assert!(status.success() && log.contains("cut off"), "{log}");
}

#[test]
fn told_to_stop_it_turns_away_who_waits() {
    let (home, stage) = (Home::new(), Stage::new());
    let served = Served::new(&home, &stage, &["--calls", "1", "--drain", "1s"]);
    is_slow(&stage, "/", Duration::from_mins(10));
    let body = call("github.get_repo", &read(), &text(&home.mint(&[])));
    let _running = begin(&served, &body);
    eventually("one is at the service", || stage.requests() == 1);
    let mut waits = begin(&served, &body);
    served.until("pinhole_calls_waiting{service=\"github\"}", 1);
    served.signal("-TERM");
    let mut answer = String::new();
    waits.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("\"busy\""), "{answer}");
    assert_eq!(stage.requests(), 1);
}

#[test]
fn after_a_kill_the_next_one_takes_the_place_of_the_socket_that_is_left() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = text(&home.mint(&["--uses", "1"]));
    let body = call("github.get_repo", &read(), &grant);
    let socket = own_socket(&home);
    let mut served = Served::at(&home, &stage, &socket);
    // Another one at the same place is refused while it lives.
    let member = home.public("member");
    let second = home.run(&["sidecar", "--issuer", &member, "--socket", &socket]).expect(2);
    assert!(second.stderr.contains("in use"), "{}", second.stderr);
    served.post("/v1/run", &body).is(200);
    served.child.kill().unwrap();
    served.child.wait().unwrap();
    assert!(path(&served).exists(), "killed, it cannot tidy up");
    let served = Served::at(&home, &stage, &socket);
    served.post("/v1/run", &body).refused(403, "grant_used_up");
    assert!(served.stop().0.success());
    assert!(!std::path::Path::new(&socket).exists());
    assert_eq!(stage.requests(), 1);
}

#[test]
fn a_place_that_is_none_is_said_to_be_none() {
    let home = Home::new();
    let member = home.public("member");
    let file = home.write("letter.txt", "a letter");
    let open = home.path("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let open = open.join("s").to_str().unwrap().to_owned();
    let long = home.path(&"x".repeat(120)).to_str().unwrap().to_owned();
    for (place, said) in [(&file, "no socket"), (&open, "others can write"), (&long, "shorter")] {
        let ran = home.run(&["sidecar", "--issuer", &member, "--socket", place]).expect(2);
        assert!(ran.stderr.contains(said), "{place}: {}", ran.stderr);
    }
    assert_eq!(text(&file), "a letter");
    let ran = home.run(&["sidecar", "--issuer", &member, "--listen", "0.0.0.0:0"]).expect(2);
    assert!(ran.stderr.contains("loopback"), "{}", ran.stderr);
}

//! What a component has of WASI, step by step: its lines, its clocks, its waits, its randomness.

use std::convert::Infallible;

use pinhole_manifest::Digest;
use rand::SeedableRng as _;
use serde_json::{Value, json};

use super::super::{Fault, Job, Program, Sandbox, Step};
use super::*;

const GUEST: &[u8] = include_bytes!("../../../../../tests/guests/built/wasi.wasm");

async fn program(sandbox: &Sandbox) -> Program {
    sandbox.program(Digest::of(GUEST), || Ok::<_, Infallible>(GUEST.to_vec())).await.unwrap()
}

/// Runs an op to its end: what it said, and what came of it.
async fn run(op: &str) -> (Vec<(&'static str, String)>, Result<Value, Fault>) {
    let sandbox = Sandbox::default();
    let program = program(&sandbox).await;
    assert!(program.draws());
    let job = Job {
        op: op.to_owned(),
        args: "{}".to_owned(),
        now: 1_700_000_007,
        random: Some(StdRng::seed_from_u64(7)),
        time: Duration::from_secs(20),
        result_bytes: 1 << 20,
    };
    let mut run = sandbox.start(&program, job);
    let mut said = Vec::new();
    loop {
        match run.next().await {
            Ok(Step::Says(level, text)) => said.push((level, text)),
            Ok(Step::Done(text)) => return (said, Ok(serde_json::from_str(&text).unwrap())),
            Ok(Step::Asks(asked)) => panic!("it asks for {asked:?}"),
            Err(fault) => return (said, Err(fault)),
        }
    }
}

#[tokio::test]
async fn what_is_written_to_a_stream_is_lines_of_the_log() {
    let (said, done) = run("says").await;
    let lines = [
        ("info", "one"),
        ("error", "in between"),
        ("info", "two"),
        ("info", ""),
        ("info", "not \u{fffd} text"),
        ("info", "without an end"),
    ];
    assert_eq!(said, lines.map(|(level, text)| (level, text.to_owned())));
    assert!(done.is_ok());
}

#[tokio::test]
async fn the_clock_on_the_wall_is_the_calls() {
    let (_, done) = run("tells_time").await;
    assert_eq!(done.unwrap(), json!({"now": 1_700_000_007, "size": 1_700_000_007, "stale": 0, "status": 1}));
}

#[tokio::test]
async fn waits_are_over_in_their_time_and_no_sooner() {
    let (_, done) = run("waits").await;
    let done = done.unwrap();
    assert_eq!(done["said"], json!(["[1]", "true", "true"]));
    assert!(done["size"].as_u64().unwrap() >= 3_000_000, "{done}");
    // It began with the call, not with the machine.
    assert!(done["now"].as_u64().unwrap() < 20_000_000_000, "{done}");
}

#[tokio::test]
async fn what_is_drawn_is_the_calls_and_never_the_same_twice() {
    let (_, done) = run("draws").await;
    let done = done.unwrap();
    let drawn: Vec<&str> = done["said"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert_eq!(drawn.iter().map(|hex| hex.len()).collect::<Vec<_>>(), [64, 64, 64, 16, 16, 16]);
    let different: std::collections::BTreeSet<_> = drawn.iter().map(|hex| hex.get(..16)).collect();
    assert_eq!(different.len(), drawn.len());
    let mut own = [0; 8];
    StdRng::seed_from_u64(7).fill_bytes(&mut own);
    assert!(drawn[0].starts_with(&format!("{:016x}", u64::from_be_bytes(own))), "{drawn:?}");
}

#[tokio::test]
async fn the_end_of_the_error_stream_is_what_it_said_last() {
    let (said, done) = run("dies").await;
    let last =
        format!("thread panicked:\n\u{1b}[31mthe module met what it cannot take\nnote: {}", "x".repeat(100));
    assert_eq!(done.unwrap_err(), Fault::Trapped(Some(last)));
    assert_eq!(said.len(), 3);
}

/// Nothing of WASI is linked for a component that does not import it.
#[test]
fn only_what_stands_on_the_list_is_found() {
    for (name, draws, _) in INTERFACES {
        for patch in ["0", "3", "12"] {
            assert_eq!(Interface::find(&format!("{name}@0.2.{patch}")).map(|found| found.draws), Some(draws));
        }
        for version in ["", "@0.2", "@0.2.", "@0.2.3-rc-1", "@0.3.0", "@1.0.0", "@0.2.99999", "@0.2.x"] {
            assert!(Interface::find(&format!("{name}{version}")).is_none(), "{name}{version}");
        }
    }
    for name in
        ["cli/stdin", "cli/environment", "cli/exit", "filesystem/types", "sockets/tcp", "clocks/timezone"]
    {
        assert!(Interface::find(&format!("wasi:{name}@0.2.3")).is_none(), "{name}");
    }
}

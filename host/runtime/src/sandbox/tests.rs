//! What a sandbox is before anybody uses it, what keeps its tick going, and that what it compiles is what was asked for.

use std::convert::Infallible;
use std::time::Duration;

use super::*;
use pinhole_manifest::Digest;

const PROBE: &[u8] = include_bytes!("../../../../tests/guests/built/probe.wasm");

fn job(op: &str) -> Job {
    Job {
        op: op.to_owned(),
        args: r#"{"owner":"acme","repo":"it"}"#.to_owned(),
        now: 7,
        random: None,
        time: Duration::from_secs(20),
        result_bytes: 1 << 20,
    }
}

async fn program(sandbox: &Sandbox) -> Program {
    let load = || Ok::<_, Infallible>(PROBE.to_vec());
    sandbox.program(Digest::of(PROBE), load).await.unwrap()
}

#[tokio::test]
async fn there_is_no_engine_until_a_module_is_called() {
    let sandbox = Sandbox::default();
    assert!(sandbox.inner.engine.get().is_none());
    program(&sandbox).await;
    assert!(sandbox.inner.engine.get().is_some());
}

#[tokio::test]
async fn a_module_is_read_and_compiled_once() {
    let sandbox = Sandbox::default();
    program(&sandbox).await;
    let again = || -> Result<Vec<u8>, Infallible> { panic!("it is read again") };
    assert!(sandbox.program(Digest::of(PROBE), again).await.is_ok());
}

#[tokio::test]
async fn what_could_not_be_compiled_is_looked_at_again() {
    let sandbox = Sandbox::default();
    let digest = Digest::of(PROBE);
    let other = sandbox.program(digest, || Ok::<_, Infallible>(b"other".to_vec())).await;
    assert_eq!(other.err(), Some(Fault::OtherDigest));
    assert_eq!(
        sandbox.program(digest, || Err("gone")).await.err(),
        Some(Fault::Unreadable("gone".to_owned()))
    );
    program(&sandbox).await;
}

#[tokio::test]
async fn a_step_is_taken_at_a_time() {
    let sandbox = Sandbox::default();
    let program = program(&sandbox).await;
    let mut run = sandbox.start(&program, job("logs"));
    let said = run.next().await;
    assert!(matches!(&said, Ok(Step::Says("info", text)) if text.starts_with("a line\n")), "{said:?}");
    let done = run.next().await;
    assert!(matches!(&done, Ok(Step::Done(text)) if text == r#"{"now":7}"#), "{done:?}");
    let mut run = sandbox.start(&program, job("echo"));
    let asks = run.next().await;
    assert!(matches!(&asks, Ok(Step::Asks(asked)) if asked[0].path == "/repos/acme/it/things"), "{asks:?}");
    let failure = GuestFailure { code: "timed_out", message: "too slow".to_owned() };
    run.answer(vec![Err(failure)]).unwrap();
    assert_eq!(run.next().await.err(), Some(Fault::Failed("timed_out: too slow".to_owned())));
}

/// The module has nothing to do with how long its answer takes.
#[tokio::test]
async fn the_time_of_a_call_is_over_while_it_waits_too() {
    let sandbox = Sandbox::default();
    let program = program(&sandbox).await;
    let mut run = sandbox.start(&program, Job { time: Duration::from_millis(50), ..job("echo") });
    assert!(matches!(run.next().await, Ok(Step::Asks(_))));
    assert_eq!(run.next().await.err(), Some(Fault::OutOfTime));
}

#[tokio::test]
async fn a_call_waits_for_its_place_and_a_dropped_one_gives_its_own_back() {
    let settings = SandboxSettings { calls: 1, ..SandboxSettings::default() };
    let sandbox = Sandbox::new(settings);
    let program = program(&sandbox).await;
    let mut first = sandbox.start(&program, job("echo"));
    assert!(matches!(first.next().await, Ok(Step::Asks(_))));
    let short = Job { time: Duration::from_millis(50), ..job("empty") };
    assert_eq!(sandbox.start(&program, short).next().await.err(), Some(Fault::OutOfTime));
    drop(first);
    assert!(matches!(sandbox.start(&program, job("empty")).next().await, Ok(Step::Done(_))));
}

#[tokio::test]
async fn a_manifest_lowers_what_a_result_may_be_and_raises_nothing() {
    let settings = SandboxSettings { bytes_out: 2 << 20, ..SandboxSettings::default() };
    let sandbox = Sandbox::new(settings);
    let program = program(&sandbox).await;
    for (result_bytes, limit) in [(64 << 20, 2 << 20), (1, 1 << 20)] {
        let mut run = sandbox.start(&program, Job { result_bytes, ..job("returns_much") });
        assert_eq!(run.next().await.err(), Some(Fault::Limit(Limit::BytesOut(limit))));
    }
}

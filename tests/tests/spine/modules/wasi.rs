//! What no module gets away with that has WASI, with a real component: `tests/guests/wasi`.

use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_tests::Setup;
use serde_json::json;

use super::{FILE, called, limited, manifest_of, shared};
use crate::common::{Provoked, refusal, result};

const GUEST: &[u8] = include_bytes!("../../../guests/built/wasi.wasm");

const OPS: [&str; 20] = [
    "says",
    "tells_time",
    "waits",
    "draws",
    "draws_much",
    "draws_much_carelessly",
    "draws_often",
    "writes_zeroes",
    "writes_much",
    "never_flushes",
    "writes_lines",
    "ends_with_a_line_too_many",
    "polls_nothing",
    "polls_many",
    "polls_often",
    "holds_waits",
    "holds_streams",
    "sleeps_a_century",
    "sleeps_for_good",
    "dies",
];

fn setup(timeout_ms: u64) -> Setup {
    let mut manifest = manifest_of(GUEST, &OPS);
    for op in OPS {
        manifest["ops"][op]["limits"]["timeout_ms"] = json!(timeout_ms);
    }
    Setup::module(&manifest, (FILE, GUEST.to_vec()), Vec::new())
}

async fn run(op: &str) -> Provoked {
    let mut stage = setup(20_000).start().await;
    stage.executor.sandbox = shared();
    let outcome = called(&stage, op).await;
    Provoked { stage, outcome }
}

/// Asserts that a limit ended the op, and which.
async fn limited_by(op: &str, says: &str) {
    let run = run(op).await;
    run.is_before_connecting(Code::ModuleLimit);
    let message = &refusal(&run.outcome).message;
    assert!(message.ends_with(says), "{op}: {message}");
}

/// Asserts that the op's time ended it, though it has more fuel than it could burn.
async fn ended_by_its_time(op: &str) {
    let stage = limited(setup(300).start().await, |settings| settings.fuel = u64::MAX);
    // Compiling it takes a part of the op's time, and may take more than this op has.
    drop(called(&stage, "tells_time").await);
    let outcome = called(&stage, op).await;
    Provoked { stage, outcome }.is_before_connecting(Code::ModuleOutOfTime);
}

#[tokio::test]
async fn a_component_that_imports_wasi_is_given_what_stands_on_the_list() {
    for op in ["says", "tells_time", "waits", "draws"] {
        let run = run(op).await;
        assert!(result(&run.outcome).is_object(), "{op}");
        assert_eq!(run.stage.standin.connections(), 0);
    }
}

#[tokio::test]
async fn the_time_of_a_module_with_wasi_is_the_calls() {
    let run = run("tells_time").await;
    let told = result(&run.outcome);
    assert_eq!((&told["now"], &told["now"]), (&json!(pinhole_tests::NOW.as_secs()), &told["size"]));
}

#[tokio::test]
async fn one_that_draws_much_at_once_is_stopped() {
    for op in ["draws_much", "draws_much_carelessly"] {
        limited_by(op, "draws more than 1048576 random bytes at once").await;
    }
}

#[tokio::test]
async fn one_that_draws_without_end_is_over_with_its_ops_time() {
    ended_by_its_time("draws_often").await;
}

#[tokio::test]
async fn zeroes_without_end_are_not_written() {
    run("writes_zeroes").await.is_before_connecting(Code::ModuleTrapped);
}

#[tokio::test]
async fn what_is_written_to_a_stream_is_counted_as_lines_of_the_log_are() {
    for op in ["writes_much", "never_flushes"] {
        limited_by(op, "writes more than 65536 bytes to the log").await;
    }
    for op in ["writes_lines", "ends_with_a_line_too_many"] {
        limited_by(op, "writes more than 200 lines to the log").await;
    }
}

#[tokio::test]
async fn one_that_polls_is_bounded_as_one_that_computes() {
    run("polls_nothing").await.is_before_connecting(Code::ModuleTrapped);
    limited_by("polls_many", "hands over more than 1048576 bytes at once").await;
    ended_by_its_time("polls_often").await;
}

#[tokio::test]
async fn one_that_holds_handles_without_end_is_stopped() {
    for op in ["holds_waits", "holds_streams"] {
        limited_by(op, "holds more handles at once than it may").await;
    }
}

#[tokio::test]
async fn one_that_sleeps_is_over_with_its_ops_time() {
    for op in ["sleeps_a_century", "sleeps_for_good"] {
        ended_by_its_time(op).await;
    }
}

#[tokio::test]
async fn what_one_wrote_before_it_died_is_shown_as_its_own() {
    let run = run("dies").await;
    run.is(Code::ModuleTrapped, Sent::No);
    let said = refusal(&run.outcome).untrusted.as_ref().unwrap().as_str().to_owned();
    assert!(said.contains("the module met what it cannot take") && !said.contains('\u{1b}'), "{said:?}");
}

/// A thousand calls of every hostile kind take no more memory than the first hundred, and leave no task.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_thousand_hostile_calls_leave_nothing_behind() {
    let stage = setup(20_000).start().await;
    let stage = limited(stage, |settings| settings.fuel = 50_000_000);
    let short = limited(setup(50).start().await, |settings| settings.fuel = u64::MAX);
    drop(called(&short, "tells_time").await);
    let ops = [
        "draws_much",
        "writes_zeroes",
        "never_flushes",
        "writes_lines",
        "polls_many",
        "holds_waits",
        "holds_streams",
        "dies",
    ];
    let round = async || {
        for op in ops.iter().cycle().take(99) {
            assert!(called(&stage, op).await.to_json().contains("\"refusal\""), "{op}");
        }
        let outcome = called(&short, "sleeps_a_century").await;
        assert_eq!(refusal(&outcome).code, Code::ModuleOutOfTime);
    };
    round().await;
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = resident();
    for _ in 0..9 {
        round().await;
    }
    let after = resident();
    assert!(after < before + (16 << 20), "{before} became {after}");
    assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), tasks);
}

/// Bytes of this process that are in memory.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

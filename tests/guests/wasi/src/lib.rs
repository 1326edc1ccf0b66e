//! One component that imports all of WASI that a module is given and does with it, by the name of its op, what the library of
//! a language does or what none should.

mod hostile;

use serde_json::{Value, json};
use crate::wasi::cli::{stderr, stdout};
use crate::wasi::clocks::{monotonic_clock, wall_clock};
use crate::wasi::io::poll;
use crate::wasi::io::streams::OutputStream;
use crate::wasi::random::{insecure, insecure_seed, random};

wit_bindgen::generate!({
    path: ["../../../wit/pinhole-op.wit", "wit/wasi.wit"],
    world: "test:guest/it",
    generate_all,
});

struct Probe;

impl Guest for Probe {
    fn run(op: String, _args: String) -> Result<String, OpError> {
        let computed = match op.as_str() {
            "says" => says(),
            "tells_time" => tells_time(),
            "waits" => waits(),
            "draws" => draws(),
            _ => hostile::run(&op).ok_or_else(|| OpError { message: "there is no such op".to_owned() })?,
        };
        Ok(computed.to_string())
    }
}

export!(Probe);

fn write(stream: &OutputStream, text: &[u8]) {
    assert!(stream.blocking_write_and_flush(text).is_ok());
}

fn says() -> Value {
    let (out, err) = (stdout::get_stdout(), stderr::get_stderr());
    write(&out, b"one\ntw");
    write(&err, b"in between\r\n");
    write(&stdout::get_stdout(), b"o\n\nnot \xff text\n");
    assert!(out.check_write().is_ok_and(|room| room > 0));
    assert!(out.write(b"without an end").is_ok());
    json!({"status": 1})
}

fn tells_time() -> Value {
    let (now, resolution) = (wall_clock::now(), wall_clock::resolution());
    let own = crate::pinhole::op::clock::now();
    json!({"now": now.seconds, "size": own, "stale": now.nanoseconds, "status": resolution.seconds})
}

/// Waits for a millisecond in each way that there is; gives what of two waits was over first.
fn waits() -> Value {
    let before = monotonic_clock::now();
    monotonic_clock::subscribe_duration(1_000_000).block();
    monotonic_clock::subscribe_instant(before + 2_000_000).block();
    let (short, long) =
        (monotonic_clock::subscribe_duration(1_000_000), monotonic_clock::subscribe_duration(u64::MAX));
    let first = poll::poll(&[&long, &short]);
    let over = monotonic_clock::subscribe_instant(0).ready() && stdout::get_stdout().subscribe().ready();
    let passed = monotonic_clock::now() - before;
    let whole = passed % monotonic_clock::resolution() == 0;
    json!({"said": [format!("{first:?}"), over.to_string(), whole.to_string()], "size": passed, "now": before})
}

fn draws() -> Value {
    let drawn = [
        random::get_random_bytes(32),
        random::get_random_bytes(32),
        insecure::get_insecure_random_bytes(32),
        random::get_random_u64().to_le_bytes().to_vec(),
        insecure::get_insecure_random_u64().to_le_bytes().to_vec(),
        insecure_seed::insecure_seed().0.to_le_bytes().to_vec(),
    ];
    let hex = |bytes: &Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    json!({"said": drawn.iter().map(hex).collect::<Vec<_>>()})
}

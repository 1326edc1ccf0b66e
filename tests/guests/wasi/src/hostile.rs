//! What a module must not get away with that has WASI, by the name of its op.

use serde_json::{Value, json};

use crate::wasi::cli::{stderr, stdout};
use crate::wasi::clocks::monotonic_clock;
use crate::wasi::io::poll;
use crate::wasi::random::{insecure, random};
use crate::write;

const MUCH: u64 = 1 << 40;
/// In nanoseconds.
const A_CENTURY: u64 = 100 * 365 * 24 * 3600 * 1_000_000_000;

pub(crate) fn run(op: &str) -> Option<Value> {
    match op {
        "draws_much" => drop(random::get_random_bytes(MUCH)),
        "draws_much_carelessly" => drop(insecure::get_insecure_random_bytes(MUCH)),
        "draws_often" => loop {
            drop(random::get_random_bytes(1 << 20));
        },
        "writes_zeroes" => drop(stdout::get_stdout().write_zeroes(MUCH)),
        "writes_much" => drop(stdout::get_stdout().write(&vec![b'a'; 100_000])),
        "never_flushes" => {
            let out = stdout::get_stdout();
            while out.write(&[b'a'; 1000]).is_ok() {}
        }
        "writes_lines" => {
            let err = stderr::get_stderr();
            loop {
                write(&err, b"\n");
            }
        }
        "ends_with_a_line_too_many" => {
            let out = stdout::get_stdout();
            for _ in 0..200 {
                write(&out, b"\n");
            }
            write(&out, b"one more");
        }
        "polls_nothing" => drop(poll::poll(&[])),
        "polls_many" => {
            let over = monotonic_clock::subscribe_duration(0);
            drop(poll::poll(&vec![&over; 1_000_000]));
        }
        "polls_often" => {
            let over = monotonic_clock::subscribe_duration(0);
            while over.ready() {
                over.block();
            }
        }
        "holds_waits" => loop {
            std::mem::forget(monotonic_clock::subscribe_duration(A_CENTURY));
        },
        "holds_streams" => loop {
            std::mem::forget(stdout::get_stdout());
        },
        "sleeps_a_century" => monotonic_clock::subscribe_duration(A_CENTURY).block(),
        "sleeps_for_good" => monotonic_clock::subscribe_instant(u64::MAX).block(),
        "dies" => {
            let err = stderr::get_stderr();
            write(&err, b"thread panicked:\n\x1b[31mthe module met what it cannot take\nnote: ");
            write(&err, &[b'x'; 100]);
            panic!();
        }
        _ => return None,
    }
    Some(json!({"status": 0}))
}

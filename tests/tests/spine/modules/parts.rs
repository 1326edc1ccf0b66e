//! Components that are hostile by how they are made, written down as text: endless starts, parts and handles without number,
//! memories that are too large.

use pinhole_runtime::outcome::Code;
use pinhole_tests::Setup;

use super::{FILE, called, limited, manifest};
use crate::common::{Provoked, refusal};

/// A core module that has what `run` is made of, with more in it.
fn core(more: &str, body: &str) -> String {
    format!(
        r#"(core module $m
            (memory (export "memory") 1)
            (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024)
            {more}
            (func (export "run") (param i32 i32 i32 i32) (result i32) {body}))"#
    )
}

/// The export of the contract, out of a core instance.
const RUN: &str = r#"
    (type $error' (record (field "message" string)))
    (export $error "op-error" (type $error'))
    (func $run (param "op" string) (param "args" string) (result (result string (error $error)))
        (canon lift (core func $i "run") (memory (core memory $i "memory")) (realloc (core func $i "realloc"))))
    (export "run" (func $run))"#;

fn component(parts: &str) -> Vec<u8> {
    wat::parse_str(format!("(component {parts})")).unwrap()
}

/// A component whose one core module has more in it.
fn with(more: &str, body: &str) -> Vec<u8> {
    component(&format!("{} (core instance $i (instantiate $m)) {RUN}", core(more, body)))
}

/// A component that has other parts besides.
fn beside(parts: &str) -> Vec<u8> {
    component(&format!("{} (core instance $i (instantiate $m)) {RUN} {parts}", core("", "unreachable")))
}

async fn run(bytes: Vec<u8>) -> Provoked {
    let setup = Setup::module(&manifest(&bytes), (FILE, bytes), Vec::new());
    let stage = limited(setup.start().await, |settings| settings.fuel = 100_000_000);
    let outcome = called(&stage, "empty").await;
    Provoked { stage, outcome }
}

async fn ends(bytes: Vec<u8>, code: Code) -> Provoked {
    let run = run(bytes).await;
    run.is_before_connecting(code);
    run
}

/// So that what is refused below is not refused for how it was made: this one gives `{}`.
#[tokio::test]
async fn a_component_that_is_written_down_runs() {
    let gives = "i32.const 16";
    let result = r#"(data (i32.const 20) "\40\00\00\00\02\00\00\00") (data (i32.const 64) "{}")"#;
    let run = run(with(result, gives)).await;
    assert_eq!(crate::common::result(&run.outcome), serde_json::json!({}));
}

#[tokio::test]
async fn a_start_that_never_ends_runs_out_of_fuel() {
    ends(with("(func $s (loop (br 0))) (start $s)", "unreachable"), Code::ModuleOutOfFuel).await;
}

#[tokio::test]
async fn a_start_that_never_ends_is_over_with_its_ops_time() {
    let bytes = with("(func $s (loop (br 0))) (start $s)", "unreachable");
    let mut manifest = manifest(&bytes);
    manifest["ops"]["empty"]["limits"]["timeout_ms"] = serde_json::json!(300);
    let setup = Setup::module(&manifest, (FILE, bytes), Vec::new());
    let stage = limited(setup.start().await, |settings| settings.fuel = u64::MAX);
    let outcome = called(&stage, "empty").await;
    Provoked { stage, outcome }.is_before_connecting(Code::ModuleOutOfTime);
}

#[tokio::test]
async fn a_start_that_traps_ends_the_call() {
    ends(with("(func $s unreachable) (start $s)", "unreachable"), Code::ModuleTrapped).await;
}

#[tokio::test]
async fn handles_without_end_are_not_made() {
    let parts = format!(
        r#"(type $r (resource (rep i32))) (core func $new (canon resource.new $r)) {}
        (core instance $own (export "new" (func $new)))
        (core instance $i (instantiate $m (with "own" (instance $own)))) {RUN}"#,
        core("", "(loop (drop (call $new (i32.const 0))) (br 0)) unreachable").replacen(
            "(core module $m",
            r#"(core module $m (import "own" "new" (func $new (param i32) (result i32)))"#,
            1
        )
    );
    let run = ends(component(&parts), Code::ModuleLimit).await;
    let message = &refusal(&run.outcome).message;
    assert!(message.ends_with("holds more handles at once than it may"), "{message}");
}

#[tokio::test]
async fn parts_without_number_do_not_load() {
    for parts in [
        "(core module $l) ".to_owned() + &"(core instance (instantiate $l))".repeat(990),
        "(core module $l (memory 1)) ".to_owned() + &"(core instance (instantiate $l))".repeat(50),
        "(core module $l (table 1 funcref)) ".to_owned() + &"(core instance (instantiate $l))".repeat(50),
        "(core module $l (table 10000000 funcref)) (core instance (instantiate $l))".to_owned(),
    ] {
        let run = ends(beside(&parts), Code::ModuleInvalid).await;
        let message = &refusal(&run.outcome).message;
        assert!(message.contains("more core instances, memories or tables"), "{message}");
    }
}

#[tokio::test]
async fn a_memory_that_is_too_large_is_not_made() {
    for pages in [1025, 65_536] {
        let parts = format!("(core module $l (memory {pages})) (core instance (instantiate $l))");
        ends(beside(&parts), Code::ModuleOutOfMemory).await;
    }
    // Nor is it by several that are not.
    let parts = "(core module $l (memory 500)) ".to_owned() + &"(core instance (instantiate $l))".repeat(3);
    ends(beside(&parts), Code::ModuleOutOfMemory).await;
}

#[tokio::test]
async fn tables_together_have_a_limit() {
    let parts =
        "(core module $l (table 15000 funcref)) ".to_owned() + &"(core instance (instantiate $l))".repeat(2);
    ends(beside(&parts), Code::ModuleLimit).await;
}

#[tokio::test]
async fn parts_inside_of_parts_without_end_do_not_load() {
    let mut bytes = component("");
    for _ in 0..20_000 {
        let mut outer = b"\0asm\x0d\0\x01\0\x04".to_vec();
        let mut length = bytes.len();
        while length >= 0x80 {
            outer.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
            length >>= 7;
        }
        outer.push(u8::try_from(length).unwrap());
        outer.extend(bytes);
        bytes = outer;
    }
    ends(bytes, Code::ModuleInvalid).await;
}

#[tokio::test]
async fn garbage_is_refused_however_much_of_it() {
    let mut garbage = vec![0xa5; 32 << 20];
    ends(garbage.clone(), Code::ModuleInvalid).await;
    garbage[..8].copy_from_slice(b"\0asm\x0d\0\x01\0");
    ends(garbage, Code::ModuleInvalid).await;
}

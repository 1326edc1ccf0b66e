//! That bytes are described as loading them would find them, and in which words.

use super::super::program::Program;
use super::super::{Fault, engine::Running};
use super::*;

const PROBE: &[u8] = include_bytes!("../../../../../tests/guests/built/probe.wasm");
const CONTRACT: [&str; 3] = ["pinhole:op/http@1.0.0", "pinhole:op/log@1.0.0", "pinhole:op/clock@1.0.0"];
/// What `run` is, around a core module that has it.
const RUN: &str = r#"
    (core module $m
        (memory (export "memory") 1)
        (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 0)
        (func (export "run") (param i32 i32 i32 i32) (result i32) unreachable))
    (core instance $i (instantiate $m))
    (type $error' (record (field "message" string)))
    (export $error "op-error" (type $error'))
    (func $run (param "op" string) (param "args" string) (result (result string (error $error)))
        (canon lift (core func $i "run") (memory (core memory $i "memory")) (realloc (core func $i "realloc"))))
    (export "run" (func $run))"#;

fn component(parts: &str) -> Vec<u8> {
    wat::parse_str(format!("(component {parts})")).unwrap()
}

/// Describes some bytes, and holds that against loading them.
fn looked_at(bytes: &[u8]) -> Result<Inspected, Misfit> {
    let inspected = inspect(bytes);
    let running = Running::start(&SandboxSettings { calls: 1, ..SandboxSettings::default() }).unwrap();
    let loaded = Program::compile(running.engine(), bytes)
        .and_then(|component| Program::link(running.engine(), &component));
    let fits = inspected.as_ref().map_err(Clone::clone).and_then(Inspected::fits);
    assert_eq!(loaded.map(|_program| ()), fits.map_err(Fault::Misfit), "{inspected:?}");
    inspected
}

fn misfit(bytes: &[u8]) -> Misfit {
    looked_at(bytes).and_then(|found| found.fits()).unwrap_err()
}

#[test]
fn a_component_of_the_contract_is_described() {
    let found = looked_at(PROBE).unwrap();
    let given = CONTRACT.map(|name| Import { name: name.to_owned(), given: true });
    let exports = vec!["run".to_owned()];
    assert_eq!(found, Inspected { imports: given.to_vec(), exports, bytes: PROBE.len(), misfit: None });
}

#[test]
fn every_import_that_is_not_given_is_named() {
    let parts = format!(
        r#"(import "wasi:sockets/tcp@0.2.0" (instance)) (import "wasi:io/poll@0.3.0" (instance))
        (import "pinhole:op/log@1.0.0" (instance)) (import "pinhole:op/http@2.0.0" (instance)) {RUN}"#
    );
    let found = looked_at(&component(&parts)).unwrap();
    let names = ["wasi:sockets/tcp@0.2.0", "wasi:io/poll@0.3.0", "pinhole:op/http@2.0.0"];
    assert_eq!(found.misfit, Some(Misfit::Imports(names.map(str::to_owned).to_vec())));
    assert_eq!(
        found.imports.iter().map(|import| import.given).collect::<Vec<_>>(),
        [false, false, true, false]
    );
}

#[test]
fn imports_without_end_make_no_message_without_end() {
    let import = |number| format!(r#"(import "{}{number}" (func))"#, "a".repeat(5_000));
    let imports: Vec<String> = (0..900).map(import).collect();
    let Misfit::Imports(names) = misfit(&component(&imports.concat())) else { panic!("they are not given") };
    assert_eq!(names.len(), 900);
    let message = Misfit::Imports(names).to_string();
    assert!(message.len() < 4_000 && message.contains("868 more"), "{message}");
}

#[test]
fn what_is_no_component_is_not_described() {
    assert_eq!(misfit(b"\0asm\x01\0\0\0"), Misfit::CoreModule);
    let mut changed = PROBE.to_vec();
    let middle = changed.len() / 2;
    changed[middle..middle + 64].fill(0xff);
    let halved = &PROBE[..middle];
    for bytes in [&b""[..], b"(component)", b"\0asm\x0d\0\x01", halved, &changed, &vec![0xa5; 32 << 20]] {
        assert_eq!(misfit(bytes), Misfit::Invalid);
    }
}

/// Only its instructions are wrong, and of those a skeleton has none.
#[test]
fn an_instruction_that_is_not_valid_is_seen() {
    let parts = RUN.replace("unreachable", "i64.const 0");
    assert_eq!(misfit(&component(&parts)), Misfit::Invalid);
}

#[test]
fn another_world_is_no_world_of_ours() {
    assert_eq!(looked_at(&component(RUN)).unwrap().misfit, None);
    let other = RUN.replace(r#"(param "args" string)"#, r#"(param "args" (list u8))"#);
    for parts in ["", &other] {
        assert_eq!(misfit(&component(parts)), Misfit::OtherWorld);
    }
}

#[test]
fn parts_beyond_the_pool_are_named_as_such() {
    let memories = "(core instance (instantiate $m))".repeat(999);
    for more in [&*memories, "(core module $l (table 20001 funcref)) (core instance (instantiate $l))"] {
        assert_eq!(misfit(&component(&format!("{RUN} {more}"))), Misfit::Parts, "{more}");
    }
}

#[test]
fn parts_inside_of_parts_without_end_are_not_descended_into() {
    let nested = |depth: usize| {
        let mut bytes = component("");
        for _ in 0..depth {
            bytes = inside_of_another(&bytes);
        }
        bytes
    };
    assert_eq!(misfit(&nested(10)), Misfit::OtherWorld);
    for depth in [11, 1_000, 20_000] {
        assert_eq!(misfit(&nested(depth)), Misfit::Deep);
    }
}

fn inside_of_another(inner: &[u8]) -> Vec<u8> {
    let mut outer = wasm_encoder::Component::new();
    outer.section(&wasm_encoder::RawSection { id: 4, data: inner });
    outer.finish()
}

//! Bytes that are no component of this host's: refused by name, before a use is spent.

use pinhole_runtime::outcome::Code;
use pinhole_tests::Setup;
use serde_json::json;
use wit_component::{ComponentEncoder, StringEncoding, dummy_module, embed_component_metadata};
use wit_parser::{ManglingAndAbi, Resolve};

use super::{FILE, PROBE, args, manifest};
use crate::common::{Provoked, refusal};
use crate::grants::run_under;

const CONTRACT: &str = include_str!("../../../../wit/pinhole-op.wit");

/// A component that does nothing, of the world `it` of these packages.
fn component(packages: &[&str]) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let mut last = None;
    for text in packages {
        last = Some(resolve.push_source("it.wit", text).unwrap());
    }
    let world = resolve.select_world(&[last.unwrap()], Some("it")).unwrap();
    let mut module = dummy_module(&resolve, world, ManglingAndAbi::Standard32);
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default().validate(true).module(&module).unwrap().encode().unwrap()
}

async fn called(bytes: Vec<u8>) -> Provoked {
    let setup = Setup::module(&manifest(&bytes), (FILE, bytes), Vec::new());
    run_under(setup, "thing.empty", &args(), |grant| grant.uses(1)).await
}

async fn misfit(bytes: Vec<u8>, says: &str) {
    let run = called(bytes).await;
    run.is_before_connecting(Code::ModuleInvalid);
    let refusal = refusal(&run.outcome);
    assert!(refusal.message.ends_with(says), "{}", refusal.message);
    assert!(!refusal.use_spent);
}

#[tokio::test]
async fn a_core_module_is_refused() {
    misfit(b"\0asm\x01\0\0\0".to_vec(), "it is a core module, not a component").await;
}

#[tokio::test]
async fn what_is_no_component_is_refused() {
    let halved = PROBE[..PROBE.len() / 2].to_vec();
    for bytes in [Vec::new(), b"(component)".to_vec(), halved] {
        misfit(bytes, "it is not a valid component").await;
    }
}

#[tokio::test]
async fn an_import_of_sockets_or_files_is_refused_by_its_name() {
    for (interface, package) in [
        ("wasi:sockets/tcp@0.2.0", "package wasi:sockets@0.2.0; interface tcp { open: func() -> u32; }"),
        ("wasi:filesystem/types@0.2.0", "package wasi:filesystem@0.2.0; interface types { open: func(); }"),
        ("wasi:cli/environment@0.2.0", "package wasi:cli@0.2.0; interface environment { all: func(); }"),
        ("pinhole:op/files@1.0.0", "package pinhole:op@1.0.0; interface files { open: func(); }"),
    ] {
        let world = format!(
            "package my:guest; world it {{ import {interface}; export run: func(op: string, args: string) -> string; }}"
        );
        let says = format!("it imports `{interface}`, which no module is given");
        misfit(component(&[package, &world]), &says).await;
    }
}

#[tokio::test]
async fn another_world_is_refused() {
    let worlds = [
        "package my:guest; world it { export go: func(); }",
        "package my:guest; world it { export run: func(op: string) -> string; }",
        "package my:guest; world it { export run: func(op: string, args: string) -> string; }",
    ];
    for world in worlds {
        misfit(component(&[world]), "it is not of the world `pinhole:op/module@1.0.0`").await;
    }
}

#[tokio::test]
async fn another_version_of_the_contract_is_refused() {
    let contract = CONTRACT.replace("@1.0.0", "@2.0.0").replace("world module", "world it");
    let names = ["http", "log", "clock"].map(|name| format!("`pinhole:op/{name}@2.0.0`")).join(", ");
    misfit(component(&[&contract]), &format!("it imports {names}, which no module is given")).await;
}

#[tokio::test]
async fn an_interface_of_the_right_name_and_another_shape_is_refused() {
    let contract = CONTRACT.replace("status: u16", "status: u64").replace("world module", "world it");
    misfit(component(&[&contract]), "it is not of the world `pinhole:op/module@1.0.0`").await;
}

/// So that what is refused above is not refused for how it was made.
#[tokio::test]
async fn a_component_of_the_contract_that_does_nothing_runs_and_traps() {
    let contract = CONTRACT.replace("world module", "world it");
    let run = called(component(&[&contract])).await;
    run.is_before_connecting(Code::ModuleTrapped);
}

#[tokio::test]
async fn a_file_that_is_not_the_manifests_is_refused() {
    let mut changed = PROBE.to_vec();
    let last = changed.len() - 1;
    changed[last] ^= 1;
    let setup = Setup::module(&manifest(PROBE), (FILE, changed), Vec::new());
    run_under(setup, "thing.empty", &args(), |grant| grant).await.is_before_connecting(Code::ModuleChanged);
    let setup = Setup::module(&manifest(PROBE), ("modules/other.wasm", PROBE.to_vec()), Vec::new());
    let run = run_under(setup, "thing.empty", &args(), |grant| grant).await;
    run.is_before_connecting(Code::ModuleUnreadable);
    assert_eq!(refusal(&run.outcome).untrusted, None);
    assert_eq!(json!(run.outcome.meta.requests), json!(0));
}

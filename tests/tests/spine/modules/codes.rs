//! One way to each refusal that only a module brings about, for the table of all codes.

use pinhole_runtime::sandbox::Sandbox;
use pinhole_runtime::sandbox::SandboxSettings;
use pinhole_tests::Setup;
use serde_json::json;

use super::{FILE, PROBE, args, called, manifest, routes, run, run_limited, setup};
use crate::common::Provoked;
use crate::grants::run_under;

pub(crate) async fn without_its_file() -> Provoked {
    run_under(Setup::thing(Vec::new()), "thing.stale_things", &json!({}), |grant| grant).await
}

pub(crate) async fn with_another_file() -> Provoked {
    let setup = Setup::module(&manifest(PROBE), (FILE, b"another".to_vec()), routes());
    run_under(setup, "thing.empty", &args(), |grant| grant).await
}

pub(crate) async fn that_is_a_core_module() -> Provoked {
    let core = b"\0asm\x01\0\0\0";
    let setup = Setup::module(&manifest(core), (FILE, core.to_vec()), routes());
    run_under(setup, "thing.empty", &args(), |grant| grant).await
}

/// In a sandbox that wants more address space than any machine has.
pub(crate) async fn without_a_sandbox() -> Provoked {
    let mut stage = setup(routes()).start().await;
    let mut settings = SandboxSettings::default();
    settings.calls = u16::MAX;
    stage.executor.sandbox = Sandbox::new(settings);
    let outcome = called(&stage, "empty").await;
    Provoked { stage, outcome }
}

pub(crate) async fn that_asks_for_another_host() -> Provoked {
    run("to_other_host", routes()).await
}

pub(crate) async fn that_sends_many() -> Provoked {
    run("sends_many", routes()).await
}

pub(crate) async fn that_hoards() -> Provoked {
    run("hoards", routes()).await
}

pub(crate) async fn that_computes_long() -> Provoked {
    run_limited("loops", routes(), |settings| settings.fuel = 10_000_000).await
}

/// It has more fuel than it could burn in its time.
pub(crate) async fn that_takes_long() -> Provoked {
    let mut manifest = manifest(PROBE);
    manifest["ops"]["loops"]["limits"]["timeout_ms"] = json!(200);
    let mut stage = Setup::module(&manifest, (FILE, PROBE.to_vec()), routes()).start().await;
    let mut settings = SandboxSettings::default();
    settings.fuel = u64::MAX;
    stage.executor.sandbox = Sandbox::new(settings);
    let outcome = called(&stage, "loops").await;
    Provoked { stage, outcome }
}

pub(crate) async fn that_recurses() -> Provoked {
    run("recurses", routes()).await
}

pub(crate) async fn that_panics() -> Provoked {
    run("panics", routes()).await
}

pub(crate) async fn that_gives_text() -> Provoked {
    run("returns_text", routes()).await
}

pub(crate) async fn that_gives_an_error() -> Provoked {
    run("told", routes()).await
}

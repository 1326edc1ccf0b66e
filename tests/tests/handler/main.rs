//! Pinhole's MCP server as a client finds it: JSON-RPC on a pipe, a stand-in behind it, everything between for real.

mod client;
mod clients_word;
mod hostile;
mod lists;
mod pages;
mod reads;
mod research;
mod writes;

use pinhole_manifest::Access;
use pinhole_tests::{LocalStage, Setup, writable_thing, writable_things_routes};

use client::{Served, Told};

/// A made-up service, connected so that writes may be asked for.
async fn stage() -> LocalStage {
    stage_capped(Access::Write).await
}

/// The same with this cap.
async fn stage_capped(cap: Access) -> LocalStage {
    let stage = Setup::manifest(&writable_thing(), writable_things_routes()).start_local().await;
    stage.connect_with("thing", pinhole_tests::PASTED, "work", Some(cap)).await.unwrap();
    stage
}

async fn served() -> Served {
    Served::new(stage().await, Told::default())
}

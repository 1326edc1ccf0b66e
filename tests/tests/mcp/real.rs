//! The handler that `pinhole mcp` serves, with a connection of the stand-in's, behind the door that it serves it at.

use std::sync::Arc;

use pinhole_server::http::Sessions;
use pinhole_server::mcp::{ClientYes, Mcp, McpSettings, Offer};
use pinhole_tests::{LocalStage, Setup};
use rmcp::ServerHandler;

use crate::door::Door;

/// Opens the door with what `around` makes of the handler.
pub(crate) async fn behind_a_door<H: ServerHandler + Clone>(
    around: impl FnOnce(Mcp) -> H,
    sessions: Sessions,
) -> Door {
    let stage = Setup::github().start_local().await;
    stage.connect("github").await;
    let LocalStage { bot, member, store, clock, .. } = stage;
    let settings =
        McpSettings { offer: Offer::default(), yes: ClientYes::default(), page: Box::new(|| None) };
    let mcp = Mcp::new(bot, settings).expect("entropy");
    Door::open(around(mcp), store, &member, Arc::new(clock), sessions).await
}

//! scratch: until the handler is there
use crate::door::Door;
use pinhole_grant::{KeyKind, SecretKey};
use pinhole_runtime::store::SqliteStore;
use std::sync::Arc;
#[derive(Clone)]
pub(crate) struct Dummy;
impl rmcp::ServerHandler for Dummy {
    fn get_info(&self) -> rmcp::model::ServerConfig {
        let mut info =
            rmcp::model::ServerConfig::new(rmcp::model::ServerCapabilities::builder().enable_tools().build());
        info.server_info = rmcp::model::Implementation::new("pinhole", "1");
        info
    }
}
pub(crate) async fn behind_a_door<H: rmcp::ServerHandler + Clone>(around: impl FnOnce(Dummy) -> H) -> Door {
    let store = Arc::new(SqliteStore::in_memory().unwrap());
    let member = SecretKey::generate(KeyKind::Member, &mut rand::rng());
    Door::open(around(Dummy), store, &member).await
}

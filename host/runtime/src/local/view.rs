//! Looking whether a service still accepts the key of a stored connection, and whose it says it is.

use pinhole_grant::Account;

use super::{LocalBot, StoredCall, prove};
use crate::call::missing_refusal;
use crate::outcome::Refusal;
use crate::store::ConnectionRow;

/// Why nothing is known of a connection's key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The manifest names no op that would say.
    #[error("the manifest names no viewer")]
    NoViewer,
    /// The viewer was refused.
    #[error("the viewer was refused: {}", .0.message)]
    Refused(Box<Refusal>),
}

impl LocalBot {
    /// Runs the viewer of a connection's service on it, under the bot's stored grant like any other read. Returns whose
    /// account the service says it is, where it says so.
    pub async fn view(&self, connection: &ConnectionRow) -> Result<Option<Account>, ViewError> {
        let service = &connection.service;
        let entry = self.executor.catalog.look(service);
        let entry = entry.map_err(|missing| ViewError::Refused(Box::new(missing_refusal(missing))))?;
        let auth = entry.manifest.auth();
        let viewer = auth.viewer.clone().ok_or(ViewError::NoViewer)?;
        let call = StoredCall::new(service.clone(), viewer, "{}").on(connection.label.clone());
        let outcome = self.run(call).await;
        match outcome.refusal() {
            Some(refusal) => Err(ViewError::Refused(Box::new(refusal.clone()))),
            None => Ok(prove::account(&outcome, auth)),
        }
    }
}

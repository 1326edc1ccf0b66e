//! Giving a connection's tokens up at its service, before it is removed here.
//!
//! Refuses to show them to anybody but whom the connection was made with. INVARIANT: nothing is stored or removed here.
//! RFC 7009.

use pinhole_grant::{CredentialKind, CredentialParts, Renewer};

use super::{Present, Skipped, manifest_of};
use crate::net::Wire;
use crate::oauth::{Client, TokenEndpoint, TokenError, TokenKind};
use crate::store::{ConnectionRow, StoreError};

/// Why a connection's tokens were not given up, or not all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GiveUpError {
    /// It holds a key that a person made.
    #[error("the key was made by hand")]
    Key,
    /// Nobody here is a client of the service.
    #[error("only the client that connected it may give it up, and its secret is not here")]
    NoClient,
    /// It was connected by a broker.
    #[error("it was connected through a broker")]
    Broker,
    /// Its service has no manifest here, or it is not the one that it was connected under.
    #[error("the connection cannot be used as it is: {0}")]
    Stale(#[from] Skipped),
    /// The manifest names another token URL than the one that it was connected with.
    #[error("the manifest names another token URL than the one that it was connected with")]
    TokenUrlChanged,
    /// The service did not take it.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// What is stored could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Present<'_> {
    /// Gives up the refresh token of a connection, then its access token.
    pub async fn give_up(&self, row: &ConnectionRow, wire: &dyn Wire) -> Result<(), GiveUpError> {
        let credential = self.open(row)?;
        if credential.kind() != CredentialKind::Oauth {
            return Err(GiveUpError::Key);
        }
        let entry = manifest_of(self.catalog, &credential)?;
        let oauth = entry.manifest.auth().oauth.as_ref().ok_or(GiveUpError::TokenUrlChanged)?;
        if credential.token_url() != Some(&oauth.token_url) {
            return Err(GiveUpError::TokenUrlChanged);
        }
        let CredentialParts { secret, refresh, renewer, dial, .. } = credential.into_parts();
        let client = match renewer.map(|renewer| *renewer) {
            Some(Renewer::Client(id)) => Client::Public { id },
            Some(Renewer::Broker { .. }) => return Err(GiveUpError::Broker),
            None => return Err(GiveUpError::NoClient),
        };
        let endpoint = TokenEndpoint { wire, oauth, client: &client, dial, now: self.now };
        if let Some(refresh) = &refresh {
            endpoint.revoke(refresh, TokenKind::Refresh).await?;
        }
        match endpoint.revoke(&secret, TokenKind::Access).await {
            // What ends with the refresh token need not be known any more, and some servers take no other.
            Err(TokenError::Refused { .. } | TokenError::Dead { .. }) if refresh.is_some() => Ok(()),
            ended => Ok(ended?),
        }
    }
}

//! Whoever a credential names: a public client at the service's token URL, or a broker.

use pinhole_grant::Renewer;

use super::ask::{Ask, Asked, Asking, Fresh, Unanswered};
use crate::net::Sent;
use crate::oauth::{Client, FreshPair, TokenEndpoint, TokenError};
use crate::store::Carried;

/// Asks whom the credential names.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByRenewer;

impl Ask for ByRenewer {
    fn ask<'a>(&'a self, asked: Asked<'a>) -> Asking<'a> {
        Box::pin(async move {
            match asked.renewer {
                Renewer::Client(id) => {
                    let client = Client::Public { id: id.clone() };
                    let Asked { wire, oauth, dial, now, refresh, .. } = asked;
                    let endpoint = TokenEndpoint { wire, oauth, client: &client, dial, now };
                    endpoint.refresh(refresh).await.map(Fresh::from).map_err(Unanswered::from)
                }
                Renewer::Broker { .. } => {
                    let detail = "this host asks no broker".to_owned();
                    Err(Unanswered::Refused { detail })
                }
            }
        })
    }
}

impl From<FreshPair> for Fresh {
    fn from(pair: FreshPair) -> Self {
        let FreshPair { access, refresh, expires_at, obtained_at, scopes: _ } = pair;
        Self { access, refresh, obtained_at, expires_at }
    }
}

impl From<TokenError> for Unanswered {
    fn from(error: TokenError) -> Self {
        let detail = error.to_string();
        match error {
            TokenError::Dead { .. } => Self::Dead,
            TokenError::Unavailable { sent, retry_after, kind } => {
                // An answer that says to come back says that nothing was done. One that broke off says nothing.
                let answered = sent == Sent::Yes && kind.is_none();
                let carried = if answered || sent == Sent::No { Carried::Not } else { Carried::Perhaps };
                Self::Away { carried, retry_after: retry_after.map(|after| after.as_secs()), detail }
            }
            TokenError::TooMuch { .. } | TokenError::Unreadable { .. } => Self::Unreadable { detail },
            TokenError::Client { .. }
            | TokenError::Refused { .. }
            | TokenError::Dial
            | TokenError::NotOffered(_)
            | TokenError::PublicWithoutPkce => Self::Refused { detail },
        }
    }
}

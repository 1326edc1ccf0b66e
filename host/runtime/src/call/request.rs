//! What a caller asks for.

use pinhole_grant::{CallKey, PrincipalId};
use pinhole_manifest::{OpId, ServiceId};

/// What a caller asks for. Nothing in it is believed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CallRequest {
    /// The service.
    pub service: ServiceId,
    /// Its op.
    pub op: OpId,
    /// The args, as the text of one JSON object.
    pub args: String,
    /// The sealed grant.
    pub grant: Vec<u8>,
    /// The `next` of an earlier outcome of the same call, for the page behind it.
    pub next: Option<String>,
    /// On whose behalf, where the bot's host tells its callers apart; `None` is the host's own. A page belongs to whom it
    /// was given.
    pub principal: Option<PrincipalId>,
    /// What the caller names a write with, so that it is not carried out twice.
    pub key: Option<CallKey>,
    /// What a door keeps from the caller: it comes to what it would if that were not there.
    pub hides: Hides,
}

/// What of a call does not show for its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hides {
    /// All of it shows.
    #[default]
    Nothing,
    /// The service has no such op, as far as the caller is told.
    Op,
    /// There is no such service, as far as the caller is told.
    Service,
}

impl CallRequest {
    /// Asks for `service.op` with args as the text of one JSON object, under a sealed grant.
    pub fn new(service: ServiceId, op: OpId, args: impl Into<String>, grant: impl Into<Vec<u8>>) -> Self {
        let (args, grant, hides) = (args.into(), grant.into(), Hides::Nothing);
        Self { service, op, args, grant, next: None, principal: None, key: None, hides }
    }

    /// The same for the page that the `next` of an earlier outcome stands for.
    #[must_use]
    pub fn with_next(self, next: impl Into<String>) -> Self {
        Self { next: Some(next.into()), ..self }
    }

    /// The same under the caller's own key.
    #[must_use]
    pub fn with_key(self, key: CallKey) -> Self {
        Self { key: Some(key), ..self }
    }
}

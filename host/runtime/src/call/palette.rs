//! What a grant lets its bot read: for a door that offers a model exactly that.
//!
//! INVARIANT: it permits nothing. Whatever is called later goes the way of every call, with the grant, from its beginning.

use pinhole_grant::{Account, CredentialId, Label, OpenedGrant, UnixTime};
use pinhole_manifest::{Access, OpId, ServiceId};

use super::Executor;
use crate::outcome::{Code, Refusal};

/// The read ops that one grant covers now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Palette {
    /// The service that the grant is for.
    pub service: ServiceId,
    /// The connection that it is of.
    pub connection: CredentialId,
    /// What the member calls that.
    pub label: Label,
    /// Whose account it is.
    pub account: Account,
    /// Until when the grant is good.
    pub until: UnixTime,
    /// The ops, in order of their ids; at least one.
    pub ops: Vec<OpId>,
}

impl Executor {
    /// Opens a grant and says which read ops of its service it covers, by this host's manifest; of a grant that lets its bot
    /// write too, the reads. Sends, spends and notes nothing. Refuses what a call under it would be refused for, and
    /// a grant that covers no read.
    pub async fn palette(&self, grant: &[u8]) -> Result<Palette, Refusal> {
        let (grant, now) = self.opened(grant, |_grant| {}).await?;
        let said = grant.grant();
        let entry = self.manifest_of(said.service(), now)?;
        let (mut ops, mut refused) = (Vec::new(), None);
        for op in entry.manifest.ops().values().filter(|op| op.access == Access::Read) {
            match self.covered(OpenedGrant::check_op, &grant, entry, op) {
                Ok(()) => ops.push(op.id.clone()),
                Err(refusal) => refused = refused.or(Some(refusal)),
            }
        }
        if ops.is_empty() {
            return Err(refused.unwrap_or_else(|| Refusal::new(Code::OpOutOfScope)));
        }
        Ok(Palette {
            service: said.service().clone(),
            connection: said.connection(),
            label: said.credential().label().clone(),
            account: said.account().clone(),
            until: said.scope().expires_at,
            ops,
        })
    }
}

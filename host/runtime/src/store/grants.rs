//! Grants that bots on this host run under, sealed to the bot.
//!
//! INVARIANT: the sealed bytes are the truth. Whoever opens them holds the columns against them with [`GrantRow::check`].
//! DESIGN, "Who holds what".

use pinhole_grant::{Credential, CredentialId, Grant, GrantId, KeyId, MintRequest, SealedGrant, UnixTime};
use pinhole_manifest::{Access, ServiceId};

use super::{ConnectionRow, StoreError, Table};

/// A grant as it is stored. Not believed: the spine opens and checks the sealed bytes like any other grant's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantRow {
    /// The grant.
    pub id: GrantId,
    /// Who gave it.
    pub member: KeyId,
    /// Whom it is sealed to.
    pub bot: KeyId,
    /// The connection whose credential is in it.
    pub connection: CredentialId,
    /// The service.
    pub service: ServiceId,
    /// What it covers.
    pub access: Access,
    /// From when on it is refused.
    pub expires_at: UnixTime,
    /// The sealed grant.
    pub sealed: Vec<u8>,
}

impl GrantRow {
    /// The row of a grant that `member` has just minted.
    pub fn new(sealed: SealedGrant, request: &MintRequest, credential: &Credential, member: KeyId) -> Self {
        Self {
            id: sealed.id(),
            member,
            bot: request.bot.id(),
            connection: credential.id(),
            service: credential.service().clone(),
            access: request.scope.access,
            expires_at: request.scope.expires_at,
            sealed: sealed.into_bytes(),
        }
    }

    /// Holds the columns against the grant that was opened from `sealed`; [`StoreError::Tampered`] where they differ.
    pub fn check(&self, opened: &Grant) -> Result<(), StoreError> {
        let same = self.id == opened.id()
            && self.member == opened.issuer()
            && self.bot == opened.bot()
            && self.connection == opened.connection()
            && self.service == *opened.service()
            && self.access == opened.access()
            && self.expires_at == opened.scope().expires_at;
        if same { Ok(()) } else { Err(self.tampered()) }
    }

    /// The error for a row whose sealed bytes do not open.
    pub fn tampered(&self) -> StoreError {
        StoreError::Tampered { table: Table::Grants, id: self.id.to_string() }
    }
}

/// Which grants are asked for: all that are what each given member says.
#[derive(Debug, Clone, Default)]
pub struct GrantFilter {
    /// Those of this member.
    pub member: Option<KeyId>,
    /// Those that are sealed to this bot.
    pub bot: Option<KeyId>,
    /// Those for this service.
    pub service: Option<ServiceId>,
    /// Those of this connection.
    pub connection: Option<CredentialId>,
    /// Those of this access.
    pub access: Option<Access>,
}

/// Why a grant was not stored.
#[derive(Debug, thiserror::Error)]
pub enum GrantError {
    /// The member has no such connection (any more).
    #[error("there is no such connection")]
    NoConnection,
    /// There is a grant of this id.
    #[error("there is a grant of this id")]
    IdTaken,
    /// Somebody has changed the connection since it was looked at.
    #[error("the connection was changed by somebody else meanwhile")]
    Changed,
    /// The store failed; nothing was changed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Whether something was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// It is gone now.
    Removed,
    /// There was nothing.
    Absent,
}

/// The grants of the bots on a host. Calls block for as long as the disk takes; each change is whole or not there.
pub trait Grants: Send + Sync {
    /// Stores a grant. One for reads takes the place of the read grant that the same bot had of the same connection, which
    /// is not revoked: who is running under it may go on until it expires.
    fn put_grant(&self, row: &GrantRow) -> Result<(), GrantError>;

    /// Stores a read grant of a connection as it was looked at; [`GrantError::Changed`] where it was changed since.
    fn renew_grant(&self, row: &GrantRow, of: &ConnectionRow) -> Result<(), GrantError>;

    /// The grants that the filter asks for, expired and revoked ones too; the one that expires last comes first.
    fn grants(&self, filter: &GrantFilter) -> Result<Vec<GrantRow>, StoreError>;

    /// Forgets a stored grant without revoking it.
    fn remove_grant(&self, member: KeyId, id: GrantId) -> Result<Removal, StoreError>;

    /// Revokes a stored grant for good and forgets it, in one step.
    fn revoke_grant(&self, member: KeyId, id: GrantId) -> Result<Removal, StoreError>;
}

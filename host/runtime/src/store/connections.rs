//! Connections: sealed credentials, and the columns by which they are listed.
//!
//! INVARIANT: the sealed bytes are the truth. Whoever opens them holds the columns against them with
//! [`ConnectionRow::check`] before anything else is done with either. DESIGN, "Doors": State; "Words": connection.

use pinhole_grant::{Account, Credential, CredentialId, Dial, GrantId, KeyId, Label, UnixTime};
use pinhole_manifest::{Access, ApiHost, ServiceId};

use super::{GrantRow, StoreError, Table};

/// A connection as it is stored. Not believed until [`ConnectionRow::check`] has compared it with what it seals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionRow {
    /// The credential's id, which is the connection's.
    pub id: CredentialId,
    /// Whose it is.
    pub member: KeyId,
    /// The service.
    pub service: ServiceId,
    /// What the member calls it: one of each name for a member and service.
    pub label: Label,
    /// The account that it opens.
    pub account: Account,
    /// The host that it is for.
    pub host: ApiHost,
    /// The most access that it may ever grant.
    pub cap: Access,
    /// What it was proved against.
    pub dial: Dial,
    /// Which of its credential's pairs this is, from 0.
    pub generation: u64,
    /// When it was first made.
    pub created_at: UnixTime,
    /// The sealed credential.
    pub sealed: Vec<u8>,
}

impl ConnectionRow {
    /// The row of a credential that is sealed in `sealed` by and to `member`.
    pub fn new(credential: &Credential, member: KeyId, created_at: UnixTime, sealed: Vec<u8>) -> Self {
        Self {
            id: credential.id(),
            member,
            service: credential.service().clone(),
            label: credential.label().clone(),
            account: credential.account().clone(),
            host: credential.host().clone(),
            cap: credential.cap(),
            dial: credential.dial(),
            generation: credential.generation(),
            created_at,
            sealed,
        }
    }

    /// Holds the columns against the credential that was opened from `sealed`; [`StoreError::Tampered`] where they differ.
    pub fn check(&self, opened: &Credential) -> Result<(), StoreError> {
        let same = self.id == opened.id()
            && self.service == *opened.service()
            && self.label == *opened.label()
            && self.account == *opened.account()
            && self.host == *opened.host()
            && self.cap == opened.cap()
            && self.dial == opened.dial()
            && self.generation == opened.generation();
        if same { Ok(()) } else { Err(self.tampered()) }
    }

    /// The error for a row whose sealed bytes do not open.
    pub fn tampered(&self) -> StoreError {
        StoreError::Tampered { table: Table::Connections, id: self.id.to_string() }
    }
}

/// Why a connection was not stored.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    /// The member has a connection of this name to this service.
    #[error("there is a connection of this label to this service")]
    LabelTaken,
    /// There is a connection of this id.
    #[error("there is a connection of this id")]
    IdTaken,
    /// The member has no connection of this id to this service.
    #[error("there is no such connection")]
    Absent,
    /// What is stored is as new or newer.
    #[error("the stored credential is of generation {stored}, which is not older")]
    NotNewer {
        /// The generation that is stored.
        stored: u64,
    },
    /// Somebody has changed it since it was looked at.
    #[error("the connection was changed by somebody else meanwhile")]
    Changed,
    /// The grant that was to be stored with it is not of this connection, or its id is taken.
    #[error("the grant is not one of this connection")]
    Grant,
    /// The store failed; nothing was changed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The connections of a host. Calls block for as long as the disk takes; each change is whole or not there.
pub trait Connections: Send + Sync {
    /// Stores a new connection.
    fn insert_connection(&self, row: &ConnectionRow) -> Result<(), ConnectionError>;

    /// Puts a newer generation of the same credential in the place of the stored one: label, account, host, dial, cap and
    /// sealed bytes are the new row's; when it was made stays.
    fn replace_connection(&self, row: &ConnectionRow) -> Result<(), ConnectionError>;

    /// Stores a connection that was just proved together with the local bot's read grant of it, in one step. A newer
    /// generation whose cap is read ends what [`Connections::set_cap`] ends.
    ///
    /// `over` is the row whose place it takes, as it was looked at: of the same id, or of one that then ends as if it were
    /// removed. Without it the connection is a new one.
    fn keep_connection(
        &self,
        row: &ConnectionRow,
        grant: &GrantRow,
        over: Option<&ConnectionRow>,
    ) -> Result<(), ConnectionError>;

    /// Stores another cap, with the credential sealed anew under it, together with the local bot's read grant, in one step,
    /// in the place of the row that was looked at. A cap that is read again ends what it no longer covers: stored write grants
    /// and approvals that were not used yet are revoked, open questions denied.
    fn set_cap(
        &self,
        row: &ConnectionRow,
        grant: &GrantRow,
        over: &ConnectionRow,
    ) -> Result<(), ConnectionError>;

    /// All of a member's, by service and label.
    fn connections(&self, member: KeyId) -> Result<Vec<ConnectionRow>, StoreError>;

    /// The one of this id.
    fn connection(&self, member: KeyId, id: CredentialId) -> Result<Option<ConnectionRow>, StoreError>;

    /// The one of this label.
    fn connection_named(
        &self,
        member: KeyId,
        service: &ServiceId,
        label: &Label,
    ) -> Result<Option<ConnectionRow>, StoreError>;

    /// Forgets a connection: its stored grants are revoked and removed, its open questions denied, approvals that were not
    /// used yet revoked. Returns the grants that this ends.
    fn remove_connection(&self, member: KeyId, id: CredentialId) -> Result<Vec<GrantId>, ConnectionError>;
}

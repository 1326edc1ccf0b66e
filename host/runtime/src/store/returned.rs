//! Pairs that a bot on this host has renewed and the member has not taken in yet: sealed to her, the newest of each
//! connection.
//!
//! INVARIANT: an older pair never takes the place of a newer one. Nothing here is believed: what is sealed says what it is.

use pinhole_grant::{CredentialId, KeyId};

use super::StoreError;

/// A pair on its way back to its member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReturnedRow {
    /// Whose it is.
    pub member: KeyId,
    /// The connection.
    pub connection: CredentialId,
    /// Its generation.
    pub generation: u64,
    /// The pair, sealed to the member and signed by the bot.
    pub sealed: Vec<u8>,
}

/// What waits for the members of a host. Calls block for as long as the disk takes.
pub trait Returns: Send + Sync {
    /// Keeps a pair until its member takes it in, in the place of an older one of the same connection. Durable.
    fn put_returned(&self, row: &ReturnedRow) -> Result<(), StoreError>;

    /// What waits for a member.
    fn returned(&self, member: KeyId) -> Result<Vec<ReturnedRow>, StoreError>;

    /// Forgets the pair of a connection that is of this generation or an older one.
    fn drop_returned(&self, member: KeyId, connection: CredentialId, upto: u64) -> Result<(), StoreError>;
}

//! Rows whose id is none: nothing but tampering leaves one, and none of the usual ways leads to it.

use pinhole_grant::KeyId;

use super::{Removal, StoreError, Table};

/// Forgetting what was tampered with. Calls block.
pub trait Unreadable: Send + Sync {
    /// Forgets a connection, a question or a token whose id, as the row has it, is none. Nothing whose id is one is touched; it
    /// has ways of its own.
    fn forget_unreadable(&self, table: Table, member: KeyId, id: &str) -> Result<Removal, StoreError>;
}

//! Keeping a key that was proved, as a connection.
//!
//! Refuses to let another account take a connection's place without a word. INVARIANT: what is stored anew takes the place
//! of what was looked at, and comes together with the bot's read grant of it.

use pinhole_grant::{
    Account, Credential, CredentialError, CredentialId, CredentialParts, Label, SealCredentialError, UnixTime,
};
use pinhole_manifest::Access;

use super::member::ReadGrantError;
use super::prove::Proved;
use super::{Present, UNNAMED_ACCOUNT};
use crate::entropy::{self, EntropyError};
use crate::store::{ConnectionError, ConnectionRow, StoreError};

/// How a connection is to be kept.
#[derive(Debug, Clone)]
pub struct Keep {
    /// What she calls it.
    pub label: Label,
    /// The most that it may ever grant; `None` is what a connection of that label has already, else reads.
    pub cap: Option<Access>,
    /// Whether one of that label for another account goes.
    pub other_account: OtherAccount,
}

/// What becomes of a connection whose label is wanted for another account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherAccount {
    /// It stays.
    Stays,
    /// It is removed, as if by hand.
    Goes,
}

/// A connection that was kept.
#[derive(Debug)]
#[non_exhaustive]
pub struct Kept {
    /// The connection.
    pub connection: ConnectionRow,
    /// Where.
    pub place: Place,
    /// Until when the local bot may read.
    pub reads_until: UnixTime,
}

/// Where a connection that was just proved is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It is a new one.
    New,
    /// It is a newer generation of the one that is there.
    Newer,
    /// It takes the place of another, which ended as if it were removed.
    InsteadOf(CredentialId),
}

/// Why a connection was not kept. Nothing has changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeepError {
    /// The label belongs to a connection of another account, or one of the two is not known.
    #[error("`{label}` is a connection of `{stored}`, and this key is of `{found}`")]
    OtherAccount {
        /// The label.
        label: Label,
        /// Whose account the stored one opens.
        stored: Account,
        /// Whose account the new key opens.
        found: Account,
    },
    /// The store has no place for it.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// What is stored could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The credential could not be made.
    #[error(transparent)]
    Credential(#[from] CredentialError),
    /// It could not be sealed.
    #[error(transparent)]
    Seal(#[from] SealCredentialError),
    /// The bot's read grant could not be made.
    #[error(transparent)]
    ReadGrant(#[from] ReadGrantError),
    /// There is no randomness.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
}

impl Present<'_> {
    /// Keeps a key that was proved, as a connection of its label, together with the local bot's read grant. A key of the
    /// same account takes the old one's place; its cap stays unless another is asked for.
    pub fn keep(&self, proved: Proved, keep: Keep) -> Result<Kept, KeepError> {
        let named = proved.account().is_some();
        let parts = proved.parts;
        let service = parts.service.clone();
        let Keep { label, cap, other_account } = keep;
        let stored = self.desk.connection_named(self.member(), &service, &label)?;
        let (credential, place, created_at) = match &stored {
            None => {
                let cap = cap.unwrap_or(Access::Read);
                (Credential::new(CredentialParts { label, cap, ..parts })?, Place::New, self.now)
            }
            Some(row) => {
                let old = self.open(row)?;
                // Two that the service does not name may be two.
                if named && *old.account() == parts.account && old.account().as_str() != UNNAMED_ACCOUNT {
                    let cap = cap.unwrap_or(old.cap());
                    let credential = old.reconnected(CredentialParts { label, cap, ..parts })?;
                    (credential, Place::Newer, row.created_at)
                } else if other_account == OtherAccount::Goes {
                    let cap = cap.unwrap_or(Access::Read);
                    let credential = Credential::new(CredentialParts { label, cap, ..parts })?;
                    (credential, Place::InsteadOf(row.id), self.now)
                } else {
                    let (stored, found) = (row.account.clone(), parts.account);
                    return Err(KeepError::OtherAccount { label, stored, found });
                }
            }
        };
        let mut rng = entropy::seeded(self.entropy)?;
        let sealed = pinhole_grant::seal_credential(&credential, self.key, &mut rng)?;
        let connection = ConnectionRow::new(&credential, self.member(), created_at, sealed);
        // Proved a moment ago under this very manifest.
        let entry = self.catalog.find(&service).ok_or(ConnectionError::Grant)?;
        let grant = self.read_grant(&credential, entry)?;
        self.desk.keep_connection(&connection, &grant, stored.as_ref())?;
        Ok(Kept { connection, place, reads_until: grant.expires_at })
    }
}

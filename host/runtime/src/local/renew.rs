//! What a connection may be used for, and for how long the local bot may read on it.
//!
//! INVARIANT: a read grant is stored only for the connection as it was looked at.

use pinhole_grant::{SealCredentialError, UnixTime};
use pinhole_manifest::Access;

use super::member::ReadGrantError;
use super::{Present, Skipped, TakeInError, manifest_of};
use crate::entropy::{self, EntropyError};
use crate::store::{ConnectionError, ConnectionRow, GrantError, StoreError};

/// Why a cap was not changed. Nothing has changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CapError {
    /// Its service has no manifest here, or it is not the one that it was connected under.
    #[error("the connection cannot be used as it is: {0}")]
    Stale(Skipped),
    /// The store did not take it.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// What is stored could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
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

/// What came of the renewal of one connection's read grant.
#[derive(Debug)]
#[non_exhaustive]
pub struct Renewal {
    /// The connection.
    pub connection: ConnectionRow,
    /// Until when the local bot may read now, or why nothing was renewed.
    pub reads_until: Result<UnixTime, Skipped>,
}

/// Why no read grant was renewed any further.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenewError {
    /// What is stored could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store did not take a grant.
    #[error(transparent)]
    Grant(#[from] GrantError),
    /// A grant could not be made.
    #[error(transparent)]
    ReadGrant(#[from] ReadGrantError),
    /// A pair that waits for her could not be taken in.
    #[error(transparent)]
    TakeIn(#[from] TakeInError),
}

impl Present<'_> {
    /// Gives a connection another cap. One that is `read` again ends approvals that were not used and questions that wait.
    pub fn set_cap(&self, row: &ConnectionRow, cap: Access) -> Result<ConnectionRow, CapError> {
        let credential = self.open(row)?;
        let entry = manifest_of(self.catalog, &credential).map_err(CapError::Stale)?;
        let credential = credential.with_cap(cap);
        let mut rng = entropy::seeded(self.entropy)?;
        let sealed = pinhole_grant::seal_credential(&credential, self.key, &mut rng)?;
        let capped = ConnectionRow::new(&credential, self.member(), row.created_at, sealed);
        let grant = self.read_grant(&credential, entry)?;
        self.desk.set_cap(&capped, &grant, row)?;
        Ok(capped)
    }

    /// Takes in the pairs that wait for her, then renews the local bot's read grant of every connection of hers; one that
    /// cannot be renewed keeps none from it.
    pub fn renew(&self) -> Result<Vec<Renewal>, RenewError> {
        self.take_in()?;
        let mut renewals = Vec::new();
        for connection in self.desk.connections(self.member())? {
            renewals.extend(self.renew_one(connection)?);
        }
        Ok(renewals)
    }

    /// Nothing comes of one that was removed meanwhile; one that was changed is looked at again.
    fn renew_one(&self, mut connection: ConnectionRow) -> Result<Option<Renewal>, RenewError> {
        loop {
            match self.renewed(&connection) {
                Err(RenewError::Grant(GrantError::Changed)) => {
                    let again = self.desk.connection(self.member(), connection.id)?;
                    match again.filter(|again| *again != connection) {
                        None => return Ok(None),
                        Some(again) => connection = again,
                    }
                }
                Err(error) => return Err(error),
                Ok(reads_until) => return Ok(Some(Renewal { connection, reads_until })),
            }
        }
    }

    fn renewed(&self, row: &ConnectionRow) -> Result<Result<UnixTime, Skipped>, RenewError> {
        let credential = match self.open(row) {
            Ok(credential) => credential,
            Err(StoreError::Tampered { .. }) => return Ok(Err(Skipped::Tampered)),
            Err(error) => return Err(error.into()),
        };
        let entry = match manifest_of(self.catalog, &credential) {
            Ok(entry) => entry,
            Err(skipped) => return Ok(Err(skipped)),
        };
        let grant = self.read_grant(&credential, entry)?;
        self.desk.renew_grant(&grant, row)?;
        Ok(Ok(grant.expires_at))
    }
}

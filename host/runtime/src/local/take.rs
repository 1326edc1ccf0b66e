//! Pairs that come back to the member: those that her bot here has renewed, and those of a bot elsewhere.
//!
//! Refuses what is not newer than what she has, and what no bot of hers has signed. INVARIANT: of a pair that comes back only
//! the pair is taken, never host, account or cap; and it takes the place of the connection as it was looked at.

use pinhole_grant::{Credential, OpenReturnedError, PublicKey, SealCredentialError};

use super::member::ReadGrantError;
use super::{LocalBot, Present, manifest_of};
use crate::entropy::{self, EntropyError};
use crate::outcome::{Outcome, Refusal};
use crate::store::{ConnectionError, ConnectionRow, ReturnedRow, StoreError};

/// How often a connection that somebody changes meanwhile is looked at anew.
const LOOKS_MAX: u32 = 3;

/// Why a pair was not taken in. Nothing has changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TakeInError {
    /// It is none of her connections', or none that may be taken.
    #[error(transparent)]
    Pair(#[from] OpenReturnedError),
    /// She has no connection that it could belong to.
    #[error("nothing is connected that the pair could belong to")]
    Nothing,
    /// What is stored could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store did not take it.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
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
    /// Takes in what her bot here has renewed since she was last there: her stored credentials follow, and the bot's read
    /// grants of them. What is stale or not hers is dropped. Returns the connections that changed.
    pub fn take_in(&self) -> Result<Vec<ConnectionRow>, TakeInError> {
        let mut taken = Vec::new();
        let bots: Vec<PublicKey> = self.bots().cloned().collect();
        for waiting in self.desk.returned(self.member())? {
            let row = self.desk.connection(self.member(), waiting.connection)?;
            match row.map(|row| self.take_for(row, &waiting.sealed, &bots)) {
                Some(Ok(row)) => taken.push(row),
                // Older than what she has, of a connection that is gone, or nothing of her bot's.
                Some(Err(TakeInError::Pair(_))) | None => {}
                // What was tampered with is said where it is looked at; the pair waits.
                Some(Err(TakeInError::Store(StoreError::Tampered { .. }))) => continue,
                Some(Err(error)) => return Err(error),
            }
            self.desk.drop_returned(self.member(), waiting.connection, waiting.generation)?;
        }
        Ok(taken)
    }

    /// Takes in a pair that one of these bots has renewed, for whichever connection of hers it is.
    pub fn take(&self, envelope: &[u8], bots: &[PublicKey]) -> Result<ConnectionRow, TakeInError> {
        let mut refused = TakeInError::Nothing;
        for row in self.desk.connections(self.member())? {
            match self.take_for(row, envelope, bots) {
                Err(error @ TakeInError::Pair(OpenReturnedError::WrongCredential)) => refused = error,
                done => return done,
            }
        }
        Err(refused)
    }

    /// Puts a pair into this connection. One that somebody changed meanwhile is looked at again.
    fn take_for(
        &self,
        mut row: ConnectionRow,
        envelope: &[u8],
        bots: &[PublicKey],
    ) -> Result<ConnectionRow, TakeInError> {
        let mut looks = 1;
        loop {
            let stored = self.open(&row)?;
            let credential = pinhole_grant::open_returned(envelope, self.key, bots, &stored)?;
            match self.put(&credential, &row) {
                Err(TakeInError::Connection(ConnectionError::Changed)) if looks < LOOKS_MAX => {
                    looks += 1;
                    let again = self.desk.connection(self.member(), row.id)?;
                    row = again.ok_or(TakeInError::Connection(ConnectionError::Absent))?;
                }
                done => return done,
            }
        }
    }

    fn put(&self, credential: &Credential, over: &ConnectionRow) -> Result<ConnectionRow, TakeInError> {
        let mut rng = entropy::seeded(self.entropy)?;
        let sealed = pinhole_grant::seal_credential(credential, self.key, &mut rng)?;
        let row = ConnectionRow::new(credential, self.member(), over.created_at, sealed);
        match manifest_of(self.catalog, credential) {
            Ok(entry) => {
                let grant = self.read_grant(credential, entry)?;
                self.desk.keep_connection(&row, &grant, Some(over))?;
            }
            // Without a manifest there is nothing that the bot could read.
            Err(_skipped) => self.desk.replace_connection(&row)?,
        }
        Ok(row)
    }
}

impl LocalBot {
    /// Keeps the pair that an outcome hands back until the member is there, who is the one of this host; the outcome then has
    /// none. Where it cannot be kept it stays in the outcome.
    pub async fn keeps_returned(&self, mut outcome: Outcome) -> Outcome {
        let Some(rotated) = &outcome.rotated else { return outcome };
        let row = ReturnedRow {
            member: self.member,
            connection: rotated.connection(),
            generation: rotated.generation(),
            sealed: rotated.to_bytes(),
        };
        let kept = self.with_desk(move |desk| desk.put_returned(&row)).await;
        match kept.and_then(|kept| kept.map_err(Refusal::from)) {
            Ok(()) => outcome.rotated = None,
            Err(refusal) => tracing::warn!(
                detail = refusal.private_detail().unwrap_or_default(),
                "a renewed pair could not be kept for its member"
            ),
        }
        outcome
    }
}

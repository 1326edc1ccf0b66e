//! A store in memory that has no room for one thing.

use std::num::NonZeroU32;
use std::time::Duration;

use pinhole_grant::{CredentialId, GrantId, KeyId, KeyedDigest, UnixTime};
use pinhole_runtime::receipts::{Facts, Note, NoteId, Stored};
use pinhole_runtime::store::{
    Appended, CheckpointRow, Claim, Claiming, Fate, Held, Kept, LockError, LockName, Locks, MemoryStore,
    ReceiptFilter, Receipts, Settled, SpendError, Store, StoreError, Use,
};

/// What there is no room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRoomFor {
    /// The note that a run begins, and the use that it takes.
    Notes,
    /// Receipts.
    Receipts,
}

/// The store.
#[derive(Debug)]
pub struct Full {
    store: MemoryStore,
    no_room: NoRoomFor,
}

impl Full {
    /// A store without room for this.
    pub fn of(no_room: NoRoomFor) -> Self {
        Self { store: MemoryStore::default(), no_room }
    }

    fn room_for(&self, what: NoRoomFor) -> Result<(), StoreError> {
        if self.no_room == what {
            return Err(StoreError::Full { path: "pinhole.db".into(), source: None });
        }
        Ok(())
    }
}

macro_rules! as_the_store_does {
    ($($name:ident($($arg:ident: $kind:ty),*) -> $answer:ty;)*) => {$(
        fn $name(&self, $($arg: $kind),*) -> $answer {
            self.store.$name($($arg),*)
        }
    )*};
}

impl Store for Full {
    as_the_store_does! {
        has_use_left(grant: &GrantId, allowed: NonZeroU32) -> Result<bool, StoreError>;
        revoke(grant: &GrantId) -> Result<(), StoreError>;
        is_revoked(grant: &GrantId) -> Result<bool, StoreError>;
        has_ended(connection: &CredentialId) -> Result<bool, StoreError>;
        high_water(now: UnixTime) -> Result<UnixTime, StoreError>;
    }

    fn spend(&self, grant: &GrantId, allowed: NonZeroU32) -> Result<(), SpendError> {
        self.room_for(NoRoomFor::Notes)?;
        self.store.spend(grant, allowed)
    }
}

impl Locks for Full {
    as_the_store_does! {
        hold(what: &LockName, patience: Duration) -> Result<Held, LockError>;
    }
}

impl Kept for Full {
    as_the_store_does! {
        claim(claiming: &Claiming) -> Result<Claim, StoreError>;
        kept(claiming: &Claiming) -> Result<Option<Claim>, StoreError>;
        ended(id: KeyedDigest, fate: Fate<'_>) -> Result<(), StoreError>;
    }
}

impl Receipts for Full {
    as_the_store_does! {
        append_unended(facts: &Facts, note: NoteId) -> Result<Option<Appended>, StoreError>;
        notes(bot: KeyId, most: usize) -> Result<Vec<Note>, StoreError>;
        keep_checkpoint(row: &CheckpointRow) -> Result<(), StoreError>;
        checkpoints(bot: KeyId) -> Result<Vec<CheckpointRow>, StoreError>;
        receipts_from(bot: KeyId, seq: u64, most: usize) -> Result<Vec<Stored>, StoreError>;
        last_receipts(bot: KeyId, filter: &ReceiptFilter, most: usize) -> Result<Vec<Stored>, StoreError>;
        prune_receipts(anchor: &CheckpointRow) -> Result<u64, StoreError>;
    }

    fn begin(&self, note: &Note, spends: Option<Use>, settled: Settled) -> Result<(), SpendError> {
        self.room_for(NoRoomFor::Notes)?;
        self.store.begin(note, spends, settled)
    }

    fn append(&self, facts: &Facts, note: Option<NoteId>, settled: Settled) -> Result<Appended, StoreError> {
        self.room_for(NoRoomFor::Receipts)?;
        self.store.append(facts, note, settled)
    }
}

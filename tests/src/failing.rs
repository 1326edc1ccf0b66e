//! A store that has no room for one thing, or lets receipts fall.

use std::num::NonZeroU32;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pinhole_grant::{CredentialId, GrantId, KeyId, KeyedDigest, PairDigest, UnixTime};
use pinhole_runtime::receipts::{Facts, Note, NoteId, Stored};
use pinhole_runtime::store::{
    Appended, CheckpointRow, Claim, Claiming, Fate, Held, Kept, Line, LineError, LockError, LockName, Locks,
    MemoryStore, ReceiptFilter, Receipts, Renewals, Settled, SpendError, Store, StoreError, Use,
};

/// What there is no room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRoomFor {
    /// The note that a run begins, and the use that it takes.
    Notes,
    /// Receipts.
    Receipts,
    /// Neither notes nor receipts, and says nothing of it: what a run costs without them.
    EitherSilently,
}

/// The store.
pub struct Full {
    store: Arc<dyn Store>,
    no_room: NoRoomFor,
    /// What is said of a receipt that is let fall.
    fallen: OnceLock<Appended>,
}

impl std::fmt::Debug for Full {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Full").field(&self.no_room).finish()
    }
}

impl Full {
    /// A store without room for this.
    pub fn of(no_room: NoRoomFor) -> Self {
        Self::over(Arc::new(MemoryStore::default()), no_room)
    }

    /// The same over another store.
    pub fn over(store: Arc<dyn Store>, no_room: NoRoomFor) -> Self {
        Self { store, no_room, fallen: OnceLock::new() }
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

impl Renewals for Full {
    as_the_store_does! {
        line(pair: &PairDigest) -> Result<Option<Line>, StoreError>;
        lines(member: KeyId) -> Result<Vec<Line>, StoreError>;
    }

    fn begin_line(&self, line: &Line) -> Result<Line, StoreError> {
        self.room_for(NoRoomFor::Notes)?;
        self.store.begin_line(line)
    }

    fn change_line(&self, from: &Line, to: &Line) -> Result<(), LineError> {
        self.room_for(NoRoomFor::Notes)?;
        self.store.change_line(from, to)
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
        match (self.no_room, spends) {
            (NoRoomFor::EitherSilently, Some(Use { grant, allowed })) => self.store.spend(&grant, allowed),
            (NoRoomFor::EitherSilently, None) => Ok(()),
            _ => self.store.begin(note, spends, settled),
        }
    }

    fn append(&self, facts: &Facts, note: Option<NoteId>, settled: Settled) -> Result<Appended, StoreError> {
        self.room_for(NoRoomFor::Receipts)?;
        if self.no_room != NoRoomFor::EitherSilently {
            return self.store.append(facts, note, settled);
        }
        match self.fallen.get() {
            Some(fallen) => Ok(*fallen),
            None => {
                let appended = self.store.append(facts, note, settled)?;
                Ok(*self.fallen.get_or_init(|| appended))
            }
        }
    }
}

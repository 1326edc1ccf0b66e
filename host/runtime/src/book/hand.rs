//! Which processes of a bot are there, and what becomes of the runs of those that are not.
//!
//! Each holds the lock of a place of its own for as long as it lives; the lock ends with it, however it ends. INVARIANT: a note
//! becomes a receipt without its run only while the lock of its process's place is held by somebody else than that process.

use std::time::Duration;

use pinhole_grant::KeyId;

use crate::receipts::{Note, ProcessId, Unended};
use crate::store::{Held, LockError, LockName, Store, StoreError};

/// Most processes of a bot at once.
const PLACES_MAX: u64 = 4_096;
/// Most notes that one process clears away when it begins.
const NOTES_AT_ONCE: usize = 1_000;

/// A process among those of its bot. Dropped, it is gone.
#[derive(Debug)]
pub(crate) struct Hand {
    process: ProcessId,
    _place: Held,
}

impl Hand {
    /// Takes a place that nobody has, and gives the runs of processes that are gone their receipts.
    pub(super) fn enter(store: &dyn Store, bot: KeyId, random: [u8; 8]) -> Result<Self, StoreError> {
        for place in 0..PLACES_MAX {
            let Some(held) = held(store, bot, place)? else { continue };
            let hand = Self { process: ProcessId::at(place, random), _place: held };
            clear_away(store, bot, Some(hand.process));
            return Ok(hand);
        }
        let source = format!("{PLACES_MAX} processes of one bot are there").into();
        Err(StoreError::Failed { doing: "take in another process", source })
    }

    /// What its notes name.
    pub(super) fn process(&self) -> ProcessId {
        self.process
    }
}

/// Gives the runs of this key's processes that are gone their receipts; `own` is the process that does it, where it is one of
/// them. A fault is for the log: the next process tries again.
pub(super) fn clear_away(store: &dyn Store, bot: KeyId, own: Option<ProcessId>) {
    if let Err(error) = cleared_away(store, bot, own) {
        tracing::warn!(%error, "runs of a process that is gone have no receipts yet; their notes stay");
    }
}

fn cleared_away(store: &dyn Store, bot: KeyId, own: Option<ProcessId>) -> Result<(), StoreError> {
    let mut others: Vec<Note> = store.notes(bot, NOTES_AT_ONCE)?;
    others.retain(|note| Some(note.process) != own);
    others.sort_by_key(|note| note.process.place());
    for of_place in others.chunk_by(|one, other| one.process.place() == other.process.place()) {
        let place = of_place.first().map_or(0, |note| note.process.place());
        // Whoever had this one's own place before is gone.
        let _free = if own.is_some_and(|own| own.place() == place) {
            None
        } else {
            match held(store, bot, place)? {
                Some(held) => Some(held),
                None => continue,
            }
        };
        for note in of_place {
            store.append_unended(&note.facts.clone().unended(Unended::Lost), note.id)?;
        }
    }
    Ok(())
}

/// The lock of a place; `None` where somebody has it.
fn held(store: &dyn Store, bot: KeyId, place: u64) -> Result<Option<Held>, StoreError> {
    let name = LockName::new("receipts", &[&bot.to_string(), &place.to_string()]);
    match store.hold(&name, Duration::ZERO) {
        Ok(held) => Ok(Some(held)),
        Err(LockError::Busy { .. }) => Ok(None),
        Err(LockError::Store(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests;

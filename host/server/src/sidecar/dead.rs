//! Grants that were found revoked: whoever posts one again is nobody, and takes no turn of hers who gave it.
//!
//! A grant whose time is over is known by itself; that one was revoked only the store says, which is not asked before a call has
//! its turn. INVARIANT: so many are remembered, and no more; one that is forgotten is found again at its next call.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pinhole_manifest::Digest;

/// How many are remembered: the last ones.
const REMEMBERED_MAX: usize = 4_096;

/// The last grants that were found revoked.
#[derive(Debug, Default)]
pub(super) struct Dead(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    all: HashSet<Digest>,
    order: VecDeque<Digest>,
}

impl Dead {
    /// This one was found revoked, which it stays.
    pub(super) fn found(&self, grant: Digest) {
        let mut remembered = self.held();
        if !remembered.all.insert(grant) {
            return;
        }
        remembered.order.push_back(grant);
        if remembered.order.len() > REMEMBERED_MAX
            && let Some(first) = remembered.order.pop_front()
        {
            remembered.all.remove(&first);
        }
    }

    /// Whether it is among them.
    pub(super) fn has(&self, grant: Digest) -> bool {
        self.held().all.contains(&grant)
    }

    /// What a thread left behind when it panicked is no worse than a grant that is forgotten.
    fn held(&self) -> MutexGuard<'_, Remembered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_that_were_found_are_remembered_and_no_more() {
        let dead = Dead::default();
        let grant = |number: usize| Digest::of(number.to_string().as_bytes());
        for number in 0..=REMEMBERED_MAX {
            dead.found(grant(number));
            dead.found(grant(number));
        }
        assert!(!dead.has(grant(0)));
        assert!((1..=REMEMBERED_MAX).all(|number| dead.has(grant(number))));
        let held = dead.held();
        assert_eq!((held.all.len(), held.order.len()), (REMEMBERED_MAX, REMEMBERED_MAX));
    }
}

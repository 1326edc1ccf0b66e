//! Which of the calls for which there was no room leave a receipt: of each member and service the first in a minute.
//!
//! All others are only counted: whoever floods this door must not flood the receipts. INVARIANT: in a minute there are at most as
//! many as there are members and services, and one more of each; so many entries are kept, and no more.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::queue::{Asker, Lane};

/// For how long the others leave none.
const EVERY: Duration = Duration::from_mins(1);

/// When each last left one.
#[derive(Debug, Default)]
pub(super) struct TurnedAway(Mutex<HashMap<(Asker, Lane), Instant>>);

impl TurnedAway {
    /// Whether this one leaves a receipt.
    pub(super) fn leaves_a_receipt(&self, asker: Asker, lane: Lane, now: Instant) -> bool {
        // Each change is one step, so what a thread left behind when it panicked is whole.
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due =
            last.get(&(asker, lane.clone())).is_none_or(|at| now.saturating_duration_since(*at) >= EVERY);
        if is_due {
            last.insert((asker, lane), now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use pinhole_grant::{KeyKind, SecretKey};
    use pinhole_manifest::ServiceId;
    use rand::SeedableRng as _;
    use rand::rngs::StdRng;

    use super::*;

    #[test]
    fn of_each_member_and_service_the_first_in_a_minute_leaves_one() {
        let (all, now) = (TurnedAway::default(), Instant::now());
        let id = |seed| SecretKey::generate(KeyKind::Bot, &mut StdRng::seed_from_u64(seed)).public().id();
        let lanes = ["github", "stripe"].map(|name| ServiceId::parse(name).ok());
        for seconds in [0, 60, 120] {
            for asker in [None, Some(id(1)), Some(id(2))] {
                for lane in &lanes {
                    let due = |at| all.leaves_a_receipt(asker, lane.clone(), now + Duration::from_secs(at));
                    let due = [seconds, seconds, seconds + 59].map(due);
                    assert_eq!(due, [true, false, false], "{seconds} {asker:?} {lane:?}");
                }
            }
        }
    }
}

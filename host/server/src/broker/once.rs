//! Which asks were there already: each is good once.
//!
//! An ask names its time and is good for a minute around it, so what it is known by is kept until then and no longer.
//! INVARIANT: no ask is taken twice by one process, however the clock is set meanwhile; none is taken that names a time before
//! this process was there, since another may have taken it. Who keeps more than there is room for waits.

use std::collections::{BTreeMap, HashSet};

use pinhole_grant::broker::ASK_SKEW_SECS;
use pinhole_grant::{KeyId, Nonce, OpenedAsk, UnixTime};

/// Most asks that are remembered.
const MOST: usize = 65_536;

/// The asks of the last minutes.
#[derive(Debug)]
pub(super) struct Once {
    /// When this process began.
    began: UnixTime,
    /// The latest time that was seen.
    latest: UnixTime,
    by_time: BTreeMap<UnixTime, Vec<(KeyId, Nonce)>>,
    seen: HashSet<(KeyId, Nonce)>,
}

/// Why an ask is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// It was there already.
    Seen,
    /// It names a time before this process was there.
    Before,
    /// There is no room for another.
    Full,
}

impl Once {
    pub(super) fn new(now: UnixTime) -> Self {
        Self { began: now, latest: now, by_time: BTreeMap::new(), seen: HashSet::new() }
    }

    /// The time that counts: a clock that is set back does not make old asks good again.
    pub(super) fn now(&mut self, wall: UnixTime) -> UnixTime {
        self.latest = self.latest.max(wall);
        self.latest
    }

    /// Notes an ask that is for now.
    pub(super) fn note(&mut self, ask: &OpenedAsk) -> Result<(), Again> {
        self.note_one((ask.asker().id(), ask.nonce()), ask.at())
    }

    fn note_one(&mut self, one: (KeyId, Nonce), at: UnixTime) -> Result<(), Again> {
        let good_from = self.latest.plus_secs(-ASK_SKEW_SECS);
        while let Some(entry) = self.by_time.first_entry()
            && *entry.key() < good_from
        {
            for old in entry.remove() {
                self.seen.remove(&old);
            }
        }
        if at < self.began {
            return Err(Again::Before);
        }
        if self.seen.contains(&one) {
            return Err(Again::Seen);
        }
        if self.seen.len() >= MOST {
            return Err(Again::Full);
        }
        self.seen.insert(one);
        self.by_time.entry(at).or_default().push(one);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: UnixTime = UnixTime::from_secs(1_800_000_000);

    fn one(number: usize) -> (KeyId, Nonce) {
        let key = KeyId::parse(&"A".repeat(43)).unwrap();
        (key, serde_json::from_value(format!("{number:0>21}A").into()).unwrap())
    }

    #[test]
    fn what_cannot_be_good_any_more_is_forgotten_and_what_is_too_much_waits() {
        let mut once = Once::new(START);
        for number in 0..MOST {
            once.note_one(one(number), START).unwrap();
        }
        assert_eq!(once.note_one(one(MOST), START), Err(Again::Full));
        assert_eq!(once.note_one(one(7), START), Err(Again::Seen));
        once.now(START.plus_secs(ASK_SKEW_SECS));
        assert_eq!(once.note_one(one(MOST), START), Err(Again::Full));
        once.now(START.plus_secs(ASK_SKEW_SECS + 1));
        assert_eq!(once.note_one(one(MOST), START.plus_secs(1)), Ok(()));
        assert_eq!((once.seen.len(), once.by_time.len()), (1, 1));
    }

    #[test]
    fn the_time_does_not_go_back() {
        let mut once = Once::new(START);
        assert_eq!(once.now(START.plus_secs(90)), START.plus_secs(90));
        assert_eq!(once.now(START), START.plus_secs(90));
        assert_eq!(once.note_one(one(1), START.plus_secs(-1)), Err(Again::Before));
    }
}

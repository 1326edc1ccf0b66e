//! How often a passphrase may be wrong: counted over all connections, since any of them may be the next to guess.
//!
//! INVARIANT: whoever holds the turn is alone; a wrong one is counted before anybody learns that it was wrong.

use std::time::{Duration, Instant};

/// How often in a row it may be wrong.
pub const WRONG_IN_A_ROW: u32 = 5;
/// How long none is taken after that.
pub const LOCKED: Duration = Duration::from_mins(1);
/// How long each wrong one takes at least, besides the derivation.
pub(super) const SLOWED: Duration = Duration::from_secs(1);

/// What was tried so far.
#[derive(Debug, Default)]
pub(super) struct Tries {
    wrong: u32,
    locked_until: Option<Instant>,
}

impl Tries {
    /// Whether one may be tried now; else how long none may.
    pub(super) fn turn(&mut self, now: Instant) -> Result<(), Duration> {
        let Some(until) = self.locked_until else { return Ok(()) };
        if now < until {
            return Err(until.saturating_duration_since(now));
        }
        *self = Self::default();
        Ok(())
    }

    /// It was wrong.
    pub(super) fn wrong(&mut self, now: Instant) {
        self.wrong = self.wrong.saturating_add(1);
        if self.wrong >= WRONG_IN_A_ROW {
            self.locked_until = now.checked_add(LOCKED);
        }
    }

    /// It was right.
    pub(super) fn right(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_wrong_ones_in_a_row_close_it_for_a_minute() {
        let (mut tries, begin) = (Tries::default(), Instant::now());
        for _ in 0..4 {
            assert_eq!(tries.turn(begin), Ok(()));
            tries.wrong(begin);
        }
        tries.right();
        for _ in 0..5 {
            assert_eq!(tries.turn(begin), Ok(()));
            tries.wrong(begin);
        }
        assert_eq!(tries.turn(begin), Err(LOCKED));
        assert_eq!(tries.turn(begin + Duration::from_secs(59)), Err(Duration::from_secs(1)));
        assert_eq!(tries.turn(begin + LOCKED), Ok(()));
        tries.wrong(begin + LOCKED);
        assert_eq!(tries.turn(begin + LOCKED), Ok(()));
    }
}

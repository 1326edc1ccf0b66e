//! Sliding windows: who has asked how often in the last so many seconds.
//!
//! INVARIANT: in no span of the rate's length does a key pass more often than the rate's count. What is kept is one moment
//! a pass, and of keys no more than a limit; those that come when it is reached share one window.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::time::{Duration, Instant};

use super::Rate;

/// A window for each key.
#[derive(Debug)]
pub(crate) struct Windows<K> {
    rate: Rate,
    keys_max: usize,
    passes: HashMap<Option<K>, VecDeque<Instant>>,
}

impl<K: Eq + Hash> Windows<K> {
    /// Windows of `rate` for so many keys apart.
    pub(crate) fn new(rate: Rate, keys_max: usize) -> Self {
        Self { rate, keys_max, passes: HashMap::new() }
    }

    /// Notes a pass at `now`, which is never before an earlier one; or says how long to wait for the next.
    pub(crate) fn pass(&mut self, key: K, now: Instant) -> Result<(), Duration> {
        let key = self.room_for(key, now);
        let window = self.passes.entry(key).or_default();
        forget(window, now, self.rate.per);
        if window.len() < self.rate.count {
            window.push_back(now);
            return Ok(());
        }
        // A count of nothing lets nobody pass, ever.
        let oldest = window.front().copied().unwrap_or(now);
        Err((oldest + self.rate.per).saturating_duration_since(now))
    }

    /// The key, or the shared one where there is no room.
    fn room_for(&mut self, key: K, now: Instant) -> Option<K> {
        let key = Some(key);
        if self.passes.contains_key(&key) || self.passes.len() < self.keys_max {
            return key;
        }
        let per = self.rate.per;
        self.passes.retain(|_key, window| {
            forget(window, now, per);
            !window.is_empty()
        });
        if self.passes.len() < self.keys_max { key } else { None }
    }
}

fn forget(window: &mut VecDeque<Instant>, now: Instant, per: Duration) {
    while window.front().is_some_and(|oldest| now.saturating_duration_since(*oldest) >= per) {
        window.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RATE: Rate = Rate { count: 3, per: Duration::from_secs(10) };

    fn just_before(moment: Instant) -> Instant {
        moment.checked_sub(Duration::from_nanos(1)).unwrap()
    }

    #[test]
    fn the_time_to_wait_is_exact() {
        let (mut windows, start) = (Windows::new(RATE, 9), Instant::now());
        for second in [0, 4, 5] {
            windows.pass("a", start + Duration::from_secs(second)).unwrap();
        }
        let at = |second| start + Duration::from_secs(second);
        assert_eq!(windows.pass("a", at(6)), Err(Duration::from_secs(4)));
        windows.pass("b", at(6)).unwrap();
        assert_eq!(windows.pass("a", just_before(at(10))), Err(Duration::from_nanos(1)));
        windows.pass("a", at(10)).unwrap();
        assert_eq!(windows.pass("a", at(10)), Err(Duration::from_secs(4)));
    }

    #[test]
    fn many_keys_share_one_window_and_are_forgotten() {
        let (mut windows, start) = (Windows::new(RATE, 2), Instant::now());
        let passed = (0..100).filter(|key| windows.pass(*key, start).is_ok()).count();
        assert_eq!((passed, windows.passes.len()), (2 + RATE.count, 3));
        windows.pass(7, start + RATE.per).unwrap();
        assert_eq!(windows.passes.len(), 1);
    }

    proptest! {
        #[test]
        fn it_lets_pass_what_a_naive_one_does(
            steps in proptest::collection::vec((0_u8..3, 0_u64..6_000), 0..200),
            count in 0_usize..6,
        ) {
            let rate = Rate { count, ..RATE };
            let (mut windows, start) = (Windows::new(rate, 3), Instant::now());
            let (mut now, mut all) = (start, Vec::<(u8, Instant)>::new());
            for (key, millis) in steps {
                now += Duration::from_millis(millis);
                let inside =
                    |at: Instant| all.iter().filter(|(of, then)| *of == key && at - *then < rate.per).count();
                let wanted = inside(now) < count;
                let passed = windows.pass(key, now);
                prop_assert_eq!(passed.is_ok(), wanted);
                if let (Err(wait), true) = (passed, count > 0) {
                    prop_assert!(inside(now + wait) < count);
                    prop_assert!(inside(just_before(now + wait)) >= count);
                }
                if wanted {
                    all.push((key, now));
                }
            }
        }
    }
}

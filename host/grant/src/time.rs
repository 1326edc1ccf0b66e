//! Moments, as whole seconds. Nothing here reads a clock: whoever calls says what time it is.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Seconds since 1970-01-01T00:00:00Z, leap seconds not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnixTime(i64);

impl UnixTime {
    /// The moment so many seconds after (or, negative, before) the epoch.
    pub const fn from_secs(seconds: i64) -> Self {
        Self(seconds)
    }

    /// Seconds since the epoch.
    pub const fn as_secs(self) -> i64 {
        self.0
    }

    /// The moment so many seconds later; the last one there is, where there is none so late.
    #[must_use]
    pub const fn plus_secs(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds))
    }

    /// Seconds from `earlier` to this moment; `None` where the difference is beyond any number.
    pub const fn secs_since(self, earlier: Self) -> Option<i64> {
        self.0.checked_sub(earlier.0)
    }
}

impl fmt::Display for UnixTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::UnixTime;

    #[test]
    fn the_ends_of_time_do_not_overflow() {
        let last = UnixTime::from_secs(i64::MAX);
        assert_eq!(last.plus_secs(1), last);
        assert_eq!(last.secs_since(UnixTime::from_secs(-1)), None);
        assert_eq!(UnixTime::from_secs(7).secs_since(UnixTime::from_secs(9)), Some(-2));
    }
}

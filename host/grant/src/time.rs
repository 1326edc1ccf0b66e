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

    /// The moment for people, in UTC, such as `2026-01-31 07:00:00 UTC`.
    pub fn in_utc(self) -> String {
        let (days, second) = (self.0.div_euclid(86_400), self.0.rem_euclid(86_400));
        // The civil date of a day count: years that begin in March, in eras of 400.
        let shifted = days.saturating_add(719_468);
        let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        let (hour, minute) = (second / 3_600, second / 60 % 60);
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{:02} UTC", second % 60)
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

    #[test]
    fn moments_are_the_calendar_s() {
        for (seconds, shown) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (-1, "1969-12-31 23:59:59 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_767_225_600, "2026-01-01 00:00:00 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(UnixTime::from_secs(seconds).in_utc(), shown);
        }
        assert!(UnixTime::from_secs(i64::MAX).in_utc().ends_with(" UTC"));
        assert!(UnixTime::from_secs(i64::MIN).in_utc().ends_with(" UTC"));
    }
}

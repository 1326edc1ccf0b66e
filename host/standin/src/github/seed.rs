//! Invented data from a seed: the same seed gives the same world, on every machine.
//!
//! No clock and no entropy: time begins at a fixed instant and moves a second with each write.

/// 2026-01-01T00:00:00Z, in Unix seconds: the present, when a world begins.
pub(crate) const PRESENT: i64 = 1_767_225_600;

/// A small generator of even numbers (`SplitMix64`); good enough for made-up data and nothing else.
#[derive(Debug, Clone)]
pub(crate) struct Seed(u64);

impl Seed {
    pub(crate) fn new(seed: u64, part: u64) -> Self {
        let mut seed = Self(seed ^ part.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        seed.draw();
        seed
    }

    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; 0 where the bound is 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.draw().checked_rem(bound).unwrap_or(0)
    }

    /// A time up to `days` before the present.
    pub(crate) fn moment(&mut self, days: u32) -> i64 {
        let back = self.below(u64::from(days).saturating_mul(86_400));
        PRESENT.saturating_sub(i64::try_from(back).unwrap_or(0))
    }

    /// True about once in `times`.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of a list; the empty string of an empty one.
    pub(crate) fn pick(&mut self, words: &[&'static str]) -> &'static str {
        let count = u64::try_from(words.len()).unwrap_or(0);
        let index = usize::try_from(self.below(count)).unwrap_or(0);
        words.get(index).copied().unwrap_or_default()
    }

    /// Hexadecimal digits, such as a commit's name has 40 of.
    pub(crate) fn digits(&mut self, count: usize) -> String {
        let mut text = String::new();
        while text.len() < count {
            let digit = u32::try_from(self.below(16)).unwrap_or(0);
            text.extend(char::from_digit(digit, 16));
        }
        text
    }

    /// A sentence of `count` words.
    pub(crate) fn words(&mut self, count: usize) -> String {
        (0..count).map(|_| self.pick(WORDS)).collect::<Vec<_>>().join(" ")
    }
}

pub(crate) const FIRST: &[&str] = &[
    "amber", "brisk", "cedar", "copper", "distant", "ember", "fallow", "gentle", "granite", "hollow",
    "ivory", "juniper", "linen", "marble", "mellow", "northern", "ochre", "pewter", "quiet", "russet",
    "silver", "tidal", "umber", "velvet", "willow",
];

pub(crate) const SECOND: &[&str] = &[
    "anchor",
    "beacon",
    "compass",
    "drawbridge",
    "estuary",
    "furnace",
    "gateway",
    "harbour",
    "inkwell",
    "jetty",
    "keystone",
    "ledger",
    "meadow",
    "notebook",
    "orchard",
    "packhorse",
    "quarry",
    "rampart",
    "sextant",
    "turnstile",
    "viaduct",
    "waterwheel",
];

pub(crate) const LANGUAGES: &[&str] =
    &["Rust", "TypeScript", "Python", "Go", "Java", "Kotlin", "C", "Shell", "Elixir", "Haskell"];

pub(crate) const TOPICS: &[&str] = &[
    "lighting",
    "cartography",
    "scheduling",
    "parsing",
    "telemetry",
    "packaging",
    "storage",
    "testing",
    "archives",
];

pub(crate) const LABELS: &[&str] =
    &["bug", "documentation", "enhancement", "good first issue", "question", "wontfix"];

const WORDS: &[&str] = &[
    "the",
    "lamp",
    "flickers",
    "when",
    "a",
    "draught",
    "reaches",
    "its",
    "glass",
    "and",
    "every",
    "keeper",
    "notes",
    "hours",
    "of",
    "oil",
    "left",
    "before",
    "dawn",
    "while",
    "ships",
    "pass",
    "slowly",
    "beyond",
    "our",
    "reef",
    "without",
    "answering",
    "any",
    "signal",
    "from",
    "shore",
    "under",
    "heavy",
    "rain",
];

/// A time as GitHub writes it: `2026-01-01T00:00:00Z`. RFC 3339, from Unix seconds, for years 0 to 9999.
pub(crate) fn stamp(seconds: i64) -> String {
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days since 0000-03-01, so that the leap day ends a year; eras of 400 years have 146,097 days.
    let days = day.saturating_add(719_468);
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let date = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{:02}Z", second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_the_calendar_has_them() {
        assert_eq!(stamp(0), "1970-01-01T00:00:00Z");
        assert_eq!(stamp(951_868_799), "2000-02-29T23:59:59Z");
        assert_eq!(stamp(PRESENT), "2026-01-01T00:00:00Z");
        assert_eq!(stamp(PRESENT - 1), "2025-12-31T23:59:59Z");
    }

    #[test]
    fn one_seed_gives_one_world() {
        assert_eq!(Seed::new(7, 1).digits(40), Seed::new(7, 1).digits(40));
        assert_ne!(Seed::new(7, 1).digits(40), Seed::new(7, 2).digits(40));
        assert_ne!(Seed::new(7, 1).digits(40), Seed::new(8, 1).digits(40));
    }
}

//! What a module may take, as the operator sets it. A manifest lowers the time and the sizes of its op and raises
//! nothing.
//!
//! Refuses by name what no sandbox can have: none of something, or more of it than a machine has.

use std::ops::RangeInclusive;

/// Limits of one call of a module, how many calls there are at once, and how much is kept between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SandboxSettings {
    /// Most calls at once; more wait for a place, within their op's time.
    pub calls: u16,
    /// Most bytes of memory of a call.
    pub memory_bytes: usize,
    /// Most elements of all tables of a call.
    pub table_elements: usize,
    /// Most instructions of a call, as the engine counts them.
    pub fuel: u64,
    /// Most requests of a call.
    pub requests: u32,
    /// Most bytes of all answers that a call is given.
    pub bytes_in: u64,
    /// Most bytes that a call hands over at once: its requests, or its result. An op's `response_bytes` lowers it.
    pub bytes_out: u64,
    /// Most lines that a call writes to the log.
    pub log_lines: u32,
    /// Most bytes of those lines.
    pub log_bytes: usize,
    /// Most bytes of compiled modules that are kept on the disk, where there is a folder for them; zero keeps none.
    pub cache_bytes: u64,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self {
            calls: 16,
            memory_bytes: 64 << 20,
            table_elements: 20_000,
            fuel: 10_000_000_000,
            requests: 100,
            bytes_in: 64 << 20,
            bytes_out: 16 << 20,
            log_lines: 200,
            log_bytes: 64 << 10,
            cache_bytes: 256 << 20,
        }
    }
}

/// Why a setting is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingError {
    /// No setting has this name.
    #[error("there is no setting `{0}`")]
    Unknown(String),
    /// It is not that little, or not that much.
    #[error("`{name}` is `{value}`: write a number from {least} to {most}")]
    OutOfRange {
        /// The setting.
        name: String,
        /// What it was to be.
        value: i64,
        /// The least that it can be.
        least: i64,
        /// The most that it can be.
        most: i64,
    },
}

impl SandboxSettings {
    /// The same settings with one of them changed, by the name of its field.
    pub fn with(mut self, name: &str, value: i64) -> Result<Self, SettingError> {
        match name {
            "calls" => self.calls = within(name, value, 1..=1_000)?,
            // From one page of Wasm to all that 32 bits can name.
            "memory_bytes" => self.memory_bytes = within(name, value, 1 << 16..=1 << 32)?,
            "table_elements" => self.table_elements = within(name, value, 1..=1_000_000)?,
            "fuel" => self.fuel = within(name, value, 1..=i64::MAX)?,
            "requests" => self.requests = within(name, value, 1..=100_000)?,
            "bytes_in" => self.bytes_in = within(name, value, 1..=1 << 32)?,
            // Less than this no manifest's op could count on.
            "bytes_out" => self.bytes_out = within(name, value, 1 << 16..=1 << 32)?,
            "log_lines" => self.log_lines = within(name, value, 1..=1_000_000)?,
            "log_bytes" => self.log_bytes = within(name, value, 1..=1 << 30)?,
            "cache_bytes" if value == 0 => self.cache_bytes = 0,
            // Less than this keeps next to nothing: whoever writes it means another unit.
            "cache_bytes" => self.cache_bytes = within(name, value, 1 << 20..=1 << 40)?,
            _ => return Err(SettingError::Unknown(name.to_owned())),
        }
        Ok(self)
    }
}

fn within<T: TryFrom<i64>>(name: &str, value: i64, range: RangeInclusive<i64>) -> Result<T, SettingError> {
    let (least, most) = (*range.start(), *range.end());
    let taken = if range.contains(&value) { T::try_from(value).ok() } else { None };
    taken.ok_or_else(|| SettingError::OutOfRange { name: name.to_owned(), value, least, most })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine has the address space for the most of everything.
    #[test]
    fn the_most_that_can_be_set_makes_an_engine() {
        let most = SandboxSettings::default().with("calls", 1_000).unwrap();
        let most = most.with("table_elements", 1_000_000).unwrap().with("memory_bytes", 1 << 32).unwrap();
        assert!(super::super::engine::Running::start(&most).is_ok());
    }

    /// The names of the fields, as `Debug` has them.
    fn names() -> Vec<String> {
        let shown = format!("{:#?}", SandboxSettings::default());
        shown.lines().filter_map(|line| Some(line.trim().split_once(": ")?.0.to_owned())).collect()
    }

    #[test]
    fn each_field_is_set_by_its_name_and_nothing_else_is_changed() {
        let usual = SandboxSettings::default();
        assert_eq!(names().len(), 10);
        for name in names() {
            let (before, changed) = (format!("{usual:#?}"), usual.with(&name, 1 << 20));
            // A million calls, tables or requests are too many.
            let Ok(changed) = changed.or_else(|_too_many| usual.with(&name, 7)) else { panic!("{name}") };
            let after = format!("{changed:#?}");
            let differ: Vec<&str> = before
                .lines()
                .zip(after.lines())
                .filter(|(before, after)| before != after)
                .map(|(_, after)| after.trim())
                .collect();
            assert_eq!(differ.len(), 1, "{name}");
            assert!(differ[0] == format!("{name}: 1048576,") || differ[0] == format!("{name}: 7,"));
        }
        assert_eq!(usual.with("calsl", 7), Err(SettingError::Unknown("calsl".to_owned())));
    }

    #[test]
    fn what_a_setting_is_usually_can_be_written_and_none_or_endless_cannot() {
        let usual = SandboxSettings::default();
        let shown = format!("{usual:#?}");
        for (name, value) in
            shown.lines().filter_map(|line| line.trim().trim_end_matches(',').split_once(": "))
        {
            assert_eq!(usual.with(name, value.parse().unwrap()), Ok(usual));
            for absurd in [0, -1, i64::MIN, i64::MAX] {
                let may = matches!((name, absurd), ("fuel", i64::MAX) | ("cache_bytes", 0));
                assert_eq!(usual.with(name, absurd).is_ok(), may, "{name} {absurd}");
            }
        }
        assert!(usual.with("cache_bytes", 256).is_err(), "256 MiB were meant");
    }
}

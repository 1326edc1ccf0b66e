//! Lines for the host's log, formatted like `println!`.

/// Writes a line of level debug: `debug!(host, "page {page}")`.
#[macro_export]
macro_rules! debug {
    ($host:expr, $($text:tt)+) => { $crate::Host::log($host, $crate::Level::Debug, &::std::format!($($text)+)) };
}

/// Writes a line of level info: `info!(host, "{count} records")`.
#[macro_export]
macro_rules! info {
    ($host:expr, $($text:tt)+) => { $crate::Host::log($host, $crate::Level::Info, &::std::format!($($text)+)) };
}

/// Writes a line of level warn: `warn!(host, "an odd answer")`.
#[macro_export]
macro_rules! warn {
    ($host:expr, $($text:tt)+) => { $crate::Host::log($host, $crate::Level::Warn, &::std::format!($($text)+)) };
}

/// Writes a line of level error, which is shown should the module break off later.
#[macro_export]
macro_rules! error {
    ($host:expr, $($text:tt)+) => { $crate::Host::log($host, $crate::Level::Error, &::std::format!($($text)+)) };
}

//! `python-tuf`, the reference implementation, in both directions: its client takes what we sign, and we take what it signs.
//!
//! Needs Python and its package `tuf`, which `.ci/run` puts into `.ci-tools/tuf`. Without them a test is skipped with a loud
//! word; in CI their absence is a failure.

#[cfg(test)]
mod both_ways;
#[cfg(test)]
mod ceremony;
#[cfg(test)]
#[path = "../kit/mod.rs"]
mod kit;

//! The signed collection of manifests: a TUF repository whose targets are manifests and their modules.

#![forbid(unsafe_code)]

pub mod author;
pub mod client;
pub mod keys;
pub mod names;
pub mod serve;

// The tests' forge speaks of this crate as the tests beside it do.
#[cfg(test)]
extern crate self as pinhole_registry;

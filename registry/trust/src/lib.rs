//! The signed collection of manifests: a TUF repository whose targets are manifests and their modules.

#![forbid(unsafe_code)]

pub mod author;
pub mod keys;
pub mod names;
pub mod serve;

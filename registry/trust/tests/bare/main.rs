//! The bare client, which conformance suites drive: any TUF repository, a plain folder of metadata.

#[cfg(test)]
mod folder;
#[cfg(test)]
#[path = "../kit/mod.rs"]
mod kit;
#[cfg(test)]
mod rotations;
#[cfg(test)]
mod search;

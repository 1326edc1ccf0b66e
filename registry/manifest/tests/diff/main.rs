//! What a change of a manifest lets an agent do or see: vectors, every member of a manifest in turn, and what holds of all
//! comparisons.

#[cfg(test)]
#[path = "../common/base.rs"]
mod base;
#[cfg(test)]
mod known;
#[cfg(test)]
mod members;
#[cfg(test)]
mod order;
#[cfg(test)]
mod parts;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod vectors;

use pinhole_manifest::{Manifest, read};
use serde_json::Value;

/// The manifest that a JSON value is.
#[cfg(test)]
fn manifest(value: &Value, name: &str) -> Manifest {
    read(value.to_string().as_bytes()).into_result().unwrap_or_else(|faults| panic!("{name}: {faults:?}"))
}

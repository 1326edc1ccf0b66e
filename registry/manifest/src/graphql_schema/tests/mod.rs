//! Schemas read and refused, manifests held against them and drafted from them.

mod drafting;
mod linear;
mod properties;
mod reading;
mod secrets;
mod verifying;

use super::Schema;

/// A small service: a connection of either kind, enums, input objects, a union, an interface, custom scalars, things that are
/// deprecated.
pub(super) const SMALL: &str = include_str!("small.graphql");

pub(super) fn small() -> Schema {
    Schema::read(SMALL.as_bytes()).unwrap()
}

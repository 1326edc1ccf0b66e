//! Args: the schema that a manifest declares, and the one normal form of what a caller gives.
//!
//! `compile` takes the closed subset of JSON Schema 2020-12 and reports every fault at once. `ArgsSchema::normalise` and
//! `ArgsSchema::parse_text` are the only ways to an `Args`. DESIGN, "Manifest": args.

mod check;
mod fault;
mod formats;
mod keywords;
mod limits;
mod normalise;
mod number;
mod schema;
mod shape;
mod text;

#[cfg(test)]
mod tests;

pub(crate) use fault::{SchemaFault, SchemaFaultKind};
pub(crate) use formats::PATTERN_BYTES;
pub(crate) use keywords::normal;
pub(crate) use schema::{ARGS_MAX, compile};
pub(crate) use shape::Shape;

/// Most bytes of all args of a call, as compact JSON: 1 MiB.
pub(crate) const ARGS_BYTES_MAX: usize = 1 << 20;

/// A JSON pointer one step further (RFC 6901).
fn push(pointer: &str, step: &str) -> String {
    format!("{pointer}/{}", step.replace('~', "~0").replace('/', "~1"))
}

/// A JSON pointer one step further, where the name comes from a caller: one that does not look like a name stays unsaid,
/// and the pointer names its parent.
fn push_foreign(pointer: &str, name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if (1..=64).contains(&name.len()) && name.chars().all(plain) {
        push(pointer, name)
    } else {
        pointer.into()
    }
}

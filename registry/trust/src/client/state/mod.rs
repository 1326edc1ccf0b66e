//! What this host trusts and has accepted: `$PINHOLE_HOME/registries/`.
//!
//! ```text
//! registries/      0700
//!   lock           held by whoever changes anything; never written
//!   state          one line with the digest of the rest, then the rest: JSON, see `document.rs`
//!   files/         metadata, manifests and modules, each under the 64 digits of its SHA-256
//! ```
//!
//! Refuses a state that is damaged or gone, and never takes it for a fresh start: with it would go the versions below which
//! nothing is taken. INVARIANT: every change is one rename of `state`, after all that it names is on the disk; a kill at any
//! moment leaves the state before or the state after, for all services of all registries at once.

mod disk;
pub(super) mod document;
mod store;

pub(super) use disk::read as read_plain;
pub use store::StateError;
pub(super) use store::{Lock, Store};

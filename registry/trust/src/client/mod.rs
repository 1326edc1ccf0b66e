//! The host's side of the signed registry: what is trusted, what is taken over, what was agreed to, what hosts load.
//!
//! Refuses whatever is older, mixed, stale, or not signed by enough of the right keys; holds what lets an agent do more
//! until the operator says yes. Opens no socket and reads no clock: the caller passes [`Fetch`] and the time. INVARIANT:
//! what hosts load changes in one step, for all services at once, and only to what was signed and agreed to.

mod bare;
mod collection;
mod consent;
mod delegated;
mod fetch;
mod folder;
mod load;
mod name;
mod refresh;
mod refused;
mod role;
mod round;
mod signatures;
mod state;
mod strict;
mod sync;
mod trust;
mod trusted;

pub use bare::{BareError, BareVersions, download, init, refresh};
pub use collection::TARGETS_MAX;
pub use consent::{ConsentError, HeldUpdate, Replaced};
pub use fetch::{Area, Fetch, FetchError, Fetching, NotAPath, RemotePath};
pub use folder::FolderFetch;
pub use load::{Freshness, LoadError, Loaded, LoadedModule, LoadedRegistry, ModuleError, Shelf};
pub use name::{Identity, Location, NotALocation, NotAName, RegistryName};
pub use refused::{Refused, Signers};
pub use role::{KeyFault, Malformed};
pub use state::StateError;
pub use state::document::Why;
pub use strict::JsonFault;
pub use sync::{Consent, Happened, SyncError, Synced, Terms, Unfit, Verdict};
pub use trust::{Listed, RootSummary, TrustError, Trusting, UntrustError, Untrusted, inspect_root};

use std::path::PathBuf;

use state::Store;

/// The registries that this host trusts, in a folder such as `$PINHOLE_HOME/registries`. The folder is made when the first
/// registry is trusted.
#[derive(Debug, Clone)]
pub struct Registries {
    store: Store,
}

impl Registries {
    /// Those of that folder; nothing is read yet.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { store: Store::at(folder.into()) }
    }
}

#[cfg(test)]
mod tests;

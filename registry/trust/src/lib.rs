//! The signed collection of manifests: a TUF repository whose targets are manifests and their modules.
//!
//! Two sides, which share the names of targets and nothing else: [`author`] is the maintainers', who put a registry together
//! and sign it with [`keys`]; [`client`] is a host's, which trusts one by its root and takes over what it says. [`serve`] shows
//! a published one by HTTP. Opens no connection, reads no environment and no clock: the callers pass what fetches, and the time.

#![forbid(unsafe_code)]

pub mod author;
pub mod client;
pub mod keys;
pub mod names;
mod roles;
pub mod serve;

pub use roles::RoleName;

/// Largest manifest, in bytes: what a manifest may have.
pub const MANIFEST_BYTES_MAX: u64 = 2 << 20;
/// Largest module, in bytes: what a host reads.
pub const MODULE_BYTES_MAX: u64 = 32 << 20;

// The tests' forge speaks of this crate as the tests beside it do.
#[cfg(test)]
extern crate self as pinhole_registry;

#[cfg(test)]
mod tests {
    #[test]
    fn a_manifest_of_a_registry_may_be_as_large_as_any() {
        assert_eq!(u64::try_from(pinhole_manifest::SIZE_MAX), Ok(super::MANIFEST_BYTES_MAX));
    }
}

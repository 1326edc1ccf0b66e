//! One manifest of a host: what it says, where it came from, where its modules are, what stood there before.

use std::fmt;
use std::sync::Arc;

use pinhole_grant::{SourceName, UnixTime};
use pinhole_manifest::{Digest, Manifest};

use super::ModuleFiles;

/// Where a manifest came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// It is part of the binary.
    BuiltIn,
    /// A signed registry that the operator trusts, by the name that credentials remember.
    Signed(SourceName),
    /// A local file that nobody signed, which the operator asked for; every outcome says so.
    UnsignedFile,
}

impl Source {
    /// The name by which a credential remembers where its manifest came from.
    pub fn name(&self) -> &str {
        match self {
            Self::BuiltIn => "compiled-in",
            Self::Signed(registry) => registry.as_str(),
            Self::UnsignedFile => "local",
        }
    }
}

/// The manifests that a service had before on this host.
pub trait Earlier: fmt::Debug + Send + Sync {
    /// The exact bytes of the one with this digest, if this host ran by it.
    fn manifest(&self, digest: Digest) -> Option<Vec<u8>>;
}

/// What a host keeps of a manifest that a registry signed.
#[derive(Debug, Clone)]
pub struct Kept {
    /// From when on it is not run by any more, unless the registry signs anew.
    pub expires: UnixTime,
    /// The manifests that the service had before.
    pub earlier: Arc<dyn Earlier>,
}

/// One manifest and its source.
#[derive(Debug)]
#[non_exhaustive]
pub struct Entry {
    /// The manifest.
    pub manifest: Manifest,
    /// Where it came from.
    pub source: Source,
    /// Where its modules are.
    pub modules: ModuleFiles,
    /// What a signed registry's word for it is good for.
    pub kept: Option<Kept>,
}

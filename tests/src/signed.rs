//! A manifest as a signed registry gave it, without the registry: who signs is not what these tests are about.

use std::sync::Arc;

use pinhole_grant::{SourceName, UnixTime};
use pinhole_manifest::{Digest, ServiceId};
use pinhole_runtime::catalog::{Earlier, Kept, ModuleFiles, Signed};

/// The registry, as credentials remember it.
const REGISTRY: &str = "acme.0123456789abcdef";

/// The manifests that a service had before.
#[derive(Debug)]
struct Before(Vec<Vec<u8>>);

impl Earlier for Before {
    fn manifest(&self, digest: Digest) -> Option<Vec<u8>> {
        self.0.iter().find(|bytes| Digest::of(bytes) == digest).cloned()
    }
}

/// A manifest of a service, good until then, that had these before.
///
/// # Panics
///
/// If `service` is no id.
pub fn signed(service: &str, manifest: &[u8], expires: UnixTime, before: &[&[u8]]) -> Signed {
    Signed {
        service: ServiceId::parse(service).expect("an id"),
        manifest: manifest.to_vec(),
        registry: SourceName::parse(REGISTRY).expect("a name"),
        modules: ModuleFiles::None,
        kept: Kept {
            expires,
            earlier: Arc::new(Before(before.iter().map(|bytes| bytes.to_vec()).collect())),
        },
    }
}

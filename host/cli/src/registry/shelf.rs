//! What the trusted registries gave, into the catalog of a command.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use pinhole_grant::{SourceName, UnixTime};
use pinhole_manifest::{Digest, ServiceId};
use pinhole_registry::client::{Freshness, LoadError, Loaded, Registries};
use pinhole_runtime::catalog::{Catalog, Earlier, Kept, ModuleFiles, Signed};

use super::{failure, now, registries};
use crate::config::Config;
use crate::end::End;

/// The manifests that a service had before, as the home keeps them.
#[derive(Debug)]
struct Archive {
    registries: Registries,
    service: ServiceId,
}

impl Earlier for Archive {
    fn manifest(&self, digest: Digest) -> Option<Vec<u8>> {
        self.registries.earlier(&self.service, &digest).ok().flatten()
    }
}

/// Takes in what the home's registries gave.
pub(crate) fn fill(catalog: &mut Catalog, config: &Config) -> anyhow::Result<()> {
    let registries = registries(config);
    let shelf = registries.load(now()?).map_err(|error| damaged(&error))?;
    for loaded in shelf.services {
        let service = loaded.service.clone();
        catalog.add_signed(signed(loaded, &registries)?).with_context(|| service.to_string())?;
    }
    Ok(())
}

fn signed(loaded: Loaded, registries: &Registries) -> anyhow::Result<Signed> {
    let expires = match loaded.freshness {
        Freshness::Fresh { until: end } | Freshness::Stale { since: end } => end.as_second(),
        Freshness::Never => i64::MIN,
    };
    let files: BTreeMap<String, PathBuf> =
        loaded.modules.into_iter().map(|(file, module)| (file, module.path().to_owned())).collect();
    let earlier = Archive { registries: registries.clone(), service: loaded.service.clone() };
    Ok(Signed {
        service: loaded.service,
        manifest: loaded.manifest,
        registry: SourceName::parse(loaded.identity.as_str())?,
        modules: ModuleFiles::At(Arc::new(files)),
        kept: Kept { expires: UnixTime::from_secs(expires), earlier: Arc::new(earlier) },
    })
}

fn damaged(error: &LoadError) -> anyhow::Error {
    failure(End::Local, error, "nothing runs while it cannot be told what was accepted; look at the disk")
}

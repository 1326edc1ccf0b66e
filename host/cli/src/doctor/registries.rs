//! The registries that this host trusts: whether what they signed is still good, and what waits for a yes.

use pinhole_runtime::catalog::Catalog;

use super::finding::Findings;
use crate::args::LocalManifests;
use crate::config::Config;
use crate::{occasion, registry};

/// Looks at them, and gives the manifests; without those of registries where they cannot be read.
pub(super) fn look(
    flags: &LocalManifests,
    config: &Config,
    findings: &mut Findings,
) -> anyhow::Result<Catalog> {
    match registry::standings(config) {
        Ok(standings) => standings.iter().for_each(|standing| say(standing, findings)),
        Err(error) => {
            findings.failed("registries", &error);
            return occasion::catalog_without_registries(flags);
        }
    }
    occasion::catalog(flags, config).or_else(|error| {
        findings.failed("registries", &error);
        occasion::catalog_without_registries(flags)
    })
}

fn say(standing: &registry::Standing, findings: &mut Findings) {
    let about = format!("registry {}", standing.name);
    let sync = format!("`pinhole registry sync {}`", standing.name);
    match (&standing.good_until, standing.held.as_slice()) {
        (None, _) => findings.warning(about, "it was never synced, so it has no services here", sync),
        (Some(until), _) if standing.expired => {
            findings.wrong(about, format!("it has expired ({until}): its services are refused"), sync);
        }
        (Some(until), []) => findings.ok(about, format!("good until {until}")),
        (Some(until), held) => {
            let waits = format!("good until {until}; updates wait for a yes: {}", held.join(", "));
            findings.warning(about, waits, "`pinhole registry accept SERVICE` shows each, and asks");
        }
    }
}

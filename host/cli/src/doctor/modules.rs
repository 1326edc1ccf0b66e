//! What the operator sets for modules, and where compiled ones are kept: whether they can be, how many, how large.

use pinhole_runtime::sandbox::{SandboxSettings, look_at_cache};

use super::finding::Findings;
use crate::config::Config;
use crate::{out, settings};

/// The settings, or the usual ones where they cannot be read, which is said.
pub(super) fn look(config: &Config, findings: &mut Findings) -> SandboxSettings {
    let file = config.file();
    let settings = settings::read(&file);
    match &settings {
        Ok(_) if file.exists() => findings.ok("config.toml", format!("`{}`", file.display())),
        Ok(_) => findings.ok("config.toml", "none; everything is as usual"),
        Err(error) => findings.failed("config.toml", error),
    }
    let settings = settings.unwrap_or_default().sandbox;
    compiled(config, &settings, findings);
    settings
}

fn compiled(config: &Config, settings: &SandboxSettings, findings: &mut Findings) {
    let about = "compiled modules";
    if settings.cache_bytes == 0 {
        return findings.ok(about, "none are kept, as `config.toml` says");
    }
    let folder = config.compiled_modules();
    match look_at_cache(&folder) {
        Ok(None) => findings.ok(about, "none kept yet"),
        Ok(Some(kept)) => {
            let (modules, bytes, most) = (kept.modules, kept.bytes, settings.cache_bytes);
            let found = format!(
                "`{}`: {modules}, {} of {} at most",
                folder.display(),
                out::bytes(bytes),
                out::bytes(most)
            );
            findings.ok(about, found);
        }
        Err(error) => {
            let hint = error.hint();
            let found = format!("{:#}: modules are compiled by each process", anyhow::Error::from(error));
            findings.wrong(about, found, hint);
        }
    }
}

//! The folder that keys and state are in, and the one of the keys.

use std::io::ErrorKind;
use std::path::Path;

use super::finding::Findings;
use super::modes;
use crate::config::Config;

pub(super) fn look(config: &Config, findings: &mut Findings) {
    folder("home", config.home(), "not made yet; `pinhole connect SERVICE` begins", findings);
    if config.home().is_dir() {
        folder("keys", &config.keys(), "none yet", findings);
    }
}

/// Looks at a private folder, whose name may be a link.
pub(super) fn folder(about: &str, path: &Path, absent: &str, findings: &mut Findings) {
    let place = path.display();
    match path.metadata() {
        Ok(metadata) if !metadata.is_dir() => {
            let hint = "move it away, or name another folder with `--home`";
            findings.wrong(about, format!("`{place}` is not a folder"), hint);
        }
        Ok(metadata) => {
            if !modes::is_open(about, path, &metadata, findings) {
                findings.ok(about, format!("`{place}`"));
            }
        }
        Err(error) if error.kind() == ErrorKind::NotFound && path.is_symlink() => {
            let hint = "bring back what it leads to, or remove the link";
            findings.wrong(about, format!("`{place}` is a link that leads nowhere"), hint);
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            findings.ok(about, format!("`{place}`: {absent}"));
        }
        Err(error) => {
            let hint = "look at the rights of the folders that lead to it";
            findings.wrong(about, format!("`{place}` cannot be looked at: {error}"), hint);
        }
    }
}

//! The database: its files' modes, whether it is Pinhole's and whole, and whether an earlier version ran beside it. One on a server is
//! opened as every command opens it, which makes its tables where they are missing.

use std::path::Path;
use std::sync::Arc;

use pinhole_runtime::store::{DATABASE, Desk, PostgresStore, SqliteStore};

use super::finding::Findings;
use super::modes;
use crate::database::{self, DatabaseFlags};

/// What there is to be looked at.
pub(super) enum Database {
    There(Arc<SqliteStore>, Modes),
    /// One that other hosts may use too.
    Shared(Arc<PostgresStore>),
    None,
    /// What is wrong was said.
    Unusable,
}

/// Who can get at the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Modes {
    /// Their owner alone.
    Ours,
    /// Others too, which was said. To use them is to take them from those.
    Exposed,
}

impl Database {
    /// Its rows, where they can be looked at.
    pub(super) fn desk(&self) -> Option<Arc<dyn Desk>> {
        match self {
            Self::There(store, _) => Some(store.clone()),
            Self::Shared(store) => Some(store.clone()),
            Self::None | Self::Unusable => None,
        }
    }
}

pub(super) fn look(home: &Path, flags: &DatabaseFlags, findings: &mut Findings) -> Database {
    match database::address(home, flags) {
        Err(error) if flags.name_one() => {
            findings.failed("database", &error);
            return Database::Unusable;
        }
        // What is wrong with the settings is said where they are looked at, and hides nothing that the home has.
        Ok(None) | Err(_) => {}
        Ok(Some(address)) => {
            let opened = PostgresStore::open(&address).and_then(|store| Ok((store.format()?, store)));
            return match opened {
                Ok((format, store)) => {
                    findings.ok("database", format!("`{address}`: reachable, format {format}"));
                    Database::Shared(Arc::new(store))
                }
                Err(error) => {
                    findings.store("database", error);
                    Database::Unusable
                }
            };
        }
    }
    // Before it is opened: to use it is to take it from others.
    let exposed = files(home, findings);
    let store = match SqliteStore::look(home) {
        Ok(Some(store)) => store,
        Ok(None) => {
            findings.ok("database", "none yet");
            return Database::None;
        }
        Err(error) => {
            findings.store("database", error);
            return Database::Unusable;
        }
    };
    match store.check().and_then(|()| store.format()) {
        Ok(_) if exposed == Modes::Exposed => {}
        Ok(format) => {
            findings.ok("database", format!("`{}`: whole, format {format}", store.path().display()));
        }
        Err(error) => findings.store("database", error),
    }
    if let Err(error) = store.superseded(home) {
        findings.store("state", error);
    }
    Database::There(Arc::new(store), exposed)
}

fn files(home: &Path, findings: &mut Findings) -> Modes {
    let mut exposed = false;
    for suffix in ["", "-wal", "-shm"] {
        let name = format!("{DATABASE}{suffix}");
        let path = home.join(&name);
        if let Ok(metadata) = path.metadata() {
            exposed |= metadata.is_file() && modes::is_exposed(&name, &path, &metadata, "", findings);
        }
    }
    if exposed { Modes::Exposed } else { Modes::Ours }
}

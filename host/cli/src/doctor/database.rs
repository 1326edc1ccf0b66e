//! The database: its files' modes, whether it is Pinhole's and whole, and whether an earlier version ran beside it.

use std::path::Path;

use pinhole_runtime::store::{DATABASE, PostgresStore, SqliteStore};

use super::finding::Findings;
use super::modes;
use crate::database::{self, DatabaseFlags};

/// What there is to be looked at.
pub(super) enum Database {
    There(Box<SqliteStore>, Modes),
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

pub(super) fn look(home: &Path, findings: &mut Findings) -> Database {
    match database::address(home, &DatabaseFlags::default()) {
        Ok(None) => {}
        // What is wrong with the settings is said where they are looked at.
        Err(_) => return Database::Unusable,
        Ok(Some(address)) => {
            match PostgresStore::open(&address).and_then(|store| store.format()) {
                Ok(format) => findings
                    .ok("database", format!("`{address}`: format {format}; its rows are not looked at")),
                Err(error) => findings.store("database", error),
            }
            return Database::None;
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
    Database::There(Box::new(store), exposed)
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

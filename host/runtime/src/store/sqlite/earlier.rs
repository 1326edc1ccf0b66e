//! Takes over what a version without a database has left in a home: a folder `state/` with a file for each spent use, for
//! each revoked grant and for the latest time.
//!
//! The folder is renamed first, so that no program of that version can spend a use after it was read, and a file takes its
//! name, so that none makes it anew. What it says goes into the database in one transaction, with a mark that it did.
//! INVARIANT: until then nothing runs; a folder that comes back is refused, for what it holds is not known here.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use pinhole_grant::GrantId;
use rusqlite::{Transaction, params};

use super::SqliteStore;
use super::connections::exists;
use super::open::of_io;
use crate::store::StoreError;

const FOLDER: &str = "state";
const KEPT: &str = "state.taken-over";
const NOTE: &[u8] = b"The state of this home is in pinhole.db. An earlier version must not run on it.\n";
const MARKED: &str = "SELECT 1 FROM taken_over";

/// Does so, where there is anything.
pub(super) fn take_over(store: &SqliteStore, home: &Path) -> Result<(), StoreError> {
    let failed = |source| of_io(&store.place, "take over the state of an earlier version", source);
    let (folder, kept) = (home.join(FOLDER), home.join(KEPT));
    let Looked { marked, waits } = look(store, home)?;
    if waits
        && let Err(error) = fs::rename(&folder, &kept)
        && is_state(&folder).map_err(failed)?
    {
        // Nobody else was first.
        let again = is_folder(&kept).map_err(failed)?;
        return Err(if again { StoreError::Superseded { path: folder } } else { failed(error) });
    }
    if marked || !is_folder(&kept).map_err(failed)? {
        return Ok(());
    }
    keep_its_name(&folder).map_err(failed)?;
    File::open(home).and_then(|home| home.sync_all()).map_err(failed)?;
    let earlier = Earlier::read(&kept).map_err(failed)?;
    store.write("take over the state of an earlier version", |transaction| Ok(earlier.put(transaction)?))
}

/// What there is of an earlier version.
pub(super) struct Looked {
    /// The database has taken it over.
    marked: bool,
    /// It waits to be taken over.
    waits: bool,
}

/// Looks for it. State that is there again after it was taken over is refused.
pub(super) fn look(store: &SqliteStore, home: &Path) -> Result<Looked, StoreError> {
    let failed = |source| of_io(&store.place, "look for the state of an earlier version", source);
    let folder = home.join(FOLDER);
    let marked =
        store.read("look for what was taken over", |connection| Ok(exists(connection, MARKED, [])?))?;
    // In this order: whoever takes it over at the same time renames the one to the other.
    let there_before = marked || is_folder(&home.join(KEPT)).map_err(failed)?;
    match is_state(&folder).map_err(failed)? {
        true if there_before => Err(StoreError::Superseded { path: folder }),
        waits => Ok(Looked { marked, waits }),
    }
}

/// What the files say.
struct Earlier {
    spent: BTreeMap<String, u32>,
    revoked: Vec<String>,
    latest: Option<i64>,
}

impl Earlier {
    /// A name that no program has ever looked for says nothing.
    fn read(folder: &Path) -> io::Result<Self> {
        let mut spent: BTreeMap<String, u32> = BTreeMap::new();
        for name in names(&folder.join("uses"))? {
            let Some((grant, number)) = name.split_once('.') else { continue };
            let (Some(grant), Ok(number @ 1..)) = (grant_of(grant), number.parse::<u32>()) else { continue };
            let most = spent.entry(grant).or_default();
            *most = number.max(*most);
        }
        let revoked = names(&folder.join("revoked"))?.iter().filter_map(|name| grant_of(name)).collect();
        let latest = names(&folder.join("clock"))?.iter().filter_map(|name| name.parse().ok()).max();
        Ok(Self { spent, revoked, latest })
    }

    fn put(&self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        if exists(transaction, MARKED, [])? {
            return Ok(());
        }
        for (grant, spent) in &self.spent {
            transaction.execute(
                "INSERT INTO uses (grant_id, spent) VALUES (?1, ?2)
                 ON CONFLICT (grant_id) DO UPDATE SET spent = max(spent, excluded.spent)",
                params![grant, spent],
            )?;
        }
        for grant in &self.revoked {
            transaction.execute("INSERT OR IGNORE INTO revoked (grant_id) VALUES (?1)", [grant])?;
        }
        if let Some(latest) = self.latest {
            transaction.execute(
                "INSERT INTO clock (one, latest) VALUES (1, ?1)
                 ON CONFLICT (one) DO UPDATE SET latest = max(latest, excluded.latest)",
                [latest],
            )?;
        }
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        transaction.execute(
            "INSERT INTO taken_over (one, uses, revoked) VALUES (1, ?1, ?2)",
            [count(self.spent.len()), count(self.revoked.len())],
        )?;
        Ok(())
    }
}

fn is_folder(path: &Path) -> io::Result<bool> {
    match path.metadata() {
        Ok(metadata) => Ok(metadata.is_dir()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(error) => Err(error),
    }
}

fn is_state(folder: &Path) -> io::Result<bool> {
    for part in ["uses", "revoked", "clock"] {
        if is_folder(&folder.join(part))? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries
            .filter_map(|entry| entry.map(|entry| entry.file_name().into_string().ok()).transpose())
            .collect(),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// The id in a name, which is its text in hexadecimal digits.
fn grant_of(name: &str) -> Option<String> {
    let text: Option<Vec<u8>> = name
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    let id = GrantId::parse(std::str::from_utf8(&text?).ok()?).ok()?;
    Some(id.to_string())
}

/// A file where the folder was: programs of the earlier version cannot make the folder anew, and refuse.
fn keep_its_name(folder: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(folder) {
        Ok(mut file) => file.write_all(NOTE).and_then(|()| file.sync_all()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

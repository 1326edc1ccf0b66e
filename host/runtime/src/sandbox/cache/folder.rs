//! The files of a cache: read whole and once, written under another name first, and no more of them than the bound.
//!
//! INVARIANT: no name is ever that of half a file; nothing is removed but what this room has written.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::private;
use super::sealed::SUFFIX;

/// What the name of a file begins with that is being written.
pub(super) const DRAFT: &str = ".draft-";
/// How long one is believed to be: nothing takes so long to write.
const DRAFT_AGE: Duration = Duration::from_hours(1);

/// Reads a file to its end, if it is one that this user alone can write and not larger than `most` bytes. The handle is
/// for saying that it was used.
pub(super) fn read(path: &Path, most: u64) -> io::Result<(Vec<u8>, File)> {
    let mut file = private::open(path)?;
    let metadata = file.metadata()?;
    if !private::is_private(&metadata) {
        return Err(io::Error::other("it is not a file that its owner alone can read and write"));
    }
    if metadata.len() > most {
        return Err(ErrorKind::FileTooLarge.into());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
    (&mut file).take(most).read_to_end(&mut bytes)?;
    Ok((bytes, file))
}

/// Writes a file: on the disk under another name, then under its own, whatever was there. When it was written.
pub(super) fn write(folder: &Path, name: &str, parts: [&[u8]; 2]) -> io::Result<SystemTime> {
    let mut draft = tempfile::Builder::new().prefix(DRAFT).tempfile_in(folder)?;
    for part in parts {
        draft.write_all(part)?;
    }
    draft.as_file().sync_all()?;
    let written = draft.as_file().metadata()?.modified()?;
    draft.persist(folder.join(name))?;
    Ok(written)
}

/// The files of compiled modules in a folder, as far as they can be looked at: the time of use, the size, the path.
pub(super) fn files(folder: &Path) -> io::Result<Vec<(SystemTime, u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.ends_with(SUFFIX));
        // Of what another process has just removed there is no more to be known.
        let Ok(metadata) = entry.metadata() else { continue };
        if is_ours && !metadata.is_dir() {
            found.push((metadata.modified()?, metadata.len(), entry.path()));
        }
    }
    Ok(found)
}

/// Removes those that were used longest ago, until the rest has no more than `most` bytes.
pub(super) fn bound(folder: &Path, most: u64) -> io::Result<()> {
    let mut files = files(folder)?;
    files.sort();
    let mut total = files.iter().fold(0, |total: u64, (_, length, _)| total.saturating_add(*length));
    for (_, length, path) in files {
        if total <= most {
            break;
        }
        remove(&path)?;
        total = total.saturating_sub(length);
    }
    Ok(())
}

/// Removes what processes that were killed have left half written.
pub(super) fn remove_drafts(folder: &Path, now: SystemTime) -> io::Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        let is_draft = entry.file_name().to_str().is_some_and(|name| name.starts_with(DRAFT));
        let Ok(metadata) = entry.metadata() else { continue };
        let age = now.duration_since(metadata.modified()?).unwrap_or_default();
        if is_draft && age > DRAFT_AGE {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Another process may have done it before.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

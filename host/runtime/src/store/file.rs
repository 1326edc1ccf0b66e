//! A store of small files: one for each use that is spent, one for each grant that is revoked, one for the clock.
//!
//! A use is spent by creating its file, which the file system lets exactly one process do; file and folder are synced
//! before `spend` returns, so a kill or a power cut leaves the use spent. Folders have mode 0700, files 0600.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use pinhole_grant::{GrantId, UnixTime};

use super::{SpendError, Store, StoreError};

/// A [`Store`] in a folder.
#[derive(Debug)]
pub struct FileStore {
    uses: PathBuf,
    revoked: PathBuf,
    clock: PathBuf,
}

impl FileStore {
    /// Opens the store in this folder; makes it where it is missing.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let store =
            Self { uses: folder.join("uses"), revoked: folder.join("revoked"), clock: folder.join("clock") };
        for sub in [&store.uses, &store.revoked, &store.clock] {
            private_folder(sub).map_err(|source| StoreError::new("make its folder", source))?;
        }
        Ok(store)
    }

    /// A number at or below the first use that is not spent: uses are spent in order, so halving finds it.
    fn first_unspent(&self, grant: &GrantId, allowed: NonZeroU32) -> io::Result<u32> {
        let (mut low, mut high) = (1, allowed.get());
        while low < high {
            let middle = low.midpoint(high);
            if is_there(&self.use_file(grant, middle))? {
                low = middle.saturating_add(1);
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    fn use_file(&self, grant: &GrantId, number: u32) -> PathBuf {
        self.uses.join(format!("{}.{number}", file_name(grant)))
    }
}

impl Store for FileStore {
    fn spend(&self, grant: &GrantId, allowed: NonZeroU32) -> Result<(), SpendError> {
        let failed = |source| StoreError::new("note that a use is spent", source);
        for number in self.first_unspent(grant, allowed).map_err(failed)?..=allowed.get() {
            match create_durably(&self.use_file(grant, number)) {
                Ok(()) => return Ok(()),
                Err(source) if source.kind() == ErrorKind::AlreadyExists => {}
                Err(source) => return Err(failed(source).into()),
            }
        }
        Err(SpendError::UsedUp)
    }

    /// Uses are spent in order, so the last one tells.
    fn has_use_left(&self, grant: &GrantId, allowed: NonZeroU32) -> Result<bool, StoreError> {
        let last = is_there(&self.use_file(grant, allowed.get()));
        last.map(|spent| !spent).map_err(|source| StoreError::new("look for spent uses", source))
    }

    fn revoke(&self, grant: &GrantId) -> Result<(), StoreError> {
        match create_durably(&self.revoked.join(file_name(grant))) {
            Err(source) if source.kind() != ErrorKind::AlreadyExists => {
                Err(StoreError::new("note that a grant is revoked", source))
            }
            _ => Ok(()),
        }
    }

    fn is_revoked(&self, grant: &GrantId) -> Result<bool, StoreError> {
        let path = self.revoked.join(file_name(grant));
        is_there(&path).map_err(|source| StoreError::new("look for a revocation", source))
    }

    /// The time is kept as the name of an empty file: making it is one step that cannot be seen half done, and the
    /// latest name wins whoever wrote it. The one before it stays, so that a reader who lists the folder meanwhile always
    /// sees one of the two; earlier ones are swept away.
    fn high_water(&self, now: UnixTime) -> Result<UnixTime, StoreError> {
        let failed = |source| StoreError::new("keep the latest time", source);
        let mut latest = None;
        let mut seen = Vec::new();
        for entry in fs::read_dir(&self.clock).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            if let Some(time) = name.to_str().and_then(|name| name.parse::<i64>().ok()) {
                latest = latest.max(Some(time));
                seen.push(time);
            }
        }
        if let Some(latest) = latest.filter(|latest| *latest >= now.as_secs()) {
            return Ok(UnixTime::from_secs(latest));
        }
        match private_file(&self.clock.join(now.as_secs().to_string())) {
            Err(source) if source.kind() != ErrorKind::AlreadyExists => return Err(failed(source)),
            _ => {}
        }
        for earlier in seen.into_iter().filter(|time| Some(*time) < latest) {
            match fs::remove_file(self.clock.join(earlier.to_string())) {
                Err(source) if source.kind() != ErrorKind::NotFound => return Err(failed(source)),
                _ => {}
            }
        }
        Ok(now)
    }
}

/// Hexadecimal, so that two ids stay two files where the file system ignores case.
fn file_name(grant: &GrantId) -> String {
    use std::fmt::Write as _;
    grant.to_string().bytes().fold(String::new(), |mut name, byte| {
        // Writing to a String cannot fail.
        write!(name, "{byte:02x}").unwrap_or_default();
        name
    })
}

/// Whether anything has this name, a link that leads nowhere included: such a name cannot be created anew either.
fn is_there(path: &Path) -> io::Result<bool> {
    match path.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Makes a folder and those above it that are missing, and waits until each name is on the disk.
fn private_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    private_folder(above)?;
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    File::open(above)?.sync_all()
}

fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Creates a file that must not be there yet, and waits until it and its name are on the disk.
fn create_durably(path: &Path) -> io::Result<()> {
    let mut file = private_file(path)?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(test)]
mod tests;

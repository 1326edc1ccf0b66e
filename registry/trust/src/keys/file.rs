//! Key files: one key, mode 0600, never overwritten.
//!
//! Refuses a file that others than its owner can get at. INVARIANT: a key file has its name only when it is whole.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::pem::{self, KeyTextError};
use super::{Passphrase, RegistryKey};

/// Longest key file that is read, in bytes.
pub const KEY_FILE_BYTES_MAX: u64 = 16 << 10;

/// Whether a key file needs a passphrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// It is read as it is.
    None,
    /// A passphrase opens it.
    Passphrase,
}

/// Why a key file was not read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// There is a file of that name already, which stays as it is.
    #[error("`{}` is there already and stays: choose another name, or move it away", .0.display())]
    Taken(PathBuf),
    /// The path names a folder, a device or a socket.
    #[error("`{}` is not a file", .0.display())]
    NotAFile(PathBuf),
    /// Others than its owner can read or write it.
    #[error(
        "others than its owner can get at the key `{path}` (mode {mode:04o}): `chmod 600 {path}`; if somebody may \
         have read it, replace the key with `pinhole registry rotate`",
        path = path.display()
    )]
    Open {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// It holds more than a key has.
    #[error("`{}` is larger than {KEY_FILE_BYTES_MAX} bytes: it is no key file", .0.display())]
    TooLarge(PathBuf),
    /// What it holds is not a key, or does not open.
    #[error("`{}` is not taken for a key: {fault}", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        fault: KeyTextError,
    },
    /// The disk.
    #[error("`{}` could not be read or written: look at the path and the disk", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl RegistryKey {
    /// Whether the key file needs a passphrase; the same refusals as [`Self::read`].
    pub fn protection(path: &Path) -> Result<Protection, KeyFileError> {
        let text = text_of(path)?;
        Ok(if pem::is_protected(&text) { Protection::Passphrase } else { Protection::None })
    }

    /// Reads a key file. A passphrase for a file that needs none is not used.
    pub fn read(path: &Path, passphrase: Option<&Passphrase>) -> Result<Self, KeyFileError> {
        let text = text_of(path)?;
        pem::read(&text, passphrase).map_err(|fault| KeyFileError::Text { path: path.to_owned(), fault })
    }

    /// Writes a new key file, mode 0600, in a folder that is there; protected where a passphrase is given, which takes
    /// 16 MiB of memory and a moment. Never overwrites.
    pub fn write<R: CryptoRng>(
        &self,
        path: &Path,
        passphrase: Option<&Passphrase>,
        rng: &mut R,
    ) -> Result<(), KeyFileError> {
        let text = pem::write(self, passphrase, rng)
            .map_err(|fault| KeyFileError::Text { path: path.to_owned(), fault })?;
        let failed = |source| KeyFileError::Io { path: path.to_owned(), source };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // The draft has mode 0600 from its first byte.
        let mut draft = tempfile::Builder::new().prefix(".draft-").tempfile_in(folder).map_err(failed)?;
        draft.write_all(text.as_bytes()).map_err(failed)?;
        draft.as_file().sync_all().map_err(failed)?;
        if let Err(taken) = draft.persist_noclobber(path) {
            return Err(match taken.error.kind() {
                io::ErrorKind::AlreadyExists => KeyFileError::Taken(path.to_owned()),
                _ => failed(taken.error),
            });
        }
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
    }
}

fn text_of(path: &Path) -> Result<Zeroizing<String>, KeyFileError> {
    let failed = |source| KeyFileError::Io { path: path.to_owned(), source };
    // What is no file might never answer.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(KeyFileError::NotAFile(path.to_owned()));
    }
    let file = File::open(path).map_err(failed)?;
    #[cfg(unix)]
    only_the_owner_s(&file, path)?;
    // With room for all of it from the start, no half is left behind by growing.
    let mut text =
        Zeroizing::new(String::with_capacity(usize::try_from(KEY_FILE_BYTES_MAX).unwrap_or(0) + 1));
    let read = file.take(KEY_FILE_BYTES_MAX + 1).read_to_string(&mut text);
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > KEY_FILE_BYTES_MAX {
        return Err(KeyFileError::TooLarge(path.to_owned()));
    }
    match read {
        Ok(_) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(KeyFileError::Text { path: path.to_owned(), fault: KeyTextError::Syntax })
        }
        Err(error) => Err(failed(error)),
    }
}

#[cfg(unix)]
fn only_the_owner_s(file: &File, path: &Path) -> Result<(), KeyFileError> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata = file.metadata().map_err(|source| KeyFileError::Io { path: path.to_owned(), source })?;
    let mode = metadata.permissions().mode() & 0o777;
    let others = mode & 0o077;
    if others == 0 { Ok(()) } else { Err(KeyFileError::Open { path: path.to_owned(), mode }) }
}

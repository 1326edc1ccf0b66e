//! The key of a cache: 32 random bytes in a file of its own.
//!
//! INVARIANT: the file has its name only once it is whole, and that name is given once: several processes that make a key
//! at the same time end with one. A key that others could have read is no key. Nothing is sealed with it but compiled
//! modules.

use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::Path;

use zeroize::Zeroizing;

use super::folder::DRAFT;
use super::private::{self, CacheError};
use crate::entropy::Entropy;

/// Bytes of a key.
const LENGTH: usize = 32;

/// The key of a cache. It is never shown.
pub(super) struct Key(Zeroizing<[u8; LENGTH]>);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Key {
    /// The key in this file, which is made where there is none.
    pub(super) fn open(path: &Path, entropy: &dyn Entropy) -> Result<Self, CacheError> {
        if let Some(key) = Self::look(path)? {
            return Ok(key);
        }
        Self::make(path, entropy)?;
        Self::look(path)?.ok_or_else(|| CacheError::Key { path: path.to_path_buf() })
    }

    /// The key in this file; none where there is no file.
    pub(super) fn look(path: &Path) -> Result<Option<Self>, CacheError> {
        let file = match private::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            // What is in its place is a link.
            Err(_) if path.is_symlink() => return Err(CacheError::Key { path: path.to_path_buf() }),
            Err(source) => return Err(CacheError::Disk { path: path.to_path_buf(), source }),
        };
        let failed = |source| CacheError::Disk { path: path.to_path_buf(), source };
        if !private::is_private(&file.metadata().map_err(failed)?) {
            return Err(CacheError::Key { path: path.to_path_buf() });
        }
        let mut bytes = Zeroizing::new(Vec::with_capacity(LENGTH.saturating_add(1)));
        let most = u64::try_from(LENGTH).unwrap_or_default().saturating_add(1);
        file.take(most).read_to_end(&mut bytes).map_err(failed)?;
        match <[u8; LENGTH]>::try_from(bytes.as_slice()) {
            Ok(key) => Ok(Some(Self(Zeroizing::new(key)))),
            Err(_other_length) => Err(CacheError::Key { path: path.to_path_buf() }),
        }
    }

    fn make(path: &Path, entropy: &dyn Entropy) -> Result<(), CacheError> {
        let failed = |source| CacheError::Disk { path: path.to_path_buf(), source };
        let mut bytes = Zeroizing::new([0; LENGTH]);
        entropy.fill(&mut *bytes)?;
        let folder = super::above(path);
        let mut draft = tempfile::Builder::new().prefix(DRAFT).tempfile_in(folder).map_err(failed)?;
        draft.write_all(&*bytes).and_then(|()| draft.as_file().sync_all()).map_err(failed)?;
        match draft.persist_noclobber(path) {
            // Another process was first: its key is the key.
            Err(error) if error.error.kind() != ErrorKind::AlreadyExists => return Err(failed(error.error)),
            _ => {}
        }
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
    }

    pub(super) fn expose(&self) -> &[u8; LENGTH] {
        &self.0
    }
}

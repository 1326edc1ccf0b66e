//! Compiled modules on the disk, so that the next process need not compile.
//!
//! Refuses every file but one that was written here, for this engine and this module, with the key of this cache: anything
//! else is compiled anew and written over. INVARIANT: what the engine is given are bytes in memory whose MAC was checked in
//! memory, never the file once more; and nothing here fails a call. DESIGN, "Op modules".

mod folder;
mod key;
mod private;
mod sealed;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use pinhole_manifest::Digest;
use wasmtime::Engine;
use wasmtime::component::Component;

use self::key::Key;
pub use self::private::CacheError;
use self::sealed::{NotOurs, Purpose};
use crate::entropy::Entropy;

/// A folder of compiled modules. Nothing is looked at, and nothing made, until a module is asked for.
pub(super) struct Cache {
    folder: PathBuf,
    /// Most bytes of all files.
    most: u64,
    entropy: Box<dyn Entropy>,
    key: OnceLock<Option<Key>>,
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("folder", &self.folder)
            .field("most", &self.most)
            .finish_non_exhaustive()
    }
}

/// Why a file is not taken.
#[derive(Debug, thiserror::Error)]
enum NotTaken {
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    #[error(transparent)]
    NotOurs(#[from] NotOurs),
    #[error("the engine does not take it: {0}")]
    Unfit(wasmtime::Error),
}

impl Cache {
    pub(super) fn new(folder: PathBuf, most: u64, entropy: Box<dyn Entropy>) -> Self {
        Self { folder, most, entropy, key: OnceLock::new() }
    }

    /// What this module was compiled to for this engine, if that is here.
    pub(super) fn find(&self, engine: &Engine, module: Digest) -> Option<Component> {
        let key = self.key()?;
        match self.taken(&Purpose::new(engine, module), key) {
            Ok(component) => {
                tracing::debug!(%module, "a compiled module is taken from the cache");
                Some(component)
            }
            Err(NotTaken::Unreadable(error)) if error.kind() == ErrorKind::NotFound => None,
            Err(why) => {
                tracing::debug!(%module, %why, "a file of the cache is not taken: it is written anew");
                None
            }
        }
    }

    /// Keeps what a module was compiled to, for the next process.
    pub(super) fn keep(&self, engine: &Engine, module: Digest, component: &Component) {
        let Some(key) = self.key() else { return };
        if let Err(error) = self.kept(&Purpose::new(engine, module), component, key) {
            tracing::debug!(%module, %error, "a compiled module is not kept");
        }
    }

    fn taken(&self, purpose: &Purpose<'_>, key: &Key) -> Result<Component, NotTaken> {
        let (bytes, file) = folder::read(&self.folder.join(purpose.name()), self.most)?;
        let component = purpose.open(&bytes, key)?.load().map_err(NotTaken::Unfit)?;
        if let Err(error) = private::touch(&file).and_then(|()| self.sweep(file.metadata()?.modified()?)) {
            tracing::debug!(%error, "the cache is not tidied up");
        }
        Ok(component)
    }

    fn kept(&self, purpose: &Purpose<'_>, component: &Component, key: &Key) -> io::Result<()> {
        let code = component.serialize().map_err(io::Error::other)?;
        let before = purpose.seal(&code, key);
        let length = u64::try_from(before.len().saturating_add(code.len())).unwrap_or(u64::MAX);
        if length > self.most {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let now = folder::write(&self.folder, &purpose.name(), [&before, &code])?;
        self.sweep(now)
    }

    fn sweep(&self, now: std::time::SystemTime) -> io::Result<()> {
        folder::bound(&self.folder, self.most)?;
        folder::remove_drafts(&self.folder, now)?;
        // A key is drafted beside its own place.
        folder::remove_drafts(above(&self.folder), now)
    }

    /// The key, once it is known that nobody else can write here.
    fn key(&self) -> Option<&Key> {
        let open = || {
            let opened = self.open();
            match &opened {
                Err(error) if error.is_suspicious() => {
                    let hint = error.hint();
                    tracing::warn!(error = as_error(error), hint, "compiled modules are not kept");
                }
                Err(error) => tracing::debug!(error = as_error(error), "compiled modules are not kept"),
                Ok(_) => {}
            }
            opened.ok()
        };
        self.key.get_or_init(open).as_ref()
    }

    fn open(&self) -> Result<Key, CacheError> {
        private::make_folder(above(&self.folder))?;
        private::make_folder(&self.folder)?;
        Key::open(&key_file(&self.folder), &*self.entropy)
    }
}

/// What a cache keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheContent {
    /// How many compiled modules.
    pub modules: usize,
    /// How many bytes they have.
    pub bytes: u64,
}

/// Looks whether a folder can be used as a cache, and what it keeps; none where it was not made yet. Changes nothing.
pub fn look_at_cache(folder: &Path) -> Result<Option<CacheContent>, CacheError> {
    if !private::look_at_folder(above(folder))? || !private::look_at_folder(folder)? {
        return Ok(None);
    }
    let _key_if_any = Key::look(&key_file(folder))?;
    let files = folder::files(folder);
    let files = files.map_err(|source| CacheError::Disk { path: folder.to_path_buf(), source })?;
    let bytes = files.iter().fold(0, |total: u64, (_, length, _)| total.saturating_add(*length));
    Ok(Some(CacheContent { modules: files.len(), bytes }))
}

/// Beside the folder, so that who removes what is in it keeps the key.
fn key_file(folder: &Path) -> PathBuf {
    folder.with_extension("key")
}

/// For the log, which then says the causes too.
fn as_error(error: &CacheError) -> &(dyn std::error::Error + 'static) {
    error
}

fn above(path: &Path) -> &Path {
    path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

//! Where the files of a manifest's modules are, and how one is read.
//!
//! Refuses what is larger than a module may be. INVARIANT: what is read is believed by nobody before its digest was held
//! against the manifest's.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

/// Where the files are that a manifest's modules are in.
#[derive(Debug, Clone, Default)]
pub enum ModuleFiles {
    /// Nowhere: ops that need one are refused.
    #[default]
    None,
    /// In this folder, under the names that the manifest has for them. They are read when the op is first called.
    In(PathBuf),
    /// Each in a file of its own, by the name that the manifest has for it. They are read when the op is first called.
    At(Arc<BTreeMap<String, PathBuf>>),
    /// In the binary.
    BuiltIn(&'static [(&'static str, &'static [u8])]),
    /// In memory.
    Held(Arc<BTreeMap<String, Vec<u8>>>),
}

/// Largest file of a module, in bytes: 32 MiB.
pub const MODULE_BYTES_MAX: u64 = 32 << 20;

/// Why a module's file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ModuleFileError {
    /// There is none.
    #[error("there is no such file")]
    Absent,
    /// It has more than 32 MiB.
    #[error("the file has more than {MODULE_BYTES_MAX} bytes")]
    TooLarge,
    /// The disk said no.
    #[error("the file cannot be read: {0}")]
    Io(#[from] std::io::Error),
}

impl ModuleFiles {
    /// Reads a file by the name that the manifest has for it, which is always one inside of its folder.
    pub(crate) fn read(&self, name: &str) -> Result<Vec<u8>, ModuleFileError> {
        match self {
            Self::None => Err(ModuleFileError::Absent),
            Self::BuiltIn(files) => {
                let found = files.iter().find(|(file, _)| *file == name);
                found.map(|(_, bytes)| bytes.to_vec()).ok_or(ModuleFileError::Absent)
            }
            Self::Held(files) => files.get(name).cloned().ok_or(ModuleFileError::Absent),
            Self::In(folder) => from_disk(folder.join(name)),
            Self::At(files) => from_disk(files.get(name).cloned().ok_or(ModuleFileError::Absent)?),
        }
    }
}

fn from_disk(path: PathBuf) -> Result<Vec<u8>, ModuleFileError> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path)?;
    file.take(MODULE_BYTES_MAX.saturating_add(1)).read_to_end(&mut bytes)?;
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if size > MODULE_BYTES_MAX { Err(ModuleFileError::TooLarge) } else { Ok(bytes) }
}

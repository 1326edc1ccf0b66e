//! Whose a file or a folder is, and who may write it. The only reader of owners and modes in this room.
//!
//! Refuses what is another user's and what others may write, and follows no link where a file is expected.

use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Why a cache is not used. Modules are then compiled by each process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// Others could put files into the folder.
    #[error("others than its owner can put files into `{}` (mode {mode:04o})", path.display())]
    Open {
        /// The folder.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// It belongs to another user.
    #[error("`{}` belongs to another user", path.display())]
    Foreign {
        /// The folder, or the key's file.
        path: PathBuf,
    },
    /// Something else is in the folder's place.
    #[error("`{}` is not a folder", path.display())]
    NotAFolder {
        /// The place.
        path: PathBuf,
    },
    /// The key's file is none, or others can get at it.
    #[error("`{}` is not a key that its owner alone can read", path.display())]
    Key {
        /// The file.
        path: PathBuf,
    },
    /// The disk says no.
    #[error("`{}` cannot be used", path.display())]
    Disk {
        /// The folder or the file.
        path: PathBuf,
        /// What it says.
        source: io::Error,
    },
    /// There is no randomness for a key.
    #[error("no key can be made")]
    Entropy(#[from] crate::entropy::EntropyError),
}

impl CacheError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Open { path, .. } => format!(
                "`chmod 700 {0}`, and remove what is in it: modules are then compiled once more",
                path.display()
            ),
            Self::Foreign { path } => {
                format!("give `{}` to the user that runs Pinhole, or move it away", path.display())
            }
            Self::NotAFolder { path } => format!("move `{}` away", path.display()),
            Self::Key { path } => {
                format!("remove `{}`: a new one is made, and modules are compiled once more", path.display())
            }
            Self::Disk { path, .. } => format!("look at the disk and at the rights of `{}`", path.display()),
            Self::Entropy(_) => "look at the machine's source of randomness".to_owned(),
        }
    }

    /// Whether somebody else may have had a hand in it.
    pub(super) fn is_suspicious(&self) -> bool {
        !matches!(self, Self::Disk { .. } | Self::Entropy(_))
    }
}

/// Looks at a folder, whose name may be a link; whether it is there.
pub(super) fn look_at_folder(path: &Path) -> Result<bool, CacheError> {
    let place = || path.to_path_buf();
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => return Ok(false),
        Err(source) => return Err(CacheError::Disk { path: place(), source }),
    };
    if !metadata.is_dir() {
        return Err(CacheError::NotAFolder { path: place() });
    }
    if !is_own(&metadata).map_err(|source| CacheError::Disk { path: place(), source })? {
        return Err(CacheError::Foreign { path: place() });
    }
    match mode(&metadata) {
        mode if mode & 0o022 != 0 => Err(CacheError::Open { path: place(), mode }),
        _ => Ok(true),
    }
}

/// The same, made where it is missing.
pub(super) fn make_folder(path: &Path) -> Result<(), CacheError> {
    if !look_at_folder(path)? {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path).map_err(|source| CacheError::Disk { path: path.to_path_buf(), source })?;
        look_at_folder(path)?;
    }
    Ok(())
}

/// Whether this is a file that this user alone can read and write.
pub(super) fn is_private(metadata: &Metadata) -> bool {
    metadata.is_file() && is_own(metadata).unwrap_or(false) && mode(metadata) == 0o600
}

/// Opens what is no link, and waits for nobody.
#[cfg(unix)]
pub(super) fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, how, Mode::empty())?.into())
}

/// Says that a file was used now.
#[cfg(unix)]
pub(super) fn touch(file: &File) -> io::Result<()> {
    use rustix::fs::{Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};
    let time = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
    let times = Timestamps { last_access: time(UTIME_OMIT), last_modification: time(UTIME_NOW) };
    Ok(rustix::fs::futimens(file, &times)?)
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere nobody can say")]
fn is_own(metadata: &Metadata) -> io::Result<bool> {
    Ok(std::os::unix::fs::MetadataExt::uid(metadata) == rustix::process::geteuid().as_raw())
}

#[cfg(unix)]
fn mode(metadata: &Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777
}

// Elsewhere nobody can say whose a file is: nothing is kept.
#[cfg(not(unix))]
pub(super) fn open(_: &Path) -> io::Result<File> {
    Err(ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
pub(super) fn touch(_: &File) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
fn is_own(_: &Metadata) -> io::Result<bool> {
    Err(ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
fn mode(_: &Metadata) -> u32 {
    0o777
}

//! The file of a client's configuration: read whole, written whole by a rename, the old one kept beside it.
//!
//! It follows no link below the folder that it starts from: a project that somebody else made may have one that leads anywhere.
//! INVARIANT: what is replaced is what was shown, and stays beside it; no file that was there before is lost. Of two of these
//! commands at one file, one writes, and the other says that it did not.

use std::fs::{File, Permissions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::client::{Scope, Spot};
use crate::end::{End, Failure};
use crate::files;

/// Longest configuration of the person's that is edited, in bytes: 64 MiB. Some clients keep more than settings in theirs.
const MOST: u64 = 64 << 20;

/// Longest one of a project, which somebody else may have made, in bytes: 1 MiB.
const PROJECT_MOST: u64 = 1 << 20;

/// How many old files are kept beside one.
const KEPT_MAX: u32 = 999;

#[derive(Debug)]
pub(super) struct Place {
    file: PathBuf,
    scope: Scope,
    /// What is there now; `None` where there is no file.
    text: Option<String>,
}

impl Place {
    /// Looks at the file and reads it.
    pub(super) fn read(spot: &Spot) -> anyhow::Result<Self> {
        let file = no_link_on_the_way(spot)?;
        let text = match std::fs::symlink_metadata(&file) {
            Ok(found) if !found.is_file() => {
                let message = format!("`{}` is not a file", file.display());
                return Err(Failure::new(End::Refused, message, "look at what is in its place").into());
            }
            Ok(found) => {
                fits(&file, found.len(), spot.scope)?;
                Some(text(&file)?)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                let message = format!("`{}` cannot be looked at: {error}", file.display());
                return Err(Failure::new(End::Usage, message, "look at the path").into());
            }
        };
        Ok(Self { file, scope: spot.scope, text })
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    pub(super) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Puts this in the place of what was read, and gives where the old file is kept.
    pub(super) fn write(&self, new: &str) -> anyhow::Result<Option<PathBuf>> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        match self.scope {
            Scope::User => files::private_folder(folder)?,
            Scope::Project => std::fs::create_dir_all(folder).map_err(|error| self.unwritten(&error))?,
        }
        let permissions = self.unchanged()?;
        let held = self.hold()?;
        let draft = self.draft(new, permissions.as_ref()).map_err(|error| self.unwritten(&error))?;
        let kept = match (&self.text, &permissions) {
            (Some(text), Some(permissions)) => Some(self.keep(text, permissions)?),
            _ => None,
        };
        // Others than this command do not look at the lock.
        if let Err(changed) = self.unchanged() {
            if let Some(kept) = kept {
                std::fs::remove_file(kept).unwrap_or_default();
            }
            return Err(changed);
        }
        let named =
            if kept.is_some() { draft.persist(&self.file) } else { draft.persist_noclobber(&self.file) };
        named.map_err(|failed| match failed.error.kind() {
            std::io::ErrorKind::AlreadyExists => self.changed(),
            _ => self.unwritten(&failed.error),
        })?;
        drop(held);
        Ok(kept)
    }

    /// Looks whether what was read is what is there, and gives who may read it.
    fn unchanged(&self) -> anyhow::Result<Option<Permissions>> {
        let now = std::fs::symlink_metadata(&self.file).ok();
        let same = match (&self.text, &now) {
            (None, None) => true,
            (Some(text), Some(found)) => found.is_file() && self::text(&self.file)? == *text,
            _ => false,
        };
        if same { Ok(now.map(|found| found.permissions())) } else { Err(self.changed()) }
    }

    /// Keeps others of this command from the file until it is dropped. One that is not there needs no lock: its name is taken
    /// only if it is free.
    #[cfg(unix)]
    fn hold(&self) -> anyhow::Result<Option<File>> {
        use std::fs::TryLockError;
        use std::os::unix::fs::MetadataExt as _;
        if self.text.is_none() {
            return Ok(None);
        }
        // Over the network a lock wants a file that may be written.
        let opened = File::options().read(true).write(true).open(&self.file);
        let file =
            opened.or_else(|_unwritable| File::open(&self.file)).map_err(|error| self.unwritten(&error))?;
        file.try_lock().map_err(|failed| match failed {
            TryLockError::WouldBlock => self.changed(),
            TryLockError::Error(error) => self.unwritten(&error),
        })?;
        // Who had the lock before may have put another file in its place.
        let place = |found: &std::fs::Metadata| (found.dev(), found.ino());
        let (held, there) = (file.metadata(), std::fs::symlink_metadata(&self.file));
        match (held, there) {
            (Ok(held), Ok(there)) if place(&held) == place(&there) => Ok(Some(file)),
            _ => Err(self.changed()),
        }
    }

    #[cfg(not(unix))]
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "as where there are locks")]
    fn hold(&self) -> anyhow::Result<Option<File>> {
        Ok(None)
    }

    /// Keeps the old file under a name that is free.
    fn keep(&self, text: &str, permissions: &Permissions) -> anyhow::Result<PathBuf> {
        for number in 1..=KEPT_MAX {
            let mut name = self.file.as_os_str().to_owned();
            name.push(if number == 1 { ".bak".to_owned() } else { format!(".bak{number}") });
            let path = PathBuf::from(name);
            let draft = self.draft(text, Some(permissions)).map_err(|error| self.unwritten(&error))?;
            match draft.persist_noclobber(&path) {
                Ok(_) => return Ok(path),
                Err(failed) if failed.error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(failed) => return Err(self.unwritten(&failed.error)),
            }
        }
        let message = format!("there are {KEPT_MAX} old files beside `{}` already", self.file.display());
        Err(Failure::new(End::Local, message, "remove those that you do not need").into())
    }

    /// A whole file without its name yet. One that is new is the owner's alone, but for a project's.
    fn draft(
        &self,
        text: &str,
        permissions: Option<&Permissions>,
    ) -> std::io::Result<tempfile::NamedTempFile> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        if permissions.is_none() && self.scope == Scope::Project {
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        }
        let mut draft = builder.prefix(".draft").tempfile_in(folder)?;
        draft.write_all(text.as_bytes())?;
        if let Some(permissions) = permissions {
            draft.as_file().set_permissions(permissions.clone())?;
        }
        draft.as_file().sync_all()?;
        Ok(draft)
    }

    fn changed(&self) -> anyhow::Error {
        let message = format!("`{}` was changed meanwhile, and was left as it is", self.file.display());
        Failure::new(End::Refused, message, "close the client, and run the command again").into()
    }

    fn unwritten(&self, error: &std::io::Error) -> anyhow::Error {
        let message = format!("`{}` could not be written: {error}", self.file.display());
        Failure::new(End::Local, message, "look at the rights of its folder and at the disk").into()
    }
}

fn fits(file: &Path, bytes: u64, scope: Scope) -> anyhow::Result<()> {
    let most = if scope == Scope::Project { PROJECT_MOST } else { MOST };
    if bytes <= most {
        return Ok(());
    }
    let message = format!("`{}` is larger than {most} bytes, and was left as it is", file.display());
    Err(Failure::new(End::Refused, message, "put the entry there yourself: `--print` shows it").into())
}

fn text(file: &Path) -> anyhow::Result<String> {
    String::from_utf8(files::read_up_to(file, MOST)?).map_err(|_error| {
        let message = format!("`{}` is not UTF-8 text", file.display());
        Failure::new(End::Refused, message, "look at what is in it; it was left as it is").into()
    })
}

/// The whole path, once it is sure that no part of it below the base is a link.
fn no_link_on_the_way(spot: &Spot) -> anyhow::Result<PathBuf> {
    let mut path = spot.base.clone();
    for part in &spot.below {
        path.push(part);
        if !path.is_symlink() {
            continue;
        }
        let leads = std::fs::read_link(&path).unwrap_or_default();
        let message =
            format!("`{}` is a link (to `{}`), and is not followed", path.display(), leads.display());
        let hint = "if that is where the client's configuration is, name the file itself with `--file`";
        return Err(Failure::new(End::Refused, message, hint).into());
    }
    Ok(path)
}

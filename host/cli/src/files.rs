//! Files that a command reads and writes. Private ones have mode 0600 in folders of mode 0700, and are never overwritten.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;

use anyhow::Context as _;

use pinhole_runtime::catalog::MODULE_BYTES_MAX;

use crate::end::{End, Failure};

/// Longest input that a command takes, in bytes: 4 MiB.
const INPUT_MAX: u64 = 4 << 20;

/// Reads a file, or stdin for `-`, up to a size.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    read_up_to(path, INPUT_MAX)
}

/// Reads a file, or stdin for `-`, up to so many bytes.
pub(crate) fn read_up_to(path: &Path, most: u64) -> anyhow::Result<Vec<u8>> {
    if path == Path::new("-") {
        return bounded(std::io::stdin().lock(), "stdin", most);
    }
    bounded(open(path)?, &path.display().to_string(), most)
}

/// Reads the file of a module's component.
pub(crate) fn read_component(path: &Path) -> anyhow::Result<Vec<u8>> {
    bounded(open(path)?, &path.display().to_string(), MODULE_BYTES_MAX)
}

/// What is private in a file: what it is called, and what to do where others may have read it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Private(&'static str, &'static str);

/// Files of keys.
const KEYS: Private = Private("is a key file", "make new keys");
/// Files with the URL of a database.
pub(crate) const DATABASE_URL: Private = Private("has the password of a database", "change the password");

/// Files of the private keys of certificates.
pub(crate) const TLS_KEY: Private = Private("has the private key of a certificate", "get a new certificate");

/// Reads a key file. One that others can read or write is refused: what it holds is no secret any more.
pub(crate) fn read_private(path: &Path) -> anyhow::Result<Vec<u8>> {
    read_private_of(path, KEYS)
}

/// The same for another secret.
pub(crate) fn read_private_of(path: &Path, what: Private) -> anyhow::Result<Vec<u8>> {
    // What is no file might never answer.
    if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        let message = format!("`{}` is not a file", path.display());
        return Err(Failure::new(End::Local, message, "look at what is in its place").into());
    }
    let file = open(path)?;
    #[cfg(unix)]
    only_the_owner_s(&file, path, what)?;
    #[cfg(not(unix))]
    let _only_one_user = what;
    bounded(file, &path.display().to_string(), INPUT_MAX)
}

/// Refuses a home, or the folder of its keys, that others than its owner can write: they could put keys, settings and another
/// database there.
pub(crate) fn only_ours_to_write(home: &Path) -> anyhow::Result<()> {
    #[cfg(unix)]
    if let Ok(metadata) = home.metadata() {
        let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777;
        if metadata.is_dir() && mode & 0o022 != 0 {
            let home = home.display();
            let message = format!("others than its owner can put files into `{home}` (mode {mode:04o})");
            let hint = format!("look whether what is in it is yours, then `chmod go-w {home}`");
            return Err(Failure::new(End::Local, message, hint).into());
        }
    }
    #[cfg(not(unix))]
    let _only_one_user = home;
    Ok(())
}

/// Refuses a file in a home that belongs neither to whom the home does nor to the superuser: its owner can write it.
#[cfg(unix)]
pub(crate) fn not_a_stranger_s(path: &Path, metadata: &std::fs::Metadata) -> anyhow::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let home = path.parent().filter(|home| !home.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (owner, ours) = (metadata.uid(), home.metadata()?.uid());
    if owner == 0 || owner == ours {
        return Ok(());
    }
    let path = path.display();
    let message =
        format!("`{path}` belongs to another user (id {owner}) than the home that it is in (id {ours})");
    let hint = format!("look whether what it says is yours, then `chown {ours} {path}`");
    Err(Failure::new(End::Local, message, hint).into())
}

fn open(path: &Path) -> anyhow::Result<File> {
    File::open(path).map_err(|error| {
        let message = format!("`{}` cannot be read: {error}", path.display());
        Failure::new(End::Usage, message, "look at the path").into()
    })
}

#[cfg(unix)]
fn only_the_owner_s(file: &File, path: &Path, what: Private) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = file.metadata()?.permissions().mode() & 0o777;
    let others = mode & 0o077;
    if others == 0 {
        return Ok(());
    }
    let path = path.display();
    let message = format!("`{path}` {}, and others than its owner can get at it (mode {mode:04o})", what.0);
    let hint = format!("`chmod 600 {path}`; if somebody may have read it, {}", what.1);
    Err(Failure::new(End::Local, message, hint).into())
}

fn bounded(from: impl std::io::Read, shown: &str, most: u64) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let took = from.take(most.saturating_add(1)).read_to_end(&mut bytes);
    took.map_err(|error| {
        Failure::new(End::Usage, format!("`{shown}` cannot be read: {error}"), "look at the path")
    })?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > most {
        let message = format!("`{shown}` is larger than {most} bytes");
        return Err(Failure::new(End::Usage, message, "pass a smaller one").into());
    }
    Ok(bytes)
}

/// Refuses a command line that would read stdin twice: the second reader would find it empty.
pub(crate) fn one_reader_of_stdin(readers: &[(&str, bool)]) -> anyhow::Result<()> {
    let named: Vec<&str> = readers.iter().filter(|(_, reads)| *reads).map(|(name, _)| *name).collect();
    if named.len() < 2 {
        return Ok(());
    }
    let message = format!("stdin is read once, and here it is wanted for `{}`", named.join("` and `"));
    Err(Failure::new(End::Usage, message, "put all but one into files").into())
}

/// The same as text.
pub(crate) fn read_text(path: &Path) -> anyhow::Result<String> {
    text(read(path)?, path)
}

fn text(bytes: Vec<u8>, path: &Path) -> anyhow::Result<String> {
    String::from_utf8(bytes).map_err(|_error| {
        let message = format!("`{}` is not UTF-8 text", path.display());
        Failure::new(End::Usage, message, "pass a text file").into()
    })
}

/// Whether a file was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    Now,
    /// Somebody else had written one, which stays as it is.
    Before,
}

/// Writes a private file where there is none: whole, synced, then named.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> anyhow::Result<Written> {
    let folder = path.parent().context("a private file stands in a folder")?;
    private_folder(folder)?;
    let mut draft = tempfile::Builder::new().prefix(".draft").tempfile_in(folder)?;
    draft.write_all(bytes)?;
    draft.as_file().sync_all()?;
    // INVARIANT: what is there already stays; the name is taken only if it is free.
    if let Err(failed) = draft.persist_noclobber(path) {
        if failed.error.kind() == std::io::ErrorKind::AlreadyExists {
            return Ok(Written::Before);
        }
        return Err(failed).with_context(|| format!("`{}` could not be made", path.display()));
    }
    File::open(folder)?.sync_all()?;
    Ok(Written::Now)
}

/// Puts new content in the place of a private file's: the old one or the new one is there, never half of one.
pub(crate) fn replace_private(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let folder = path.parent().context("a private file stands in a folder")?;
    let mut draft = tempfile::Builder::new().prefix(".draft").tempfile_in(folder)?;
    draft.write_all(bytes)?;
    draft.as_file().sync_all()?;
    draft.persist(path).with_context(|| format!("`{}` could not be replaced", path.display()))?;
    File::open(folder)?.sync_all()?;
    Ok(())
}

/// Puts content in the place of a file's, or makes one: the old or the new is there, never half of one. For files that
/// are no secret.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let put = || draft(path, bytes)?.persist(path).map_err(|failed| failed.error);
    put().map(drop).map_err(|error| unwritten(End::Local, path, &error, "look at the path and the disk"))
}

/// Writes a file that is no secret where there is none: whole, synced, then named.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let put = || draft(path, bytes)?.persist_noclobber(path).map_err(|failed| failed.error);
    let hint = "name a file that is not there, in a folder that is";
    put().map(drop).map_err(|error| unwritten(End::Usage, path, &error, hint))
}

/// Content that is whole and synced in the folder of a path, and has not its name yet. No secret: others may read it.
fn draft(path: &Path, bytes: &[u8]) -> std::io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut draft = builder.prefix(".draft").tempfile_in(folder)?;
    draft.write_all(bytes)?;
    draft.as_file().sync_all()?;
    Ok(draft)
}

fn unwritten(end: End, path: &Path, error: &std::io::Error, hint: &str) -> anyhow::Error {
    Failure::new(end, format!("`{}` could not be written: {error}", path.display()), hint).into()
}

/// Makes a folder that only its owner can get at, with those above it.
pub(crate) fn private_folder(folder: &Path) -> anyhow::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).with_context(|| format!("`{}` could not be made", folder.display()))
}

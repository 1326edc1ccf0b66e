//! The same workflow for any TUF repository, on a plain folder of metadata: what conformance suites drive.
//!
//! Refuses what `Refused` says, but knows nothing of services: every key type of the library, any target name,
//! delegated ones too. INVARIANT: each file of the folder is replaced in one step and only by what was verified;
//! nothing is written outside the two folders. Roles are kept as far as a refresh has got, as the specification says.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp as Time;
use serde::de::DeserializeOwned;
use tough::schema::Role;

use super::collection::{digest, place};
use super::delegated::{Kept, find};
use super::fetch::{Area, Fetch, RemotePath};
use super::refresh::{Refresh, get, right_hash, right_length};
use super::refused::Refused;
use super::role::{Document, Profile};
use super::trusted::Trusted;
use crate::RoleName;

/// Largest target that is downloaded, in bytes.
const TARGET_MAX: u64 = 256 << 20;

/// Why nothing, or not all, was done.
#[derive(Debug, thiserror::Error)]
pub enum BareError {
    /// What the repository offers is refused.
    #[error("what the repository offers is refused")]
    Refused(#[source] Refused),
    /// A file of the folder is damaged.
    #[error("`{}` is damaged; begin with a new folder and a root that you trust", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: Refused,
    },
    /// The folder has no root.
    #[error("`{}` is not there; `init` with a root that you trust first", .0.display())]
    NoRoot(PathBuf),
    /// The folder has another root already.
    #[error("`{}` is another root; use a new folder for another repository", .0.display())]
    OtherRoot(PathBuf),
    /// The disk says no.
    #[error("`{}` cannot be used", path.display())]
    Disk {
        /// The file or folder.
        path: PathBuf,
        /// What it says.
        source: io::Error,
    },
}

/// The versions that are trusted after a refresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BareVersions {
    /// Of the root.
    pub root: u64,
    /// Of the timestamp.
    pub timestamp: u64,
    /// Of the snapshot.
    pub snapshot: u64,
    /// Of the targets.
    pub targets: u64,
}

/// Begins a folder of metadata with a root that the caller trusts.
pub fn init(metadata_dir: &Path, root: &[u8]) -> Result<(), BareError> {
    Trusted::begin(root.to_vec(), Profile::Any).map_err(BareError::Refused)?;
    fs::create_dir_all(metadata_dir).map_err(|source| disk(metadata_dir, source))?;
    let path = metadata_dir.join(RoleName::Root.file());
    match read(&path, RoleName::Root.bytes_max())? {
        Some(bytes) if bytes == root => Ok(()),
        Some(_) => Err(BareError::OtherRoot(path)),
        None => write(&path, root),
    }
}

/// Brings a folder of metadata up to date.
pub async fn refresh(metadata_dir: &Path, fetch: &dyn Fetch, now: Time) -> Result<BareVersions, BareError> {
    let trusted = refreshed(metadata_dir, fetch, now).await?;
    let incomplete = || BareError::Refused(Refused::Incomplete);
    Ok(BareVersions {
        root: trusted.root.version(),
        timestamp: trusted.timestamp.as_ref().ok_or_else(incomplete)?.version(),
        snapshot: trusted.snapshot.as_ref().ok_or_else(incomplete)?.version(),
        targets: trusted.targets.as_ref().ok_or_else(incomplete)?.version(),
    })
}

/// Brings a folder of metadata up to date and downloads a target of at most 256 MiB; where it was put. Its file is the
/// target's name with everything but letters, digits, `-`, `_` and `.` percent-encoded, so that none leads out.
pub async fn download(
    metadata_dir: &Path,
    fetch: &dyn Fetch,
    now: Time,
    target_dir: &Path,
    name: &str,
) -> Result<PathBuf, BareError> {
    let trusted = refreshed(metadata_dir, fetch, now).await?;
    let mut kept = kept(metadata_dir, &trusted)?;
    let before = kept.clone();
    let found = find(Refresh { fetch, now, profile: Profile::Any }, &trusted, &mut kept, name).await;
    for (role, document) in &kept {
        if before.get(role).is_none_or(|before| before.bytes != document.bytes) {
            write(&role_file(metadata_dir, role), &document.bytes)?;
        }
    }
    let target = &found.map_err(BareError::Refused)?;
    let file = target_dir.join(file_name(name));
    let consistent = trusted.root.role.signed.consistent_snapshot;
    let bytes = async {
        let digest = digest(target).ok_or_else(|| Refused::WrongHash { file: file_name(name) })?;
        if target.length > TARGET_MAX {
            return Err(Refused::TooLarge { file: file_name(name), at_most: TARGET_MAX });
        }
        let path = RemotePath::new(Area::Targets, &place(name, &digest, consistent))?;
        let bytes = get(fetch, &path, target.length).await?;
        right_length(&file_name(name), target.length, &bytes)?;
        right_hash(&file_name(name), digest.as_bytes(), &bytes)?;
        Ok(bytes)
    };
    let there = read(&file, target.length).ok().flatten();
    if there.is_some_and(|bytes| right_hash(name, &target.hashes.sha256, &bytes).is_ok()) {
        return Ok(file);
    }
    let bytes = bytes.await.map_err(BareError::Refused)?;
    fs::create_dir_all(target_dir).map_err(|source| disk(target_dir, source))?;
    write(&file, &bytes)?;
    Ok(file)
}

async fn refreshed(dir: &Path, fetch: &dyn Fetch, now: Time) -> Result<Trusted, BareError> {
    let root_path = dir.join(RoleName::Root.file());
    let root = read(&root_path, RoleName::Root.bytes_max())?;
    let root = root.ok_or_else(|| BareError::NoRoot(root_path.clone()))?;
    let damaged = |path: &Path| {
        let path = path.to_path_buf();
        move |source| BareError::Damaged { path, source }
    };
    let mut trusted = Trusted::begin(root, Profile::Any).map_err(damaged(&root_path))?;
    trusted.timestamp = document(dir, RoleName::Timestamp)?;
    trusted.snapshot = document(dir, RoleName::Snapshot)?;
    trusted.targets = document(dir, RoleName::Targets)?;
    let before = trusted.clone();
    let done = Refresh { fetch, now, profile: Profile::Any }.run(&mut trusted).await;
    keep(dir, &before, &trusted)?;
    done.map_err(BareError::Refused).map(|()| trusted)
}

/// Root first: what its keys have not signed is then forgotten, whether or not the rest gets to the disk.
fn keep(dir: &Path, before: &Trusted, after: &Trusted) -> Result<(), BareError> {
    let put = |role: RoleName, before: Option<&Vec<u8>>, after: Option<&Vec<u8>>| {
        let path = dir.join(role.file());
        match after {
            Some(bytes) if before != after => write(&path, bytes),
            Some(_) => Ok(()),
            None => match fs::remove_file(&path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => Err(disk(&path, source)),
                _ => Ok(()),
            },
        }
    };
    put(RoleName::Root, Some(&before.root.bytes), Some(&after.root.bytes))?;
    put(RoleName::Timestamp, bytes(before.timestamp.as_ref()), bytes(after.timestamp.as_ref()))?;
    put(RoleName::Snapshot, bytes(before.snapshot.as_ref()), bytes(after.snapshot.as_ref()))?;
    put(RoleName::Targets, bytes(before.targets.as_ref()), bytes(after.targets.as_ref()))
}

fn bytes<T>(document: Option<&Document<T>>) -> Option<&Vec<u8>> {
    document.map(|document| &document.bytes)
}

/// What was kept of the delegated roles that the snapshot lists. What is of no use is fetched anew: the snapshot has its
/// version.
fn kept(dir: &Path, trusted: &Trusted) -> Result<Kept, BareError> {
    let mut kept = Kept::new();
    let listed = trusted.snapshot.iter().flat_map(|snapshot| snapshot.role.signed.meta.keys());
    for role in listed.filter_map(|file| file.strip_suffix(".json")).filter(|role| *role != "targets") {
        let bytes = read(&role_file(dir, role), RoleName::Targets.bytes_max())?;
        if let Some(document) = bytes.and_then(|bytes| Document::read(bytes).ok()) {
            kept.insert(role.to_owned(), document);
        }
    }
    Ok(kept)
}

/// Where a delegated role is kept: never in a top-level role's place.
fn role_file(dir: &Path, role: &str) -> PathBuf {
    dir.join(format!("delegated.{}.json", file_name(role)))
}

fn document<T: Role + DeserializeOwned>(
    dir: &Path,
    role: RoleName,
) -> Result<Option<Document<T>>, BareError> {
    let path = dir.join(role.file());
    let Some(bytes) = read(&path, role.bytes_max())? else { return Ok(None) };
    let source = match Document::read(bytes) {
        Ok(document) => return Ok(Some(document)),
        Err(source) => Refused::Malformed { role, source },
    };
    Err(BareError::Damaged { path, source })
}

fn read(path: &Path, at_most: u64) -> Result<Option<Vec<u8>>, BareError> {
    match super::state::read_plain(path, at_most) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(disk(path, source)),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), BareError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let put = || {
        let mut draft = tempfile::NamedTempFile::new_in(folder)?;
        io::Write::write_all(&mut draft, bytes)?;
        draft.as_file().sync_all()?;
        draft.persist(path).map_err(|error| error.error)?;
        File::open(folder)?.sync_all()
    };
    put().map_err(|source| disk(path, source))
}

fn disk(path: &Path, source: io::Error) -> BareError {
    BareError::Disk { path: path.to_path_buf(), source }
}

/// One segment of a path that no name leads out of.
fn file_name(name: &str) -> String {
    let mut file = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || (byte == b'.' && !file.is_empty()) {
            file.push(char::from(byte));
        } else {
            file.extend(percent_encoding_of(byte));
        }
    }
    file
}

fn percent_encoding_of(byte: u8) -> [char; 3] {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0').to_ascii_uppercase();
    ['%', digit(byte >> 4), digit(byte & 15)]
}

//! Where things stand in a maintainer's folder, and how they are read.
//!
//! Writes nothing. INVARIANT: every path is made of fixed words, numbers, digests and names that [`Held`] took.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use pinhole_manifest::Digest;

use super::seats::wide;
use crate::RoleName;
use crate::names::Held;

/// The folder of a registry, by its parts.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    folder: PathBuf,
}

impl Layout {
    pub(crate) fn of(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What a web server serves.
    pub(crate) fn public(&self) -> PathBuf {
        self.folder.join("public")
    }

    pub(crate) fn metadata(&self) -> PathBuf {
        self.public().join("metadata")
    }

    pub(crate) fn targets(&self) -> PathBuf {
        self.public().join("targets")
    }

    /// What waits for signatures.
    pub(super) fn staged(&self) -> PathBuf {
        self.folder.join("staged")
    }

    pub(super) fn staged_files(&self) -> PathBuf {
        self.staged().join("targets")
    }

    pub(super) fn staged_role(&self, role: RoleName) -> PathBuf {
        self.staged().join(format!("{role}.json"))
    }

    pub(super) fn settings(&self) -> PathBuf {
        self.folder.join("settings.json")
    }

    pub(super) fn lock(&self) -> PathBuf {
        self.folder.join(".lock")
    }

    /// The metadata that is about to be published, and after it the one that was.
    pub(super) fn next(&self) -> PathBuf {
        self.folder.join(".next")
    }

    /// Where the published metadata stands for a moment, on a disk that cannot exchange two folders.
    pub(super) fn previous(&self) -> PathBuf {
        self.folder.join(".previous")
    }
}

/// The name of a versioned metadata file.
pub(crate) fn versioned(role: RoleName, version: u64) -> String {
    format!("{version}.{role}.json")
}

/// The name of the one metadata file without a version.
pub(crate) const TIMESTAMP: &str = "timestamp.json";

/// The role and version of a metadata file; `None` for a name that is none.
pub(crate) fn metadata_name(name: &str) -> Option<(RoleName, Option<u64>)> {
    if name == TIMESTAMP {
        return Some((RoleName::Timestamp, None));
    }
    let (version, rest) = name.split_once('.')?;
    let role = RoleName::parse(rest.strip_suffix(".json")?)?;
    let version: u64 = version.parse().ok()?;
    // A number has one form, and the timestamp has no version.
    let same = role != RoleName::Timestamp && version > 0 && versioned(role, version) == name;
    same.then_some((role, Some(version)))
}

/// The name of a target's file.
pub(crate) fn hashed(digest: Digest, held: &Held) -> String {
    format!("{}.{held}", digest.hex())
}

/// The digest and target of a target's file; `None` for a name that is none.
pub(crate) fn hashed_name(name: &str) -> Option<(Digest, Held)> {
    let (hex, rest) = name.split_once('.')?;
    Some((Digest::parse(&format!("sha256:{hex}")).ok()?, Held::parse(rest).ok()?))
}

/// Reads a file whole, at most `most` bytes; `None` where there is none. What is no file is refused, a link too.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let metadata = match std::fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    match File::open(path) {
        Ok(file) => file.take(most.saturating_add(1)).read_to_end(&mut bytes)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if wide(bytes.len()) > most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(Some(bytes)) }
}

/// The names in a folder, sorted; none where there is no folder. A name that is not Unicode is given with its faults
/// replaced.
pub(crate) fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metadata_name_has_one_form() {
        assert_eq!(metadata_name("12.root.json"), Some((RoleName::Root, Some(12))));
        assert_eq!(metadata_name("timestamp.json"), Some((RoleName::Timestamp, None)));
        for name in [
            "root.json",
            "0.root.json",
            "01.root.json",
            "+1.root.json",
            "1.timestamp.json",
            "1.root.json.json",
            "1.mirrors.json",
            "../1.root.json",
            "99999999999999999999.root.json",
            "",
        ] {
            assert_eq!(metadata_name(name), None, "{name}");
        }
    }

    #[test]
    fn a_target_s_file_name_has_one_form() {
        let digest = Digest::of(b"x");
        let held = Held::parse("github.json").unwrap();
        let name = hashed(digest, &held);
        assert_eq!(hashed_name(&name), Some((digest, held)));
        for name in [
            name.to_uppercase(),
            name.replace(".github", "..github"),
            format!("a{name}"),
            "github.json".into(),
        ] {
            assert_eq!(hashed_name(&name), None, "{name}");
        }
    }
}

//! Where the two sides of a comparison come from: files, folders, or a git revision.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::git::Repository;
use crate::end::{End, Failure};
use crate::files;

/// A manifest's file.
#[derive(Debug)]
pub(super) struct File {
    /// Its path, on the disk or in the repository as seen from here.
    pub(super) path: PathBuf,
    /// The revision that has it.
    pub(super) revision: Option<String>,
    pub(super) bytes: Vec<u8>,
}

impl File {
    /// For people.
    pub(super) fn shown(&self) -> String {
        let path = self.path.display();
        self.revision.as_ref().map_or_else(|| path.to_string(), |revision| format!("git:{revision}:{path}"))
    }
}

/// What is found in one place.
#[derive(Debug)]
pub(super) enum Found {
    /// A manifest.
    One(File),
    /// The manifests of a folder of folders, in order of their names.
    Many(Vec<File>),
    /// No manifest: a folder without any, or a path that a revision does not have.
    Nothing,
}

/// One side of a comparison.
#[derive(Debug)]
pub(super) struct Source {
    revision: Option<String>,
    path: PathBuf,
    role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Old,
    New,
}

impl Source {
    /// Both sides as they were asked for; `git:REV` has the path of the other.
    pub(super) fn both(old: &OsStr, new: &OsStr) -> anyhow::Result<(Self, Self)> {
        let (old_revision, old_path) = parts(old)?;
        let (new_revision, new_path) = parts(new)?;
        let no_path = || {
            let message = "neither side says which path of the repository is meant";
            Failure::new(End::Usage, message, "write `git:REV:PATH` on one of them")
        };
        let old_path_or_other = old_path.clone().or(new_path.clone()).ok_or_else(no_path)?;
        let new_path = new_path.or(old_path).ok_or_else(no_path)?;
        let side = |revision, path, role| Self { revision, path, role };
        Ok((side(old_revision, old_path_or_other, Role::Old), side(new_revision, new_path, Role::New)))
    }

    /// Reads what is there. A new side without a manifest is refused: taken at its word, a mistyped path would say that
    /// every service is gone, which only narrows.
    pub(super) fn files(&self) -> anyhow::Result<Found> {
        let found = match &self.revision {
            Some(revision) => self.committed(revision)?,
            None => on_disk(&self.path)?,
        };
        if matches!(found, Found::Nothing) && self.role == Role::New {
            let message = format!("`{}` has no manifest", self.path.display());
            let hint = "pass a manifest, a folder with `manifest.json`, or a folder of such folders";
            return Err(Failure::new(End::Usage, message, hint).into());
        }
        Ok(found)
    }

    fn committed(&self, revision: &str) -> anyhow::Result<Found> {
        // A full path names its repository too.
        let (folder, within) = match (self.path.is_absolute(), self.path.parent(), self.path.file_name()) {
            (true, _, _) if self.path.is_dir() => (self.path.as_path(), Path::new("")),
            (true, Some(folder), Some(name)) => (folder, Path::new(name)),
            _ => (Path::new("."), self.path.as_path()),
        };
        let repository = Repository::around(folder, revision)?;
        let file = |path: PathBuf, bytes| File { path, revision: Some(revision.to_owned()), bytes };
        let Some(object) = repository.object(within)? else { return Ok(Found::Nothing) };
        if !object.is_tree {
            return Ok(Found::One(file(self.path.clone(), repository.bytes(&object, &self.path)?)));
        }
        let mut found = Vec::new();
        for (name, object) in repository.files(&object)? {
            let path = self.path.join(&name);
            match name.split('/').collect::<Vec<_>>().as_slice() {
                ["manifest.json"] => {
                    return Ok(Found::One(file(path.clone(), repository.bytes(&object, &path)?)));
                }
                [_, "manifest.json"] => found.push((path, object)),
                _ => {}
            }
        }
        let read = |(path, object): (PathBuf, _)| -> anyhow::Result<File> {
            let bytes = repository.bytes(&object, &path)?;
            Ok(file(path, bytes))
        };
        Ok(many(found.into_iter().map(read).collect::<anyhow::Result<_>>()?))
    }
}

/// The revision and the path of `git:REV:PATH`, `git:REV` or `PATH`. A file whose name begins so is `./git:…`.
fn parts(text: &OsStr) -> anyhow::Result<(Option<String>, Option<PathBuf>)> {
    let Some(rest) = text.as_encoded_bytes().strip_prefix(b"git:") else {
        return Ok((None, Some(text.into())));
    };
    let refused = |message: &str| {
        Failure::new(
            End::Usage,
            message,
            "write `git:REV` or `git:REV:PATH`, such as `git:origin/main:manifests`",
        )
    };
    let rest =
        std::str::from_utf8(rest).map_err(|_error| refused("a revision and its path are UTF-8 text"))?;
    let (revision, path) = match rest.split_once(':') {
        Some((revision, path)) => (revision, Some(path)),
        None => (rest, None),
    };
    // What begins with a dash would be an option of git's.
    if revision.is_empty() || revision.starts_with('-') || revision.chars().any(char::is_control) {
        return Err(refused("this is not a revision").into());
    }
    if path.is_some_and(str::is_empty) {
        return Err(refused("the path is empty").into());
    }
    Ok((Some(revision.to_owned()), path.map(PathBuf::from)))
}

fn on_disk(path: &Path) -> anyhow::Result<Found> {
    let file = |path: PathBuf| -> anyhow::Result<File> {
        let bytes = files::read(&path)?;
        Ok(File { path, revision: None, bytes })
    };
    if !path.is_dir() {
        return Ok(Found::One(file(path.to_owned())?));
    }
    let own = path.join("manifest.json");
    if own.is_file() {
        return Ok(Found::One(file(own)?));
    }
    let unreadable = |error: std::io::Error| {
        Failure::new(End::Usage, format!("`{}` cannot be read: {error}", path.display()), "look at the path")
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let manifest = entry.map_err(unreadable)?.path().join("manifest.json");
        if manifest.is_file() {
            found.push(manifest);
        }
    }
    found.sort();
    Ok(many(found.into_iter().map(file).collect::<anyhow::Result<_>>()?))
}

fn many(files: Vec<File>) -> Found {
    if files.is_empty() { Found::Nothing } else { Found::Many(files) }
}

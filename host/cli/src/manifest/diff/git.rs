//! What a git revision has, by the plumbing of `git` itself.
//!
//! Refuses a revision that could be an option. INVARIANT: no argument of `git` begins with text from outside but the
//! revision, which begins with no dash; nothing is fetched, no pager, hook, filter or external diff is run, and objects are
//! named by their full ids once the revision is known.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use pinhole_manifest::visible::visible;

use crate::end::{End, Failure};

/// Most bytes of a file that is read.
const FILE_MAX: u64 = 4 << 20;

/// The repository around this folder, at one revision.
#[derive(Debug)]
pub(super) struct Repository {
    /// A folder in it.
    folder: PathBuf,
    /// The commit's id.
    commit: String,
}

/// A file or a folder of a revision.
#[derive(Debug)]
pub(super) struct Object {
    id: String,
    /// Whether it is a folder.
    pub(super) is_tree: bool,
}

impl Repository {
    /// Finds the commit of a revision in the repository around a folder.
    pub(super) fn around(folder: &Path, revision: &str) -> anyhow::Result<Self> {
        let said =
            git(folder, ["rev-parse".into(), "--verify".into(), format!("{revision}^{{commit}}").into()])?;
        let commit = line(&said).filter(|id| said.status.success() && is_id(id));
        commit.map(|commit| Self { folder: folder.to_owned(), commit }).ok_or_else(|| {
            let message = format!("`{}` is no revision here: {}", visible(revision), complaint(&said));
            Failure::new(
                End::Usage,
                message,
                "name a branch, a tag or a commit that is here; nothing is fetched",
            )
            .into()
        })
    }

    /// What stands at a path, seen from the folder; `None` if nothing does.
    pub(super) fn object(&self, path: &Path) -> anyhow::Result<Option<Object>> {
        let mut name = OsString::from(format!("{}:./", self.commit));
        name.push(path);
        let said = self.git(["rev-parse".into(), "--verify".into(), "--quiet".into(), name])?;
        let Some(id) = line(&said).filter(|id| said.status.success() && is_id(id)) else { return Ok(None) };
        let said = self.git(["cat-file".into(), "-t".into(), id.clone().into()])?;
        match line(&said).as_deref() {
            Some("tree") => Ok(Some(Object { id, is_tree: true })),
            Some("blob") => Ok(Some(Object { id, is_tree: false })),
            _ => Err(unreadable(path, &said)),
        }
    }

    /// The files below a folder, by their paths from there.
    pub(super) fn files(&self, tree: &Object) -> anyhow::Result<Vec<(String, Object)>> {
        let list = ["ls-tree", "-r", "-z", "--full-tree", &tree.id].map(OsString::from);
        let said = self.git(list)?;
        if !said.status.success() {
            return Err(unreadable(Path::new(&self.commit), &said));
        }
        let entry = |entry: &[u8]| {
            let (meta, name) = std::str::from_utf8(entry).ok()?.split_once('\t')?;
            let mut meta = meta.split(' ');
            let (mode, kind, id) = (meta.next()?, meta.next()?, meta.next()?);
            // A link says where it leads, which is no manifest.
            let is_file = kind == "blob" && mode != "120000";
            is_file.then(|| (name.to_owned(), Object { id: id.to_owned(), is_tree: false }))
        };
        Ok(said.stdout.split(|byte| *byte == 0).filter_map(entry).collect())
    }

    fn git<const N: usize>(&self, args: [OsString; N]) -> anyhow::Result<Output> {
        git(&self.folder, args)
    }

    /// The bytes of a file.
    pub(super) fn bytes(&self, object: &Object, path: &Path) -> anyhow::Result<Vec<u8>> {
        let said = self.git(["cat-file".into(), "-s".into(), object.id.clone().into()])?;
        let size =
            line(&said).and_then(|size| size.parse::<u64>().ok()).ok_or_else(|| unreadable(path, &said))?;
        if size > FILE_MAX {
            let message = format!("`{}` is larger than {FILE_MAX} bytes", path.display());
            return Err(Failure::new(End::Usage, message, "pass a smaller one").into());
        }
        let said = self.git(["cat-file".into(), "blob".into(), object.id.clone().into()])?;
        if said.status.success() { Ok(said.stdout) } else { Err(unreadable(path, &said)) }
    }
}

/// Runs `git` in a folder.
fn git<const N: usize>(folder: &Path, args: [OsString; N]) -> anyhow::Result<Output> {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .args(["--no-pager", "--no-replace-objects", "--literal-pathspecs", "-c", "protocol.allow=never"])
        .args(args)
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    command.output().map_err(|error| {
        let message = format!("`git` cannot be run: {error}");
        Failure::new(End::Usage, message, "install git, or pass files and folders").into()
    })
}

fn line(said: &Output) -> Option<String> {
    Some(std::str::from_utf8(&said.stdout).ok()?.trim_end_matches('\n').to_owned())
}

fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The first line of what git complains of.
fn complaint(said: &Output) -> String {
    let text = String::from_utf8_lossy(&said.stderr);
    visible(text.lines().next().unwrap_or("git says nothing of it").trim())
}

fn unreadable(path: &Path, said: &Output) -> anyhow::Error {
    let message = format!("`{}` cannot be read from the repository: {}", path.display(), complaint(said));
    Failure::new(End::Usage, message, "look whether the whole repository is here; nothing is fetched").into()
}

//! The file of checkpoints beside a database: one signed envelope a line.
//!
//! INVARIANT: only ever appended to, mode 0600. Whoever can write the database may not reach it, or only its end.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// Where it is in a home.
pub const CHECKPOINTS_FILE: &str = "receipts/checkpoints.jsonl";
/// Largest file that is read, in bytes: 64 MiB, a hundred thousand checkpoints.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// A file of checkpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointFile {
    path: PathBuf,
}

/// The lines of a file, without their ends.
pub type Lines = Vec<Vec<u8>>;

impl CheckpointFile {
    /// The one of a home.
    pub fn in_home(home: &Path) -> Self {
        Self { path: home.join(CHECKPOINTS_FILE) }
    }

    /// One of this path, such as a copy that is kept elsewhere.
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts a checkpoint behind those that are there, and waits until it is on the disk. Makes the file and its folder where
    /// they are missing.
    pub fn append(&self, envelope: &[u8]) -> io::Result<()> {
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            private_folder(folder)?;
        }
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&self.path)?;
        let mut line = Vec::with_capacity(envelope.len().saturating_add(2));
        // What a power cut left of a line does not spoil this one.
        if !ends_a_line(&mut file)? {
            line.push(b'\n');
        }
        line.extend_from_slice(envelope);
        line.push(b'\n');
        file.write_all(&line)?;
        file.sync_data()
    }

    /// Its lines; none where there is no file. One that is too large is an error of the kind `FileTooLarge`.
    pub fn lines(&self) -> io::Result<Lines> {
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            file => file?,
        };
        let mut bytes = Vec::new();
        file.take(FILE_BYTES_MAX.saturating_add(1)).read_to_end(&mut bytes)?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > FILE_BYTES_MAX {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        Ok(lines.map(<[u8]>::to_vec).collect())
    }
}

fn ends_a_line(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

//! The file of checkpoints beside a database: one signed envelope a line.
//!
//! Refuses what is no file. INVARIANT: only ever appended to, mode 0600. Whoever can write the
//! database may not reach it, or only its end.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// Where it is in a home.
pub const CHECKPOINTS_FILE: &str = "receipts/checkpoints.jsonl";
/// Most of a line that is read, in bytes: one more than any checkpoint has, by which it is known to be none.
const LINE_BYTES_READ: u64 = 4 * 1024 + 1;

/// What is no file is not waited for.
#[cfg(unix)]
const UNWAITED: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();

/// A file of checkpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointFile {
    path: PathBuf,
}

/// The lines of a file, without their ends, read as they are asked for. Empty ones are left out; of one that is longer than any
/// checkpoint the beginning is given.
#[derive(Debug)]
pub struct Lines(Option<BufReader<File>>);

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
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600).custom_flags(UNWAITED);
        }
        let mut file = a_file(options.open(&self.path)?)?;
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

    /// Its lines; none where there is no file.
    pub fn lines(&self) -> io::Result<Lines> {
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.custom_flags(UNWAITED);
        }
        match options.open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Lines(None)),
            file => Ok(Lines(Some(BufReader::new(a_file(file?)?)))),
        }
    }
}

impl Iterator for Lines {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        let file = self.0.as_mut()?;
        loop {
            let mut line = Vec::new();
            match file.by_ref().take(LINE_BYTES_READ).read_until(b'\n', &mut line) {
                Err(error) => return Some(Err(error)),
                Ok(0) => return None,
                Ok(_) if line.pop_if(|last| *last == b'\n').is_some() => {}
                // Too long, or the last: what is left of it says nothing.
                Ok(_) => {
                    if let Err(error) = file.skip_until(b'\n') {
                        return Some(Err(error));
                    }
                }
            }
            if !line.is_empty() {
                return Some(Ok(line));
            }
        }
    }
}

fn a_file(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(ErrorKind::InvalidInput.into()) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::receipts::CHECKPOINT_LINE_MAX;

    fn of(bytes: &[u8]) -> Vec<Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        let file = CheckpointFile::at(folder.path().join("checkpoints"));
        std::fs::write(file.path(), bytes).unwrap();
        file.lines().unwrap().collect::<io::Result<_>>().unwrap()
    }

    #[test]
    fn lines_are_read_one_by_one_and_of_a_long_one_the_beginning() {
        assert_eq!(u64::try_from(CHECKPOINT_LINE_MAX).unwrap() + 1, LINE_BYTES_READ);
        assert_eq!(of(b""), [b""; 0]);
        assert_eq!(of(b"one\n\ntwo\n"), [b"one", b"two"]);
        assert_eq!(of(b"one\nhalf"), [b"one".to_vec(), b"half".to_vec()]);
        let (most, longer) = (vec![b'x'; CHECKPOINT_LINE_MAX], vec![b'x'; 3 * CHECKPOINT_LINE_MAX]);
        let read = of(&[&most[..], b"\n", &longer, b"\nlast\n"].concat());
        assert_eq!(read.iter().map(Vec::len).collect::<Vec<_>>(), [most.len(), most.len() + 1, 4]);
        let missing = CheckpointFile::at("/nowhere/checkpoints".into());
        assert_eq!(missing.lines().unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        let pipe = CheckpointFile::at(pipe);
        assert!(pipe.append(b"line").is_err() && pipe.lines().is_err());
    }
}

//! Programs of other people's that a build runs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::end::{End, Failure};

/// Where Debian and others keep libfaketime, which fixes the time and the random numbers of a program.
const FAKETIME: [&str; 5] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/faketime/libfaketime.so.1",
    "/usr/lib64/faketime/libfaketime.so.1",
    "/usr/local/lib/faketime/libfaketime.so.1",
];

/// What a program prints, in one line; none if it cannot be run or fails.
pub(super) fn says(program: impl AsRef<OsStr>, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Runs a program to its end. What it prints goes to stderr, for stdout has the answer.
pub(super) fn run(command: &mut Command) -> anyhow::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let failed = |message: String| Failure::new(End::Failed, message, "what it said stands above");
    let status = command.stdin(Stdio::null()).stdout(std::io::stderr()).status();
    let status = status.map_err(|error| failed(format!("`{name}` cannot be run: {error}")))?;
    if !status.success() {
        return Err(failed(format!("`{name}` failed ({status})")).into());
    }
    Ok(())
}

/// Has a program see one time and one sequence of random numbers. Whether there is something to do it with.
pub(super) fn fix_time_and_chance(command: &mut Command) -> bool {
    let found = FAKETIME.iter().map(Path::new).find(|path| path.is_file());
    if let Some(library) = found {
        command.env("LD_PRELOAD", library);
        command.env("FAKETIME", "2026-01-01 00:00:00").env("FAKERANDOM_SEED", "0x0123456789ABCDEF");
    }
    command.env("TZ", "UTC").env("LC_ALL", "C.UTF-8").env("PYTHONHASHSEED", "0");
    found.is_some()
}

/// Copies the files of these endings, with their folders; what is hidden, built or installed stays behind.
pub(super) fn copy_sources(from: &Path, to: &Path, endings: &[&str]) -> std::io::Result<()> {
    const LEFT: [&str; 5] = ["node_modules", "target", "cases", "__pycache__", "test"];
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if name.starts_with('.') || LEFT.contains(&&*name) {
            continue;
        }
        // What a link leads to may be anybody's, and has no place in a component.
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_sources(&path, &to.join(&*name), endings)?;
        } else if kind.is_file()
            && path.extension().is_some_and(|ending| endings.iter().any(|kept| ending == *kept))
        {
            std::fs::copy(&path, to.join(&*name))?;
        }
    }
    Ok(())
}

/// Writes embedded files where there are none of that folder.
pub(super) fn provide(folder: &Path, sources: &[(&str, &str)]) -> std::io::Result<()> {
    if folder.exists() {
        return Ok(());
    }
    for (name, text) in sources {
        let path: PathBuf = folder.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}

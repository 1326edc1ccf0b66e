//! Who besides the owner can get at a file or a folder. Looks at modes alone, and only where there are any.

use std::fs::Metadata;
use std::path::Path;

use super::finding::Findings;

/// Whether others than its owner can get at a private file; says so.
#[cfg(unix)]
pub(super) fn is_exposed(
    about: &str,
    path: &Path,
    metadata: &Metadata,
    after: &str,
    findings: &mut Findings,
) -> bool {
    let mode = mode(metadata);
    let others = mode & 0o077;
    if others == 0 {
        return false;
    }
    let found = format!("others than its owner can get at it (mode {mode:04o})");
    findings.wrong(about, found, format!("`chmod 600 {}`{after}", path.display()));
    true
}

/// Whether others than its owner can look or write into a private folder; says so. What others may write, they may change
/// for other keys and another database.
#[cfg(unix)]
pub(super) fn is_open(about: &str, path: &Path, metadata: &Metadata, findings: &mut Findings) -> bool {
    let mode = mode(metadata);
    let hint = format!("`chmod 700 {}`", path.display());
    if mode & 0o022 != 0 {
        let found =
            format!("others than its owner can put files into `{}` (mode {mode:04o})", path.display());
        findings.wrong(about, found, format!("{hint}; look whether what is in it is yours"));
    } else if mode & 0o055 != 0 {
        let found = format!("others than its owner can look into `{}` (mode {mode:04o})", path.display());
        findings.warning(about, found, hint);
    }
    mode & 0o077 != 0
}

#[cfg(unix)]
fn mode(metadata: &Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o777
}

#[cfg(not(unix))]
pub(super) fn is_exposed(_: &str, _: &Path, _: &Metadata, _: &str, _: &mut Findings) -> bool {
    false
}

#[cfg(not(unix))]
pub(super) fn is_open(_: &str, _: &Path, _: &Metadata, _: &mut Findings) -> bool {
    false
}

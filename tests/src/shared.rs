//! Where the outside data is: recordings that are used by tests and are not part of the project.

use std::path::PathBuf;

/// A path of the folder of outside data: `PINHOLE_SHARED`, else the folder `shared` beside the checkout. Where it is not
/// there, `None` and a loud word that `test` was skipped; in CI its absence is a failure.
#[expect(clippy::disallowed_methods, reason = "tests are told by the environment where outside data is")]
pub fn shared(test: &str, path: &str) -> Option<PathBuf> {
    let beside = || {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent()?.to_path_buf();
        Some(root.parent()?.join("shared"))
    };
    let folder = std::env::var_os("PINHOLE_SHARED").map(PathBuf::from).or_else(beside);
    let path = folder.unwrap_or_default().join(path);
    if path.exists() {
        return Some(path);
    }
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{test}: {} is not there", path.display());
    eprintln!("SKIPPED: {test}: {} is not there", path.display());
    None
}

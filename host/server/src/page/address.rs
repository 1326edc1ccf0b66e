//! Where the page is, for other processes of this home: a file that stands while the page runs.
//!
//! INVARIANT: nobody is led to what only was the page's address: the page holds a lock on the file that ends with its process,
//! however that ends, and a file that nobody holds says nothing. Otherwise somebody else's page at that port might ask for a
//! passphrase.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use pinhole_runtime::store::QuestionId;
use serde::{Deserialize, Serialize};
use url::Url;

/// The file's name in a home.
pub const ADDRESS_FILE: &str = "approvals-page.json";

/// Largest file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 1024;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AddressWire {
    v: u8,
    address: String,
}

/// The file, as long as the page runs. Dropped, it is gone.
#[derive(Debug)]
pub struct Announced {
    path: PathBuf,
    address: Url,
    _held: File,
}

impl Announced {
    /// Writes the file into a home: whole, locked, readable by its owner alone, then named. `address` is
    /// [`Page::address`](super::Page::address); nothing secret is in it.
    pub fn write(home: &Path, address: &Url) -> io::Result<Self> {
        let path = home.join(ADDRESS_FILE);
        let draft = home.join(format!(".{ADDRESS_FILE}.{}", std::process::id()));
        let held = draft_of(&draft, address).and_then(|file| {
            std::fs::rename(&draft, &path)?;
            Ok(file)
        });
        if held.is_err() {
            std::fs::remove_file(&draft).unwrap_or_default();
        }
        Ok(Self { path, address: address.clone(), _held: held? })
    }
}

impl Drop for Announced {
    /// Another page may have written its own since: that one stays.
    fn drop(&mut self) {
        if read(&self.path).is_ok_and(|(_file, said)| said == self.address) {
            std::fs::remove_file(&self.path).unwrap_or_default();
        }
    }
}

/// Where the page of a home is, if one runs.
pub fn address_in(home: &Path) -> Option<Url> {
    let (file, address) = read(&home.join(ADDRESS_FILE)).ok()?;
    match file.try_lock_shared() {
        // Whoever held it is gone.
        Ok(()) | Err(TryLockError::Error(_)) => None,
        Err(TryLockError::WouldBlock) => Some(address),
    }
}

/// Where a question is on the page at `address`.
pub fn question_url(address: &Url, question: QuestionId) -> Url {
    let mut url = address.clone();
    url.set_path(&format!("/question/{question}"));
    url
}

fn draft_of(draft: &Path, address: &Url) -> io::Result<File> {
    // A draft of a process that was killed and had the same number.
    std::fs::remove_file(draft).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })?;
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(draft)?;
    file.try_lock()?;
    serde_json::to_writer(&mut file, &AddressWire { v: 1, address: address.to_string() })?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    Ok(file)
}

fn read(path: &Path) -> io::Result<(File, Url)> {
    let other = || io::Error::from(io::ErrorKind::InvalidData);
    // What is no file might never answer.
    if !std::fs::symlink_metadata(path)?.is_file() {
        return Err(other());
    }
    let file = File::open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            return Err(other());
        }
    }
    let mut bytes = Vec::new();
    (&file).take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    let wire: AddressWire = serde_json::from_slice(&bytes)?;
    let address = Url::parse(&wire.address).map_err(|_error| other())?;
    let port = address.port().ok_or_else(other)?;
    let is_one = wire.v == 1 && wire.address == format!("http://127.0.0.1:{port}/");
    if is_one { Ok((file, address)) } else { Err(other()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(port: u16) -> Url {
        Url::parse(&format!("http://127.0.0.1:{port}/")).unwrap()
    }

    #[test]
    fn the_address_stands_while_it_is_held_and_no_longer() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(address_in(home.path()), None);
        let first = Announced::write(home.path(), &address(4711)).unwrap();
        assert_eq!(address_in(home.path()), Some(address(4711)));
        // A second page takes its place; the first one's end leaves it there.
        let second = Announced::write(home.path(), &address(4712)).unwrap();
        assert_eq!(address_in(home.path()), Some(address(4712)));
        drop(first);
        assert_eq!(address_in(home.path()), Some(address(4712)));
        drop(second);
        assert_eq!(address_in(home.path()), None);
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_that_nobody_holds_says_nothing() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(ADDRESS_FILE);
        let held = Announced::write(home.path(), &address(4711)).unwrap();
        let text = std::fs::read(&path).unwrap();
        drop(held);
        std::fs::write(&path, &text).unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        assert_eq!(address_in(home.path()), None);
        let holder = File::open(&path).unwrap();
        holder.lock().unwrap();
        assert_eq!(address_in(home.path()), Some(address(4711)));
    }

    #[test]
    fn only_a_page_of_this_machine_is_an_address() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(ADDRESS_FILE);
        for said in [
            "http://evil.example/",
            "http://127.0.0.1:4711/open/x",
            "https://127.0.0.1:4711/",
            "http://127.0.0.1:4711@evil.example/",
            "http://localhost:4711/",
            "javascript:alert(1)",
        ] {
            std::fs::write(&path, serde_json::json!({"v": 1, "address": said}).to_string()).unwrap();
            #[cfg(unix)]
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
            let holder = File::open(&path).unwrap();
            holder.lock().unwrap();
            assert_eq!(address_in(home.path()), None, "{said}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_reads_the_address() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(ADDRESS_FILE);
        let _held = Announced::write(home.path(), &address(4711)).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(address_in(home.path()), None);
    }

    #[test]
    fn a_question_has_its_place_on_the_page() {
        let url = question_url(&address(4711), "K7F39M2X".parse().unwrap());
        assert_eq!(url.as_str(), "http://127.0.0.1:4711/question/k7f3-9m2x");
    }
}

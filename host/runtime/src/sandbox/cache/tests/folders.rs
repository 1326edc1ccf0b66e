//! Which folders and keys are used, and how much is kept in them.

use std::fs::File;
use std::sync::Barrier;
use std::time::SystemTime;

use super::*;
use crate::entropy::{Entropy, EntropyError};
use crate::sandbox::{CacheContent, CacheError, look_at_cache};

fn used(path: &Path, time: SystemTime) {
    File::open(path).unwrap().set_modified(time).unwrap();
}

fn time_of(path: &Path) -> SystemTime {
    path.metadata().unwrap().modified().unwrap()
}

const HOUR: Duration = Duration::from_hours(1);

/// A cache that has kept one component.
fn made() -> (Disk, Engine) {
    let (disk, engine) = (Disk::new(), Engine::default());
    keep(&disk.cache(), &engine, EMPTY, EMPTY);
    assert!(finds(&disk.cache(), &engine, EMPTY));
    (disk, engine)
}

#[cfg(unix)]
#[test]
fn folders_and_files_are_the_owner_s_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let (disk, engine) = made();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&disk.folder()), 0o700);
    assert_eq!(mode(above(&disk.folder())), 0o700);
    assert_eq!(mode(&disk.key()), 0o600);
    assert_eq!(mode(&disk.file(&engine, EMPTY)), 0o600);
    assert_eq!(fs::read(disk.key()).unwrap().len(), 32);
    assert_eq!(fs::read_dir(above(&disk.folder())).unwrap().count(), 2, "the key and the folder");
}

/// What is wrong is seen with nothing changed; then nothing is taken and nothing kept, until it is set right.
#[track_caller]
fn is_not_used(disk: &Disk, engine: &Engine, is: fn(&CacheError) -> bool) {
    let error = look_at_cache(&disk.folder()).unwrap_err();
    assert!(is(&error), "{error:?}");
    assert!(error.is_suspicious());
    assert!(!finds(&disk.cache(), engine, EMPTY), "{error}");
    let before = disk.names();
    keep(&disk.cache(), engine, b"another", EMPTY);
    assert_eq!(disk.names(), before, "{error}");
}

#[cfg(unix)]
#[test]
fn a_folder_that_others_can_write_is_not_used() {
    let (disk, engine) = made();
    for folder in [disk.folder(), above(&disk.folder()).to_owned()] {
        for others in [0o720, 0o702, 0o1777] {
            mode(&folder, others);
            is_not_used(&disk, &engine, |error| matches!(error, CacheError::Open { .. }));
        }
        mode(&folder, 0o755);
        assert!(finds(&disk.cache(), &engine, EMPTY), "others may look");
    }
}

/// Nobody but root can give a file away.
#[cfg(unix)]
#[test]
fn a_folder_or_a_key_of_another_user_is_not_used() {
    let (disk, engine) = made();
    let give = |path: &Path, to: u32| std::os::unix::fs::chown(path, Some(to), None);
    let me = std::os::unix::fs::MetadataExt::uid(&disk.folder().metadata().unwrap());
    for folder in [disk.folder(), above(&disk.folder()).to_owned()] {
        if give(&folder, me + 1).is_err() {
            return eprintln!("SKIPPED: only root can give a folder away");
        }
        is_not_used(&disk, &engine, |error| matches!(error, CacheError::Foreign { .. }));
        give(&folder, me).unwrap();
    }
    give(&disk.key(), me + 1).unwrap();
    is_not_used(&disk, &engine, |error| matches!(error, CacheError::Key { .. }));
    give(&disk.key(), me).unwrap();
    assert!(finds(&disk.cache(), &engine, EMPTY));
    give(&disk.file(&engine, EMPTY), me + 1).unwrap();
    assert!(!finds(&disk.cache(), &engine, EMPTY), "a file of another user's");
}

#[cfg(unix)]
#[test]
fn a_key_that_is_none_or_that_others_can_read_is_not_used() {
    let (disk, engine) = made();
    let right = fs::read(disk.key()).unwrap();
    let key = |error: &CacheError| matches!(error, CacheError::Key { .. });
    for others in [0o640, 0o604, 0o620, 0o400] {
        mode(&disk.key(), others);
        is_not_used(&disk, &engine, key);
    }
    mode(&disk.key(), 0o600);
    for wrong in [&b""[..], &right[..31], &[&right[..], b"x"].concat()] {
        fs::write(disk.key(), wrong).unwrap();
        is_not_used(&disk, &engine, key);
    }
    let elsewhere = disk.0.path().join("elsewhere");
    fs::write(disk.key(), &right).unwrap();
    fs::rename(disk.key(), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, disk.key()).unwrap();
    is_not_used(&disk, &engine, key);
    fs::remove_file(disk.key()).unwrap();
    fs::create_dir(disk.key()).unwrap();
    is_not_used(&disk, &engine, key);
    // Gone, it is made anew: what the old one sealed is written once more.
    fs::remove_dir(disk.key()).unwrap();
    assert!(!finds(&disk.cache(), &engine, EMPTY));
    keep(&disk.cache(), &engine, EMPTY, EMPTY);
    assert!(finds(&disk.cache(), &engine, EMPTY));
}

/// Each of them finds no key, makes one, and ends with the one that is there.
#[test]
fn whoever_makes_a_key_at_the_same_time_ends_with_the_same_one() {
    for _ in 0..20 {
        let disk = Disk::new();
        fs::create_dir_all(above(&disk.key())).unwrap();
        let (path, start) = (disk.key(), Barrier::new(8));
        let made = || {
            start.wait();
            *Key::open(&path, &SystemEntropy).unwrap().expose()
        };
        let keys = std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(made)).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>()
        });
        let kept = fs::read(&path).unwrap();
        assert!(keys.iter().all(|key| key[..] == kept));
    }
}

#[tokio::test]
async fn a_cache_that_cannot_be_made_fails_no_call() {
    let disk = Disk::new();
    fs::write(disk.0.path().join("cache"), "in the way").unwrap();
    assert!(matches!(look_at_cache(&disk.folder()), Err(CacheError::NotAFolder { .. })));
    assert_eq!(run(&disk.sandbox()).await, 1);
    let without_entropy = Disk::new();
    let sandbox = Sandbox::default().with_cache(without_entropy.folder(), Dry);
    assert_eq!(run(&sandbox).await, 1);
    assert_eq!(without_entropy.names(), [""; 0]);
}

struct Dry;

impl Entropy for Dry {
    fn fill(&self, _: &mut [u8]) -> Result<(), EntropyError> {
        Err(EntropyError)
    }
}

#[test]
fn to_look_makes_nothing_and_counts_what_is_there() {
    let disk = Disk::new();
    assert_eq!(look_at_cache(&disk.folder()).unwrap(), None);
    assert_eq!(fs::read_dir(disk.0.path()).unwrap().count(), 0);
    let engine = Engine::default();
    keep(&disk.cache(), &engine, EMPTY, EMPTY);
    fs::write(disk.folder().join("of somebody else"), "text").unwrap();
    let bytes = disk.file(&engine, EMPTY).metadata().unwrap().len();
    assert_eq!(look_at_cache(&disk.folder()).unwrap(), Some(CacheContent { modules: 1, bytes }));
}

/// Whoever has the old file open reads the old one to its end.
#[test]
fn a_file_is_replaced_and_never_written_into() {
    let (disk, engine) = made();
    let (path, before) = (disk.file(&engine, EMPTY), disk.0.path().join("the old one"));
    let bytes = fs::read(&path).unwrap();
    fs::hard_link(&path, &before).unwrap();
    keep(&disk.cache(), &engine, EMPTY, IMPORTS_X);
    assert_ne!(fs::read(&path).unwrap(), bytes);
    assert_eq!(fs::read(&before).unwrap(), bytes);
}

#[test]
fn what_was_used_longest_ago_goes_when_there_is_no_room() {
    let (disk, engine) = made();
    let file = |module: &[u8]| disk.file(&engine, module);
    let one = file(EMPTY).metadata().unwrap().len();
    let cache = disk.bounded(one * 2 + 1);
    keep(&cache, &engine, b"second", EMPTY);
    let now = time_of(&file(b"second"));
    used(&file(EMPTY), now - 2 * HOUR);
    used(&file(b"second"), now - HOUR);
    // The older one is used again, so the other one goes. What is nobody's stays.
    fs::write(disk.folder().join("of somebody else"), "text").unwrap();
    assert!(finds(&cache, &engine, EMPTY));
    assert!(time_of(&file(EMPTY)) >= now);
    keep(&cache, &engine, b"third", EMPTY);
    assert!(file(EMPTY).exists() && file(b"third").exists() && !file(b"second").exists());
    assert!(disk.folder().join("of somebody else").exists());
    // Less room than before: the next process makes it.
    used(&file(EMPTY), now - HOUR);
    assert!(finds(&disk.bounded(one), &engine, b"third"));
    assert!(!file(EMPTY).exists() && file(b"third").exists());
    // Not even one has room: it is neither kept nor read, and drives nothing out.
    let narrow = disk.bounded(one - 1);
    keep(&narrow, &engine, b"fourth", EMPTY);
    assert!(!finds(&narrow, &engine, b"third"));
    assert!(file(b"third").exists() && !file(b"fourth").exists());
}

#[test]
fn what_a_killed_process_has_left_half_written_is_removed_when_it_is_old() {
    let (disk, engine) = made();
    let now = time_of(&disk.file(&engine, EMPTY));
    let drafts = [disk.folder(), above(&disk.folder()).to_owned()]
        .map(|folder| (folder.join(".draft-young"), folder.join(".draft-old")));
    for (young, old) in &drafts {
        fs::write(young, "half").unwrap();
        fs::write(old, "half").unwrap();
        used(old, now - 2 * HOUR);
    }
    assert!(finds(&disk.cache(), &engine, EMPTY));
    for (young, old) in &drafts {
        assert!(young.exists() && !old.exists());
    }
}

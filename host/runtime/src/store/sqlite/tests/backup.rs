//! Copies of a database that is in use.

use std::fs;

use super::{Another, Disk, HOUR, NOW, furnished, grant_id, uses};
use crate::store::{BackupError, Connections as _, SqliteStore, Store as _};

#[test]
fn a_copy_is_whole_while_another_process_writes() {
    let disk = Disk::new();
    let (connection, _) = furnished(&disk.store());
    let place = disk.path().display().to_string();
    let mut another = Another::start("spend on and on", &place, |_| {});
    for round in 0..5_u32 {
        for _ in 0..4 {
            assert_eq!(another.line().as_deref(), Some("spent"));
        }
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy.db");
        SqliteStore::look(disk.folder.path()).unwrap().unwrap().back_up(&copy).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let copied = SqliteStore::open(&copy).unwrap();
        copied.check().unwrap();
        assert_eq!(copied.connections(connection.member).unwrap(), std::slice::from_ref(&connection));
        // What was said to be spent before it began is.
        assert!(!copied.has_use_left(&grant_id(1), uses((round + 1) * 4)).unwrap());
        assert_eq!(copied.high_water(NOW.plus_secs(HOUR)).unwrap(), NOW.plus_secs(HOUR));
    }
    another.kill();
}

#[test]
fn a_copy_takes_no_name_that_is_taken() {
    let disk = Disk::new();
    let store = disk.store();
    let copy = disk.folder.path().join("copy.db");
    fs::write(&copy, "mine").unwrap();
    assert!(matches!(store.back_up(&copy), Err(BackupError::Taken { .. })));
    assert_eq!(fs::read(&copy).unwrap(), b"mine");
    #[cfg(unix)]
    {
        let link = disk.folder.path().join("link.db");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        assert!(matches!(store.back_up(&link), Err(BackupError::Taken { .. })));
    }
    let nowhere = disk.folder.path().join("nowhere/copy.db");
    assert!(matches!(store.back_up(&nowhere), Err(BackupError::NoFolder { .. })));
    assert_eq!(
        SqliteStore::in_memory().unwrap().back_up(&disk.folder.path().join("memory.db")).ok(),
        Some(())
    );
}

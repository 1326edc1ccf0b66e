//! Everything that can be wrong with a database, made for real: each has its own error, and nothing is changed by it.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;

use super::{Asked, Disk, NOW, furnished, grant, grant_id, member, uses};
use crate::store::{
    Connections as _, GrantFilter, Grants as _, Party, QUESTIONS_PENDING_MAX, Questions as _, RaiseError,
    SpendError, SqliteStore, Store as _, StoreError,
};

/// A database with rows in it, and nobody who has it open.
fn used() -> Disk {
    let disk = Disk::new();
    let store = disk.store();
    furnished(&store);
    store.spend(&grant_id(1), uses(9)).unwrap();
    drop(store);
    disk
}

/// Opens it, and holds that nothing was changed thereby.
fn refusal(disk: &Disk) -> StoreError {
    let before = fs::read(disk.path()).unwrap();
    let error = SqliteStore::open(&disk.path()).unwrap_err();
    assert_eq!(fs::read(disk.path()).unwrap(), before);
    assert!(!error.hint().is_empty());
    error
}

fn overwrite(path: &Path, at: u64, bytes: &[u8]) {
    let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(bytes).unwrap();
}

#[cfg(unix)]
#[test]
fn a_text_file_is_foreign_and_left_alone() {
    use std::os::unix::fs::PermissionsExt;
    let disk = Disk::new();
    for text in ["x".repeat(9_000), "SQLite format 4\0 or so, and more than one page of it".repeat(100)] {
        fs::write(disk.path(), text).unwrap();
        fs::set_permissions(disk.path(), PermissionsExt::from_mode(0o644)).unwrap();
        assert!(matches!(refusal(&disk), StoreError::Foreign { .. }));
        assert_eq!(disk.path().metadata().unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(fs::read_dir(disk.folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn a_database_of_another_program_is_foreign() {
    let disk = Disk::new();
    disk.raw().execute_batch("CREATE TABLE theirs (a); PRAGMA user_version = 1;").unwrap();
    assert!(matches!(refusal(&disk), StoreError::Foreign { .. }));
    let ours_alone = used();
    ours_alone.raw().execute_batch("PRAGMA user_version = 0").unwrap();
    assert!(matches!(refusal(&ours_alone), StoreError::Foreign { .. }));
}

#[test]
fn a_later_version_is_named() {
    let disk = used();
    disk.raw().execute_batch("PRAGMA user_version = 4711").unwrap();
    assert!(matches!(refusal(&disk), StoreError::Newer { found: 4711, known: 4, .. }));
}

#[test]
fn a_damaged_page_is_found_at_the_start_wherever_it_is() {
    let pages = fs::read(used().path()).unwrap().len() / 4096;
    assert!(pages > 8);
    for page in 1..pages {
        let disk = used();
        overwrite(&disk.path(), u64::try_from(page * 4096).unwrap(), &[0xa5; 4096]);
        let error = refusal(&disk);
        assert!(matches!(error, StoreError::Corrupt { .. }), "page {page}: {error:?}");
    }
}

#[test]
fn a_file_that_was_cut_off_is_damaged() {
    for left in [0, 1, 99, 4_096, 9_000, 20_480] {
        let disk = used();
        fs::OpenOptions::new().write(true).open(disk.path()).unwrap().set_len(left).unwrap();
        let error = refusal(&disk);
        // With a whole header in it or nothing at all it is still seen to be ours.
        let foreign = matches!(error, StoreError::Foreign { .. }) && (1..100).contains(&left);
        assert!(foreign || matches!(error, StoreError::Corrupt { .. }), "{left}: {error:?}");
    }
}

#[test]
fn a_log_without_its_database_is_no_fresh_start() {
    let disk = used();
    let store = disk.store();
    store.spend(&grant_id(1), uses(9)).unwrap();
    fs::remove_file(disk.path()).unwrap();
    let error = SqliteStore::open(&disk.path()).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }) && !disk.path().exists(), "{error:?}");
}

#[test]
fn a_table_that_is_missing_is_damage() {
    let disk = used();
    disk.raw().execute_batch("DROP TABLE uses").unwrap();
    let store = disk.store();
    let spent = store.spend(&grant_id(1), uses(9));
    assert!(matches!(spent, Err(SpendError::Store(StoreError::Corrupt { .. }))));
}

#[test]
fn a_trigger_or_a_view_that_somebody_put_there_is_not_run() {
    let disk = used();
    disk.raw()
        .execute_batch("CREATE TRIGGER again AFTER UPDATE ON uses BEGIN UPDATE uses SET spent = 1; END")
        .unwrap();
    let store = disk.store();
    store.spend(&grant_id(1), uses(3)).unwrap();
    store.spend(&grant_id(1), uses(3)).unwrap();
    assert!(matches!(store.spend(&grant_id(1), uses(3)), Err(SpendError::UsedUp)));
}

/// The database may grow no more, as on a full disk.
#[test]
fn on_a_full_disk_nothing_is_half_written() {
    let disk = used();
    let store = disk.store();
    let pages: i64 = store.light().query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    super::super::lock(&store.durable)
        .query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_row| Ok(()))
        .unwrap();
    let (mut raised, mut full) = (0_u64, 0);
    let title = "x".repeat(200);
    for seed in 0..u64::from(QUESTIONS_PENDING_MAX) {
        match Asked::new(&format!("{title}{seed}")).raise(&store, seed, NOW) {
            Ok(_) => raised += 1,
            Err(RaiseError::Store(StoreError::Full { .. })) => full += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(raised > 0 && full > 0, "{raised} raised, {full} full");
    let listed = store.questions(Party::Member(member()), NOW).unwrap();
    assert_eq!(u64::try_from(listed.len()).unwrap(), raised);
    let work = store.connections(member()).unwrap().remove(0);
    let before = store.grants(&GrantFilter::default()).unwrap();
    let mut large = grant(77, &work);
    large.sealed = vec![1; 50_000];
    assert!(store.put_grant(&large).is_err());
    // The one that it would have replaced is still there.
    assert_eq!(store.grants(&GrantFilter::default()).unwrap(), before);
    store.check().unwrap();
}

#[test]
fn a_folder_in_the_place_of_the_database_is_refused() {
    let disk = Disk::new();
    fs::create_dir(disk.path()).unwrap();
    let error = SqliteStore::open(&disk.path()).unwrap_err();
    assert!(matches!(error, StoreError::Failed { .. }), "{error:?}");
    let within = disk.folder.path().join("file");
    fs::write(&within, "").unwrap();
    assert!(matches!(SqliteStore::open(&within.join("pinhole.db")), Err(StoreError::Failed { .. })));
}

/// In a process of a user who may only read: whoever runs the tests may be the one user whom no mode stops.
#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_is_read_only() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt, chown};
    use std::os::unix::process::CommandExt as _;

    use super::Another;

    let nobody = (fs::metadata("/proc/self").unwrap().uid() == 0).then_some(65_534);
    let says_of = |owner: Option<u32>, disk: &Disk, folder: u32, file: u32| {
        if disk.path().exists() {
            chown(disk.path(), owner, owner).unwrap();
            fs::set_permissions(disk.path(), PermissionsExt::from_mode(file)).unwrap();
        }
        chown(disk.folder.path(), nobody, nobody).unwrap();
        fs::set_permissions(disk.folder.path(), PermissionsExt::from_mode(folder)).unwrap();
        let mut another = Another::start("open", &disk.path().display().to_string(), |command| {
            if let Some(nobody) = nobody {
                command.uid(nobody).gid(nobody);
            }
        });
        let said = another.line().unwrap();
        fs::set_permissions(disk.folder.path(), PermissionsExt::from_mode(0o700)).unwrap();
        said
    };
    let says = |disk: &Disk, folder: u32, file: u32| says_of(nobody, disk, folder, file);
    assert_eq!(says(&Disk::new(), 0o500, 0), "ReadOnly");
    assert_eq!(says(&used(), 0o500, 0o400), "ReadOnly");
    assert_eq!(says(&used(), 0o700, 0o400), "ReadOnly");
    assert_eq!(says(&used(), 0o500, 0o600), "ReadOnly");
    assert_eq!(says(&used(), 0o700, 0o600), "opened");
    assert_eq!(says(&used(), 0o700, 0o644), "opened");
    // Somebody else's file, which others may read: its mode is not for this user to change.
    if nobody.is_some() {
        assert_eq!(says_of(Some(0), &used(), 0o700, 0o666), "Exposed");
        assert_eq!(says_of(Some(0), &used(), 0o700, 0o644), "ReadOnly");
    }
}

//! Making and opening the database, and what is looked at before it is believed.
//!
//! INVARIANT: the file has its name only once it is a whole, synced database with all its tables: a file that is empty or
//! cut off is damage, never a fresh start in which no use is spent. No file of a database is opened here but by SQLite: to
//! close one would drop the locks that this process holds on it.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::broken::Place;
use super::schema::{self, APPLICATION_ID, STEPS};
use crate::store::StoreError;

/// Statements that are kept ready.
const STATEMENTS_KEPT: usize = 64;

/// What each connection keeps of the database in memory, in KiB. The two take turns at writing, and what one has changed the other
/// forgets all for: between transactions little is gained by more, and what one looks through stays taken from the system on
/// each thread that has looked.
const PAGES_KEPT_KIB: i64 = 512;

/// Largest database that is read whole at each start, in bytes: 8 MiB, 27 ms.
const CHECKED_AT_START_MAX: i64 = 8 << 20;

/// Opens the two connections of a store: the one whose changes are durable, and the other.
pub(super) fn open(place: &Place) -> Result<(Connection, Connection), StoreError> {
    if !is_made(place)? {
        make(place)?;
    }
    let failed = |error| place.fault("open its database", error);
    let mut durable = connect(place).map_err(failed)?;
    is_usable(&durable, place)?;
    only_the_owner_s(&place.path)?;
    is_sound(&durable, place)?;
    schema::migrate(&mut durable, &STEPS)
        .map_err(|error| place.fault("bring its tables up to date", error))?;
    let light = connect(place).map_err(failed)?;
    light.pragma_update(None, "synchronous", "NORMAL").map_err(failed)?;
    Ok((durable, light))
}

/// Opens the two connections of a store that is only looked at; `None` where there is no database. What a killed process
/// has left in the log stays there. One of an earlier
/// format stays in it.
pub(super) fn look(place: &Place) -> Result<Option<(Connection, Connection)>, StoreError> {
    if !is_made(place)? {
        return Ok(None);
    }
    let left = fs::metadata(beside(&place.path, "-wal")).is_ok_and(|log| log.len() > 0);
    let failed = |error| place.fault("open its database", error);
    let only_looks = || {
        let connection = connect(place)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, left)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    };
    let durable = only_looks().map_err(failed)?;
    is_usable(&durable, place)?;
    is_sound(&durable, place)?;
    Ok(Some((durable, only_looks().map_err(failed)?)))
}

/// Whether the database is there. A log without one is what is left of one.
fn is_made(place: &Place) -> Result<bool, StoreError> {
    let path = &place.path;
    // In this order: the database may be made in between.
    let log = is_there(&beside(path, "-wal"))?;
    match is_there(path)? {
        false if log => Err(StoreError::Corrupt { path: path.to_path_buf(), source: None }),
        made => Ok(made),
    }
}

pub(super) fn in_memory() -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    guard(&connection)?;
    schema::migrate(&mut connection, &STEPS)?;
    Ok(connection)
}

/// Neither makes the file nor follows a URI in its name.
fn connect(place: &Place) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&place.path, flags)?;
    connection.busy_timeout(place.waits)?;
    guard(&connection)?;
    Ok(connection)
}

fn guard(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true)?;
    // Triggers and views are none of ours: whoever puts one there does not get it run.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "cache_size", -PAGES_KEPT_KIB)?;
    // Nothing is put aside in files that others keep.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // What is deleted is overwritten.
    connection.pragma_update(None, "secure_delete", true)
}

/// Makes the whole database under another name, and gives it its own when it is on the disk. Another process may do the
/// same: the first name stays.
fn make(place: &Place) -> Result<(), StoreError> {
    let failed = |source: io::Error| of_io(place, "make its database", source);
    let folder = folder_of(&place.path);
    private_folder(folder).map_err(failed)?;
    let draft = tempfile::Builder::new().prefix(".pinhole.db.").tempfile_in(folder).map_err(failed)?;
    let draft = draft.into_temp_path();
    let sql = |error| place.fault("make its database", error);
    let mut connection =
        Connection::open_with_flags(&draft, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(sql)?;
    connection.pragma_update(None, "synchronous", "EXTRA").map_err(sql)?;
    schema::migrate(&mut connection, &STEPS).map_err(sql)?;
    connection.pragma_update(None, "journal_mode", "WAL").map_err(sql)?;
    connection.close().map_err(|(_connection, error)| sql(error))?;
    File::open(&draft).and_then(|file| file.sync_all()).map_err(failed)?;
    match draft.persist_noclobber(&place.path) {
        Err(error) if error.error.kind() != ErrorKind::AlreadyExists => return Err(failed(error.error)),
        _ => {}
    }
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
}

/// It can be written, and is Pinhole's.
fn is_usable(connection: &Connection, place: &Place) -> Result<(), StoreError> {
    if connection.is_readonly("main").map_err(|error| place.fault("open its database", error))? {
        return Err(StoreError::ReadOnly { path: place.path.to_path_buf(), source: None });
    }
    is_ours(connection, place)
}

fn is_ours(connection: &Connection, place: &Place) -> Result<(), StoreError> {
    let failed = |error| place.fault("read its database", error);
    let path = place.path.to_path_buf();
    let one = |pragma: &str| connection.query_row(pragma, [], |row| row.get::<_, i64>(0)).map_err(failed);
    if one("PRAGMA page_count")? == 0 {
        return Err(StoreError::Corrupt { path, source: None });
    }
    if one("PRAGMA application_id")? != APPLICATION_ID {
        return Err(StoreError::Foreign { path });
    }
    let (found, known) = (one("PRAGMA user_version")?, schema::latest(&STEPS));
    match found {
        found if found > known => Err(StoreError::Newer { path, found, known }),
        1.. => Ok(()),
        _ => Err(StoreError::Foreign { path }),
    }
}

/// Looks at a database before it is used. A small one is read whole, which takes 3.4 ms a MiB; of a larger one, such as
/// a quarter of a million spent uses make, only what is used is looked at, when it is, and `SqliteStore::check` reads the rest.
fn is_sound(connection: &Connection, place: &Place) -> Result<(), StoreError> {
    let size = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
    let size = connection.query_row(size, [], |row| row.get::<_, i64>(0));
    let whole = size.map_err(|error| place.fault("read its database", error))? <= CHECKED_AT_START_MAX;
    check(connection, place, if whole { "quick_check(1)" } else { "quick_check(sqlite_schema)" })
}

/// Runs one of SQLite's own checks.
pub(super) fn check(connection: &Connection, place: &Place, pragma: &str) -> Result<(), StoreError> {
    let first = connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, String>(0));
    match first.map_err(|error| place.fault("check its database", error))?.as_str() {
        "ok" => Ok(()),
        fault => Err(StoreError::Corrupt { path: place.path.to_path_buf(), source: Some(fault.into()) }),
    }
}

/// Takes the files of the database from group and others. Files that SQLite makes beside it get its mode.
fn only_the_owner_s(path: &Path) -> Result<(), StoreError> {
    #[cfg(unix)]
    for path in [path.to_path_buf(), beside(path, "-wal"), beside(path, "-shm")] {
        use std::os::unix::fs::PermissionsExt as _;
        let Ok(metadata) = fs::metadata(&path) else { continue };
        let mode = metadata.permissions().mode() & 0o777;
        if metadata.is_file() && mode & 0o077 != 0 {
            let private = fs::Permissions::from_mode(mode & 0o700);
            fs::set_permissions(&path, private).map_err(|_not_ours| StoreError::Exposed { path, mode })?;
        }
    }
    #[cfg(not(unix))]
    let _only_one_user = path;
    Ok(())
}

pub(super) fn of_io(place: &Place, doing: &'static str, source: io::Error) -> StoreError {
    let path = place.path.to_path_buf();
    match source.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            StoreError::ReadOnly { path, source: Some(source.into()) }
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            StoreError::Full { path, source: Some(source.into()) }
        }
        _ => StoreError::Failed { doing, source: source.into() },
    }
}

/// The path of a file that belongs to the database.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether anything has this name, a link that leads nowhere included.
fn is_there(path: &Path) -> Result<bool, StoreError> {
    match path.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(StoreError::Failed { doing: "look for its database", source: error.into() }),
    }
}

/// Makes a folder and those above it that are missing, and waits until each name is on the disk.
pub(super) fn private_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let above = folder_of(path);
    private_folder(above)?;
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    File::open(above)?.sync_all()
}

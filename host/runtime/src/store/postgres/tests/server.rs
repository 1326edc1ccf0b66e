//! What is true of a server: killed, restarted, of another version, somebody else's; and what it is told.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use super::super::schema;
use super::harness::Postgres;
use super::{Database, PostgresAddress, PostgresStore};
use crate::store::tests::{
    Asked, Bench as _, HOUR, NOW, connection, furnished, grant_id, member, question_id, the_bot, uses,
};
use crate::store::{
    Answer, Connections as _, GrantFilter, Grants as _, LockName, Locks as _, Questions as _, ServerError,
    SpendError, Store as _, StoreError,
};

/// Killed in the middle of what it does, three times: no use is given out twice, and what was said to be spent is.
#[test]
fn a_server_that_is_killed_in_a_storm_gives_out_no_use_twice() {
    const ALLOWED: u32 = 400;
    let Some(server) = Postgres::start("a_server_that_is_killed_in_a_storm") else { return };
    let address = PostgresAddress::parse(&server.database()).unwrap();
    let stores = [0; 3].map(|_| PostgresStore::open(&address).unwrap());
    let (spent, unknown) = (AtomicU32::new(0), AtomicU32::new(0));
    let (said, heard) = channel();
    std::thread::scope(|scope| {
        for store in stores.iter().cycle().take(6) {
            let (said, spent, unknown) = (said.clone(), &spent, &unknown);
            scope.spawn(move || {
                loop {
                    match store.spend(&grant_id(1), uses(ALLOWED)) {
                        Ok(()) => {
                            spent.fetch_add(1, Ordering::SeqCst);
                            said.send(()).unwrap_or_default();
                        }
                        Err(SpendError::UsedUp) => return,
                        Err(SpendError::Store(StoreError::Server(ServerError::Uncertain { .. }))) => {
                            unknown.fetch_add(1, Ordering::SeqCst);
                        }
                        Err(SpendError::Store(StoreError::Server(ServerError::Unreachable { .. }))) => {}
                        Err(error) => panic!("{error:?}"),
                    }
                }
            });
        }
        for _ in 0..3 {
            heard.iter().take(60).for_each(drop);
            server.kill();
            server.start_again();
        }
    });
    let (spent, unknown) = (spent.into_inner(), unknown.into_inner());
    assert!(spent <= ALLOWED && spent + unknown >= ALLOWED, "{spent} spent, {unknown} unknown");
    let row = server.sql("test_0", "SELECT spent FROM pinhole.uses");
    assert_eq!(row.trim_end(), ALLOWED.to_string());
}

#[test]
fn a_server_that_is_restarted_under_a_store_serves_the_next_call() {
    let Some(server) = Postgres::start("a_server_that_is_restarted") else { return };
    let store = PostgresStore::open(&PostgresAddress::parse(&server.database()).unwrap()).unwrap();
    let (name, long) = (LockName::new("test", &["a"]), Duration::from_mins(1));
    let (connection, _) = furnished(&store);
    drop(store.hold(&name, long).unwrap());
    server.stop();
    let down = |error: &StoreError| matches!(error, StoreError::Server(ServerError::Unreachable { .. }));
    assert!(down(&store.is_revoked(&grant_id(1)).unwrap_err()));
    assert!(matches!(store.spend(&grant_id(1), uses(1)), Err(SpendError::Store(error)) if down(&error)));
    server.start_again();
    assert_eq!(store.connections(member()).unwrap(), [connection]);
    server.stop();
    server.start_again();
    store.spend(&grant_id(1), uses(1)).unwrap();
    let held = store.hold(&name, long).unwrap();
    server.kill();
    server.start_again();
    // Its lock went with the server.
    drop(store.hold(&name, long).unwrap());
    drop(held);
    assert!(!store.has_use_left(&grant_id(1), uses(1)).unwrap());
}

#[test]
fn a_database_of_a_later_version_and_one_of_somebody_else_are_left_alone() {
    let test = "a_database_of_a_later_version";
    let (Some(later), Some(theirs)) = (Database::new(test), Database::new(test)) else { return };
    let refusal = |database: &Database| {
        let error = PostgresStore::open(&PostgresAddress::parse(&database.url).unwrap()).unwrap_err();
        assert!(!error.hint().is_empty());
        error
    };
    let known = schema::latest(&schema::STEPS);
    assert_eq!(later.store().format().unwrap(), known);
    assert!(later.change("UPDATE schema SET version = version + 1"));
    match refusal(&later) {
        StoreError::Server(ServerError::Newer { found, known: latest, .. }) => {
            assert_eq!((found, latest), (known + 1, known));
        }
        other => panic!("{other:?}"),
    }
    theirs.server.sql(theirs.name(), "CREATE SCHEMA pinhole; CREATE TABLE pinhole.uses (theirs int)");
    assert!(matches!(refusal(&theirs), StoreError::Server(ServerError::Foreign { .. })));
    let tables = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'pinhole'";
    assert_eq!(theirs.server.sql(theirs.name(), tables).trim_end(), "1");
}

#[test]
fn a_step_that_fails_changes_nothing() {
    let Some(database) = Database::new("a_step_that_fails") else { return };
    let store = database.store();
    let (connection, _) = furnished(&store);
    let further = "ALTER TABLE connections ADD COLUMN note TEXT";
    let steps = [schema::STEPS[0], further, "CREATE TABLE connections (id TEXT)"];
    store.migrate(&steps).unwrap_err();
    assert_eq!(store.format().unwrap(), schema::latest(&schema::STEPS));
    assert!(!database.change("SELECT note FROM connections"));
    assert_eq!(store.connections(member()).unwrap(), std::slice::from_ref(&connection));
    for _ in 0..2 {
        store.migrate(&steps[..2]).unwrap();
    }
    database.server.sql(database.name(), "SELECT note FROM pinhole.connections");
    assert_eq!(store.format().unwrap(), 2);
    assert_eq!(store.connections(member()).unwrap(), [connection]);
}

/// Whatever the role's own settings are, a use waits for the disk and the latest time does not.
#[test]
fn a_commit_waits_for_the_disk_whatever_the_role_is_set_to() {
    let Some(database) = Database::new("a_commit_waits_for_the_disk") else { return };
    for (set, wanted) in [("off", "on"), ("local", "local"), ("remote_apply", "remote_apply")] {
        let alter = format!("ALTER DATABASE {} SET synchronous_commit = {set}", database.name());
        database.server.sql("postgres", &alter);
        let store = database.store();
        let shown = |light: bool| {
            let show = async |session: &super::super::pool::Session| {
                Ok::<_, super::super::broken::Broken<StoreError>>(
                    session
                        .client
                        .query_one("SHOW synchronous_commit", &[])
                        .await?
                        .try_get::<_, String>(0)?,
                )
            };
            if light { store.write_light("show", show) } else { store.write("show", show) }.unwrap()
        };
        assert_eq!(
            (shown(false).as_str(), shown(true).as_str(), shown(false).as_str()),
            (wanted, "off", wanted)
        );
    }
}

/// A call may be made where tasks are driven: it blocks there, and no more.
#[tokio::test]
async fn a_call_on_a_thread_that_drives_tasks_does_not_panic() {
    let Some(database) = Database::new("a_call_on_a_thread_that_drives_tasks") else { return };
    let store = database.store();
    store.spend(&grant_id(1), uses(1)).unwrap();
    let held = store.hold(&LockName::new("test", &["a"]), Duration::ZERO).unwrap();
    assert!(store.is_revoked(&grant_id(1)).is_ok_and(|revoked| !revoked));
    drop(held);
    drop(store);
}

/// More callers than connections: they wait for each other.
#[test]
fn many_callers_share_a_few_connections() {
    let Some(database) = Database::new("many_callers_share") else { return };
    let store = database.store();
    let won: usize = std::thread::scope(|scope| {
        let spend = || (0..10).filter(|_| store.spend(&grant_id(1), uses(100)).is_ok()).count();
        let threads: Vec<_> = (0..40).map(|_| scope.spawn(spend)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(won, 100);
    let open = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pinhole' AND datname =";
    let open = database.server.sql("postgres", &format!("{open} '{}'", database.name()));
    assert!(open.trim_end().parse::<usize>().unwrap() <= super::super::pool::CONNECTIONS_MAX);
}

/// Changes of one member that would cross each other in SERIALIZABLE, or deadlock: here one comes after the other.
#[test]
fn a_connection_ends_once_whatever_is_done_to_it_meanwhile() {
    let Some(database) = Database::new("a_connection_ends_once") else { return };
    let store = database.store();
    for round in 0..20_u64 {
        let work = connection(100 + round, "work");
        store.insert_connection(&work).unwrap();
        let asked = Asked { connection: work.id, ..Asked::new(&format!("{round}")) };
        let id = asked.raise(&store, 1000 + round, NOW).unwrap().id;
        let grant = grant_id(5000 + round);
        let yes = Answer::Approve { grant, sealed: b"sealed", until: NOW.plus_secs(HOUR) };
        store.answer(member(), id, yes, NOW).unwrap();
        let (ended, taken) = std::thread::scope(|scope| {
            let ended = scope.spawn(|| store.remove_connection(member(), work.id).unwrap());
            let taken = scope.spawn(|| store.take(the_bot(), id, NOW).is_ok());
            let put =
                scope.spawn(|| store.put_grant(&crate::store::tests::grant(9000 + round, &work)).is_ok());
            put.join().unwrap();
            (ended.join().unwrap(), taken.join().unwrap())
        });
        // Given out before or not at all: it is revoked either way.
        assert!(ended.contains(&grant) && store.is_revoked(&grant).unwrap(), "{taken}");
        assert!(store.take(the_bot(), id, NOW).is_err());
        assert_eq!(store.grants(&GrantFilter::default()).unwrap(), []);
        assert!(store.question(the_bot(), question_id(1000 + round), NOW).unwrap().is_some());
    }
}

#[test]
fn a_signal_to_the_tests_does_not_leave_their_server_behind() {
    let Some(server) = Postgres::start("a_signal_to_the_tests_does_not_leave_their_server_behind") else {
        return;
    };
    let keeper = server.keeper().to_string();
    for signal in ["-TERM", "-INT", "-HUP", "-PIPE"] {
        assert!(std::process::Command::new("kill").args([signal, &keeper]).status().unwrap().success());
    }
    // It still does as it is told, and it ends when nobody waits for it any more.
    server.stop();
    server.start_again();
    assert_eq!(server.sql("postgres", "SELECT 1"), "1\n");
    let folder = server.folder().to_owned();
    let process = std::fs::read_to_string(folder.join("data/postmaster.pid")).unwrap_or_default();
    drop(server);
    assert!(!folder.exists());
    let process = process.lines().next().unwrap_or_default().to_owned();
    assert!(!std::path::Path::new("/proc").join(process).join("exe").exists());
}

//! From one version of the tables to the next: rows stay, all steps or none, and what was released never changes.

use pinhole_manifest::Digest;
use rusqlite::Connection;

use super::super::schema::{self, STEPS};
use super::{Asked, Disk, NOW, bot, furnished, grant_id, member, raw, the_bot, uses};
use crate::store::{
    Answer, Connections as _, GrantFilter, Grants as _, Party, QuestionState, Questions as _, SqliteStore,
    Store as _,
};

const FURTHER: &str =
    "ALTER TABLE connections ADD COLUMN note TEXT; CREATE TABLE notes (id TEXT NOT NULL) STRICT;";

/// A database of version 1 with rows in every table, whatever the latest version is.
fn version_1() -> Disk {
    let disk = Disk::new();
    let mut connection = raw(&disk.path());
    schema::migrate(&mut connection, STEPS.get(..1).unwrap()).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.execute_batch(include_str!("version1.sql")).unwrap();
    disk
}

fn tables(connection: &Connection) -> Vec<String> {
    let mut statement =
        connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY sql").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn rows_of_version_1_are_read() {
    let disk = version_1();
    let store = disk.store();
    assert_eq!(schema::version(&disk.raw()).unwrap(), schema::latest(&STEPS));
    let connections = store.connections(member()).unwrap();
    assert_eq!(connections.iter().map(|row| row.label.as_str()).collect::<Vec<_>>(), ["home", "work"]);
    let grants = store.grants(&GrantFilter { bot: Some(bot()), ..GrantFilter::default() }).unwrap();
    assert_eq!(grants.iter().map(|row| row.connection).collect::<Vec<_>>(), [connections[1].id]);
    let questions = store.questions(Party::Member(member()), NOW).unwrap();
    let states: Vec<_> = questions.iter().map(|question| question.state).collect();
    assert_eq!(
        states,
        [QuestionState::Pending, QuestionState::Approved, QuestionState::Used, QuestionState::Denied]
    );
    assert_eq!(store.take(the_bot(), questions[1].id, NOW).unwrap().sealed, b"approval");
    assert!(store.is_revoked(&grant_id(4)).unwrap());
    assert!(
        !store.has_use_left(&grant_id(3), uses(2)).unwrap()
            && store.has_use_left(&grant_id(3), uses(3)).unwrap()
    );
    assert_eq!(store.high_water(NOW.plus_secs(-9)).unwrap(), NOW);
}

#[test]
fn who_only_looks_at_version_1_reads_its_questions() {
    let disk = version_1();
    let looked = SqliteStore::look(disk.folder.path()).unwrap().unwrap();
    assert_eq!(looked.format().unwrap(), 1);
    let questions = looked.questions(Party::Member(member()), NOW).unwrap();
    assert_eq!(questions.iter().map(|question| question.principal).collect::<Vec<_>>(), [None; 4]);
}

#[test]
fn a_further_version_keeps_what_is_there() {
    let disk = Disk::new();
    let store = disk.store();
    let (connection, grant) = furnished(&store);
    let asked = Asked::new("A title");
    let question = asked.raise(&store, 1, NOW).unwrap();
    drop(store);
    let further: Vec<&str> = STEPS.into_iter().chain([FURTHER]).collect();
    for _ in 0..2 {
        schema::migrate(&mut disk.raw(), &further).unwrap();
    }
    let raw = disk.raw();
    assert_eq!(schema::version(&raw).unwrap(), schema::latest(&further));
    let kept = |select: &str| raw.query_row(select, [], |row| row.get::<_, String>(0)).unwrap();
    assert_eq!(kept("SELECT id FROM connections WHERE note IS NULL"), connection.id.to_string());
    assert_eq!(kept("SELECT id FROM grants"), grant.id.to_string());
    assert_eq!(kept("SELECT id FROM questions"), question.id.to_string());
}

#[test]
fn a_step_that_fails_changes_nothing() {
    let disk = Disk::new();
    let (connection, _) = furnished(&disk.store());
    let before = tables(&disk.raw());
    let broken: Vec<&str> =
        STEPS.into_iter().chain([FURTHER, "CREATE TABLE connections (id TEXT)"]).collect();
    schema::migrate(&mut disk.raw(), &broken).unwrap_err();
    assert_eq!(schema::version(&disk.raw()).unwrap(), schema::latest(&STEPS));
    assert_eq!(tables(&disk.raw()), before);
    let store = disk.store();
    assert_eq!(store.connections(member()).unwrap(), [connection]);
    let id = Asked::new("A title").raise(&store, 1, NOW).unwrap().id;
    store.answer(member(), id, Answer::Deny, NOW).unwrap();
}

#[test]
fn a_database_is_the_same_however_it_was_made() {
    let disk = Disk::new();
    disk.store();
    let memory = SqliteStore::in_memory().unwrap();
    assert_eq!(tables(&disk.raw()), tables(&memory.light()));
    for sql in tables(&disk.raw()).iter().filter(|sql| sql.starts_with("CREATE TABLE")) {
        assert!(sql.contains("STRICT"), "{sql}");
        // What is nobody's says so.
        let nobodys = ["CREATE TABLE clock", "CREATE TABLE taken_over", "CREATE TABLE checkpoints"]
            .iter()
            .any(|name| sql.starts_with(name));
        assert!(nobodys || sql.contains("member TEXT"), "{sql}");
    }
}

/// A step that somebody's database has taken is what it is. Whoever changes one changes this line, and knows it.
#[test]
fn no_step_has_changed() {
    let digests = STEPS.map(|step| Digest::of(step.as_bytes()).to_string());
    let known = [
        "sha256:49acef1f6eb24d3a7c4124dee834d240b3fd0ddc6677c2cefe30318abb919439",
        "sha256:1f048e96dbf3d494e10e7c61b6513fe47fbc3f3d88007060e7037f26bc1f38c4",
        "sha256:01718575f75a5a83561fd809eedc8a257a36019fedcde18ba2946eec80d878ec",
        "sha256:f01d9f3c1764342c1b8119ebf88902a86005037bbdedeb43edb5b30b62009a29",
    ];
    assert_eq!(digests, known);
}

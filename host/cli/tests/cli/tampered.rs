//! Rows that somebody changed behind the store's back: whoever meets one refuses it, names it and uses nothing of it.

use crate::home::{Home, Ran};
use crate::stage::{READ, Stage, WRITE};

/// The work connection's row, or that of its grant.
const OF_WORK: &str = "(SELECT id FROM connections WHERE label = 'work')";

/// A command that meets rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    Read,
    Write,
    List,
    Cap,
    Show,
    Approve,
}

use Door::{Approve, Cap, List, Read, Show, Write};

/// A home with two connections that may ask for writes, and a question that waits on the one called `work`.
struct Case {
    home: Home,
    stage: Stage,
    question: String,
    whole: Vec<u8>,
}

impl Case {
    fn new() -> Self {
        let (home, stage) = (Home::guarded(), Stage::new());
        let [flag, passphrase] = home.passphrase();
        for label in ["home", "work"] {
            home.connect(&stage, &["--label", label, "--cap", "write", &flag, &passphrase]).expect(0);
        }
        let case = Self { home, stage, question: String::new(), whole: Vec::new() };
        let refusal = case.run(Write).expect(3).refusal("approval_required");
        let question = refusal["question"].as_str().unwrap().to_owned();
        let whole = std::fs::read(case.home.path("pinhole.db")).unwrap();
        Self { question, whole, ..case }
    }

    fn run(&self, door: Door) -> Ran {
        let [flag, passphrase] = self.home.passphrase();
        let on_work = ["--connection", "work", "--json"];
        let dialled = |what: &[&str]| {
            self.home.run(&self.stage.args(&self.home, &[&["run"], what, &on_work].concat()).words())
        };
        let cap = ["connections", "cap", "github", "--label", "work", "write"];
        match door {
            Read => dialled(&READ),
            Write => dialled(&WRITE),
            List => self.home.run(&["connections"]),
            Cap => self.home.run(&[&cap[..], &[&flag, &passphrase]].concat()),
            Show => self.home.run(&["approvals", "show", &self.question]),
            Approve => self.home.run(&["approvals", "approve", &self.question, &flag, &passphrase]),
        }
    }

    fn spoil(&self, sql: &str) {
        let database = self.home.database();
        database.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON").unwrap();
        database.execute_batch(sql).unwrap();
        assert!(database.total_changes() > 0, "{sql} changed nothing");
    }

    fn put_back(&self) {
        for beside in ["pinhole.db-wal", "pinhole.db-shm"] {
            std::fs::remove_file(self.home.path(beside)).unwrap_or_default();
        }
        std::fs::write(self.home.path("pinhole.db"), &self.whole).unwrap();
    }

    /// Through each door the row is refused by its table's and its own name, and nothing is dialled, nor changed in what is
    /// stored.
    fn names(&self, sql: &str, named: &str, doors: &[Door]) {
        let connections = self.stage.connections();
        for door in doors {
            self.spoil(sql);
            let before = self.home.stored();
            let ran = self.run(*door).expect(6);
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert!(said.contains(named) && said.contains("tampered"), "{sql} {door:?}: {said}");
            assert!(said.contains("`pinhole connections remove ID`"), "{sql} {door:?}: {said}");
            assert_eq!(self.home.stored(), before, "{sql} {door:?}");
            self.put_back();
        }
        assert_eq!(self.stage.connections(), connections, "{sql}");
    }

    /// Through each door it is as if the row were not there: status 3, and nothing is dialled.
    fn misses(&self, sql: &str, doors: &[Door]) {
        let connections = self.stage.connections();
        for door in doors {
            self.spoil(sql);
            let ran = self.run(*door);
            assert_eq!(ran.status, 3, "{sql} {door:?}: {}{}", ran.stdout, ran.stderr);
            self.put_back();
        }
        assert_eq!(self.stage.connections(), connections, "{sql}");
    }

    fn id(&self, table: &str, column: &str) -> String {
        let select = format!("SELECT id FROM {table} WHERE {column} = {OF_WORK}");
        self.home.database().query_one(&select, [], |row| row.get(0)).unwrap()
    }
}

#[test]
fn a_connection_is_what_was_sealed() {
    let case = Case::new();
    let row = format!("the row `{}` of `connections`", case.id("connections", "id"));
    let set = |assignment: &str| format!("UPDATE connections SET {assignment} WHERE label = 'work'");
    for assignment in [
        "account = 'demo-owl'",
        "host = 'api.stripe.com'",
        "cap = 'read'",
        "dial = 'real'",
        "gen = gen + 1",
        // None of the column's words.
        "account = ' '",
        "host = '127.0.0.1'",
    ] {
        case.names(&set(assignment), &row, &[Read, Write, List, Cap, Approve]);
    }
    // Under another name it is not found by the old one, and not to be used by the new one.
    for assignment in ["label = 'other'", "service = 'stripe'"] {
        case.names(&set(assignment), &row, &[List, Approve]);
        case.misses(&set(assignment), &[Read, Write, Cap]);
    }
    let swapped = "UPDATE connections SET label = 'x' WHERE label = 'home';
                   UPDATE connections SET label = 'home' WHERE label = 'work';
                   UPDATE connections SET label = 'work' WHERE label = 'x'";
    case.names(swapped, "of `connections`", &[Read, Write, List, Cap, Approve]);
    case.misses(&set("member = (SELECT bot FROM grants)"), &[Read, Write, Cap, Approve]);
    case.misses(&set("id = 'AAAAAAAAAAAAAAAAAAAAAA'"), &[Read, Write, Approve]);
    case.names(
        &set("id = 'AAAAAAAAAAAAAAAAAAAAAA'"),
        "the row `AAAAAAAAAAAAAAAAAAAAAA` of `connections`",
        &[Cap],
    );
    case.names(&set("id = 'x'"), "the row `x` of `connections`", &[Read, Write, List, Cap]);
    // What only she can open, she holds against the row; the bot never touches it.
    for sealed in [
        "x'00'",
        "(SELECT sealed FROM connections WHERE label = 'home')",
        "(SELECT sealed FROM grants LIMIT 1)",
    ] {
        case.names(&set(&format!("sealed = {sealed}")), &row, &[Cap, Approve]);
    }
    // So that the doors were open.
    for door in [Read, List, Cap, Approve] {
        case.run(door).expect(0);
    }
}

#[test]
fn a_grant_is_what_was_sealed() {
    let case = Case::new();
    let row = format!("the row `{}` of `grants`", case.id("grants", "connection"));
    let set = |assignment: &str| format!("UPDATE grants SET {assignment} WHERE connection = {OF_WORK}");
    let others = format!("(SELECT sealed FROM grants WHERE connection <> {OF_WORK})");
    for assignment in [
        "service = 'stripe'",
        "expires_at = expires_at + 1000",
        "expires_at = 7",
        "sealed = x'00'",
        "sealed = (SELECT sealed FROM connections WHERE label = 'work')",
        &format!("sealed = {others}"),
    ] {
        case.names(&set(assignment), &row, &[Read, Write, List]);
    }
    case.names(
        &set("id = 'AAAAAAAAAAAAAAAAAAAAAA'"),
        "the row `AAAAAAAAAAAAAAAAAAAAAA` of `grants`",
        &[Read, Write, List],
    );
    let swapped = "UPDATE grants SET connection = (SELECT id FROM connections WHERE id <> grants.connection)";
    case.names(swapped, "of `grants`", &[Read, Write, List]);
    for assignment in [
        "member = bot",
        "bot = member",
        "access = 'write'",
        "connection = (SELECT id FROM connections WHERE label = 'home')",
    ] {
        case.misses(&set(assignment), &[Read, Write]);
    }
    for door in [Read, List] {
        case.run(door).expect(0);
    }
}

#[test]
fn a_question_is_what_its_digest_says() {
    let case = Case::new();
    let row = format!("the row `{}` of `questions`", case.question);
    let set = |assignment: &str| format!("UPDATE questions SET {assignment}");
    for assignment in [
        "args = replace(args, 'flickers', 'is gone')",
        "args = '{'",
        "op = 'get_repo'",
        "connection = (SELECT id FROM connections WHERE label = 'home')",
        "account = 'demo-owl'",
        "bot = member",
        "action = 'sha256:' || lower(hex(zeroblob(32)))",
        "action = 'x'",
        "manifest = 'x'",
        "found = '{'",
        "found = '{\"a\":1}'",
    ] {
        case.names(&set(assignment), &row, &[Show, Approve]);
    }
    for assignment in [
        "id = '0000-0000'",
        "member = bot",
        "service = 'stripe'",
        "op = 'nope'",
        "manifest = 'sha256:' || lower(hex(zeroblob(32)))",
    ] {
        case.misses(&set(assignment), &[Show, Approve]);
    }
    for door in [Show, Approve] {
        case.run(door).expect(0);
    }
}

#[test]
fn what_no_row_can_hold_is_damage() {
    let case = Case::new();
    for sql in [
        "UPDATE connections SET cap = 'admin'",
        "UPDATE connections SET dial = 'x'",
        "UPDATE connections SET gen = -1",
        "UPDATE questions SET state = 'approved'",
        "UPDATE questions SET expires_at = raised_at",
    ] {
        let connections = case.stage.connections();
        for door in [Read, Write, List, Cap, Show, Approve] {
            case.spoil(sql);
            let ran = case.run(door).expect(6);
            assert!(ran.stderr.contains("damaged"), "{sql} {door:?}: {}", ran.stderr);
            case.put_back();
        }
        assert_eq!(case.stage.connections(), connections);
    }
}

/// The bot can write the database, and make a row say that she said yes. Only her signature does.
#[test]
fn an_approval_that_she_did_not_give_is_none() {
    let case = Case::new();
    let posts = || case.stage.standin.requests().iter().filter(|seen| seen.method == "POST").count();
    let forge = |sealed: &str| {
        format!(
            "UPDATE questions SET state = 'approved', answered_at = raised_at, grant_id = 'AAAAAAAAAAAAAAAAAAAAAA',
             until = expires_at, sealed = {sealed}"
        )
    };
    let read = format!("(SELECT sealed FROM grants WHERE connection = {OF_WORK})");
    for sealed in ["x'00'", read.as_str(), "(SELECT sealed FROM connections WHERE label = 'work')"] {
        case.spoil(&forge(sealed));
        assert_eq!(case.run(Write).json()["refusal"]["sent"], "no", "{sealed}");
        case.put_back();
    }
    // One that she gave, and that was used, put back as if it were not.
    case.run(Approve).expect(0);
    let select = "SELECT hex(sealed) FROM questions";
    let sealed: String = case.home.database().query_one(select, [], |row| row.get(0)).unwrap();
    case.run(Write).expect(0);
    assert_eq!(posts(), 1);
    case.spoil(&format!("UPDATE questions SET state = 'approved', sealed = x'{sealed}'"));
    case.run(Write).expect(3).refusal("grant_used_up");
    // Nor is it one of another write.
    let mut another = WRITE;
    another[6] = "title=Another";
    let words = [&["run"], &another[..], &["--connection", "work", "--json"]].concat();
    let words = case.stage.args(&case.home, &words);
    case.home.run(&words.words()).expect(3).refusal("approval_required");
    case.spoil(&format!(
        "UPDATE questions SET state = 'approved', answered_at = raised_at, grant_id = 'AAAAAAAAAAAAAAAAAAAAAA',
         until = expires_at, sealed = x'{sealed}' WHERE state = 'pending'"
    ));
    case.home.run(&words.words()).expect(3);
    assert_eq!(posts(), 1);
}

#[test]
fn a_row_that_was_tampered_with_is_removed_by_its_id_and_the_rest_goes_on() {
    let case = Case::new();
    let id = case.id("connections", "id");
    case.spoil("UPDATE connections SET account = '' WHERE label = 'work'");
    case.run(Read).expect(6);
    case.home.run(&["connections", "remove", &id]).expect(0);
    case.run(List).expect(0);
    assert_eq!((case.home.rows("connections").len(), case.home.rows("grants").len()), (1, 1));
    let read = [&["run"], &READ[..], &["--json"]].concat();
    case.home.run(&case.stage.args(&case.home, &read).words()).expect(0);
}

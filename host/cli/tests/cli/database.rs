//! State in PostgreSQL: every command of a home keeps to the database that its `config.toml` names, and a password shows
//! nowhere.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::home::{Home, KEY};
use crate::postgres::Postgres;
use crate::stage::{READ, Stage};

const SECRET: &str = "Pa55word";

fn private(home: &Home, name: &str, text: &str, mode: u32) -> String {
    let path = home.write(name, text);
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

#[test]
fn a_password_on_the_command_line_is_refused() {
    let home = Home::new();
    let url = format!("postgres://wren:{SECRET}@127.0.0.1:1/pinhole");
    let ran = home.run(&["backup", "copy.db", "--database", &url]).expect(2).hides(SECRET);
    assert!(ran.stderr.contains("--database-file FILE"), "{}", ran.stderr);
    let ran = home.run(&["backup", "copy.db", "--database", &url.replace("postgres", "mysql")]).expect(2);
    assert!(ran.hides(SECRET).stderr.contains("is not the URL of a PostgreSQL database"));
}

#[test]
fn a_file_with_a_password_is_its_owners_alone() {
    let home = Home::new();
    let url = format!("postgres://wren:{SECRET}@127.0.0.1:1/pinhole");
    for mode in [0o644, 0o640, 0o604] {
        let file = private(&home, "url", &url, mode);
        let ran = home.run(&["backup", "copy.db", "--database-file", &file]).expect(6).hides(SECRET);
        assert!(ran.stderr.contains("has the password of a database"), "{}", ran.stderr);
    }
    // One that is says how the server's own program copies it, without the password.
    let file = private(&home, "url", &format!("{url}\nmore"), 0o600);
    let ran = home.run(&["backup", "copy.db", "--database-file", &file]).expect(2).hides(SECRET);
    let line = "pg_dump --format=custom --schema=pinhole --file=copy.db \
                'postgres://wren@/pinhole?host=127%2E0%2E0%2E1&port=1'";
    assert!(ran.stderr.contains(line), "{}", ran.stderr);
    // The same in the settings, which others may read unless there is a password in them.
    private(&home, "config.toml", &format!("[store]\ndatabase = \"{url}\"\n"), 0o644);
    let ran = home.run(&["grant", "revoke", "AAAAAAAAAAAAAAAAAAAAAA"]).expect(6).hides(SECRET);
    assert!(ran.stderr.contains("has the password of a database"), "{}", ran.stderr);
    private(&home, "config.toml", &format!("[store]\ndatabase = \"{url}\"\n"), 0o600);
    let ran = home.run(&["grant", "revoke", "AAAAAAAAAAAAAAAAAAAAAA"]).expect(6).hides(SECRET);
    assert!(ran.stderr.contains("`postgres://127.0.0.1:1/pinhole` cannot be reached"), "{}", ran.stderr);
    assert!(!home.path("pinhole.db").exists());
}

#[test]
fn settings_of_the_store_that_cannot_be_meant_are_named() {
    let home = Home::new();
    let faults = [
        ("store = 1", "`store` is a table"),
        ("[store]\ndatabase = 5", "`store.database` is a integer"),
        ("[store]\nurl = \"x\"", "in `[store]`: there is no setting `url`"),
        ("[store]\ndatabase = \"a\"\ndatabase_file = \"b\"", "write one of them"),
        ("[store]\ndatabase = \"mysql://Pa55word\"", "is not the URL of a PostgreSQL database"),
    ];
    for (text, said) in faults {
        private(&home, "config.toml", text, 0o600);
        let ran = home.run(&["grant", "revoke", "AAAAAAAAAAAAAAAAAAAAAA"]).expect(2).hides(SECRET);
        assert!(ran.stderr.contains(said), "{text}: {}", ran.stderr);
    }
}

#[test]
fn every_command_of_a_home_keeps_to_its_database() {
    let Some(server) = Postgres::shared("every_command_of_a_home_keeps_to_its_database") else { return };
    let (home, stage, url) = (Home::new(), Stage::new(), server.database());
    private(&home, "config.toml", &format!("[store]\ndatabase = \"{url}\"\n"), 0o644);
    home.connect(&stage, &[]).expect(0);
    let run = |flags: &[&str]| home.run(&stage.args(&home, &[&["run"], &READ[..], flags].concat()).words());
    run(&[]).expect(0).hides(KEY);
    assert!(home.run(&["connections"]).expect(0).stdout.contains("github"));
    let grant = home.mint(&["--uses", "1"]);
    run(&["--grant", &grant]).expect(0);
    run(&["--grant", &grant, "--json"]).expect(3).refusal("grant_used_up");
    let ran = home.run(&["doctor"]);
    for said in ["reachable, format", "receipts: the last", "connection github default: account"] {
        assert!(ran.stdout.contains(said), "{}{}", ran.stdout, ran.stderr);
    }
    assert!(!home.path("pinhole.db").exists());
    // Another home with the same key is another door to the same state.
    let other = Home::new();
    for name in ["keys/bot.json", "keys/member.json", "keys/member.pub"] {
        fs::copy(home.path(name), other.path(name)).unwrap();
    }
    private(&other, "config.toml", &format!("[store]\ndatabase = \"{url}\"\n"), 0o644);
    let again = other
        .run(&stage.args(&other, &[&["run"], &READ[..], &["--grant", &grant, "--json"]].concat()).words());
    again.expect(3).refusal("grant_used_up");
}

//! `pinhole backup`: a whole copy, its owner's alone, and never over another file.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::home::Home;
use crate::stage::{READ, Stage};

#[test]
fn a_backup_that_is_put_back_knows_what_was_spent() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = home.mint(&["--uses", "1"]);
    let call = || {
        home.run(&stage.args(&home, &[&["run"], &READ[..], &["--grant", &grant, "--json"]].concat()).words())
    };
    call().expect(0);
    let copy = home.path("copy.db");
    let ran = home.run(&["backup", copy.to_str().unwrap()]).expect(0);
    assert!(ran.stdout.is_empty() && ran.stderr.contains("the keys are not in it"), "{}", ran.stderr);
    assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    // Never over what is there, whatever it is.
    let before = fs::read(&copy).unwrap();
    for taken in [copy.clone(), home.path("keys")] {
        let ran = home.run(&["backup", taken.to_str().unwrap()]).expect(2);
        assert!(ran.stderr.contains("is there already"), "{}", ran.stderr);
    }
    assert_eq!(fs::read(&copy).unwrap(), before);
    let nowhere = home.path("nowhere/copy.db");
    assert!(home.run(&["backup", nowhere.to_str().unwrap()]).expect(2).stderr.contains("is not there"));
    for name in ["pinhole.db", "pinhole.db-wal", "pinhole.db-shm"] {
        fs::remove_file(home.path(name)).unwrap_or_default();
    }
    fs::rename(&copy, home.path("pinhole.db")).unwrap();
    call().expect(3).refusal("grant_used_up");
    // What it leaves behind is nothing.
    let drafts = fs::read_dir(home.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(drafts.filter(|name| name.to_str().unwrap().starts_with(".pinhole")).count(), 0);
}

#[test]
fn where_there_is_no_database_there_is_no_copy() {
    let home = Home::empty();
    let ran = home.run(&["backup", home.path("copy.db").to_str().unwrap()]).expect(6);
    assert!(ran.stderr.contains("there is no database"), "{}", ran.stderr);
    assert!(!home.path("copy.db").exists() && !home.path("pinhole.db").exists());
}

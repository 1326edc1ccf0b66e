//! The file of checkpoints beside a database.

use super::{Disk, NOW};
use crate::book::{self, CheckpointFile};
use crate::receipts::Finding;
use crate::store::tests::receipts::{facts, the_key, verdict};
use crate::store::{Receipts as _, Settled};

#[test]
fn a_chain_is_signed_in_the_store_and_in_the_file() {
    let disk = Disk::new();
    let store = disk.store();
    let file = CheckpointFile::in_home(disk.folder.path());
    assert_eq!(book::checkpoint(&store, &the_key(), NOW, Some(&file)).unwrap(), None);
    for number in 1..=3 {
        store.append(&facts(number), None, Settled::Lightly).unwrap();
    }
    let head = book::checkpoint(&store, &the_key(), NOW, Some(&file)).unwrap().unwrap();
    assert_eq!(head.seq, 3);
    let appended = store.append(&facts(4), None, Settled::Lightly).unwrap();
    assert_eq!(appended.checkpoint.map(|marked| (marked.seq, marked.at)), Some((3, NOW)));
    assert_eq!((verdict(&store).covered, verdict(&store).uncovered()), (Some(3), 1));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(file.path().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    // Who edits the database alone is found by the file.
    disk.raw().execute_batch("DELETE FROM receipts WHERE seq > 1; DELETE FROM checkpoints").unwrap();
    assert!(verdict(&store).is_sound());
    let verdict = book::verify(&store, the_key().public(), &[file]).unwrap();
    assert_eq!(verdict.findings, [Finding::Truncated { from: 2, to: 3 }]);
}

#[test]
fn a_line_that_a_power_cut_left_does_not_spoil_the_next() {
    let disk = Disk::new();
    let store = disk.store();
    let file = CheckpointFile::in_home(disk.folder.path());
    store.append(&facts(1), None, Settled::Lightly).unwrap();
    file.append(b"x").unwrap();
    let half = std::fs::read(file.path()).unwrap();
    std::fs::write(file.path(), &half[..1]).unwrap();
    book::checkpoint(&store, &the_key(), NOW, Some(&file)).unwrap();
    let lines: Vec<Vec<u8>> = file.lines().unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!((lines.len(), lines[0].as_slice()), (2, b"x".as_slice()));
    let verdict = book::verify(&store, the_key().public(), &[file]).unwrap();
    assert!(matches!(verdict.findings.as_slice(), [Finding::FalseCheckpoint { .. }]), "{verdict:?}");
    assert_eq!(verdict.covered, Some(1));
}

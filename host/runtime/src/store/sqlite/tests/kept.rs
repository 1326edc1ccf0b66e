//! What a write under its key asks of the database must not take longer the more is kept.

use super::super::kept::{FORGET_BEFORE, FORGET_OVER, MOST_BACK};
use super::Disk;

#[test]
fn no_write_under_a_key_looks_through_all_that_is_kept_or_sorts_it() {
    let disk = Disk::new();
    drop(disk.store());
    let raw = disk.raw();
    for sql in [FORGET_OVER, MOST_BACK, FORGET_BEFORE] {
        let mut statement = raw.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let values = vec![rusqlite::types::Null; statement.parameter_count()];
        let steps = statement.query_map(rusqlite::params_from_iter(values), |row| row.get::<_, String>(3));
        let steps: Vec<String> = steps.unwrap().collect::<Result<_, _>>().unwrap();
        assert!(steps.iter().any(|step| step.contains("INDEX kept_age (member=? AND bot=?")), "{steps:?}");
        let wrong = |step: &String| step.starts_with("SCAN") || step.contains("TEMP B-TREE");
        assert!(!steps.iter().any(wrong), "{sql}: {steps:?}");
    }
}

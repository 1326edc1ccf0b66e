//! Other processes, at the same thing or killed in the middle of it.

use crate::store::tests::{Another, Asked, Bench, HOUR, NOW, grant_id, member};
use std::time::Duration;

use crate::store::{Answer, LockError, LockName};

pub(crate) fn twenty(job: &str, bench: &dyn Bench) -> Vec<String> {
    let mut all: Vec<Another> = (0..20).map(|_| Another::start(job, &bench.place(), |_| {})).collect();
    for another in &mut all {
        assert_eq!(another.line().as_deref(), Some("ready"));
    }
    all.iter_mut().for_each(Another::go);
    all.iter_mut().map(|another| another.line().unwrap()).collect()
}

pub(crate) fn of_twenty_processes_one_spends_the_use(bench: &dyn Bench) {
    // None of them finds a database: all make it.
    let said = twenty("spend", bench);
    assert_eq!(said.iter().filter(|said| *said == "spent").count(), 1, "{said:?}");
    assert_eq!(said.iter().filter(|said| *said == "used up").count(), 19, "{said:?}");
}

pub(crate) fn of_twenty_processes_one_takes_the_approval(bench: &dyn Bench) {
    let store = bench.store();
    let id = Asked::new("A title").raise(&*store, 1, NOW).unwrap().id;
    let yes = Answer::Approve { grant: grant_id(5), sealed: b"sealed", until: NOW.plus_secs(HOUR) };
    store.answer(member(), id, yes, NOW).unwrap();
    let said = twenty("take", bench);
    assert_eq!(said.iter().filter(|said| *said == "taken").count(), 1, "{said:?}");
    assert_eq!(said.iter().filter(|said| *said == "used").count(), 19, "{said:?}");
}

/// Killed in the middle of what it does, at a different place each time: what it was told is spent is spent.
pub(crate) fn what_was_spent_before_a_kill_is_spent(bench: &dyn Bench) {
    let mut known = 0_u32;
    for round in 0..12_u32 {
        let mut another = Another::start("spend on and on", &bench.place(), |_| {});
        for _ in 0..=round * 3 {
            assert_eq!(another.line().as_deref(), Some("spent"));
            known += 1;
        }
        another.kill();
        while another.line().is_some() {
            known += 1;
        }
        bench.check();
        let spent: u32 = bench.value("SELECT spent FROM uses").unwrap().parse().unwrap();
        // One more at the most: spent, and killed before it could say so.
        assert!(spent == known || spent == known + 1, "{spent} spent, {known} known");
        known = spent;
    }
}

pub(crate) fn a_lock_ends_with_its_process(bench: &dyn Bench) {
    let (store, name) = (bench.store(), LockName::new("test", &["a"]));
    let mut another = Another::start("hold", &bench.place(), |_| {});
    assert_eq!(another.line().as_deref(), Some("held"));
    assert!(matches!(store.hold(&name, Duration::ZERO), Err(LockError::Busy { .. })));
    another.kill();
    drop(store.hold(&name, Duration::from_mins(1)).unwrap());
}

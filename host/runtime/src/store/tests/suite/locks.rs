//! Locks: one holder at a time over stores and threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::store::tests::Bench;
use crate::store::{Desk, LockError, LockName};

const NOW: Duration = Duration::ZERO;
const LONG: Duration = Duration::from_mins(1);

fn name(of: &str) -> LockName {
    LockName::new("test", &[of])
}

fn is_busy(store: &dyn Desk, what: &LockName) -> bool {
    matches!(store.hold(what, NOW), Err(LockError::Busy { .. }))
}

pub(crate) fn a_name_has_one_holder_at_a_time(bench: &dyn Bench) {
    let (one, other) = (bench.store(), bench.store());
    let held = one.hold(&name("a"), NOW).unwrap();
    assert!(is_busy(&*other, &name("a")) && is_busy(&*one, &name("a")));
    let another = other.hold(&name("b"), NOW).unwrap();
    drop(held);
    // A server needs a moment to have it free.
    drop(other.hold(&name("a"), LONG).unwrap());
    drop(another);
}

pub(crate) fn who_is_patient_gets_it_once_it_is_free(bench: &dyn Bench) {
    let store = bench.store();
    let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let _held = store.hold(&name("a"), LONG).unwrap();
                    most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(most.into_inner(), 1);
    let _held = store.hold(&name("a"), LONG).unwrap();
    let patience = Duration::from_millis(20);
    let late = bench.store().hold(&name("a"), patience);
    assert!(matches!(late, Err(LockError::Busy { waited }) if waited == patience));
}

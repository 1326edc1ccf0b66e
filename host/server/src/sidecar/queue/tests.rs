//! The queues against what they promise, by hand and against any order of comings and goings.

use futures_util::FutureExt as _;
use pinhole_grant::{KeyKind, SecretKey};
use proptest::prelude::*;
use rand::SeedableRng as _;
use rand::rngs::StdRng;

use super::*;

const LIMITS: QueueLimits =
    QueueLimits { calls: 4, calls_of_a_service: 2, waiting: 6, waiting_for_a_service: 4 };

fn lane(name: &str) -> Lane {
    ServiceId::parse(name).ok()
}

#[expect(clippy::unnecessary_wraps, reason = "that is what an asker is")]
fn member(seed: u64) -> Asker {
    Some(SecretKey::generate(KeyKind::Bot, &mut StdRng::seed_from_u64(seed)).public().id())
}

fn enter(queue: &Queue, name: &str, asker: Asker) -> Entered {
    queue.enter(&lane(name), || asker)
}

fn now(queue: &Queue, name: &str) -> Slot {
    match enter(queue, name, None) {
        Entered::Now(slot) => slot,
        other => panic!("{name}: {other:?}"),
    }
}

fn later(queue: &Queue, name: &str, asker: Asker) -> Waiting {
    match enter(queue, name, asker) {
        Entered::Later(waiting) => waiting,
        other => panic!("{name}: {other:?}"),
    }
}

fn is_given(waiting: &mut Waiting) -> Option<Slot> {
    waiting.now_or_never().map(|given| given.unwrap())
}

fn is_displaced(waiting: &mut Waiting) -> bool {
    matches!(waiting.now_or_never(), Some(Err(Displaced)))
}

fn waiting_for(queue: &Queue, name: &str) -> usize {
    queue
        .standings()
        .iter()
        .find(|standing| standing.lane == lane(name))
        .map_or(0, |standing| standing.waiting)
}

#[test]
fn a_service_that_never_answers_keeps_no_other_out() {
    let queue = Queue::new(LIMITS);
    let _held: Vec<Slot> = (0..2).map(|_| now(&queue, "slow")).collect();
    let _waiting: Vec<Waiting> = (0..4).map(|_| later(&queue, "slow", None)).collect();
    assert!(matches!(enter(&queue, "slow", None), Entered::Full(_)));
    for _ in 0..10 {
        drop((now(&queue, "quick"), now(&queue, "quick")));
    }
    // Others may wait, too.
    let held = [now(&queue, "quick"), now(&queue, "quick")];
    let mut waits = later(&queue, "quick", None);
    drop(held);
    assert!(is_given(&mut waits).is_some());
}

#[test]
fn services_take_turns() {
    let queue = Queue::new(QueueLimits { calls: 1, ..LIMITS });
    let held = now(&queue, "first");
    let mut one = [later(&queue, "first", None), later(&queue, "first", None)];
    let mut other = later(&queue, "second", None);
    drop(held);
    let [first, second] = &mut one;
    let slot = is_given(first).unwrap();
    assert!(is_given(&mut other).is_none() && is_given(second).is_none());
    drop(slot);
    let slot = is_given(&mut other).unwrap();
    assert!(is_given(second).is_none());
    drop(slot);
    assert!(is_given(second).is_some());
}

#[test]
fn members_take_turns_within_a_service() {
    let queue = Queue::new(QueueLimits { calls: 1, ..LIMITS });
    let held = now(&queue, "first");
    let mut many = [later(&queue, "first", member(1)), later(&queue, "first", member(1))];
    let mut one = later(&queue, "first", member(2));
    drop(held);
    let [first, second] = &mut many;
    drop(is_given(first).unwrap());
    let slot = is_given(&mut one).unwrap();
    assert!(is_given(second).is_none());
    drop(slot);
    assert!(is_given(second).is_some());
}

#[test]
fn who_has_most_gives_way_to_who_has_fewer_and_the_newest_first() {
    let queue = Queue::new(QueueLimits { calls: 1, ..LIMITS });
    let held = now(&queue, "first");
    let mut many = [(); 4].map(|()| later(&queue, "first", member(1)));
    assert!(matches!(enter(&queue, "first", member(1)), Entered::Full(_)));
    let (mut other, mut nobody) = (later(&queue, "first", member(2)), later(&queue, "first", None));
    // She has one less of each, and no other now has two more than one of these.
    assert!(matches!(enter(&queue, "first", member(2)), Entered::Full(_)));
    assert!(matches!(enter(&queue, "first", None), Entered::Full(_)));
    let [first, second, third, last] = &mut many;
    assert!(is_displaced(last) && is_displaced(third));
    assert_eq!(waiting_for(&queue, "first"), 4);
    drop(held);
    for waits in [first, &mut other, &mut nobody, second] {
        drop(is_given(waits).unwrap());
    }
    drop((many, other, nobody));
    assert_eq!(queue.standings(), []);
}

#[test]
fn where_all_places_are_taken_those_of_all_services_count() {
    let queue = Queue::new(QueueLimits { calls: 1, ..LIMITS });
    let _held = now(&queue, "first");
    let mut first = [(); 3].map(|()| later(&queue, "first", member(1)));
    let mut second = [(); 3].map(|()| later(&queue, "second", member(1)));
    assert!(matches!(enter(&queue, "third", member(1)), Entered::Full(_)));
    let _other = later(&queue, "third", member(2));
    assert!(first.iter_mut().all(|waits| !is_displaced(waits)));
    assert_eq!(second.each_mut().map(is_displaced), [false, false, true]);
}

#[test]
fn who_leaves_has_left() {
    let queue = Queue::new(QueueLimits { calls: 1, waiting_for_a_service: 2, ..LIMITS });
    let held = now(&queue, "first");
    let (gone, mut stays) = (later(&queue, "first", None), later(&queue, "first", None));
    assert!(matches!(enter(&queue, "first", None), Entered::Full(_)));
    drop(gone);
    assert_eq!(waiting_for(&queue, "first"), 1);
    let another = later(&queue, "first", None);
    drop(held);
    assert!(is_given(&mut stays).is_some());
    drop((another, stays));
    assert_eq!(queue.standings(), []);
}

#[test]
fn a_place_that_is_given_to_who_has_just_left_goes_to_the_next() {
    let queue = Queue::new(QueueLimits { calls: 1, ..LIMITS });
    let held = now(&queue, "first");
    let gone = later(&queue, "first", None);
    let mut next = later(&queue, "second", None);
    drop(held);
    // It has the place, and never looked.
    drop(gone);
    assert!(is_given(&mut next).is_some());
    assert_eq!(queue.standings(), []);
}

#[test]
fn who_asks_is_not_looked_at_where_there_is_room() {
    let queue = Queue::new(LIMITS);
    let entered = queue.enter(&lane("first"), || panic!("nobody waits"));
    assert!(matches!(entered, Entered::Now(_)));
    let _held = now(&queue, "first");
    let looked = std::cell::Cell::new(false);
    let entered = queue.enter(&lane("first"), || {
        looked.set(true);
        None
    });
    assert!(matches!(entered, Entered::Later(_)) && looked.get());
}

proptest! {
    #[test]
    fn whatever_comes_and_goes_the_limits_hold_and_no_place_is_lost(
        steps in proptest::collection::vec((0_u8..4, 0_usize..3, 0_u64..2, 0_usize..64), 0..200),
    ) {
        let names = ["one", "two", "three"];
        let queue = Queue::new(LIMITS);
        let (mut running, mut waiting) = (Vec::<(usize, Slot)>::new(), Vec::<(usize, Waiting)>::new());
        for (what, service, asker, which) in steps {
            match what {
                0 | 1 => match enter(&queue, names[service], member(asker)) {
                    Entered::Now(slot) => running.push((service, slot)),
                    Entered::Later(waits) => waiting.push((service, waits)),
                    Entered::Full(_) => {
                        let of = waiting.iter().filter(|(of, _)| *of == service).count();
                        prop_assert!(waiting.len() == LIMITS.waiting || of == LIMITS.waiting_for_a_service);
                    }
                },
                2 if !running.is_empty() => drop(running.swap_remove(which % running.len())),
                3 if !waiting.is_empty() => drop(waiting.swap_remove(which % waiting.len())),
                _ => {}
            }
            let mut still = Vec::new();
            for (service, mut waits) in waiting {
                match (&mut waits).now_or_never() {
                    Some(Ok(slot)) => running.push((service, slot)),
                    Some(Err(Displaced)) => {}
                    None => still.push((service, waits)),
                }
            }
            waiting = still;
            prop_assert!(running.len() <= LIMITS.calls && waiting.len() <= LIMITS.waiting);
            for (service, name) in names.iter().enumerate() {
                let runs = running.iter().filter(|(of, _)| *of == service).count();
                let waits = waiting.iter().filter(|(of, _)| *of == service).count();
                prop_assert!(runs <= LIMITS.calls_of_a_service && waits <= LIMITS.waiting_for_a_service);
                // Nobody waits while there is a place.
                prop_assert!(waits == 0 || runs == LIMITS.calls_of_a_service || running.len() == LIMITS.calls);
                prop_assert_eq!(waiting_for(&queue, name), waits);
            }
        }
        drop((running, waiting));
        prop_assert_eq!(queue.standings(), []);
    }
}

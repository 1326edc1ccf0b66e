//! The rule of who gives way, against any order of comings and goings.

use std::collections::BTreeMap;

use pinhole_grant::{KeyId, KeyKind, SecretKey};
use pinhole_manifest::ServiceId;
use proptest::prelude::*;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::sync::oneshot::error::TryRecvError;

use super::*;

const LIMITS: QueueLimits =
    QueueLimits { calls: 2, calls_of_a_service: 1, waiting: 9, waiting_for_a_service: 6 };

/// Somebody who waits, as a plain list has it.
struct Waits {
    lane: usize,
    asker: usize,
    number: u64,
    given: oneshot::Receiver<Slot>,
}

fn lane(at: usize) -> Lane {
    [ServiceId::parse("one").ok(), ServiceId::parse("two").ok(), None][at].clone()
}

fn askers() -> [Asker; 4] {
    let id =
        |seed| -> KeyId { SecretKey::generate(KeyKind::Bot, &mut StdRng::seed_from_u64(seed)).public().id() };
    [None, Some(id(1)), Some(id(2)), Some(id(3))]
}

impl Waits {
    /// Whether it holds one of the places that are lacking for one who comes to this lane.
    fn counts(&self, at: usize, of_one: bool) -> bool {
        !of_one || self.lane == at
    }
}

proptest! {
    #[test]
    fn nobody_is_refused_while_another_holds_two_more(
        steps in proptest::collection::vec((0_u8..8, 0_usize..3, 0_usize..4, 0_usize..64), 0..150),
    ) {
        let askers = askers();
        let mut state = State::new(LIMITS);
        let mut all = Vec::<Waits>::new();
        let mut running = Vec::<usize>::new();
        for (what, at, asker, which) in steps {
            match what {
                0..=4 if state.take(&lane(at)) => running.push(at),
                0..=4 => {
                    let of_one =
                        all.iter().filter(|one| one.lane == at).count() >= LIMITS.waiting_for_a_service;
                    let mut counts = BTreeMap::<usize, usize>::new();
                    for one in all.iter().filter(|one| one.counts(at, of_one)) {
                        *counts.entry(one.asker).or_default() += 1;
                    }
                    let own = counts.get(&asker).copied().unwrap_or(0);
                    let others = counts.iter().filter(|(other, _)| **other != asker);
                    let most = others.map(|(_, count)| *count).max().unwrap_or(0);
                    let full = of_one || all.len() >= LIMITS.waiting;
                    let (give, given) = oneshot::channel();
                    let number = state.wait(&lane(at), askers[asker], give);
                    prop_assert_eq!(number.is_some(), !full || most >= own + 2);
                    let is_gone = |one: &mut Waits| one.given.try_recv().err() == Some(TryRecvError::Closed);
                    let gone: Vec<Waits> = all.extract_if(.., is_gone).collect();
                    prop_assert_eq!(gone.len(), usize::from(full && number.is_some()));
                    for gone in gone {
                        prop_assert_eq!((counts[&gone.asker], gone.counts(at, of_one)), (most, true));
                        prop_assert_ne!(gone.asker, asker);
                        let newer = |one: &Waits| one.asker == gone.asker && one.number > gone.number;
                        prop_assert!(!all.iter().any(|one| newer(one) && one.counts(at, of_one)));
                    }
                    if let Some(number) = number {
                        all.push(Waits { lane: at, asker, number, given });
                    }
                }
                5 if !running.is_empty() => {
                    state.free(&lane(running.swap_remove(which % running.len())));
                    while let Some(Next { lane: of, ticket }) = state.next() {
                        let one = all.iter().position(|waits| waits.number == ticket.number);
                        let waited = all.remove(one.unwrap());
                        prop_assert_eq!(lane(waited.lane), of);
                        running.push(waited.lane);
                    }
                }
                6 if !all.is_empty() => {
                    let Waits { lane: at, asker, number, .. } = all.swap_remove(which % all.len());
                    state.leave(&lane(at), &askers[asker], number);
                }
                _ => {}
            }
            prop_assert_eq!((state.running, state.waiting), (running.len(), all.len()));
            prop_assert_eq!(state.turn.len(), (0..3).filter(|at| all.iter().any(|one| one.lane == *at)).count());
            for at in 0..3 {
                let waiting = all.iter().filter(|waits| waits.lane == at).count();
                prop_assert!(waiting <= LIMITS.waiting_for_a_service && all.len() <= LIMITS.waiting);
                let service = state.services.get(&lane(at));
                let held: usize = service.map_or(0, |service| service.askers.values().map(VecDeque::len).sum());
                prop_assert_eq!((service.map_or(0, |service| service.waiting), held), (waiting, waiting));
                prop_assert_eq!(
                    service.map_or(0, |service| service.turn.len()),
                    service.map_or(0, |service| service.askers.len())
                );
            }
        }
    }
}

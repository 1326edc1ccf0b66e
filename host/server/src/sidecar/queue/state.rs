//! What the queues hold, and the rule of whose turn it is. Pure but for the tickets, which it only carries.
//!
//! INVARIANT: a service stands in `turn` exactly while somebody waits for it, and a member in the turn of a service exactly while
//! a call of hers does; counts are those of what is there.

use std::collections::{BTreeMap, HashMap, VecDeque};

use tokio::sync::oneshot;

use super::{Asker, Lane, QueueLimits, Slot, Standing};

#[derive(Debug)]
pub(super) struct State {
    limits: QueueLimits,
    running: usize,
    waiting: usize,
    number: u64,
    services: BTreeMap<Lane, Service>,
    turn: VecDeque<Lane>,
}

#[derive(Debug, Default)]
struct Service {
    running: usize,
    waiting: usize,
    askers: HashMap<Asker, VecDeque<Ticket>>,
    turn: VecDeque<Asker>,
}

/// Somebody who waits.
#[derive(Debug)]
pub(super) struct Ticket {
    number: u64,
    pub(super) give: oneshot::Sender<Slot>,
}

/// Whose turn it is; the place is counted as taken.
#[derive(Debug)]
pub(super) struct Next {
    pub(super) lane: Lane,
    pub(super) ticket: Ticket,
}

impl State {
    pub(super) fn new(limits: QueueLimits) -> Self {
        let (services, turn) = (BTreeMap::new(), VecDeque::new());
        Self { limits, running: 0, waiting: 0, number: 0, services, turn }
    }

    /// Takes a place where one is free and nobody waits for it.
    pub(super) fn take(&mut self, lane: &Lane) -> bool {
        let service = self.services.get(lane);
        let (running, waiting) = service.map_or((0, 0), |service| (service.running, service.waiting));
        let free =
            self.running < self.limits.calls && running < self.limits.calls_of_a_service && waiting == 0;
        if free {
            self.running += 1;
            self.services.entry(lane.clone()).or_default().running += 1;
        }
        free
    }

    /// Whether nobody more may wait for a service.
    pub(super) fn is_full(&self, lane: &Lane) -> bool {
        let waiting = self.services.get(lane).map_or(0, |service| service.waiting);
        self.waiting >= self.limits.waiting || waiting >= self.limits.waiting_for_a_service
    }

    /// Puts somebody into the queue of a service; `None` where it is full.
    pub(super) fn wait(&mut self, lane: &Lane, asker: Asker, give: oneshot::Sender<Slot>) -> Option<u64> {
        if self.is_full(lane) {
            return None;
        }
        let number = self.number;
        self.number = self.number.wrapping_add(1);
        let service = self.services.entry(lane.clone()).or_default();
        if service.waiting == 0 {
            self.turn.push_back(lane.clone());
        }
        let of_asker = service.askers.entry(asker).or_default();
        if of_asker.is_empty() {
            service.turn.push_back(asker);
        }
        of_asker.push_back(Ticket { number, give });
        service.waiting += 1;
        self.waiting += 1;
        Some(number)
    }

    /// Whose turn it is, if there is a place for anybody.
    pub(super) fn next(&mut self) -> Option<Next> {
        if self.running >= self.limits.calls {
            return None;
        }
        let most = self.limits.calls_of_a_service;
        let has_room = |lane: &Lane| self.services.get(lane).is_some_and(|service| service.running < most);
        let at = self.turn.iter().position(has_room)?;
        let lane = self.turn.remove(at)?;
        let service = self.services.get_mut(&lane)?;
        let ticket = service.next()?;
        service.running += 1;
        if service.waiting > 0 {
            self.turn.push_back(lane.clone());
        }
        self.waiting -= 1;
        self.running += 1;
        Some(Next { lane, ticket })
    }

    /// A place is free again.
    pub(super) fn free(&mut self, lane: &Lane) {
        self.running = self.running.saturating_sub(1);
        if let Some(service) = self.services.get_mut(lane) {
            service.running = service.running.saturating_sub(1);
        }
        self.tidy(lane);
    }

    /// Somebody who waited has gone, or has had a turn.
    pub(super) fn leave(&mut self, lane: &Lane, asker: &Asker, number: u64) {
        let Some(service) = self.services.get_mut(lane) else { return };
        if !service.leave(asker, number) {
            return;
        }
        self.waiting -= 1;
        if service.waiting == 0 {
            self.turn.retain(|waiting| waiting != lane);
        }
        self.tidy(lane);
    }

    pub(super) fn standings(&self) -> Vec<Standing> {
        let standing = |(lane, service): (&Lane, &Service)| {
            let Service { running, waiting, .. } = *service;
            Standing { lane: lane.clone(), running, waiting }
        };
        self.services.iter().map(standing).collect()
    }

    fn tidy(&mut self, lane: &Lane) {
        if self.services.get(lane).is_some_and(|service| service.running == 0 && service.waiting == 0) {
            self.services.remove(lane);
        }
    }
}

impl Service {
    fn next(&mut self) -> Option<Ticket> {
        let asker = self.turn.pop_front()?;
        let of_asker = self.askers.get_mut(&asker)?;
        let ticket = of_asker.pop_front()?;
        self.waiting -= 1;
        if of_asker.is_empty() {
            self.askers.remove(&asker);
        } else {
            self.turn.push_back(asker);
        }
        Some(ticket)
    }

    fn leave(&mut self, asker: &Asker, number: u64) -> bool {
        let Some(of_asker) = self.askers.get_mut(asker) else { return false };
        let Some(at) = of_asker.iter().position(|ticket| ticket.number == number) else { return false };
        of_asker.remove(at);
        self.waiting -= 1;
        if of_asker.is_empty() {
            self.askers.remove(asker);
            self.turn.retain(|waiting| waiting != asker);
        }
        true
    }
}

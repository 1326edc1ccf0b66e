//! What the queues hold, and the rules of whose turn it is and of who gives way. Pure but for the tickets, which it only carries.
//!
//! INVARIANT: a service stands in `turn` exactly while somebody waits for it, and a member in the turn of a service exactly while
//! a call of hers does; counts are those of what is there. Nobody is refused a place while another holds two more of those
//! that are lacking.

use std::collections::{BTreeMap, HashMap, VecDeque};

use tokio::sync::oneshot;

use super::{Asker, Lane, QueueLimits, Slot, Standing};

/// So many more than who comes must somebody hold who gives way: with one more, the two would only change places.
const MORE: usize = 2;

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

/// What somebody holds of the places that are lacking.
#[derive(Debug, Clone)]
struct Holding {
    waiting: usize,
    /// Where the newest is, and which.
    lane: Lane,
    newest: u64,
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

    /// Puts somebody into the queue of a service; `None` where it is full, and nobody holds so much more that they give way.
    /// The ticket of who does is dropped, which tells them.
    pub(super) fn wait(&mut self, lane: &Lane, asker: Asker, give: oneshot::Sender<Slot>) -> Option<u64> {
        if self.is_full(lane) {
            let (other, holding) = self.who_gives_way(lane, &asker)?;
            self.leave(&holding.lane, &other, holding.newest);
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

    /// Somebody who waited has gone, has had a turn, or gives way.
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

    fn is_full(&self, lane: &Lane) -> bool {
        self.waiting >= self.limits.waiting || self.has_all_its_places(lane)
    }

    fn has_all_its_places(&self, lane: &Lane) -> bool {
        let waiting = self.services.get(lane).map_or(0, |service| service.waiting);
        waiting >= self.limits.waiting_for_a_service
    }

    /// Who holds most, if that is so much more than this asker; of several, who came last.
    fn who_gives_way(&self, lane: &Lane, asker: &Asker) -> Option<(Asker, Holding)> {
        let mut holdings = self.holdings(lane);
        let own = holdings.remove(asker).map_or(0, |holding| holding.waiting);
        let most = holdings.into_iter().max_by_key(|(_, holding)| (holding.waiting, holding.newest))?;
        (most.1.waiting >= own.saturating_add(MORE)).then_some(most)
    }

    /// Who holds what of the places that are lacking: those of the service, or else those of all.
    fn holdings(&self, lane: &Lane) -> HashMap<Asker, Holding> {
        let of_one = self.has_all_its_places(lane);
        let mut holdings = HashMap::<Asker, Holding>::new();
        for (at, service) in self.services.iter().filter(|(at, _)| !of_one || *at == lane) {
            for (asker, tickets) in &service.askers {
                let Some(newest) = tickets.back().map(|ticket| ticket.number) else { continue };
                let new = || Holding { waiting: 0, lane: at.clone(), newest };
                let holding = holdings.entry(*asker).or_insert_with(new);
                holding.waiting += tickets.len();
                if newest > holding.newest {
                    (holding.newest, holding.lane) = (newest, at.clone());
                }
            }
        }
        holdings
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

#[cfg(test)]
mod tests;

//! What a broker remembers of flows: for minutes, in memory, so many and no more.
//!
//! INVARIANT: what is taken is gone. Of one peer no more is kept than its share; who takes more loses its own oldest. Where
//! all places are taken, the oldest of all goes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use super::random::Handle;

/// Most things on a shelf.
pub(super) const ALL_MAX: usize = 4_096;
/// Most of one peer.
pub(super) const PEER_MAX: usize = 64;

/// Things that are good for a time.
#[derive(Debug)]
pub(super) struct Shelf<T> {
    life: Duration,
    next: u64,
    /// By age, the oldest first: all live equally long.
    kept: BTreeMap<u64, Kept<T>>,
    found: HashMap<Handle, u64>,
    peers: HashMap<IpAddr, BTreeSet<u64>>,
}

#[derive(Debug)]
struct Kept<T> {
    handle: Handle,
    peer: IpAddr,
    until: Instant,
    thing: T,
}

impl<T> Shelf<T> {
    /// An empty one, for things that live so long.
    pub(super) fn new(life: Duration) -> Self {
        Self { life, next: 0, kept: BTreeMap::new(), found: HashMap::new(), peers: HashMap::new() }
    }

    /// Puts something there.
    pub(super) fn put(&mut self, handle: Handle, peer: IpAddr, thing: T, now: Instant) {
        self.forget(now);
        let own = self.peers.get(&peer).filter(|own| own.len() >= PEER_MAX);
        let gives_way = match own {
            Some(own) => own.first().copied(),
            None if self.kept.len() >= ALL_MAX => self.kept.keys().next().copied(),
            None => None,
        };
        if let Some(number) = gives_way {
            self.remove(number);
        }
        let number = self.next;
        self.next = number.saturating_add(1);
        let until = now.checked_add(self.life).unwrap_or(now);
        self.kept.insert(number, Kept { handle, peer, until, thing });
        self.found.insert(handle, number);
        self.peers.entry(peer).or_default().insert(number);
    }

    /// What is there and still good, for a look.
    pub(super) fn look(&mut self, handle: Handle, now: Instant) -> Option<&T> {
        self.forget(now);
        Some(&self.kept.get(self.found.get(&handle)?)?.thing)
    }

    /// Takes it away: nobody finds it again.
    pub(super) fn take(&mut self, handle: Handle, now: Instant) -> Option<T> {
        self.forget(now);
        let number = *self.found.get(&handle)?;
        self.remove(number)
    }

    /// Forgets what is not good any more.
    fn forget(&mut self, now: Instant) {
        while let Some((number, kept)) = self.kept.first_key_value()
            && kept.until <= now
        {
            let number = *number;
            self.remove(number);
        }
    }

    fn remove(&mut self, number: u64) -> Option<T> {
        let Kept { handle, peer, thing, .. } = self.kept.remove(&number)?;
        self.found.remove(&handle);
        if let Some(own) = self.peers.get_mut(&peer) {
            own.remove(&number);
            if own.is_empty() {
                self.peers.remove(&peer);
            }
        }
        Some(thing)
    }

    #[cfg(test)]
    fn sizes(&self) -> (usize, usize, usize) {
        (self.kept.len(), self.found.len(), self.peers.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIFE: Duration = Duration::from_mins(10);

    fn handle(number: u32) -> Handle {
        Handle::of(&number.to_string())
    }

    fn peer(number: u32) -> IpAddr {
        IpAddr::V4(number.into())
    }

    #[test]
    fn what_is_taken_is_gone_and_what_is_old_too() {
        let (mut shelf, start) = (Shelf::new(LIFE), Instant::now());
        shelf.put(handle(1), peer(1), "one", start);
        shelf.put(handle(2), peer(1), "two", start + Duration::from_secs(1));
        assert_eq!(shelf.look(handle(1), start), Some(&"one"));
        assert_eq!(shelf.take(handle(1), start), Some("one"));
        assert_eq!((shelf.take(handle(1), start), shelf.take(handle(3), start)), (None, None));
        assert_eq!(shelf.look(handle(2), start + LIFE), Some(&"two"));
        assert_eq!(shelf.take(handle(2), start + LIFE + Duration::from_secs(1)), None);
        assert_eq!(shelf.sizes(), (0, 0, 0));
    }

    #[test]
    fn a_peer_that_takes_too_much_loses_its_own() {
        let (mut shelf, start) = (Shelf::new(LIFE), Instant::now());
        shelf.put(handle(0), peer(1), 0, start);
        for number in 1..=1_000 {
            shelf.put(handle(number), peer(2), number, start);
        }
        assert_eq!(shelf.sizes(), (PEER_MAX + 1, PEER_MAX + 1, 2));
        assert_eq!(shelf.take(handle(0), start), Some(0));
        assert_eq!(shelf.take(handle(1), start), None);
        assert_eq!(shelf.take(handle(1_000), start), Some(1_000));
    }

    #[test]
    fn there_is_no_more_than_a_limit_of_all_together() {
        let (mut shelf, start) = (Shelf::new(LIFE), Instant::now());
        for number in 0..10_000 {
            shelf.put(handle(number), peer(number), number, start);
        }
        assert_eq!(shelf.sizes(), (ALL_MAX, ALL_MAX, ALL_MAX));
        assert_eq!(shelf.take(handle(0), start), None);
        assert_eq!(shelf.take(handle(9_999), start), Some(9_999));
    }
}

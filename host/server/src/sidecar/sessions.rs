//! The research sessions that are open here: whose each is, and until when it lives.
//!
//! In memory alone: they end with the process. INVARIANT: a session is found by 256 random bits and by whoever opened it, and by
//! nobody else; another's, one that is over and one that never was cannot be told apart. There are never more than so many, of one
//! principal and in all. What is kept is sealed; once a session is over it is gone at the next request of this kind.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pinhole_grant::{PrincipalId, UnixTime};
use pinhole_runtime::entropy::{Entropy, EntropyError};
use sha2::{Digest as _, Sha256};

use crate::research::Session;

/// Most sessions in all.
pub(super) const ALL_MAX: usize = 256;
/// Most sessions of one principal.
pub(super) const PRINCIPAL_MAX: usize = 32;

const ID_BYTES: usize = 32;

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Sessions(Mutex<HashMap<Handle, Kept>>);

/// What an id is found by: how long it takes says nothing of the id.
type Handle = [u8; 32];

#[derive(Debug)]
struct Kept {
    session: Arc<Session>,
    whose: Option<PrincipalId>,
    ends: Instant,
}

/// The moment, by the clock and by the timer: one that is set back lengthens nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) clock: UnixTime,
    pub(super) timer: Instant,
}

/// Why a session is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotKept {
    /// There are as many as may be.
    Full,
    /// No id can be drawn.
    Entropy(EntropyError),
}

impl Sessions {
    /// Whether another may be opened.
    pub(super) fn room(&self, whose: Option<PrincipalId>, now: Moment) -> Result<(), NotKept> {
        has_room(&self.living(now), whose)
    }

    /// Keeps a session until then, and gives its id.
    pub(super) fn keep(
        &self,
        session: Session,
        whose: Option<PrincipalId>,
        (now, ends): (Moment, Instant),
        entropy: &dyn Entropy,
    ) -> Result<String, NotKept> {
        let mut bytes = [0; ID_BYTES];
        entropy.fill(&mut bytes).map_err(NotKept::Entropy)?;
        let id = URL_SAFE_NO_PAD.encode(bytes);
        let mut kept = self.living(now);
        // Others may have come since it was looked whether there is room.
        has_room(&kept, whose)?;
        kept.insert(handle(&id), Kept { session: Arc::new(session), whose, ends });
        Ok(id)
    }

    /// The session of this id, if it lives and is theirs.
    pub(super) fn find(&self, id: &str, whose: Option<PrincipalId>, now: Moment) -> Option<Arc<Session>> {
        let kept = self.living(now);
        let found = kept.get(&handle(id)).filter(|kept| kept.whose == whose)?;
        Some(Arc::clone(&found.session))
    }

    /// Ends the session of this id, if it lives and is theirs, and says whether.
    pub(super) fn end(&self, id: &str, whose: Option<PrincipalId>, now: Moment) -> bool {
        let mut kept = self.living(now);
        let handle = handle(id);
        let is_theirs = kept.get(&handle).is_some_and(|kept| kept.whose == whose);
        is_theirs && kept.remove(&handle).is_some()
    }

    /// Those that are not over. Each change is one step, so what a thread left behind when it panicked is whole.
    fn living(&self, now: Moment) -> MutexGuard<'_, HashMap<Handle, Kept>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_handle, kept| now.timer < kept.ends && now.clock < kept.session.until());
        kept
    }
}

fn has_room(kept: &HashMap<Handle, Kept>, whose: Option<PrincipalId>) -> Result<(), NotKept> {
    let theirs = kept.values().filter(|kept| kept.whose == whose).count();
    if kept.len() >= ALL_MAX || theirs >= PRINCIPAL_MAX { Err(NotKept::Full) } else { Ok(()) }
}

fn handle(id: &str) -> Handle {
    Sha256::digest(id).into()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pinhole_runtime::entropy::SystemEntropy;

    use super::*;

    const TEN_MINUTES: i64 = 600;

    fn at(began: Instant, seconds: u64) -> Moment {
        let clock = UnixTime::from_secs(1_800_000_000).plus_secs(i64::try_from(seconds).unwrap());
        Moment { clock, timer: began + Duration::from_secs(seconds) }
    }

    fn principal(of: u8) -> Option<PrincipalId> {
        let text = URL_SAFE_NO_PAD.encode([of; 16]);
        PrincipalId::parse(&text).ok()
    }

    fn kept(sessions: &Sessions, whose: Option<PrincipalId>, now: Moment) -> Result<String, NotKept> {
        let session = Session::of_nothing(now.clock.plus_secs(TEN_MINUTES));
        let ends = now.timer + Duration::from_mins(10);
        sessions.keep(session, whose, (now, ends), &SystemEntropy)
    }

    #[test]
    fn a_session_is_of_whoever_opened_it() {
        let (sessions, now) = (Sessions::default(), at(Instant::now(), 0));
        let ids = [None, principal(1), principal(2)].map(|whose| kept(&sessions, whose, now).unwrap());
        for (mine, id) in [None, principal(1), principal(2)].into_iter().zip(&ids) {
            assert_eq!(id.len(), 43);
            for whose in [None, principal(1), principal(2)] {
                assert_eq!(sessions.find(id, whose, now).is_some(), whose == mine);
                assert!(whose == mine || !sessions.end(id, whose, now));
            }
        }
        assert!(sessions.find("", None, now).is_none());
        assert!(sessions.end(&ids[1], principal(1), now) && !sessions.end(&ids[1], principal(1), now));
        assert!(sessions.find(&ids[1], principal(1), now).is_none());
        assert!(sessions.find(&ids[2], principal(2), now).is_some());
    }

    #[test]
    fn a_session_ends_by_the_clock_and_by_the_timer_whichever_is_first() {
        let (sessions, began) = (Sessions::default(), Instant::now());
        let opened = || kept(&sessions, None, at(began, 0)).unwrap();
        let id = opened();
        assert!(sessions.find(&id, None, at(began, 599)).is_some());
        assert!(sessions.find(&id, None, at(began, 600)).is_none());
        // It is gone, also for a clock that is set back.
        assert!(sessions.find(&id, None, at(began, 0)).is_none());
        let (early, late) = (at(began, 0), at(began, 600));
        let id = opened();
        assert!(sessions.find(&id, None, Moment { clock: late.clock, ..early }).is_none());
        let id = opened();
        assert!(sessions.find(&id, None, Moment { timer: late.timer, ..early }).is_none());
    }

    #[test]
    fn there_are_so_many_of_one_principal_and_so_many_in_all() {
        let (sessions, began) = (Sessions::default(), Instant::now());
        let now = at(began, 0);
        let one: Vec<String> =
            (0..PRINCIPAL_MAX).map(|_at| kept(&sessions, principal(0), now).unwrap()).collect();
        assert_eq!(sessions.room(principal(0), now), Err(NotKept::Full));
        assert_eq!(kept(&sessions, principal(0), now), Err(NotKept::Full));
        assert!(sessions.end(&one[0], principal(0), now));
        kept(&sessions, principal(0), now).unwrap();
        for of in 1..8 {
            for _at in 0..PRINCIPAL_MAX {
                kept(&sessions, principal(of), now).unwrap();
            }
        }
        assert_eq!(kept(&sessions, principal(9), now), Err(NotKept::Full));
        // Those that are over hold nobody up.
        kept(&sessions, principal(9), at(began, 600)).unwrap();
    }
}

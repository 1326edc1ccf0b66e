//! What is due, and what is done with a line in each of its states. Pure.

use pinhole_grant::UnixTime;

use super::Unanswered;
use crate::store::{Carried, Line, LineState, TRIES_MAX};

/// How long before its end a pair is renewed, in seconds; at most a tenth of its life, where that is known.
pub const LEEWAY_SECS: i64 = 30;
/// How long after the first, second, … failure in a row a renewal is not tried again, in seconds.
pub const WAITS_SECS: [i64; 4] = [5, 60, 600, 3600];
/// The longest such wait, whatever anybody says; one that is longer comes from a clock that was set back, and is over.
const WAIT_SECS_MAX: i64 = 3600;

/// From when to when an access token is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term {
    /// When it was obtained, where that is known.
    pub obtained_at: Option<UnixTime>,
    /// When it runs out, where that is known.
    pub expires_at: Option<UnixTime>,
}

impl Term {
    /// Whether it runs out so soon that it is to be renewed first.
    pub fn is_due(self, now: UnixTime) -> bool {
        self.expires_at.is_some_and(|end| now >= end.plus_secs(-self.leeway(end)))
    }

    /// Whether it has run out.
    pub fn is_over(self, now: UnixTime) -> bool {
        self.expires_at.is_some_and(|end| now >= end)
    }

    /// Whether it was obtained so long ago that a service may have ended it: one that was refused a moment after it was
    /// obtained is refused for another reason.
    pub fn is_settled(self, now: UnixTime) -> bool {
        const SETTLED_SECS: i64 = 60;
        let age = self.obtained_at.map(|from| now.secs_since(from));
        // A time that is ahead is of a clock that was set back since.
        age.flatten().is_none_or(|age| !(0..SETTLED_SECS).contains(&age))
    }

    fn leeway(self, end: UnixTime) -> i64 {
        let life = self.obtained_at.and_then(|from| end.secs_since(from));
        life.map_or(LEEWAY_SECS, |life| LEEWAY_SECS.min(life.max(0) / 10))
    }
}

/// What is to be done with a line whose newest pair is to be renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Ask.
    Ask,
    /// Do not ask for so many seconds.
    Wait(u64),
    /// It has been tried as often as it may be: it ends.
    End,
    /// It has ended.
    Ended,
}

/// What is to be done with a line as it is.
pub fn next(line: &Line, now: UnixTime) -> Next {
    let wait = line.again_at.and_then(|again| again.secs_since(now));
    let wait =
        wait.filter(|wait| (1..=WAIT_SECS_MAX).contains(wait)).and_then(|wait| u64::try_from(wait).ok());
    match (line.state, wait) {
        (LineState::Dead, _) => Next::Ended,
        (LineState::Live | LineState::Sent, _) if line.tries >= TRIES_MAX => Next::End,
        (LineState::Live | LineState::Sent, Some(wait)) => Next::Wait(wait),
        (LineState::Live | LineState::Sent, None) => Next::Ask,
    }
}

/// When a line may be tried again that fails now.
pub(super) fn again_at(line: &Line, now: UnixTime) -> UnixTime {
    let failed = usize::try_from(line.failures).unwrap_or(usize::MAX);
    now.plus_secs(WAITS_SECS.get(failed).copied().unwrap_or(WAIT_SECS_MAX))
}

/// What becomes of a line whose request had this end; `sending` is as it was noted before the request left.
pub fn after(sending: &Line, failed: &Unanswered, now: UnixTime) -> Line {
    let (carried, told) = match failed {
        Unanswered::Dead => return sending.ended(),
        Unanswered::Refused { .. } => (Carried::Not, None),
        Unanswered::Away { carried, retry_after, .. } => (*carried, *retry_after),
        Unanswered::Unreadable { .. } => (Carried::Perhaps, None),
    };
    let told = told.map_or(0, |told| i64::try_from(told).unwrap_or(i64::MAX).min(WAIT_SECS_MAX));
    // The wait that was noted before it left, or the one that the service asks for, whichever is longer.
    let noted = sending.again_at.unwrap_or(now);
    let line = sending.put_off(carried, noted.max(now.plus_secs(told)));
    if line.tries >= TRIES_MAX { line.ended() } else { line }
}

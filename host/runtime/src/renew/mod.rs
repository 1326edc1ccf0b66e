//! Renewing the pair of an OAuth credential: once, by whoever comes first, for all who need it.
//!
//! What is due and what is done with a line in each of its states is decided in `decide`, which does nothing. `room` is the
//! order of what is done: lock (in the process, then across processes) → look again → note durably that a request is about
//! to leave → ask → the fresh pair durably → use. `ask` is the door to whoever renews. INVARIANT: no request leaves before a
//! note of it is on the disk, and no fresh pair is used before it is; of a request whose end nobody knows at most
//! [`TRIES_MAX`](crate::store::TRIES_MAX) are made in all. DESIGN, "Crypto": Rotated pairs.

mod ask;
mod by;
mod decide;
mod room;

#[cfg(test)]
mod tests;

pub use ask::{Ask, Asked, Asking, Fresh, Nobody, Unanswered};
pub use by::ByRenewer;
pub use decide::{LEEWAY_SECS, Next, Term, WAITS_SECS, after, next};
pub use room::{Given, NotRenewed, Renewing, newest};

//! Whether a request goes out once more, and after how long.
//!
//! A read does, and a write whose service knows a repeated one by a header; no other write ever. INVARIANT: every try and
//! every wait lies inside the op's time, and a wait that does not is not begun. DESIGN, "Pinned client".

use std::time::Duration;

use http::StatusCode;
use pinhole_manifest::Access;
use pinhole_manifest::model::Op;

use super::Executor;
use crate::entropy::Entropy;
pub(super) use crate::net::told;
use crate::net::{Incoming, Sent, Stage, WireError, WireErrorKind, comes_back};

/// How many times a request goes out at most.
const TRIES_MAX: u32 = 3;
/// The wait before the second try, in milliseconds; it doubles with each.
const BACKOFF_MS: u64 = 500;

/// Whether an executor tries a request again that may be tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Retries {
    /// Up to three tries in all.
    #[default]
    Usual,
    /// One try: what comes is what is judged, as in recorded cases.
    Never,
}

/// Whether the request of an op may go out more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    /// It reads, or the service knows a repeated one.
    Harmless,
    /// It may do twice what was asked once.
    Harmful,
}

impl Repeat {
    pub(super) fn of(op: &Op) -> Self {
        match (op.access, &op.idempotency) {
            (Access::Read, _) | (Access::Write, Some(_)) => Self::Harmless,
            (Access::Write, None) => Self::Harmful,
        }
    }
}

/// How long to wait before the next try, if there is to be one: `tried` have been made, of which this came, and so much of
/// the op's time is left.
pub(super) fn wait(
    executor: &Executor,
    repeat: Repeat,
    tried: u32,
    taken: &Result<Incoming, WireError>,
    left: Duration,
) -> Option<Duration> {
    if executor.retries == Retries::Never || repeat == Repeat::Harmful || tried >= TRIES_MAX {
        return None;
    }
    let asked = match taken {
        Ok(answer) if is_passing(answer.status) => {
            comes_back(&answer.headers, executor.clock.now()).unwrap_or(0)
        }
        Err(error) if is_unsent(error) => 0,
        Ok(_) | Err(_) => return None,
    };
    let wait = Duration::from_secs(asked).checked_add(backoff(executor.entropy.as_ref(), tried))?;
    (wait < left).then_some(wait)
}

/// Whether a status says that the same request may work a little later.
fn is_passing(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    )
}

/// Whether a connection did not come about or ended before a byte of the request was on it. A name that is not found and a
/// host that does not prove itself are no such failures: they do not pass by themselves.
fn is_unsent(error: &WireError) -> bool {
    let kind = matches!(
        error.kind,
        WireErrorKind::Connect
            | WireErrorKind::Interrupted
            | WireErrorKind::Timeout { stage: Stage::Connect }
    );
    kind && error.sent == Sent::No
}

/// Between half and all of a time that doubles with each try, so that many who failed at once do not come back at once.
fn backoff(entropy: &dyn Entropy, tried: u32) -> Duration {
    let most = BACKOFF_MS.saturating_mul(1_u64.checked_shl(tried.saturating_sub(1)).unwrap_or(u64::MAX));
    let mut bytes = [0xff; 2];
    // Without randomness the wait is the longest, which is only less polite.
    let drawn = entropy.fill(&mut bytes).map_or(u16::MAX, |()| u16::from_be_bytes(bytes));
    let part = (most / 2).saturating_mul(u64::from(drawn)) / u64::from(u16::MAX);
    Duration::from_millis((most / 2).saturating_add(part))
}

#[cfg(test)]
mod tests;

//! Whether a request goes out once more, and after how long.
//!
//! A read does, and a write whose service knows a repeated one by a header; no other write ever. INVARIANT: every try and
//! every wait lies inside the op's time, and a wait that does not is not begun. DESIGN, "Pinned client".

use std::time::Duration;

use http::{HeaderMap, StatusCode};
use pinhole_grant::UnixTime;
use pinhole_manifest::Access;
use pinhole_manifest::model::Op;

use super::Executor;
use crate::entropy::Entropy;
use crate::net::{Incoming, Sent, Stage, WireError, WireErrorKind};

/// How many times a request goes out at most.
const TRIES_MAX: u32 = 3;
/// The wait before the second try, in milliseconds; it doubles with each.
const BACKOFF_MS: u64 = 500;
/// Longest time in which a service may say to come back, in seconds (ten years): what says more means nothing.
const RETRY_AFTER_MAX: u64 = 10 * 365 * 24 * 3600;
/// From here on a number is a moment rather than so many seconds.
const MOMENT_MIN: u64 = 1_000_000_000;

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

/// In how many seconds a service says to come back: by `Retry-After` (RFC 9110, section 10.2.3), else, where its budget is
/// spent, by the moment at which it is renewed. `None` where it says nothing that can be read.
pub(super) fn comes_back(headers: &HeaderMap, now: UnixTime) -> Option<u64> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(after) = text("retry-after") {
        return seconds(after).or_else(|| until_date(after, now));
    }
    if text("x-ratelimit-remaining") != Some("0") {
        return None;
    }
    let reset = text("x-ratelimit-reset").and_then(seconds)?;
    if reset < MOMENT_MIN { Some(reset) } else { until(reset, now) }
}

/// The same, where it is near enough to be told to anybody.
pub(super) fn told(headers: &HeaderMap, now: UnixTime) -> Option<u64> {
    comes_back(headers, now).filter(|seconds| *seconds <= RETRY_AFTER_MAX)
}

/// Digits alone; more of them than any number has are the largest.
fn seconds(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}

/// An HTTP date; one that is over is now.
fn until_date(text: &str, now: UnixTime) -> Option<u64> {
    let date = httpdate::parse_http_date(text).ok()?;
    until(date.duration_since(std::time::UNIX_EPOCH).ok()?.as_secs(), now)
}

fn until(moment: u64, now: UnixTime) -> Option<u64> {
    let moment = UnixTime::from_secs(i64::try_from(moment).ok()?);
    Some(u64::try_from(moment.secs_since(now)?).unwrap_or(0))
}

#[cfg(test)]
mod tests;

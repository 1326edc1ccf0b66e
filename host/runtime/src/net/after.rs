//! In how long a host says to come back.
//!
//! Refuses what cannot be read: then it has said nothing. RFC 9110, section 10.2.3.

use http::HeaderMap;
use pinhole_grant::UnixTime;

/// Longest time in which a service may say to come back, in seconds (ten years): what says more means nothing.
pub(crate) const RETRY_AFTER_MAX: u64 = 10 * 365 * 24 * 3600;
/// From here on a number is a moment rather than so many seconds.
const MOMENT_MIN: u64 = 1_000_000_000;

/// In how many seconds a service says to come back: by `Retry-After` (RFC 9110, section 10.2.3), else, where its budget is
/// spent, by the moment at which it is renewed. `None` where it says nothing that can be read.
pub(crate) fn comes_back(headers: &HeaderMap, now: UnixTime) -> Option<u64> {
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
pub(crate) fn told(headers: &HeaderMap, now: UnixTime) -> Option<u64> {
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

//! Statuses that say no, with every kind of `Retry-After`. A call is made once: nothing waits, nothing asks again.

use pinhole_runtime::outcome::Code;
use pinhole_standin::Misbehaviour;

use super::Lie;

pub(super) fn lies() -> Vec<Lie> {
    let statuses = [
        ("401", 401, Code::UpstreamUnauthorized, Code::UpstreamUnauthorized),
        // That says when to come back is how some services limit.
        ("403", 403, Code::UpstreamForbidden, Code::UpstreamRateLimited),
        ("429", 429, Code::UpstreamRateLimited, Code::UpstreamRateLimited),
    ];
    let waits = [
        ("Retry-After in seconds", "0"),
        ("Retry-After in seconds", "30"),
        ("Retry-After as a date", "Wed, 21 Oct 2065 07:28:00 GMT"),
        ("Retry-After as a date", "Thu, 01 Jan 1970 00:00:00 GMT"),
        ("Retry-After as nonsense", "soon"),
        ("Retry-After as nonsense", "-1"),
        ("Retry-After as nonsense", "99999999999999999999999"),
        ("Retry-After as nonsense", ""),
        ("Retry-After of a year", "31536000"),
    ];
    let mut lies = Vec::new();
    for (name, status, plain, limited) in statuses {
        let says = |retry_after: Option<&str>| Misbehaviour::Status {
            code: status,
            retry_after: retry_after.map(str::to_owned),
        };
        lies.push(Lie::new(name, says(None), plain));
        lies.extend(waits.map(|(name, wait)| Lie::new(name, says(Some(wait)), limited)));
    }
    lies
}

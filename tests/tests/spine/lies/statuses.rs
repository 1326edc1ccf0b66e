//! Statuses that say no, with every kind of `Retry-After`. Of these a 429 alone is asked again, once it says that it may
//! be, within the op's time; then the service tells the truth. `retries` has the services that never do.

use pinhole_runtime::outcome::Code;
use pinhole_standin::Misbehaviour;

use super::Lie;

/// Whether somebody who is told to come back then is there soon enough.
#[derive(Clone, Copy, PartialEq)]
enum Wait {
    Short,
    Long,
}

pub(super) fn lies() -> Vec<Lie> {
    let waits = [
        ("Retry-After in seconds", "0", Wait::Short),
        ("Retry-After in seconds", "30", Wait::Long),
        ("Retry-After as a date", "Wed, 21 Oct 2065 07:28:00 GMT", Wait::Long),
        ("Retry-After as a date", "Thu, 01 Jan 1970 00:00:00 GMT", Wait::Short),
        ("Retry-After as nonsense", "soon", Wait::Short),
        ("Retry-After as nonsense", "-1", Wait::Short),
        ("Retry-After as nonsense", "99999999999999999999999", Wait::Long),
        ("Retry-After as nonsense", "", Wait::Short),
        ("Retry-After of a year", "31536000", Wait::Long),
    ];
    let says = |code: u16, retry_after: Option<&str>| Misbehaviour::Status {
        code,
        retry_after: retry_after.map(str::to_owned),
    };
    let mut lies = vec![
        Lie::new("401", says(401, None), Code::UpstreamUnauthorized),
        Lie::new("403", says(403, None), Code::UpstreamForbidden),
        Lie::passing("429", says(429, None)),
    ];
    for (name, text, wait) in waits {
        lies.push(Lie::new(name, says(401, Some(text)), Code::UpstreamUnauthorized));
        // That says when to come back is how some services limit.
        lies.push(Lie::new(name, says(403, Some(text)), Code::UpstreamRateLimited));
        lies.push(match wait {
            Wait::Short => Lie::passing(name, says(429, Some(text))),
            Wait::Long => Lie::new(name, says(429, Some(text)), Code::UpstreamRateLimited),
        });
    }
    lies
}

//! Redirects, and answers whose head is the lie.

use std::net::SocketAddr;
use std::time::Duration;

use pinhole_runtime::net::{Sent, StageLimits};
use pinhole_runtime::outcome::Code;
use pinhole_standin::Misbehaviour;

use super::{Lie, NEVER, picked};

pub(super) fn lies(elsewhere: SocketAddr) -> Vec<Lie> {
    let mut lies = redirects(elsewhere);
    lies.extend(slow());
    lies.extend(heads());
    lies
}

fn redirects(elsewhere: SocketAddr) -> Vec<Lie> {
    let to: [(&'static str, String); 12] = [
        ("a redirect to the same host", "https://api.thing.dev/plain?again".to_owned()),
        ("a redirect to the same host", "/quick".to_owned()),
        ("a redirect to the same host", "https://api.thing.dev:8443/plain".to_owned()),
        ("a redirect to another host", format!("https://{elsewhere}/plain")),
        ("a redirect to another host", format!("//{elsewhere}/plain")),
        ("a redirect to another host", format!("https://api.thing.dev@{elsewhere}/plain")),
        ("a redirect to another host", "https://api.thing.dev.other.dev/plain".to_owned()),
        ("a redirect to plain http", format!("http://{elsewhere}/plain")),
        ("a redirect to plain http", "http://api.thing.dev/plain".to_owned()),
        ("a redirect to a metadata address", "http://169.254.169.254/latest/meta-data/".to_owned()),
        ("a redirect to a metadata address", "http://[fd00:ec2::254]/latest/meta-data/".to_owned()),
        ("a redirect to a file", "file:///etc/passwd".to_owned()),
    ];
    let mut lies = Vec::new();
    for (name, location) in to {
        // The one that clients follow with another method, and the one that they follow with the same.
        for status in [302, 308] {
            let how = Misbehaviour::Redirect { status, location: location.clone() };
            lies.push(Lie::new(name, how, Code::Redirected));
        }
    }
    lies
}

fn slow() -> Vec<Lie> {
    let (headers, drip) = ("slow headers", "a slow drip under every time limit");
    let silent = || Misbehaviour::SlowHeaders { delay: NEVER };
    let dripping = |every| Misbehaviour::Drip { bytes: 1, every };
    let tenths = |count: u64| Duration::from_millis(100 * count);
    // Until the headers; of the op as a whole; while the body stands still; of the op though each byte comes in time.
    vec![
        Lie {
            limits: StageLimits { connect: tenths(20), header: tenths(2), ..StageLimits::default() },
            ..Lie::new(headers, silent(), Code::TimedOut).perhaps_sent()
        },
        Lie::new(headers, silent(), Code::TimedOut).perhaps_sent().quick(),
        Lie {
            limits: StageLimits { idle: tenths(2), ..StageLimits::default() },
            ..Lie::new(drip, dripping(NEVER), Code::TimedOut)
        },
        Lie::new(drip, dripping(Duration::from_millis(20)), Code::TimedOut).quick(),
    ]
}

fn heads() -> Vec<Lie> {
    let content_type =
        |value: &str| ("a wrong content type", Misbehaviour::WrongContentType(value.to_owned()));
    let mut lies: Vec<Lie> = ["text/html", "image/png", "application/json; charset=utf-16", "nonsense"]
        .map(content_type)
        // The body decides: it is JSON or it is not, whatever it is called.
        .map(|(name, how)| Lie::harmless(name, how, &picked()))
        .into();
    lies.extend([
        // Over HTTP/1.1 the reader gives up in the middle of the head, before there is a status.
        Lie::new("1,000 headers", Misbehaviour::ManyHeaders(1000), Code::HeadersTooLarge)
            .perhaps_sent()
            .over_h2(Code::HeadersTooLarge, Sent::Yes),
        Lie::new("a header of 1 MB", Misbehaviour::HugeHeader(1 << 20), Code::HeadersTooLarge)
            .perhaps_sent()
            .over_h2(Code::Interrupted, Sent::Maybe),
    ]);
    lies
}

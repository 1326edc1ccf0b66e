//! The lying upstream: every way in which a service, or somebody in its place, can answer wrongly, and what becomes of it.
//!
//! One row for each case and protocol. Each row asserts the refusal (or the clean result), what is known of the request,
//! that the key was seen in one place of as many requests as there are tries, by the one host, and nowhere else, that it took no longer than it may,
//! and that the next call is answered as if nothing had happened. [`LIES`] is the list that the table is held to.

mod answers;
mod bodies;
mod cuts;
mod handshakes;
mod names;
mod statuses;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use pinhole_runtime::Outcome;
use pinhole_runtime::net::{Sent, StageLimits};
use pinhole_runtime::outcome::Code;
use pinhole_standin::{Alpn, Authority, Config, Misbehaviour, Reply, Route, Standin, When, World};
use pinhole_tests::{KEY, Setup, Stage};
use serde_json::{Value, json};

use crate::common::{get, holds_no_key, no_faults, parsed};

/// Every case there has to be a row for.
const LIES: [&str; 47] = [
    "a redirect to the same host",
    "a redirect to another host",
    "a redirect to plain http",
    "a redirect to a metadata address",
    "a redirect to a file",
    "slow headers",
    "a slow drip under every time limit",
    "a body without an end",
    "a declared length that is too long",
    "a declared length that is too short",
    "chunked garbage",
    "a gzip bomb",
    "a brotli bomb",
    "a nested bomb",
    "a wrong content type",
    "HTML with 502",
    "HTML with 200",
    "truncated JSON",
    "a byte order mark",
    "UTF-16",
    "an empty body",
    "204 where a body was due",
    "the credential echoed in the body",
    "the credential echoed in the error's text",
    "the credential echoed in a header",
    "401",
    "403",
    "429",
    "Retry-After in seconds",
    "Retry-After as a date",
    "Retry-After as nonsense",
    "Retry-After of a year",
    "1,000 headers",
    "a header of 1 MB",
    "a connection cut before the status",
    "a connection cut in the headers",
    "a connection cut in the middle of the body",
    "a connection cut after the body",
    "an HTTP/2 reset",
    "an HTTP/2 GOAWAY",
    "an expired certificate",
    "a self-signed certificate",
    "a certificate for another name",
    "a certificate of another CA",
    "TLS 1.1",
    "a name whose addresses change between two calls",
    "a name with no address or a hundred",
];

/// Longer than any row may take, on a slow machine too; what would hang takes longer.
const PATIENCE: Duration = Duration::from_secs(15);
/// Far longer than any row may take: what a stand-in that is silent waits.
const NEVER: Duration = Duration::from_mins(10);

/// One row.
struct Lie {
    name: &'static str,
    how: Misbehaviour,
    /// What the service would have answered.
    truth: Reply,
    op: &'static str,
    limits: StageLimits,
    /// How often the service is asked: more than once where it says that it will tell the truth later, which it does.
    requests: usize,
    http1: End,
    h2: End,
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq)]
enum End {
    Refused(Code, Sent),
    Result(Value),
}

impl End {
    fn of(outcome: &Outcome) -> Self {
        match outcome.refusal() {
            Some(refusal) => Self::Refused(refusal.code, refusal.sent),
            None => Self::Result(parsed(outcome)["result"].clone()),
        }
    }
}

/// What the service says when it tells the truth.
fn truth() -> Value {
    json!({"id": 1, "name": "x".repeat(4096), "private": "PRIVATE"})
}

/// What is picked of it.
fn picked() -> Value {
    json!({"id": 1, "name": "x".repeat(4096)})
}

impl Lie {
    /// A lie that is refused with this code once an answer began.
    fn new(name: &'static str, how: Misbehaviour, code: Code) -> Self {
        let end = End::Refused(code, Sent::Yes);
        let (truth, limits) = (Reply::json(200, &truth()), StageLimits::default());
        Self { name, how, truth, op: "thing.plain_thing", limits, requests: 1, http1: end.clone(), h2: end }
    }

    /// A lie that is seen through, or does no harm.
    fn harmless(name: &'static str, how: Misbehaviour, result: &Value) -> Self {
        let end = End::Result(result.clone());
        Self { http1: end.clone(), h2: end, ..Self::new(name, how, Code::NotJson) }
    }

    /// Of which it is not known whether the request was read.
    fn perhaps_sent(mut self) -> Self {
        for end in [&mut self.http1, &mut self.h2] {
            if let End::Refused(_, sent) = end {
                *sent = Sent::Maybe;
            }
        }
        self
    }

    /// That is over when the service is asked again, which it is once.
    fn passing(name: &'static str, how: Misbehaviour) -> Self {
        Self { requests: 2, ..Self::harmless(name, how, &picked()) }
    }

    fn over_h2(self, code: Code, sent: Sent) -> Self {
        Self { h2: End::Refused(code, sent), ..self }
    }

    /// Against an op that may take a second.
    fn quick(self) -> Self {
        Self { op: "thing.quick_thing", ..self }
    }

    async fn stage(&self, alpn: Alpn, authority: &Authority) -> Stage {
        let routes = ["/plain", "/quick"].map(|path| Route::get(path, self.truth.clone()));
        let routes = routes.into_iter().chain([get("/touch", &json!({}))]).collect();
        let mut setup = Setup { limits: self.limits, ..Setup::thing(routes) };
        setup.standin.alpn = alpn;
        setup.standin.authority = Some(authority.clone());
        setup.start().await
    }

    /// Tells it, and gives what is wrong with what became of it.
    async fn faults(&self, alpn: Alpn, authority: &Authority) -> Vec<String> {
        let stage = self.stage(alpn, authority).await;
        stage.standin.misbehave(When::Next(1), self.how.clone());
        let begun = Instant::now();
        let Ok(outcome) = tokio::time::timeout(PATIENCE, stage.read(self.op, &json!({}))).await else {
            return vec!["it hangs".to_owned()];
        };
        let took = begun.elapsed();
        holds_no_key(&outcome);
        let mut faults = Vec::new();
        let mut check = |fine: bool, fault: String| faults.extend((!fine).then_some(fault));
        let wanted = if alpn == Alpn::H2 { &self.h2 } else { &self.http1 };
        let end = End::of(&outcome);
        check(end == *wanted, format!("{} instead of {wanted:?}", outcome.to_json()));
        check(took < PATIENCE, format!("it took {took:?}"));
        check(!outcome.to_json().contains("PRIVATE"), "what is not picked came out".to_owned());
        let made = usize::try_from(outcome.meta.requests).unwrap_or(usize::MAX);
        check(made == self.requests, format!("{made} requests were made"));
        // An answer that is not read to its end takes its connection with it.
        let connections = stage.standin.connections();
        check((1..=self.requests).contains(&connections), format!("{connections} connections"));
        let seen = stage.standin.requests();
        check(seen.len() == self.requests, format!("asked {} times", seen.len()));
        check(stage.timer.waits().len() + 1 == self.requests, format!("waited {:?}", stage.timer.waits()));
        for request in &seen {
            let holding: Vec<&str> = request
                .headers
                .iter()
                .filter(|(_, value)| value.contains(KEY))
                .map(|(name, _)| name.as_str())
                .collect();
            check(holding == ["authorization"], format!("the key is in {holding:?}"));
            check(request.sni.as_deref() == Some("api.thing.dev"), format!("SNI {:?}", request.sni));
            let protocol = if alpn == Alpn::H2 { "h2" } else { "http/1.1" };
            check(request.alpn.as_deref() == Some(protocol), format!("spoke {:?}", request.alpn));
        }
        stage.standin.behave();
        let next = stage.read("thing.touch_thing", &json!({})).await;
        check(next.refusal().is_none(), format!("the next call: {}", next.to_json()));
        faults
    }
}

/// A second service of the same authority, where no key belongs.
async fn elsewhere(authority: &Authority) -> Standin {
    let config = Config {
        host: "127.0.0.1".to_owned(),
        authority: Some(authority.clone()),
        ..Config::new(World::Fixed(Vec::new()))
    };
    Standin::start(config).await.unwrap()
}

#[tokio::test]
async fn a_lying_upstream_gets_nothing_and_gives_nothing() {
    let authority = Authority::new().unwrap();
    let elsewhere = elsewhere(&authority).await;
    let mut faults = Vec::new();
    for lie in table(&elsewhere) {
        for alpn in [Alpn::Http1, Alpn::H2] {
            for fault in lie.faults(alpn, &authority).await {
                faults.push(format!("{} over {alpn:?} ({:?}): {fault}", lie.name, lie.how));
            }
        }
    }
    no_faults(&faults);
    assert_eq!((elsewhere.connections(), elsewhere.requests().len()), (0, 0), "somebody came elsewhere");
}

fn table(elsewhere: &Standin) -> Vec<Lie> {
    let mut table = answers::lies(elsewhere.addr());
    table.extend(bodies::lies());
    table.extend(statuses::lies());
    table.extend(cuts::lies());
    table
}

/// Each case has its row, and no row is of a case that nobody asked about.
#[tokio::test]
async fn the_table_of_lies_is_complete() {
    let elsewhere = elsewhere(&Authority::new().unwrap()).await;
    let mut told: BTreeSet<&str> = table(&elsewhere).iter().map(|lie| lie.name).collect();
    told.extend(handshakes::NAMES);
    told.extend(names::NAMES);
    assert_eq!(told, BTreeSet::from(LIES));
}

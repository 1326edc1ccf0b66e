//! A name whose addresses lie: others at the second call than at the first, a hundred, none.
//!
//! Only loopback is dialled in a test, so that the addresses here are all refused. That an answer from a connection that
//! was made before is held against the guard again is shown beside the client (`an_answer_from_another_address_is_not_used`).

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use pinhole_runtime::net::{Looking, Lookup, NetSettings, PinnedClient, Sent};
use pinhole_runtime::outcome::Code;
use pinhole_tests::Setup;
use serde_json::json;

use crate::common::is;

pub(super) const NAMES: [&str; 2] =
    ["a name whose addresses change between two calls", "a name with no address or a hundred"];

/// A resolver that answers each call with the next of its answers.
#[derive(Debug, Clone)]
struct Turning(Arc<Mutex<VecDeque<Vec<IpAddr>>>>);

impl Lookup for Turning {
    fn lookup(&self, name: &str) -> Looking {
        assert_eq!(name, "api.thing.dev");
        let answer = self.0.lock().unwrap().pop_front().expect("as many calls as answers");
        Box::pin(async move { Ok(answer) })
    }
}

#[tokio::test]
async fn a_name_is_judged_anew_at_every_call() {
    let one = |text: &str| vec![text.parse::<IpAddr>().unwrap()];
    let good = one("140.82.121.6");
    let mixed = |bad: &str| [good.clone(), one(bad)].concat();
    let calls: Vec<(Vec<IpAddr>, Code)> = vec![
        (Vec::new(), Code::NameNotFound),
        (one("127.0.0.1"), Code::AddressRefused),
        (good.repeat(100), Code::AddressRefused),
        (mixed("169.254.169.254"), Code::AddressRefused),
        (Vec::new(), Code::NameNotFound),
        (mixed("::ffff:10.0.0.1"), Code::AddressRefused),
        ([good.repeat(100), one("10.0.0.1")].concat(), Code::AddressRefused),
        (one("::1"), Code::AddressRefused),
    ];
    let answers = Turning(Arc::new(Mutex::new(calls.iter().map(|(answer, _)| answer.clone()).collect())));
    let mut stage = Setup::thing(Vec::new()).start().await;
    let client = PinnedClient::with_lookup(NetSettings::default(), Arc::new(answers.clone())).unwrap();
    stage.executor.wire = Arc::new(client);
    for (place, (_, code)) in calls.iter().enumerate() {
        is(&stage.read("thing.plain_thing", &json!({})).await, *code, Sent::No);
        assert_eq!(answers.0.lock().unwrap().len(), calls.len() - place - 1, "asked once at each call");
    }
    assert_eq!((stage.standin.connections(), stage.standin.requests().len()), (0, 0));
}

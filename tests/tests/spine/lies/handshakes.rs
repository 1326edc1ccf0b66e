//! Somebody who does not prove to be the host: nothing is sent, so that there is no key to be seen.

use std::time::Instant;

use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_standin::{Certificate, Config, Protocol};
use pinhole_tests::Setup;
use serde_json::json;

use super::PATIENCE;
use crate::common::is;

pub(super) const NAMES: [&str; 5] = [
    "an expired certificate",
    "a self-signed certificate",
    "a certificate for another name",
    "a certificate of another CA",
    "TLS 1.1",
];

/// In the order of [`NAMES`].
const LIES: [fn(&mut Config); NAMES.len()] = [
    |standin| standin.certificate = Certificate::Expired,
    |standin| standin.certificate = Certificate::SelfSigned,
    |standin| standin.certificate = Certificate::WrongName,
    |standin| standin.certificate = Certificate::OtherCa,
    |standin| standin.protocol = Protocol::Tls11,
];

/// A write too, under a grant of one use: it is spent, and still nothing left.
#[tokio::test]
async fn who_is_not_the_host_gets_no_byte_of_a_request() {
    for (name, lie) in NAMES.into_iter().zip(LIES) {
        let mut setup = Setup::thing(Vec::new());
        lie(&mut setup.standin);
        let stage = setup.start().await;
        let begun = Instant::now();
        let read = stage.read("thing.plain_thing", &json!({})).await;
        is(&read, Code::TlsFailed, Sent::No);
        let write = stage.write("thing.add_note", &json!({"text": "once"})).await;
        is(&write, Code::TlsFailed, Sent::No);
        assert!(begun.elapsed() < PATIENCE, "{name}: it took {:?}", begun.elapsed());
        // One try each, and no second one with less to ask for.
        assert_eq!((stage.standin.connections(), stage.standin.requests().len()), (2, 0), "{name}");
    }
}

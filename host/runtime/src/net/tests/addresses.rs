//! What may be dialled: the guard alone, and the client with a resolver that says whatever a test wants.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use reqwest::dns::Resolve;

use super::server::Server;
use super::*;
use crate::net::client::check_peer;
use crate::net::guard::{self, ADDRESSES_MAX, Refused};
use crate::net::resolver::{Looking, Lookup, PORT, PinnedResolver, ResolveError, Route};

#[derive(serde::Deserialize)]
struct Table {
    deny: Vec<IpAddr>,
    allow: Vec<IpAddr>,
}

/// The outside table of addresses, where it is there.
fn table(test: &str) -> Option<Table> {
    #[expect(clippy::disallowed_methods, reason = "a test that says where its data lies")]
    let (shared, ci) = (std::env::var_os("PINHOLE_SHARED"), std::env::var("CI"));
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let file = shared.map_or(beside, Into::into).join("suites/ssrf/addresses.json");
    let Ok(json) = std::fs::read(&file) else {
        assert_ne!(ci.as_deref(), Ok("true"), "{test}: {} is not there", file.display());
        eprintln!("SKIPPED: {test}: {} is not there", file.display());
        return None;
    };
    let table: Table = serde_json::from_slice(&json).expect("a table");
    assert!(table.deny.len() > 50 && table.allow.len() > 10, "a table worth its name");
    Some(table)
}

/// Answers with what it was told last, and counts how often it was asked.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<(Vec<IpAddr>, usize)>>);

impl Told {
    fn say(&self, answer: &[IpAddr]) {
        self.0.lock().expect("no panic").0 = answer.to_vec();
    }

    fn asked(&self) -> usize {
        self.0.lock().expect("no panic").1
    }
}

impl Lookup for Told {
    fn lookup(&self, name: &str) -> Looking {
        assert_eq!(name, HOST);
        let mut told = self.0.lock().expect("no panic");
        told.1 += 1;
        let answer = told.0.clone();
        Box::pin(async move { Ok(answer) })
    }
}

struct Broken;

impl Lookup for Broken {
    fn lookup(&self, _name: &str) -> Looking {
        Box::pin(async { Err(io::Error::other("no such name")) })
    }
}

fn good() -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(8, 8, 8, 8))
}

async fn resolve(name: &str, lookup: impl Lookup + 'static) -> Result<Vec<SocketAddr>, ResolveError> {
    let resolver = PinnedResolver { host: host(), route: Route::Lookup(Arc::new(lookup)) };
    match resolver.resolve(name.parse().expect("a name")).await {
        Ok(addresses) => Ok(addresses.collect()),
        Err(error) => Err(*error.downcast().expect("the resolver's own error")),
    }
}

#[tokio::test]
async fn every_denied_address_is_refused_alone_and_in_company() {
    let Some(table) = table("every_denied_address_is_refused_alone_and_in_company") else { return };
    let told = Told::default();
    let client = PinnedClient::with_lookup(NetSettings::default(), Arc::new(told.clone())).expect("settings");
    let mut asked = 0;
    for bad in table.deny {
        for answer in [vec![bad], vec![bad, good()], vec![good(), bad], vec![good(), good(), bad]] {
            // What the connector is given to dial is nothing at all.
            told.say(&answer);
            let refused = resolve(HOST, told.clone()).await.expect_err("a refusal");
            assert!(
                matches!(refused, ResolveError::Refused(Refused::Address { address, .. }) if address == bad),
                "{answer:?}: {refused:?}"
            );
            // And the whole client says so, without a byte sent.
            let verdict = verdict(send(&client, get("/")).await);
            assert_eq!(verdict, (WireErrorKind::AddressRefused, Sent::No), "{answer:?}");
            asked += 2;
            assert_eq!(told.asked(), asked, "asked each time anew");
        }
    }
}

#[tokio::test]
async fn every_allowed_address_passes() {
    let Some(table) = table("every_allowed_address_passes") else { return };
    for address in &table.allow {
        assert_eq!(guard::check(*address), Ok(()), "{address}");
    }
    let told = Told::default();
    told.say(&table.allow);
    let dialled = resolve(HOST, told).await.expect("addresses");
    let expected: Vec<_> = table.allow.iter().map(|address| SocketAddr::new(*address, PORT)).collect();
    assert_eq!(dialled, expected, "exactly what the guard saw, on 443");
}

#[tokio::test]
async fn a_listener_on_loopback_is_not_dialled_without_an_override() {
    // Were an answer of 127.0.0.1 dialled, it would be on 443; bind what the client could reach, and count.
    let (ca, server) = Server::h1(Vec::new()).await;
    let told = Told::default();
    told.say(&[server.address.ip(), good()]);
    let settings = NetSettings::default()
        .with_override(dial("other.pinned.dev", &server))
        .with_ca_pem(ca.pem.as_bytes())
        .expect("a CA");
    let client = PinnedClient::with_lookup(settings, Arc::new(told)).expect("settings");
    assert!(client.dial(&host()) == pinhole_grant::Dial::Real);
    assert_eq!(verdict(send(&client, get("/")).await), (WireErrorKind::AddressRefused, Sent::No));
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn answers_that_are_empty_too_long_or_missing() {
    let told = Told::default();
    let client = PinnedClient::with_lookup(NetSettings::default(), Arc::new(told.clone())).expect("settings");
    assert_eq!(verdict(send(&client, get("/")).await), (WireErrorKind::NameNotFound, Sent::No));
    told.say(&[good(); ADDRESSES_MAX + 1]);
    assert_eq!(verdict(send(&client, get("/")).await), (WireErrorKind::AddressRefused, Sent::No));
    assert_eq!(guard::check_answer(&[good(); ADDRESSES_MAX]), Ok(()));
    let client = PinnedClient::with_lookup(NetSettings::default(), Arc::new(Broken)).expect("settings");
    assert_eq!(verdict(send(&client, get("/")).await), (WireErrorKind::NameNotFound, Sent::No));
}

#[tokio::test]
async fn no_name_but_the_pinned_one_is_looked_up() {
    let told = Told::default();
    for name in ["api.pinned.dev.", "pinned.dev", "x.api.pinned.dev", "localhost"] {
        let refused = resolve(name, told.clone()).await.expect_err("a refusal");
        assert!(matches!(refused, ResolveError::NotPinned), "{name}: {refused:?}");
    }
    assert_eq!(told.asked(), 0);
}

#[test]
fn the_edges_of_the_blocks() {
    let passes = |text: &str| guard::check(text.parse().expect("an address")).is_ok();
    for bad in [
        "0.255.255.255",
        "172.16.0.0",
        "172.31.255.255",
        "168.63.129.16",
        "192.0.0.255",
        "198.19.255.255",
        "239.255.255.255",
        "255.255.255.255",
        "1fff::1",
        "4000::1",
        "2001:1ff:ffff::1",
        "2002::",
        "2002:ffff::1",
        "2001:db8:ffff::1",
        "3fff:fff:ffff::1",
        "3ffe::1",
        "2620:4f:8000::1",
        "::8.8.8.8",
        "::ffff:8.8.8.8",
        "2606:4700::5efe:10.0.0.1",
        "2606:4700::200:5efe:10.0.0.1",
        "64:ff9b:1:ffff::1",
        "feff::1",
        "ff00::1",
    ] {
        assert!(!passes(bad), "{bad}");
    }
    for good in [
        "1.0.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "168.63.129.15",
        "168.63.129.17",
        "192.0.1.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2001:200::1",
        "2001:db7::1",
        "2001:db9::1",
        "2003::1",
        "2000::1",
        "2620:4f:7fff::1",
        "3ffd::1",
        "2606:4700::5eff:a00:1",
    ] {
        assert!(passes(good), "{good}");
    }
}

proptest! {
    #[test]
    fn no_v4_address_passes_in_v6_clothes(bits in any::<u32>()) {
        let v4 = Ipv4Addr::from_bits(bits);
        let [a, b, c, d] = v4.octets();
        let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        for v6 in [
            v4.to_ipv6_mapped(),
            Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, low),
            Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low),
            Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
            Ipv6Addr::new(0x64, 0xff9b, 1, high, low, 0, 0, 0),
            Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
            Ipv6Addr::new(0x2001, 0, high, low, 0, 0, !high, !low),
            Ipv6Addr::new(0x2a00, 0, 0, 0, 0, 0x5efe, high, low),
        ] {
            prop_assert!(guard::check(v6.into()).is_err(), "{v6}");
        }
    }

    #[test]
    fn the_guard_is_at_least_as_strict_as_the_standard_library(bits in any::<u32>()) {
        let v4 = Ipv4Addr::from_bits(bits);
        let special = v4.is_private() || v4.is_loopback() || v4.is_link_local() || v4.is_multicast()
            || v4.is_broadcast() || v4.is_documentation() || v4.is_unspecified();
        prop_assert!(!special || guard::check(v4.into()).is_err(), "{v4}");
    }
}

#[test]
fn an_answer_from_another_address_is_not_used() {
    let socket = |text: &str| text.parse::<SocketAddr>().expect("an address");
    let refused = |peer, named: Option<SocketAddr>| {
        check_peer(peer, named.as_ref()).err().map(|error| (error.kind, error.sent))
    };
    let no = Some((WireErrorKind::AddressRefused, Sent::Yes));
    assert_eq!(refused(Some(socket("8.8.8.8:443")), None), None);
    assert_eq!(refused(Some(socket("8.8.8.8:8443")), None), no);
    assert_eq!(refused(Some(socket("10.0.0.1:443")), None), no);
    assert_eq!(refused(None, None), no);
    let named = Some(socket("127.0.0.1:8443"));
    assert_eq!(refused(named, named), None);
    assert_eq!(refused(Some(socket("127.0.0.1:8444")), named), no);
    assert_eq!(refused(Some(socket("8.8.8.8:443")), named), no);
    assert_eq!(refused(None, named), no);
}

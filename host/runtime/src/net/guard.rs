//! Which addresses may be dialled: global unicast and nothing else. Pure.
//!
//! Refuses whole answers: one bad address beside good ones means that somebody else writes this name's records. INVARIANT:
//! it judges the very addresses that are dialled, after resolution. IANA special-purpose address registries (RFC 6890) and
//! the IPv6 address space; DESIGN, "Pinned client".

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Most addresses in one answer; real services have fewer than ten.
pub(super) const ADDRESSES_MAX: usize = 64;

/// Why an answer is not dialled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    #[error("the name has no address")]
    Empty,
    #[error("{0} addresses in one answer")]
    TooMany(usize),
    #[error("{address} is {why}")]
    Address { address: IpAddr, why: &'static str },
}

/// Passes an answer of 1 to [`ADDRESSES_MAX`] addresses that are all global unicast.
pub(super) fn check_answer(addresses: &[IpAddr]) -> Result<(), Refused> {
    match addresses.len() {
        0 => Err(Refused::Empty),
        count if count > ADDRESSES_MAX => Err(Refused::TooMany(count)),
        _ => addresses.iter().copied().try_for_each(check),
    }
}

/// Passes one global unicast address.
pub(super) fn check(address: IpAddr) -> Result<(), Refused> {
    let fault = match address {
        IpAddr::V4(v4) => fault_v4(v4),
        IpAddr::V6(v6) => fault_v6(v6),
    };
    fault.map_or(Ok(()), |why| Err(Refused::Address { address, why }))
}

type Block<A> = (A, u32, &'static str);

const fn v4(a: u8, b: u8, c: u8, d: u8, bits: u32, why: &'static str) -> Block<Ipv4Addr> {
    (Ipv4Addr::new(a, b, c, d), bits, why)
}

const DENIED_V4: [Block<Ipv4Addr>; 20] = [
    v4(0, 0, 0, 0, 8, "this network (RFC 791)"),
    v4(10, 0, 0, 0, 8, "private (RFC 1918)"),
    v4(100, 64, 0, 0, 10, "shared by a carrier (RFC 6598)"),
    v4(127, 0, 0, 0, 8, "loopback (RFC 1122)"),
    // The platform of one cloud answers its guests here, with their secrets; the address is otherwise nobody's API.
    v4(168, 63, 129, 16, 32, "a cloud platform's own address"),
    v4(169, 254, 0, 0, 16, "link-local (RFC 3927)"),
    v4(172, 16, 0, 0, 12, "private (RFC 1918)"),
    v4(192, 0, 0, 0, 24, "protocol assignments (RFC 6890)"),
    v4(192, 0, 2, 0, 24, "documentation (RFC 5737)"),
    v4(192, 31, 196, 0, 24, "AS112 (RFC 7535)"),
    v4(192, 52, 193, 0, 24, "AMT (RFC 7450)"),
    v4(192, 88, 99, 0, 24, "a 6to4 relay (RFC 7526)"),
    v4(192, 168, 0, 0, 16, "private (RFC 1918)"),
    v4(192, 175, 48, 0, 24, "AS112 (RFC 7534)"),
    v4(198, 18, 0, 0, 15, "benchmarking (RFC 2544)"),
    v4(198, 51, 100, 0, 24, "documentation (RFC 5737)"),
    v4(203, 0, 113, 0, 24, "documentation (RFC 5737)"),
    v4(224, 0, 0, 0, 4, "multicast (RFC 5771)"),
    v4(255, 255, 255, 255, 32, "broadcast (RFC 919)"),
    v4(240, 0, 0, 0, 4, "reserved (RFC 1112)"),
];

const fn v6(first: [u16; 3], bits: u32, why: &'static str) -> Block<Ipv6Addr> {
    let [a, b, c] = first;
    (Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), bits, why)
}

/// All that is allocated as global unicast. Outside it lie the unspecified, loopback, v4-compatible, v4-mapped,
/// v4-translated, NAT64, discard-only, `SRv6`, unique-local, link-local, site-local and multicast addresses.
const GLOBAL_V6: Block<Ipv6Addr> = v6([0x2000, 0, 0], 3, "not in the global unicast space (RFC 4291)");

const DENIED_V6: [Block<Ipv6Addr>; 6] = [
    // Teredo, benchmarking, both ORCHIDs, AMT, AS112, drone identifiers: tunnels and identifiers, no API among them.
    v6([0x2001, 0, 0], 23, "protocol assignments (RFC 2928)"),
    v6([0x2001, 0xdb8, 0], 32, "documentation (RFC 3849)"),
    v6([0x2002, 0, 0], 16, "6to4, which holds a v4 address (RFC 3056)"),
    v6([0x2620, 0x4f, 0x8000], 48, "AS112 (RFC 7534)"),
    v6([0x3ffe, 0, 0], 16, "the former 6bone (RFC 3701)"),
    v6([0x3fff, 0, 0], 20, "documentation (RFC 9637)"),
];

fn fault_v4(address: Ipv4Addr) -> Option<&'static str> {
    let inside = |(block, bits, why): &Block<Ipv4Addr>| {
        let outside_bits = 32_u32.saturating_sub(*bits);
        let same = (address.to_bits() ^ block.to_bits()).checked_shr(outside_bits).unwrap_or(0) == 0;
        same.then_some(*why)
    };
    DENIED_V4.iter().find_map(inside)
}

fn fault_v6(address: Ipv6Addr) -> Option<&'static str> {
    let inside = |(block, bits, why): &Block<Ipv6Addr>| {
        let outside_bits = 128_u32.saturating_sub(*bits);
        let same = (address.to_bits() ^ block.to_bits()).checked_shr(outside_bits).unwrap_or(0) == 0;
        same.then_some(*why)
    };
    if inside(&GLOBAL_V6).is_none() {
        return Some(GLOBAL_V6.2);
    }
    DENIED_V6.iter().find_map(inside).or_else(|| isatap(address))
}

/// An interface identifier `0000:5efe` or `0200:5efe` holds a v4 address that a tunnel would dial (RFC 5214).
fn isatap(address: Ipv6Addr) -> Option<&'static str> {
    let [_, _, _, _, universal, marker, _, _] = address.segments();
    (marker == 0x5efe && matches!(universal, 0 | 0x200))
        .then_some("ISATAP, which holds a v4 address (RFC 5214)")
}

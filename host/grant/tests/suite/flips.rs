//! Whatever is changed, cut or added, the envelope does not open: every bit of a small grant, and anything at random.

use pinhole_grant::{Kind, open, seal, sign};
use proptest::prelude::*;

use crate::common::{NOW, bot, flipped, member, minted, publics, read_scope, request};

#[test]
fn no_flipped_bit_of_the_envelope_opens() {
    let envelope = minted(&request(read_scope()));
    let (bot, issuers) = (bot(), publics(&[&member()]));
    assert!(open(&envelope, &bot, &issuers, NOW).is_ok());
    for (bit, other) in flipped(&envelope) {
        assert!(open(&other, &bot, &issuers, NOW).is_err(), "bit {bit}");
    }
}

#[test]
fn no_flipped_bit_under_the_seal_verifies() {
    // Anybody can seal to a bot: the signature must notice by itself.
    let signed = seal::open(Kind::Grant, &minted(&request(read_scope())), &bot()).unwrap();
    let issuers = publics(&[&member()]);
    assert!(sign::verify(Kind::Grant, &signed, &issuers).is_ok());
    for (bit, other) in flipped(&signed) {
        assert!(sign::verify(Kind::Grant, &other, &issuers).is_err(), "bit {bit}");
    }
}

#[test]
fn no_part_of_the_envelope_opens() {
    let envelope = minted(&request(read_scope()));
    let (bot, issuers) = (bot(), publics(&[&member()]));
    for length in 0..envelope.len() {
        assert!(open(&envelope[..length], &bot, &issuers, NOW).is_err(), "first {length}");
        assert!(open(&envelope[length + 1..], &bot, &issuers, NOW).is_err(), "after {length}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn a_changed_stretch_does_not_open(
        at in any::<prop::sample::Index>(),
        removed in 0_usize..8,
        inserted in prop::collection::vec(any::<u8>(), 0..8),
    ) {
        let envelope = minted(&request(read_scope()));
        let at = at.index(envelope.len());
        let end = (at + removed).min(envelope.len());
        let mut other = envelope.clone();
        other.splice(at..end, inserted.iter().copied());
        // White space between the members of a JSON object is the one thing that may differ.
        prop_assume!(other != envelope && !inserted.iter().any(u8::is_ascii_whitespace));
        prop_assert!(open(&other, &bot(), &publics(&[&member()]), NOW).is_err());
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        prop_assert!(open(&bytes, &bot(), &publics(&[&member()]), NOW).is_err());
    }
}

//! What holds of every input, with inputs that a generator makes: what the fuzz targets call, for every run of the tests.
//!
//! Each begins with inputs that are sound, or nearly, and changes a few bytes: bytes out of nothing seldom get far. What a
//! fuzzer found is kept at the end of each.

use pinhole_tests::holds;
use proptest::prelude::*;

/// A sound input with a few changes: bytes put in, taken out or replaced, and the end cut off.
fn changed(sound: Vec<Vec<u8>>, words: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let put = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..4),
        prop::sample::select(words).prop_map(|word| word.as_bytes().to_vec()),
    ];
    let change = (any::<prop::sample::Index>(), 0_usize..6, put);
    let changes = prop::collection::vec(change, 0..5);
    (prop::sample::select(sound), changes).prop_map(|(mut bytes, changes)| {
        for (at, removed, put) in changes {
            let at = at.index(bytes.len() + 1);
            let end = bytes.len().min(at + removed);
            bytes.splice(at..end, put);
        }
        bytes
    })
}

const JSON: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\"a\":",
    "null",
    "true",
    "0",
    "-1",
    "1e9",
    "1.10",
    "9007199254740993",
    "\\u0061",
    "\\ud800",
    "\\",
    "{\"a\":1}",
    "[[]]",
    " ",
    "\n",
    "{x}",
    "{{",
    "$",
    "[*]",
    "..",
    "%2e",
    ";",
    "é",
    "\u{202e}",
];

const PLACES: &[&str] = &[
    "pnx1",
    "=",
    "-",
    "_",
    "/",
    "//",
    "..",
    "%2e%2e",
    "%2f",
    "%00",
    ";",
    "?",
    "&",
    "#",
    "@",
    "\\\\",
    "?page=2",
    "&page=3",
    "&color=blue",
    "&color=red",
    "&kind=odd",
    "&size=9",
    "&_method=DELETE",
    "/shelf/",
    "/things",
    "https://",
    "{\"link\":\"",
    "\u{0}",
    "é",
];

fn manifests() -> Vec<Vec<u8>> {
    let base =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../registry/manifest/tests/vectors/base");
    let files = std::fs::read_dir(base).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    let sound: Vec<Vec<u8>> = files.collect();
    assert!(sound.len() >= 5);
    sound
}

fn documents() -> impl Strategy<Value = Vec<u8>> {
    (any::<[u8; 3]>(), changed(bytes_of(holds::prune_seeds()), JSON)).prop_map(|(how, mut bytes)| {
        bytes.iter_mut().zip(how).for_each(|(byte, how)| *byte = how);
        bytes
    })
}

fn bytes_of(seeds: Vec<(String, Vec<u8>)>) -> Vec<Vec<u8>> {
    seeds.into_iter().map(|(_, bytes)| bytes).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn of_a_manifest(bytes in changed(manifests(), JSON)) {
        holds::manifest(&bytes);
    }

    #[test]
    fn of_a_manifest_with_members_changed(bytes in changed(bytes_of(holds::manifest_seeds()), JSON)) {
        holds::manifest(&bytes);
    }

    #[test]
    fn of_args_and_their_request(bytes in changed(bytes_of(holds::args_seeds()), JSON)) {
        holds::args_to_request(&bytes);
    }

    #[test]
    fn of_what_is_picked(bytes in documents()) {
        holds::prune(&bytes);
    }

    #[test]
    fn of_a_grant(bytes in changed(bytes_of(holds::grant_seeds()), JSON)) {
        holds::grant(&bytes);
    }

    #[test]
    fn of_a_page_token(bytes in changed(bytes_of(holds::page_token_seeds()), PLACES)) {
        holds::page_token(&bytes);
    }

    #[test]
    fn of_what_is_asked_of_a_broker(bytes in changed(bytes_of(holds::ask_seeds()), JSON)) {
        holds::ask(&bytes);
    }

    #[test]
    fn of_the_answer_of_a_token_endpoint(bytes in changed(bytes_of(holds::token_answer_seeds()), JSON)) {
        holds::token_answer(&bytes);
    }

    #[test]
    fn of_a_proposal(bytes in changed(bytes_of(holds::proposal_seeds()), JSON)) {
        holds::proposal(&bytes);
    }

    #[test]
    fn of_bytes_out_of_nothing(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        holds::manifest(&bytes);
        holds::args_to_request(&bytes);
        holds::prune(&bytes);
        holds::grant(&bytes);
        holds::page_token(&bytes);
        holds::ask(&bytes);
        holds::token_answer(&bytes);
        holds::proposal(&bytes);
    }
}

//! Well-framed messages pass, ambiguous ones do not, however they are cut.

use proptest::prelude::*;

use super::*;

const GOOD: &[&str] = &[
    "GET / HTTP/1.1\r\nhost: x\r\n\r\n",
    "\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    "POST / HTTP/1.1\r\ncontent-length: 3\r\n\r\na\n\0GET / HTTP/1.1\r\n\r\n",
    "POST / HTTP/1.1\r\nContent-Length:0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: Chunked \r\n\r\n3;x=y\r\na\nb\r\n00a\r\n0123456789\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: content-length: 7\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\nx: a b\t c\r\nx-content-length: y\r\n\r\n",
];

const BAD: &[&str] = &[
    "GET / HTTP/1.1\nhost: x\r\n\r\n",
    "GET / HTTP/1.1\r\nhost: x\n\r\n",
    "GET / HTTP/1.1\r\nhost: x\r\n\n",
    "\nGET / HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\nhost: x\ry: z\r\n\r\n",
    "GET / HTTP/1.1\r\nhost: x\0\r\n\r\n",
    "GET / HTTP/1.1\r\nhost: x\r\n folded\r\n\r\n",
    "GET / HTTP/1.1\r\nhost : x\r\n\r\n",
    "GET / HTTP/1.1\r\nnothing\r\n\r\n",
    "GET / HTTP/1.1\r\n: x\r\n\r\n",
    "POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
    "POST / HTTP/1.1\r\ncontent-length: 1\r\nContent-Length: 1\r\n\r\n",
    "POST / HTTP/1.1\r\ncontent-length: 1, 1\r\n\r\n",
    "POST / HTTP/1.1\r\ncontent-length: +1\r\n\r\n",
    "POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
    "POST / HTTP/1.1\r\ncontent-length: 0x1\r\n\r\n",
    "POST / HTTP/1.1\r\ncontent-length:\r\n\r\n",
    "POST / HTTP/1.1\r\ncontent-length: 99999999999999999999\r\n\r\n",
    "POST / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
    "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 1\r\n\r\n",
    "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n",
    "POST / HTTP/1.1\r\ntransfer-encoding: gzip, chunked\r\n\r\n",
    "POST / HTTP/1.1\r\ntransfer-encoding: xchunked\r\n\r\n",
    "POST / HTTP/1.1\r\ntransfer-encoding: identity\r\n\r\n",
    "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\n0\r\n\r\n",
    "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n\r\n",
    "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n 1\r\na\r\n",
    "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0x1\r\na\r\n",
    "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n10000000000000001\r\na\r\n",
    "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: y\n\r\n",
];

fn verdict(bytes: &[u8], cut: usize) -> Result<(), (usize, Why)> {
    let mut framing = Framing::new(256);
    let mut before = 0;
    for part in bytes.chunks(cut.max(1)) {
        framing.take(part).map_err(|(at, why)| (before + at, why))?;
        before += part.len();
    }
    assert!(matches!(framing.at, At::Request) && framing.line.is_empty(), "{framing:?}");
    Ok(())
}

#[test]
fn what_is_well_framed_passes_and_ends_where_it_says() {
    for message in GOOD {
        for cut in 1..=message.len() {
            assert_eq!(verdict(message.as_bytes(), cut), Ok(()), "{message:?} in parts of {cut}");
        }
    }
}

#[test]
fn what_is_ambiguous_is_refused_at_the_same_byte_however_it_is_cut() {
    for message in BAD {
        let whole = verdict(message.as_bytes(), usize::MAX);
        assert!(matches!(whole, Err((_, Why::Malformed))), "{message:?}: {whole:?}");
        for cut in 1..message.len() {
            assert_eq!(verdict(message.as_bytes(), cut), whole, "{message:?} in parts of {cut}");
        }
    }
}

#[test]
fn a_head_has_an_end() {
    let long = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "a".repeat(300));
    assert!(matches!(verdict(long.as_bytes(), usize::MAX), Err((_, Why::TooLong))));
    assert!(matches!(verdict(long.as_bytes(), 7), Err((_, Why::TooLong))));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(60));
    assert!(matches!(verdict(many.as_bytes(), 7), Err((_, Why::TooLong))));
    // One after the other may be as long in all.
    let some = "GET / HTTP/1.1\r\nx: y\r\n\r\n".repeat(100);
    assert_eq!(verdict(some.as_bytes(), 7), Ok(()));
    let chunks =
        format!("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n{}0\r\n\r\n", "1\r\na\r\n".repeat(500));
    assert_eq!(verdict(chunks.as_bytes(), 7), Ok(()));
}

proptest! {
    #[test]
    fn any_bytes_are_judged_the_same_however_they_are_cut(
        parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "GET / HTTP/1.1", "\r\n", "\n", "\r", "content-length: 4", "transfer-encoding: chunked", "4", "0", "abcd", ":", " ", "\0",
            ]),
            0..20,
        ),
        cut in 1_usize..9,
    ) {
        let bytes = parts.concat().into_bytes();
        let mut whole = Framing::new(64);
        let mut cuts = Framing::new(64);
        let by_cuts = bytes.chunks(cut).try_for_each(|part| cuts.take(part).map_err(|(_, why)| why));
        prop_assert_eq!(whole.take(&bytes).map_err(|(_, why)| why), by_cuts);
    }
}

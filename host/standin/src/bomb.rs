//! Small bodies that unpack to large ones.
//!
//! Both formats allow a block that says "a megabyte of spaces" and depends on nothing before it, or only on there
//! having been spaces before it; the bomb is that block again and again, made while it is sent. Spaces, because a
//! JSON reader takes any number of them before it complains.

use bytes::Bytes;
use flate2::{Compress, Compression, Crc, FlushCompress, Status};

use crate::body::Outgoing;

const MEBIBYTE: usize = 1 << 20;

/// A gzip member (RFC 1952) of so many MiB, its checksum and length right, so that nothing is wrong but the size.
pub(crate) fn gzip_bomb(mebibytes: u64) -> Outgoing {
    let spaces = vec![b' '; MEBIBYTE];
    let mut unit = Vec::with_capacity(MEBIBYTE);
    // A full flush ends a block on a byte and forgets what came before, so that blocks can be repeated.
    let packed =
        Compress::new(Compression::best(), false).compress_vec(&spaces, &mut unit, FlushCompress::Full);
    debug_assert!(matches!(packed, Ok(Status::Ok | Status::BufError)), "a megabyte of room is enough");
    let mut of_one = Crc::new();
    of_one.update(&spaces);
    let mut sum = Crc::new();
    for _ in 0..mebibytes {
        sum.combine(&of_one);
    }
    // The length counts modulo 2^32: 4096 MiB.
    let length = u32::try_from(mebibytes % 4096).unwrap_or(0) << 20;
    let tail = [&[3, 0][..], &sum.sum().to_le_bytes(), &length.to_le_bytes()].concat();
    Outgoing::Repeat {
        head: Bytes::from_static(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]),
        unit: unit.into(),
        times: mebibytes,
        tail: tail.into(),
    }
}

/// A brotli stream (RFC 7932) of so many MiB, at least 1: a meta-block for the first, whose literal is a space; then
/// one of 13 bytes for each, which copies from the last distance and ends on a byte; then the empty last one.
pub(crate) fn brotli_bomb(mebibytes: u64) -> Outgoing {
    const FIRST: &[u8] =
        &[0xab, 0xff, 0xff, 0x07, 0x40, 0x02, 0x24, 0x1e, 0x0b, 0x24, 0xf7, 0xfe, 0xc1, 0x00];
    const AGAIN: &[u8] = &[0xfa, 0xff, 0x7f, 0x00, 0x24, 0x00, 0xe2, 0xb0, 0x00, 0x74, 0xef, 0x1f, 0x0c];
    Outgoing::Repeat {
        head: Bytes::from_static(FIRST),
        unit: Bytes::from_static(AGAIN),
        times: mebibytes.saturating_sub(1),
        tail: Bytes::from_static(&[3]),
    }
}

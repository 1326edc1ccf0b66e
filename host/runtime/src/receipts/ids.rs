//! The names of receipts, of notes and of the processes that leave them.

use std::fmt;
use std::str::FromStr;

use pinhole_manifest::Digest;
use serde::{Serialize, Serializer};

/// How much of a receipt's hash stands in its id, in bytes.
const HASH_BYTES: usize = 8;

/// A receipt of one bot: its number in the chain and the first 8 bytes of its hash, such as `17-3fa94be2d01c7a55`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReceiptId {
    seq: u64,
    hash: [u8; HASH_BYTES],
}

/// Why a text is not the id of a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "not the id of a receipt: write its number, `-` and 16 hexadecimal digits, such as `17-3fa94be2d01c7a55`"
)]
pub struct ReceiptIdError;

impl ReceiptId {
    /// The id with the longest text.
    pub(crate) const LONGEST: Self = Self { seq: u64::MAX, hash: [0; HASH_BYTES] };

    pub(super) fn new(seq: u64, hash: Digest) -> Self {
        let mut first = [0; HASH_BYTES];
        first.iter_mut().zip(hash.as_bytes()).for_each(|(to, from)| *to = *from);
        Self { seq, hash: first }
    }

    /// Its number in the chain, from 1.
    pub fn seq(self) -> u64 {
        self.seq
    }
}

impl fmt::Display for ReceiptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-", self.seq)?;
        self.hash.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for ReceiptId {
    type Err = ReceiptIdError;

    fn from_str(text: &str) -> Result<Self, ReceiptIdError> {
        let (seq, hex) = text.split_once('-').ok_or(ReceiptIdError)?;
        let hash = u64::from_str_radix(hex, 16).map_err(|_not_hex| ReceiptIdError)?.to_be_bytes();
        let id = Self { seq: seq.parse().map_err(|_no_number| ReceiptIdError)?, hash };
        if id.to_string() == text { Ok(id) } else { Err(ReceiptIdError) }
    }
}

impl Serialize for ReceiptId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Why a text is not the id of a note or of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an id: 32 hexadecimal digits")]
pub struct MarkError;

macro_rules! mark {
    ($(#[$doc:meta])* $type:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type([u8; 16]);

        impl $type {
            /// The id of these 16 bytes, which are random.
            pub fn of(random: [u8; 16]) -> Self {
                Self(random)
            }

            /// Reads the text form: 32 hexadecimal digits in lower case.
            pub fn parse(text: &str) -> Result<Self, MarkError> {
                let number = u128::from_str_radix(text, 16).map_err(|_not_hex| MarkError)?;
                let id = Self(number.to_be_bytes());
                if id.to_string() == text { Ok(id) } else { Err(MarkError) }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

mark!(
    /// A note that a run began.
    NoteId
);

impl ProcessId {
    /// The process that has this place among those of its bot.
    pub(crate) fn at(place: u64, random: [u8; 8]) -> Self {
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(random.into_iter().chain(place.to_be_bytes())).for_each(|(to, from)| *to = from);
        Self(bytes)
    }

    /// Its place. While it is there it holds the lock of that.
    pub(crate) fn place(self) -> u64 {
        self.0.last_chunk().map_or(0, |place| u64::from_be_bytes(*place))
    }

    /// Its note of this number: of each number another one, and none of another process's.
    pub(crate) fn note(self, number: u64) -> NoteId {
        let mut bytes = self.0;
        bytes.iter_mut().skip(8).zip(number.to_be_bytes()).for_each(|(to, from)| *to ^= from);
        NoteId(bytes)
    }
}

mark!(
    /// A process, or rather one executor of it, that leaves notes.
    ProcessId
);

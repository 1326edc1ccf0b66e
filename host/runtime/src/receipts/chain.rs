//! A receipt in its chain: one a bot, numbered from 1 without a gap, each with the hash of the one before it.

use pinhole_manifest::Digest;
use serde::{Deserialize, Serialize};

use super::facts::Facts;
use super::ids::ReceiptId;

/// The version of the form.
const VERSION: u8 = 1;

/// The end of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The number of the last receipt.
    pub seq: u64,
    /// Its hash.
    pub hash: Digest,
}

/// A receipt with its place in the chain, and the very bytes that are hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    seq: u64,
    prev: Option<Digest>,
    facts: Facts,
    body: String,
}

/// Why a text is not a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a receipt of this version")]
pub struct NotAReceipt;

/// The order of these members is the order of the bytes that are hashed.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReceiptWire {
    v: u8,
    seq: u64,
    prev: Option<Digest>,
    run: Facts,
}

impl Receipt {
    /// The receipt behind the last one of its bot's chain, or the first one.
    pub fn after(head: Option<Head>, facts: Facts) -> Result<Self, NotAReceipt> {
        let seq = head.map_or(0, |head| head.seq).checked_add(1).ok_or(NotAReceipt)?;
        let wire = ReceiptWire { v: VERSION, seq, prev: head.map(|head| head.hash), run: facts };
        let body = serde_json::to_string(&wire).map_err(|_unwritable| NotAReceipt)?;
        Ok(Self { seq, prev: wire.prev, facts: wire.run, body })
    }

    /// Reads the stored bytes. They may be anybody's: what they say of their place is held against the chain by
    /// [`super::Verifier`].
    pub fn read(body: &str) -> Result<Self, NotAReceipt> {
        let wire: ReceiptWire = serde_json::from_str(body).map_err(|_another_form| NotAReceipt)?;
        let ReceiptWire { v, seq, prev, run } = wire;
        let is_one = v == VERSION && seq > 0 && Facts::is_code(&run.code);
        if is_one { Ok(Self { seq, prev, facts: run, body: body.to_owned() }) } else { Err(NotAReceipt) }
    }

    /// Its id.
    pub fn id(&self) -> ReceiptId {
        ReceiptId::new(self.seq, self.hash())
    }

    /// Its number in the chain, from 1.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The hash of the one before it; `None` for the first.
    pub fn prev(&self) -> Option<Digest> {
        self.prev
    }

    /// The SHA-256 of its bytes.
    pub fn hash(&self) -> Digest {
        Digest::of(self.body.as_bytes())
    }

    /// It as the end of its chain.
    pub fn head(&self) -> Head {
        Head { seq: self.seq, hash: self.hash() }
    }

    /// What it says.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The bytes that are hashed and stored: compact JSON.
    pub fn body(&self) -> &str {
        &self.body
    }
}

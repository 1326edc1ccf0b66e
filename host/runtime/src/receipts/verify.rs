//! Whether a chain of receipts is what was written: every edit, gap, reorder, and truncation behind the last checkpoint.
//!
//! Takes the receipts in the order of their numbers, one by one, so that a long chain needs no memory. It cannot know of
//! receipts that were cut off at the end after the last checkpoint, or that were rewritten there by somebody who made the
//! hashes anew; [`Verdict::uncovered`] says how many stand there.

use std::collections::BTreeMap;

use pinhole_grant::KeyId;
use pinhole_manifest::Digest;

use super::chain::{Head, Receipt};
use super::checkpoint::{Checkpoint, Covers};

/// Most findings that are kept; of the others there is the number.
const FINDINGS_MAX: usize = 100;

/// A receipt as a store has it: its bytes, and what stands beside them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Whose chain.
    pub bot: KeyId,
    /// The number that the row has.
    pub seq: u64,
    /// The hash that the row has.
    pub hash: Digest,
    /// The bytes.
    pub body: String,
    /// What the row can be found by, joined: it must be what the bytes say.
    pub index: String,
}

impl Stored {
    /// The row of a receipt.
    pub fn of(receipt: &Receipt) -> Self {
        Self {
            bot: receipt.facts().bot,
            seq: receipt.seq(),
            hash: receipt.hash(),
            body: receipt.body().to_owned(),
            index: Self::index_of(receipt),
        }
    }

    /// The index columns that a receipt's row has, in the order of the table, joined by spaces; `-` for none.
    pub fn index_of(receipt: &Receipt) -> String {
        let facts = receipt.facts();
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        format!(
            "{} {} {} {} {} {}",
            or_none(facts.member.map(|id| id.to_string())),
            facts.at,
            or_none(facts.connection.map(|id| id.to_string())),
            facts.service,
            facts.op,
            facts.code
        )
    }

    /// The receipt, where the row is what was put there as far as the row itself can say.
    pub fn receipt(&self) -> Option<Receipt> {
        let receipt = Receipt::read(&self.body).ok()?;
        let agrees = receipt.facts().bot == self.bot
            && receipt.seq() == self.seq
            && receipt.hash() == self.hash
            && Self::index_of(&receipt) == self.index;
        agrees.then_some(receipt)
    }
}

/// Something that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// The row is not what was put there: its bytes and its columns do not agree.
    Edited {
        /// Its number.
        seq: u64,
    },
    /// Receipts are missing.
    Gap {
        /// The first that is.
        from: u64,
        /// The last.
        to: u64,
    },
    /// The receipt names another as the one before it: one of the two was changed, moved or put there.
    Relinked {
        /// Its number.
        seq: u64,
    },
    /// The bot has signed another receipt of this number: it, or one before it, was changed and the hashes made anew.
    Rewritten {
        /// The last receipt before it that is as signed; 0 where none is.
        after: u64,
        /// The number that was signed.
        seq: u64,
    },
    /// The bot has signed receipts that are not there any more.
    Truncated {
        /// The first that is missing.
        from: u64,
        /// How far the bot has signed.
        to: u64,
    },
    /// A checkpoint that the bot did not sign.
    FalseCheckpoint {
        /// Where it stands, for people.
        place: String,
    },
}

/// What came of looking at a chain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdict {
    /// What is wrong, in the order of the numbers; at most a hundred.
    pub findings: Vec<Finding>,
    /// How many more findings there are.
    pub more: u64,
    /// How many receipts there are.
    pub receipts: u64,
    /// The number of the first.
    pub first: Option<u64>,
    /// The number of the last.
    pub last: Option<u64>,
    /// The last receipt that a checkpoint vouches for.
    pub covered: Option<u64>,
    /// How many places of the chain were signed, as the checkpoints say that were held against it.
    pub checkpoints: u64,
}

impl Verdict {
    /// Whether nothing is wrong as far as it can be known.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }

    /// How many receipts stand behind the last checkpoint: of those alone nobody could say that some were cut off.
    pub fn uncovered(&self) -> u64 {
        self.last
            .unwrap_or(0)
            .saturating_sub(self.covered.unwrap_or_else(|| self.first.unwrap_or(1).saturating_sub(1)))
    }
}

/// What stands before the next receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing that is there.
    Nothing,
    /// One that is not what was put there.
    Unreadable,
    /// This one.
    One(Head),
}

/// Looks at a chain.
#[derive(Debug)]
pub struct Verifier {
    bot: KeyId,
    /// What the bot has signed, by number; where it has signed two of one number, both.
    signed: BTreeMap<u64, Vec<Digest>>,
    /// Where what came before was removed on purpose: the last of these that is in place.
    anchors: BTreeMap<u64, Vec<Digest>>,
    before: Before,
    seen: u64,
    as_signed: u64,
    verdict: Verdict,
}

impl Verifier {
    /// Begins with all checkpoints that are known. Each is the bot's, since it was read with its key.
    pub fn new(bot: KeyId, checkpoints: impl IntoIterator<Item = Checkpoint>) -> Self {
        let (mut signed, mut anchors) =
            (BTreeMap::<u64, Vec<Digest>>::new(), BTreeMap::<u64, Vec<Digest>>::new());
        let mut count = 0;
        for checkpoint in checkpoints.into_iter().filter(|checkpoint| checkpoint.bot() == bot) {
            let Head { seq, hash } = checkpoint.head();
            let hashes = signed.entry(seq).or_default();
            // The store and the file have the same ones.
            if !hashes.contains(&hash) {
                hashes.push(hash);
                count += 1;
            }
            if checkpoint.covers() == Covers::Pruned {
                anchors.entry(seq).or_default().push(hash);
            }
        }
        let verdict = Verdict { checkpoints: count, ..Verdict::default() };
        Self { bot, signed, anchors, before: Before::Nothing, seen: 0, as_signed: 0, verdict }
    }

    /// Says that something which should be a checkpoint is none.
    pub fn false_checkpoint(&mut self, place: String) {
        self.found(Finding::FalseCheckpoint { place });
    }

    /// Takes the next row, by its number.
    pub fn row(&mut self, row: &Stored) {
        if row.bot != self.bot {
            return;
        }
        self.verdict.receipts += 1;
        self.verdict.first.get_or_insert(row.seq);
        if row.seq <= self.seen {
            return self.found(Finding::Relinked { seq: row.seq });
        }
        let Some(receipt) = row.receipt() else {
            self.missing_before(row.seq, None);
            self.found(Finding::Edited { seq: row.seq });
            self.step(row.seq, Before::Unreadable);
            return;
        };
        self.missing_before(row.seq, receipt.prev());
        let fits = match self.before {
            // The first that there is: what is before it is nobody's, or was removed on purpose.
            Before::Nothing => row.seq != 1 || receipt.prev().is_none(),
            // What cannot be read can be bound to nothing.
            Before::Unreadable => true,
            Before::One(head) => head.seq.saturating_add(1) != row.seq || receipt.prev() == Some(head.hash),
        };
        if !fits {
            self.found(Finding::Relinked { seq: row.seq });
        }
        self.held_against_what_is_signed(receipt.head());
        self.step(row.seq, Before::One(receipt.head()));
    }

    /// What came of it.
    pub fn finish(mut self) -> Verdict {
        let last = self.seen;
        let top = self.signed.last_key_value().map_or(0, |(seq, _)| *seq);
        if top > last {
            // What was removed on purpose left at least the receipt behind it.
            let pruned = self.anchors.last_key_value().map_or(0, |(seq, _)| *seq);
            let from = last.max(pruned).saturating_add(1);
            self.found(Finding::Truncated { from, to: top.max(from) });
        }
        self.verdict.last = (last > 0).then_some(last);
        self.verdict
    }

    fn step(&mut self, seq: u64, is: Before) {
        self.seen = seq;
        self.before = is;
    }

    /// Whether the receipts between the last one and this were removed on purpose.
    fn missing_before(&mut self, seq: u64, prev: Option<Digest>) {
        let expected = self.seen.saturating_add(1);
        if seq == expected {
            return;
        }
        let anchored = self.before == Before::Nothing
            && self
                .anchors
                .get(&seq.saturating_sub(1))
                .is_some_and(|hashes| prev.is_none_or(|prev| hashes.contains(&prev)));
        if anchored {
            self.as_signed = seq.saturating_sub(1);
        } else {
            self.found(Finding::Gap { from: expected, to: seq.saturating_sub(1) });
        }
    }

    fn held_against_what_is_signed(&mut self, head: Head) {
        let Some(hashes) = self.signed.get(&head.seq) else { return };
        // A bot that was set back to an earlier copy of its database has signed twice: only one of them can be here.
        if hashes.iter().all(|hash| *hash == head.hash) {
            self.as_signed = head.seq;
            self.verdict.covered = Some(head.seq);
        } else {
            self.found(Finding::Rewritten { after: self.as_signed, seq: head.seq });
        }
    }

    fn found(&mut self, finding: Finding) {
        if self.verdict.findings.len() < FINDINGS_MAX {
            self.verdict.findings.push(finding);
        } else {
            self.verdict.more += 1;
        }
    }
}

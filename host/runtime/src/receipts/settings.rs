//! What an operator sets for receipts.

/// What of the args stands in a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ArgsKept {
    /// Their keyed digest.
    #[default]
    Digest,
    /// And they themselves, secrets of the credential scrubbed.
    Whole,
}

/// When a checkpoint is due, whichever comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckpointEvery {
    /// So many receipts behind the last one.
    pub receipts: u64,
    /// So many seconds after the last one.
    pub seconds: i64,
}

impl Default for CheckpointEvery {
    fn default() -> Self {
        Self { receipts: 100, seconds: 60 }
    }
}

/// What an operator sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReceiptSettings {
    /// What of the args is kept.
    pub args: ArgsKept,
    /// How often the chain is signed.
    pub checkpoints: CheckpointEvery,
}

impl ReceiptSettings {
    /// Most receipts that may be left between two checkpoints.
    pub const RECEIPTS_MAX: u64 = 1_000_000;
    /// Most seconds.
    pub const SECONDS_MAX: i64 = 86_400;

    /// The same with checkpoints so often; `None` for what is no number of receipts or seconds, from 1 on.
    #[must_use]
    pub fn with_checkpoints(self, every: CheckpointEvery) -> Option<Self> {
        let fits = (1..=Self::RECEIPTS_MAX).contains(&every.receipts)
            && (1..=Self::SECONDS_MAX).contains(&every.seconds);
        fits.then_some(Self { checkpoints: every, ..self })
    }
}

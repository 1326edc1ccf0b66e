//! Keeping receipts: what a process of a bot's host knows of its part in the chain, the file beside the database, and the
//! work that goes over a chain: signing where it stands, looking whether it is sound, removing what is old.
//!
//! INVARIANT: a checkpoint is in the database, durably, before it is in the file: what the file vouches for was on the disk.

mod file;
mod hand;
mod keep;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pinhole_grant::{KeyId, Ring, UnixTime};
use tokio::sync::OnceCell;

pub use file::{CHECKPOINTS_FILE, CheckpointFile, Lines};
pub(crate) use keep::sign_at;
pub use keep::{KeepError, Pruned, checkpoint, prune, verify};

use self::hand::Hand;
use crate::entropy::Entropy;
use crate::receipts::{NoteId, ProcessId, ReceiptSettings};
use crate::store::{Appended, Marked, Store, StoreError};

/// An executor's hand in the receipts. Made once; its default keeps checkpoints in the store alone.
#[derive(Debug, Default)]
pub struct Book {
    settings: ReceiptSettings,
    signs: Signs,
    file: Option<CheckpointFile>,
    hand: OnceCell<Hand>,
    notes: AtomicU64,
    /// The last checkpoint that this process made or is making.
    marked: Mutex<Option<Marked>>,
}

/// Whether chains are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Signs {
    #[default]
    AsSet,
    /// The bot's key goes with the process: nobody could look at what it signed.
    Never,
}

impl Book {
    /// With what the operator set.
    pub fn new(settings: ReceiptSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Of a bot whose key goes with this process: its receipts are written and never signed.
    pub fn of_a_passing_key(settings: ReceiptSettings) -> Self {
        Self { settings, signs: Signs::Never, ..Self::default() }
    }

    /// Whether the chain is signed at all.
    pub(crate) fn signs(&self) -> bool {
        self.signs == Signs::AsSet
    }

    /// The same with each checkpoint in this file too.
    #[must_use]
    pub fn with_file(self, file: CheckpointFile) -> Self {
        Self { file: Some(file), ..self }
    }

    /// What the operator set.
    pub fn settings(&self) -> ReceiptSettings {
        self.settings
    }

    /// The file beside the database.
    pub fn file(&self) -> Option<&CheckpointFile> {
        self.file.as_ref()
    }

    /// This process, as its notes name it: at the first call it takes its place among those of the bot. Blocks away from the
    /// threads that serve other calls.
    pub(crate) async fn process(
        &self,
        store: &Arc<dyn Store>,
        bot: &Ring,
        entropy: &dyn Entropy,
    ) -> Result<ProcessId, StoreError> {
        let enter = async || {
            let mut random = [0; 8];
            // Without randomness the place alone tells it from others: nobody has the same at the same time.
            entropy.fill(&mut random).unwrap_or_default();
            let store = Arc::clone(store);
            let (own, former) = (bot.public().id(), formers(bot));
            let enter = move || {
                let hand = Hand::enter(store.as_ref(), own, random)?;
                // Those that ran under a key which the bot has given up.
                for former in former {
                    hand::clear_away(store.as_ref(), former, None);
                }
                Ok(hand)
            };
            let entered = tokio::task::spawn_blocking(enter).await;
            let failed = |source: tokio::task::JoinError| StoreError::Failed {
                doing: "take in a process",
                source: source.into(),
            };
            entered.map_err(failed)?
        };
        Ok(self.hand.get_or_try_init(enter).await?.process())
    }

    /// The next note of this process.
    pub(crate) fn note(&self, process: ProcessId) -> NoteId {
        process.note(self.notes.fetch_add(1, Ordering::Relaxed))
    }

    /// Whether the chain is to be signed where it stands now; whoever is told yes does it, and nobody else.
    pub(crate) fn is_due(&self, appended: &Appended, now: UnixTime) -> bool {
        if !self.signs() {
            return false;
        }
        let every = self.settings.checkpoints;
        let mut marked = self.marked.lock().unwrap_or_else(PoisonError::into_inner);
        let last = match (*marked, appended.checkpoint) {
            (Some(own), Some(other)) if own.seq >= other.seq => Some(own),
            (own, other) => other.or(own),
        };
        let due = last.is_none_or(|last| {
            // A clock that was set back makes it due too.
            let passed = now.secs_since(last.at).is_none_or(|passed| !(0..every.seconds).contains(&passed));
            let behind = appended.head.seq.saturating_sub(last.seq);
            behind >= every.receipts || (behind > 0 && passed)
        });
        if due {
            *marked = Some(Marked { seq: appended.head.seq, at: now });
        }
        due
    }
}

fn formers(bot: &Ring) -> Vec<KeyId> {
    bot.former().iter().map(|former| former.key().public().id()).collect()
}

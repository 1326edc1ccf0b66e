//! The load: reads, and writes under keys, each key posted twice; so many a second, and no more at once than the sidecar lets in.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use pinhole_client::{Call, Client, Outcome};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

/// Callers at once.
const CALLERS: u32 = 12;
/// Of so many calls the first two are a write and the same again.
const TURN: u64 = 5;

/// A load that runs.
pub(crate) struct Load {
    done: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    callers: JoinSet<anyhow::Result<Tally>>,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    reads: u64,
    writes: u64,
    /// Answered with what came of the first of the key.
    replayed: u64,
    /// Outcomes with a renewed pair for the member.
    handed_back: u64,
    refused: BTreeMap<String, u64>,
}

impl Load {
    pub(crate) fn begin(house: &crate::House, rate: u32) -> Self {
        let (done, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let mut callers = JoinSet::new();
        for number in 0..CALLERS {
            let caller = Caller {
                client: house.client(),
                read: Call::new("acme", "list_things", &house.read),
                write: Call::new("acme", "add_note", &house.write),
                number,
                every: Duration::from_secs(1) * CALLERS / rate,
            };
            callers.spawn(caller.run(Arc::clone(&done), Arc::clone(&stop)));
        }
        Self { done, stop, callers }
    }

    /// Calls that have ended.
    pub(crate) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    pub(crate) async fn end(mut self) -> anyhow::Result<Tally> {
        self.stop.store(true, Ordering::Relaxed);
        let mut all = Tally::default();
        while let Some(tally) = self.callers.join_next().await {
            all.add(tally??);
        }
        Ok(all)
    }
}

struct Caller {
    client: Client,
    read: Call,
    write: Call,
    number: u32,
    every: Duration,
}

impl Caller {
    async fn run(self, done: Arc<AtomicU64>, stop: Arc<AtomicBool>) -> anyhow::Result<Tally> {
        let (mut tally, mut turn, mut next) = (Tally::default(), 0_u64, Instant::now());
        while !stop.load(Ordering::Relaxed) {
            // One that is late is not made up for: what it costs is for another measure.
            next = (next + self.every).max(Instant::now());
            sleep_until(next).await;
            let is_write = turn % TURN < 2;
            let outcome = if is_write {
                let key = format!("{}-{}", self.number, turn / TURN);
                let args = json!({"text": key}).to_string();
                self.client.run(&self.write.clone().with_args(args).with_key(key)).await?
            } else {
                self.client.run(&self.read).await?
            };
            tally.count(is_write, &outcome);
            turn += 1;
            done.fetch_add(1, Ordering::Relaxed);
        }
        Ok(tally)
    }
}

impl Tally {
    fn count(&mut self, is_write: bool, outcome: &Outcome) {
        match outcome {
            Outcome::Refused(refusal) => *self.refused.entry(refusal.code.clone()).or_default() += 1,
            Outcome::Done(done) => {
                self.reads += u64::from(!is_write);
                self.writes += u64::from(is_write);
                self.replayed += u64::from(done.meta.replayed);
                self.handed_back += u64::from(done.rotated.is_some());
            }
        }
    }

    fn add(&mut self, other: Self) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.replayed += other.replayed;
        self.handed_back += other.handed_back;
        for (code, count) in other.refused {
            *self.refused.entry(code).or_default() += count;
        }
    }

    /// Nothing is refused, and of each key's two posts the second is a replay; the last of a caller's may lack its second.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults: Vec<String> = self
            .refused
            .iter()
            .map(|(code, count)| format!("{count} calls were refused: `{code}`"))
            .collect();
        let first = self.writes - self.replayed;
        if self.replayed == 0 || first < self.replayed || first - self.replayed > u64::from(CALLERS) {
            faults.push(format!("of {} writes {} were replays", self.writes, self.replayed));
        }
        faults
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reads, writes, replayed, handed_back, refused } = self;
        let refused: u64 = refused.values().sum();
        write!(
            f,
            "{reads} reads, {writes} writes ({replayed} replayed), {handed_back} pairs handed back, {refused} refused"
        )
    }
}

//! Ways of doing something, measured in turns, and the table of what came of it.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::future::LocalBoxFuture;

/// Rounds in which each way has its turn; figures are of the middle one.
const ROUNDS: usize = 7;
/// Calls that open connections and prepare statements, and are not counted.
const FIRST: usize = 50;

/// One call, by its number.
pub(crate) type Calling<'a> = Box<dyn Fn(usize) -> LocalBoxFuture<'a, anyhow::Result<()>> + 'a>;

/// One way of doing it.
pub(crate) struct Way<'a> {
    name: &'static str,
    at_once: usize,
    call: Calling<'a>,
    made: usize,
    rounds: Vec<Round>,
}

/// What one round gave.
#[derive(Debug, Clone, Copy)]
struct Round {
    /// Calls a second.
    rate: f64,
    p50: Duration,
    p99: Duration,
}

impl<'a> Way<'a> {
    pub(crate) fn new(name: &'static str, at_once: usize, call: Calling<'a>) -> Self {
        Self { name, at_once, call, made: 0, rounds: Vec::new() }
    }

    async fn round(&mut self, calls: usize) -> anyhow::Result<()> {
        self.run(FIRST).await?;
        let begun = Instant::now();
        let mut times = self.run(calls).await?;
        let taken = begun.elapsed();
        times.sort_unstable();
        let at = |per_mille: usize| times.get(times.len() * per_mille / 1000).copied().unwrap_or_default();
        let rate = f64::from(u32::try_from(times.len())?) / taken.as_secs_f64();
        self.rounds.push(Round { rate, p50: at(500), p99: at(990) });
        Ok(())
    }

    async fn run(&mut self, calls: usize) -> anyhow::Result<Vec<Duration>> {
        let call = &self.call;
        let one = |number: usize| async move {
            let begun = Instant::now();
            call(number).await.map(|()| begun.elapsed())
        };
        let numbers = self.made..self.made + calls;
        self.made += calls;
        let running = futures_util::stream::iter(numbers).map(one).buffer_unordered(self.at_once);
        running.collect::<Vec<_>>().await.into_iter().collect()
    }

    /// The middle of the rounds, and the least and the most.
    fn say(&self, of: fn(&Round) -> f64, decimals: usize) -> String {
        let mut all: Vec<f64> = self.rounds.iter().map(of).collect();
        all.sort_unstable_by(f64::total_cmp);
        let at = |at: usize| all.get(at).copied().unwrap_or_default();
        let (least, middle, most) = (at(0), at(all.len() / 2), at(all.len().saturating_sub(1)));
        format!("{middle:.decimals$} ({least:.decimals$} to {most:.decimals$})")
    }
}

/// So many calls that each way may make in all, where each round has so many.
pub(crate) fn most(calls: usize) -> usize {
    ROUNDS * (FIRST + calls)
}

/// Gives each way its turn in each round, and prints what came of them.
pub(crate) async fn table(title: &str, mut ways: Vec<Way<'_>>, calls: usize) -> anyhow::Result<()> {
    for _ in 0..ROUNDS {
        for way in &mut ways {
            way.round(calls).await?;
        }
    }
    println!("\n{title}, {ROUNDS} rounds of {calls} calls\n");
    println!("| | at once | calls a second | p50, ms | p99, ms |\n|---|---|---|---|---|");
    for way in &ways {
        let (name, at_once) = (way.name, way.at_once);
        let rate = way.say(|round| round.rate, 0);
        let (p50, p99) = (way.say(|round| ms(round.p50), 2), way.say(|round| ms(round.p99), 2));
        println!("| {name} | {at_once} | {rate} | {p50} | {p99} |");
    }
    Ok(())
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

//! Calls a second over fifty connections that are kept alive, of what touches no service; each beside the echo with a request
//! and an answer of the same lengths.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pinhole_tests::ORG;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::calls::{fill, said};
use crate::figures::{Rounds, millis, quantile};
use crate::house::{self, House};
use crate::pipe::good;
use crate::says::Door;
use crate::wire::Wire;

const CONNECTIONS: usize = 50;
const ROUNDS: usize = 7;
const SPAN: Duration = Duration::from_secs(2);

struct Subject {
    name: String,
    door: Door,
    request: Arc<[u8]>,
    bytes: usize,
    rate: Rounds,
    p50: Rounds,
    p99: Rounds,
}

impl Subject {
    async fn new(name: String, door: &Door, request: Vec<u8>) -> anyhow::Result<Self> {
        let mut wire = Wire::open(door.address).await?;
        let answer = wire.ask(&request).await?;
        good(answer)?;
        let bytes = answer.len();
        let (rate, p50, p99) = Default::default();
        Ok(Self { name, door: door.clone(), request: request.into(), bytes, rate, p50, p99 })
    }

    async fn round(&mut self) -> anyhow::Result<()> {
        let mut wires = Vec::new();
        for _ in 0..CONNECTIONS {
            wires.push(Wire::open(self.door.address).await?);
        }
        let began = Instant::now();
        let mut running = JoinSet::new();
        for wire in wires {
            running.spawn(calls(wire, Arc::clone(&self.request), self.bytes, began + SPAN));
        }
        let mut taken: Vec<Duration> = Vec::new();
        while let Some(ended) = running.join_next().await {
            taken.extend(ended??);
        }
        let seconds = began.elapsed().as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "some ten thousand")]
        self.rate.add(taken.len() as f64 / seconds);
        self.p50.add(millis(quantile(&taken, 0.5)));
        self.p99.add(millis(quantile(&taken, 0.99)));
        Ok(())
    }
}

async fn calls(
    mut wire: Wire,
    request: Arc<[u8]>,
    bytes: usize,
    end: Instant,
) -> anyhow::Result<Vec<Duration>> {
    let mut taken = Vec::new();
    loop {
        let began = Instant::now();
        if began >= end {
            return Ok(taken);
        }
        let answer = wire.ask(&request).await?;
        taken.push(began.elapsed());
        anyhow::ensure!(answer.len() == bytes, "another answer: {}", String::from_utf8_lossy(answer));
    }
}

pub(crate) fn measure(house: &House) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let home = house.few()?;
    let (_each, each) = home.over_http(&[])?;
    let (_search, search) = home.over_http(&["--tools", "search"])?;
    let (_echo, echo) = house::echo_over_http()?;
    let explained = json!({"op": "github.list_org_repos", "args": {"org": ORG}});
    let found = json!({"query": "list issues"});
    let pairs = [
        pair(&runtime, "explain", &each, &explained, &echo)?,
        pair(&runtime, "find_ops", &search, &found, &echo)?,
    ];
    let mut subjects: Vec<Subject> = pairs.into_iter().flatten().collect();
    for _ in 0..ROUNDS {
        for subject in &mut subjects {
            runtime.block_on(subject.round())?;
        }
    }
    println!("\nCalls over {CONNECTIONS} connections, no service; {ROUNDS} rounds of {SPAN:?} in turns\n");
    println!(
        "| what | bytes asked, answered | calls a second | p50, ms | p99, ms | of the echo |\n|---|---|---|---|---|---|"
    );
    for pair in subjects.chunks(2) {
        let echoed = pair.last().map_or(0.0, |echo| echo.rate.middle());
        for Subject { name, request, bytes, rate, p50, p99, .. } in pair {
            println!(
                "| {name} | {}, {bytes} | {} | {} | {} | {:.0} % |",
                request.len(),
                rate.say(0),
                p50.say(2),
                p99.say(2),
                rate.middle() / echoed * 100.0
            );
        }
    }
    Ok(())
}

/// A tool of Pinhole's and the echo that is as long.
fn pair(
    runtime: &Runtime,
    tool: &str,
    door: &Door,
    arguments: &Value,
    echo: &Door,
) -> anyhow::Result<[Subject; 2]> {
    runtime.block_on(async {
        let request = door.call(tool, arguments);
        let length = request.len();
        let subject = Subject::new(format!("`{tool}`"), door, request).await?;
        let mut wire = Wire::open(echo.address).await?;
        let fill = fill(&mut wire, |fill| echo.call("echo", &said(1, fill)), subject.bytes).await?;
        let short = echo.call("echo", &said(1, fill)).len();
        let request = echo.call("echo", &said(length.saturating_sub(short) + 1, fill));
        let echoed = Subject::new(format!("echo, as long as `{tool}`"), echo, request).await?;
        Ok([subject, echoed])
    })
}

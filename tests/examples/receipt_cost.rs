//! What receipts cost a read, in one run: the whole call with a canned answer, its state in files, with receipts and without
//! them, in turns, so that both meet the same machine.
//!
//! ```text
//! cargo run --release -p pinhole-tests --example receipt_cost
//! ```

use std::sync::Arc;
use std::time::{Duration, Instant};

use pinhole_runtime::store::{SqliteStore, Store};
use pinhole_tests::{Canned, Full, NoRoomFor, ORG, Setup, Stage};
use serde_json::json;

/// Calls in one turn.
const CALLS: u32 = 200;
/// Turns of each.
const TURNS: usize = 25;

async fn stage(store: Arc<dyn Store>) -> Stage {
    let mut stage = Setup { store, ..Setup::github() }.start().await;
    stage.executor.wire = std::sync::Arc::new(Canned::new("[]"));
    stage
}

async fn turn(stage: &Stage, grant: &[u8]) -> Duration {
    let args = json!({"org": ORG});
    let begun = Instant::now();
    for _ in 0..CALLS {
        let outcome = stage.run("github.list_org_repos", &args, grant).await;
        assert!(outcome.result().is_some(), "{}", outcome.to_json());
    }
    begun.elapsed() / CALLS
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let (one, other) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let open = |home: &tempfile::TempDir| Arc::new(SqliteStore::open_home(home.path()).expect("a store"));
    let with = stage(open(&one)).await;
    let without = stage(Arc::new(Full::over(open(&other), NoRoomFor::EitherSilently))).await;
    let (grant, other_grant) = (with.grant("github").seal(), without.grant("github").seal());
    let (mut with_times, mut without_times) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        with_times.push(turn(&with, &grant).await);
        without_times.push(turn(&without, &other_grant).await);
    }
    let (with, without) = (middle(with_times), middle(without_times));
    let more = with.saturating_sub(without);
    println!(
        "a read with receipts {with:?}, without {without:?}: {more:?} more, {:.2} times",
        with.as_secs_f64() / without.as_secs_f64()
    );
    Ok(())
}

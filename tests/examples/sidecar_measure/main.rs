//! What the sidecar costs, in one run and in turns: against bare `reqwest` and the runtime in the same process, each reading
//! one repository of a stand-in on loopback; then one sidecar on SQLite, one on PostgreSQL, and two on one PostgreSQL.
//!
//! ```text
//! cargo run --release -p pinhole-tests --example sidecar_measure [CALLS IN A ROUND]
//! ```
//!
//! Client, sidecars and service share this process, and PostgreSQL the machine: figures are for comparison with each other. Without
//! PostgreSQL that part is left out, and said.

mod doors;
mod figures;
mod houses;
mod stores;

use pinhole_tests::Setup;

/// Calls of one way in one round.
const CALLS: usize = 1_000;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let calls = std::env::args().nth(1).map_or(Ok(CALLS), |text| text.parse())?;
    let stage = Setup::github().start().await;
    doors::measure(&stage, calls).await?;
    stores::measure(&stage, calls).await
}

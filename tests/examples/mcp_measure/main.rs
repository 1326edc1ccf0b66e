//! Pinhole's MCP server against another one that wraps the same API, and against the least that one can be: in one run, on
//! one machine, by one client, in turns.
//!
//! ```sh
//! cargo build --release --workspace --bin pinhole --examples
//! target/release/examples/mcp_measure [starts] [calls] [rates] [memory]
//! ```
//!
//! The other is `awslabs-openapi-mcp-server`, looked for in `.ci-tools/openapi-mcp`, an environment of Python's; where it
//! is not, its rows are missing and this says so. The least is the example `mcp_echo`. Every figure is the middle of its
//! rounds, and beside it the least and the most. Everything is on loopback. What differs between the servers is said in
//! docs/performance.md, which has the figures.

mod calls;
mod figures;
mod house;
mod many;
mod memory;
mod pipe;
mod rates;
mod says;
mod starts;
mod wire;

use pinhole_standin::{Config, GithubWorld, Standin, World};
use pinhole_tests::ORG;

use house::House;

/// Repositories on the page of about 93 KB.
const PER_PAGE: usize = 16;

fn main() -> anyhow::Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|one| one == name);
    // Services answer in a thread of their own; what asks is in this one.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let page = runtime.block_on(page())?;
    println!("the page of the service has {} bytes", page.len());
    let house = House::new(page, runtime)?;
    if house.other("listing", &many::listing())?.is_none() {
        println!("SKIPPED: the rows of the other server: there is none in .ci-tools/openapi-mcp");
    }
    if is_wanted("starts") {
        starts::measure(&house)?;
    }
    if is_wanted("calls") {
        calls::measure(&house)?;
    }
    if is_wanted("rates") {
        rates::measure(&house)?;
    }
    if is_wanted("memory") {
        memory::measure(&house)?;
    }
    Ok(())
}

/// A page of the made-up world.
async fn page() -> anyhow::Result<bytes::Bytes> {
    let standin = Standin::start(Config::new(World::Github(GithubWorld::default()))).await?;
    let client = calls::bare(&standin)?;
    let url = format!("https://api.github.com/orgs/{ORG}/repos?per_page={PER_PAGE}");
    Ok(client.get(url).bearer_auth("any").send().await?.error_for_status()?.bytes().await?)
}

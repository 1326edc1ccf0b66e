//! Picks five fields out of 50 MB of rows as they stream by, for a look at what that takes.
//!
//! `cargo run --release -p pinhole-runtime --example long_page -- 50000000`; with `0` it does the same for no rows, for
//! comparison. Memory: put `/usr/bin/time -v` before the binary. Allocations: `valgrind` before it counts them.

use std::time::Instant;

use anyhow::Context as _;
use pinhole_manifest::OpId;
use pinhole_manifest::pick::Pick;
use pinhole_runtime::project::project;
use pinhole_runtime::project::prune::{Plan, Pruner};

const MANIFEST: &str = r#"{
    "pinhole": 1, "id": "rows", "version": "1.0.0", "name": "Rows", "summary": "Rows.",
    "host": "api.rows.dev", "auth": { "scheme": "bearer" },
    "ops": { "list": { "access": "read", "summary": "Lists.", "request": { "method": "GET", "path": "/" },
        "pick": { "fields": ["id", "name", "full_name", "private", "language"] } } }
}"#;

/// A row of 74 members, most of them addresses.
fn row() -> String {
    let urls = (0..69).map(|url| {
        format!("    \"member_{url:02}_url\": \"https://api.rows.dev/rows/17/{url}{{/more}}\",\n")
    });
    let own = r#"    "id": 17,
    "name": "row-17",
    "full_name": "rows/row-17",
    "private": false,
    "language": "Rust"
  }"#;
    format!("  {{\n{}{own}", urls.collect::<String>())
}

#[expect(clippy::print_stdout, reason = "the point of this program")]
fn main() -> anyhow::Result<()> {
    let size: usize = std::env::args().nth(1).context("say how many bytes")?.parse()?;
    let manifest =
        pinhole_manifest::read(MANIFEST.as_bytes()).into_result().ok().context("a manifest that loads")?;
    let op = manifest.op(&OpId::parse("list")?).context("its op")?;
    let Pick::Fields(projection) = &op.pick else { anyhow::bail!("it picks fields") };
    let plan = Plan::new(Some(projection), []);
    let mut pruner = Pruner::new(&plan);
    let row = row();
    let (mut fed, mut rows) = (0_usize, 0_usize);
    let started = Instant::now();
    pruner.feed(b"[\n")?;
    while fed < size {
        if rows > 0 {
            pruner.feed(b",\n")?;
        }
        pruner.feed(row.as_bytes())?;
        fed = fed.saturating_add(row.len());
        rows = rows.saturating_add(1);
    }
    pruner.feed(b"\n]")?;
    let picked = project(pruner.finish()?, projection)?.value;
    let spent = started.elapsed();
    println!("{rows} rows, {fed} bytes in, {} bytes of picked JSON, {spent:?}", picked.compact_len());
    Ok(())
}

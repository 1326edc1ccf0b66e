//! A sidecar under load for minutes: the binary itself, reads and keyed writes under a pair that is renewed every few seconds.
//! Fails where memory, file handles, threads or what a run leaves in the database still grow after the first third.
//!
//! ```sh
//! cargo build --release --workspace --bin pinhole --examples
//! target/release/examples/sidecar_soak --pinhole target/release/pinhole [--minutes 10] [--rate 200]
//! ```
//!
//! Linux alone: it reads `/proc`. Everything is on loopback. `tests/wide/soak` builds and runs it.

mod house;
mod load;
mod watch;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use house::House;
use load::Load;
use watch::Watch;

/// How often is looked.
const EVERY: Duration = Duration::from_secs(2);

/// What is asked for.
struct Wanted {
    pinhole: PathBuf,
    minutes: f64,
    /// Calls a second.
    rate: u32,
}

impl Wanted {
    fn read() -> anyhow::Result<Self> {
        let mut wanted = Self { pinhole: PathBuf::new(), minutes: 10.0, rate: 200 };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let value = words.next().with_context(|| format!("`{word}` wants a value"))?;
            match word.as_str() {
                "--pinhole" => wanted.pinhole = std::path::absolute(&value)?,
                "--minutes" => wanted.minutes = value.parse()?,
                "--rate" => wanted.rate = value.parse()?,
                _ => bail!("`{word}` is not known: --pinhole FILE, --minutes N, --rate N"),
            }
        }
        if !wanted.pinhole.is_file() {
            bail!("say where the binary is: `--pinhole FILE`");
        }
        if !wanted.minutes.is_finite() || wanted.minutes <= 0.0 || wanted.rate == 0 {
            bail!("`--minutes` and `--rate` are more than 0");
        }
        Ok(wanted)
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let wanted = Wanted::read()?;
    let mut house = House::new(&wanted.pinhole).await?;
    println!("{} minutes at {} calls a second, a pair of 5 seconds\n", wanted.minutes, wanted.rate);
    let load = Load::begin(&house, wanted.rate);
    let (begun, length) = (Instant::now(), Duration::from_secs_f64(wanted.minutes * 60.0));
    let mut watch = Watch::default();
    while begun.elapsed() < length {
        tokio::time::sleep(EVERY).await;
        watch.look(begun.elapsed(), house.process()?, house.home(), load.done())?;
    }
    let tally = load.end().await?;
    watch.print();
    println!("\n{tally}; {} renewals, {} families ended", house.renewals(), house.dead_families());
    let mut faults = watch.faults();
    faults.extend(tally.faults());
    // Half of what is due, for a machine that has much else to do.
    let due = length.as_secs() / 10;
    if u64::try_from(house.renewals())? < due || house.dead_families() > 0 {
        faults.push("the pair was not renewed again and again, or was lost".to_owned());
    }
    faults.extend(house.stop()?);
    for fault in &faults {
        println!("FAULT: {fault}");
    }
    if faults.is_empty() { Ok(()) } else { bail!("{} faults", faults.len()) }
}

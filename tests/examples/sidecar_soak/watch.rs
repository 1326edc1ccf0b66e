//! What a process takes, looked at again and again, and whether it still grows when it should not.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;

/// By how much memory may grow from the second third to the last, in bytes for each call made between their middles. It is what
/// is resident and not mapped from a file: the binary itself would hide what grows. What is warm after the first third stays
/// within a few hundred KiB, so what would leak a hundred bytes a call shows.
const MEMORY_A_CALL: f64 = 50.0;
/// So many calls between the middles at least: of fewer that noise is too much.
const CALLS_MIN: f64 = 20_000.0;
/// How many more open files there may be in the last third than in the second, and threads: a busy machine has more calls wait for
/// the database at once, each on a thread.
const FILES_MORE: f64 = 2.0;
const THREADS_MORE: f64 = 10.0;
/// How much more a call may leave in the database in the last third than in the second, in percent.
const DATABASE_PERCENT: f64 = 15.0;
/// Lines of the table.
const LINES: usize = 15;

/// One look.
#[derive(Debug, Clone, Copy)]
struct Look {
    at: Duration,
    /// Resident memory that is not mapped from a file, KiB.
    kib: f64,
    files: f64,
    threads: f64,
    /// The file and its log, KiB.
    database: f64,
    calls: f64,
}

/// All looks.
#[derive(Debug, Default)]
pub(crate) struct Watch(Vec<Look>);

impl Watch {
    pub(crate) fn look(&mut self, at: Duration, process: u32, home: &Path, calls: u64) -> anyhow::Result<()> {
        let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
        let line = |name: &str| -> anyhow::Result<f64> {
            let found = status.lines().find_map(|line| line.strip_prefix(name));
            let word = found.and_then(|rest| rest.split_whitespace().next());
            Ok(word.with_context(|| format!("no `{name}`"))?.parse()?)
        };
        let files = std::fs::read_dir(format!("/proc/{process}/fd"))?.count();
        let bytes = |name: &str| std::fs::metadata(home.join(name)).map_or(0, |file| file.len());
        let database = (bytes("pinhole.db") + bytes("pinhole.db-wal")) / 1024;
        self.0.push(Look {
            at,
            kib: line("RssAnon:")?,
            threads: line("Threads:")?,
            files: u32::try_from(files)?.into(),
            database: u32::try_from(database)?.into(),
            calls: u32::try_from(calls)?.into(),
        });
        Ok(())
    }

    pub(crate) fn print(&self) {
        println!(
            "| second | calls | memory, KiB | files | threads | database, KiB |\n|---|---|---|---|---|---|"
        );
        let every = self.0.len().div_ceil(LINES).max(1);
        for look in self.0.iter().skip(every - 1).step_by(every) {
            let Look { at, kib, files, threads, database, calls } = look;
            println!("| {} | {calls} | {kib} | {files} | {threads} | {database} |", at.as_secs());
        }
    }

    /// What grew.
    pub(crate) fn faults(&self) -> Vec<String> {
        let third = self.0.len() / 3;
        if third < 2 {
            return vec!["too short to tell".to_owned()];
        }
        let [second, last] = [1, 2].map(|at| &self.0[at * third..(at + 1) * third]);
        let of = |what: fn(&Look) -> f64| [second, last].map(|looks| mean(looks, what));
        let [kib, files, threads] = [of(|look| look.kib), of(|look| look.files), of(|look| look.threads)];
        let database = [second, last].map(a_call);
        let more = |[before, after]: [f64; 2]| after - before;
        let calls = more(of(|look| look.calls));
        let percent = |[before, after]: [f64; 2]| (after / before - 1.0) * 100.0;
        let rows = [
            ("memory, KiB", kib, "bytes a call", more(kib) * 1024.0 / calls, MEMORY_A_CALL),
            ("open files", files, "", more(files), FILES_MORE),
            ("threads", threads, "", more(threads), THREADS_MORE),
            ("bytes of the database a call", database, "%", percent(database), DATABASE_PERCENT),
        ];
        println!("\n| | second third | last third | grew by | may |\n|---|---|---|---|---|");
        let mut faults = Vec::new();
        for (name, [before, after], unit, grew, may) in rows {
            println!("| {name} | {before:.1} | {after:.1} | {grew:.1} {unit} | {may} {unit} |");
            // What cannot be told is no proof either.
            if !grew.is_finite() || grew > may {
                faults.push(format!("{name}: from {before:.1} to {after:.1}"));
            }
        }
        if calls < CALLS_MIN {
            faults.push(format!(
                "{calls} calls from the middle of one third to that of the next are too few to tell"
            ));
        }
        faults
    }
}

fn mean(looks: &[Look], what: fn(&Look) -> f64) -> f64 {
    looks.iter().map(what).sum::<f64>() / looks.iter().map(|_look| 1.0).sum::<f64>()
}

/// Bytes that the database grew by, for each call.
fn a_call(looks: &[Look]) -> f64 {
    let (Some(first), Some(last)) = (looks.first(), looks.last()) else { return f64::NAN };
    (last.database - first.database) * 1024.0 / (last.calls - first.calls)
}

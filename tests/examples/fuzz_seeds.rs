//! Writes what the fuzz targets begin with into `fuzz/corpus`: the vectors of manifests, the manifests of the project, the
//! args and the answers of its cases, and sound inputs of every kind. Nothing of it is committed.
//!
//! `cargo run -p pinhole-tests --example fuzz_seeds`

#[path = "../../registry/manifest/tests/common/mod.rs"]
mod common;

use std::fs;
use std::path::{Path, PathBuf};

use pinhole_tests::holds;
use serde_json::Value;

/// Longer seeds slow a fuzzer down more than they teach it.
const SEED_BYTES_MAX: usize = 32 << 10;

struct Corpus {
    folder: PathBuf,
    written: usize,
}

impl Corpus {
    fn new(root: &Path, target: &str) -> Self {
        let folder = root.join("fuzz/corpus").join(target);
        fs::create_dir_all(&folder).expect("a folder for the seeds");
        Self { folder, written: 0 }
    }

    fn add(&mut self, name: &str, bytes: &[u8]) {
        if bytes.len() <= SEED_BYTES_MAX {
            fs::write(self.folder.join(name.replace('/', "_")), bytes).expect("a seed that is written");
            self.written += 1;
        }
    }

    fn add_all(&mut self, seeds: Vec<(String, Vec<u8>)>) {
        for (name, bytes) in seeds {
            self.add(&name, &bytes);
        }
    }
}

/// The JSON files below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in
        fs::read_dir(folder).expect("a folder of the project").map(|entry| entry.expect("an entry").path())
    {
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the root of the project");
    let mut manifest = Corpus::new(root, "manifest");
    for vector in common::vectors() {
        let judged = if vector.expect.is_empty() { "loads" } else { "fails" };
        manifest.add(&format!("{judged}_{}", vector.name), &vector.bytes);
    }
    manifest.add_all(holds::manifest_seeds());
    let mut args = Corpus::new(root, "args_to_request");
    args.add_all(holds::args_seeds());
    let mut prune = Corpus::new(root, "prune");
    prune.add_all(holds::prune_seeds());
    let mut grant = Corpus::new(root, "grant");
    grant.add_all(holds::grant_seeds());
    let mut page_token = Corpus::new(root, "page_token");
    page_token.add_all(holds::page_token_seeds());
    let mut ask = Corpus::new(root, "ask");
    ask.add_all(holds::ask_seeds());
    let mut token_answer = Corpus::new(root, "token_answer");
    token_answer.add_all(holds::token_answer_seeds());
    let mut proposal = Corpus::new(root, "proposal");
    proposal.add_all(holds::proposal_seeds());
    for (place, path) in files(&root.join("manifests")).into_iter().enumerate() {
        let bytes = fs::read(&path).expect("a file of the project");
        if path.ends_with("manifest.json") {
            manifest.add(&format!("project_{place}"), &bytes);
            continue;
        }
        let case: Value = serde_json::from_slice(&bytes).expect("a case");
        for (number, exchange) in case["exchanges"].as_array().into_iter().flatten().enumerate() {
            let body = exchange["response"]["body"].to_string();
            prune.add(&format!("case_{place}_{number}"), &[&[7, 7, 1], body.as_bytes()].concat());
        }
    }
    for corpus in [manifest, args, prune, grant, page_token, ask, token_answer, proposal] {
        println!("{}: {} seeds", corpus.folder.display(), corpus.written);
    }
}

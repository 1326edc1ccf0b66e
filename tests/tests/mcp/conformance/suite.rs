//! The suite itself: npm `@modelcontextprotocol/conformance`, started as its users start it, and what it wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use pinhole_tests::tool;
use serde_json::Value;
use tokio::process::Command;

/// Where npm puts it below the folder of tools.
const PACKAGE: &str = "mcp/node_modules/@modelcontextprotocol/conformance";
/// How long a name's end is that says when it was: `-2026-11-30T18-21-25-330Z`.
const WHEN: usize = 25;

/// What did not simply succeed: scenario, check, how it came out, in words.
pub(super) type Odd = BTreeMap<(String, String), String>;

/// What a run of the suite came to.
pub(super) struct Run {
    /// The scenarios that count.
    pub(super) scored: BTreeSet<String>,
    /// Those of them that were run.
    pub(super) ran: BTreeSet<String>,
    /// Their checks that succeeded.
    pub(super) passed: usize,
    /// Their checks that failed, warned or were skipped.
    pub(super) odd: Odd,
}

/// The suite and a Node that runs it; `None` and a loud word where they are missing, but for CI.
pub(super) struct Suite {
    node: PathBuf,
    package: PathBuf,
}

impl Suite {
    pub(super) fn find(test: &str) -> Option<Self> {
        let package = tool(test, PACKAGE)?;
        let node = tool(test, "mcp/node_modules/node/bin/node")?;
        Some(Self { node, package })
    }

    /// Runs all that a revision of the protocol requires against a server.
    pub(super) async fn run(&self, url: &str, revision: &str) -> Run {
        self.started(url, &["--requirements", revision], required(&self.package, revision)).await
    }

    /// Runs one scenario, as a revision has it.
    pub(super) async fn run_one(&self, url: &str, scenario: &str, revision: &str) -> Run {
        let flags = ["--scenario", scenario, "--spec-version", revision];
        self.started(url, &flags, [scenario.to_owned()].into()).await
    }

    async fn started(&self, url: &str, flags: &[&str], scored: BTreeSet<String>) -> Run {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(&self.node);
        command.arg(self.package.join("dist/index.js")).args(["server", "--url", url]).args(flags);
        let output = command.arg("-o").arg(folder.path()).output().await.expect("the suite starts");
        let (mut ran, mut passed, mut odd) = (BTreeSet::new(), 0, Odd::new());
        for entry in std::fs::read_dir(folder.path()).expect("results") {
            let entry = entry.expect("a result");
            let name = entry.file_name().into_string().expect("a name");
            let scenario = &name["server-".len()..name.len() - WHEN];
            if !scored.contains(scenario) {
                continue;
            }
            ran.insert(scenario.to_owned());
            let checks = std::fs::read_to_string(entry.path().join("checks.json")).expect("checks");
            for check in serde_json::from_str::<Vec<Value>>(&checks).expect("checks") {
                let text = |name: &str| check[name].as_str().unwrap_or_default().to_owned();
                match text("status").as_str() {
                    "SUCCESS" | "INFO" => passed += 1,
                    status => {
                        let what = format!("{status}: {}", text("errorMessage"));
                        odd.insert((scenario.to_owned(), text("id")), what);
                    }
                }
            }
        }
        assert!(!ran.is_empty(), "the suite did not run: {}", String::from_utf8_lossy(&output.stderr));
        Run { scored, ran, passed, odd }
    }
}

/// The scenarios that a revision requires of a server, as the suite's own list has them.
fn required(package: &Path, revision: &str) -> BTreeSet<String> {
    let list =
        std::fs::read_to_string(package.join(format!("requirements/{revision}.yaml"))).expect("a list");
    let servers = list.lines().skip_while(|line| *line != "server:").skip(1);
    let names = servers.map_while(|line| line.strip_prefix("  - "));
    names.map(|name| name.trim().to_owned()).collect()
}

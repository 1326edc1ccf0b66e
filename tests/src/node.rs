//! Servers and tools of other people's making, in Node: started for a test, ended with it.
//!
//! The scripts are in `tests/wide`, the packages in the folder `.ci-tools`, which `.ci/run` fills. Without Node or the
//! package a test is skipped with a loud word; in CI their absence is a failure. INVARIANT: a server ends when the test
//! does, for it reads its end from its stdin.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// A running server.
#[derive(Debug)]
pub struct NodeServer {
    child: Child,
    addrs: Vec<SocketAddr>,
}

impl NodeServer {
    /// Starts `tests/wide/SCRIPT` with the folder of packages and these args, and waits until it says where it listens.
    /// `None` and a loud word where Node or the package is missing, but for CI, where that is a failure.
    pub fn start(test: &str, package: &str, script: &str, args: &[&str]) -> Option<Self> {
        Self::start_of(test, &node_tools(test, package)?, script, args)
    }

    /// The same with packages of another folder.
    pub fn start_of(test: &str, tools: &Path, script: &str, args: &[&str]) -> Option<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("wide").join(script);
        let mut command = Command::new("node");
        command.arg(script).arg(tools).args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return missing(test, &format!("node does not start ({error})")),
        };
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        stdout.read_line(&mut line).expect("a line");
        let Ok(said) = serde_json::from_str::<Value>(&line) else {
            let mut why = String::new();
            child.stderr.take().expect("a pipe").read_to_string(&mut why).expect("text");
            panic!("{test}: the server did not start: {line}{why}");
        };
        drain(stdout);
        drain(child.stderr.take().expect("a pipe"));
        let port = |port: &Value| u16::try_from(port.as_u64().expect("a port")).expect("a port");
        let ports = said["ports"].as_array().expect("ports").iter().map(port);
        let addrs = ports.map(|port| SocketAddr::from(([127, 0, 0, 1], port))).collect();
        Some(Self { child, addrs })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        *self.addrs.first().expect("a server listens")
    }
}

impl Drop for NodeServer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // It may have ended by itself already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Reads to the end what nobody looks at, so that the writer never waits.
fn drain(mut pipe: impl std::io::Read + Send + 'static) {
    std::thread::spawn(move || std::io::copy(&mut pipe, &mut std::io::sink()));
}

/// The folder whose `node_modules` has this package. `None` and a loud word where it is missing, but for CI, where that is
/// a failure.
pub fn node_tools(test: &str, package: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let folder = root.join(".ci-tools");
    if folder.join("node_modules").join(package).is_dir() {
        return Some(folder);
    }
    missing(test, &format!("{} has no npm `{package}`; `.ci/run` installs it", folder.display()))
}

/// What is at a path below the folder of tools. `None` and a loud word where it is missing, but for CI, where that is a
/// failure.
pub fn tool(test: &str, path: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let found = root.join(".ci-tools").join(path);
    if found.exists() {
        return Some(found);
    }
    missing(test, &format!("{} is not there; `.ci/run` installs it", found.display()))
}

/// Says loudly that a test is skipped and why; in CI that is a failure.
#[expect(clippy::disallowed_methods, reason = "CI says by the environment that nothing may be skipped")]
pub fn missing<T>(test: &str, what: &str) -> Option<T> {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{test}: {what}");
    eprintln!("SKIPPED: {test}: {what}");
    None
}

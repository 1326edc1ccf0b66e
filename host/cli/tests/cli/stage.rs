//! A stand-in that runs in the test's process, for the binary to dial.

use pinhole_standin::{Authority, Config, GithubWorld, Reply, Route, Standin, World};
use serde_json::{Value, json};

use crate::home::{Home, KEY};

/// An op that reads, with args that the stand-in's world answers.
pub(crate) const READ: [&str; 5] =
    ["github.get_repo", "--arg", "owner=pinhole-demo", "--arg", "repo=lantern"];

/// An op that writes, and its args.
pub(crate) const WRITE: [&str; 7] = [
    "github.create_issue",
    "--arg",
    "owner=pinhole-demo",
    "--arg",
    "repo=lantern",
    "--arg",
    "title=The lamp flickers",
];

/// The same args as JSON, as an approval takes them.
pub(crate) const WRITE_ARGS: &str =
    r#"{"title":"The lamp flickers","repo":"lantern","owner":"pinhole-demo"}"#;

/// A stand-in of GitHub's API that expects [`KEY`].
pub(crate) struct Stage {
    pub(crate) standin: Standin,
    /// Dropped last: the stand-in runs on it.
    _runtime: tokio::runtime::Runtime,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let world = GithubWorld { repositories: 3, ..GithubWorld::default() };
        Self::with(Config { token: Some(KEY.to_owned()), ..Config::new(World::Github(world)) })
    }

    /// One that says `viewer` of whoever asks, whatever key she has, and knows the repository of [`READ`].
    pub(crate) fn of_viewer(viewer: &Value) -> Self {
        let repository = json!({"id": 7, "full_name": "pinhole-demo/lantern", "archived": false});
        Self::with(Config::new(World::Fixed(vec![
            Route::get("/user", Reply::json(200, viewer)),
            Route::get("/repos/pinhole-demo/lantern", Reply::json(200, &repository)),
        ])))
    }

    pub(crate) fn with(config: Config) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let standin = runtime.block_on(Standin::start(config)).unwrap();
        Self { standin, _runtime: runtime }
    }

    /// The flags that make the binary dial it for a host.
    pub(crate) fn dial_for(&self, host: &str, home: &Home) -> Vec<String> {
        let mut ca = home.path("ca.pem").to_str().unwrap().to_owned();
        // Not written again where it is there: another process may be reading it.
        if std::fs::read_to_string(&ca).ok().as_deref() != Some(self.standin.ca_pem()) {
            ca = home.write("ca.pem", self.standin.ca_pem());
        }
        let resolve = format!("{host}:443:127.0.0.1:{}", self.standin.addr().port());
        vec!["--resolve".to_owned(), resolve, "--ca-cert".to_owned(), ca]
    }

    /// `run WHAT…` against it.
    pub(crate) fn args<'a>(&self, home: &Home, what: &[&'a str]) -> Args<'a> {
        Args { what: what.to_vec(), dial: self.dial_for("api.github.com", home) }
    }

    pub(crate) fn connections(&self) -> usize {
        self.standin.connections()
    }

    /// The keys that came with requests, in their order.
    pub(crate) fn keys(&self) -> Vec<String> {
        let requests = self.standin.requests();
        let key = |seen: &pinhole_standin::Seen| seen.header("authorization").unwrap_or_default().to_owned();
        requests.iter().map(key).map(|header| header.replace("Bearer ", "")).collect()
    }

    pub(crate) fn requests(&self) -> usize {
        self.standin.requests().len()
    }
}

/// The words of a command line, owned where they must be.
pub(crate) struct Args<'a> {
    what: Vec<&'a str>,
    dial: Vec<String>,
}

impl Args<'_> {
    pub(crate) fn words(&self) -> Vec<&str> {
        self.what.iter().copied().chain(self.dial.iter().map(String::as_str)).collect()
    }
}

/// The CA of somebody else.
pub(crate) fn other_ca(home: &Home) -> String {
    home.write("other-ca.pem", Authority::new().unwrap().pem())
}

//! A GitHub-shaped world that it makes itself: an organisation, its repositories, their issues.
//!
//! Everything comes from a seed, so that two runs see the same; nothing names a real person or organisation. What a
//! client writes stays until the stand-in ends. Shapes follow GitHub's published REST description; rate limits are
//! counted but never run out. Sorting is not offered: `sort` and `direction` are read over.

mod activity;
mod issue;
mod object;
mod page;
mod people;
mod repository;
mod routes;
mod search;
mod seed;
mod tracker;
mod write;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use http::StatusCode;

use crate::Reply;
use crate::log::Seen;

use issue::Issue;
use people::{Account, Kind};
use repository::Repository;
use seed::PRESENT;

/// How a made-up world is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GithubWorld {
    /// The same seed gives the same world.
    pub seed: u64,
    /// The organisation's login.
    pub organisation: String,
    /// How many repositories it has: 250 by default, three pages of 100.
    pub repositories: usize,
    /// How many issues and pull requests each repository begins with.
    pub issues: u64,
}

impl GithubWorld {
    /// The login that the key belongs to.
    pub const VIEWER: &'static str = "demo-wren";
    /// The name of the organisation's first repository.
    pub const REPOSITORY: &'static str = "lantern";
    /// The number of the issue, in the first repository, into which somebody pasted a log of 300 KB.
    pub const LONG_ISSUE: u64 = 1;
    /// The organisation's numeric id, which is in its `Link` headers.
    pub const ORGANISATION_ID: u64 = 90_210_417;
}

impl Default for GithubWorld {
    fn default() -> Self {
        Self { seed: 1, organisation: "pinhole-demo".to_owned(), repositories: 250, issues: 8 }
    }
}

/// A world that has been made.
pub(crate) struct Github {
    seed: u64,
    base: String,
    organisation: Account,
    people: Vec<Account>,
    /// The organisation's, then the viewer's own.
    repositories: Vec<Repository>,
    /// How many of them are the organisation's.
    organisations: usize,
    first_issues: u64,
    state: Mutex<State>,
    /// Listing pages by query, so that a page of 600 KB is written once.
    pages: Mutex<HashMap<String, Reply>>,
}

/// What changes.
struct State {
    /// By the repository's id; made when first asked for.
    issues: BTreeMap<u64, Vec<Issue>>,
    now: i64,
    next_id: u64,
    requests: u64,
}

/// How many listing pages are kept.
const PAGES_KEPT: usize = 32;

/// How many repositories the viewer has.
const OWN: usize = 5;

impl Github {
    pub(crate) fn new(world: &GithubWorld, host: &str) -> Self {
        let base = format!("https://{host}");
        let people = Account::people();
        let organisation = Account {
            login: world.organisation.clone(),
            id: GithubWorld::ORGANISATION_ID,
            kind: Kind::Organisation,
        };
        let make = |owner: &Account, index| Repository::new(world.seed, &base, owner, index);
        let mut repositories: Vec<Repository> =
            (0..world.repositories).map(|index| make(&organisation, index)).collect();
        if let Some(viewer) = people.first() {
            repositories.extend((1..=OWN).map(|index| make(viewer, index)));
        }
        Self {
            seed: world.seed,
            base,
            organisation,
            people,
            repositories,
            organisations: world.repositories,
            first_issues: world.issues,
            state: Mutex::new(State {
                issues: BTreeMap::new(),
                now: PRESENT,
                next_id: 4_000_000_001,
                requests: 0,
            }),
            pages: Mutex::default(),
        }
    }

    /// Answers a request as GitHub would, headers and compression included.
    pub(crate) fn reply(&self, seen: &Seen) -> Reply {
        let reply = if seen.header("user-agent").is_none_or(str::is_empty) {
            Reply::new(
                403,
                "Request forbidden by administrative rules. Please make sure your request has a User-Agent header.\n",
            )
            .header("content-type", "text/html; charset=utf-8")
        } else {
            self.route(seen)
        };
        self.dressed(reply, seen)
    }

    /// Puts on what every reply of GitHub has: rate limits, a tag, a request id, and gzip where it is taken.
    fn dressed(&self, reply: Reply, seen: &Seen) -> Reply {
        let number = self.with_state(|state| {
            state.requests = state.requests.saturating_add(1);
            state.requests
        });
        let used = number.min(4999);
        let reply = reply
            .header("server", "github.com")
            .header("cache-control", "private, max-age=60, s-maxage=60")
            .header("x-github-media-type", "github.v3; format=json")
            .header("x-github-api-version-selected", "2022-11-28")
            .header("x-github-request-id", &format!("D3A0:{number:06X}"))
            .header("x-ratelimit-limit", "5000")
            .header("x-ratelimit-used", &used.to_string())
            .header("x-ratelimit-remaining", &5000_u64.saturating_sub(used).to_string())
            .header("x-ratelimit-reset", &PRESENT.saturating_add(3600).to_string())
            .header(
                "x-ratelimit-resource",
                if seen.path.starts_with("/search/") { "search" } else { "core" },
            );
        let tag = (seen.method == "GET" && reply.status.is_success()).then(|| reply.tag());
        let reply = match tag {
            Some(tag) if seen.header("if-none-match") == Some(tag.as_str()) => {
                let mut unchanged = reply.with_body("");
                unchanged.status = StatusCode::NOT_MODIFIED;
                return unchanged.header("etag", &tag);
            }
            Some(tag) => reply.header("etag", &tag),
            None => reply,
        };
        let takes_gzip = seen.header("accept-encoding").is_some_and(|value| value.contains("gzip"));
        if takes_gzip { reply.packed() } else { reply }
    }

    fn with_state<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A listing page, from the kept ones or made now.
    fn kept(&self, seen: &Seen, make: impl FnOnce() -> Reply) -> Reply {
        let key = format!("{}?{}", seen.path, seen.query);
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reply) = pages.get(&key) {
            return reply.clone();
        }
        let reply = make();
        if pages.len() < PAGES_KEPT {
            pages.insert(key, reply.clone());
        }
        reply
    }
}

impl State {
    /// The time of a write: a second after the last.
    fn tick(&mut self) -> i64 {
        self.now = self.now.saturating_add(1);
        self.now
    }

    fn fresh_id(&mut self) -> u64 {
        self.next_id = self.next_id.saturating_add(1);
        self.next_id
    }
}

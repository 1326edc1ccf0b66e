//! What a stand-in is to be: its name, its world, its certificate and the key that it expects.
//!
//! Every field has a default that behaves like the real service; a test changes the one that it is about.

use std::fmt;

use http::Method;

use crate::{Alpn, Authority, Certificate, GithubWorld, Protocol, Provider, Recordings, Reply, Shelf};

/// How to start a stand-in. `Config { token: …, ..Config::new(world) }` changes one thing.
#[derive(Clone)]
pub struct Config {
    /// The name in the certificate, and in every URL that a made-up world writes. `api.github.com` by default.
    pub host: String,
    /// What it serves.
    pub world: World,
    /// The key that it expects as `Authorization: Bearer …` or `token …`. A missing or wrong one gets GitHub's 401.
    /// Without one, any key and none will do.
    pub token: Option<String>,
    /// An authorization server at `/oauth/`, whose access tokens are the keys that the rest expects. It goes before
    /// [`Self::token`].
    pub provider: Option<Provider>,
    /// The authority that signs its certificate: a new one, unless several stand-ins are to share one.
    pub authority: Option<Authority>,
    /// What is wrong with its certificate; nothing by default.
    pub certificate: Certificate,
    /// The TLS versions that it speaks; 1.2 and 1.3 by default.
    pub protocol: Protocol,
    /// The HTTP versions that it offers; `h2` and `http/1.1` by default.
    pub alpn: Alpn,
}

impl Config {
    /// A well-behaved `api.github.com` that serves `world` and expects no key.
    pub fn new(world: World) -> Self {
        Self {
            host: "api.github.com".to_owned(),
            world,
            token: None,
            provider: None,
            authority: None,
            certificate: Certificate::Good,
            protocol: Protocol::Tls12And13,
            alpn: Alpn::Both,
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("host", &self.host)
            .field("token", &self.token.as_ref().map(|_| "<credential>"))
            .field("certificate", &self.certificate)
            .field("protocol", &self.protocol)
            .field("alpn", &self.alpn)
            .finish_non_exhaustive()
    }
}

/// What a stand-in serves.
#[derive(Debug, Clone)]
pub enum World {
    /// A GitHub-shaped organisation that it makes itself and that can be written to.
    Github(GithubWorld),
    /// A folder of recordings, matched on method, path and query.
    Replay(Recordings),
    /// Things that are listed a page at a time, in each style.
    Shelf(Shelf),
    /// These replies and no other; anything else is a 404.
    Fixed(Vec<Route>),
}

/// A request and the reply that it gets.
#[derive(Debug, Clone)]
pub struct Route {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: Option<Vec<(String, String)>>,
    pub(crate) reply: Reply,
}

impl Route {
    /// A reply to `method` on `target`. A target without `?` answers any query; one with a query (even an empty one)
    /// answers only the same pairs, in any order.
    pub fn new(method: Method, target: &str, reply: Reply) -> Self {
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(sorted_pairs(query))),
            None => (target, None),
        };
        Self { method, path: path.to_owned(), query, reply }
    }

    /// A reply to `GET` on `target`.
    pub fn get(target: &str, reply: Reply) -> Self {
        Self::new(Method::GET, target, reply)
    }

    pub(crate) fn matches(&self, method: &str, path: &str, query: &str) -> bool {
        self.method.as_str() == method
            && self.path == path
            && self.query.as_ref().is_none_or(|wanted| *wanted == sorted_pairs(query))
    }
}

/// The pairs of a query, decoded and in an order of their own, so that two spellings of one query are equal.
pub(crate) fn sorted_pairs(query: &str) -> Vec<(String, String)> {
    let mut pairs = pairs(query);
    pairs.sort();
    pairs
}

/// The pairs of a query, decoded, in their order.
pub(crate) fn pairs(query: &str) -> Vec<(String, String)> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name, Plus::Space), decoded(value, Plus::Space))
        })
        .collect()
}

/// What a plus sign stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plus {
    /// A space, as in a query.
    Space,
    /// Itself, as in a path.
    Plus,
}

/// Undoes percent-encoding; what is not a valid escape stays as it is, and bytes that are not UTF-8 become U+FFFD.
pub(crate) fn decoded(text: &str, plus: Plus) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        match (first, after) {
            (b'%', [high, low, tail @ ..]) => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => {
                    bytes.push(high << 4 | low);
                    rest = tail;
                }
                _ => bytes.push(first),
            },
            (b'+', _) if plus == Plus::Space => bytes.push(b' '),
            _ => bytes.push(first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

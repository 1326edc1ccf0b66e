//! Where an API is: its one host and the path before every path.
//!
//! Refuses what a manifest could not name: a host with a variable in it, a relative URL, plain HTTP, a port, an address, several
//! hosts. INVARIANT: what comes out is a host that [`ApiHost`] takes, and a base path without variables.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::description::{Description, Dialect};
use crate::finding::quoted;
use crate::host::{ApiHost, HostError};

/// Most servers that are looked at.
const SERVERS_MAX: usize = 200;
/// Most variables of a server.
const VARIABLES_MAX: usize = 20;

/// Why no host could be taken from a description.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerFault {
    /// It names no server at all.
    #[error("the description names no server: say which host with `--host`")]
    Absent,
    /// A URL without a host.
    #[error("the server `{0}` is relative, so it names no host: say which with `--host`")]
    Relative(String),
    /// A variable in the host.
    #[error("the server `{0}` has a variable in its host: say which host with `--host`")]
    Templated(String),
    /// Plain HTTP.
    #[error("the server `{0}` is plain HTTP, and a key never goes over that")]
    PlainHttp(String),
    /// Another scheme.
    #[error("the server `{0}` is no `https` URL")]
    Scheme(String),
    /// A port other than 443.
    #[error("the server `{0}` has a port, and every call goes to 443")]
    Port(String),
    /// A host that no manifest may name.
    #[error("the server `{url}` will not do: {fault}")]
    Host {
        /// The server.
        url: String,
        /// What is wrong with its host.
        fault: HostError,
    },
    /// A variable in the path that has no default, or a query.
    #[error("the server `{0}` has a path that is not the same for every call")]
    Path(String),
    /// Several hosts.
    #[error("the description names several hosts ({0}): say which with `--host`")]
    Several(String),
    /// The host that was asked for is not among those that the description names.
    #[error("the description names {named}, and not `{asked}`: leave `--host` out, or say one of them")]
    NotNamed {
        /// What it names.
        named: String,
        /// What was asked for.
        asked: String,
    },
}

impl ServerFault {
    /// The fault as a word to count by.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Relative(_) => "relative",
            Self::Templated(_) => "templated",
            Self::PlainHttp(_) => "plain_http",
            Self::Scheme(_) => "scheme",
            Self::Port(_) => "port",
            Self::Host { .. } => "host",
            Self::Path(_) => "path",
            Self::Several(_) => "several",
            Self::NotNamed { .. } => "not_named",
        }
    }
}

/// One server that a manifest could name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Server {
    pub(super) host: ApiHost,
    /// Empty, or with a slash before and none behind.
    pub(super) base: String,
}

/// A server as the description has it.
#[derive(Debug)]
struct Written {
    url: String,
    defaults: BTreeMap<String, String>,
}

/// The servers of the document: each that will do, and what is wrong with the others.
#[derive(Debug)]
pub(super) struct Servers {
    pub(super) good: Vec<Server>,
    pub(super) faults: Vec<ServerFault>,
    written: Vec<Written>,
}

impl Servers {
    pub(super) fn of(description: &Description) -> Self {
        let root = description.root();
        let written = match description.dialect() {
            Dialect::OpenApi3 => list(root.get("servers")),
            Dialect::Swagger2 => list_2(root),
        };
        let (mut good, mut faults) = (Vec::new(), Vec::new());
        for one in &written {
            match server(one) {
                Ok(server) if !good.contains(&server) => good.push(server),
                Ok(_) => {}
                Err(fault) => faults.push(fault),
            }
        }
        Self { good, faults, written }
    }

    /// The one server, or the one with the host that was asked for.
    pub(super) fn choose(&self, asked: Option<&ApiHost>) -> Result<Server, ServerFault> {
        let mut hosts: Vec<&ApiHost> = self.good.iter().map(|server| &server.host).collect();
        hosts.sort();
        hosts.dedup();
        let Some(asked) = asked else {
            return match (hosts.as_slice(), self.good.first()) {
                ([_], Some(server)) => Ok(server.clone()),
                ([], _) => Err(self.faults.first().cloned().unwrap_or(ServerFault::Absent)),
                _ => Err(ServerFault::Several(named(&hosts))),
            };
        };
        if let Some(server) = self.good.iter().find(|server| server.host == *asked) {
            return Ok(server.clone());
        }
        // Where the description leaves the host open, or nobody could use the one it has, a person may say it.
        let says = |fault: &ServerFault| {
            matches!(fault, ServerFault::Relative(_) | ServerFault::Templated(_) | ServerFault::PlainHttp(_))
        };
        if self.good.is_empty() || self.faults.iter().any(says) {
            let path = self.written.iter().find_map(|one| base(one).ok());
            return Ok(Server { host: asked.clone(), base: path.unwrap_or_default() });
        }
        Err(ServerFault::NotNamed { named: named(&hosts), asked: asked.to_string() })
    }
}

impl Servers {
    /// Whether the description leaves the host to whoever runs the service.
    pub(super) fn is_open(&self) -> bool {
        let open =
            |fault: &ServerFault| matches!(fault, ServerFault::Relative(_) | ServerFault::Templated(_));
        self.faults.iter().any(open)
    }

    /// The paths before every path of the servers whose host is open.
    pub(super) fn open_bases(&self) -> impl Iterator<Item = String> {
        self.written.iter().filter_map(|one| base(one).ok())
    }
}

fn named(hosts: &[&ApiHost]) -> String {
    let mut shown: Vec<String> = hosts.iter().take(8).map(|host| format!("`{host}`")).collect();
    if hosts.len() > 8 {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

/// The servers of a path or an operation: none where it has none of its own.
pub(super) fn own(holder: &Map<String, Value>) -> Option<Vec<Result<Server, ServerFault>>> {
    let written = list(holder.get("servers"));
    (!written.is_empty()).then(|| written.iter().map(server).collect())
}

fn list(servers: Option<&Value>) -> Vec<Written> {
    let one = |node: &Value| {
        let url = node.get("url")?.as_str()?.to_owned();
        let variables = node.get("variables").and_then(Value::as_object);
        let default = |(name, variable): (&String, &Value)| {
            let default = variable.get("default")?.as_str()?;
            // A long one, or one with a variable in it, is no version or region.
            let plain = default.len() <= 64 && !default.contains(['{', '}']);
            plain.then(|| (name.clone(), default.to_owned()))
        };
        let defaults = variables.into_iter().flatten().take(VARIABLES_MAX).filter_map(default).collect();
        Some(Written { url, defaults })
    };
    let servers = servers.and_then(Value::as_array).into_iter().flatten();
    servers.take(SERVERS_MAX).filter_map(one).collect()
}

/// Swagger 2.0: schemes, host and base path. Without a scheme it is the one by which the description was fetched.
fn list_2(root: &Value) -> Vec<Written> {
    let text = |name: &str| root.get(name).and_then(Value::as_str);
    let base = text("basePath").unwrap_or_default();
    let Some(host) = text("host") else {
        return vec![Written {
            url: format!("/{}", base.trim_start_matches('/')),
            defaults: BTreeMap::new(),
        }];
    };
    let schemes: Vec<&str> = root
        .get("schemes")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let schemes = if schemes.is_empty() { vec!["https"] } else { schemes };
    let slash = if base.is_empty() || base.starts_with('/') { "" } else { "/" };
    let url = |scheme: &str| format!("{scheme}://{host}{slash}{base}");
    schemes.into_iter().map(|scheme| Written { url: url(scheme), defaults: BTreeMap::new() }).collect()
}

/// The scheme, the host with all that stands beside it, and the path of a URL.
fn split(url: &str) -> (Option<&str>, &str, &str) {
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) if !scheme.contains('/') => (Some(scheme), rest),
        _ => match url.strip_prefix("//") {
            Some(rest) => (Some("https"), rest),
            None => return (None, "", url),
        },
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    (scheme, authority, path)
}

fn server(written: &Written) -> Result<Server, ServerFault> {
    let url = written.url.trim();
    let shown = || quoted(url);
    let (Some(scheme), authority, _) = split(url) else { return Err(ServerFault::Relative(shown())) };
    if authority.contains(['{', '}']) || scheme.contains(['{', '}']) {
        return Err(ServerFault::Templated(shown()));
    }
    if scheme.eq_ignore_ascii_case("http") {
        return Err(ServerFault::PlainHttp(shown()));
    }
    if !scheme.eq_ignore_ascii_case("https") {
        return Err(ServerFault::Scheme(shown()));
    }
    let name = authority.strip_suffix(":443").unwrap_or(authority).to_ascii_lowercase();
    let host = ApiHost::parse(&name).map_err(|fault| match fault {
        HostError::Port => ServerFault::Port(shown()),
        fault => ServerFault::Host { url: shown(), fault },
    })?;
    Ok(Server { host, base: base(written)? })
}

/// The path before every path, its variables filled with their defaults.
fn base(written: &Written) -> Result<String, ServerFault> {
    let url = written.url.trim();
    let (_, _, path) = split(url);
    let fault = || ServerFault::Path(quoted(url));
    if path.len() > 512 {
        return Err(fault());
    }
    let mut base = path.to_owned();
    for (name, default) in &written.defaults {
        base = base.replace(&format!("{{{name}}}"), default);
    }
    if base.len() > 512 || base.contains(['{', '}', '?', '#', '\\']) {
        return Err(fault());
    }
    let base = base.trim_end_matches('/');
    if base.is_empty() || base.starts_with('/') { Ok(base.to_owned()) } else { Ok(format!("/{base}")) }
}

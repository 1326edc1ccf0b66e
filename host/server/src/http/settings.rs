//! What an operator says about a door that speaks HTTP.
//!
//! INVARIANT: the defaults are for loopback. Whoever listens further says under which `https` address the proxy in front of
//! the door, which does TLS, is reached.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use http::uri::Authority;
use tokio::net::TcpListener;
use url::Url;

use super::Bound;

/// How many in a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// At most this many,
    pub count: usize,
    /// in any span of this length.
    pub per: Duration,
}

/// How much, how fast and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// Longest body of a request, in bytes.
    pub body_bytes: usize,
    /// How long the body of a request may take to arrive.
    pub body_time: Duration,
    /// How long the head of a request may take to arrive; as long a connection may idle.
    pub head_time: Duration,
    /// Longest head of a request, in bytes, and at least 8 KiB.
    pub head_bytes: usize,
    /// Most connections at once. Of those that have shown no good token, the oldest makes room for who comes when all are taken.
    pub connections: usize,
    /// Most requests of one principal at once.
    pub requests: usize,
    /// What one principal may ask in all.
    pub reads: Rate,
    /// What one principal may ask, of that, that changes something.
    pub writes: Rate,
    /// What one peer may get wrong about tokens before it is told to wait.
    pub failures: Rate,
    /// How long requests that run may go on once the door is told to stop.
    pub drain: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        let a_minute = |count| Rate { count, per: Duration::from_mins(1) };
        Self {
            body_bytes: 1 << 20,
            body_time: Duration::from_secs(10),
            head_time: Duration::from_secs(10),
            head_bytes: 32 << 10,
            connections: 256,
            requests: 64,
            reads: a_minute(120),
            writes: a_minute(20),
            failures: a_minute(30),
            drain: Duration::from_secs(10),
        }
    }
}

/// Whether clients of the older protocol get sessions, in which they can be asked things.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sessions {
    /// Every request stands alone.
    #[default]
    Off,
    /// `initialize` opens one. It belongs to the principal who opened it.
    On,
}

/// What an operator says about a door.
#[derive(Debug, Clone, Default)]
pub struct HttpSettings {
    hosts: Vec<Authority>,
    origins: Vec<String>,
    public_url: Option<Url>,
    /// How much, how fast and for how long.
    pub limits: HttpLimits,
    /// Whether there are sessions.
    pub sessions: Sessions,
}

/// Why a setting is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// Not a name, with or without a port.
    #[error("`{0}` is no host: write a name such as `tools.example.com`, or `tools.example.com:8443`")]
    Host(String),
    /// Not an origin.
    #[error("`{0}` is no origin: write scheme, host and port, such as `https://app.example.com`")]
    Origin(String),
    /// Not an address that a proxy serves.
    #[error(
        "`{0}` is no public address: write `https://`, a name and nothing else, such as `https://tools.example.com`"
    )]
    PublicUrl(String),
}

/// Why there is nothing to listen on.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Others than this machine could connect, without TLS.
    #[error(
        "`{0}` is not loopback: listen on 127.0.0.1 or [::1]; or put a proxy that does TLS before it and say where with \
         `--public-url https://…`"
    )]
    NotLoopback(SocketAddr),
    /// Something listens there already.
    #[error(
        "`{0}` is in use: another server listens there; end it, or say another port, or 0 for any that is free"
    )]
    InUse(SocketAddr),
    /// The system says no.
    #[error("`{address}` cannot be listened on: say another port, or 0 for any that is free")]
    Failed {
        /// Where.
        address: SocketAddr,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl HttpSettings {
    /// Answers to this name in a request's `Host` too, at this port or at any.
    pub fn with_host(mut self, host: &str) -> Result<Self, SettingError> {
        let parsed = host.parse::<Authority>().ok().filter(|found| !found.as_str().contains('@'));
        self.hosts.push(parsed.ok_or_else(|| SettingError::Host(host.to_owned()))?);
        Ok(self)
    }

    /// Answers to browsers on pages of this origin too.
    pub fn with_origin(mut self, origin: &str) -> Result<Self, SettingError> {
        let wrong = || SettingError::Origin(origin.to_owned());
        let url = Url::parse(origin).or(Err(wrong()))?;
        let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        if !matches!(url.scheme(), "http" | "https") || !bare || !url.username().is_empty() {
            return Err(wrong());
        }
        self.origins.push(url.origin().ascii_serialization());
        Ok(self)
    }

    /// Where the proxy before the door is reached. Its host and origin are answered to.
    pub fn with_public_url(self, address: &str) -> Result<Self, SettingError> {
        let wrong = || SettingError::PublicUrl(address.to_owned());
        let url = Url::parse(address).or(Err(wrong()))?;
        let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        if url.scheme() != "https" || !bare || !url.username().is_empty() || url.password().is_some() {
            return Err(wrong());
        }
        let mut settings = self.with_origin(address).or(Err(wrong()))?;
        settings.hosts.push(authority(&url).ok_or_else(wrong)?);
        settings.public_url = Some(url);
        Ok(settings)
    }

    /// With these limits.
    #[must_use]
    pub fn with_limits(self, limits: HttpLimits) -> Self {
        Self { limits, ..self }
    }

    /// With sessions, or without.
    #[must_use]
    pub fn with_sessions(self, sessions: Sessions) -> Self {
        Self { sessions, ..self }
    }

    /// Listens: on loopback, or anywhere behind a public address.
    pub async fn listen(&self, address: SocketAddr) -> Result<TcpListener, ListenError> {
        if !address.ip().to_canonical().is_loopback() && self.public_url.is_none() {
            return Err(ListenError::NotLoopback(address));
        }
        TcpListener::bind(address).await.map_err(|source| match source.kind() {
            std::io::ErrorKind::AddrInUse => ListenError::InUse(address),
            _ => ListenError::Failed { address, source },
        })
    }

    /// Whether a request that names this host is meant for a door that listens on `bound`.
    pub(crate) fn answers_to(&self, host: &Authority, bound: Bound) -> bool {
        let here = match bound {
            Bound::At(address) => host.port_u16().unwrap_or(80) == address.port(),
            Bound::File => true,
        };
        is_loopback(host.host()) && here
            || self.hosts.iter().any(|known| {
                known.host().eq_ignore_ascii_case(host.host())
                    && known.port().is_none_or(|port| host.port_u16() == Some(port.as_u16()))
            })
    }

    /// Whether a page of this origin may call.
    pub(crate) fn is_welcome(&self, origin: &str) -> bool {
        self.origins.iter().any(|known| known == origin) || is_loopback_origin(origin)
    }

    /// The address under which a client that named this host has found the door, without a path.
    pub(crate) fn base(&self, host: &Authority) -> String {
        let public = self.public_url.as_ref().filter(|url| authority(url).as_ref() == Some(host));
        public.map_or_else(|| format!("http://{host}"), |url| url.origin().ascii_serialization())
    }
}

fn authority(url: &Url) -> Option<Authority> {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}{port}", url.host_str()?).parse().ok()
}

/// The names of loopback, and nothing that only looks like one.
fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host == "[::1]"
        || host.parse() == Ok(IpAddr::V4(Ipv4Addr::LOCALHOST))
}

/// `http://localhost`, `http://127.0.0.1` or `http://[::1]`, at any port, as a browser writes it.
fn is_loopback_origin(origin: &str) -> bool {
    let Some(rest) = origin.strip_prefix("http://") else { return false };
    let (host, port) = match rest.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port),
        _ => (rest, "80"),
    };
    let is_port = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok();
    is_port && ["localhost", "127.0.0.1", "[::1]"].contains(&host)
}

#[cfg(test)]
mod tests;

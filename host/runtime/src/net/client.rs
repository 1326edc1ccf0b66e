//! The client that sends: one `reqwest` client a host, each with its own pool, resolver and roots.
//!
//! Follows no redirect, keeps no cookie, asks no proxy, repeats nothing, speaks TLS 1.2 or 1.3 on 443 only. INVARIANT: an
//! answer is used only when the address it came from is one that the guard passes, or the very one that the operator
//! named. DESIGN, "Pinned client".

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode};
use pinhole_grant::Dial;
use pinhole_manifest::ApiHost;
use reqwest::{Client, Request, Response};
use tokio::time::Instant;

use super::assemble::assemble;
use super::body::Body;
use super::error::{Stage, WireError, WireErrorKind, before_answer};
use super::guard;
use super::limits::{self, H2_HEADER_LIST_MAX, HEADERS_MAX, Reader};
use super::progress::Progress;
use super::resolver::{Lookup, PORT, PinnedResolver, Route, SystemLookup};
use super::settings::{CheckedSettings, NetSettings, NetSettingsError, StageLimits};
use super::{Exchange, Incoming, Outgoing, Permit, Posting, Sent, TokenPermit, Wire, WireLimits};

const USER_AGENT: &str = concat!("pinhole/", env!("CARGO_PKG_VERSION"));
/// Below the minute after which common servers close, so that a write seldom meets a connection that is closing.
const POOL_IDLE: Duration = Duration::from_secs(30);
const POOL_IDLE_PER_HOST: usize = 8;
pub(super) const DAY: Duration = Duration::from_hours(24);

/// The pinned client. Share one: its pools and TLS sessions live in it.
pub struct PinnedClient {
    settings: CheckedSettings,
    lookup: Arc<dyn Lookup>,
    /// Made on first use; one for each host that a permit has named.
    clients: Mutex<HashMap<ApiHost, Client>>,
}

impl PinnedClient {
    /// Makes a client. Opens nothing; a host's own client is made when a permit first names it.
    pub fn new(settings: NetSettings) -> Result<Self, NetSettingsError> {
        Self::with_lookup(settings, Arc::new(SystemLookup))
    }

    /// Like [`Self::new`], with another source of addresses. They pass the same guard.
    pub fn with_lookup(settings: NetSettings, lookup: Arc<dyn Lookup>) -> Result<Self, NetSettingsError> {
        Ok(Self { settings: settings.checked()?, lookup, clients: Mutex::new(HashMap::new()) })
    }

    fn client(&self, host: &ApiHost) -> Result<Client, WireError> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(host) {
            return Ok(client.clone());
        }
        let client = self.build(host).map_err(|error| before_answer(&error, Sent::No))?;
        clients.insert(host.clone(), client.clone());
        Ok(client)
    }

    fn build(&self, host: &ApiHost) -> reqwest::Result<Client> {
        let (route, tls) = match self.settings.sockets.get(host) {
            Some(socket) => (Route::Override(*socket), &self.settings.overridden_tls),
            None => (Route::Lookup(Arc::clone(&self.lookup)), &self.settings.tls),
        };
        Client::builder()
            .tls_backend_preconfigured(tls.clone())
            .dns_resolver(Arc::new(PinnedResolver { host: host.clone(), route }))
            .https_only(true)
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .gzip(true)
            .brotli(true)
            .user_agent(HeaderValue::from_static(USER_AGENT))
            .connect_timeout(self.settings.limits.connect)
            .pool_idle_timeout(POOL_IDLE)
            .pool_max_idle_per_host(POOL_IDLE_PER_HOST)
            .http1_max_headers(HEADERS_MAX)
            .http2_max_header_list_size(H2_HEADER_LIST_MAX)
            .build()
    }

    async fn run(
        &self,
        permit: Permit,
        outgoing: Outgoing,
        cap: u64,
        deadline: Instant,
        progress: &Progress,
    ) -> Result<Incoming, WireError> {
        let Permit { host } = permit;
        let head = outgoing.method == Method::HEAD;
        let request = assemble(&host, outgoing, progress.clone())
            .map_err(|fault| WireError::new(WireErrorKind::Unsendable, Sent::No, fault.to_string()))?;
        self.send(&host, request, Allowance { cap, deadline, bodiless: head }, progress).await
    }

    /// Sends a request that is whole, and takes what comes back within its limits.
    pub(super) async fn send(
        &self,
        host: &ApiHost,
        request: Request,
        allowance: Allowance,
        progress: &Progress,
    ) -> Result<Incoming, WireError> {
        let Allowance { cap, deadline, bodiless } = allowance;
        let client = self.client(host)?;
        let StageLimits { connect, header, idle } = self.settings.limits;
        let begun = tokio::time::timeout(connect.saturating_add(header), client.execute(request)).await;
        let mut response = match begun {
            Err(_elapsed) => return Err(timed_out(Stage::Header, progress)),
            Ok(Err(error)) => return Err(before_answer(&error, progress.sent())),
            Ok(Ok(response)) => response,
        };
        progress.answered();

        check_peer(response.remote_addr(), self.settings.sockets.get(host))?;
        check_status(&response)?;
        limits::check_headers(response.headers())?;
        // Neither has a body, though a HEAD's headers may name the encoding and length of one.
        let bodiless = bodiless || response.status() == StatusCode::NO_CONTENT;
        let status = response.status();
        let headers = std::mem::take(response.headers_mut());
        let body = if bodiless {
            Body::whole(Bytes::new())
        } else {
            Body::new(Reader::new(response, cap, idle, deadline)?)
        };
        Ok(Incoming { status, headers, body })
    }
}

impl Wire for PinnedClient {
    fn exchange(&self, permit: Permit, request: Outgoing, limits: WireLimits) -> Exchange<'_> {
        Box::pin(async move {
            let progress = Progress::default();
            let now = Instant::now();
            // A deadline that no clock reaches is as good as a day.
            let deadline = now.checked_add(limits.deadline).unwrap_or(now + DAY);
            let run = self.run(permit, request, limits.response_bytes, deadline, &progress);
            match tokio::time::timeout_at(deadline, run).await {
                Ok(done) => done,
                Err(_elapsed) => Err(timed_out(Stage::Total, &progress)),
            }
        })
    }

    fn post_form(&self, permit: TokenPermit, posting: Posting, limits: WireLimits) -> Exchange<'_> {
        Box::pin(self.post(permit, posting, limits))
    }

    fn dial(&self, host: &ApiHost) -> Dial {
        if self.settings.sockets.contains_key(host) { Dial::Overridden } else { Dial::Real }
    }
}

impl fmt::Debug for PinnedClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let overridden: &BTreeMap<_, _> = &self.settings.sockets;
        f.debug_struct("PinnedClient").field("overridden", overridden).finish_non_exhaustive()
    }
}

/// What may be taken of an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allowance {
    /// Most bytes of the body, decompressed.
    pub(super) cap: u64,
    /// When it must be whole.
    pub(super) deadline: Instant,
    /// Whether the request is one whose answer has no body.
    pub(super) bodiless: bool,
}

pub(super) fn timed_out(stage: Stage, progress: &Progress) -> WireError {
    WireError::new(WireErrorKind::Timeout { stage }, progress.sent(), "")
}

/// A pooled connection was resolved long ago: what counts is where this answer came from.
pub(super) fn check_peer(peer: Option<SocketAddr>, named: Option<&SocketAddr>) -> Result<(), WireError> {
    let allowed = match (peer, named) {
        (Some(peer), Some(named)) => peer == *named,
        (Some(peer), None) => peer.port() == PORT && guard::check(peer.ip()).is_ok(),
        (None, _) => false,
    };
    if allowed {
        return Ok(());
    }
    let detail =
        format!("the answer came from {}", peer.map_or_else(|| "nowhere".to_owned(), |p| p.to_string()));
    Err(WireError::new(WireErrorKind::AddressRefused, Sent::Yes, detail))
}

fn check_status(response: &Response) -> Result<(), WireError> {
    let status = response.status();
    // Nothing conditional is ever asked, so that not even a 304 has a meaning here.
    let kind = if status.is_redirection() {
        WireErrorKind::Redirected { status }
    } else if status.is_informational() {
        WireErrorKind::BadResponse
    } else {
        return Ok(());
    };
    Err(WireError::new(kind, Sent::Yes, format!("status {}", status.as_u16())))
}

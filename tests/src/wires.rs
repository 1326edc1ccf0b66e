//! Ways out that are not the client, or the client with something between it and the spine.
//!
//! None of them can make a permit: each gets the spine's own, and hands it on or lets it go.

use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use pinhole_grant::Dial;
use pinhole_manifest::ApiHost;
use pinhole_runtime::net::{
    Body, Exchange, Incoming, Looking, Lookup, Outgoing, Permit, PinnedClient, Posting, TokenPermit, Wire,
    WireLimits,
};
use tokio::sync::Notify;

/// Changes each request before the client gets it.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct Spoiling {
    client: PinnedClient,
    spoil: Box<dyn Fn(&mut Outgoing) + Send + Sync>,
}

impl Spoiling {
    /// The client, behind a change.
    pub fn new(client: PinnedClient, spoil: impl Fn(&mut Outgoing) + Send + Sync + 'static) -> Self {
        Self { client, spoil: Box::new(spoil) }
    }
}

impl Wire for Spoiling {
    fn exchange(&self, permit: Permit, mut request: Outgoing, limits: WireLimits) -> Exchange<'_> {
        (self.spoil)(&mut request);
        self.client.exchange(permit, request, limits)
    }

    fn post_form(&self, permit: TokenPermit, posting: Posting, limits: WireLimits) -> Exchange<'_> {
        self.client.post_form(permit, posting, limits)
    }

    fn dial(&self, host: &ApiHost) -> Dial {
        self.client.dial(host)
    }
}

/// Does something of the test's when a request comes, then hands it to the client.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct Watching {
    client: PinnedClient,
    watch: Box<dyn Fn() + Send + Sync>,
}

impl Watching {
    /// The client, behind a look.
    pub fn new(client: PinnedClient, watch: impl Fn() + Send + Sync + 'static) -> Self {
        Self { client, watch: Box::new(watch) }
    }
}

impl Wire for Watching {
    fn exchange(&self, permit: Permit, request: Outgoing, limits: WireLimits) -> Exchange<'_> {
        (self.watch)();
        self.client.exchange(permit, request, limits)
    }

    fn post_form(&self, permit: TokenPermit, posting: Posting, limits: WireLimits) -> Exchange<'_> {
        self.client.post_form(permit, posting, limits)
    }

    fn dial(&self, host: &ApiHost) -> Dial {
        self.client.dial(host)
    }
}

/// Takes a request and never answers.
#[derive(Debug, Clone, Default)]
pub struct Stuck {
    taken: Arc<Notify>,
    given_up: Arc<Notify>,
}

impl Stuck {
    /// Waits until a request has come.
    pub async fn taken(&self) {
        self.taken.notified().await;
    }

    /// Waits until nobody waits for a request any more.
    pub async fn given_up(&self) {
        self.given_up.notified().await;
    }
}

/// Says when it goes.
struct Going(Arc<Notify>);

impl Drop for Going {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl Wire for Stuck {
    fn exchange(&self, _permit: Permit, _request: Outgoing, _limits: WireLimits) -> Exchange<'_> {
        self.taken.notify_one();
        let going = Going(Arc::clone(&self.given_up));
        Box::pin(async move {
            let _going = going;
            std::future::pending().await
        })
    }

    fn post_form(&self, _permit: TokenPermit, _posting: Posting, _limits: WireLimits) -> Exchange<'_> {
        Box::pin(std::future::pending())
    }

    fn dial(&self, _host: &ApiHost) -> Dial {
        Dial::Overridden
    }
}

/// Panics at the first request, and hands the others to the client.
#[derive(Debug)]
pub struct FailingOnce {
    client: PinnedClient,
    requests: AtomicUsize,
}

impl FailingOnce {
    /// The client, behind a fault.
    pub fn new(client: PinnedClient) -> Self {
        Self { client, requests: AtomicUsize::new(0) }
    }
}

impl Wire for FailingOnce {
    fn exchange(&self, permit: Permit, request: Outgoing, limits: WireLimits) -> Exchange<'_> {
        assert!(self.requests.fetch_add(1, Ordering::SeqCst) > 0, "the fault that the test is about");
        self.client.exchange(permit, request, limits)
    }

    fn post_form(&self, permit: TokenPermit, posting: Posting, limits: WireLimits) -> Exchange<'_> {
        self.client.post_form(permit, posting, limits)
    }

    fn dial(&self, host: &ApiHost) -> Dial {
        self.client.dial(host)
    }
}

/// Hands the first request to one client, and the others to another.
#[derive(Debug)]
pub struct Then {
    first: PinnedClient,
    others: PinnedClient,
    requests: AtomicUsize,
}

impl Then {
    /// One client, then another.
    pub fn new(first: PinnedClient, others: PinnedClient) -> Self {
        Self { first, others, requests: AtomicUsize::new(0) }
    }
}

impl Wire for Then {
    fn exchange(&self, permit: Permit, request: Outgoing, limits: WireLimits) -> Exchange<'_> {
        let client = match self.requests.fetch_add(1, Ordering::SeqCst) {
            0 => &self.first,
            _ => &self.others,
        };
        client.exchange(permit, request, limits)
    }

    fn post_form(&self, permit: TokenPermit, posting: Posting, limits: WireLimits) -> Exchange<'_> {
        self.first.post_form(permit, posting, limits)
    }

    fn dial(&self, host: &ApiHost) -> Dial {
        self.first.dial(host)
    }
}

/// Answers every request with the same body at once, and remembers what was asked. No network at all.
#[derive(Debug, Clone)]
pub struct Canned {
    status: StatusCode,
    body: Bytes,
    asked: Arc<Mutex<Vec<Outgoing>>>,
}

impl Canned {
    /// HTTP 200 with this body.
    pub fn new(body: impl Into<Bytes>) -> Self {
        Self { status: StatusCode::OK, body: body.into(), asked: Arc::default() }
    }

    /// This status with this body.
    pub fn answering(status: u16, body: impl Into<Bytes>) -> Self {
        Self { status: StatusCode::from_u16(status).expect("a status"), ..Self::new(body) }
    }

    /// What was asked since the last look.
    pub fn asked(&self) -> Vec<Outgoing> {
        std::mem::take(&mut self.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Wire for Canned {
    fn exchange(&self, _permit: Permit, request: Outgoing, _limits: WireLimits) -> Exchange<'_> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        let (status, body) = (self.status, self.body.clone());
        Box::pin(async move { Ok(Incoming { status, headers: HeaderMap::new(), body: Body::whole(body) }) })
    }

    fn post_form(&self, _permit: TokenPermit, _posting: Posting, _limits: WireLimits) -> Exchange<'_> {
        let (status, body) = (self.status, self.body.clone());
        Box::pin(async move { Ok(Incoming { status, headers: HeaderMap::new(), body: Body::whole(body) }) })
    }

    fn dial(&self, _host: &ApiHost) -> Dial {
        Dial::Overridden
    }
}

/// A resolver that answers every name with the same addresses, or with none.
#[derive(Debug)]
pub struct Answers(pub Vec<IpAddr>);

impl Lookup for Answers {
    fn lookup(&self, _name: &str) -> Looking {
        let addresses = self.0.clone();
        Box::pin(async move { Ok(addresses) })
    }
}

//! A server, its member's tokens, and a time that only the test moves.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pinhole_grant::{KeyId, KeyKind, Label, PrincipalId, SecretKey, UnixTime};
use pinhole_manifest::{Access, ServiceId};
use pinhole_runtime::clock::{Clock, Timer, Wait};
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_runtime::store::{SqliteStore, TokenRow, TokenScope, Tokens as _};
use pinhole_server::http::{Bearer, HttpSettings, ServeError};
use pinhole_server::mcp::http::{Weigh, serve};
use pinhole_server::{BearerToken, Reach};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::client::Connection;
use crate::echo::Echo;

pub(crate) const NOW: i64 = 1_800_000_000;
pub(crate) const DAY: i64 = 86_400;

/// A clock and a timer that stand still until they are moved.
#[derive(Debug)]
pub(crate) struct Time {
    wall: AtomicI64,
    start: Instant,
    passed: watch::Sender<Duration>,
}

impl Time {
    fn new() -> Self {
        Self { wall: AtomicI64::new(NOW), start: Instant::now(), passed: watch::Sender::new(Duration::ZERO) }
    }

    /// Moves on; who waited for less than that waits no more.
    pub(crate) fn pass(&self, time: Duration) {
        self.wall.fetch_add(i64::try_from(time.as_secs()).unwrap(), Ordering::Relaxed);
        self.passed.send_modify(|passed| *passed += time);
    }

    /// Returns when somebody waits.
    pub(crate) async fn is_waited_for(&self) {
        while self.passed.receiver_count() == 0 {
            tokio::task::yield_now().await;
        }
    }
}

impl Clock for Time {
    fn now(&self) -> UnixTime {
        UnixTime::from_secs(self.wall.load(Ordering::Relaxed))
    }
}

impl Timer for Time {
    fn now(&self) -> Instant {
        self.start + *self.passed.borrow()
    }

    fn wait(&self, time: Duration) -> Wait<'_> {
        let mut passed = self.passed.subscribe();
        let until = *passed.borrow() + time;
        Box::pin(async move {
            // Who sends is `self`, which is borrowed.
            passed.wait_for(|passed| *passed >= until).await.map(drop).unwrap_or_default();
        })
    }
}

/// What the tests' tools weigh.
struct Weights;

impl Weigh for Weights {
    fn access(&self, tool: &str) -> Option<Access> {
        match tool {
            "write" => Some(Access::Write),
            "echo" | "slow" | "steps" => Some(Access::Read),
            _ => None,
        }
    }
}

/// A server that is being set up.
pub(crate) struct Setup {
    pub(crate) settings: HttpSettings,
    pub(crate) reach: Reach,
}

impl Setup {
    pub(crate) fn new() -> Self {
        Self { settings: HttpSettings::default(), reach: Reach::default() }
    }

    pub(crate) fn with(settings: HttpSettings) -> Self {
        Self { settings, ..Self::new() }
    }

    pub(crate) async fn start(self) -> Server {
        let listener = self.settings.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let store = Arc::new(SqliteStore::in_memory().unwrap());
        let member = member(1);
        let (time, echo, stop) = (Arc::new(Time::new()), Echo::default(), CancellationToken::new());
        let address = listener.local_addr().unwrap();
        let bearer = Bearer {
            desk: store.clone(),
            member,
            clock: time.clone(),
            timer: time.clone(),
            reach: self.reach,
        };
        let serving = serve(listener, self.settings, bearer, echo.clone(), Arc::new(Weights), stop.clone());
        Server { address, store, member, time, echo, stop, serving: Mutex::new(Some(tokio::spawn(serving))) }
    }
}

pub(crate) fn member(seed: u64) -> KeyId {
    SecretKey::generate(KeyKind::Member, &mut StdRng::seed_from_u64(seed)).public().id()
}

/// A server that runs.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) member: KeyId,
    pub(crate) time: Arc<Time>,
    pub(crate) echo: Echo,
    pub(crate) stop: CancellationToken,
    serving: Mutex<Option<JoinHandle<Result<(), ServeError>>>>,
}

/// A token and who holds it.
pub(crate) struct Held {
    pub(crate) text: String,
    pub(crate) id: PrincipalId,
}

impl Server {
    pub(crate) async fn new() -> Self {
        Setup::new().start().await
    }

    /// A token for reads and writes that lives for a day.
    pub(crate) fn token(&self, name: &str) -> Held {
        self.token_for(name, &[Access::Read, Access::Write], None)
    }

    pub(crate) fn token_for(&self, name: &str, accesses: &[Access], service: Option<&str>) -> Held {
        self.token_of(self.member, name, accesses, service)
    }

    pub(crate) fn token_of(
        &self,
        member: KeyId,
        name: &str,
        accesses: &[Access],
        service: Option<&str>,
    ) -> Held {
        let token = BearerToken::random(&SystemEntropy).unwrap();
        let services = service.map(|name| [ServiceId::parse(name).unwrap()].into());
        let now = Clock::now(&*self.time);
        let id = PrincipalId::random(&mut StdRng::from_rng(&mut rand::rng()));
        let row = TokenRow {
            id,
            member,
            name: Label::parse(name).unwrap(),
            digest: token.digest(),
            scope: TokenScope::new(accesses.iter().copied(), services).unwrap(),
            created_at: now,
            expires_at: now.plus_secs(DAY),
            revoked_at: None,
        };
        self.store.add_token(&row).unwrap();
        Held { text: token.expose().to_owned(), id }
    }

    pub(crate) async fn connect(&self) -> Connection {
        Connection::open(self.address).await
    }

    /// Waits until the server has ended; the port is free then.
    pub(crate) async fn ended(&self) {
        let serving = self.serving.lock().unwrap().take().unwrap();
        serving.await.unwrap().unwrap();
        TcpListener::bind(self.address).await.unwrap();
    }
}

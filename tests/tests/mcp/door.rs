//! Pinhole's HTTP door, as `pinhole mcp --http` opens it, with a handler of the test's and a token.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use pinhole_grant::{Label, PrincipalId, SecretKey, UnixTime};
use pinhole_manifest::Access;
use pinhole_runtime::clock::{Clock, SystemTimer};
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_runtime::store::{SqliteStore, TokenRow, TokenScope, Tokens as _};
use pinhole_server::http::{Bearer, HttpLimits, HttpSettings, Rate, Sessions};
use pinhole_server::mcp::http::{Weigh, serve};
use pinhole_server::{BearerToken, Reach};
use rmcp::ServerHandler;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::bearer;

/// A day, in seconds.
const DAY: i64 = 86_400;

/// An address without a token that leads to a door with one.
pub(crate) struct Door {
    pub(crate) addr: SocketAddr,
    stop: CancellationToken,
}

impl Door {
    /// Serves the handler to the holder of a token, with sessions for clients of the older protocol or without.
    pub(crate) async fn open<H: ServerHandler + Clone>(
        handler: H,
        store: Arc<SqliteStore>,
        member: &SecretKey,
        clock: Arc<dyn Clock>,
        sessions: Sessions,
    ) -> Self {
        let [front, behind] = [listener().await, listener().await];
        let [addr, server] = [&front, &behind].map(|listener| listener.local_addr().expect("an address"));
        let token = token(&store, member, clock.now());
        bearer::before(front, server, token.expose().to_owned());
        let a_minute = |count| Rate { count, per: Duration::from_mins(1) };
        let limits =
            HttpLimits { reads: a_minute(10_000), writes: a_minute(10_000), ..HttpLimits::default() };
        let settings = HttpSettings::default().with_limits(limits).with_sessions(sessions);
        // What clients name is the address in front.
        let settings = settings.with_host(&addr.to_string()).expect("a host");
        let settings = settings.with_host(&format!("localhost:{}", addr.port())).expect("a host");
        let bearer = Bearer {
            desk: store,
            member: member.public().id(),
            clock,
            timer: Arc::new(SystemTimer),
            reach: Reach::default(),
        };
        let stop = CancellationToken::new();
        tokio::spawn(serve(behind, settings, bearer, handler, Arc::new(Light), stop.clone()));
        Self { addr, stop }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.addr)
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// No tool of these tests weighs more than another.
struct Light;

impl Weigh for Light {
    fn access(&self, _tool: &str) -> Option<Access> {
        Some(Access::Read)
    }
}

async fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.expect("a port")
}

/// A token for everything, stored.
fn token(store: &SqliteStore, member: &SecretKey, now: UnixTime) -> BearerToken {
    let token = BearerToken::random(&SystemEntropy).expect("entropy");
    let row = TokenRow {
        id: PrincipalId::random(&mut rand::rng()),
        member: member.public().id(),
        name: Label::parse("suite").expect("a label"),
        digest: token.digest(),
        scope: TokenScope::new([Access::Read, Access::Write], None).expect("a scope"),
        created_at: now,
        expires_at: now.plus_secs(DAY),
        revoked_at: None,
    };
    store.add_token(&row).expect("stored");
    token
}

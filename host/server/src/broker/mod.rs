//! The OAuth broker: it has the clients of services that need a secret, and lets members connect through them.
//!
//! ```text
//! GET  /oauth/config             which services, which scopes, which key; nothing secret
//! GET  /oauth/SERVICE/start      the person's browser: what is about to happen, and one button
//! POST /oauth/SERVICE/go         the button: on to the service
//! GET  /oauth/SERVICE/callback   back from the service: on to the person's own machine, with a one-time code of the broker's
//! POST /oauth/exchange           a member: code and verifier become the pair
//! POST /oauth/refresh            a bot: a refresh token becomes a fresh pair
//! POST /oauth/revoke             a member: a token is given up
//! ```
//! It stores nothing: flows are in memory for minutes, a pair for as long as it takes to seal it. INVARIANT: a pair leaves sealed
//! to who asked for it, who is on the operator's list; a flow goes to the service only from a button that the person pressed in
//! the browser that comes back; and a one-time code is good once, for the member whose key the page showed, with the verifier
//! of who started. DESIGN, "Doors": Broker; RFC 6749, 7636, 8252, 9207, 9700.

mod asks;
mod flow;
mod html;
mod once;
mod random;
mod refused;
mod reply;
mod shelf;
mod start;

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post};
use pinhole_grant::{KeyId, KeyKind, PublicKey, SecretKey};
use pinhole_manifest::ServiceId;
use pinhole_manifest::host::HttpsUrl;
use pinhole_manifest::model::OAuth;
use pinhole_runtime::catalog::{Catalog, Entry};
use pinhole_runtime::clock::{Clock, Timer};
use pinhole_runtime::entropy::{Entropy, EntropyError};
use pinhole_runtime::net::Wire;
use pinhole_runtime::oauth::Client;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::flow::{Back, Begun};
use self::once::Once;
use self::random::FormKey;
use self::shelf::Shelf;
use crate::http::{
    Draining, Front, HttpLimits, HttpSettings, ListenError, PageHeaders, Rate, ServeError, SettingError,
    TlsIdentity, TlsListener, Windows, serve as serve_routes,
};

/// Where clients begin.
pub const CONFIG_PATH: &str = "/oauth/config";

/// How long a person may take at the service.
const FLOW_LIFE: Duration = Duration::from_mins(10);
/// How long the one-time code is good.
const CODE_LIFE: Duration = Duration::from_mins(2);
/// Most peers or keys that are counted apart.
const COUNTED_MAX: usize = 4_096;

/// How much and how fast.
#[derive(Debug, Clone, Copy)]
pub struct BrokerLimits {
    /// Of requests and connections; `failures` is what one peer may ask that is not good.
    pub http: HttpLimits,
    /// What one key may ask.
    pub asks: Rate,
    /// How often one peer may be at a page.
    pub pages: Rate,
}

/// 60 asks a minute of a key, 120 pages a minute of a peer, and 128 KiB a body.
impl Default for BrokerLimits {
    fn default() -> Self {
        let a_minute = |count| Rate { count, per: Duration::from_mins(1) };
        let http = HttpLimits { body_bytes: 128 << 10, ..HttpLimits::default() };
        Self { http, asks: a_minute(60), pages: a_minute(120) }
    }
}

/// What makes a broker.
pub struct BrokerParts {
    /// Its own key.
    pub key: SecretKey,
    /// Where it is reached: `https://`, a name and nothing else.
    pub address: HttpsUrl,
    /// The manifests of its services.
    pub catalog: Catalog,
    /// Its client at each.
    pub clients: BTreeMap<ServiceId, Client>,
    /// Whose asks it answers: members' and bots' keys.
    pub allowed: Vec<PublicKey>,
    /// The way to the services.
    pub wire: Arc<dyn Wire>,
    /// For asks, which name their time.
    pub clock: Arc<dyn Clock>,
    /// For how long flows live and how fast things come.
    pub timer: Arc<dyn Timer>,
    /// For what nobody may guess.
    pub entropy: Arc<dyn Entropy>,
    /// How much and how fast.
    pub limits: BrokerLimits,
}

impl fmt::Debug for BrokerParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BrokerParts")
            .field("address", &self.address)
            .field("clients", &self.clients)
            .field("allowed", &self.allowed)
            .finish_non_exhaustive()
    }
}

/// Why there is no broker.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrokerError {
    /// The key is another's.
    #[error("that key is not a broker's")]
    NotABroker,
    /// The address has more than a name.
    #[error(transparent)]
    Address(#[from] SettingError),
    /// It has no client of any service.
    #[error(
        "no service has a client here: set `PINHOLE_OAUTH_<ID>_CLIENT_ID` and `PINHOLE_OAUTH_<ID>_CLIENT_SECRET`"
    )]
    NoClients,
    /// A service has no manifest here that loads.
    #[error("there is no service `{0}`: look at the name of its variables")]
    NoService(ServiceId),
    /// A service has no OAuth.
    #[error("`{0}` has no `oauth` in its manifest: a broker can do nothing for it")]
    NoOauth(ServiceId),
    /// Nobody may ask.
    #[error("nobody may ask: say `--allow KEY` for each member and each bot, or list them in `config.toml`")]
    NobodyAllowed,
    /// A broker's key is on the list.
    #[error("the key of id `{0}` is a broker's, and brokers ask nothing: allow members and bots")]
    AllowedBroker(KeyId),
    /// There is no randomness.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
}

/// A broker that is ready to be served.
pub struct Broker {
    parts: BrokerParts,
    settings: HttpSettings,
    form_key: FormKey,
    begun: Mutex<Shelf<Begun>>,
    back: Mutex<Shelf<Back>>,
    once: Mutex<Once>,
    asks: Mutex<Windows<KeyId>>,
    failures: Mutex<Windows<IpAddr>>,
    pages: Mutex<Windows<IpAddr>>,
}

impl fmt::Debug for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Broker").field(&self.parts).finish()
    }
}

impl Broker {
    /// Puts a broker together; refuses one that could not work.
    pub fn new(parts: BrokerParts) -> Result<Self, BrokerError> {
        if parts.key.public().kind() != KeyKind::Broker {
            return Err(BrokerError::NotABroker);
        }
        if parts.clients.is_empty() {
            return Err(BrokerError::NoClients);
        }
        for service in parts.clients.keys() {
            let entry = parts.catalog.find(service).ok_or_else(|| BrokerError::NoService(service.clone()))?;
            if entry.manifest.auth().oauth.is_none() {
                return Err(BrokerError::NoOauth(service.clone()));
            }
        }
        if parts.allowed.is_empty() {
            return Err(BrokerError::NobodyAllowed);
        }
        if let Some(key) = parts.allowed.iter().find(|key| key.kind() == KeyKind::Broker) {
            return Err(BrokerError::AllowedBroker(key.id()));
        }
        let limits = parts.limits;
        let settings = HttpSettings::default().with_public_url(parts.address.as_str())?;
        let windows = |rate| Mutex::new(Windows::new(rate, COUNTED_MAX));
        Ok(Self {
            settings: settings.with_limits(limits.http),
            form_key: FormKey::draw(parts.entropy.as_ref())?,
            begun: Mutex::new(Shelf::new(FLOW_LIFE)),
            back: Mutex::new(Shelf::new(CODE_LIFE)),
            once: Mutex::new(Once::new(parts.clock.now())),
            asks: Mutex::new(Windows::new(limits.asks, COUNTED_MAX)),
            failures: windows(limits.http.failures),
            pages: windows(limits.pages),
            parts,
        })
    }

    /// Its key, which whoever asks it pins.
    pub fn key(&self) -> &PublicKey {
        self.parts.key.public()
    }

    /// Which services it has clients for.
    pub fn services(&self) -> impl Iterator<Item = &ServiceId> {
        self.parts.clients.keys()
    }

    /// Where a service sends people back to: what is registered there, to the letter.
    pub fn redirect(&self, service: &ServiceId) -> String {
        self.place(&format!("/oauth/{service}/callback"))
    }

    /// Listens, for [`serve`].
    pub async fn listen(&self, address: SocketAddr) -> Result<TcpListener, ListenError> {
        self.settings.listen(address).await
    }

    /// A path at its address.
    fn place(&self, path: &str) -> String {
        format!("{}{path}", self.parts.address.as_str().trim_end_matches('/'))
    }

    /// A service that it has a client for.
    fn service(&self, service: &ServiceId) -> Option<Brokered<'_>> {
        let client = self.parts.clients.get(service)?;
        let entry = self.parts.catalog.find(service)?;
        let is_over = entry.kept.as_ref().is_some_and(|kept| kept.expires <= self.parts.clock.now());
        let oauth = entry.manifest.auth().oauth.as_ref().filter(|_oauth| !is_over)?;
        Some(Brokered { entry, oauth, client })
    }
}

/// A service of a broker.
struct Brokered<'a> {
    entry: &'a Entry,
    oauth: &'a OAuth,
    client: &'a Client,
}

/// Serves until `stop`, and then for as long as the limits let what runs go on. Without an identity it speaks plain HTTP, for a
/// proxy in front that does TLS.
pub async fn serve(
    listener: TcpListener,
    identity: Option<TlsIdentity>,
    broker: Broker,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let bound = listener.local_addr().map_err(ServeError::NoAddress)?;
    let (limits, timer) = (broker.parts.limits.http, Arc::clone(&broker.parts.timer));
    let settings = Arc::new(broker.settings.clone());
    let routes = Router::new()
        .route(CONFIG_PATH, get(flow::config))
        .route(html::STYLE_PATH, get(|| async { reply::css() }))
        .route("/oauth/{service}/start", get(flow::start))
        .route("/oauth/{service}/go", post(flow::go))
        .route("/oauth/{service}/callback", get(flow::callback))
        .route("/oauth/exchange", post(asks::exchange))
        .route("/oauth/refresh", post(asks::refresh))
        .route("/oauth/revoke", post(asks::revoke))
        .with_state(Arc::new(broker));
    let routes =
        Front::new(settings, bound).before(routes, CONFIG_PATH, PageHeaders { sent: &[], seen: &[] });
    let draining = Draining { stop, cut: CancellationToken::new(), tasks: TaskTracker::new() };
    match identity {
        Some(identity) => {
            serve_routes(TlsListener::new(listener, identity), routes, limits, timer, draining).await;
        }
        None => serve_routes(listener, routes, limits, timer, draining).await,
    }
    Ok(())
}

/// Each change is one step, so what a thread left behind when it panicked is whole.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! A broker with two services behind it, its member and its bot, and a time that only the test moves.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use http::Method;
use pinhole_grant::{ClientId, Dial, KeyKind, PublicKey, Secret, SecretKey, UnixTime};
use pinhole_manifest::ServiceId;
use pinhole_manifest::host::HttpsUrl;
use pinhole_runtime::catalog::Catalog;
use pinhole_runtime::clock::{Clock, Timer, Wait};
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_runtime::net::{DialOverride, NetSettings, PinnedClient};
use pinhole_runtime::oauth::broker::BrokerClient;
use pinhole_runtime::oauth::{Client, Verifier};
use pinhole_server::broker::{Broker, BrokerLimits, BrokerParts, serve};
use pinhole_server::http::TlsIdentity;
use pinhole_standin::{Authority, Config, Reply, Route, Standin, World};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::browser::{Answer, Ask, Browser, pairs};

pub(crate) const HOST: &str = "broker.pinhole.dev";
pub(crate) const NOW: i64 = 1_800_000_000;
pub(crate) const REDIRECT: &str = "http://127.0.0.1:4711/callback";
pub(crate) const CLIENT_SECRET: &str = "client-secret-of-the-environment";
pub(crate) const ACCESS: &str = "gho_access_of_the_service";
pub(crate) const REFRESH: &str = "ghr_refresh_of_the_service";
pub(crate) const CODE: &str = "code-of-the-service";
/// What came back to the person's machine, as the command there would check it.
pub(crate) const STATE: &str = "state-of-the-command-line-0123456789";

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

    /// Sets the clock alone.
    pub(crate) fn set(&self, seconds: i64) {
        self.wall.store(seconds, Ordering::Relaxed);
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

pub(crate) fn key(kind: KeyKind, seed: u64) -> SecretKey {
    SecretKey::generate(kind, &mut StdRng::seed_from_u64(seed))
}

pub(crate) fn member() -> SecretKey {
    key(KeyKind::Member, 1)
}

pub(crate) fn other_member() -> SecretKey {
    key(KeyKind::Member, 2)
}

pub(crate) fn bot() -> SecretKey {
    key(KeyKind::Bot, 3)
}

pub(crate) fn broker_key() -> SecretKey {
    key(KeyKind::Broker, 4)
}

pub(crate) fn here() -> HttpsUrl {
    HttpsUrl::parse(&format!("https://{HOST}/")).unwrap()
}

pub(crate) fn service(name: &str) -> ServiceId {
    ServiceId::parse(name).unwrap()
}

pub(crate) fn secret(text: &str) -> Secret {
    Secret::new(text.to_owned()).unwrap()
}

pub(crate) fn pair() -> Value {
    json!({"access_token": ACCESS, "refresh_token": REFRESH, "token_type": "bearer", "expires_in": 5})
}

/// A broker that is being set up.
pub(crate) struct Setup {
    pub(crate) limits: BrokerLimits,
    pub(crate) allowed: Vec<PublicKey>,
    pub(crate) github: Reply,
}

impl Setup {
    pub(crate) fn new() -> Self {
        let allowed = [member(), other_member(), bot()].map(|key| key.public().clone());
        Self { limits: BrokerLimits::default(), allowed: allowed.into(), github: Reply::json(200, &pair()) }
    }

    /// One whose GitHub answers so.
    pub(crate) fn github(reply: Reply) -> Self {
        Self { github: reply, ..Self::new() }
    }

    pub(crate) async fn start(self) -> Stage {
        let authority = Authority::new().unwrap();
        let standin = async |host: &str, routes: Vec<Route>| {
            let config = Config {
                host: host.to_owned(),
                authority: Some(authority.clone()),
                ..Config::new(World::Fixed(routes))
            };
            Standin::start(config).await.unwrap()
        };
        let post = |path: &str, reply: Reply| Route::new(Method::POST, path, reply);
        let github = standin("github.com", vec![post("/login/oauth/access_token", self.github)]).await;
        let gitlab = vec![
            post("/oauth/token", Reply::json(200, &pair())),
            post("/oauth/revoke", Reply::json(200, &json!({}))),
        ];
        let gitlab = standin("gitlab.com", gitlab).await;
        let dial =
            |host: &str, address: SocketAddr| DialOverride::parse(&format!("{host}:443:{address}")).unwrap();
        let out = || {
            let out = NetSettings::default().with_ca_pem(authority.pem().as_bytes()).unwrap();
            out.with_override(dial("github.com", github.addr()))
                .with_override(dial("gitlab.com", gitlab.addr()))
        };
        let time = Arc::new(Time::new());
        let client = |name: &str| {
            let id = ClientId::parse(&format!("client-of-{name}")).unwrap();
            (service(name), Client::Confidential { id, secret: secret(CLIENT_SECRET) })
        };
        let broker = Broker::new(BrokerParts {
            key: broker_key(),
            address: here(),
            catalog: Catalog::built_in().unwrap(),
            clients: BTreeMap::from([client("github"), client("gitlab")]),
            allowed: self.allowed,
            wire: Arc::new(PinnedClient::new(out()).unwrap()),
            clock: time.clone(),
            timer: time.clone(),
            entropy: Arc::new(SystemEntropy),
            limits: self.limits,
        });
        let broker = broker.unwrap();
        let listener = broker.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (chain, private) = authority.server_pem(HOST).unwrap();
        let identity = TlsIdentity::from_pem(chain.as_bytes(), private.as_bytes()).unwrap();
        let stop = CancellationToken::new();
        tokio::spawn(serve(listener, Some(identity), broker, stop.clone()));
        let asking = out().with_override(dial(HOST, address));
        let client = PinnedClient::new(asking).unwrap();
        let browser = Browser::new(address, authority.pem());
        Stage {
            browser,
            client,
            time,
            github,
            gitlab,
            verifier: Verifier::new(&SystemEntropy).unwrap(),
            _stop: stop.drop_guard(),
        }
    }
}

/// A broker that runs.
pub(crate) struct Stage {
    pub(crate) browser: Browser,
    pub(crate) client: PinnedClient,
    pub(crate) time: Arc<Time>,
    pub(crate) github: Standin,
    pub(crate) gitlab: Standin,
    /// What the command that starts keeps.
    pub(crate) verifier: Verifier,
    _stop: tokio_util::sync::DropGuard,
}

impl Stage {
    pub(crate) async fn new() -> Self {
        Setup::new().start().await
    }

    /// What a flow of the member's begins with.
    pub(crate) fn started(&self) -> Vec<(String, String)> {
        [
            ("cap", "read".to_owned()),
            ("redirect", REDIRECT.to_owned()),
            ("key", member().public().to_string()),
            ("challenge", self.verifier.challenge()),
            ("state", STATE.to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// The same with one of them changed.
    pub(crate) fn started_with(&self, name: &str, value: &str) -> Vec<(String, String)> {
        let mut fields = self.started();
        fields.iter_mut().filter(|(known, _)| known == name).for_each(|(_, old)| value.clone_into(old));
        fields
    }

    /// As far as the service's page; gives the state there.
    pub(crate) async fn begun(&self, browser: &mut Browser, service: &str) -> String {
        self.begun_with(browser, service, &self.started()).await
    }

    pub(crate) async fn begun_with(
        &self,
        browser: &mut Browser,
        service: &str,
        fields: &[(String, String)],
    ) -> String {
        let page = browser.get(&start(service, fields)).await;
        assert_eq!(page.status, 200, "{page:?}");
        let went = browser.ask(Ask::form(&format!("/oauth/{service}/go"), &page.fields())).await;
        pairs(&went.location()).remove("state").unwrap()
    }

    /// Back from the service, with its code.
    pub(crate) async fn back(&self, browser: &mut Browser, service: &str, state: &str) -> Answer {
        browser.get(&format!("/oauth/{service}/callback?code={CODE}&state={state}")).await
    }

    /// The whole way of a browser: gives the one-time code.
    pub(crate) async fn code(&self, service: &str) -> Secret {
        self.code_with(service, &self.started()).await
    }

    pub(crate) async fn code_with(&self, service: &str, fields: &[(String, String)]) -> Secret {
        let mut browser = self.browser.another();
        let state = self.begun_with(&mut browser, service, fields).await;
        let end = self.back(&mut browser, service, &state).await.location();
        secret(&pairs(&end).remove("code").unwrap())
    }

    pub(crate) fn asking<'a>(&'a self, own: &'a SecretKey, parts: &'a Parts) -> BrokerClient<'a> {
        BrokerClient {
            wire: &self.client,
            url: &parts.url,
            key: &parts.key,
            own,
            dial: Dial::Overridden,
            now: Clock::now(self.time.as_ref()),
            entropy: &SystemEntropy,
        }
    }
}

/// Where a broker is and what its key is, as who asks believes.
pub(crate) struct Parts {
    pub(crate) url: HttpsUrl,
    pub(crate) key: PublicKey,
}

pub(crate) fn known() -> Parts {
    Parts { url: here(), key: broker_key().public().clone() }
}

/// The address of a start.
pub(crate) fn start(service: &str, fields: &[(String, String)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(fields);
    format!("/oauth/{service}/start?{}", query.finish())
}

/// What a service was asked, as a form.
pub(crate) fn form(standin: &Standin) -> Vec<BTreeMap<String, String>> {
    let read = |body: &[u8]| url::form_urlencoded::parse(body).into_owned().collect();
    standin.requests().iter().map(|seen| read(&seen.body)).collect()
}

//! The client over TLS, against the stand-in authorization server.

use std::time::Duration;

use pinhole_grant::Dial;
use pinhole_manifest::Access;
use pinhole_standin::{
    Authority, Certificate, Config, Cut, Manners, Misbehaviour, Provider, Rotation, Standin, When, World,
    Writing,
};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use serde_json::json;
use url::Url;

use super::{NOW, catalog, oauth, secret};
use crate::catalog::Catalog;
use crate::entropy::SystemEntropy;
use crate::net::{DialOverride, NetSettings, PinnedClient, Sent, WireErrorKind};
use crate::oauth::{
    Authorize, Callback, Client, FreshPair, State, TokenEndpoint, TokenError, TokenKind, Unreadable,
    Verifier, callback,
};

const HOST: &str = "id.thing.dev";
const REDIRECT: &str = "http://127.0.0.1:49152/callback";

struct House {
    standin: Standin,
    provider: Provider,
    wire: PinnedClient,
    catalog: Catalog,
    client: Client,
}

impl House {
    async fn new(manners: Manners) -> Self {
        Self::with(manners, Config::new(World::Fixed(Vec::new()))).await
    }

    async fn with(manners: Manners, config: Config) -> Self {
        let authority = Authority::new().unwrap();
        let provider = Provider::new(manners);
        let config = Config {
            host: HOST.to_owned(),
            provider: Some(provider.clone()),
            authority: Some(authority.clone()),
            ..config
        };
        let standin = Standin::start(config).await.unwrap();
        let dial = DialOverride::parse(&format!("{HOST}:443:{}", standin.addr())).unwrap();
        let settings =
            NetSettings::default().with_override(dial).with_ca_pem(authority.pem().as_bytes()).unwrap();
        let catalog = catalog(&json!({
            "authorize_url": "https://id.thing.dev/oauth/authorize",
            "token_url": "https://id.thing.dev/oauth/token",
            "revoke_url": "https://id.thing.dev/oauth/revoke",
            "device_url": "https://id.thing.dev/oauth/device",
        }));
        let client = Client::Public { id: pinhole_grant::ClientId::parse("public-client").unwrap() };
        Self { standin, provider, wire: PinnedClient::new(settings).unwrap(), catalog, client }
    }

    fn endpoint(&self) -> TokenEndpoint<'_> {
        let (wire, client) = (&self.wire, &self.client);
        TokenEndpoint { wire, oauth: oauth(&self.catalog), client, dial: Dial::Overridden, now: NOW }
    }

    /// Through the browser: what the person's is sent back with.
    async fn browser(&self, url: &str) -> Url {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.standin.ca_pem().as_bytes()).unwrap()).unwrap();
        let provider = std::sync::Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let browser = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .resolve(HOST, self.standin.addr())
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .unwrap();
        let mut url = Url::parse(url).unwrap();
        url.set_port(Some(self.standin.addr().port())).unwrap();
        let answer = browser.get(url).send().await.unwrap();
        assert_eq!(answer.status(), 302);
        Url::parse(answer.headers()["location"].to_str().unwrap()).unwrap()
    }

    async fn connected(&self, verifier: &Verifier) -> Result<FreshPair, TokenError> {
        let state = State::new(&SystemEntropy).unwrap();
        let challenge = verifier.challenge();
        let authorize = Authorize {
            oauth: oauth(&self.catalog),
            client: self.client.id(),
            redirect: REDIRECT,
            state: &state,
            challenge: Some(&challenge),
            cap: Access::Read,
        };
        let back = self.browser(&authorize.url().unwrap()).await;
        let query = back.query().unwrap();
        let code = callback(Callback { query, state: &state, oauth: oauth(&self.catalog) }).unwrap();
        self.endpoint().exchange(&code, Some(verifier), REDIRECT, Access::Read).await
    }

    async fn refresh(&self, token: &str) -> Result<FreshPair, TokenError> {
        self.endpoint().refresh(&secret(token)).await
    }
}

fn texts(pair: &FreshPair) -> (String, String) {
    (pair.access.expose().to_owned(), pair.refresh.as_ref().unwrap().expose().to_owned())
}

#[tokio::test]
async fn a_code_becomes_a_pair_and_the_pair_another() {
    for writing in [Writing::Json, Writing::Form, Writing::FormSaidToBeJson, Writing::JsonSaidToBeHtml] {
        let issuer = Some("https://id.thing.dev".to_owned());
        let house = House::new(Manners { writing, issuer, ..Manners::default() }).await;
        let pair = house.connected(&Verifier::new(&SystemEntropy).unwrap()).await.unwrap();
        let (access, refresh) = texts(&pair);
        assert!(house.provider.takes(&access));
        assert_eq!(pair.expires_at, Some(NOW.plus_secs(3600)));
        let (second, rotated) = texts(&house.refresh(&refresh).await.unwrap());
        assert!(house.provider.takes(&second) && rotated != refresh);
        assert_eq!(house.provider.refreshes(), 1);

        // Who plays the spent one again ends the family, and is told so.
        let TokenError::Dead { code } = house.refresh(&refresh).await.unwrap_err() else { panic!() };
        assert_eq!(code.as_str(), "invalid_grant");
        assert!(matches!(house.refresh(&rotated).await.unwrap_err(), TokenError::Dead { .. }));
        assert!(!house.provider.takes(&second));
        assert_eq!(house.provider.dead_families(), 1);
    }
}

#[tokio::test]
async fn a_refresh_token_that_stays_is_kept() {
    let house = House::new(Manners { rotation: Rotation::Stays, ..Manners::default() }).await;
    let (_, refresh) = house.provider.connected("public-client");
    for _ in 0..3 {
        assert!(house.refresh(&refresh).await.unwrap().refresh.is_none());
    }
}

#[tokio::test]
async fn an_error_with_status_200_is_an_error() {
    let house = House::new(Manners { error_status: 200, ..Manners::default() }).await;
    assert!(matches!(house.refresh("never-given").await.unwrap_err(), TokenError::Dead { .. }));
    house.provider.mend(|manners| manners.public_clients.clear());
    assert!(matches!(house.refresh("never-given").await.unwrap_err(), TokenError::Client { .. }));
}

#[tokio::test]
async fn a_token_is_given_up() {
    let house = House::new(Manners::default()).await;
    let (access, refresh) = house.provider.connected("public-client");
    house.endpoint().revoke(&secret(&refresh), TokenKind::Refresh).await.unwrap();
    house.endpoint().revoke(&secret("unknown"), TokenKind::Access).await.unwrap();
    assert!(!house.provider.takes(&access));
    assert_eq!(house.provider.revoked(), 2);
}

#[tokio::test]
async fn what_goes_wrong_on_the_way_says_whether_it_was_sent() {
    let house = House::new(Manners::default()).await;
    let (_, refresh) = house.provider.connected("public-client");
    let unavailable = |error: TokenError| match error {
        TokenError::Unavailable { sent, retry_after, kind } => (sent, retry_after, kind),
        other => panic!("{other:?}"),
    };
    let once = |how| house.standin.misbehave(When::PathNext("/oauth/token".to_owned(), 1), how);

    once(Misbehaviour::Status { code: 503, retry_after: Some("30".to_owned()) });
    let told = unavailable(house.refresh(&refresh).await.unwrap_err());
    assert_eq!(told, (Sent::Yes, Some(Duration::from_secs(30)), None));

    once(Misbehaviour::Redirect { status: 307, location: "https://evil.dev/oauth/token".to_owned() });
    let (sent, _, kind) = unavailable(house.refresh(&refresh).await.unwrap_err());
    assert_eq!(sent, Sent::Yes);
    assert!(matches!(kind, Some(WireErrorKind::Redirected { .. })));

    once(Misbehaviour::GzipBomb { mebibytes: 64 });
    let refused = house.refresh(&refresh).await.unwrap_err();
    assert_eq!(refused, TokenError::Unreadable { what: Unreadable::Body, sent: Sent::Yes });

    once(Misbehaviour::EndlessBody);
    let refused = house.refresh(&refresh).await.unwrap_err();
    assert_eq!(refused, TokenError::Unreadable { what: Unreadable::Body, sent: Sent::Yes });

    once(Misbehaviour::Html(200));
    let refused = house.refresh(&refresh).await.unwrap_err();
    assert_eq!(refused, TokenError::Unreadable { what: Unreadable::Syntax, sent: Sent::Yes });
    assert_eq!(house.provider.refreshes(), 0, "the world was not asked so far");

    // The token is spent, and nobody has its answer.
    once(Misbehaviour::Cut(Cut::BeforeStatus));
    let (sent, ..) = unavailable(house.refresh(&refresh).await.unwrap_err());
    assert_eq!(sent, Sent::Maybe);
    assert_eq!(house.provider.refreshes(), 1);
    assert!(matches!(house.refresh(&refresh).await.unwrap_err(), TokenError::Dead { .. }));
}

#[tokio::test]
async fn a_host_that_is_not_shown_to_be_the_one_is_told_nothing() {
    for certificate in [Certificate::WrongName, Certificate::OtherCa, Certificate::Expired] {
        let config = Config { certificate, ..Config::new(World::Fixed(Vec::new())) };
        let house = House::with(Manners::default(), config).await;
        let refused = house.refresh("refresh-1").await.unwrap_err();
        let kind = Some(WireErrorKind::Tls);
        assert_eq!(refused, TokenError::Unavailable { sent: Sent::No, retry_after: None, kind });
        assert!(house.standin.requests().is_empty());
    }
}

#[tokio::test]
async fn a_name_that_leads_to_an_address_of_ones_own_is_not_dialled() {
    struct Loopback;
    impl crate::net::Lookup for Loopback {
        fn lookup(&self, _name: &str) -> crate::net::Looking {
            Box::pin(async { Ok(vec!["127.0.0.1".parse().unwrap()]) })
        }
    }
    let wire = PinnedClient::with_lookup(NetSettings::default(), std::sync::Arc::new(Loopback)).unwrap();
    let (catalog, client) = (catalog(&json!({})), super::public());
    let asked =
        TokenEndpoint { wire: &wire, oauth: oauth(&catalog), client: &client, dial: Dial::Real, now: NOW };
    let kind = Some(WireErrorKind::AddressRefused);
    let expected = TokenError::Unavailable { sent: Sent::No, retry_after: None, kind };
    assert_eq!(asked.refresh(&secret("r")).await.unwrap_err(), expected);
    assert_eq!(asked.revoke(&secret("r"), TokenKind::Access).await.unwrap_err(), expected);
    assert_eq!(asked.device(Access::Read).await.unwrap_err(), expected);
}

//! Connecting at a real authorization server (npm `oidc-provider`), through its own pages: the browser with a callback on
//! loopback, the device flow, pairs that rotate and end when one is played twice, and giving up.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use pinhole_grant::{ClientId, Dial, Secret};
use pinhole_manifest::{Access, ServiceId};
use pinhole_runtime::catalog::{Catalog, Source};
use pinhole_runtime::clock::{Clock as _, SystemClock, SystemTimer};
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_runtime::net::{DialOverride, NetSettings, PinnedClient};
use pinhole_runtime::oauth::{
    Authorize, Callback, CallbackError, Client, FreshPair, State, TokenEndpoint, TokenError, TokenKind,
    Verifier, callback,
};
use pinhole_server::callback as back;
use pinhole_standin::Authority;
use pinhole_tests::{NodeServer, tool};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::json;
use url::Url;

const HOST: &str = "id.thing.dev";
const LONG: Duration = Duration::from_mins(1);

/// The server, and a client and a browser that dial it.
struct House {
    _server: NodeServer,
    _folder: tempfile::TempDir,
    addr: SocketAddr,
    authority: Authority,
    wire: PinnedClient,
    catalog: Catalog,
}

impl House {
    fn new(test: &str) -> Option<Self> {
        let package = tool(test, "oidc/node_modules/oidc-provider")?;
        let tools = package.parent()?.parent()?;
        let authority = Authority::new().unwrap();
        let (certificate, key) = authority.server_pem(HOST).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let (certificate, key) = (write("cert.pem", certificate), write("key.pem", key));
        let server = NodeServer::start_of(test, tools, "oidc.mjs", &[HOST, &certificate, &key])?;
        let addr = server.addr();
        let dial = DialOverride::parse(&format!("{HOST}:443:{addr}")).unwrap();
        let settings =
            NetSettings::default().with_override(dial).with_ca_pem(authority.pem().as_bytes()).unwrap();
        let wire = PinnedClient::new(settings).unwrap();
        Some(Self { _server: server, _folder: folder, addr, authority, wire, catalog: catalog() })
    }

    fn endpoint<'a>(&'a self, client: &'a Client) -> TokenEndpoint<'a> {
        let entry = self.catalog.find(&ServiceId::parse("thing").unwrap()).unwrap();
        let oauth = entry.manifest.auth().oauth.as_ref().unwrap();
        TokenEndpoint { wire: &self.wire, oauth, client, dial: Dial::Overridden, now: SystemClock.now() }
    }

    fn browser(&self) -> Browser {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.authority.pem().as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .resolve(HOST, self.addr)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .unwrap();
        Browser { client, port: self.addr.port(), cookies: BTreeMap::new() }
    }

    /// Connects through the browser.
    async fn connected(&self, client: &Client) -> FreshPair {
        let (state, verifier) = (State::new(&SystemEntropy).unwrap(), Verifier::new(&SystemEntropy).unwrap());
        let endpoint = self.endpoint(client);
        let listener = back::Callback::listen(0).await.unwrap();
        let redirect = listener.redirect();
        let challenge = verifier.challenge();
        let authorize = Authorize {
            oauth: endpoint.oauth,
            client: client.id(),
            redirect: &redirect,
            state: &state,
            challenge: Some(&challenge),
            cap: Access::Read,
        };
        let page = authorize.url().unwrap();
        let judge = |query: &str| match callback(Callback { query, state: &state, oauth: endpoint.oauth }) {
            Err(CallbackError::NotOurs) => None,
            answer => Some(answer),
        };
        let answer = listener.answer(LONG, Arc::new(SystemTimer), judge);
        let mut browser = self.browser();
        let (code, said) = tokio::join!(answer, browser.say_yes(&page));
        assert!(said.contains("You can close this page."), "{said}");
        let code = code.unwrap().unwrap();
        let other = Verifier::new(&SystemEntropy).unwrap();
        // Whoever caught the code has not the verifier; here that spends nothing.
        let caught = endpoint.exchange(&code, Some(&other), &redirect, Access::Read).await.unwrap_err();
        assert!(matches!(caught, TokenError::Dead { .. }), "{caught:?}");
        endpoint.exchange(&code, Some(&verifier), &redirect, Access::Read).await.unwrap()
    }
}

fn catalog() -> Catalog {
    let manifest = json!({
        "pinhole": 1, "id": "thing", "version": "1.0.0", "name": "Thing", "summary": "Things.", "host": HOST,
        "auth": {"scheme": "bearer", "viewer": "get_me", "account": "$.sub", "oauth": {
            "authorize_url": format!("https://{HOST}/auth"), "token_url": format!("https://{HOST}/token"),
            "revoke_url": format!("https://{HOST}/token/revocation"),
            "device_url": format!("https://{HOST}/device/auth"),
            "issuer": format!("https://{HOST}"), "client_auth": "basic",
            "scopes": ["openid", "offline_access"]}},
        "ops": {"get_me": {"access": "read", "summary": "Me.", "request": {"method": "GET", "path": "/me"},
            "pick": {"fields": ["sub"]},
            "args": {"type": "object", "additionalProperties": false, "properties": {}}}}
    });
    let mut catalog = Catalog::default();
    catalog.add(manifest.to_string().as_bytes(), Source::UnsignedFile).unwrap();
    catalog
}

/// A person at her browser, who signs in and agrees to everything.
struct Browser {
    client: reqwest::Client,
    port: u16,
    cookies: BTreeMap<String, String>,
}

impl Browser {
    /// Follows the pages from here until one has no form, and gives what it says.
    async fn say_yes(&mut self, page: &str) -> String {
        let mut url = Url::parse(page).unwrap();
        let mut form = None;
        for _page in 0..24 {
            let answer = self.ask(&url, form.take()).await;
            if let Some(to) = answer.headers().get("location") {
                url = url.join(to.to_str().unwrap()).unwrap();
                continue;
            }
            let status = answer.status();
            let text = answer.text().await.unwrap();
            let Some((action, fields)) = form_of(&text) else { return text };
            assert!(status.is_success(), "{url}: {text}");
            url = url.join(&action).unwrap();
            form = Some(fields);
        }
        panic!("the pages go on and on: {url}")
    }

    async fn ask(&mut self, url: &Url, form: Option<String>) -> reqwest::Response {
        let mut dialled = url.clone();
        let at_server = url.host_str() == Some(HOST);
        if at_server {
            dialled.set_port(Some(self.port)).unwrap();
        }
        let mut request = match form {
            None => self.client.get(dialled),
            Some(form) => self
                .client
                .post(dialled)
                .header("content-type", "application/x-www-form-urlencoded")
                .body(form),
        };
        if at_server {
            let cookies = self.cookies.iter().map(|(name, value)| format!("{name}={value}"));
            request = request.header("cookie", cookies.collect::<Vec<_>>().join("; ")).header("host", HOST);
        }
        let answer = request.send().await.unwrap();
        for cookie in answer.headers().get_all("set-cookie") {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        answer
    }
}

/// Where the first form of a page goes, and its fields as a person fills them in.
fn form_of(page: &str) -> Option<(String, String)> {
    let form = page.split("<form").nth(1)?.split("</form>").next()?;
    let attribute = |tag: &str, name: &str| {
        let value = tag.split(&format!("{name}=\"")).nth(1)?;
        Some(value.split('"').next()?.to_owned())
    };
    let action = attribute(form.split('>').next()?, "action")?;
    let mut fields = url::form_urlencoded::Serializer::new(String::new());
    for tag in form.split('<').filter(|tag| tag.starts_with("input") || tag.starts_with("button")) {
        let Some(name) = attribute(tag, "name") else { continue };
        match name.as_str() {
            "login" => fields.append_pair("login", "wren"),
            "password" => fields.append_pair("password", "anything"),
            "abort" => continue,
            _ => fields.append_pair(&name, &attribute(tag, "value").unwrap_or_default()),
        };
    }
    Some((action, fields.finish()))
}

fn public() -> Client {
    Client::Public { id: ClientId::parse("public-client").unwrap() }
}

fn copy(secret: &Secret) -> Secret {
    Secret::new(secret.expose().to_owned()).unwrap()
}

async fn rotated(house: &House, client: &Client) {
    let pair = house.connected(client).await;
    assert_eq!(pair.expires_at, Some(pair.obtained_at.plus_secs(5)));
    let first = pair.refresh.unwrap();
    let second = house.endpoint(client).refresh(&first).await.unwrap();
    let latest = second.refresh.as_ref().map(copy).unwrap();
    assert_ne!(latest.expose(), first.expose());
    // The spent one, played again, ends the family.
    for dead in [&first, &latest] {
        let refused = house.endpoint(client).refresh(dead).await.unwrap_err();
        assert!(matches!(refused, TokenError::Dead { .. }), "{refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn she_connects_in_her_browser_and_the_pair_rotates() {
    let Some(house) = House::new("she_connects_in_her_browser_and_the_pair_rotates") else { return };
    rotated(&house, &public()).await;
    // A secret that would not pass in `Basic` as it is.
    let secret = Secret::new("a-secret/with+signs:that%must&be=encoded".to_owned()).unwrap();
    let id = ClientId::parse("basic-client").unwrap();
    rotated(&house, &Client::Confidential { id: id.clone(), secret }).await;
    let wrong = Client::Confidential { id, secret: Secret::new("wrong".to_owned()).unwrap() };
    let refused = house.endpoint(&wrong).refresh(&Secret::new("r".to_owned()).unwrap()).await.unwrap_err();
    assert!(matches!(refused, TokenError::Client { .. }), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_given_up_is_good_no_more() {
    let Some(house) = House::new("what_is_given_up_is_good_no_more") else { return };
    let client = public();
    let pair = house.connected(&client).await;
    let refresh = pair.refresh.unwrap();
    house.endpoint(&client).revoke(&refresh, TokenKind::Refresh).await.unwrap();
    house.endpoint(&client).revoke(&pair.access, TokenKind::Access).await.unwrap();
    let refused = house.endpoint(&client).refresh(&refresh).await.unwrap_err();
    assert!(matches!(refused, TokenError::Dead { .. }), "{refused:?}");
    // Unknown to the server is as good as given up.
    let unknown = Secret::new("never-given".to_owned()).unwrap();
    house.endpoint(&client).revoke(&unknown, TokenKind::Refresh).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn she_types_a_code_on_another_device() {
    let Some(house) = House::new("she_types_a_code_on_another_device") else { return };
    let client = public();
    let endpoint = house.endpoint(&client);
    let start = endpoint.device(Access::Read).await.unwrap();
    let page = start.page_with_code().unwrap().as_str().to_owned();
    let mut browser = house.browser();
    let said = browser.say_yes(&page).await;
    assert!(said.contains("Sign-in Success"), "{said}");
    // She was faster than the first look.
    let pair = endpoint.device_pair(&start, Access::Read, &SystemClock, &Soon).await.unwrap();
    assert!(pair.refresh.is_some());
    let again = endpoint.device_pair(&start, Access::Read, &SystemClock, &Soon).await;
    assert!(again.is_err(), "a device code is good once");
}

/// Waits for nothing.
struct Soon;

impl pinhole_runtime::clock::Timer for Soon {
    fn now(&self) -> std::time::Instant {
        std::time::Instant::now()
    }

    fn wait(&self, _time: Duration) -> pinhole_runtime::clock::Wait<'_> {
        Box::pin(std::future::ready(()))
    }
}

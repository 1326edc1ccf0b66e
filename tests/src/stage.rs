//! The stage of a test: stand-in, executor, member, clock and store.
//!
//! INVARIANT: the client dials every manifest's host at the stand-in, or nowhere; no name is looked up.

use std::net::SocketAddr;
use std::sync::Arc;

use pinhole_grant::{Action, CredentialId, KeyId, KeyKind, SecretKey, UnixTime};
use pinhole_manifest::model::Args;
use pinhole_manifest::{OpId, ServiceId};
use pinhole_runtime::book::Book;
use pinhole_runtime::catalog::{Catalog, Entry, ModuleFiles, Source};
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_runtime::net::{DialOverride, NetSettings, PinnedClient, StageLimits};
use pinhole_runtime::renew::Renewing;
use pinhole_runtime::sandbox::Sandbox;
use pinhole_runtime::store::{MemoryStore, Store};
use pinhole_runtime::{CallRequest, Executor, Outcome, Retries};
use pinhole_standin::{Config, GithubWorld, Route, Shelf, Standin, World};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::Value;

use crate::granting::Granting;
use crate::times::{TestClock, TestTimer};

/// The key that stand-ins expect. It opens nothing else.
pub const KEY: &str = "ghp_StandIn0Key1That2Opens3Nothing4+/=";
/// What a stage's clock says at first.
pub const NOW: UnixTime = UnixTime::from_secs(1_800_000_000);
/// Seconds of an hour.
pub const HOUR: i64 = 3600;
/// The organisation of the GitHub-shaped world.
pub const ORG: &str = "pinhole-demo";
/// A repository of it.
pub const REPO: &str = GithubWorld::REPOSITORY;
/// The manifest of a made-up service at `api.thing.dev`, with an op for each thing that GitHub's manifest lacks.
pub const THING: &str = include_str!("thing.json");

/// The manifest of a made-up service at `api.shelf.dev`, with an op for each style of pages.
pub const SHELF: &str = include_str!("shelf.json");

/// The made-up manifest, to be changed.
pub fn thing() -> Value {
    serde_json::from_str(THING).expect("the manifest is JSON")
}

/// What a test wants its stage to be; every field has its usual value already.
#[expect(missing_debug_implementations, reason = "it holds a store of any kind")]
pub struct Setup {
    /// The stand-in.
    pub standin: Config,
    /// The manifests.
    pub catalog: Catalog,
    /// What outlives the process; in memory unless a test is about files.
    pub store: Arc<dyn Store>,
    /// The client's time limits.
    pub limits: StageLimits,
    /// Where the client dials, if not at the stand-in.
    pub dial: Option<SocketAddr>,
}

impl Setup {
    /// GitHub's manifest, compiled in, and a small GitHub-shaped world that expects [`KEY`].
    pub fn github() -> Self {
        let world = GithubWorld { repositories: 6, ..GithubWorld::default() };
        Self::new(World::Github(world), Catalog::built_in().expect("the manifests load"))
    }

    /// The manifest of the made-up service ([`THING`]) from a local file, and these replies.
    pub fn thing(routes: Vec<Route>) -> Self {
        Self::manifest(&thing(), routes)
    }

    /// This manifest from a local file, and these replies.
    pub fn manifest(manifest: &Value, routes: Vec<Route>) -> Self {
        let mut catalog = Catalog::default();
        let host = add(&mut catalog, manifest);
        let setup = Self::new(World::Fixed(routes), catalog);
        Self { standin: Config { host, ..setup.standin }, ..setup }
    }

    /// The manifest of the shelf ([`SHELF`]) from a local file, and so many things.
    pub fn shelf(things: usize) -> Self {
        let setup = Self::shelf_of(Vec::new());
        Self { standin: Config { world: World::Shelf(Shelf { things }), ..setup.standin }, ..setup }
    }

    /// The same manifest, and these replies.
    pub fn shelf_of(routes: Vec<Route>) -> Self {
        Self::manifest(&serde_json::from_str(SHELF).expect("the manifest is JSON"), routes)
    }

    pub(crate) fn new(world: World, catalog: Catalog) -> Self {
        Self {
            standin: Config { token: Some(KEY.to_owned()), ..Config::new(world) },
            catalog,
            store: Arc::new(MemoryStore::default()),
            limits: StageLimits::default(),
            dial: None,
        }
    }

    /// Takes in one more manifest, from a local file.
    #[must_use]
    pub fn and(mut self, manifest: &Value) -> Self {
        add(&mut self.catalog, manifest);
        self
    }

    /// Starts the stand-in and puts everything together.
    pub async fn start(self) -> Stage {
        let standin = Standin::start(self.standin).await.expect("a stand-in starts");
        let mut rng = entropy();
        let member = SecretKey::generate(KeyKind::Member, &mut rng);
        let (clock, timer) = (TestClock::default(), TestTimer::default());
        let dialled = self.dial.unwrap_or_else(|| standin.addr());
        let client = client(&self.catalog, dialled, &standin, self.limits);
        let executor = Executor {
            bot: Arc::new(SecretKey::generate(KeyKind::Bot, &mut rng).into()),
            issuers: vec![member.public().clone()],
            catalog: self.catalog,
            store: Arc::clone(&self.store),
            clock: Box::new(clock.clone()),
            timer: Box::new(timer.clone()),
            entropy: Box::new(SystemEntropy),
            retries: Retries::Usual,
            sandbox: Sandbox::default(),
            book: Book::default(),
            renewing: Renewing::default(),
            wire: Arc::new(client),
        };
        let connection = CredentialId::random(&mut rng);
        Stage { standin, executor, member, clock, timer, store: self.store, connection, limits: self.limits }
    }
}

fn add(catalog: &mut Catalog, manifest: &Value) -> String {
    add_with(catalog, manifest, ModuleFiles::None)
}

pub(crate) fn add_with(catalog: &mut Catalog, manifest: &Value, modules: ModuleFiles) -> String {
    match catalog.add_with(manifest.to_string().as_bytes(), Source::UnsignedFile, modules) {
        Ok(entry) => entry.manifest.host().to_string(),
        Err(error) => panic!("the manifest does not load: {error:?}"),
    }
}

pub(crate) fn client(
    catalog: &Catalog,
    dialled: SocketAddr,
    standin: &Standin,
    limits: StageLimits,
) -> PinnedClient {
    let dial = |settings: NetSettings, entry: &Entry| {
        let text = format!("{}:443:{dialled}", entry.manifest.host());
        settings.with_override(DialOverride::parse(&text).expect("an override"))
    };
    let settings = catalog.iter().fold(NetSettings::default().with_limits(limits), dial);
    let settings = settings.with_ca_pem(standin.ca_pem().as_bytes()).expect("a CA");
    PinnedClient::new(settings).expect("a client")
}

pub(crate) fn entropy() -> UnwrapErr<SysRng> {
    UnwrapErr(SysRng)
}

/// Everything that a test from end to end needs.
#[expect(missing_debug_implementations, reason = "it holds keys and a store of any kind")]
pub struct Stage {
    /// The service.
    pub standin: Standin,
    /// Who runs the calls. Its parts may be changed.
    pub executor: Executor,
    /// Who gives the grants.
    pub member: SecretKey,
    /// The executor's clock.
    pub clock: TestClock,
    /// The executor's timer.
    pub timer: TestTimer,
    /// The executor's store.
    pub store: Arc<dyn Store>,
    /// The connection that the member has.
    pub connection: CredentialId,
    pub(crate) limits: StageLimits,
}

impl Stage {
    /// A manifest with its source.
    pub fn entry(&self, service: &str) -> &Entry {
        let id = ServiceId::parse(service).expect("a service id");
        self.executor.catalog.find(&id).expect("a manifest of that service")
    }

    /// Another client like the executor's, to be wrapped.
    pub fn client(&self) -> PinnedClient {
        client(&self.executor.catalog, self.standin.addr(), &self.standin, self.limits)
    }

    /// `reqwest` itself with the settings of the pinned client, dialling the stand-in for `api.github.com`: what anybody
    /// else would read, and what a call is measured against.
    pub fn bare_client(&self) -> reqwest::Client {
        let mut roots = rustls::RootCertStore::empty();
        let ca = CertificateDer::from_pem_slice(self.standin.ca_pem().as_bytes()).expect("a certificate");
        roots.add(ca).expect("a root");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .resolve("api.github.com", self.standin.addr())
            .https_only(true)
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .gzip(true)
            .brotli(true)
            .user_agent("a test")
            .build()
            .expect("a client")
    }

    /// Begins a read grant for all of a service, good for an hour, any number of times.
    pub fn grant(&self, service: &str) -> Granting<'_> {
        Granting::read(self, service)
    }

    /// Begins an approval of exactly this write.
    pub fn approval(&self, name: &str, args: &Value) -> Granting<'_> {
        Granting::approval(self, name, args)
    }

    /// Runs `service.op` under a sealed grant.
    pub async fn run(&self, name: &str, args: &Value, grant: &[u8]) -> Outcome {
        self.run_text(name, &args.to_string(), grant).await
    }

    /// Runs `service.op` with args as text, which need not be JSON.
    pub async fn run_text(&self, name: &str, args: &str, grant: &[u8]) -> Outcome {
        let (service, op) = op_name(name);
        self.executor.run(CallRequest::new(service, op, args, grant)).await
    }

    /// Runs `service.op` for the page that an outcome's `next` stands for.
    pub async fn run_next(&self, name: &str, args: &Value, grant: &[u8], next: &str) -> Outcome {
        let (service, op) = op_name(name);
        self.executor.run(CallRequest::new(service, op, args.to_string(), grant).with_next(next)).await
    }

    /// Runs a read under a read grant of its own.
    pub async fn read(&self, name: &str, args: &Value) -> Outcome {
        let (service, _) = op_name(name);
        let grant = self.grant(service.as_str()).seal();
        self.run(name, args, &grant).await
    }

    /// Runs a write under an approval of its own.
    pub async fn write(&self, name: &str, args: &Value) -> Outcome {
        let grant = self.approval(name, args).seal();
        self.run(name, args, &grant).await
    }

    /// What has reached the stand-in, as `METHOD path`.
    pub fn seen(&self) -> Vec<String> {
        self.standin.requests().iter().map(|seen| format!("{} {}", seen.method, seen.path)).collect()
    }

    /// Args in the form in which an approval names them.
    pub fn normal_args(&self, name: &str, args: &Value) -> Args {
        let (service, op) = op_name(name);
        let op = self.entry(service.as_str()).manifest.op(&op).expect("an op of the manifest");
        op.args.parse_text(&args.to_string()).expect("args that the op takes")
    }
}

/// `service.op` as the two names in it.
pub fn op_name(name: &str) -> (ServiceId, OpId) {
    let (service, op) = name.split_once('.').expect("`service.op`");
    (ServiceId::parse(service).expect("a service id"), OpId::parse(op).expect("an op's name"))
}

/// What an approval of this call names, before a test changes a part of it.
pub fn action<'a>(
    entry: &'a Entry,
    op: &'a OpId,
    args: &'a Args,
    (connection, account): (CredentialId, &'a pinhole_grant::Account),
    bot: KeyId,
) -> Action<'a> {
    Action {
        service: entry.manifest.id(),
        op,
        args,
        manifest: entry.manifest.digest(),
        connection,
        account,
        bot,
    }
}

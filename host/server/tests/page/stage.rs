//! The stage of these tests: a member whose bot asked for a write at a stand-in, and her page.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pinhole_grant::{Passphrase, SecretKey};
use pinhole_runtime::catalog::{Catalog, ModuleFiles, Source};
use pinhole_runtime::clock::{Timer, Wait};
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_runtime::store::{ConnectionRow, Connections as _, QuestionId};
use pinhole_server::page::{Ended, Keyholder, KeyholderError, MemberSide, Page, Patience};
use pinhole_standin::Route;
use pinhole_tests::{LocalStage, ORG, REPO, Setup};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

pub(crate) use crate::wire::{Answer, Asking};

/// What opens the member's key.
pub(crate) const PASSPHRASE: &str = "correct horse & battery+";
/// The same in a form.
pub(crate) const PASSPHRASE_IN_A_FORM: &str = "correct+horse+%26+battery%2B";

/// The write of these tests.
pub(crate) const WRITE: &str = "github.create_issue";

/// Its args.
pub(crate) fn args() -> Value {
    json!({"owner": ORG, "repo": REPO, "title": "The lamp flickers"})
}

/// A timer whose short waits are over at once, and whose long ones when the test says so.
#[derive(Clone, Default)]
pub(crate) struct PageTimer(Arc<Waits>);

#[derive(Default)]
struct Waits {
    passed: std::sync::Mutex<Duration>,
    long: Notify,
    short: AtomicUsize,
}

impl PageTimer {
    /// So much time passes.
    pub(crate) fn pass(&self, time: Duration) {
        *self.0.passed.lock().unwrap() += time;
        self.0.long.notify_waiters();
        self.0.long.notify_one();
    }

    /// How many short waits there were.
    pub(crate) fn short_waits(&self) -> usize {
        self.0.short.load(Ordering::SeqCst)
    }
}

impl Timer for PageTimer {
    fn now(&self) -> Instant {
        Instant::now() + *self.0.passed.lock().unwrap()
    }

    fn wait(&self, time: Duration) -> Wait<'_> {
        if time < Duration::from_secs(10) {
            self.0.short.fetch_add(1, Ordering::SeqCst);
            return Box::pin(std::future::ready(()));
        }
        Box::pin(self.0.long.notified())
    }
}

/// The file of the member's key.
pub(crate) struct KeyFile {
    bytes: Vec<u8>,
    /// How many passphrases it was tried with.
    pub(crate) tried: Arc<AtomicUsize>,
}

impl Keyholder for KeyFile {
    fn ready(&self) -> Result<(), KeyholderError> {
        if pinhole_grant::keys::is_protected(&self.bytes).unwrap() {
            return Ok(());
        }
        Err(KeyholderError::Unusable {
            message: "your key has no passphrase".to_owned(),
            hint: "protect it with `pinhole keys protect`".to_owned(),
        })
    }

    fn open(&self, passphrase: &Passphrase) -> Result<SecretKey, KeyholderError> {
        self.ready()?;
        self.tried.fetch_add(1, Ordering::SeqCst);
        SecretKey::from_file(&self.bytes, Some(passphrase)).map_err(|_error| KeyholderError::Wrong)
    }
}

/// A member, her bot, and her page.
pub(crate) struct Desk {
    pub(crate) stage: LocalStage,
    pub(crate) timer: PageTimer,
    pub(crate) tried: Arc<AtomicUsize>,
    pub(crate) port: u16,
    pub(crate) code: String,
    pub(crate) ended: JoinHandle<Ended>,
    pub(crate) stop: oneshot::Sender<()>,
}

impl Desk {
    /// With GitHub connected.
    pub(crate) async fn new() -> Self {
        let stage = Setup::github().start_local().await;
        stage.connect("github").await;
        Self::with(stage, Catalog::built_in().unwrap(), Some(PASSPHRASE), Patience::default()).await
    }

    /// With another manifest, from a local file, connected.
    pub(crate) async fn of(manifest: &Value, routes: Vec<Route>) -> Self {
        let stage = Setup::manifest(manifest, routes).start_local().await;
        stage.connect(manifest["id"].as_str().unwrap()).await;
        let mut catalog = Catalog::default();
        catalog.add_with(manifest.to_string().as_bytes(), Source::UnsignedFile, ModuleFiles::None).unwrap();
        Self::with(stage, catalog, Some(PASSPHRASE), Patience::default()).await
    }

    pub(crate) async fn with(
        stage: LocalStage,
        catalog: Catalog,
        passphrase: Option<&str>,
        patience: Patience,
    ) -> Self {
        let passphrase = passphrase.map(|text| Passphrase::new(text.to_owned()).unwrap());
        let bytes = stage.member.to_file(passphrase.as_ref(), &mut UnwrapErr(SysRng)).unwrap().to_vec();
        let (timer, tried) = (PageTimer::default(), Arc::new(AtomicUsize::new(0)));
        let side = MemberSide {
            desk: stage.store.clone(),
            catalog: Arc::new(catalog),
            member: stage.member.public().id(),
            bot: stage.bot.executor.bot.public().clone(),
            former: Vec::new(),
            keyholder: Box::new(KeyFile { bytes, tried: tried.clone() }),
            clock: Box::new(stage.clock.clone()),
            timer: Box::new(timer.clone()),
            entropy: Box::new(SystemEntropy),
        };
        let page = Page::bind(0, side, patience).await.unwrap();
        let port = page.address().port().unwrap();
        assert_eq!(page.address().as_str(), format!("http://127.0.0.1:{port}/"));
        let code = page.opening().path().strip_prefix("/open/").unwrap().to_owned();
        let (stop, stopped) = oneshot::channel();
        let ended = tokio::spawn(page.run(async { stopped.await.unwrap_or_default() }));
        Self { stage, timer, tried, port, code, ended, stop }
    }

    /// What is stored of the one connection.
    pub(crate) fn connection(&self) -> ConnectionRow {
        self.stage.store.connections(self.stage.member.public().id()).unwrap().remove(0)
    }

    /// Raises the question of these tests.
    pub(crate) async fn ask(&self) -> QuestionId {
        self.stage.ask(WRITE, &args()).await
    }

    /// Begins a request of the page's own browser.
    pub(crate) fn get(&self, path: &str) -> Asking {
        Asking::new("GET", path, self.port)
    }

    /// Begins a form of the page's own.
    pub(crate) fn post(&self, path: &str, body: &str) -> Asking {
        Asking::new("POST", path, self.port)
            .with("origin", &format!("http://127.0.0.1:{}", self.port))
            .with("content-type", "application/x-www-form-urlencoded")
            .body(body)
    }

    /// Opens the one-time address.
    pub(crate) async fn enter(&self) -> Browser<'_> {
        let opened = self.get(&format!("/open/{}", self.code)).send().await;
        assert_eq!((opened.status, opened.header("location")), (303, Some("/")), "{opened:?}");
        let cookie = opened.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        Browser { desk: self, cookie }
    }
}

/// A browser that has entered.
pub(crate) struct Browser<'d> {
    pub(crate) desk: &'d Desk,
    pub(crate) cookie: String,
}

impl Browser<'_> {
    pub(crate) fn get(&self, path: &str) -> Asking {
        self.desk.get(path).with("cookie", &self.cookie)
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> Asking {
        self.desk.post(path, body).with("cookie", &self.cookie)
    }

    /// Looks at a question, and gives what its forms carry.
    pub(crate) async fn look(&self, id: QuestionId) -> Form {
        Form::of(&self.get(&format!("/question/{id}")).send().await)
    }

    /// Says yes to what a form stood below.
    pub(crate) async fn yes(&self, id: QuestionId, form: &Form, passphrase: &str) -> Answer {
        let body = format!("{}&passphrase={passphrase}", form.body());
        self.post(&format!("/question/{id}/approve"), &body).send().await
    }

    /// Says no to it.
    pub(crate) async fn no(&self, id: QuestionId, form: &Form) -> Answer {
        self.post(&format!("/question/{id}/deny"), &form.body()).send().await
    }
}

/// What the forms of a question carry.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    pub(crate) token: String,
    pub(crate) sheet: String,
}

impl Form {
    #[track_caller]
    pub(crate) fn of(page: &Answer) -> Self {
        let field = |name: &str| {
            let begin = format!("<input type=\"hidden\" name=\"{name}\" value=\"");
            let rest = page.body.split(&begin).nth(1).unwrap_or_else(|| panic!("no `{name}`: {page:?}"));
            rest.split('"').next().unwrap().to_owned()
        };
        Self { token: field("token"), sheet: field("sheet") }
    }

    pub(crate) fn body(&self) -> String {
        format!("token={}&sheet={}", self.token, self.sheet.replace(':', "%3A"))
    }
}

//! The stage of a test about stored connections: one database is the executor's store and the desk of member and bot.
//!
//! Nothing in it is made up: a connection is there because its key was proved at the stand-in and kept, a question because
//! the bot ran a write, an approval because the member was shown a sheet.

use std::sync::Arc;

use pinhole_grant::{CredentialId, Label, Secret, SecretKey, UnixTime};
use pinhole_manifest::{Access, ServiceId};
use pinhole_runtime::Outcome;
use pinhole_runtime::clock::Clock as _;
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_runtime::local::{
    Agreed, ApproveError, Keep, KeepError, Kept, LocalBot, OtherAccount, Present, Sheet, SheetError,
    StoredCall, deny,
};
use pinhole_runtime::net::{PinnedClient, StageLimits};
use pinhole_runtime::outcome::Code;
use pinhole_runtime::store::{
    Connections as _, Party, Question, QuestionId, Questions as _, SqliteStore, Store as _,
};
use pinhole_standin::{Config, Reply, Route, Standin};
use serde_json::{Value, json};

use crate::stage::{Setup, Stage, client, op_name, thing};
use crate::times::{TestClock, TestTimer};

/// What [`LocalStage::connect`] calls a connection.
pub const LABEL: &str = "work";

/// The key that the stand-in of a local stage expects: one that looks like GitHub's.
pub const PASTED: &str = "ghp_StandIn5Key6That7Opens8Nothing90123456";

/// The made-up manifest with a viewer, so that its service can be connected: `GET /me`, which answers with a `login`.
pub fn connectable_thing() -> Value {
    let mut manifest = thing();
    manifest["auth"] = json!({"scheme": "bearer", "viewer": "get_me", "account": "$.login"});
    manifest["ops"]["get_me"] = json!({
        "access": "read", "summary": "Whose key it is.",
        "request": {"method": "GET", "path": "/me"}, "pick": {"fields": ["login"]}
    });
    manifest
}

/// The made-up manifest with a viewer, and a write that spends and cannot be taken back.
pub fn writable_thing() -> Value {
    let mut manifest = connectable_thing();
    manifest["ops"]["pay"] = json!({
        "access": "write", "summary": "Pay.", "confirm": "Pay {amount}?", "effect": "spend", "irreversible": true,
        "args": {
            "type": "object", "additionalProperties": false, "required": ["amount"],
            "properties": {"amount": {"type": "integer", "description": "How much."}}
        },
        "request": {"method": "POST", "path": "/payments", "json": {"amount": "{amount}"}},
        "pick": {"fields": ["id"]}
    });
    manifest["ops"]["drop_thing"] = json!({
        "access": "write", "summary": "Drop a thing.", "confirm": "Drop {id}?", "effect": "delete",
        "args": {
            "type": "object", "additionalProperties": false, "required": ["id"],
            "properties": {"id": {"type": "string", "description": "The id."}}
        },
        "request": {"method": "DELETE", "path": "/things/{id}"},
        "pick": "none"
    });
    manifest
}

/// What the stand-in of [`writable_thing`] answers.
pub fn writable_things_routes() -> Vec<Route> {
    vec![
        get("/me", &json!({"login": "wren"})),
        post("/notes", &json!({"id": 1})),
        post("/notes/send", &json!({"id": 2})),
        post("/payments", &json!({"id": 3})),
        Route::new(http::Method::DELETE, "/things/7", Reply::new(204, "")),
        get("/shelves/north", &json!({"id": "north", "locked": false})),
        get("/shelves/locked", &json!({"id": "north", "locked": true})),
        post("/shelves/north/things", &json!({"id": 7})),
    ]
}

fn get(path: &str, body: &Value) -> Route {
    Route::get(path, Reply::json(200, body))
}

fn post(path: &str, body: &Value) -> Route {
    Route::new(http::Method::POST, path, Reply::json(201, body))
}

/// A member with connections, and the bot that runs on them.
#[expect(missing_debug_implementations, reason = "it holds keys")]
pub struct LocalStage {
    /// The service.
    pub standin: Standin,
    /// Who runs the calls. Its parts may be changed.
    pub bot: LocalBot,
    /// Whose connections they are.
    pub member: SecretKey,
    /// The clock of both.
    pub clock: TestClock,
    /// The executor's timer.
    pub timer: TestTimer,
    /// What is stored.
    pub store: Arc<SqliteStore>,
    rest: Rest,
}

/// What of a [`Stage`] a local one has no use for.
struct Rest {
    connection: CredentialId,
    limits: StageLimits,
}

impl Setup {
    /// Starts the stand-in and puts everything together on a new database in memory.
    pub async fn start_local(self) -> LocalStage {
        self.start_local_on(SqliteStore::in_memory().expect("a store")).await
    }

    /// The same on this database.
    pub async fn start_local_on(self, store: impl Into<Arc<SqliteStore>>) -> LocalStage {
        let store = store.into();
        let token = self.standin.token.as_ref().map(|_other| PASTED.to_owned());
        let standin = Config { token, ..self.standin };
        let stage = Self { standin, store: store.clone(), ..self }.start().await;
        let Stage { standin, executor, member, clock, timer, store: _, connection, limits } = stage;
        let bot = LocalBot {
            executor,
            desk: store.clone(),
            member: member.public().id(),
            agreed: Agreed::default(),
        };
        LocalStage { standin, bot, member, clock, timer, store, rest: Rest { connection, limits } }
    }
}

impl LocalStage {
    /// The member at her terminal, her key open.
    pub fn present(&self) -> Present<'_> {
        Present {
            key: &self.member,
            bot: self.bot.executor.bot.public(),
            former: &[],
            desk: self.store.as_ref(),
            catalog: &self.bot.executor.catalog,
            entropy: &SystemEntropy,
            wall: self.clock.now(),
            now: self.now(),
        }
    }

    /// The latest time that was seen.
    pub fn now(&self) -> UnixTime {
        self.store.high_water(self.clock.now()).expect("the time")
    }

    /// Connects the stand-in's key as [`LABEL`]; writes may be asked for.
    pub async fn connect(&self, service: &str) -> Kept {
        self.connect_with(service, PASTED, LABEL, Some(Access::Write)).await.expect("a connection")
    }

    /// Proves a key and keeps it.
    pub async fn connect_with(
        &self,
        service: &str,
        key: &str,
        label: &str,
        cap: Option<Access>,
    ) -> Result<Kept, KeepError> {
        let id = ServiceId::parse(service).expect("a service id");
        let entry = self.bot.executor.catalog.find(&id).expect("a manifest of that service");
        let key = Secret::new(key.to_owned()).expect("a key");
        let present = self.present();
        let proved = present.prove(key, entry, &self.bot.executor).await.expect("the key is good");
        let label = Label::parse(label).expect("a label");
        present.keep(proved, Keep { label, cap, other_account: OtherAccount::Stays })
    }

    /// Runs `service.op` on the one connection that there is.
    pub async fn run(&self, name: &str, args: &Value) -> Outcome {
        self.bot.run(call(name, args)).await
    }

    /// Runs a write that nobody has approved, and gives the question that waits for it.
    pub async fn ask(&self, name: &str, args: &Value) -> QuestionId {
        let outcome = self.run(name, args).await;
        let refusal = outcome.refusal().unwrap_or_else(|| panic!("it ran: {}", outcome.to_json()));
        assert_eq!(refusal.code, Code::ApprovalRequired, "{}", outcome.to_json());
        refusal.question.expect("a question")
    }

    /// A question as the member's side finds it.
    pub fn question(&self, id: QuestionId) -> Option<Question> {
        let member = Party::Member(self.member.public().id());
        self.store.question(member, id, self.now()).expect("a row that can be read")
    }

    /// All of her questions, the newest first.
    pub fn questions(&self) -> Vec<Question> {
        let member = Party::Member(self.member.public().id());
        self.store.questions(member, self.now()).expect("rows that can be read")
    }

    /// What she is shown of a question.
    pub fn sheet(&self, id: QuestionId) -> Result<Sheet, SheetError> {
        let question = self.question(id).expect("a question");
        let member = self.member.public().id();
        let connection = self.store.connection(member, question.connection).expect("a row that can be read");
        Sheet::of(&question, connection.as_ref(), &self.bot.executor.catalog)
    }

    /// She looks at the sheet and says yes.
    pub fn approve(&self, id: QuestionId) -> Result<UnixTime, ApproveError> {
        self.present().approve(&self.sheet(id).expect("a sheet"))
    }

    /// She says no.
    pub fn deny(&self, id: QuestionId) {
        let member = self.member.public().id();
        deny(self.store.as_ref(), member, id, self.now()).expect("it waited");
    }

    /// Another client like the executor's, to be wrapped.
    pub fn client(&self) -> PinnedClient {
        client(&self.bot.executor.catalog, self.standin.addr(), &self.standin, self.rest.limits)
    }

    /// Goes on with another database, as another process would that has opened it.
    #[must_use]
    pub fn reopened(mut self, store: SqliteStore) -> Self {
        let store = Arc::new(store);
        self.bot.executor.store = store.clone();
        self.bot.desk = store.clone();
        Self { store, ..self }
    }

    /// What has reached the stand-in, as `METHOD path`.
    pub fn seen(&self) -> Vec<String> {
        self.standin.requests().iter().map(|seen| format!("{} {}", seen.method, seen.path)).collect()
    }

    /// How many writes have reached it.
    pub fn written(&self) -> usize {
        self.standin.requests().iter().filter(|seen| seen.method != "GET").count()
    }

    /// The stage of calls under grants that it is at the bottom.
    pub fn into_stage(self) -> Stage {
        let Self { standin, bot, member, clock, timer, store, rest } = self;
        let Rest { connection, limits } = rest;
        Stage { standin, executor: bot.executor, member, clock, timer, store, connection, limits }
    }
}

/// A call on the one connection that there is.
pub fn call(name: &str, args: &Value) -> StoredCall {
    let (service, op) = op_name(name);
    StoredCall::new(service, op, args.to_string())
}

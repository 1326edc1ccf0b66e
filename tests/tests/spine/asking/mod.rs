//! Writes that nobody has approved yet: from the bot's call to the member's question, and from her yes to the one run.

mod changes;
pub(crate) mod codes;
mod lent;
mod others;
mod raising;
mod running;
mod tampered;
mod times;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pinhole_runtime::catalog::{Catalog, Source};
use pinhole_runtime::local::Place;
use pinhole_runtime::store::{QuestionId, QuestionState};
use pinhole_standin::Route;
use pinhole_tests::{LocalStage, Setup, Spoiling, connectable_thing};
use serde_json::{Value, json};

use crate::common::{get, post};

/// A write that needs nothing else to hold.
const NOTE: &str = "thing.add_note";
/// A write onto a shelf that must not be locked.
const PUT: &str = "thing.put_thing";

fn note(text: &str) -> Value {
    json!({"text": text})
}

fn on_north() -> Value {
    json!({"shelf": "north", "name": "lamp"})
}

/// The made-up manifest with a viewer, and a write that spends and cannot be taken back.
fn manifest() -> Value {
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

fn routes() -> Vec<Route> {
    vec![
        get("/me", &json!({"login": "wren"})),
        post("/notes", &json!({"id": 1})),
        post("/notes/send", &json!({"id": 2})),
        post("/payments", &json!({"id": 3})),
        Route::new(http::Method::DELETE, "/things/7", pinhole_standin::Reply::new(204, "")),
        get("/shelves/north", &json!({"id": "north", "locked": false})),
        get("/shelves/locked", &json!({"id": "north", "locked": true})),
        post("/shelves/north/things", &json!({"id": 7})),
    ]
}

fn setup() -> Setup {
    Setup::manifest(&manifest(), routes())
}

/// Any key will do, so that one can be changed for another.
fn setup_of_any_key() -> Setup {
    let mut setup = setup();
    setup.standin.token = None;
    setup
}

/// A member who has connected the made-up service; writes may be asked for.
async fn connected(setup: Setup) -> LocalStage {
    let stage = setup.start_local().await;
    assert_eq!(stage.connect("thing").await.place, Place::New);
    stage
}

/// The shelf, which the test locks by setting it.
fn lockable(stage: &mut LocalStage) -> Arc<AtomicBool> {
    let locked = Arc::new(AtomicBool::new(false));
    let lock = Arc::clone(&locked);
    stage.bot.executor.wire = Box::new(Spoiling::new(stage.client(), move |request| {
        if lock.load(Ordering::SeqCst) && request.target == "/shelves/north" {
            "/shelves/locked".clone_into(&mut request.target);
        }
    }));
    locked
}

/// The manifests of the host are now this one.
fn exchange_manifest(stage: &mut LocalStage, manifest: &Value) {
    let mut catalog = Catalog::default();
    catalog.add(manifest.to_string().as_bytes(), Source::UnsignedFile).unwrap();
    stage.bot.executor.catalog = catalog;
}

fn state(stage: &LocalStage, id: QuestionId) -> QuestionState {
    stage.question(id).unwrap().state
}

/// The keys with which writes have reached the stand-in.
fn written_with(stage: &LocalStage) -> Vec<String> {
    let requests = stage.standin.requests();
    let writes = requests.iter().filter(|seen| seen.method != "GET");
    writes.map(|seen| seen.header("authorization").unwrap().to_owned()).collect()
}

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
use pinhole_tests::{LocalStage, Setup, Spoiling, writable_thing as manifest, writable_things_routes};
use serde_json::{Value, json};

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

fn setup() -> Setup {
    Setup::manifest(&manifest(), writable_things_routes())
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
    stage.bot.executor.wire = Arc::new(Spoiling::new(stage.client(), move |request| {
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

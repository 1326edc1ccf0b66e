//! `pinhole registry` as maintainers and operators meet it: made, signed, published, served, trusted, synced, run from.

mod ceremony;
mod own;
mod served;
mod sources;

use std::path::Path;

use pinhole_standin::{Config, Reply, Route, World};
use serde_json::{Value, json};

use crate::home::Home;
use crate::stage::Stage;

/// The key of the made-up service in these tests.
const NOTES_KEY: &str = "notes-key-that-opens-nothing-0123456789";

/// The manifest of a made-up service, which the example of a manifest repository has.
fn notes() -> Value {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/registry/manifests/notes/manifest.json");
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

/// The same in another version, changed.
fn notes_at(version: &str, change: impl FnOnce(&mut Value)) -> Value {
    let mut manifest = notes();
    manifest["version"] = json!(version);
    change(&mut manifest);
    manifest
}

/// A manifest's folder in a home.
fn folder(home: &Home, manifest: &Value) -> String {
    let name = format!("manifests/{}", manifest["id"].as_str().unwrap());
    home.write(&format!("{name}/manifest.json"), serde_json::to_vec_pretty(manifest).unwrap());
    home.path(&name).to_str().unwrap().to_owned()
}

/// A registry of one's own that has it, trusted as `mine`.
fn own(home: &Home, manifest: &Value) {
    let folder = folder(home, manifest);
    home.run(&["registry", "init", "--local", "mine", &folder]).expect(0);
}

/// Puts a manifest in, signs, publishes.
fn publish(home: &Home, manifest: &Value) {
    let folder = folder(home, manifest);
    home.run(&["registry", "add", "mine", &folder]).expect(0);
    home.run(&["registry", "publish", "mine", "--key", "mine/keys/local.pem"]).expect(0);
}

/// Syncs, and says what happened to the one service.
fn sync(home: &Home, flags: &[&str]) -> Value {
    let synced = home.run(&[&["registry", "sync", "--json"], flags].concat()).expect(0).json();
    synced[0]["services"][0].clone()
}

/// A stand-in of the made-up service.
fn notes_stage() -> Stage {
    let page = json!({"notes": [{"id": 1, "title": "Fog horn", "author": {"name": "mate", "email": "m@example.com"}}]});
    let world = World::Fixed(vec![
        Route::get("/v1/me", Reply::json(200, &json!({"name": "keeper"}))),
        Route::get("/v1/notes", Reply::json(200, &page)),
    ]);
    Stage::with(Config { host: "notes.example.com".to_owned(), ..Config::new(world) })
}

/// Connects the made-up service to it.
fn connect_notes(home: &Home, stage: &Stage) {
    let dial = stage.dial_for("notes.example.com", home);
    let words = [vec!["connect".to_owned(), "notes".to_owned(), "--token-stdin".to_owned()], dial].concat();
    home.run_with(&words.iter().map(String::as_str).collect::<Vec<_>>(), NOTES_KEY).expect(0);
}

/// Runs an op on that connection.
fn run(home: &Home, stage: &Stage, op: &str) -> crate::home::Ran {
    let dial = stage.dial_for("notes.example.com", home);
    let words = [vec!["run".to_owned(), op.to_owned(), "--json".to_owned()], dial].concat();
    home.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

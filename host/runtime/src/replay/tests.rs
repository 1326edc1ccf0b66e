//! Receipts of every recorded case of the manifests: no secret, no arg and nothing of an answer is in one.

use std::path::{Path, PathBuf};

use pinhole_grant::{KeyKind, SecretKey};
use pinhole_manifest::{OpId, ServiceId};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::Value;

use super::stage::CASE_TIME;
use super::*;
use crate::book::Book;
use crate::outcome::Code;
use crate::receipts::{ArgsKept, Facts, Receipt, ReceiptSettings, Stored};
use crate::scrub::Scrub;
use crate::store::Receipts as _;

/// Texts shorter than this stand anywhere by chance.
const TEXT_MIN: usize = 6;

struct Played {
    name: String,
    manifest: String,
    args: Value,
    bodies: Vec<Value>,
    rows: Vec<Stored>,
    secret: String,
    began: bool,
}

fn folders() -> Vec<PathBuf> {
    let manifests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../manifests");
    let folders = std::fs::read_dir(manifests).unwrap().map(|entry| entry.unwrap().path());
    folders.filter(|folder| folder.join("cases").is_dir()).collect()
}

/// Plays each case, or one of so many.
async fn play(one_of: usize, book: fn() -> Book, check: impl Fn(&Played)) -> usize {
    let mut rng = StdRng::seed_from_u64(1);
    let sandbox = Sandbox::default();
    let mut played = 0;
    for folder in folders() {
        let manifest = std::fs::read(folder.join("manifest.json")).unwrap();
        for file in std::fs::read_dir(folder.join("cases")).unwrap().step_by(one_of) {
            let file = file.unwrap().path();
            let name = file.file_name().unwrap().to_str().unwrap().to_owned();
            let case = Case::parse(&std::fs::read(&file).unwrap()).unwrap();
            let op = CaseName::parse(&name).unwrap().op;
            let modules = ModuleFiles::In(folder.clone());
            let stage = Stage::set(&manifest, modules, &op, &mut rng).unwrap().with_sandbox(&sandbox);
            let stage = stage.with_book(book());
            let (store, bot, secret) = (stage.store(), stage.bot(), stage.key().to_owned());
            let bodies = case.exchanges.iter().map(|exchange| &exchange.response.body);
            let bodies = bodies.filter_map(|body| serde_json::from_slice(body).ok()).collect();
            let (scheme, idempotency) = stage.marks().unwrap();
            let args = serde_json::from_str(case.args.as_str()).unwrap();
            let began = !case.exchanges.is_empty();
            let script = Arc::new(Script::new(case.exchanges, scheme, stage.key(), idempotency));
            let wire = Arc::new(ReplayWire::new(script));
            let outcome = stage.play(case.access, case.args.as_str(), wire, &mut rng).await.unwrap();
            let rows = store.receipts_from(bot, 0, 9).unwrap();
            assert_eq!(store.notes(bot, 9).unwrap(), [], "{name}");
            let receipt = rows[0].receipt().unwrap();
            assert_eq!((rows.len(), outcome.meta.receipt), (1, Some(receipt.id())), "{name}");
            let code = outcome.refusal().map_or("ok", |refusal| refusal.code.as_str());
            assert_eq!(receipt.facts().code, code, "{name}");
            let made = receipt.facts().requests.len();
            assert_eq!(u32::try_from(made).unwrap(), outcome.meta.requests, "{name}");
            let bytes: u64 = receipt.facts().requests.iter().map(|made| made.bytes).sum();
            assert_eq!(bytes, outcome.meta.bytes_in, "{name}");
            let manifest = String::from_utf8(manifest.clone()).unwrap();
            check(&Played { name, manifest, args, bodies, rows, secret, began });
            played += 1;
        }
    }
    played
}

/// What a receipt says of a run of which nothing is known, and every code.
fn own_words() -> String {
    let (service, op) = (ServiceId::parse("x1").unwrap(), OpId::parse("x").unwrap());
    let bot = SecretKey::generate(KeyKind::Bot, &mut StdRng::seed_from_u64(2)).public().id();
    let nothing = Receipt::after(None, Facts::new(CASE_TIME, bot, service, op)).unwrap();
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    format!("{} {} method path status bytes", nothing.body(), codes.join(" "))
}

/// Every text in a value, and every key.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(members) => {
            for (name, member) in members {
                found.push(name.clone());
                texts(member, found);
            }
        }
        Value::Number(number) => found.push(number.to_string()),
        Value::Null | Value::Bool(_) => {}
    }
}

#[tokio::test]
async fn no_receipt_of_a_recorded_case_has_a_secret_an_arg_or_anything_of_an_answer() {
    let words = own_words();
    let played = play(1, Book::default, |played| {
        let mut wanted = Vec::new();
        texts(&played.args, &mut wanted);
        played.bodies.iter().for_each(|body| texts(body, &mut wanted));
        // What the manifest itself says is no arg of anybody's, and a receipt has words of its own.
        let ours = |text: &str| played.manifest.contains(text) || words.contains(text);
        wanted.retain(|text| text.chars().count() >= TEXT_MIN && !ours(text));
        let row = format!("{} {}", played.rows[0].body, played.rows[0].index);
        for text in &wanted {
            let quoted = serde_json::to_string(text).unwrap();
            assert!(!row.contains(quoted.trim_matches('"')), "{}: {text}\n{row}", played.name);
        }
        assert!(!Scrub::new(&[&played.secret]).contains(row.as_bytes()), "{}", played.name);
        let digest = played.rows[0].receipt().unwrap().facts().args_digest;
        assert!(!played.began || digest.is_some(), "{}", played.name);
    });
    assert!(played.await > 500);
}

#[tokio::test]
async fn with_the_setting_the_args_of_a_recorded_case_are_in_its_receipt_and_no_secret_is() {
    let whole = || Book::new(ReceiptSettings { args: ArgsKept::Whole, ..ReceiptSettings::default() });
    let played = play(8, whole, |played| {
        let receipt = played.rows[0].receipt().unwrap();
        assert!(!played.began || receipt.facts().args.is_some(), "{}", played.name);
        assert!(!Scrub::new(&[&played.secret]).contains(receipt.body().as_bytes()), "{}", played.name);
    });
    assert!(played.await > 50);
}

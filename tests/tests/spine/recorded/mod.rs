//! Recorded truth: what real services answered, replayed over TLS. Every recording ends in the result or the refusal that
//! another reading of the same file, [`reading`], says it must end in.
//!
//! Here every recording goes through a manifest for the test alone, whatever it is a recording of; in [`dnsimple`] those of an
//! endpoint go through the op that asks for it. The three recorded pages of GitHub's are in `pages`.

mod dnsimple;
mod reading;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use http::Method;
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::{Code, UntrustedText};
use pinhole_runtime::{Outcome, Retries};
use pinhole_standin::{Config, RawReplyError, Recordings, RecordingsError, Reply, Route, World};
use pinhole_tests::{KEY, Setup, shared};
use serde_json::{Value, json};

use self::reading::{Pick, Raw, Wanted};
use crate::common::{is, no_faults, parsed, refusal, result};

/// A manifest for these recordings alone.
const MANIFEST: &str = include_str!("dnsimple.json");
const OPS: [&str; 5] = ["get_records", "get_page", "get_members", "change_record", "delete_record"];

fn files_under(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_under(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "http") {
            found.push(path);
        }
    }
}

/// A recording is asked for by its file's name, as one segment.
fn name(folder: &Path, file: &Path) -> String {
    file.strip_prefix(folder).unwrap().to_str().unwrap().replace('/', "~")
}

/// Adds a recording for every method. A recorded request, which is what a webhook is, is no answer, and the stand-in says
/// so; its body is replayed as one.
fn with(recordings: Recordings, file: &Path, name: &str, raw: &Raw) -> Recordings {
    [Method::GET, Method::POST, Method::DELETE].into_iter().fold(recordings, |recordings, method| {
        let target = format!("/v2/{name}");
        let added = recordings.clone().with_http_file(method.clone(), &target, file);
        match (added, raw.is_request) {
            (Ok(added), false) => added,
            (Err(RecordingsError::Raw { source: RawReplyError::StatusLine, .. }), true) => {
                recordings.with(Route::new(method, &target, Reply::json_text(200, raw.body.clone())))
            }
            (other, _) => panic!("{name}: {other:?}"),
        }
    })
}

fn pick_of(manifest: &Value, op: &str) -> Pick {
    Pick::of(&manifest["ops"][op]["pick"])
}

/// What is wrong with an outcome, if anything is.
fn fault(outcome: &Outcome, wanted: &Wanted) -> Option<String> {
    let json = parsed(outcome);
    let fine = match wanted {
        Wanted::Result { value, notes } => {
            json["ok"] == json!(true) && json["result"] == *value && json["notes"] == json!(notes)
        }
        Wanted::Refusal { code, untrusted } => {
            json["refusal"]["code"] == *code
                && json["refusal"]["sent"] == "yes"
                && json["refusal"].get("untrusted").and_then(Value::as_str) == untrusted.as_deref()
        }
    };
    (!fine).then(|| format!("wanted {wanted:?}\n     got {json}"))
}

#[tokio::test]
async fn every_recording_of_dnsimples_ends_as_it_must() {
    let test = "every_recording_of_dnsimples_ends_as_it_must";
    let Some(folder) = shared(test, "data/dnsimple/v2") else { return };
    let mut files = Vec::new();
    files_under(&folder, &mut files);
    let raws: BTreeMap<String, Raw> =
        files.iter().map(|file| (name(&folder, file), Raw::read(&std::fs::read(file).unwrap()))).collect();
    let mut recordings = Recordings::new();
    for file in &files {
        let name = name(&folder, file);
        recordings = with(recordings, file, &name, &raws[&name]);
    }
    let manifest: Value = serde_json::from_str(MANIFEST).unwrap();
    let mut setup = Setup::manifest(&manifest, Vec::new());
    setup.standin.world = World::Replay(recordings);
    let mut stage = setup.start().await;
    // What is recorded is one answer.
    stage.executor.retries = Retries::Never;

    let mut faults = Vec::new();
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    for (name, raw) in &raws {
        for op in OPS {
            let args = json!({"recording": name});
            let full = format!("dnsimple.{op}");
            let read = op.starts_with("get");
            let outcome = if read { stage.read(&full, &args).await } else { stage.write(&full, &args).await };
            let wanted = raw.wanted(&pick_of(&manifest, op));
            *ends.entry(format!("{op}: {}", wanted.kind())).or_default() += 1;
            faults.extend(fault(&outcome, &wanted).map(|fault| format!("{name} through {op}: {fault}")));
        }
    }
    no_faults(&faults);
    assert_eq!(stage.standin.requests().len(), files.len() * OPS.len(), "each was asked once for each op");
    none_was_passed_over(&files, &raws, &ends);
}

/// That the readings above were of what is there, and of every kind of it.
fn none_was_passed_over(files: &[PathBuf], raws: &BTreeMap<String, Raw>, ends: &BTreeMap<String, usize>) {
    let requests = raws.values().filter(|raw| raw.is_request).count();
    let answers = raws.len() - requests;
    assert_eq!(raws.len(), files.len(), "two recordings have one name");
    assert!(answers >= 160 && requests >= 50, "{answers} answers and {requests} requests");
    for end in [
        "get_records: a result",
        "get_records: not_json",
        "get_records: root_absent",
        "get_records: upstream_invalid",
        "get_records: upstream_forbidden",
        "get_records: upstream_not_found",
        "get_records: upstream_error",
        "get_page: a result",
        "get_members: a result",
        "change_record: a result",
        "change_record: not_json",
        "delete_record: a result",
        "delete_record: upstream_error",
    ] {
        assert!(ends.contains_key(end), "no recording ends in {end}: {ends:?}");
    }
    let named = |name: &str| raws.get(name).unwrap_or_else(|| panic!("there is no {name}"));
    let records = Pick::of(&serde_json::from_str::<Value>(MANIFEST).unwrap()["ops"]["get_records"]["pick"]);
    for (name, end) in [
        ("api~badgateway.http", "upstream_error"),
        ("api~success-with-malformed-json.http", "not_json"),
        ("api~method-not-allowed.http", "upstream_error"),
        ("api~notfound-zone.http", "upstream_not_found"),
        ("api~deleteDomain~success.http", "not_json"),
        ("api~oauthAccessToken~success.http", "root_absent"),
        ("api~getZone~success.http", "a result"),
    ] {
        assert_eq!(named(name).wanted(&records).kind(), end, "{name}");
    }
}

/// GitHub says that it takes no more in three ways; each is a limit, not a missing right, and its words come through.
#[tokio::test]
async fn every_recorded_limit_of_githubs_is_a_limit() {
    let test = "every_recorded_limit_of_githubs_is_a_limit";
    let Some(folder) = shared(test, "data/github/rate-limits") else { return };
    let world = World::Replay(Recordings::load(&folder).unwrap());
    let mut setup = Setup::github();
    setup.standin = Config { token: Some(KEY.to_owned()), ..Config::new(world) };
    let mut stage = setup.start().await;
    stage.executor.retries = Retries::Never;
    let mut tried = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let mapping: Value = serde_json::from_slice(&std::fs::read(entry.unwrap().path()).unwrap()).unwrap();
        let url = mapping["request"]["url"].as_str().unwrap();
        let [owner, repo] = url.strip_prefix("/repos/").unwrap().split('/').collect::<Vec<_>>()[..] else {
            panic!("{url} is no repository");
        };
        let outcome = stage.read("github.get_repo", &json!({"owner": owner, "repo": repo})).await;
        is(&outcome, Code::UpstreamRateLimited, Sent::Yes);
        assert_eq!(outcome.meta.status.map(Value::from), Some(mapping["response"]["status"].clone()));
        let body: Value = serde_json::from_str(mapping["response"]["body"].as_str().unwrap()).unwrap();
        let said: String = body["message"].as_str().unwrap().chars().take(UntrustedText::MAX_CHARS).collect();
        assert_eq!(refusal(&outcome).untrusted.as_ref().unwrap().as_str(), said);
        tried += 1;
        assert_eq!(stage.standin.requests().len(), tried, "{url}: asked again");
    }
    assert_eq!(tried, 3);
}

/// The words of a failure are clipped, and a long one says that it goes on.
#[tokio::test]
async fn a_recorded_failure_with_many_words_is_clipped() {
    let long = "Zone not distributed yet. ".repeat(40);
    let reply = Reply::json(504, &json!({"message": long}));
    let manifest: Value = serde_json::from_str(MANIFEST).unwrap();
    let stage = Setup::manifest(&manifest, vec![Route::get("/v2/long", reply)]).start().await;
    let outcome = stage.read("dnsimple.get_records", &json!({"recording": "long"})).await;
    is(&outcome, Code::UpstreamError, Sent::Yes);
    let said = refusal(&outcome).untrusted.as_ref().unwrap().as_str().to_owned();
    let clipped: String = long.chars().take(UntrustedText::MAX_CHARS).collect();
    assert_eq!(said, format!("{clipped}…"));
    assert!(!outcome.to_json().contains(&long));
}

/// A price keeps the digits that it was written with; another reader would make `7.50` a 7.5.
#[tokio::test]
async fn a_recorded_price_keeps_its_digits() {
    let reply = Reply::json_text(200, r#"{"data":{"registration_price":7.50,"renewal_price":1e2}}"#);
    let manifest: Value = serde_json::from_str(MANIFEST).unwrap();
    let stage = Setup::manifest(&manifest, vec![Route::get("/v2/prices", reply)]).start().await;
    let outcome = stage.read("dnsimple.get_records", &json!({"recording": "prices"})).await;
    assert_eq!(result(&outcome), json!({"registration_price": 7.5, "renewal_price": 100.0}));
    assert!(outcome.to_json().contains(r#"{"registration_price":7.50,"renewal_price":1e2}"#));
}

//! Recordings: real pages where the shared data is there, and the forms that a folder can have.

use std::fs;
use std::path::{Path, PathBuf};

use reqwest::Method;
use serde_json::Value;

use super::{client, get, header, http1};
use crate::{Config, RawReplyError, Recordings, RecordingsError, Reply, Standin, World};

/// The shared data, beside the checkout or where `PINHOLE_SHARED` says. Where it is absent the test is skipped, loudly,
/// and fails in CI.
#[expect(clippy::disallowed_methods, reason = "a test finds its data where the environment says")]
fn shared(test: &str, folder: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("PINHOLE_SHARED").map_or(beside, PathBuf::from).join(folder);
    if shared.is_dir() {
        return Some(shared);
    }
    assert_ne!(std::env::var_os("CI").as_deref(), Some("true".as_ref()), "{} is not there", shared.display());
    eprintln!("SKIPPED: {test}: {} is not there", shared.display());
    None
}

#[tokio::test]
async fn three_real_pages_are_replayed_byte_by_byte_with_their_links() {
    let Some(folder) = shared("three real pages", "data/github/org-repos") else { return };
    let recordings = Recordings::load(&folder).unwrap();
    let standin = Standin::start(Config::new(World::Replay(recordings))).await.unwrap();
    for client in [client(&standin), http1(&standin)] {
        let mut target = "/orgs/jenkinsci/repos?per_page=100".to_owned();
        for file in ["3-o_j_repos", "4-organizations_107424_repos", "5-organizations_107424_repos"] {
            let response = get(&client, &target).await;
            assert_eq!(response.status(), 200, "{target}");
            let link = header(&response, "link");
            let next = link.split(',').find(|link| link.contains("rel=\"next\"")).unwrap();
            let next = next.split_once('<').unwrap().1.split_once('>').unwrap().0;
            target = next.strip_prefix("https://api.github.com").unwrap().to_owned();
            assert_eq!(response.headers().get_all("vary").iter().count(), 2);
            let recorded = fs::read(folder.join(format!("{file}.body.json"))).unwrap();
            assert_eq!(response.bytes().await.unwrap(), recorded);
        }
        assert!(target.ends_with("page=4"));
        assert_eq!(get(&client, &target).await.status(), 404);
        // The query's order makes no difference; another query does.
        assert_eq!(get(&client, "/organizations/107424/repos?page=2&per_page=100").await.status(), 200);
        assert_eq!(get(&client, "/orgs/jenkinsci/repos").await.status(), 404);
    }
}

#[tokio::test]
async fn real_rate_limits_are_replayed() {
    let Some(folder) = shared("rate limits", "data/github/rate-limits") else { return };
    let recordings = Recordings::load(folder).unwrap();
    let standin = Standin::start(Config::new(World::Replay(recordings))).await.unwrap();
    let client = client(&standin);
    let primary = get(&client, "/repos/hub4j-test-org/temp-testHandler_Fail").await;
    assert_eq!(primary.status(), 403);
    assert_eq!(header(&primary, "x-ratelimit-remaining"), "0");
    assert_eq!(header(&primary, "x-ratelimit-reset"), "1767225603");
    let secondary =
        get(&client, "/repos/hub4j-test-org/temp-testHandler_Wait_Secondary_Limits_Too_Many_Requests");
    let secondary = secondary.await;
    assert_eq!(secondary.status(), 429);
    assert_eq!(header(&secondary, "retry-after"), "8");
}

#[tokio::test]
async fn real_raw_responses_are_replayed_broken_ones_too() {
    let Some(folder) = shared("raw responses", "data/dnsimple/v2/api") else { return };
    let recordings = Recordings::new()
        .with_http_file(Method::GET, "/v2/accounts", folder.join("badgateway.http"))
        .unwrap()
        .with_http_file(Method::GET, "/v2/broken", folder.join("success-with-malformed-json.http"))
        .unwrap();
    let standin = Standin::start(Config::new(World::Replay(recordings))).await.unwrap();
    let client = client(&standin);
    let bad = get(&client, "/v2/accounts").await;
    assert_eq!(bad.status(), 502);
    assert_eq!(header(&bad, "content-type"), "text/html");
    assert!(bad.text().await.unwrap().starts_with("<html>"));
    let broken = get(&client, "/v2/broken").await;
    assert_eq!(broken.status(), 200);
    assert!(serde_json::from_slice::<Value>(&broken.bytes().await.unwrap()).is_err());
}

#[test]
fn every_real_raw_response_can_be_read() {
    let Some(folder) = shared("all raw responses", "data/dnsimple/v2/api") else { return };
    let (mut folders, mut read) = (vec![folder], 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "http") {
                Reply::from_http(&fs::read(&path).unwrap())
                    .unwrap_or_else(|error| panic!("{path:?}: {error}"));
                read += 1;
            }
        }
    }
    assert!(read > 150, "{read}");
}

#[test]
fn a_raw_response_is_split_at_its_first_empty_line() {
    for raw in [
        "HTTP/1.1 201 Created\r\nX-A: 1\r\n\r\n{}\r\n\r\nrest",
        "HTTP/1.1 201 Created\nX-A: 1\n\n{}\r\n\r\nrest",
    ] {
        let reply = Reply::from_http(raw.as_bytes()).unwrap();
        assert_eq!(reply.status, 201);
        assert_eq!(reply.headers["x-a"], "1");
        assert_eq!(&reply.body[..], b"{}\r\n\r\nrest");
    }
    let error = |raw: &str| Reply::from_http(raw.as_bytes()).unwrap_err();
    assert_eq!(error(""), RawReplyError::StatusLine);
    assert_eq!(error("GET / HTTP/1.1\n\n"), RawReplyError::StatusLine);
    assert_eq!(error("HTTP/1.1 42 Odd\n\n"), RawReplyError::StatusLine);
    assert_eq!(error("HTTP/1.1 200 OK\nno colon\n\n"), RawReplyError::Header);
}

#[test]
fn a_folder_that_cannot_be_understood_is_refused() {
    let folder = std::env::temp_dir().join(format!("pinhole-standin-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let mapping = folder.join("a.mapping.json");
    let load = |text: Option<&str>| {
        match text {
            Some(text) => fs::write(&mapping, text).unwrap(),
            None => drop(fs::remove_file(&mapping)),
        }
        Recordings::load(&folder)
    };
    assert!(matches!(load(None), Err(RecordingsError::Empty { .. })));
    assert!(matches!(load(Some("{}")), Err(RecordingsError::Mapping { .. })));
    let no_method = r#"{"request":{"url":"/","method":"no method"},"response":{"status":200}}"#;
    assert!(matches!(load(Some(no_method)), Err(RecordingsError::Method { .. })));
    let no_body =
        r#"{"request":{"url":"/","method":"GET"},"response":{"status":200,"bodyFileName":"none.json"}}"#;
    assert!(matches!(load(Some(no_body)), Err(RecordingsError::Read { .. })));
    let good = r#"{"request":{"url":"/","method":"GET"},"response":{"status":200,"body":"x"}}"#;
    assert!(load(Some(good)).is_ok());
    fs::remove_dir_all(&folder).unwrap();
    assert!(matches!(Recordings::load(&folder), Err(RecordingsError::Read { .. })));
}

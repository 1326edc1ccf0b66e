//! What is answered to a request.

mod socket;

use std::path::Path;

use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use http_body::Body as _;
use jiff::Timestamp as Moment;
use pinhole_manifest::Digest;
use serde_json::Value;

use super::*;
use crate::author::{Charter, Seats, Terms, Workshop};
use crate::keys::RegistryKey;

const BASE: &[u8] = include_bytes!("../../../manifest/tests/vectors/base/module.json");

fn now() -> Moment {
    Moment::from_second(1_796_000_000).unwrap()
}

fn key() -> RegistryKey {
    RegistryKey::from_seed(&[1; 32])
}

/// A registry with one manifest and its module.
fn registry(folder: &Path, module: &[u8]) -> Workshop {
    let charter = Charter::with_online(Seats::one(key().public()), key().public());
    let (workshop, _) =
        Workshop::init(&folder.join("registry"), &charter, Terms::default(), &[key()], now()).unwrap();
    let offered = folder.join("acme");
    std::fs::create_dir_all(offered.join("modules")).unwrap();
    let mut manifest: Value = serde_json::from_slice(BASE).unwrap();
    manifest["ops"]["stale_things"]["module"]["sha256"] = Digest::of(module).to_string().into();
    std::fs::write(offered.join("manifest.json"), manifest.to_string()).unwrap();
    std::fs::write(offered.join("modules/stale_things.wasm"), module).unwrap();
    workshop.add(&[offered], now()).unwrap();
    workshop.publish(&[key()], now()).unwrap();
    workshop
}

fn get(window: &Window, path: &str) -> Response<Content> {
    window.answer(&Method::GET, path, &HeaderMap::new())
}

fn body(answer: Response<Content>) -> Vec<u8> {
    let mut body = std::pin::pin!(answer.into_body());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut bytes = Vec::new();
    while let std::task::Poll::Ready(Some(frame)) = body.as_mut().poll_frame(&mut context) {
        bytes.extend_from_slice(&frame.unwrap().into_data().unwrap());
    }
    bytes
}

fn header(answer: &Response<Content>, name: &str) -> String {
    answer.headers().get(name).map_or_else(String::new, |value| value.to_str().unwrap().to_owned())
}

#[test]
fn every_published_file_is_answered_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    // More than a piece, so that a file goes out in several.
    let module: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
    let workshop = registry(folder.path(), &module);
    let window = Window::new(&workshop.public());
    let mut count = 0;
    for part in ["metadata", "targets"] {
        for entry in std::fs::read_dir(workshop.public().join(part)).unwrap() {
            let (name, bytes) =
                (entry.as_ref().unwrap().file_name(), std::fs::read(entry.unwrap().path()).unwrap());
            let path = format!("/{part}/{}", name.to_str().unwrap());
            let answer = get(&window, &path);
            assert_eq!(answer.status(), StatusCode::OK, "{path}");
            assert_eq!(header(&answer, "etag"), format!("\"{}\"", Digest::of(&bytes).hex()), "{path}");
            assert_eq!(header(&answer, "content-length"), bytes.len().to_string(), "{path}");
            assert_eq!(header(&answer, "access-control-allow-origin"), "*");
            let keep = if path.ends_with("timestamp.json") {
                "no-cache"
            } else {
                "public, max-age=31536000, immutable"
            };
            assert_eq!(header(&answer, "cache-control"), keep, "{path}");
            let kind = if path.contains(".wasm") { "application/wasm" } else { "application/json" };
            assert_eq!(header(&answer, "content-type"), kind, "{path}");
            assert!(body(answer) == bytes, "{path}");
            count += 1;
        }
    }
    assert_eq!(count, 1 + 2 + 2 + 1 + 2);
}

#[test]
fn nothing_but_what_is_published_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = registry(folder.path(), b"module");
    // A root that waits for signatures, a key, and a file that a link leads to.
    workshop.rotate(&[], now()).unwrap();
    let public = workshop.public();
    std::fs::write(public.join("metadata/root.pem"), "secret").unwrap();
    std::fs::write(public.join("metadata/..secret.json"), "secret").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/hostname", public.join("metadata/7.root.json")).unwrap();
    let window = Window::new(&public);
    for path in [
        "/",
        "",
        "*",
        "/metadata",
        "/metadata/",
        "/targets/",
        "/metadata/root.pem",
        "/metadata/..secret.json",
        "/metadata/2.root.json",
        "/metadata/9.targets.json",
        "/metadata/01.root.json",
        "/metadata/../settings.json",
        "/metadata/../../staged/root.json",
        "/metadata/%2e%2e/%2e%2e/staged/root.json",
        "/staged/root.json",
        "/settings.json",
        "/targets/acme.json",
        "/targets/../metadata/1.root.json",
        "/registry/",
        "//registry",
        "/metadata//1.root.json",
        "/metadata/1.root.json\0",
    ] {
        let answer = get(&window, path);
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path}");
        assert_eq!(header(&answer, "cache-control"), "no-store");
        assert_eq!(header(&answer, "access-control-allow-origin"), "*");
    }
    let linked = get(&window, "/metadata/7.root.json");
    assert_eq!(linked.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(!body(linked).is_empty());
}

#[test]
fn a_client_that_has_it_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = registry(folder.path(), b"module");
    let window = Window::new(&workshop.public());
    for path in ["/metadata/timestamp.json", "/metadata/1.root.json", "/registry"] {
        let tag = header(&get(&window, path), "etag");
        for known in [tag.clone(), format!("\"x\", W/{tag}"), "*".to_owned()] {
            let mut headers = HeaderMap::new();
            headers.insert("if-none-match", HeaderValue::try_from(known).unwrap());
            let answer = window.answer(&Method::GET, path, &headers);
            assert_eq!(answer.status(), StatusCode::NOT_MODIFIED, "{path}");
            assert_eq!(header(&answer, "etag"), tag);
            assert!(!header(&answer, "cache-control").is_empty() && body(answer).is_empty());
        }
        let mut headers = HeaderMap::new();
        headers.insert("if-none-match", HeaderValue::from_static("\"other\""));
        assert_eq!(window.answer(&Method::GET, path, &headers).status(), StatusCode::OK);
    }
}

#[test]
fn a_registry_is_for_reading() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = registry(folder.path(), b"module");
    let window = Window::new(&workshop.public());
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS, Method::TRACE] {
        let answer = window.answer(&method, "/registry", &HeaderMap::new());
        assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED, "{method}");
        assert_eq!(header(&answer, "allow"), "GET, HEAD");
    }
    let (head, got) =
        (window.answer(&Method::HEAD, "/registry", &HeaderMap::new()), get(&window, "/registry"));
    assert_eq!(head.headers(), got.headers());
    assert!(body(head).is_empty() && !body(got).is_empty());
}

#[test]
fn the_catalogue_tells_of_what_is_published() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = registry(folder.path(), b"module");
    let window = Window::new(&workshop.public());
    let read = || -> Value { serde_json::from_slice(&body(get(&window, "/registry"))).unwrap() };
    let catalogue = read();
    assert_eq!(catalogue["expires"], "2026-12-30T00:53:20Z");
    let service = &catalogue["services"][0];
    let bytes = std::fs::read(folder.path().join("acme/manifest.json")).unwrap();
    assert_eq!(service["id"], "acme");
    assert_eq!(service["name"], "Acme");
    assert_eq!(service["version"], "1.0.0");
    assert_eq!(service["host"], "api.acme.com");
    assert_eq!(service["verified"], Value::Null);
    assert_eq!(service["digest"], Digest::of(&bytes).to_string());
    assert_eq!(service["length"], bytes.len());
    assert_eq!(service["target"], "acme.json");
    assert_eq!(service["modules"][0]["target"], "acme.stale_things.wasm");
    assert_eq!(service["ops"][0]["id"], "get_thing");
    assert_eq!(service["ops"][0]["access"], "read");
    // It follows the registry.
    workshop.remove(&[pinhole_manifest::ServiceId::parse("acme").unwrap()], now()).unwrap();
    assert_eq!(read(), catalogue, "what is staged is not told of");
    workshop.publish(&[key()], now()).unwrap();
    assert_eq!(read()["services"], Value::Array(Vec::new()));
}

#[test]
fn a_catalogue_is_not_made_of_a_manifest_that_was_changed() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = registry(folder.path(), b"module");
    for entry in std::fs::read_dir(workshop.public().join("targets")).unwrap() {
        std::fs::write(entry.unwrap().path(), BASE).unwrap();
    }
    let answer = get(&Window::new(&workshop.public()), "/registry");
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
}

#[test]
fn a_sync_during_a_publish_finds_every_file_that_its_timestamp_leads_to() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = registry(folder.path(), b"module");
    let window = Window::new(&workshop.public());
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let publishing = scope.spawn(|| {
            for _ in 0..20 {
                workshop.publish(&[key()], now()).unwrap();
            }
            done.store(true, std::sync::atomic::Ordering::SeqCst);
        });
        let mut rounds = 0;
        while !done.load(std::sync::atomic::Ordering::SeqCst) || rounds == 0 {
            let file = |path: &str| -> Value {
                let answer = get(&window, path);
                assert_eq!(answer.status(), StatusCode::OK, "{path}");
                serde_json::from_slice(&body(answer)).unwrap()
            };
            let timestamp = file("/metadata/timestamp.json");
            let version = &timestamp["signed"]["meta"]["snapshot.json"]["version"];
            let snapshot = file(&format!("/metadata/{version}.snapshot.json"));
            let version = &snapshot["signed"]["meta"]["targets.json"]["version"];
            file(&format!("/metadata/{version}.targets.json"));
            file("/registry");
            rounds += 1;
        }
        publishing.join().unwrap();
    });
}

//! What is answered to a request: a pure step from method, path and headers to an answer.
//!
//! Opens only files whose names parse as a registry's. INVARIANT: a name that says which bytes it is for is answered with
//! `immutable`, and its bytes never change; all else is asked for anew each time.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderMap,
    HeaderValue, IF_NONE_MATCH, X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, Response, StatusCode};
use pinhole_manifest::Digest;

use super::catalogue::{CatalogueError, catalogue};
use super::content::Content;
use crate::author::METADATA_BYTES_MAX;
use crate::author::layout::{self, TIMESTAMP, hashed_name, metadata_name};
use crate::names::Held;

/// A year: as long as a cache keeps anything.
const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// Keep it, and ask each time whether it is still so.
const EACH_TIME: HeaderValue = HeaderValue::from_static("no-cache");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const WASM: HeaderValue = HeaderValue::from_static("application/wasm");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// A published folder, seen from outside.
#[derive(Debug)]
pub struct Window {
    public: PathBuf,
    /// The catalogue of the state whose timestamp has this digest.
    catalogue: Mutex<Option<(Digest, Bytes)>>,
}

/// What there is under a path.
struct Found {
    content: Content,
    length: u64,
    digest: Digest,
    kind: HeaderValue,
    keep: HeaderValue,
}

impl Window {
    /// Looks at a published folder: the one with `metadata` and `targets`, [`crate::author::Workshop::public`].
    pub fn new(public: &Path) -> Self {
        Self { public: public.to_owned(), catalogue: Mutex::new(None) }
    }

    /// Answers a request. Reads the disk; waits for nothing else.
    pub fn answer(&self, method: &Method, path: &str, headers: &HeaderMap) -> Response<Content> {
        if method != Method::GET && method != Method::HEAD {
            let mut refused =
                says(StatusCode::METHOD_NOT_ALLOWED, "this registry is for reading: GET or HEAD\n");
            refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return refused;
        }
        let mut answer = match self.find(path) {
            Ok(Some(found)) => found.answer(headers),
            Ok(None) => says(StatusCode::NOT_FOUND, "there is no such file\n"),
            Err(_disk) => says(StatusCode::SERVICE_UNAVAILABLE, "the registry cannot be read now\n"),
        };
        if method == Method::HEAD {
            *answer.body_mut() = Content::bytes("");
        }
        answer
    }

    fn find(&self, path: &str) -> io::Result<Option<Found>> {
        if path == "/registry" {
            return self.catalogue();
        }
        if let Some(name) = path.strip_prefix("/metadata/") {
            let Some((_, version)) = metadata_name(name) else { return Ok(None) };
            let bytes = layout::read(&self.public.join("metadata").join(name), METADATA_BYTES_MAX)?;
            let keep = if version.is_some() { FOREVER } else { EACH_TIME };
            return Ok(bytes.map(|bytes| Found::of(bytes.into(), JSON, keep)));
        }
        let Some((digest, held)) = path.strip_prefix("/targets/").and_then(hashed_name) else {
            return Ok(None);
        };
        let path = self.public.join("targets").join(layout::hashed(digest, &held));
        let Some((file, length)) = opened(&path)? else { return Ok(None) };
        let kind = if matches!(held, Held::Manifest(_)) { JSON } else { WASM };
        Ok(Some(Found { content: Content::file(file, length), length, digest, kind, keep: FOREVER }))
    }

    fn catalogue(&self) -> io::Result<Option<Found>> {
        let timestamp = layout::read(&self.public.join("metadata").join(TIMESTAMP), METADATA_BYTES_MAX)?;
        let Some(state) = timestamp.map(|bytes| Digest::of(&bytes)) else { return Ok(None) };
        let mut kept = self.catalogue.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = match &*kept {
            Some((known, bytes)) if *known == state => bytes.clone(),
            _ => match catalogue(&self.public) {
                Ok(bytes) => kept.insert((state, bytes.into())).1.clone(),
                Err(CatalogueError::Unpublished) => return Ok(None),
                Err(fault) => return Err(io::Error::other(fault)),
            },
        };
        drop(kept);
        Ok(Some(Found::of(bytes, JSON, EACH_TIME)))
    }
}

/// A file and its length; `None` for what is not there, or is no file.
fn opened(path: &Path) -> io::Result<Option<(File, u64)>> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    Ok(Some((file, length)))
}

impl Found {
    fn of(bytes: Bytes, kind: HeaderValue, keep: HeaderValue) -> Self {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Self { digest: Digest::of(&bytes), content: Content::bytes(bytes), length, kind, keep }
    }

    fn answer(self, headers: &HeaderMap) -> Response<Content> {
        let tag = format!("\"{}\"", self.digest.hex());
        let same = headers.get_all(IF_NONE_MATCH).iter().any(|known| knows(known, &tag));
        let mut answer = if same {
            let mut same = Response::new(Content::bytes(""));
            *same.status_mut() = StatusCode::NOT_MODIFIED;
            same
        } else {
            Response::new(self.content)
        };
        let fields = answer.headers_mut();
        if !same {
            fields.insert(CONTENT_TYPE, self.kind);
            fields.insert(CONTENT_LENGTH, HeaderValue::from(self.length));
        }
        fields.insert(CACHE_CONTROL, self.keep);
        // INVARIANT: hexadecimal digits between quotes are a header value.
        if let Ok(tag) = HeaderValue::try_from(tag) {
            fields.insert(ETAG, tag);
        }
        open_to_all(fields);
        answer
    }
}

/// Whether a client has what this tag names (RFC 9110, 13.1.2: the weak comparison).
fn knows(header: &HeaderValue, tag: &str) -> bool {
    let Ok(header) = header.to_str() else { return false };
    header
        .split(',')
        .map(str::trim)
        .any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

fn open_to_all(fields: &mut HeaderMap) {
    fields.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    fields.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}

/// An answer of a few words, which no cache keeps: the next root is not there until it is.
fn says(status: StatusCode, words: &'static str) -> Response<Content> {
    let mut answer = Response::new(Content::bytes(words));
    *answer.status_mut() = status;
    let fields = answer.headers_mut();
    fields.insert(CONTENT_TYPE, TEXT);
    fields.insert(CONTENT_LENGTH, HeaderValue::from(words.len()));
    fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    open_to_all(fields);
    answer
}

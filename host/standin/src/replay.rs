//! Recordings: a folder of `WireMock` mappings, and single raw HTTP responses.
//!
//! A recording is replayed as it is: status, headers (absolute `Link`s too) and body bytes. Request headers that a
//! mapping asks for are not compared. Anything that cannot be read is an error when loading, never later.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use http::Method;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{Reply, Route};

/// The time that a mapping's `{{now …}}` and `{{testStartDate …}}` stand for: 2026-01-01T00:00:00Z, in Unix seconds.
const NOW: u64 = 1_767_225_600;

/// Why a folder of recordings could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingsError {
    /// A file or folder cannot be read.
    #[error("`{}` cannot be read", path.display())]
    Read {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A mapping is not in the form that `WireMock` writes.
    #[error("`{}` is not a mapping", path.display())]
    Mapping {
        /// Which one.
        path: PathBuf,
        /// What the JSON reader says.
        #[source]
        source: serde_json::Error,
    },
    /// A mapping's method is none.
    #[error("`{}` names no HTTP method", path.display())]
    Method {
        /// Which one.
        path: PathBuf,
    },
    /// A raw response is not one.
    #[error("`{}` is not a raw HTTP response", path.display())]
    Raw {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: RawReplyError,
    },
    /// The folder has no mapping in it.
    #[error("`{}` has no `*.mapping.json` in it", path.display())]
    Empty {
        /// Which folder.
        path: PathBuf,
    },
}

/// Why some bytes are not a raw HTTP response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RawReplyError {
    /// The first line is not `HTTP/… <status> …`.
    #[error("the first line is not a status line")]
    StatusLine,
    /// A header line has no colon, or the headers are not UTF-8.
    #[error("a header line is not `name: value`")]
    Header,
}

/// Replies to replay.
#[derive(Debug, Clone, Default)]
pub struct Recordings {
    routes: Vec<Route>,
}

#[derive(Deserialize)]
struct Mapping {
    request: MappedRequest,
    response: MappedResponse,
}

#[derive(Deserialize)]
struct MappedRequest {
    url: String,
    method: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MappedResponse {
    status: u16,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    body_file_name: Option<String>,
    #[serde(default)]
    headers: Map<String, Value>,
}

impl Recordings {
    /// No recordings; add some with [`Recordings::with`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Loads every `*.mapping.json` of a folder with the body that it names. A body that is not there under its name
    /// `x.json` is looked for as `x.body.json`.
    ///
    /// # Errors
    /// The first file that cannot be read or understood; a folder without a mapping.
    pub fn load(folder: impl AsRef<Path>) -> Result<Self, RecordingsError> {
        let folder = folder.as_ref();
        let unread = |source| RecordingsError::Read { path: folder.to_owned(), source };
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).map_err(unread)? {
            let path = entry.map_err(unread)?.path();
            if path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".mapping.json")) {
                files.push(path);
            }
        }
        files.sort();
        let routes = files.iter().map(|file| route(folder, file)).collect::<Result<Vec<_>, _>>()?;
        if routes.is_empty() {
            return Err(RecordingsError::Empty { path: folder.to_owned() });
        }
        Ok(Self { routes })
    }

    /// Adds a reply to `method` on `target` (see [`Route::new`]) that is read from a raw `.http` file: status line,
    /// headers, an empty line, the body.
    ///
    /// # Errors
    /// Where the file cannot be read or is no such response.
    pub fn with_http_file(
        mut self,
        method: Method,
        target: &str,
        file: impl AsRef<Path>,
    ) -> Result<Self, RecordingsError> {
        let path = file.as_ref();
        let reply = Reply::from_http(&read(path)?)
            .map_err(|source| RecordingsError::Raw { path: path.to_owned(), source })?;
        self.routes.push(Route::new(method, target, reply));
        Ok(self)
    }

    /// Adds a route.
    #[must_use]
    pub fn with(mut self, route: Route) -> Self {
        self.routes.push(route);
        self
    }

    pub(crate) fn into_routes(self) -> Vec<Route> {
        self.routes
    }
}

fn read(path: &Path) -> Result<Vec<u8>, RecordingsError> {
    fs::read(path).map_err(|source| RecordingsError::Read { path: path.to_owned(), source })
}

fn route(folder: &Path, file: &Path) -> Result<Route, RecordingsError> {
    let mapping: Mapping = serde_json::from_slice(&read(file)?)
        .map_err(|source| RecordingsError::Mapping { path: file.to_owned(), source })?;
    let Mapping { request, response } = mapping;
    let method = Method::from_bytes(request.method.as_bytes())
        .map_err(|_invalid| RecordingsError::Method { path: file.to_owned() })?;
    let body = match (response.body, response.body_file_name) {
        (Some(body), _) => Bytes::from(body),
        (None, Some(name)) => read(&body_file(folder, &name))?.into(),
        (None, None) => Bytes::new(),
    };
    let mut reply = Reply::new(response.status, body);
    for (name, value) in &response.headers {
        match value {
            Value::String(text) => reply = framed(reply, name, &filled(text)),
            Value::Array(list) => {
                for text in list.iter().filter_map(Value::as_str) {
                    reply = framed(reply, name, &filled(text));
                }
            }
            other => reply = framed(reply, name, &other.to_string()),
        }
    }
    // A mapping that asks for no query means none: `/a` must not answer for `/a?page=2`.
    let target = if request.url.contains('?') { request.url } else { format!("{}?", request.url) };
    Ok(Route::new(method, &target, reply))
}

/// Adds a recorded header, unless it is one that belongs to the connection and is written anew.
fn framed(reply: Reply, name: &str, value: &str) -> Reply {
    const OF_THE_CONNECTION: [&str; 4] = ["connection", "content-length", "keep-alive", "transfer-encoding"];
    if OF_THE_CONNECTION.iter().any(|own| name.eq_ignore_ascii_case(own)) {
        return reply;
    }
    reply.header(name, value)
}

/// The file of a body: where it is called, or beside its mapping under the name `x.body.json`.
fn body_file(folder: &Path, name: &str) -> PathBuf {
    let called = folder.join(name);
    match name.strip_suffix(".json") {
        Some(stem) if !called.exists() => folder.join(format!("{stem}.body.json")),
        _ => called,
    }
}

/// A header value with `WireMock`'s two time templates filled in at a fixed time, the second with its offset.
fn filled(value: &str) -> String {
    if value.starts_with("{{now") {
        return "Thu, 01 Jan 2026 00:00:00 GMT".to_owned();
    }
    if !value.starts_with("{{testStartDate") {
        return value.to_owned();
    }
    let offset = value.split_once("offset='").map_or("", |(_, rest)| rest);
    let digits: String = offset.chars().take_while(char::is_ascii_digit).collect();
    NOW.saturating_add(digits.parse().unwrap_or(0)).to_string()
}

impl Reply {
    /// Reads a raw HTTP/1.1 response: status line, headers, an empty line, and the rest as the body. Framing headers
    /// are written anew; the body is neither cut nor unchunked.
    ///
    /// # Errors
    /// Where the first line is no status line or a header line has no colon.
    pub fn from_http(raw: &[u8]) -> Result<Self, RawReplyError> {
        let (head, body) = split_head(raw);
        let head = std::str::from_utf8(head).map_err(|_not_text| RawReplyError::Header)?;
        let mut lines = head.lines();
        let status = lines
            .next()
            .filter(|line| line.starts_with("HTTP/"))
            .and_then(|line| line.split_ascii_whitespace().nth(1))
            .and_then(|code| code.parse::<u16>().ok())
            .filter(|code| (100..1000).contains(code))
            .ok_or(RawReplyError::StatusLine)?;
        let mut reply = Self::new(status, body.to_vec());
        for line in lines.filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':').ok_or(RawReplyError::Header)?;
            reply = framed(reply, name.trim(), value.trim());
        }
        Ok(reply)
    }
}

/// Splits at the first empty line, whichever way lines end.
fn split_head(raw: &[u8]) -> (&[u8], &[u8]) {
    let mut end = 0_usize;
    for line in raw.split_inclusive(|byte| *byte == b'\n') {
        let next = end.saturating_add(line.len());
        if matches!(line, b"\n" | b"\r\n") {
            return (raw.get(..end).unwrap_or(raw), raw.get(next..).unwrap_or_default());
        }
        end = next;
    }
    (raw, &[])
}

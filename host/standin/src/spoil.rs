//! Carries a misbehaviour out: from what the world answers, and what was asked, to what is done instead.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, Response, StatusCode, Version};
use serde_json::{Value, json};

use crate::Reply;
use crate::body::Outgoing;
use crate::bomb::{brotli_bomb, gzip_bomb};
use crate::connection::{End, Script};
use crate::log::Seen;
use crate::misbehaviour::{Cut, Echo, Misbehaviour};
use crate::reply::gzip;
use crate::service::message;

/// What a request gets.
#[derive(Debug)]
pub(crate) enum Act {
    /// A response, spoiled or not.
    Send(Response<Outgoing>),
    /// A response, after a while.
    Later(Duration, Response<Outgoing>),
    /// A response; then the connection takes no more requests.
    SendThenFinish(Response<Outgoing>),
    /// A response; then the connection is cut.
    SendThenCut(Response<Outgoing>),
    /// Bytes below HTTP.
    Script(Script),
    /// A reset of the HTTP/2 stream, with this code.
    Reset(u32),
}

/// `PROTOCOL_ERROR` of RFC 9113, section 7.
const PROTOCOL_ERROR: u32 = 1;

/// Spoils the reply to a request. `world` gives what would have been answered, unpacked.
pub(crate) fn spoil(how: Misbehaviour, seen: &Seen, version: Version, world: impl FnOnce() -> Reply) -> Act {
    let h2 = version == Version::HTTP_2;
    match how {
        Misbehaviour::Redirect { status, location } => {
            send(Reply::new(status, "").header("location", &location))
        }
        Misbehaviour::SlowHeaders { delay } => Act::Later(delay, whole(world())),
        Misbehaviour::Drip { bytes, every } => {
            let reply = world();
            let body = Outgoing::Drip { rest: reply.body.clone(), piece: bytes, every, pause: None };
            Act::Send(with(reply, body))
        }
        Misbehaviour::EndlessBody => Act::Send(with(Reply::json_text(200, ""), endless())),
        Misbehaviour::DeclaredTooLong { by } => declared(world(), h2, |length| length.saturating_add(by)),
        Misbehaviour::DeclaredTooShort { by } => declared(world(), h2, |length| length.saturating_sub(by)),
        Misbehaviour::ChunkedGarbage if h2 => Act::Reset(PROTOCOL_ERROR),
        Misbehaviour::ChunkedGarbage => {
            let head = head(&Reply::json_text(200, ""), "transfer-encoding: chunked\r\n");
            Act::Script(script(&[&head, b"8\r\n[1,2,3,4\r\nthis is no chunk\r\n"], End::Close))
        }
        Misbehaviour::GzipBomb { mebibytes } => bomb("gzip", gzip_bomb(mebibytes)),
        Misbehaviour::BrotliBomb { mebibytes } => bomb("br", brotli_bomb(mebibytes)),
        Misbehaviour::Html(status) => send(html(status)),
        Misbehaviour::EchoCredential(Echo::ErrorMessage) => {
            send(message(422, &format!("the key {} may not do this", credential(seen))))
        }
        Misbehaviour::Status { code, retry_after } => {
            let status = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let reply = message(code, status.canonical_reason().unwrap_or("Something went wrong"));
            send(match retry_after {
                Some(value) => reply.header("retry-after", &value),
                None => reply,
            })
        }
        Misbehaviour::Cut(place) => cut(place, &world(), h2),
        Misbehaviour::H2Reset { code } if h2 => Act::Reset(code),
        Misbehaviour::H2GoAway { last_stream, code } if h2 => {
            let frame = [&[0, 0, 8, 7, 0, 0, 0, 0, 0][..], &last_stream.to_be_bytes(), &code.to_be_bytes()];
            Act::Script(script(&frame, End::Close))
        }
        Misbehaviour::H2Reset { .. } | Misbehaviour::H2GoAway { .. } => Act::Script(script(&[], End::Cut)),
        Misbehaviour::RawBytes(bytes) => Act::Script(Script { bytes: bytes.into(), end: End::Close }),
        changed => send(change(&changed, seen, world())),
    }
}

/// The misbehaviours that are a reply like any other, only not the right one.
fn change(how: &Misbehaviour, seen: &Seen, reply: Reply) -> Reply {
    match how {
        Misbehaviour::NestedGzip => {
            let twice = gzip(&reply.body).and_then(|once| gzip(&once)).unwrap_or_default();
            reply.with_body(twice).header("content-encoding", "gzip, gzip")
        }
        Misbehaviour::WrongContentType(value) => reply.instead("content-type", value),
        Misbehaviour::TruncatedJson => {
            let half = half(&reply.body);
            reply.with_body(half)
        }
        Misbehaviour::Bom => {
            let marked = [b"\xef\xbb\xbf", &reply.body[..]].concat();
            reply.with_body(marked)
        }
        Misbehaviour::Utf16 => {
            let text = format!("\u{feff}{}", String::from_utf8_lossy(&reply.body));
            let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            reply.with_body(bytes).instead("content-type", "application/json; charset=utf-16")
        }
        Misbehaviour::EmptyBody => reply.with_body(""),
        Misbehaviour::NoContent204 => {
            let mut reply = reply.with_body("");
            reply.status = StatusCode::NO_CONTENT;
            reply
        }
        Misbehaviour::EchoCredential(Echo::Body) => {
            let body = match serde_json::from_slice(&reply.body) {
                Ok(value) => appended(value, credential(seen)),
                Err(_) => json!({ "echo": credential(seen) }),
            };
            reply.with_body(body.to_string())
        }
        Misbehaviour::EchoCredential(Echo::Header) => reply.header("x-echo", credential(seen)),
        Misbehaviour::ManyHeaders(count) => {
            (0..*count).fold(reply, |reply, place| reply.header(&format!("x-filler-{place}"), "filler"))
        }
        Misbehaviour::HugeHeader(bytes) => reply.header("x-huge", &"a".repeat(*bytes)),
        // The rest are not replies, and are carried out above.
        _ => reply,
    }
}

/// The reply as it stands.
pub(crate) fn whole(reply: Reply) -> Response<Outgoing> {
    let body = Outgoing::Whole(reply.body.clone());
    with(reply, body)
}

fn with(reply: Reply, body: Outgoing) -> Response<Outgoing> {
    let mut response = Response::new(body);
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    response
}

fn send(reply: Reply) -> Act {
    Act::Send(whole(reply))
}

fn half(body: &Bytes) -> Bytes {
    body.slice(..body.len() / 2)
}

/// A JSON array of long texts without end, in pieces of 16 KB.
fn endless() -> Outgoing {
    let text = format!("\"{}\",", "a".repeat((16 << 10) - 3));
    Outgoing::Repeat {
        head: Bytes::from_static(b"["),
        unit: text.into(),
        times: u64::MAX,
        tail: Bytes::new(),
    }
}

fn bomb(encoding: &str, body: Outgoing) -> Act {
    Act::Send(with(Reply::json_text(200, "").header("content-encoding", encoding), body))
}

fn html(status: u16) -> Reply {
    const PAGE: &str =
        "<html>\n<head><title>Bad gateway</title></head>\n<body>\n<h1>Bad gateway</h1>\n</body>\n</html>\n";
    Reply::new(status, PAGE).header("content-type", "text/html")
}

/// The reply with another length than its own.
fn declared(reply: Reply, h2: bool, length: impl FnOnce(usize) -> usize) -> Act {
    let length = length(reply.body.len());
    if h2 {
        return send(reply.instead("content-length", &length.to_string()));
    }
    let head = head(&reply, &format!("content-length: {length}\r\n"));
    Act::Script(script(&[&head, &reply.body], End::Close))
}

fn cut(place: Cut, reply: &Reply, h2: bool) -> Act {
    let framed = || head(reply, &format!("content-length: {}\r\n", reply.body.len()));
    let first = half(&reply.body);
    match (place, h2) {
        (Cut::BeforeStatus, _) => Act::Script(script(&[], End::Cut)),
        // The head of a HEADERS frame of 256 bytes, and the first few of them.
        (Cut::InHeaders, true) => Act::Script(script(&[&[0, 1, 0, 1, 4, 0, 0, 0, 1, 0x88, 0x5f]], End::Cut)),
        (Cut::InHeaders, false) => {
            Act::Script(script(&[b"HTTP/1.1 200 OK\r\ncontent-type: applicat"], End::Cut))
        }
        (Cut::MidBody | Cut::MidBodyUnframed, true) => {
            Act::SendThenCut(with(reply.clone(), Outgoing::Stuck { first }))
        }
        (Cut::MidBody, false) => Act::Script(script(&[&framed(), &first], End::Cut)),
        (Cut::MidBodyUnframed, false) => {
            Act::Script(script(&[&head(reply, "connection: close\r\n"), &first], End::Cut))
        }
        (Cut::AfterBody, true) => Act::SendThenFinish(whole(reply.clone())),
        (Cut::AfterBody, false) => Act::Script(script(&[&framed(), &reply.body], End::Cut)),
    }
}

fn script(parts: &[&[u8]], end: End) -> Script {
    Script { bytes: parts.concat().into(), end }
}

/// The head of an HTTP/1.1 response, its last lines given.
fn head(reply: &Reply, last: &str) -> Vec<u8> {
    let reason = reply.status.canonical_reason().unwrap_or_default();
    let mut head = format!("HTTP/1.1 {} {reason}\r\n", reply.status.as_u16()).into_bytes();
    let named = |(name, value): (&HeaderName, &http::HeaderValue)| {
        [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat()
    };
    head.extend(reply.headers.iter().flat_map(named));
    head.extend_from_slice(last.as_bytes());
    head.extend_from_slice(b"\r\n");
    head
}

/// The key of a request: what follows the scheme, or the whole header where there is none.
fn credential(seen: &Seen) -> &str {
    let value = seen.header("authorization").or_else(|| seen.header("x-api-key")).unwrap_or("no key at all");
    match value.split_once(' ') {
        Some((scheme, key))
            if scheme.chars().all(|letter| letter.is_ascii_alphabetic()) && scheme != "no" =>
        {
            key
        }
        _ => value,
    }
}

/// The value with this text after each of its own that is not a URL.
fn appended(value: Value, text: &str) -> Value {
    match value {
        Value::String(own) if !own.contains("://") => Value::String(format!("{own} {text}")),
        Value::Array(items) => items.into_iter().map(|item| appended(item, text)).collect(),
        Value::Object(members) => {
            Value::Object(members.into_iter().map(|(name, item)| (name, appended(item, text))).collect())
        }
        other => other,
    }
}

//! Answers whose body is the lie: its length, its packing, what it is, and what it gives back.

use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_runtime::scrub::REDACTED;
use pinhole_standin::{Echo, Misbehaviour, Reply};
use serde_json::json;

use super::{Lie, picked};

pub(super) fn lies() -> Vec<Lie> {
    let mut lies = lengths();
    lies.extend(packed());
    lies.extend(no_json());
    lies.extend(echoes());
    lies
}

fn lengths() -> Vec<Lie> {
    vec![
        Lie::new("a body without an end", Misbehaviour::EndlessBody, Code::ResponseTooLarge),
        Lie::new(
            "a declared length that is too long",
            Misbehaviour::DeclaredTooLong { by: 7 },
            Code::Interrupted,
        ),
        // Over HTTP/1.1 what is too much belongs to nothing and is never read; over HTTP/2 the stream is at fault and is
        // given up (RFC 9113, section 8.1.1).
        Lie::new(
            "a declared length that is too short",
            Misbehaviour::DeclaredTooShort { by: 7 },
            Code::NotJson,
        )
        .over_h2(Code::Interrupted, Sent::Yes),
        Lie::new("chunked garbage", Misbehaviour::ChunkedGarbage, Code::BadResponse)
            .over_h2(Code::Interrupted, Sent::Maybe),
    ]
}

fn packed() -> Vec<Lie> {
    let mut spaces = vec![b' '; 32 << 20];
    spaces.extend_from_slice(br#"{"id":1}"#);
    vec![
        Lie::new("a gzip bomb", Misbehaviour::GzipBomb { mebibytes: 1024 }, Code::ResponseTooLarge),
        Lie::new("a brotli bomb", Misbehaviour::BrotliBomb { mebibytes: 4096 }, Code::ResponseTooLarge),
        Lie {
            truth: Reply::json_text(200, spaces),
            ..Lie::new("a nested bomb", Misbehaviour::NestedGzip, Code::BadEncoding)
        },
    ]
}

fn no_json() -> Vec<Lie> {
    vec![
        Lie::passing("HTML with 502", Misbehaviour::Html(502)),
        Lie::new("HTML with 200", Misbehaviour::Html(200), Code::NotJson),
        Lie::new("truncated JSON", Misbehaviour::TruncatedJson, Code::NotJson),
        Lie::new("a byte order mark", Misbehaviour::Bom, Code::NotJson),
        Lie::new("UTF-16", Misbehaviour::Utf16, Code::NotJson),
        Lie::new("an empty body", Misbehaviour::EmptyBody, Code::NotJson),
        Lie::new("204 where a body was due", Misbehaviour::NoContent204, Code::NotJson),
    ]
}

fn echoes() -> Vec<Lie> {
    let echo = |name, place| (name, Misbehaviour::EchoCredential(place));
    let (body, in_body) = echo("the credential echoed in the body", Echo::Body);
    let (error, in_error) = echo("the credential echoed in the error's text", Echo::ErrorMessage);
    let (header, in_header) = echo("the credential echoed in a header", Echo::Header);
    let redacted = json!({"id": 1, "name": format!("{} {REDACTED}", "x".repeat(4096))});
    vec![
        Lie::harmless(body, in_body, &redacted),
        Lie::new(error, in_error, Code::UpstreamInvalid),
        Lie::harmless(header, in_header, &picked()),
    ]
}

//! The places that a service can write to, and what comes of each when a secret stands there.

use pinhole_runtime::outcome::Code;
use pinhole_standin::Reply;

use super::forms::Form;

/// A place that a service can write to.
pub(super) struct Surface {
    pub(super) name: &'static str,
    pub(super) op: &'static str,
    /// What it answers, with this form in its place.
    pub(super) reply: fn(&Form) -> Reply,
    /// The refusal that comes of it, if one does.
    pub(super) code: Option<Code>,
    /// How often the outcome says that something was taken out.
    pub(super) redacted: usize,
}

fn ok(body: String) -> Reply {
    Reply::json_text(200, body)
}

fn surface(name: &'static str, reply: fn(&Form) -> Reply, code: Option<Code>, redacted: usize) -> Surface {
    Surface { name, op: "get_thing", reply, code, redacted }
}

/// Where what is passed on would hold the secret.
pub(super) fn passed_on() -> Vec<Surface> {
    let mut surfaces = vec![
        surface("a value", |f| ok(format!(r#"{{"text":{}}}"#, f.literal)), None, 1),
        surface("a value in a list", |f| ok(format!(r#"{{"list":["a",{0},{0}]}}"#, f.literal)), None, 2),
        surface("a value further in", |f| ok(format!(r#"{{"deep":{{"text":{}}}}}"#, f.literal)), None, 1),
        surface(
            "a value under two names",
            |f| ok(format!(r#"{{"items":[{{"text":{}}}]}}"#, f.literal)),
            None,
            2,
        ),
        surface("a key", |f| ok(format!(r#"{{"metadata":{{{0}:1,"kept":2}}}}"#, f.literal)), None, 1),
        surface("a key and its value", |f| ok(format!(r#"{{"metadata":{{{0}:{0}}}}}"#, f.literal)), None, 2),
        surface(
            "an error's text",
            |f| Reply::json_text(422, format!(r#"{{"message":{}}}"#, f.literal)),
            Some(Code::UpstreamInvalid),
            1,
        ),
        surface(
            "a failure's text",
            |f| ok(format!(r#"{{"ok":false,"error":{}}}"#, f.literal)),
            Some(Code::UpstreamFailure),
            1,
        ),
    ];
    surfaces.push(Surface {
        op: "query_thing",
        ..surface(
            "the text of a GraphQL failure",
            |f| ok(format!(r#"{{"errors":[{{"message":{0}}}],"message":{0}}}"#, f.literal)),
            Some(Code::UpstreamFailure),
            1,
        )
    });
    surfaces
}

/// Where nothing of it is passed on, so that there is nothing to take out.
pub(super) fn kept_back() -> Vec<Surface> {
    let part = |name, reply, code| Surface { op: "get_part", ..surface(name, reply, Some(code), 0) };
    vec![
        surface("a note", |f| ok(format!(r#"{{"text":{{{0}:{0}}},"items":[{0}]}}"#, f.literal)), None, 0),
        surface(
            "a field that nobody picks",
            |f| ok(format!(r#"{{"private":{0},{0}:1}}"#, f.literal)),
            None,
            0,
        ),
        surface("a header", |f| ok("{}".to_owned()).header("x-echo", &f.text), None, 0),
        surface("what is not JSON", |f| ok(format!(r#"{{"text":{},}}"#, f.literal)), Some(Code::NotJson), 0),
        surface("a page of text", |f| Reply::new(200, format!("<p>{}", f.text)), Some(Code::NotJson), 0),
        surface(
            "a key that stands twice",
            |f| ok(format!(r#"{{"metadata":{{{0}:1,{0}:2}}}}"#, f.literal)),
            Some(Code::DuplicateKey),
            0,
        ),
        surface(
            "an error's text that is none",
            |f| Reply::json_text(500, format!(r#"{{"message":[{}]}}"#, f.literal)),
            Some(Code::UpstreamError),
            0,
        ),
        part("a root that is not there", |f| ok(format!(r"{{{}:1}}", f.literal)), Code::RootAbsent),
        part(
            "a result that is too large",
            |f| ok(format!(r#"{{"part":{{"text":[{},"{}"]}}}}"#, f.literal, "y".repeat(500))),
            Code::ResultTooLarge,
        ),
        surface(
            "where a redirect leads",
            |f| Reply::new(302, "").header("location", &format!("https://leaky.dev/{}", f.text)),
            Some(Code::Redirected),
            0,
        ),
        surface(
            "an encoding",
            |f| ok("{}".to_owned()).header("content-encoding", &f.text),
            Some(Code::BadEncoding),
            0,
        ),
    ]
}

//! What a module must not get away with, by the name of its op.

use serde_json::{Value, json};

use crate::pinhole::op::http::{self, Method, Request};
use crate::pinhole::op::log::{self, Level};
use crate::{OpError, failed, get, sent, text};

pub(crate) fn run(op: &str, args: &Value) -> Result<String, OpError> {
    let own = format!("/repos/{}/{}/things", text(args, "owner"), text(args, "repo"));
    match op {
        "loops" => loop {
            std::hint::black_box(());
        },
        "recurses" => Ok(deeper(&own, 0).to_string()),
        "hoards" => {
            let mut hoard: Vec<Vec<u8>> = Vec::new();
            loop {
                hoard.push(vec![1; 1 << 20]);
            }
        }
        "panics" => panic!("the module met \u{1b}[31m what it cannot take"),
        "indexes" => Ok(own.as_bytes()[std::hint::black_box(1 << 20)].to_string()),
        "sends_often" => {
            for _ in 0..10_000 {
                sent(&get(&own))?;
            }
            Ok("{}".to_owned())
        }
        "sends_many" => Ok(http::send_all(&vec![get(&own); 10_000]).len().to_string()),
        "chatters" => {
            for _ in 0..100_000 {
                log::write(Level::Debug, "and another thing");
            }
            Ok("{}".to_owned())
        }
        "shouts" => {
            log::write(Level::Debug, &"a".repeat(16 << 20));
            Ok("{}".to_owned())
        }
        "to_other_host" => said(&get("//other.host/x")),
        "to_dots" => said(&get("/../x")),
        "to_url" => said(&get("https://other.host/x")),
        "to_nul" => said(&get(&format!("{own}\0"))),
        "to_other_repo" => said(&get(&format!("/repos/{}/other/things", text(args, "owner")))),
        "to_team" => said(&get("/teams/any/members")),
        "deletes" => said(&Request { method: Method::Delete, ..get(&own) }),
        "mutates" => {
            let body = json!({"query": "mutation { deleteAll }"}).to_string();
            said(&Request { method: Method::Post, body: Some(body), ..get("/graphql") })
        }
        "with_key" => with_header(&own, "Authorization", "Bearer mine"),
        "with_host" => with_header(&own, "Host", "other.host"),
        "with_method" => with_header(&own, "X-HTTP-Method-Override", "DELETE"),
        "with_query" => said(&Request { query: vec![("admin".to_owned(), "1".to_owned())], ..get(&own) }),
        "persists" => {
            // It does not look at what the first came to.
            let first = http::send(&get("//other.host/x"));
            let second = http::send(&get(&own));
            Ok(json!({"status": u8::from(first.is_ok()) + u8::from(second.is_ok())}).to_string())
        }
        "returns_much" => {
            let mut text = String::with_capacity(20 << 20);
            text.push_str("{\"said\":[\"");
            text.extend(std::iter::repeat_n('a', 19 << 20));
            text.push_str("\"]}");
            Ok(text)
        }
        "returns_text" => Ok("that is all".to_owned()),
        "returns_deep" => Ok(format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))),
        // SAFETY: nothing here reads it as text; it goes to the host, which is to see that it is none.
        "returns_bytes" => Ok(unsafe { String::from_utf8_unchecked(vec![b'"', 0xff, 0xfe, b'"']) }),
        "hides_body" => {
            let body = sent(&get(&own))?.body;
            Ok(json!({"said": [hex(&body)]}).to_string())
        }
        _ => Err(failed("there is no such op")),
    }
}

fn said(request: &Request) -> Result<String, OpError> {
    let status = sent(request)?.status;
    Ok(json!({"status": status}).to_string())
}

fn with_header(path: &str, name: &str, value: &str) -> Result<String, OpError> {
    said(&Request { headers: vec![(name.to_owned(), value.to_owned())], ..get(path) })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Ends after more calls than any stack has room for. What follows the inner call keeps it from becoming a loop.
#[inline(never)]
fn deeper(text: &str, depth: u64) -> u64 {
    let bottom = (1 << 40) + text.len() as u64;
    if depth == bottom { 0 } else { deeper(text, depth + 1).rotate_left(3) ^ depth }
}

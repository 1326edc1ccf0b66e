//! Reading the answer of a token endpoint: a pair is what another reader finds in it, and whatever it says, no error repeats it.

use std::collections::BTreeMap;

use pinhole_grant::{ClientId, Secret};
use pinhole_manifest::model::OAuth;
use pinhole_runtime::oauth::{Client, ErrorCode, FreshPair, TokenEndpoint, TokenError};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::thing;
use crate::stage::NOW;
use crate::wires::Canned;

/// Longest life of a token that is believed, in seconds: ten years.
const LIFE_MAX: i64 = 10 * 365 * 24 * 3600;
const STATUSES: [u16; 6] = [200, 201, 400, 401, 429, 503];

const ANSWERS: [&str; 8] = [
    r#"{"access_token":"hidden-access","refresh_token":"hidden-refresh","token_type":"Bearer","expires_in":3600,"scope":"a b"}"#,
    "access_token=hidden-access&refresh_token=hidden-refresh&token_type=bearer&expires_in=28800&scope=",
    r#"{"ok":true,"access_token":"hidden-access","token_type":"user","expires_in":"43200","authed_user":{"id":"U1"}}"#,
    r#"{"access_token":"hidden-access","error":"invalid_grant"}"#,
    "access_token=hidden-access&error=hidden-description",
    r#"{"error":"invalid_grant","error_description":"hidden-description"}"#,
    "error=bad_verification_code&error_description=hidden-description",
    r#"{"access_token":"hidden-access","expires_in":-1.5e3,"refresh_token":null,"scope":["a",{"b":1}]}"#,
];

struct Asking {
    oauth: OAuth,
    client: Client,
    runtime: tokio::runtime::Runtime,
}

impl Asking {
    fn new() -> Self {
        let manifest = thing(&json!({
            "auth": {"scheme": "bearer", "oauth": {
                "authorize_url": "https://api.thing.dev/authorize", "token_url": "https://api.thing.dev/token",
                "scopes": ["read"], "pkce": true
            }},
            "ops": {"get": {
                "access": "read", "summary": "Get.",
                "args": {"type": "object", "additionalProperties": false, "properties": {}},
                "request": {"method": "GET", "path": "/get"}, "pick": {"fields": ["id"]}
            }}
        }));
        let oauth = manifest.auth().oauth.clone().expect("OAuth");
        let client = Client::Public { id: ClientId::parse("public").expect("a client") };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        Self { oauth, client, runtime }
    }

    fn refreshed(&self, status: u16, body: &[u8]) -> Result<FreshPair, TokenError> {
        let wire = Canned::answering(status, body.to_vec());
        let endpoint = TokenEndpoint {
            wire: &wire,
            oauth: &self.oauth,
            client: &self.client,
            dial: pinhole_grant::Dial::Overridden,
            now: NOW,
        };
        let refresh = Secret::new("refresh-0".to_owned()).expect("a token");
        self.runtime.block_on(endpoint.refresh(&refresh))
    }
}

thread_local! {
    static ASKING: Asking = Asking::new();
}

/// The first byte chooses a status, the rest is the answer.
pub fn token_answer(bytes: &[u8]) {
    let Some((&how, body)) = bytes.split_first() else { return };
    let status = STATUSES[usize::from(how) % STATUSES.len()];
    match ASKING.with(|asking| asking.refreshed(status, body)) {
        Ok(pair) => is_in(&pair, body),
        Err(error) => {
            let shown = format!("{error} {error:?}");
            for text in texts(body).iter().filter(|text| text.len() > 9 && ErrorCode::known(text).is_none()) {
                assert!(!shown.contains(text.as_str()), "{shown} repeats {text}");
            }
        }
    }
}

/// Inputs of [`token_answer`], named.
pub fn token_answer_seeds() -> Vec<(String, Vec<u8>)> {
    let mut seeds = Vec::new();
    for (place, body) in ANSWERS.iter().enumerate() {
        for how in [0, 2] {
            seeds.push((format!("made_{place}_{how}"), [&[how], body.as_bytes()].concat()));
        }
    }
    seeds
}

/// Holds a pair against what `serde_json`, or a reader of forms, finds in the answer.
fn is_in(pair: &FreshPair, body: &[u8]) {
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
    // What neither reader looks at need not be good UTF-8, nor a number that fits anywhere.
    let text = String::from_utf8_lossy(body);
    let object = serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(&text).ok();
    let found = |name: &str| -> Option<String> {
        if let Some(object) = &object {
            return object.get(name).and_then(|value| serde_json::from_str(value.get()).ok());
        }
        let mut pairs = url::form_urlencoded::parse(body.trim_ascii_end());
        pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    };
    assert_eq!(found("access_token").as_deref(), Some(pair.access.expose()));
    if let Some(refresh) = &pair.refresh {
        assert_eq!(found("refresh_token").as_deref(), Some(refresh.expose()));
    }
    assert!(found("error").is_none_or(|error| error.is_empty()));
    assert_eq!(pair.obtained_at, NOW);
    let life = pair.expires_at.map(|end| end.secs_since(NOW));
    assert!(life.is_none_or(|life| life.is_some_and(|life| (1..=LIFE_MAX).contains(&life))), "{life:?}");
    let shown = format!("{pair:?}");
    assert!(pair.access.expose().len() < 10 || !shown.contains(pair.access.expose()), "{shown}");
}

/// Every text in an answer.
fn texts(body: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![serde_json::from_slice::<Value>(body).unwrap_or_default()];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => found.push(text),
            Value::Array(elements) => open.extend(elements),
            Value::Object(members) => open.extend(members.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    found.extend(url::form_urlencoded::parse(body).map(|(_, value)| value.into_owned()));
    found
}

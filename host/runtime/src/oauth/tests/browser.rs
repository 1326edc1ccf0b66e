//! The page she is sent to, and what comes back with her.

use std::collections::HashMap;

use pinhole_manifest::Access;
use serde_json::{Value, json};
use url::Url;

use super::{catalog, id, oauth};
use crate::entropy::SystemEntropy;
use crate::oauth::{
    Authorize, AuthorizeError, Callback, CallbackError, ErrorCode, State, Verifier, callback, challenge,
};

const REDIRECT: &str = "http://127.0.0.1:49152/callback";

fn sent_to(members: &Value, cap: Access) -> Result<(Url, State, Verifier), AuthorizeError> {
    let catalog = catalog(members);
    let (state, verifier) = (State::new(&SystemEntropy).unwrap(), Verifier::new(&SystemEntropy).unwrap());
    let client = id();
    let url = Authorize {
        oauth: oauth(&catalog),
        client: &client,
        redirect: REDIRECT,
        state: &state,
        challenge: Some(&verifier.challenge()),
        cap,
    }
    .url()?;
    Ok((Url::parse(&url).unwrap(), state, verifier))
}

#[test]
fn the_page_is_asked_for_the_scopes_of_the_cap() {
    for (members, cap, scope) in [
        (json!({}), Access::Read, "things:read"),
        (json!({}), Access::Write, "things:read things:write"),
        (json!({"scopes_write": []}), Access::Write, "things:read"),
    ] {
        let (url, state, verifier) = sent_to(&members, cap).unwrap();
        assert_eq!(&url[..url::Position::AfterPath], "https://id.thing.dev/authorize");
        let pairs: Vec<_> = url.query_pairs().into_owned().collect();
        let asked: HashMap<_, _> = pairs.iter().cloned().collect();
        assert_eq!(asked.len(), pairs.len());
        assert_eq!(asked["response_type"], "code");
        assert_eq!(asked["client_id"], "client-1");
        assert_eq!(asked["redirect_uri"], REDIRECT);
        assert_eq!(asked["scope"], scope);
        assert_eq!(asked["state"], state.expose());
        assert_eq!(asked["code_challenge"], challenge(verifier.expose()));
        assert_eq!(asked["code_challenge_method"], "S256");
        assert!(!url.as_str().contains(verifier.expose()));
    }
    let (url, ..) = sent_to(&json!({"scopes": [], "scopes_write": []}), Access::Read).unwrap();
    assert!(url.query_pairs().all(|(name, _)| name != "scope"));
}

#[test]
fn a_parameter_of_the_manifest_s_own_stays_and_never_stands_twice() {
    let own = |url: &str| sent_to(&json!({"authorize_url": url}), Access::Read);
    let (url, ..) = own("https://id.thing.dev/authorize?audience=api").unwrap();
    assert!(url.query_pairs().any(|(name, value)| name == "audience" && value == "api"));
    for name in ["state", "redirect_uri", "scope", "response_type", "code_challenge", "client_id"] {
        let refused = own(&format!("https://id.thing.dev/authorize?{name}=x")).unwrap_err();
        assert_eq!(refused, AuthorizeError::Parameter, "{name}");
    }
}

fn back(members: &Value, query: impl FnOnce(&str) -> String) -> Result<String, CallbackError> {
    let (catalog, state) = (catalog(members), State::new(&SystemEntropy).unwrap());
    let query = query(state.expose());
    let code = callback(Callback { query: &query, state: &state, oauth: oauth(&catalog) });
    code.map(|code| code.expose().to_owned())
}

#[test]
fn a_code_is_taken_with_the_state_of_the_attempt_alone() {
    let any = json!({});
    assert_eq!(back(&any, |state| format!("code=c%2B1&state={state}")).unwrap(), "c+1");
    assert_eq!(back(&any, |state| format!("x=1&state={state}&session_state=2&code=c")).unwrap(), "c");
    for query in ["", "code=c", "code=c&state=", "error=access_denied", "code=c&state=AAAA"] {
        assert_eq!(back(&any, |_state| query.to_owned()).unwrap_err(), CallbackError::NotOurs, "{query}");
    }
    let other = |state: &str| format!("code=c&state={}", state.to_ascii_lowercase());
    assert_eq!(back(&any, other).unwrap_err(), CallbackError::NotOurs);
    let cut = |state: &str| format!("code=c&state={}", state.get(..42).unwrap());
    assert_eq!(back(&any, cut).unwrap_err(), CallbackError::NotOurs);
}

#[test]
fn what_says_something_twice_or_nothing_is_refused() {
    let any = json!({});
    for query in [
        "code=a&code=b",
        "code=a&error=access_denied",
        "",
        "iss=https://id.thing.dev&iss=https://id.thing.dev&code=a",
        "code=",
        "code=a%20b",
        "code=%00",
    ] {
        let refused = back(&any, |state| format!("state={state}&{query}")).unwrap_err();
        assert_eq!(refused, CallbackError::Malformed, "{query}");
    }
    // A wrong state in front of the right one does not smuggle an answer in.
    let twice = back(&any, |state| format!("state=x&state={state}&code=a")).unwrap_err();
    assert_eq!(twice, CallbackError::Malformed);
    let twice = back(&any, |state| format!("state={state}&state=x&code=a")).unwrap_err();
    assert_eq!(twice, CallbackError::NotOurs);
}

#[test]
fn an_answer_of_another_issuer_is_refused() {
    let (any, named) = (json!({}), json!({"issuer": "https://id.thing.dev/realm"}));
    let with =
        |members: &Value, issuer: &str| back(members, |state| format!("code=c&state={state}&iss={issuer}"));
    // Without one in the manifest it must be of the host that she was sent to.
    for issuer in ["https://id.thing.dev", "https://id.thing.dev/", "https%3A%2F%2Fid.thing.dev%2Frealm"] {
        assert!(with(&any, issuer).is_ok(), "{issuer}");
    }
    for issuer in [
        "https://evil.dev",
        "https://id.thing.dev.evil.dev",
        "http://id.thing.dev",
        "",
        "id.thing.dev",
        "https://id.thing.dev@evil.dev/",
    ] {
        assert_eq!(with(&any, issuer).unwrap_err(), CallbackError::Issuer, "{issuer}");
    }
    // With one it is that, letter by letter, and never left out; of an error too.
    assert!(with(&named, "https://id.thing.dev/realm").is_ok());
    for issuer in ["https://id.thing.dev/realm/", "https://id.thing.dev", "https://ID.thing.dev/realm"] {
        assert_eq!(with(&named, issuer).unwrap_err(), CallbackError::Issuer, "{issuer}");
    }
    assert_eq!(back(&named, |state| format!("code=c&state={state}")).unwrap_err(), CallbackError::Issuer);
    let refused = back(&named, |state| format!("error=access_denied&state={state}")).unwrap_err();
    assert_eq!(refused, CallbackError::Issuer);
}

#[test]
fn an_error_says_a_known_code_and_nothing_else() {
    let any = json!({});
    let error = |text: &str| {
        let text = text.to_owned();
        back(&any, |state| format!("error={text}&error_description=leaked&state={state}")).unwrap_err()
    };
    assert_eq!(error("access_denied"), CallbackError::Denied);
    let known = CallbackError::Refused { code: ErrorCode::known("invalid_scope") };
    assert_eq!(error("invalid_scope"), known);
    assert_eq!(error("leaked%1b[2J"), CallbackError::Refused { code: None });
    assert!(!error("leaked").to_string().contains("leaked"));
}

//! The key stays here, whatever the service does with it.

use pinhole_grant::{CredentialKind, Secret};
use pinhole_manifest::host::HttpsUrl;
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_standin::{Echo, Misbehaviour, Reply, Route, When};
use pinhole_tests::{KEY, Setup};
use serde_json::json;

use crate::common::{basic, forms, get, holds_no_key, is, refusal, repo_args, result};

const REDACTED: &str = pinhole_runtime::scrub::REDACTED;

#[tokio::test]
async fn the_service_gets_the_key_once_in_its_header() {
    let stage = Setup::github().start().await;
    assert!(stage.read("github.get_repo", &repo_args()).await.result().is_some());
    let seen = &stage.standin.requests()[0];
    assert_eq!(seen.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let holding: Vec<_> = seen.headers.iter().filter(|(_, value)| value.contains(KEY)).collect();
    assert_eq!(holding.len(), 1);
    assert!(!format!("{}?{}", seen.path, seen.query).contains("ghp_"));
    assert_eq!(seen.sni.as_deref(), Some("api.github.com"));
    assert_eq!(seen.header("host"), Some("api.github.com"));
}

#[tokio::test]
async fn a_key_that_comes_back_in_the_body_is_taken_out() {
    let stage = Setup::github().start().await;
    stage.standin.misbehave(When::Always, Misbehaviour::EchoCredential(Echo::Body));
    let result = result(&stage.read("github.get_repo", &repo_args()).await);
    assert!(result["full_name"].as_str().unwrap().ends_with(REDACTED), "{result}");
    assert!(result["topics"].to_string().contains(REDACTED) || result["topics"] == json!([]), "{result}");
}

#[tokio::test]
async fn a_key_that_comes_back_in_an_error_is_taken_out() {
    let stage = Setup::github().start().await;
    stage.standin.misbehave(When::Always, Misbehaviour::EchoCredential(Echo::ErrorMessage));
    let outcome = stage.read("github.get_repo", &repo_args()).await;
    is(&outcome, Code::UpstreamInvalid, Sent::Yes);
    let untrusted = refusal(&outcome).untrusted.as_ref().unwrap().as_str();
    assert_eq!(untrusted, format!("the key {REDACTED} may not do this"));
}

#[tokio::test]
async fn a_key_that_comes_back_in_a_header_goes_nowhere() {
    let stage = Setup::github().start().await;
    stage.standin.misbehave(When::Always, Misbehaviour::EchoCredential(Echo::Header));
    let outcome = stage.read("github.get_repo", &repo_args()).await;
    assert!(!result(&outcome).to_string().contains(REDACTED));
    assert!(!outcome.to_json().contains("x-echo"));
}

/// In the result, in an error's text, and where it would fall apart at the clip.
#[tokio::test]
async fn a_key_in_disguise_is_taken_out_too() {
    let mut disguises = forms(KEY);
    disguises.push(basic(KEY));
    disguises.push(KEY.replace('/', "\\/"));
    for disguise in disguises {
        let text = format!("before {disguise} after");
        let stage = Setup::thing(vec![
            get("/things/1", &json!({"id": text, "name": {"deep": text}, "tags": [text, KEY], "owner": {"login": disguise}})),
            Route::get("/plain", Reply::json(400, &json!({"message": format!("{}{disguise}", "x".repeat(290))}))),
        ])
        .start()
        .await;
        let outcome = stage.read("thing.get_thing", &json!({"id": "1"})).await;
        let result = result(&outcome);
        let clean = result["id"].as_str().unwrap();
        assert!(clean.starts_with("before ") && clean.ends_with(" after"), "{clean}");
        assert!(clean.contains(REDACTED), "{disguise} came through: {clean}");
        assert_eq!(result["tags"][1], REDACTED);
        let failed = stage.read("thing.plain_thing", &json!({})).await;
        is(&failed, Code::UpstreamInvalid, Sent::Yes);
        // Ten of its letters lie before the clip.
        assert!(!failed.to_json().contains(&format!("x{}", &disguise[..6])), "a part of it came through");
    }
}

#[tokio::test]
async fn a_refresh_token_is_taken_out_too() {
    const REFRESH: &str = "ghr_RefreshTokenOfTheStandIn0123456789";
    let body = json!({"full_name": format!("a {REFRESH} b"), "description": KEY});
    let mut manifest: serde_json::Value =
        serde_json::from_slice(pinhole_runtime::catalog::BuiltIn::of("github").unwrap().manifest).unwrap();
    manifest["version"] = json!("1.0.1");
    let stage = Setup::manifest(&manifest, vec![get("/repos/pinhole-demo/lantern", &body)]).start().await;
    let grant = stage.grant("github").with(|credential| {
        credential.kind = CredentialKind::Oauth;
        credential.refresh = Some(Secret::new(REFRESH.to_owned()).unwrap());
        let url = HttpsUrl::parse("https://github.com/login/oauth/access_token").unwrap();
        credential.token_url = Some(url);
    });
    let outcome = stage.run("github.get_repo", &repo_args(), &grant.seal()).await;
    let result = result(&outcome);
    assert_eq!(result, json!({"full_name": format!("a {REDACTED} b"), "description": REDACTED}));
    assert!(!stage.standin.requests().iter().any(|seen| format!("{:?}", seen.headers).contains(REFRESH)));
}

/// A service may take its keys bare, or in a header of its own; a token from an OAuth exchange goes as RFC 6750 says.
#[tokio::test]
async fn a_token_goes_as_bearer_where_a_key_goes_as_the_scheme_says() {
    for (scheme, header) in [
        (json!({"scheme": "bare"}), "authorization"),
        (json!({"scheme": "header", "header": "x-api-key"}), "x-api-key"),
    ] {
        let mut manifest: serde_json::Value =
            serde_json::from_slice(pinhole_runtime::catalog::BuiltIn::of("github").unwrap().manifest)
                .unwrap();
        manifest["auth"] = scheme;
        let body = json!({"full_name": "a"});
        let stage = Setup::manifest(&manifest, vec![get("/repos/pinhole-demo/lantern", &body)]).start().await;
        stage.run("github.get_repo", &repo_args(), &stage.grant("github").seal()).await;
        let token = stage.grant("github").with(|credential| credential.kind = CredentialKind::Oauth);
        stage.run("github.get_repo", &repo_args(), &token.seal()).await;
        let seen = stage.standin.requests();
        assert_eq!(seen[0].header(header), Some(KEY), "a key");
        assert_eq!(seen[1].header("authorization"), Some(&*format!("Bearer {KEY}")), "a token");
        assert!(header == "authorization" || seen[1].header(header).is_none());
    }
}

/// What an outcome prints, and what the log gets of it, hold no key whatever the args were.
#[tokio::test]
async fn a_bot_that_guesses_the_key_learns_nothing() {
    let stage = Setup::github().start().await;
    for args in [json!({"owner": KEY, "repo": KEY}), json!({KEY: 1}), json!({"owner": [KEY]})] {
        let outcome = stage.read("github.get_repo", &args).await;
        let refusal = refusal(&outcome);
        // Its own words may come back to it, but they are not the key: it wrote them. Nothing of the value does.
        if args.get("owner").is_some() {
            holds_no_key(&outcome);
        }
        assert!(refusal.private_detail().is_none_or(|detail| !detail.contains(KEY)));
    }
}

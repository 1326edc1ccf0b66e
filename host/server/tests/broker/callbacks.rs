//! Back from the service: one state, once, in the browser that began, from the service that it was for.

use std::time::Duration;

use pinhole_manifest::Access;
use pinhole_runtime::oauth::broker::BrokerError;

use crate::browser::Ask;
use crate::stage::{CODE, REDIRECT, STATE, Stage, known, member, other_member, secret, service};

#[tokio::test]
async fn a_state_is_good_once() {
    let scene = Stage::new().await;
    let mut browser = scene.browser.another();
    let state = scene.begun(&mut browser, "github").await;
    let cookie = browser.cookie.clone();
    assert_eq!(scene.back(&mut browser, "github", &state).await.status, 303);
    browser.cookie = cookie;
    let again = scene.back(&mut browser, "github", &state).await;
    assert_eq!((again.status, again.header("location")), (400, None));
}

#[tokio::test]
async fn a_state_of_another_browser_is_worth_nothing_and_stays_good_in_its_own() {
    let scene = Stage::new().await;
    let (mut attacker, mut victim) = (scene.browser.another(), scene.browser.another());
    let of_attacker = scene.begun(&mut attacker, "github").await;
    let of_victim = scene.begun(&mut victim, "github").await;
    // The attacker's own answer of the service, in the victim's browser, and the other way round.
    for (browser, state) in
        [(&mut victim, &of_attacker), (&mut attacker, &of_victim), (&mut scene.browser.another(), &of_victim)]
    {
        let answer = scene.back(browser, "github", state).await;
        assert_eq!((answer.status, answer.header("location")), (403, None));
    }
    assert_eq!(scene.back(&mut victim, "github", &of_victim).await.status, 303);
    assert_eq!(scene.back(&mut attacker, "github", &of_attacker).await.status, 303);
}

#[tokio::test]
async fn an_answer_of_another_service_ends_the_attempt() {
    let scene = Stage::new().await;
    let mut browser = scene.browser.another();
    let state = scene.begun(&mut browser, "github").await;
    let mixed_up = scene.back(&mut browser, "gitlab", &state).await;
    assert_eq!((mixed_up.status, mixed_up.header("location")), (400, None));
    assert_eq!(scene.back(&mut browser, "github", &state).await.status, 400);
}

#[tokio::test]
async fn an_attempt_is_over_after_ten_minutes_and_its_code_after_two() {
    let scene = Stage::new().await;
    let mut browser = scene.browser.another();
    let state = scene.begun(&mut browser, "github").await;
    scene.time.pass(Duration::from_mins(10));
    assert_eq!(scene.back(&mut browser, "github", &state).await.status, 400);
    let code = scene.code("github").await;
    scene.time.pass(Duration::from_mins(2));
    let (own, at) = (member(), known());
    let late =
        scene.asking(&own, &at).exchange(&service("github"), Access::Read, code, &scene.verifier).await;
    assert!(matches!(late, Err(BrokerError::BadCode)), "{late:?}");
    assert!(scene.github.requests().is_empty());
}

#[tokio::test]
async fn what_a_service_refuses_comes_back_as_a_known_word() {
    let scene = Stage::new().await;
    for (said, word) in [
        ("error=access_denied", "access_denied"),
        (
            "error=access_denied&error_description=%3Cscript%3E&error_uri=https://evil.example",
            "access_denied",
        ),
        ("error=invalid_scope", "invalid_scope"),
        ("error=%0d%0aset-cookie:a=b", "server_error"),
        ("error=something_else", "server_error"),
    ] {
        let mut browser = scene.browser.another();
        let state = scene.begun(&mut browser, "github").await;
        let answer = browser.get(&format!("/oauth/github/callback?{said}&state={state}")).await;
        let end = answer.location();
        assert_eq!(end.as_str(), format!("{REDIRECT}?error={word}&state={STATE}"), "{said}");
        assert_eq!(answer.header("set-cookie").unwrap().split(';').next(), Some("__Host-pinhole-flow="));
    }
}

#[tokio::test]
async fn an_answer_that_says_something_twice_or_names_another_issuer_ends_here() {
    let scene = Stage::new().await;
    for bad in [
        format!("code={CODE}&code=other"),
        format!("code={CODE}&error=access_denied"),
        String::new(),
        "code=".to_owned(),
        "code=a%20b".to_owned(),
        format!("code={CODE}&iss=https://evil.example"),
        format!("code={CODE}&iss=https://github.com.evil.example"),
        format!("code={CODE}&iss="),
        format!("code={CODE}&iss=https://github.com&iss=https://evil.example"),
    ] {
        let mut browser = scene.browser.another();
        let state = scene.begun(&mut browser, "github").await;
        let answer = browser.get(&format!("/oauth/github/callback?{bad}&state={state}")).await;
        assert_eq!((answer.status, answer.header("location")), (400, None), "{bad}");
        // It is over: nothing can be tried a second time.
        assert_eq!(scene.back(&mut browser, "github", &state).await.status, 400, "{bad}");
    }
    let mut browser = scene.browser.another();
    let state = scene.begun(&mut browser, "github").await;
    for bad in [
        format!("code={CODE}"),
        format!("code={CODE}&state={state}&state={state}"),
        format!("code={CODE}&state="),
    ] {
        assert_eq!(browser.get(&format!("/oauth/github/callback?{bad}")).await.status, 400, "{bad}");
    }
    let own = format!("/oauth/github/callback?code={CODE}&iss=https://github.com/login/oauth&state={state}");
    assert_eq!(browser.get(&own).await.status, 303);
}

#[tokio::test]
async fn a_look_without_a_click_uses_nothing_up() {
    let scene = Stage::new().await;
    let mut browser = scene.browser.another();
    let state = scene.begun(&mut browser, "github").await;
    let target = format!("/oauth/github/callback?code={CODE}&state={state}");
    assert_eq!(browser.ask(Ask::new("HEAD", &target)).await.status, 405);
    assert_eq!(browser.ask(Ask::get(&target).header("sec-purpose", "prefetch")).await.status, 403);
    assert_eq!(browser.ask(Ask::get(&target).header("sec-fetch-dest", "image")).await.status, 403);
    assert_eq!(browser.get(&target).await.status, 303);
}

#[tokio::test]
async fn a_code_is_worth_something_to_who_started_alone() {
    // An attacker finishes a flow at her own account and has the victim's command take the code; or has got hold of the
    // victim's code.
    let scene = Stage::new().await;
    let at = known();
    let (own, attacker) = (member(), other_member());
    let of_attacker =
        scene.code_with("github", &scene.started_with("key", &attacker.public().to_string())).await;
    let injected = scene
        .asking(&own, &at)
        .exchange(&service("github"), Access::Read, of_attacker, &scene.verifier)
        .await;
    assert!(matches!(injected, Err(BrokerError::BadCode)), "{injected:?}");
    let of_victim = scene.code("github").await;
    let stolen = scene
        .asking(&attacker, &at)
        .exchange(&service("github"), Access::Read, secret(of_victim.expose()), &scene.verifier)
        .await;
    assert!(matches!(stolen, Err(BrokerError::BadCode)), "{stolen:?}");
    // Whoever shows it first has used it up.
    let own =
        scene.asking(&own, &at).exchange(&service("github"), Access::Read, of_victim, &scene.verifier).await;
    assert!(matches!(own, Err(BrokerError::BadCode)), "{own:?}");
    assert!(scene.github.requests().is_empty());
}

//! Beginning a flow: only by the button of a page that this browser was shown, only back to this machine.

use pinhole_grant::KeyKind;

use crate::browser::{Ask, pairs};
use crate::stage::{STATE, Stage, bot, broker_key, key, start};

#[tokio::test]
async fn a_flow_ends_at_a_loopback_address_or_does_not_begin() {
    let scene = Stage::new().await;
    let mut browser = scene.browser.another();
    for bad in [
        "https://evil.example/",
        "http://evil.example:4711/",
        "http://localhost:4711/",
        "http://localhost.evil.example:4711/",
        "http://127.1:4711/",
        "http://127.0.0.2:4711/",
        "http://2130706433:4711/",
        "http://user@127.0.0.1:4711/",
        "http://127.0.0.1:4711@evil.example/",
        "http://127.0.0.1:4711\\@evil.example/",
        "http://127.0.0.1.evil.example:4711/",
        "http://127.0.0.1/",
        "http://127.0.0.1:0/",
        "http://127.0.0.1:4711/?next=https://evil.example",
        "http://127.0.0.1:4711/#",
        "http://127.0.0.1:4711/%0d%0aset-cookie:a=b",
        "//evil.example/",
        "javascript:alert(1)",
        "",
    ] {
        let answer = browser.get(&start("github", &scene.started_with("redirect", bad))).await;
        assert_eq!(answer.status, 400, "{bad}");
        assert_eq!((answer.header("location"), answer.header("set-cookie")), (None, None), "{bad}");
        assert!(!answer.body.contains("evil"), "{bad}");
    }
    for good in ["http://127.0.0.1:1/", "http://[::1]:65535/a/b_c-1"] {
        let mut browser = scene.browser.another();
        let fields = scene.started_with("redirect", good);
        let state = scene.begun_with(&mut browser, "github", &fields).await;
        let end = scene.back(&mut browser, "github", &state).await;
        assert!(end.header("location").unwrap().starts_with(&format!("{good}?code=")), "{end:?}");
    }
}

#[tokio::test]
async fn what_is_not_exactly_a_beginning_is_refused() {
    let scene = Stage::new().await;
    let mut browser = scene.browser.another();
    for (name, bad) in [
        ("cap", "admin"),
        ("cap", "READ"),
        ("cap", ""),
        ("key", "pin1"),
        ("challenge", "short"),
        ("challenge", &"a".repeat(44)),
        ("challenge", &format!("{}=", "a".repeat(42))),
        ("state", "short"),
        ("state", &"a".repeat(129)),
        ("state", "a-state-with-a-space and-more-of-it"),
        ("state", "a-state-with-a-line\r\nset-cookie:a=b"),
    ] {
        let answer = browser.get(&start("github", &scene.started_with(name, bad))).await;
        assert_eq!(answer.status, 400, "{name}={bad}");
    }
    for more in ["&cap=write", "&scope=repo", "&redirect=http://127.0.0.1:1/"] {
        let answer = browser.get(&format!("{}{more}", start("github", &scene.started()))).await;
        assert_eq!(answer.status, 400, "{more}");
    }
    for name in ["cap", "redirect", "key", "challenge", "state"] {
        let fields: Vec<_> = scene.started().into_iter().filter(|(known, _)| known != name).collect();
        assert_eq!(browser.get(&start("github", &fields)).await.status, 400, "{name}");
    }
    for unknown in ["slack", "GitHub", "git%2Fhub", "nothing"] {
        assert_eq!(browser.get(&start(unknown, &scene.started())).await.status, 404, "{unknown}");
    }
    assert!(scene.github.requests().is_empty());
}

#[tokio::test]
async fn only_a_member_on_the_list_begins() {
    let scene = Stage::new().await;
    let mut browser = scene.browser.another();
    for stranger in [key(KeyKind::Member, 77), bot(), broker_key()] {
        let fields = scene.started_with("key", &stranger.public().to_string());
        let answer = browser.get(&start("github", &fields)).await;
        assert_eq!(answer.status, 403, "{stranger:?}");
        assert_eq!(answer.header("set-cookie"), None);
    }
}

#[tokio::test]
async fn a_link_alone_starts_nothing() {
    let scene = Stage::new().await;
    let mut browser = scene.browser.another();
    let page = browser.get(&start("github", &scene.started())).await;
    assert_eq!(page.header("location"), None);
    for header in ["content-security-policy", "x-frame-options", "cross-origin-opener-policy"] {
        assert!(page.header(header).is_some(), "{header}");
    }
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("frame-ancestors 'none'") && policy.contains("default-src 'none'"), "{policy}");
    assert!(!page.body.contains("<script") && !page.body.contains("style="), "{}", page.body);
    // What another page can make a browser send.
    let form = || Ask::form("/oauth/github/go", &page.fields());
    for bad in [
        form().with("origin", "https://evil.example"),
        form().with("origin", "null"),
        form().with("origin", "http://127.0.0.1:4711"),
        form().without("origin"),
        form().with("sec-fetch-site", "cross-site"),
        form().with("sec-fetch-site", "same-site"),
        form().with("sec-fetch-dest", "iframe"),
        form().with("content-type", "text/plain"),
        form().with("host", "evil.example"),
    ] {
        let answer = browser.ask(bad.clone()).await;
        assert_eq!((answer.status, answer.header("location")), (403, None), "{bad:?}");
    }
    // What it is is shown to nobody within a page, and nothing is fetched ahead.
    for (name, value) in
        [("sec-fetch-dest", "iframe"), ("sec-fetch-dest", "image"), ("sec-purpose", "prefetch")]
    {
        let answer =
            browser.another().ask(Ask::get(&start("github", &scene.started())).header(name, value)).await;
        assert_eq!((answer.status, answer.header("set-cookie")), (403, None), "{name}: {value}");
    }
    assert_eq!(browser.ask(form()).await.status, 303);
}

#[tokio::test]
async fn a_form_is_the_one_that_this_browser_was_shown() {
    let scene = Stage::new().await;
    let mut browser = scene.browser.another();
    let page = browser.get(&start("github", &scene.started())).await;
    let fields = page.fields();
    for (name, other) in [
        ("cap", "write"),
        ("redirect", "http://127.0.0.1:4712/callback"),
        ("key", &crate::stage::other_member().public().to_string()),
        ("challenge", &"A".repeat(43)),
        ("state", "another-state-of-the-attacker-0123456789"),
        ("form", &"A".repeat(43)),
        ("form", ""),
    ] {
        let mut changed = fields.clone();
        changed.iter_mut().filter(|(known, _)| known == name).for_each(|(_, value)| other.clone_into(value));
        let answer = browser.ask(Ask::form("/oauth/github/go", &changed)).await;
        assert_eq!((answer.status, answer.header("location")), (403, None), "{name}");
    }
    // For another service, in another browser, in one without cookies.
    assert_eq!(browser.ask(Ask::form("/oauth/gitlab/go", &fields)).await.status, 403);
    let mut victim = scene.browser.another();
    victim.get(&start("github", &scene.started())).await;
    assert_eq!(victim.ask(Ask::form("/oauth/github/go", &fields)).await.status, 403);
    assert_eq!(scene.browser.another().ask(Ask::form("/oauth/github/go", &fields)).await.status, 403);
    // Two cookies of the name: neither is believed.
    let two = Ask::form("/oauth/github/go", &fields).header("cookie", "__Host-pinhole-flow=planted");
    assert_eq!(browser.ask(two).await.status, 403);
    assert_eq!(browser.ask(Ask::form("/oauth/github/go", &fields)).await.status, 303);
}

#[tokio::test]
async fn the_cookie_stays_with_this_host_and_out_of_scripts() {
    let scene = Stage::new().await;
    let mut browser = scene.browser.another();
    let page = browser.get(&start("github", &scene.started())).await;
    let cookie = page.header("set-cookie").unwrap();
    assert!(cookie.starts_with("__Host-pinhole-flow="), "{cookie}");
    for part in ["Path=/", "Secure", "HttpOnly", "SameSite=Lax"] {
        assert!(cookie.split("; ").any(|known| known == part), "{part}: {cookie}");
    }
    assert!(!cookie.contains("Domain"), "{cookie}");
    let value = browser.cookie.clone().unwrap();
    assert!(!page.body.contains(value.split('=').nth(1).unwrap()), "the page has the cookie");
}

#[tokio::test]
async fn another_host_or_method_gets_nothing() {
    let scene = Stage::new().await;
    let mut browser = scene.browser.another();
    let target = start("github", &scene.started());
    for host in ["evil.example", "broker.pinhole.dev.evil.example", "broker.pinhole.dev@evil.example", ""] {
        let answer = browser.ask(Ask::get(&target).with("host", host)).await;
        assert!([400, 403].contains(&answer.status), "{host}: {answer:?}");
        assert_eq!(answer.header("set-cookie"), None, "{host}");
    }
    let head = browser.ask(Ask::new("HEAD", &target)).await;
    assert_eq!((head.status, head.header("set-cookie")), (405, None));
    for (method, target) in [
        ("POST", target.as_str()),
        ("GET", "/oauth/github/go"),
        ("PUT", "/oauth/exchange"),
        ("GET", "/oauth/refresh"),
    ] {
        assert_eq!(browser.ask(Ask::new(method, target)).await.status, 405, "{method} {target}");
    }
}

#[tokio::test]
async fn a_state_is_new_each_time() {
    let scene = Stage::new().await;
    let mut browser = scene.browser.another();
    let page = browser.get(&start("github", &scene.started())).await;
    let mut all = std::collections::BTreeSet::new();
    for _ in 0..8 {
        let went = browser.ask(Ask::form("/oauth/github/go", &page.fields())).await.location();
        let mut went = pairs(&went);
        let state = went.remove("state").unwrap();
        assert_ne!(state, STATE);
        all.extend([state, went.remove("code_challenge").unwrap()]);
    }
    assert_eq!(all.len(), 16);
}

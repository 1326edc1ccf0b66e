//! Who may see and do what: each guard broken alone, all others kept.

use pinhole_runtime::store::QuestionState;

use crate::stage::{Asking, Desk, Form, PASSPHRASE_IN_A_FORM};

/// What of a question nobody may see who has not entered.
const SECRETS: [&str; 4] = ["flickers", "pinhole-demo", "create_issue", "name=\"token\""];

#[tokio::test]
async fn every_answer_keeps_to_itself() {
    let desk = Desk::new().await;
    let id = desk.ask().await;
    let opened = desk.get(&format!("/open/{}", desk.code)).send().await;
    let cookie = opened.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let in_it = |asking: Asking| asking.with("cookie", &cookie);
    for (asking, status) in [
        (in_it(desk.get("/")), 200),
        (in_it(desk.get(&format!("/question/{id}"))), 200),
        (in_it(desk.get("/question/0000-0000")), 404),
        (desk.get("/style.css"), 200),
        (desk.get("/"), 403),
        (desk.get("/open/x"), 403),
        (desk.get("/elsewhere"), 404),
        (desk.get("/").with("host", "evil.example"), 403),
        (in_it(desk.post(&format!("/question/{id}/deny"), "token=x&sheet=y")), 403),
        (desk.get("/").method("DELETE"), 405),
    ] {
        let answer = asking.send().await;
        assert_eq!(answer.status, status, "{answer:?}");
        kept(&answer);
        assert_eq!(answer.header("referrer-policy"), Some("same-origin"));
        assert_eq!(answer.header("set-cookie"), None);
        assert!(!answer.body.contains("<script") && !answer.body.contains("style="), "{}", answer.body);
    }
    kept(&opened);
    assert_eq!(opened.header("referrer-policy"), Some("no-referrer"));
    assert!(!opened.body.contains(&desk.code));
}

#[track_caller]
fn kept(answer: &crate::stage::Answer) {
    let policy =
        "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
    for (name, value) in [
        ("content-security-policy", policy),
        ("x-frame-options", "DENY"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{answer:?}");
    }
    assert_eq!(answer.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn the_one_time_address_lets_one_browser_in() {
    let desk = Desk::new().await;
    let open = desk.get(&format!("/open/{}", desk.code));
    // Neither a wrong code nor another way of asking uses it up.
    for wrong in ["", "x", desk.code.get(1..).unwrap(), &format!("{}/", desk.code)] {
        assert_eq!(desk.get(&format!("/open/{wrong}")).send().await.status, 403, "{wrong}");
    }
    assert_eq!(open.clone().method("HEAD").send().await.status, 405);
    assert_eq!(open.clone().method("POST").send().await.status, 403);
    assert_eq!(open.clone().with("host", "evil.example").send().await.status, 403);
    assert_eq!(open.clone().with("sec-fetch-dest", "iframe").send().await.status, 403);
    let answers = futures_util::future::join_all((0..8).map(|_| open.send())).await;
    let cookies: Vec<_> = answers.iter().filter_map(|answer| answer.header("set-cookie")).collect();
    assert_eq!(cookies.len(), 1, "{answers:?}");
    let cookie = cookies[0];
    assert!(cookie.starts_with(&format!("pinhole_page_{}=", desk.port)), "{cookie}");
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
    let again = open.send().await;
    assert_eq!((again.status, again.header("set-cookie")), (403, None));
    assert!(again.body.contains("run it again"), "{}", again.body);
    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(desk.get("/").with("cookie", cookie).send().await.status, 200);
}

#[tokio::test]
async fn nothing_shows_without_the_cookie_not_even_whether_there_is_anything() {
    let desk = Desk::new().await;
    let id = desk.ask().await;
    let browser = desk.enter().await;
    let place = format!("/question/{id}");
    let seen = browser.get(&place).send().await;
    for secret in SECRETS {
        assert!(seen.body.contains(secret), "{secret}");
    }
    let other = format!("pinhole_page_{}={}", desk.port, "A".repeat(43));
    let nowhere = "/question/0000-0000";
    for strange in [
        desk.get(&place),
        desk.get(&place).with("cookie", ""),
        desk.get(&place).with("cookie", &other),
        desk.get(&place).with("cookie", &browser.cookie.to_lowercase()),
        desk.get(&place).with("cookie", &browser.cookie.replace(&desk.port.to_string(), "1")),
        // A page elsewhere led here, and the cookie came along: another port is the same site.
        browser.get(&place).with("sec-fetch-site", "same-site"),
        browser.get(&place).with("sec-fetch-site", "cross-site"),
    ] {
        let answer = strange.send().await;
        assert_eq!(answer.status, 403, "{answer:?}");
        for secret in SECRETS {
            assert!(!answer.body.contains(secret), "{secret}: {}", answer.body);
        }
        let of_none = desk.get(nowhere).send().await;
        assert_eq!(answer.body, of_none.body.replace("0000-0000", &id.to_string()));
        assert!(answer.body.contains(&format!("<a href=\"{place}\">")), "{}", answer.body);
    }
    // As it leads on: from this page itself.
    assert_eq!(browser.get(&place).with("sec-fetch-site", "same-origin").send().await.status, 200);
    assert_eq!(browser.get(&place).with("sec-fetch-site", "none").send().await.status, 200);
}

#[tokio::test]
async fn a_question_stands_in_no_other_page() {
    let desk = Desk::new().await;
    let id = desk.ask().await;
    let browser = desk.enter().await;
    let place = browser.get(&format!("/question/{id}"));
    for dest in ["iframe", "frame", "embed", "object", "image", "script", "empty"] {
        let answer = place.clone().with("sec-fetch-dest", dest).send().await;
        assert_eq!(answer.status, 403, "{dest}");
        assert!(!answer.body.contains("flickers"), "{dest}: {}", answer.body);
    }
    assert_eq!(place.with("sec-fetch-dest", "document").send().await.status, 200);
    // Nor does its stylesheet tell others that it is here.
    let style = desk.get("/style.css");
    assert_eq!(style.clone().with("sec-fetch-site", "cross-site").send().await.status, 403);
    assert_eq!(style.with("sec-fetch-site", "same-origin").send().await.status, 200);
}

#[tokio::test]
async fn an_answer_that_another_page_might_have_sent_does_nothing() {
    let desk = Desk::new().await;
    let id = desk.ask().await;
    let browser = desk.enter().await;
    let form = browser.look(id).await;
    let whole = format!("{}&passphrase={PASSPHRASE_IN_A_FORM}", form.body());
    for (path, body) in [("approve", &whole), ("deny", &form.body())] {
        let path = format!("/question/{id}/{path}");
        let good = browser.post(&path, body);
        let other_port = format!("http://127.0.0.1:{}", desk.port.wrapping_add(1));
        let other_name = format!("http://localhost:{}", desk.port);
        for (why, broken, status) in [
            ("no origin", good.clone().without("origin"), 403),
            ("another origin", good.clone().with("origin", "http://evil.example"), 403),
            ("no origin that says so", good.clone().with("origin", "null"), 403),
            ("another port", good.clone().with("origin", &other_port), 403),
            ("another name", good.clone().with("origin", &other_name), 403),
            ("two origins", good.clone().and("origin", "http://evil.example"), 403),
            ("another site", good.clone().with("sec-fetch-site", "cross-site"), 403),
            ("the same site", good.clone().with("sec-fetch-site", "same-site"), 403),
            ("a frame", good.clone().with("sec-fetch-dest", "iframe"), 403),
            ("another host", good.clone().with("host", "evil.example"), 403),
            ("no host", good.clone().without("host"), 403),
            ("no cookie", good.clone().without("cookie"), 403),
            ("another cookie", good.clone().with("cookie", "pinhole_page=x"), 403),
            ("got", desk.get(&path).with("cookie", &browser.cookie), 405),
            ("put", good.clone().method("PUT"), 405),
            ("no token", browser.post(&path, &body.replace(&form.token, "")), 403),
            ("another token", browser.post(&path, &body.replace(&form.token, &desk.code)), 403),
            ("no token at all", browser.post(&path, "sheet=x"), 400),
            ("no body", browser.post(&path, ""), 400),
            ("as text", good.clone().with("content-type", "text/plain"), 415),
            ("as parts", good.clone().with("content-type", "multipart/form-data; boundary=x"), 415),
            ("as nothing", good.clone().without("content-type"), 415),
            ("another field", browser.post(&path, &format!("{body}&question=x")), 400),
            ("a field twice", browser.post(&path, &format!("{body}&sheet=x")), 400),
        ] {
            let answer = broken.send().await;
            assert_eq!(answer.status, status, "{why}: {answer:?}");
            assert_eq!(desk.stage.question(id).unwrap().state, QuestionState::Pending, "{why}");
        }
    }
    assert_eq!(desk.tried.load(std::sync::atomic::Ordering::SeqCst), 0);
    // The same, whole, is an answer.
    assert_eq!(browser.yes(id, &form, PASSPHRASE_IN_A_FORM).await.status, 303);
}

#[tokio::test]
async fn the_tokens_of_another_page_are_none_of_this_one_s() {
    let (desk, other) = (Desk::new().await, Desk::new().await);
    let (id, of_other) = (desk.ask().await, other.ask().await);
    let (browser, stranger) = (desk.enter().await, other.enter().await);
    let foreign = Form { token: stranger.look(of_other).await.token, ..browser.look(id).await };
    assert_eq!(browser.no(id, &foreign).await.status, 403);
    assert_eq!(desk.get("/").with("cookie", &stranger.cookie).send().await.status, 403);
    let renamed = stranger.cookie.replace(&other.port.to_string(), &desk.port.to_string());
    assert_eq!(desk.get("/").with("cookie", &renamed).send().await.status, 403);
}

//! Too much: flows and asks without end use up neither memory nor who else is there.

use std::time::Duration;

use pinhole_manifest::Access;
use pinhole_server::broker::BrokerLimits;
use pinhole_server::http::Rate;

use crate::browser::Ask;
use crate::stage::{Setup, known, member, service, start};

#[tokio::test]
async fn a_peer_that_begins_without_end_keeps_a_few_attempts_and_no_more() {
    let pages = Rate { count: 10_000, per: Duration::from_mins(1) };
    let scene =
        Setup { limits: BrokerLimits { pages, ..BrokerLimits::default() }, ..Setup::new() }.start().await;
    let mut browser = scene.browser.another();
    let first = scene.begun(&mut browser, "github").await;
    let cookie = browser.cookie.clone();
    let page = browser.get(&start("github", &scene.started())).await;
    for _ in 0..64 {
        assert_eq!(browser.ask(Ask::form("/oauth/github/go", &page.fields())).await.status, 303);
    }
    let last = scene.begun(&mut browser, "github").await;
    assert_eq!(scene.back(&mut browser, "github", &last).await.status, 303);
    browser.cookie = cookie;
    assert_eq!(scene.back(&mut browser, "github", &first).await.status, 400);
}

#[tokio::test]
async fn a_peer_is_at_the_pages_so_often_and_asks_are_none_of_them() {
    let per = Duration::from_mins(1);
    let pages = Rate { count: 8, per };
    let scene =
        Setup { limits: BrokerLimits { pages, ..BrokerLimits::default() }, ..Setup::new() }.start().await;
    let code = scene.code("github").await;
    let mut browser = scene.browser.another();
    for _ in 0..5 {
        assert_eq!(browser.get("/oauth/config").await.status, 200);
    }
    let more = browser.get(&start("github", &scene.started())).await;
    assert_eq!((more.status, more.header("retry-after")), (429, Some("60")));
    let (own, at) = (member(), known());
    assert!(
        scene
            .asking(&own, &at)
            .exchange(&service("github"), Access::Read, code, &scene.verifier)
            .await
            .is_ok()
    );
    scene.time.pass(per);
    assert_eq!(browser.get(&start("github", &scene.started())).await.status, 200);
}

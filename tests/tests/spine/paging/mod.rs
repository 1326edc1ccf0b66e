//! Further pages: each style walked to its end against a service that has it, and what a run with all its pages costs.
//!
//! `tokens` has every kind of bad token, `links` every kind of bad link, `odd` what else an answer can say of a next page.

mod links;
mod odd;
pub(crate) mod tokens;

use std::collections::BTreeSet;

use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_runtime::{Explained, Outcome};
use pinhole_tests::{Setup, Stage, op_name};
use serde_json::{Value, json};

use crate::common::{is, parsed, result};

/// The token of the next page.
fn next(outcome: &Outcome) -> Option<String> {
    parsed(outcome).get("next").map(|next| next.as_str().expect("a text").to_owned())
}

/// Runs a read to its last page under one grant and gives every page's result.
async fn walk(stage: &Stage, name: &str, args: &Value, grant: &[u8]) -> Vec<Value> {
    let mut pages = Vec::new();
    let mut outcome = stage.run(name, args, grant).await;
    loop {
        pages.push(result(&outcome));
        assert!(!outcome.meta.more_pages, "{}", outcome.to_json());
        assert_eq!(parsed(&outcome)["notes"], json!([]));
        assert!(pages.len() < 50, "it has no end");
        let Some(next) = next(&outcome) else { return pages };
        outcome = stage.run_next(name, args, grant, &next).await;
    }
}

fn ids(pages: &[Value]) -> Vec<Vec<u64>> {
    let of_page =
        |page: &Value| page.as_array().unwrap().iter().map(|one| one["id"].as_u64().unwrap()).collect();
    pages.iter().map(of_page).collect()
}

/// What the stand-in was asked, as `METHOD path?query`.
fn asked(stage: &Stage) -> Vec<String> {
    let target = |seen: &pinhole_standin::Seen| match seen.query.as_str() {
        "" => format!("{} {}", seen.method, seen.path),
        query => format!("{} {}?{query}", seen.method, seen.path),
    };
    stage.standin.requests().iter().map(target).collect()
}

#[tokio::test]
async fn a_link_is_followed_to_the_last_page() {
    let stage = Setup::shelf(5).start().await;
    let grant = stage.grant("shelf").uses(1).seal();
    let args = json!({"shelf": "a b", "color": "red", "tags": ["x", "y"]});
    let pages = walk(&stage, "shelf.linked", &args, &grant).await;
    assert_eq!(ids(&pages), [vec![1, 2], vec![3, 4], vec![5]]);
    assert_eq!(pages[2], json!([{"id": 5, "name": "thing 5"}]));
    let query = "color=red&kind=plain&size=2&tags=x&tags=y";
    assert_eq!(
        asked(&stage),
        [
            format!("GET /shelves/a%20b/things?{query}"),
            format!("GET /shelf/7/things?{query}&page=2"),
            format!("GET /shelf/7/things?{query}&page=3"),
        ]
    );
}

/// The one parameter of the op's own that is an arg alone and that no `where` holds may be another on the next page.
#[tokio::test]
async fn a_link_changes_the_page_that_an_arg_began_with() {
    let stage = Setup::shelf(7).start().await;
    let grant = stage.grant("shelf").narrowed("shelf", &[json!("a")]).uses(1).seal();
    let pages = walk(&stage, "shelf.linked", &json!({"shelf": "a", "page": 2}), &grant).await;
    assert_eq!(ids(&pages), [vec![3, 4], vec![5, 6], vec![7]]);
}

#[tokio::test]
async fn a_cursor_is_followed_to_the_last_page() {
    let stage = Setup::shelf(5).start().await;
    let grant = stage.grant("shelf").uses(1).seal();
    let pages = walk(&stage, "shelf.cursor", &json!({}), &grant).await;
    assert_eq!(ids(&pages), [vec![1, 2], vec![3, 4], vec![5]]);
    // Each cursor is one value, whatever is in it.
    assert_eq!(
        asked(&stage),
        [
            "GET /cursor?size=2",
            "GET /cursor?size=2&after=after%2F2%2B%3D%26",
            "GET /cursor?size=2&after=after%2F4%2B%3D%26"
        ]
    );
    let pages =
        walk(&stage, "shelf.cursor", &json!({"after": "after/1+=&"}), &stage.grant("shelf").seal()).await;
    assert_eq!(ids(&pages), [vec![2, 3], vec![4, 5]]);
}

#[tokio::test]
async fn numbers_are_counted_up_to_an_empty_page() {
    let stage = Setup::shelf(4).start().await;
    let grant = stage.grant("shelf").uses(1).seal();
    let pages = walk(&stage, "shelf.numbered", &json!({}), &grant).await;
    assert_eq!(ids(&pages), [vec![1, 2], vec![3, 4], vec![]]);
    assert_eq!(asked(&stage), ["GET /numbered", "GET /numbered?page=2", "GET /numbered?page=3"]);
    let pages = walk(&stage, "shelf.numbered", &json!({"page": "2"}), &stage.grant("shelf").seal()).await;
    assert_eq!(ids(&pages), [vec![3, 4], vec![]]);
}

#[tokio::test]
async fn a_relay_connection_is_followed_to_the_last_page() {
    let stage = Setup::shelf(5).start().await;
    let grant = stage.grant("shelf").uses(1).seal();
    let pages = walk(&stage, "shelf.relay", &json!({"size": 3}), &grant).await;
    assert_eq!(ids(&pages), [vec![1, 2, 3], vec![4, 5]]);
    let bodies: Vec<Value> =
        stage.standin.requests().iter().map(|seen| serde_json::from_slice(&seen.body).unwrap()).collect();
    assert_eq!(bodies[0]["variables"], json!({"size": 3}));
    assert_eq!(bodies[1]["variables"], json!({"size": 3, "after": "after/3+=&"}));
    assert_eq!(bodies[0]["query"], bodies[1]["query"]);
}

#[tokio::test]
async fn an_op_without_pages_says_nothing_of_one() {
    let stage = Setup::shelf(5).start().await;
    let outcome = stage.read("shelf.whole", &json!({})).await;
    assert_eq!((next(&outcome), outcome.meta.more_pages), (None, false));
}

/// GitHub's manifest against a GitHub-shaped world: 250 repositories in three pages, none twice.
#[tokio::test]
async fn an_organisation_is_listed_whole() {
    let mut setup = Setup::github();
    setup.standin.world = pinhole_standin::World::Github(pinhole_standin::GithubWorld::default());
    let stage = setup.start().await;
    let grant = stage.grant("github").uses(1).seal();
    let args = json!({"org": pinhole_tests::ORG, "per_page": 100});
    let pages = walk(&stage, "github.list_org_repo_names", &args, &grant).await;
    let sizes: Vec<usize> = pages.iter().map(|page| page.as_array().unwrap().len()).collect();
    assert_eq!(sizes, [100, 100, 50]);
    let names: BTreeSet<&str> = pages
        .iter()
        .flat_map(|page| page.as_array().unwrap())
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 250);
}

/// One run with all its pages is one use: of the grant that paid for the first.
#[tokio::test]
async fn a_further_page_spends_a_use_under_another_grant_alone() {
    let stage = Setup::shelf(9).start().await;
    let (first, other) = (stage.grant("shelf").uses(1).seal(), stage.grant("shelf").uses(1).seal());
    let (name, args) = ("shelf.cursor", json!({}));
    let page = stage.run(name, &args, &first).await;
    let two = next(&page).unwrap();
    is(&stage.run(name, &args, &first).await, Code::GrantUsedUp, Sent::No);
    let page = stage.run_next(name, &args, &first, &two).await;
    assert_eq!(result(&page), json!([{"id": 3}, {"id": 4}]));
    let three = next(&page).unwrap();
    // The other grant pays once, and from then on the run is its own.
    let page = stage.run_next(name, &args, &other, &three).await;
    assert_eq!(result(&page), json!([{"id": 5}, {"id": 6}]));
    let four = next(&page).unwrap();
    is(&stage.run_next(name, &args, &other, &three).await, Code::GrantUsedUp, Sent::No);
    is(&stage.run_next(name, &args, &first, &four).await, Code::GrantUsedUp, Sent::No);
    assert_eq!(result(&stage.run_next(name, &args, &other, &four).await), json!([{"id": 7}, {"id": 8}]));
    // A page may be asked for again, for as long as its token is good.
    assert_eq!(result(&stage.run_next(name, &args, &first, &three).await), json!([{"id": 5}, {"id": 6}]));
}

/// Every check of a call is made of each page anew.
#[tokio::test]
async fn a_token_permits_nothing() {
    let stage = Setup::shelf(9).start().await;
    let (id, grant) = stage.grant("shelf").ops(&["linked"]).seal_with_id();
    let (name, args) = ("shelf.linked", json!({"shelf": "a"}));
    let token = next(&stage.run(name, &args, &grant).await).unwrap();
    let before = stage.standin.requests().len();
    let narrowed = stage.grant("shelf").narrowed("shelf", &[json!("b")]).seal();
    is(&stage.run_next(name, &args, &narrowed, &token).await, Code::ArgsOutOfScope, Sent::No);
    let others = stage.grant("shelf").ops(&["cursor"]).seal();
    is(&stage.run_next(name, &args, &others, &token).await, Code::OpOutOfScope, Sent::No);
    stage.store.revoke(&id).unwrap();
    is(&stage.run_next(name, &args, &grant, &token).await, Code::GrantRevoked, Sent::No);
    assert_eq!(stage.standin.requests().len(), before);
}

/// A page that the grant's own `where` would not let the args ask for is not followed, by whichever style.
#[tokio::test]
async fn a_page_that_a_where_holds_fast_stays() {
    let stage = Setup::shelf(9).start().await;
    let held = |arg: &str, value: Value| stage.grant("shelf").narrowed(arg, &[value]).seal();
    for (name, args, grant) in [
        ("shelf.linked", json!({"shelf": "a", "page": 2}), held("page", json!(2))),
        ("shelf.cursor", json!({"after": "after/1+=&"}), held("after", json!("after/1+=&"))),
        ("shelf.numbered", json!({"page": "1"}), held("page", json!("1"))),
    ] {
        let outcome = stage.run(name, &args, &grant).await;
        assert!(outcome.result().is_some(), "{}", outcome.to_json());
        assert_eq!((next(&outcome), outcome.meta.more_pages), (None, true), "{name}");
        // Nor under such a grant with a token of another.
        let free = stage.grant("shelf").seal();
        let token = next(&stage.run(name, &args, &free).await).unwrap();
        is(&stage.run_next(name, &args, &grant, &token).await, Code::ArgsOutOfScope, Sent::No);
    }
}

#[tokio::test]
async fn explain_shows_the_request_of_a_further_page() {
    let stage = Setup::shelf(5).start().await;
    let grant = stage.grant("shelf").uses(1).seal();
    let (service, op) = op_name("shelf.cursor");
    let token = next(&stage.run("shelf.cursor", &json!({}), &grant).await).unwrap();
    let call = pinhole_runtime::CallRequest::new(service, op, "{}", grant);
    // The use is spent: the first page would be refused, the next one would not.
    let explained = stage.executor.explain(call.clone().with_next(token)).await;
    let Explained::WouldRun(explanation) = explained else { panic!("{explained:?}") };
    assert_eq!(
        explanation.request.unwrap().url,
        "https://api.shelf.dev/cursor?size=2&after=after%2F2%2B%3D%26"
    );
    assert!(
        matches!(stage.executor.explain(call).await, Explained::Refused(refusal) if refusal.code == Code::GrantUsedUp)
    );
    assert_eq!(stage.standin.requests().len(), 1);
}

/// The token counts into what an outcome may have: 600 bytes hold the things, and not the token beside them.
#[tokio::test]
async fn the_token_counts_into_the_outcome() {
    let last = Setup::shelf(2).start().await;
    assert_eq!(result(&last.read("shelf.narrow", &json!({})).await), json!([{"id": 1}, {"id": 2}]));
    let more = Setup::shelf(3).start().await;
    is(&more.read("shelf.narrow", &json!({})).await, Code::ResultTooLarge, Sent::Yes);
}

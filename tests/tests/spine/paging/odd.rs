//! What else an answer can say of a next page: ends that look odd, cursors that are none, and ways to go round for ever.

use pinhole_runtime::Outcome;
use pinhole_runtime::entropy::{Entropy, EntropyError};
use pinhole_runtime::outcome::{Unfollowed, Verdict};
use pinhole_standin::{Reply, Route};
use pinhole_tests::{Setup, Stage};
use serde_json::{Value, json};

use super::next;
use crate::common::{get, no_faults, post, result};

fn unfollowed(outcome: &Outcome) -> Option<Unfollowed> {
    match &outcome.verdict {
        Verdict::Done(picked) => picked.unfollowed,
        Verdict::Refused(refusal) => panic!("{refusal:?}"),
    }
}

/// What is said of the page behind one: an end, a token, or why it is not followed.
#[derive(Debug, PartialEq)]
enum Behind {
    Nothing,
    Token,
    Not(Unfollowed),
}

fn behind(outcome: &Outcome) -> Behind {
    match (next(outcome), unfollowed(outcome)) {
        (None, None) => Behind::Nothing,
        (Some(_), None) => Behind::Token,
        (None, Some(why)) => Behind::Not(why),
        both => panic!("{both:?}"),
    }
}

#[tokio::test]
async fn a_cursor_is_a_text_or_a_number_or_the_end() {
    use Behind::{Not, Nothing, Token};
    use Unfollowed::Unreadable;
    let rows: Vec<(String, Behind)> = vec![
        (r#"{"paging":{"next":{"after":"x"}}}"#.to_owned(), Token),
        (r#"{"paging":{"next":{"after":42}}}"#.to_owned(), Token),
        (r#"{"paging":{"next":{"after":0}}}"#.to_owned(), Token),
        (r#"{"paging":{"next":{"after":"é €"}}}"#.to_owned(), Token),
        ("{}".to_owned(), Nothing),
        (r#"{"paging":null}"#.to_owned(), Nothing),
        (r#"{"paging":{"next":{"after":null}}}"#.to_owned(), Nothing),
        (r#"{"paging":{"next":{"after":""}}}"#.to_owned(), Nothing),
        (r#"{"paging":{"next":{"after":false}}}"#.to_owned(), Nothing),
        (r#"{"paging":{"next":{"after":true}}}"#.to_owned(), Not(Unreadable)),
        (r#"{"paging":{"next":{"after":["x"]}}}"#.to_owned(), Not(Unreadable)),
        (r#"{"paging":{"next":{"after":{"x":1}}}}"#.to_owned(), Not(Unreadable)),
        (r#"{"paging":{"next":{"after":"a\u0000b"}}}"#.to_owned(), Not(Unreadable)),
        (r#"{"paging":{"next":{"after":"a\r\nb"}}}"#.to_owned(), Not(Unreadable)),
        (r#"{"paging":{"next":{"after":"x","after":"y"}}}"#.to_owned(), Not(Unreadable)),
        (r#"{"paging":{"next":{"after":"x"}},"paging":{}}"#.to_owned(), Not(Unreadable)),
        (format!(r#"{{"paging":{{"next":{{"after":"{}"}}}}}}"#, "x".repeat(4096)), Token),
        (format!(r#"{{"paging":{{"next":{{"after":"{}"}}}}}}"#, "x".repeat(4097)), Not(Unreadable)),
        // Fits as it is, and not once it is encoded.
        (format!(r#"{{"paging":{{"next":{{"after":"{}"}}}}}}"#, "é".repeat(2000)), Not(Unreadable)),
    ];
    let mut faults = Vec::new();
    for (paging, wanted) in rows {
        let body =
            format!(r#"{{"items":[{{"id":1}}],{}"#, paging.strip_prefix('{').unwrap()).replace(",}", "}");
        let stage = Setup::shelf_of(vec![Route::get("/cursor", Reply::json_text(200, body))]).start().await;
        let outcome = stage.read("shelf.cursor", &json!({})).await;
        assert_eq!(result(&outcome), json!([{"id": 1}]));
        if behind(&outcome) != wanted {
            faults.push(format!("{paging}: {}", outcome.to_json()));
        }
    }
    no_faults(&faults);
}

#[tokio::test]
async fn a_connection_says_whether_and_from_where_it_goes_on() {
    use Behind::{Not, Nothing, Token};
    use Unfollowed::{NoCursor, Unreadable};
    for (info, wanted) in [
        (json!({"hasNextPage": true, "endCursor": "x"}), Token),
        (json!({"hasNextPage": false, "endCursor": "x"}), Nothing),
        (json!({"hasNextPage": null, "endCursor": "x"}), Nothing),
        (json!({"endCursor": "x"}), Nothing),
        (Value::Null, Nothing),
        (json!({"hasNextPage": true}), Not(NoCursor)),
        (json!({"hasNextPage": true, "endCursor": null}), Not(NoCursor)),
        (json!({"hasNextPage": true, "endCursor": ""}), Not(NoCursor)),
        (json!({"hasNextPage": true, "endCursor": {}}), Not(Unreadable)),
        (json!({"hasNextPage": "yes", "endCursor": "x"}), Not(Unreadable)),
        (json!({"hasNextPage": 1, "endCursor": "x"}), Not(Unreadable)),
    ] {
        let body = json!({"data": {"things": {"nodes": [{"id": 1}], "pageInfo": info}}});
        let stage = Setup::shelf_of(vec![post("/graphql", &body)]).start().await;
        let outcome = stage.read("shelf.relay", &json!({})).await;
        assert_eq!(result(&outcome), json!([{"id": 1}]));
        assert_eq!(behind(&outcome), wanted, "{body}");
    }
}

/// Walks until nothing leads on, and gives how many pages there were and why it stopped.
async fn until_it_stops(stage: &Stage, name: &str) -> (usize, Option<Unfollowed>) {
    let grant = stage.grant("shelf").uses(1).seal();
    let mut outcome = stage.run(name, &json!({}), &grant).await;
    let mut pages = 1;
    while let Some(token) = next(&outcome) {
        assert!(pages < 100, "it goes round for ever");
        outcome = stage.run_next(name, &json!({}), &grant, &token).await;
        pages += 1;
    }
    (pages, unfollowed(&outcome))
}

fn page(after: &str) -> Value {
    json!({"items": [{"id": 1}], "paging": {"next": {"after": after}}})
}

#[tokio::test]
async fn who_goes_round_is_left_after_a_few_rounds() {
    // The same cursor over and over.
    let stage = Setup::shelf_of(vec![get("/cursor", &page("x"))]).start().await;
    assert_eq!(until_it_stops(&stage, "shelf.cursor").await, (2, Some(Unfollowed::Again)));
    // Rings of several pages, entered at once or behind a way.
    for (way, ring) in [(0, 2), (0, 7), (3, 2), (5, 8), (1, 13)] {
        let last = way + ring - 1;
        let mut routes = vec![get("/cursor?size=2", &page("0"))];
        for at in 0..=last {
            let next = if at == last { way } else { at + 1 };
            routes.push(get(&format!("/cursor?size=2&after={at}"), &page(&next.to_string())));
        }
        let stage = Setup::shelf_of(routes).start().await;
        let (pages, why) = until_it_stops(&stage, "shelf.cursor").await;
        assert_eq!(why, Some(Unfollowed::Again), "{way} {ring}");
        assert!(pages > way + ring && pages <= 4 * (way + ring) + 2, "{way} {ring}: {pages}");
    }
    // A cursor that leads to the first page.
    let routes = vec![get("/cursor?size=2&after=a", &page("b")), get("/cursor?size=2&after=b", &page("a"))];
    let stage = Setup::shelf_of(routes).start().await;
    let grant = stage.grant("shelf").seal();
    let first = stage.run("shelf.cursor", &json!({"after": "a"}), &grant).await;
    let second = stage.run_next("shelf.cursor", &json!({"after": "a"}), &grant, &next(&first).unwrap()).await;
    assert_eq!(unfollowed(&second), Some(Unfollowed::Again));
    // A connection whose cursor stands still.
    let info = json!({"hasNextPage": true, "endCursor": "x"});
    let body = json!({"data": {"things": {"nodes": [{"id": 1}], "pageInfo": info}}});
    let stage = Setup::shelf_of(vec![post("/graphql", &body)]).start().await;
    assert_eq!(until_it_stops(&stage, "shelf.relay").await, (2, Some(Unfollowed::Again)));
}

#[tokio::test]
async fn numbers_end_with_an_empty_page_or_the_same_one_again() {
    // A service that gives its last page for every number behind it.
    let one = |id: u64| json!([{"id": id}]);
    let routes = vec![get("/numbered?page=2", &one(2)), get("/numbered", &one(1))];
    let stage = Setup::shelf_of(routes).start().await;
    assert_eq!(until_it_stops(&stage, "shelf.numbered").await, (4, Some(Unfollowed::Again)));
    let stage = Setup::shelf_of(vec![get("/numbered", &json!([]))]).start().await;
    assert_eq!(until_it_stops(&stage, "shelf.numbered").await, (1, None));
    // No list: there is nothing that could be empty.
    let stage = Setup::shelf_of(vec![get("/numbered", &json!({"id": 1}))]).start().await;
    assert_eq!(until_it_stops(&stage, "shelf.numbered").await, (1, None));
    // The args began at what is no number, or at the last there is.
    for (page, why) in [("two", Unfollowed::Unreadable), ("18446744073709551615", Unfollowed::Unreadable)] {
        let stage = Setup::shelf_of(vec![get("/numbered", &one(1))]).start().await;
        assert_eq!(unfollowed(&stage.read("shelf.numbered", &json!({"page": page})).await), Some(why));
    }
}

struct Dry;

impl Entropy for Dry {
    fn fill(&self, _bytes: &mut [u8]) -> Result<(), EntropyError> {
        Err(EntropyError)
    }
}

#[tokio::test]
async fn a_page_without_a_token_is_a_page() {
    let mut stage = Setup::shelf(5).start().await;
    stage.executor.entropy = Box::new(Dry);
    let outcome = stage.read("shelf.cursor", &json!({})).await;
    assert_eq!(result(&outcome), json!([{"id": 1}, {"id": 2}]));
    assert_eq!(behind(&outcome), Behind::Not(Unfollowed::NoToken));
}

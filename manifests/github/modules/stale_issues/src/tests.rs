//! What no recorded case has room for.

use pinhole_guest::recorded::{CASE_TIME, Recorded, check_cases};
use pinhole_guest::{Error, Request, Response};
use serde_json::{Value, json};

use super::*;

const ARGS: &str = r#"{"owner": "octo", "repo": "lantern", "days": 30, "by": "issue"}"#;

fn first() -> Request {
    let request = Request::get("/repos/octo/lantern/issues").query("state", "open").query("sort", "updated");
    request.query("direction", "asc").query("per_page", 100)
}

fn issue(number: usize, updated_at: &str) -> Value {
    json!({"number": number, "title": "It flickers", "html_url": "https://github.com/octo/lantern/issues/1",
           "updated_at": updated_at, "labels": [], "assignees": []})
}

#[test]
fn every_recorded_case_holds() {
    check_cases(concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases"), "stale_issues", run);
}

/// A repository whose pages never end.
fn endless(pages: usize) -> Recorded {
    (1..=pages).fold(Recorded::new(), |service, page| {
        let request = if page == 1 { first() } else { first().query("page", page) };
        let query = format!("state=open&sort=updated&direction=asc&per_page=100&page={}", page + 1);
        let link = format!("<https://api.github.com/repositories/1/issues?{query}>; rel=\"next\"");
        let answer = Response::new(200).with_json(&[issue(page, "2020-01-01T00:00:00Z")]);
        service.on(request, answer.with_header("link", &link))
    })
}

#[test]
fn more_pages_than_a_call_may_ask_for_are_an_error_that_says_what_to_narrow() {
    let service = endless(PAGES_MAX);
    let error = run(&service, "stale_issues", ARGS).unwrap_err();
    assert!(matches!(error, Error::TooManyPages { pages: 100, .. }), "{error}");
    assert!(error.to_string().contains("`days`"), "{error}");
    assert_eq!(service.sent().len(), 100);
}

#[test]
fn an_issue_is_stale_from_the_whole_day_on() {
    let now = |ago: i64| time::date(CASE_TIME - ago * time::DAY) + "T00:00:00Z";
    for (updated_at, stale) in [(now(30), 1), (now(29), 0), ("2025-12-02T00:00:01Z".to_owned(), 0)] {
        let service = Recorded::new().on(first(), Response::new(200).with_json(&[issue(1, &updated_at)]));
        let result: Value = serde_json::from_str(&run(&service, "stale_issues", ARGS).unwrap()).unwrap();
        assert_eq!(result["stale"], stale, "{updated_at}");
    }
}

#[test]
fn a_time_that_cannot_be_read_is_an_error() {
    let service = Recorded::new().on(first(), Response::new(200).with_json(&[issue(7, "yesterday")]));
    let error = run(&service, "stale_issues", ARGS).unwrap_err();
    assert_eq!(error.to_string(), "issue 7 has no readable time");
}

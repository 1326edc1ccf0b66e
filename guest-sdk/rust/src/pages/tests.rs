//! Each way of paging over several pages, to its end, and to its limit.

use serde_json::json;

use super::*;
use crate::recorded::Recorded;

fn first() -> Request {
    Request::get("/things").query("state", "open")
}

fn ids(pages: Pages<'_>) -> Result<Vec<u64>, Error> {
    let mut ids = Vec::new();
    for page in pages {
        let body: Value = page?.json()?;
        let list = body.as_array().or_else(|| body["data"].as_array()).unwrap();
        ids.extend(list.iter().map(|id| id.as_u64().unwrap()));
    }
    Ok(ids)
}

#[test]
fn links_are_followed_by_their_query_alone() {
    let link = |to: &str| format!("<https://other.host/elsewhere?{to}>; rel=\"next\"");
    let service = Recorded::new()
        .on(first(), Response::new(200).with_json(&[1]).with_header("link", &link("state=open&page=2")))
        .on(
            first().query("page", 2),
            Response::new(200).with_json(&[2]).with_header("link", "</x>; rel=\"prev\""),
        );
    assert_eq!(ids(Pages::by_link(&service, first())), Ok(vec![1, 2]));
    service.assert_all_sent();
}

#[test]
fn numbers_go_on_to_an_empty_page() {
    let page = |number: u32| first().query("page", number);
    let service = Recorded::new()
        .on(page(1), Response::new(200).with_json(&json!({"data": [1, 2]})))
        .on(page(2), Response::new(200).with_json(&json!({"data": [3]})))
        .on(page(3), Response::new(200).with_json(&json!({"data": []})));
    assert_eq!(ids(Pages::by_number(&service, first(), "page", "/data")), Ok(vec![1, 2, 3]));
    service.assert_all_sent();
    let odd = Recorded::new().on(page(1), Response::new(200).with_json(&json!({"data": 1})));
    assert!(matches!(ids(Pages::by_number(&odd, first(), "page", "/data")), Err(Error::Json(_))));
}

#[test]
fn cursors_go_on_until_there_is_none() {
    for end in [json!(null), json!(""), json!({}), json!([])] {
        let last = json!({"data": [3], "next": end});
        let service = Recorded::new()
            .on(first(), Response::new(200).with_json(&json!({"data": [1], "next": "a=b"})))
            .on(
                first().query("after", "a=b"),
                Response::new(200).with_json(&json!({"data": [2], "next": 17})),
            )
            .on(first().query("after", "17"), Response::new(200).with_json(&last));
        let ids = ids(Pages::by_cursor(&service, first(), "/next", "after"));
        if end.is_object() || end.is_array() {
            assert_eq!(ids, Err(Error::Json("what stands at `/next` is no cursor".to_owned())));
        } else {
            assert_eq!(ids, Ok(vec![1, 2, 3]));
        }
    }
}

#[test]
fn a_cursor_goes_into_a_body() {
    let search = |after: u32| Request::post("/search").json(&json!({"limit": 2, "after": after}));
    let service = Recorded::new()
        .on(search(0), Response::new(200).with_json(&json!({"data": [1], "next": 2})))
        .on(search(2), Response::new(200).with_json(&json!({"data": [2]})));
    assert_eq!(ids(Pages::by_cursor_in_body(&service, search(0), "/next", "after")), Ok(vec![1, 2]));
}

#[test]
fn relay_sets_its_variable() {
    let ask = |variables: Value| Request::graphql("/graphql", "query {}", &variables);
    let answer = |more: bool| {
        let info = json!({"hasNextPage": more, "endCursor": "c"});
        Response::new(200).with_json(&json!({"data": {"things": {"pageInfo": info}}}))
    };
    let first = || ask(json!({"team": "T"}));
    let service =
        Recorded::new().on(first(), answer(true)).on(ask(json!({"team": "T", "after": "c"})), answer(false));
    assert_eq!(Pages::relay(&service, first(), "/data/things/pageInfo", "after").flatten().count(), 2);
    service.assert_all_sent();
    let failed = json!({"data": {}, "errors": [{"message": "no"}]});
    let service = Recorded::new().on(first(), Response::new(200).with_json(&failed));
    let page = Pages::relay(&service, first(), "/data/things/pageInfo", "after").next();
    assert_eq!(page, Some(Err(Error::GraphQl("no".to_owned()))));
}

#[test]
fn a_limit_with_more_behind_it_is_an_error_and_says_what_to_narrow() {
    let page = |number: u32| first().query("page", number);
    let answer = |ids: &[u32]| Response::new(200).with_json(ids);
    let service = || Recorded::new().on(page(1), answer(&[1])).on(page(2), answer(&[2]));
    let held = service();
    let ids_of =
        |service, limit| ids(Pages::by_number(service, first(), "page", "").at_most(limit, "name a label"));
    let error = ids_of(&held, 2).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there are more than 2 pages, which is all that one call reads: name a label"
    );
    held.assert_all_sent();
    let whole = service().on(page(3), answer(&[]));
    assert_eq!(ids_of(&whole, 3), Ok(vec![1, 2]));
}

#[test]
fn a_page_that_leads_to_itself_and_a_refusal_end_the_walk() {
    let same = Response::new(200).with_json(&json!({"data": [], "next": "a"}));
    let at = || first().query("after", "a");
    let service = Recorded::new().on(at(), same);
    let pages: Vec<_> = Pages::by_cursor(&service, at(), "/next", "after").collect();
    assert_eq!(pages, [Err(Error::Json("a page names itself as the next one".to_owned()))]);
    let service = Recorded::new().on(first(), Response::new(403).with_json(&json!({"message": "no"})));
    let pages: Vec<_> = Pages::by_link(&service, first()).collect();
    assert_eq!(pages, [Err(Error::Status { status: 403, said: Some("no".to_owned()) })]);
}

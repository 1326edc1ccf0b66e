//! Answers as services write them, and as they should not.

use serde_json::{Value, json};

use super::*;

#[test]
fn a_status_that_is_no_success_is_an_error_with_the_services_words() {
    let said = |body: Value| Response::new(404).with_json(&body).error_for_status().unwrap_err();
    let wanted = |said: Option<&str>| Error::Status { status: 404, said: said.map(str::to_owned) };
    assert_eq!(said(json!({"message": "Not Found"})), wanted(Some("Not Found")));
    assert_eq!(said(json!({"error": {"message": "no such"}})), wanted(Some("no such")));
    assert_eq!(said(json!({"error": "not_found"})), wanted(Some("not_found")));
    assert_eq!(said(json!(["what"])), wanted(None));
    assert_eq!(Response::new(302).error_for_status(), Err(Error::Status { status: 302, said: None }));
    let html = Response::new(502).with_body("<html>").error_for_status().unwrap_err();
    assert_eq!(html.to_string(), "the service answered 502");
    assert!(Response::new(204).error_for_status().is_ok());
}

#[test]
fn a_long_text_of_the_service_is_clipped_between_letters() {
    let body = json!({"message": "é".repeat(500)});
    let Err(Error::Status { said: Some(said), .. }) = Response::new(500).with_json(&body).error_for_status()
    else {
        panic!("it is a status");
    };
    assert_eq!(said, format!("{}…", "é".repeat(100)));
}

#[test]
fn the_next_link_is_found_among_others() {
    let next = |link: &str| Response::new(200).with_header("Link", link).next_query();
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let github = r#"<https://api.github.com/repositories/1/issues?page=1>; rel="prev", <https://api.github.com/repositories/1/issues?state=open&page=3&after=a%2Bb%3D>; rel="next""#;
    assert_eq!(next(github).unwrap(), [pair("state", "open"), pair("page", "3"), pair("after", "a+b=")]);
    assert_eq!(next("</x?labels=a,b&page=2>; title=\"x\"; rel=next").unwrap()[0], pair("labels", "a,b"));
    assert_eq!(next(r#"</x?page=2>; rel="last next""#).unwrap(), [pair("page", "2")]);
    assert_eq!(next(r#"</x?page=2>; rel="nextish""#), None);
    assert_eq!(next("nonsense, <, >; rel"), None);
    assert_eq!(next(r#"</x?a=%zz%+1%4>; rel="next""#).unwrap(), [pair("a", "%zz% 1%4")]);
}

#[test]
fn errors_of_graphql_come_before_its_data() {
    let body = json!({"data": {"a": 1}, "errors": [{"message": "no such field"}]});
    let error = Response::new(200).with_json(&body).data::<Value>().unwrap_err();
    assert_eq!(error, Error::GraphQl("no such field".to_owned()));
    let fine = Response::new(200).with_json(&json!({"data": {"a": 1}}));
    assert_eq!(fine.data::<Value>().unwrap(), json!({"a": 1}));
    let odd = Response::new(503).with_body("busy").data::<Value>().unwrap_err();
    assert_eq!(odd, Error::Status { status: 503, said: None });
}

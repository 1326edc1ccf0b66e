//! What the double refuses, so that a test on it can fail.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::json;

use super::*;
use crate::{Error, path};

/// What a test that fails would print.
fn failure(test: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(test)).unwrap_err();
    panic.downcast_ref::<String>().cloned().unwrap()
}

fn thing() -> Request {
    Request::get(path!("/things/{}", "a b")).query("page", 1).query("tag", "x").query("tag", "y")
}

#[test]
fn a_recorded_request_is_answered_once_and_shown() {
    let service = Recorded::new().on(thing(), Response::new(200).with_json(&json!({"a": 1})));
    assert_eq!(thing().send(&service).unwrap().status(), 200);
    assert_eq!(service.sent(), [thing()]);
    service.assert_all_sent();
    let said = failure(|| drop(thing().send(&service)));
    assert_eq!(
        said,
        "no recorded exchange answers\n  GET /things/a b?page=1&tag=x&tag=y\nrecorded and left:\n  nothing"
    );
}

#[test]
fn another_request_fails_the_test_and_says_what_is_left() {
    for other in [
        Request::get("/things/b").query("page", 1),
        thing().query("page", 2),
        thing().set_query("page", 2),
        thing().set_query("tag", "y"),
        thing().header("x-more", "1"),
        thing().json(&json!({})),
        Request::head(path!("/things/{}", "a b")).query("page", 1).query("tag", "x").query("tag", "y"),
    ] {
        let service = Recorded::new().on(thing(), Response::new(200));
        let said = failure(|| drop(other.send(&service)));
        assert!(said.contains("left:\n  GET /things/a b?page=1&tag=x&tag=y"), "{said}");
    }
}

#[test]
fn what_was_not_sent_fails_the_test() {
    let service = Recorded::new().on(thing(), Response::new(200));
    assert!(failure(|| service.assert_all_sent()).contains("GET /things/a b"));
}

#[test]
fn a_request_that_cannot_be_sent_never_is() {
    let service = Recorded::new();
    let request = Request::get(path!("/things/{}", ".."));
    assert!(matches!(request.send(&service), Err(Error::Request(_))));
    assert!(matches!(crate::send_all(&service, &[request]), Err(Error::Request(_))));
    assert_eq!(service.sent(), []);
}

#[test]
fn many_answers_come_in_the_order_of_the_requests() {
    let page = |page: u32| Request::get("/things").query("page", page);
    let service = Recorded::new()
        .on(page(2), Response::new(202))
        .failing(page(3), "timed_out", "the service took too long")
        .on(page(1), Response::new(201));
    let answers = crate::send_all(&service, &[page(1), page(2), page(3)]).unwrap();
    let said = |answer: &Result<Response, Error>| match answer {
        Ok(response) => response.status().to_string(),
        Err(error) => error.to_string(),
    };
    let said: Vec<_> = answers.iter().map(said).collect();
    assert_eq!(said, ["201", "202", "the service took too long (timed_out)"]);
}

const CASE: &str = r#"{
    "args": {"page": 1}, "access": "read",
    "exchanges": [{
        "request": {"method": "GET", "path": "/things/a%20b", "query": {"page": "1", "tag": ["x", "y"]},
                    "headers": {"authorization": "Bearer <credential>"}},
        "response": {"status": 200, "headers": {"Link": "x"}, "body": {"a": 1}}
    }],
    "expect": {"result": {"list": [{"a": 1}]}}
}"#;

fn fault(case: &str, run: impl Fn(&dyn Host) -> Result<Value, Error>) -> Option<String> {
    let run = |host: &dyn Host, op: &str, args: &str| {
        assert_eq!((op, args), ("things", r#"{"page":1}"#));
        run(host).map(|value| value.to_string())
    };
    Case::read(case).unwrap().fault("things", run)
}

#[test]
fn a_case_holds_where_what_it_expects_is_given() {
    let asks = |result: Value| {
        move |host: &dyn Host| {
            assert_eq!(thing().send(host)?.header("link"), Some("x"));
            Ok(result.clone())
        }
    };
    assert_eq!(fault(CASE, asks(json!({"list": [{"a": 1, "unpicked": 2}]}))), None);
    for other in
        [json!({"list": []}), json!({"list": [{"a": 2}]}), json!({"list": [{"a": 1}, {}]}), json!([])]
    {
        assert!(fault(CASE, asks(other)).unwrap().starts_with("expected"));
    }
    assert!(fault(CASE, |_| Err(Error::new("no"))).unwrap().ends_with("got the error: no"));
    assert!(fault(CASE, |_| Ok(json!({"list": [{"a": 1}]}))).unwrap().starts_with("recorded and not sent"));
}

#[test]
fn a_case_of_a_refusal_holds_where_the_op_fails() {
    let case = CASE.replace(r#"{"result": {"list": [{"a": 1}]}}"#, r#"{"refusal": "module_failed"}"#);
    let asks = |host: &dyn Host| thing().send(host);
    assert_eq!(fault(&case, |host| asks(host).and(Err(Error::new("no")))), None);
    assert!(fault(&case, |host| asks(host).and(Ok(json!(1)))).unwrap().starts_with("expected the refusal"));
}

#[test]
fn what_is_no_case_is_not_read() {
    for (old, new) in [
        (r#""args""#, r#""arguments""#),
        (r#"{"result": {"list": [{"a": 1}]}}"#, "{}"),
        (r#""body": {"a": 1}"#, r#""body": 1, "body_text": """#),
        (r#""page": "1""#, r#""page": 1"#),
    ] {
        assert!(CASE.contains(old));
        assert!(Case::read(&CASE.replace(old, new)).is_err(), "{new}");
    }
}

#[test]
fn a_folder_of_cases_is_run_with_the_defaults_of_its_op() {
    let folder = std::env::temp_dir().join(format!("pinhole-guest-{}", std::process::id()));
    let cases = folder.join("cases");
    std::fs::create_dir_all(&cases).unwrap();
    std::fs::write(cases.join("things.one.json"), CASE).unwrap();
    std::fs::write(cases.join("things_more.one.json"), "no case").unwrap();
    let op = json!({"args": {"properties": {"page": {"default": 9}, "more": {"default": true}, "none": {}}}});
    let asks = |host: &dyn Host, _: &str, args: &str| {
        assert_eq!(args, r#"{"more":true,"page":1}"#);
        thing().send(host).map(|_| r#"{"list": [{"a": 1}]}"#.to_owned())
    };
    std::fs::write(folder.join("manifest.json"), json!({"ops": {"things": op}}).to_string()).unwrap();
    check_cases(&cases, "things", asks);
    std::fs::rename(folder.join("manifest.json"), folder.join("op.json")).unwrap();
    std::fs::write(folder.join("op.json"), json!({"service": "x", "op": {"things": op}}).to_string())
        .unwrap();
    check_cases(&cases, "things", asks);
    let said = failure(|| check_cases(&cases, "things", |_, _, _| Err(Error::new("no"))));
    assert!(said.starts_with("things.one.json: expected"), "{said}");
    let said = failure(|| check_cases(&cases, "thing", asks));
    assert!(said.ends_with("cases has no file `thing.<name>.json`"), "{said}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_draft_holds_no_more_than_it_says() {
    let draft = r#"{"args": {"page": 1}, "access": "read", "exchanges": [
        {"request": {"method": "GET", "path": "/things/a%20b"}, "response": {"status": 200}}]}"#;
    let asks = |host: &dyn Host| thing().header("x-more", "1").json(&json!({})).send(host);
    assert_eq!(fault(draft, |host| asks(host).and(Ok(json!(1)))), None);
    assert_eq!(fault(draft, |host| asks(host).and(Err(Error::new("no")))).unwrap(), "got the error: no");
    assert!(fault(draft, |_| Ok(json!(1))).unwrap().starts_with("recorded and not sent"));
    let other = failure(|| drop(fault(draft, |host| Request::get("/other").send(host).and(Ok(json!(1))))));
    assert!(other.starts_with("no recorded exchange answers"), "{other}");
    let held = draft.replace(r#""path": "/things/a%20b""#, r#""path": "/things/a%20b", "query": {}"#);
    assert!(
        failure(|| drop(fault(&held, |host| asks(host).and(Ok(json!(1)))))).contains("no recorded exchange")
    );
}

//! Cases: what is read, and every way in which a file is refused.

use super::*;

const WHOLE: &str = r#"{
  "args": {"owner": "octo", "big": 9007199254740993},
  "access": "write",
  "exchanges": [{
    "request": {"method": "POST", "path": "/repos/octo/a%2Fb", "query": {"labels": ["a", "b"], "page": "1"},
                "headers": {"Authorization": "Bearer <credential>"}, "body": {"title": "x"}},
    "response": {"status": 201, "headers": {"Link": "<…>"}, "body": {"id": 18446744073709551616, "price": 1.10}}
  }, {
    "request": {"method": "GET", "path": "/"},
    "response": {"status": 502, "body_text": "<html>"}
  }, {
    "request": {"method": "DELETE", "path": "/x"},
    "response": {"status": 204}
  }],
  "expect": {"result": {"id": 18446744073709551616, "price": 1.10}, "notes": ["user"], "next": true}
}"#;

fn codes(text: &str) -> Vec<(Code, String)> {
    let faults = Case::parse(text.as_bytes()).unwrap_err();
    faults.into_iter().map(|fault| (fault.code, fault.pointer)).collect()
}

#[test]
fn a_whole_case_is_read_and_keeps_its_digits() {
    let case = Case::parse(WHOLE.as_bytes()).unwrap();
    assert_eq!(case.args.as_str(), r#"{"owner": "octo", "big": 9007199254740993}"#);
    assert_eq!(case.access, Access::Write);
    let [first, second, third] = case.exchanges.as_slice() else { panic!("three exchanges") };
    assert_eq!(first.request.method, Method::Post);
    assert_eq!(
        first.request.query,
        [
            ("labels".to_owned(), vec!["a".to_owned(), "b".to_owned()]),
            ("page".to_owned(), vec!["1".to_owned()])
        ]
    );
    assert_eq!(first.request.headers, [("authorization".to_owned(), "Bearer <credential>".to_owned())]);
    assert_eq!(first.request.body.as_ref().map(JsonText::as_str), Some(r#"{"title": "x"}"#));
    assert_eq!(first.response.headers, [("link".to_owned(), "<…>".to_owned())]);
    assert_eq!(first.response.body, br#"{"id": 18446744073709551616, "price": 1.10}"#);
    assert_eq!((second.response.status, second.response.body.as_slice()), (502, b"<html>".as_slice()));
    assert_eq!(second.request.body, None);
    assert!(third.response.body.is_empty());
    let Expect::Result(result) = &case.expect else { panic!("a result") };
    assert_eq!(result.as_str(), r#"{"id": 18446744073709551616, "price": 1.10}"#);
    assert_eq!(case.notes, Some(vec!["user".to_owned()]));
    assert_eq!(case.next, Some(true));
}

#[test]
fn a_refusal_needs_no_exchange() {
    let case =
        Case::parse(br#"{"args":{},"access":"read","exchanges":[],"expect":{"refusal":"invalid_args"}}"#);
    let case = case.unwrap();
    assert!(case.exchanges.is_empty());
    assert!(matches!(case.expect, Expect::Refusal(code) if code == "invalid_args"));
}

#[test]
fn every_fault_has_its_place() {
    let text = r#"{"args":[],"access":"all","exchanges":[{"request":{"method":"get","path":"x?y","quer":{},"query":{"a":1}},
        "response":{"status":99,"body":1,"body_text":""}}],"expect":{"result":1,"refusal":"a"},"why":1}"#;
    let mut found = codes(text);
    found.sort();
    let mut wanted = vec![
        (Code::WrongType, "/args".to_owned()),
        (Code::UnknownWord, "/access".to_owned()),
        (Code::UnknownWord, "/exchanges/0/request/method".to_owned()),
        (Code::PathCharacter, "/exchanges/0/request/path".to_owned()),
        (Code::UnknownMember, "/exchanges/0/request/quer".to_owned()),
        (Code::WrongType, "/exchanges/0/request/query/a".to_owned()),
        (Code::OutOfRange, "/exchanges/0/response/status".to_owned()),
        (Code::OneOf, "/exchanges/0/response/body_text".to_owned()),
        (Code::OneOf, "/expect".to_owned()),
        (Code::UnknownMember, "/why".to_owned()),
    ];
    wanted.sort();
    assert_eq!(found, wanted);
}

#[test]
fn what_is_missing_is_named() {
    assert_eq!(codes("{}").iter().filter(|(code, _)| *code == Code::MissingMember).count(), 4);
    assert_eq!(codes("[]"), [(Code::WrongType, String::new())]);
    assert!(codes(r#"{"args":{},"args":{}}"#).contains(&(Code::JsonDuplicateKey, "/args".to_owned())));
}

#[test]
fn a_file_name_says_the_op() {
    let name = CaseName::parse("list_issues.not-found_2.json").unwrap();
    assert_eq!((name.op.as_str(), name.name.as_str()), ("list_issues", "not-found_2"));
    for file in
        ["list_issues.json", "list_issues..json", "List.a.json", "a.b.txt", "a.b c.json", "a.b/c.json", ""]
    {
        assert_eq!(CaseName::parse(file), Err(CaseNameError), "{file}");
    }
}

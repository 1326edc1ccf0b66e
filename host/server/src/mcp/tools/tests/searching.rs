//! Finding, describing and naming ops.

use serde_json::{Value, json};

use super::*;

fn found(toolbox: &Toolbox<'_>, arguments: &Value) -> Vec<String> {
    let result = toolbox.find_ops(arguments.as_object().cloned()).unwrap();
    assert_eq!(result.is_error, Some(false));
    let said = result.structured_content.unwrap();
    said["ops"].as_array().unwrap().iter().map(|op| op["op"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn words_find_ops() {
    let catalog = built_in();
    let (connections, offer) = (all(&catalog, Access::Write), Offer::default());
    let toolbox = Toolbox::new(&catalog, &connections, &Reach::default(), &offer);
    for (query, wanted) in [
        ("list github issues", "github.list_issues"),
        ("GitHub create issue", "github.create_issue"),
        ("create a refund", "stripe.create_refund"),
        ("refunds", "stripe.list_refunds"),
        ("send mail", "sendgrid.send_mail"),
        ("slack post message", "slack.post_message"),
        ("stripe customers list", "stripe.list_customers"),
        ("how do I list all of my GitHub issues, please", "github.list_issues"),
        ("I want to write a comment on a Linear issue", "linear.comment_issue"),
        ("the dns records of a zone in cloudflare", "cloudflare.list_records"),
        ("who is on call in pagerduty", "pagerduty.list_oncalls"),
        ("merge a merge request", "gitlab.merge_merge_request"),
    ] {
        let found = found(&toolbox, &json!({ "query": query }));
        assert_eq!(found.first().map(String::as_str), Some(wanted), "{query}: {found:?}");
        assert!(found.len() <= 10);
    }
    assert!(found(&toolbox, &json!({"query": "xyzzy"})).is_empty());
    assert!(found(&toolbox, &json!({"query": "\u{202e} ☃"})).is_empty() || toolbox.is_search());
    let of_one = found(&toolbox, &json!({"query": "issue", "service": "linear", "limit": "50"}));
    assert!(of_one.len() > 2 && of_one.iter().all(|op| op.starts_with("linear.")), "{of_one:?}");
    assert_eq!(of_one, found(&toolbox, &json!({"query": "issue", "service": "linear", "limit": 50})));
}

#[test]
fn an_empty_query_lists_by_service() {
    let catalog = built_in();
    let (connections, offer) = (all(&catalog, Access::Write), Offer::default());
    let toolbox = Toolbox::new(&catalog, &connections, &Reach::default(), &offer);
    let result = toolbox.find_ops(None).unwrap();
    let said = result.structured_content.unwrap();
    let ops = said["ops"].as_array().unwrap();
    assert_eq!(ops.len(), 10);
    assert_eq!(said["more"], toolbox.ops_count() - 10);
    assert!(ops.iter().all(|op| op["op"].as_str().unwrap().starts_with("cloudflare.")));
    let wanted = json!({
        "op": "cloudflare.create_record", "access": "write", "required": ops[0]["required"], "summary": ops[0]["summary"],
    });
    assert_eq!(ops[0], wanted);
    let most = found(&toolbox, &json!({"query": "", "limit": 1000}));
    assert_eq!(most.len(), search::LIMIT_MAX);
    // Small: a line an op.
    let text = result.content[0].as_text().unwrap().text.clone();
    assert!(text.len() < 3_000, "{}", text.len());
}

#[test]
fn search_says_only_what_may_be_used() {
    let catalog = built_in();
    let connections = [connected("github", "a", Access::Read)];
    let offer = Offer::default().in_mode(ToolsMode::Search);
    let toolbox = Toolbox::new(&catalog, &connections, &Reach::default(), &offer);
    let every = found(&toolbox, &json!({"query": "", "limit": 50}));
    assert_eq!(every.len(), toolbox.ops_count());
    for op in every {
        assert_eq!(access_of(&catalog, &op.replacen('.', "_", 1)), Some(Access::Read), "{op}");
    }
    let absent = |name: &str| toolbox.describe_op(json!({ "op": name }).as_object().cloned()).unwrap_err();
    let hidden = absent("github.create_issue");
    assert_eq!(hidden.to_string().replace("create_issue", "nothing"), absent("github.nothing").to_string());
    assert_eq!(absent("stripe.list_customers").hint(), absent("nonsense").hint());
    let Some(find) = listed(&toolbox).into_iter().find(|tool| tool.name == "find_ops") else { panic!() };
    assert_eq!(find.input_schema["properties"]["service"]["enum"], json!(["github"]));
}

#[test]
fn an_op_is_described_whole() {
    let catalog = built_in();
    let connections =
        [connected("github", "home", Access::Write), connected("github", "work", Access::Write)];
    let offer = Offer::default().in_mode(ToolsMode::Search);
    let toolbox = Toolbox::new(&catalog, &connections, &Reach::default(), &offer);
    for name in ["github.create_issue", "github_create_issue"] {
        let said = toolbox.describe_op(json!({ "op": name }).as_object().cloned()).unwrap();
        let said = said.structured_content.unwrap();
        assert_eq!(said["op"], "github.create_issue");
        assert_eq!(said["access"], "write");
        assert_eq!(said["run_with"], "run_write_op");
        assert_eq!(said["connections"], json!(["home", "work"]));
        assert_eq!(said["args"]["required"], json!(["owner", "repo", "title"]));
        assert_eq!(said["args"]["properties"].as_object().unwrap().get("connection"), None);
        assert!(said["asks"].as_str().unwrap().contains("person says yes"));
        assert!(said["fields"].as_array().unwrap().contains(&"number".into()));
    }
}

#[test]
fn ops_run_by_their_own_access_alone() {
    let catalog = built_in();
    let connections = [connected("github", "a", Access::Write)];
    let offer = Offer::default().in_mode(ToolsMode::Search);
    let toolbox = Toolbox::new(&catalog, &connections, &Reach::default(), &offer);
    let run = |access, arguments: Value| toolbox.run_op(access, arguments.as_object().cloned());
    let call = run(
        Access::Read,
        json!({"op": "github.list_issues", "args": {"owner": "o", "repo": "r", "per_page": "5"}}),
    );
    let call = call.unwrap();
    assert_eq!(call.args(), r#"{"owner":"o","per_page":5,"repo":"r"}"#);
    assert_eq!((call.connection().as_str(), call.next()), ("a", None));
    let other = run(Access::Read, json!({"op": "github.create_issue"})).unwrap_err();
    assert_eq!(other, ArgumentError::OtherTool { op: "github.create_issue".into(), tool: "run_write_op" });
    let other = run(Access::Write, json!({"op": "github_list_issues"})).unwrap_err();
    assert_eq!(other, ArgumentError::OtherTool { op: "github.list_issues".into(), tool: "run_read_op" });
    let absent = run(Access::Write, json!({"op": "github.nothing"})).unwrap_err();
    assert!(matches!(absent, ArgumentError::NoSuchOp { .. }));
    assert!(matches!(run(Access::Read, json!({})), Err(ArgumentError::Missing { .. })));
    let kind = run(Access::Read, json!({"op": "github.get_viewer", "args": [1]}));
    assert!(matches!(kind, Err(ArgumentError::Kind { .. })));
    let unknown = run(Access::Read, json!({"op": "github.get_viewer", "arguments": {}}));
    assert!(matches!(unknown, Err(ArgumentError::Unknown { .. })));
    let pages = run(Access::Read, json!({"op": "github.get_viewer", "next": "x"}));
    assert!(matches!(pages, Err(ArgumentError::NoPages { .. })));
    // Twice the same key: the op's own parser sees it and refuses it.
    let twice = run(
        Access::Read,
        json!({"op": "github.get_repo", "args": r#"{"owner":"a","owner":"b","repo":"c"}"#}),
    );
    let twice = twice.unwrap();
    assert!(twice.tool().op().args.parse_text(twice.args()).is_err());
    // The confirm argument is there by the operator's word alone.
    let confirm = run(Access::Write, json!({"op": "github.create_issue", "args": {}, "confirm": true}));
    assert!(matches!(confirm, Err(ArgumentError::Unknown { .. })));
    let explained =
        toolbox.explain(json!({"op": "github_create_issue", "args": {"title": "x"}}).as_object().cloned());
    assert_eq!(explained.unwrap().tool().id(), "github.create_issue");
}

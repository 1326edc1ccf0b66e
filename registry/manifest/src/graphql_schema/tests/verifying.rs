//! Each finding: a manifest that has it, and one that nearly has it and does not.

use serde_json::{Value, json};

use super::super::verify;
use super::small;
use crate::finding::{Finding, FindingCode};

/// A manifest with one op, which posts this document.
#[expect(clippy::needless_pass_by_value, reason = "callers build the values in place")]
fn manifest(document: &str, args: Value, variables: Value, pick: Value, more: Value) -> Value {
    let write = document.starts_with("mutation");
    let mut op = json!({
        "access": if write { "write" } else { "read" },
        "summary": "Something.",
        "args": args,
        "request": { "method": "POST", "path": "/graphql", "graphql": { "query": document, "variables": variables } },
        "pick": pick
    });
    if write {
        op["confirm"] = "Really?".into();
        op["effect"] = "create".into();
    }
    for (name, value) in more.as_object().into_iter().flatten() {
        op[name] = value.clone();
    }
    json!({
        "pinhole": 1, "id": "small", "version": "1.0.0", "name": "Small", "summary": "Small.", "host": "api.pinhole.dev",
        "auth": { "scheme": "bearer" }, "ops": { "op": op }
    })
}

fn findings(manifest: &Value) -> Vec<Finding> {
    let read = crate::read(manifest.to_string().as_bytes()).into_result();
    verify(&read.unwrap_or_else(|faults| panic!("{faults:?}")), &small())
}

/// Code and pointer of each finding on the one op.
fn found(
    document: &str,
    args: Value,
    variables: Value,
    pick: Value,
    more: Value,
) -> Vec<(&'static str, String)> {
    let found = findings(&manifest(document, args, variables, pick, more)).into_iter();
    found.map(|one| (one.code.as_str(), one.pointer.strip_prefix("/ops/op").unwrap().to_owned())).collect()
}

#[expect(clippy::needless_pass_by_value, reason = "callers build the values in place")]
fn args(properties: Value, required: Value) -> Value {
    json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties })
}

fn no_args() -> Value {
    args(json!({}), json!([]))
}

/// Findings of a document without variables.
fn document(document: &str, root: &str, field: &str) -> Vec<(&'static str, String)> {
    found(document, no_args(), json!({}), json!({ "root": root, "fields": [field] }), json!({}))
}

const QUERY: &str = "/request/graphql/query";

#[test]
fn a_document_that_the_schema_takes_has_no_findings() {
    for text in [
        "{ viewer { name } }",
        "{ viewer { name __typename } }",
        "{ viewer { ... on Node { id } name } }",
        "{ viewer { ...F } } fragment F on User { name }",
        "query Q { viewer { name @include(if: true) } }",
    ] {
        assert_eq!(document(text, "$.data.viewer", "name"), [], "{text}");
    }
}

#[test]
fn what_a_document_has_wrong_is_said_with_its_own_code() {
    let viewer = |text: &str| {
        let mut codes: Vec<_> =
            document(text, "$.data.viewer", "name").into_iter().map(|(code, _)| code).collect();
        codes.dedup();
        codes
    };
    assert_eq!(viewer("{ viewer { name nam } }"), ["field_unknown"]);
    assert_eq!(viewer("{ viewer(x: 1) { name } }"), ["argument_unknown"]);
    assert_eq!(viewer("{ viewer { name } issue { id } }"), ["argument_missing"]);
    assert_eq!(viewer("{ viewer { name } issue(id: \"1\") { id } }"), Vec::<&str>::new());
    assert_eq!(viewer("{ viewer { name ... on Label { id } } }"), ["document_invalid"]);
    assert_eq!(viewer("{ viewer { name } issues(order: MEDIUM) { nodes { id } } }"), ["document_invalid"]);
    assert_eq!(viewer("{ viewer { name } issues(order: HIGH) { nodes { id } } }"), Vec::<&str>::new());
    assert_eq!(viewer("{ viewer { name } search(text: 5) { __typename } }"), ["document_invalid"]);
    assert_eq!(viewer("{ viewer { name @nothing } }"), ["document_invalid"]);
}

#[test]
fn a_schema_without_mutations_says_so_of_one() {
    let schema = super::Schema::read(b"type Query { a: Int }").unwrap();
    let write = manifest(
        "mutation { a }",
        no_args(),
        json!({}),
        json!({ "root": "$.data", "fields": ["a"] }),
        json!({}),
    );
    let read = crate::read(write.to_string().as_bytes()).into_result().unwrap();
    let codes: Vec<_> = verify(&read, &schema).into_iter().map(|one| one.code).collect();
    assert!(codes.contains(&FindingCode::DocumentInvalid), "{codes:?}");
}

#[test]
fn what_is_deprecated_is_a_warning_wherever_it_stands() {
    let all = [
        ("{ oldIssues { id } }", "$.data.oldIssues", "id"),
        ("{ labels(ids: [], old: true) { id } }", "$.data.labels", "id"),
        ("{ viewer { id nick } }", "$.data.viewer", "id"),
        ("{ viewer { id ...F } } fragment F on User { nick }", "$.data.viewer", "id"),
        ("{ viewer { id ... on User { nick } } }", "$.data.viewer", "id"),
        ("{ issues(order: URGENT) { nodes { id } } }", "$.data.issues.nodes", "id"),
        ("{ issues(filter: {and: [{priority: URGENT}]}) { nodes { id } } }", "$.data.issues.nodes", "id"),
    ];
    for (text, root, field) in all {
        assert_eq!(document(text, root, field), [("deprecated", QUERY.to_owned())], "{text}");
    }
    let one = manifest(
        "{ viewer { nick } }",
        no_args(),
        json!({}),
        json!({ "root": "$.data.viewer", "fields": ["nick"] }),
        json!({}),
    );
    let [one] = &findings(&one)[..] else { panic!("not one finding") };
    assert_eq!(one.severity, crate::diagnostic::Severity::Warning);
    assert!(one.message.contains("Take name."), "{}", one.message);
    let text = "mutation M($i: IssueInput!) { issueCreate(input: $i) { success } }";
    let takes = args(
        json!({ "old": { "type": "string", "description": "Old." }, "how": { "type": "string", "enum": ["LOW", "URGENT"], "description": "How." } }),
        json!([]),
    );
    let variables = json!({ "i": { "teamId": "1", "title": "x", "oldTitle": "{old}", "priority": "{how}" } });
    let pick = json!({ "root": "$.data.issueCreate", "fields": ["success"] });
    let found = found(text, takes, variables, pick, json!({}));
    let wanted = [
        ("deprecated", "/request/graphql/variables/i/oldTitle".to_owned()),
        ("deprecated", "/args/properties/how/enum".to_owned()),
    ];
    assert_eq!(found.len(), 2);
    assert!(wanted.iter().all(|one| found.contains(one)), "{found:?}");
}

#[test]
fn a_variable_has_the_type_of_its_place() {
    let text = |kind: &str| format!("query Q($id: {kind}) {{ issue(id: $id) {{ id }} }}");
    let takes = args(json!({ "id": { "type": "string", "description": "The id." } }), json!(["id"]));
    let pick = json!({ "root": "$.data.issue", "fields": ["id"] });
    let codes = |kind: &str| {
        let found = found(&text(kind), takes.clone(), json!({ "id": "{id}" }), pick.clone(), json!({}));
        found.into_iter().map(|(code, _)| code).collect::<Vec<_>>()
    };
    assert_eq!(codes("ID!"), Vec::<&str>::new());
    assert_eq!(codes("ID"), ["variable_type"]);
    assert_eq!(codes("String!"), ["variable_type"]);
    assert!(codes("Issue!").contains(&"variable_type"));
    assert!(codes("Nothing!").contains(&"document_invalid"));
}

/// Findings where one arg feeds a variable of this type, which stands in some argument of that type.
fn fed(kind: &str, arg: &Value) -> Vec<(&'static str, String)> {
    let (argument, rest) = match kind {
        "[ID!]!" => ("labels(ids: $v) { id }", "labels"),
        "Priority" => ("search(text: \"x\", priority: $v) { __typename }", "search"),
        "DateTime" => ("count(since: $v)", "count"),
        "IssueFilter" => ("issues(filter: $v) { nodes { id } }", "issues"),
        "Int" => ("issues(first: $v) { nodes { id } }", "issues"),
        "String!" => ("search(text: $v) { __typename }", "search"),
        "ID!" => ("issue(id: $v) { id }", "issue"),
        "Boolean!" => ("viewer { id @include(if: $v) }", "viewer"),
        other => panic!("{other}"),
    };
    let text = format!("query Q($v: {kind}) {{ viewer {{ name }} {argument} }}");
    assert!(text.contains(rest));
    let required = if kind.ends_with('!') { json!(["v"]) } else { json!([]) };
    let mut arg = arg.clone();
    arg["description"] = "A value.".into();
    let pick = json!({ "root": "$.data.viewer", "fields": ["name"] });
    found(&text, args(json!({ "v": arg }), required), json!({ "v": "{v}" }), pick, json!({}))
}

#[test]
fn an_arg_has_the_type_that_its_variable_wants() {
    let text = json!({ "type": "string" });
    let integer = json!({ "type": "integer" });
    let list = json!({ "type": "array", "items": { "type": "string" } });
    let v = || "/args/properties/v".to_owned();
    for (kind, arg) in [
        ("String!", &text),
        ("ID!", &text),
        ("ID!", &integer),
        ("Int", &integer),
        ("[ID!]!", &list),
        ("DateTime", &text),
        ("DateTime", &integer),
        ("Boolean!", &json!({ "type": "boolean" })),
    ] {
        assert_eq!(fed(kind, arg), [], "{kind}: {arg}");
    }
    for (kind, arg) in [
        ("String!", &integer),
        ("Int", &text),
        ("Int", &json!({ "type": "number" })),
        ("[ID!]!", &text),
        ("ID!", &list),
        ("Boolean!", &text),
        ("Priority", &integer),
        ("IssueFilter", &text),
    ] {
        assert_eq!(fed(kind, arg), [("arg_type", v())], "{kind}: {arg}");
    }
    let inner = json!({ "type": "array", "items": { "type": "boolean" } });
    assert_eq!(fed("[ID!]!", &inner), [("arg_type", "/args/properties/v/items".to_owned())]);
}

#[test]
fn an_enum_arg_lists_values_of_the_schema() {
    let choices = |list: Value| json!({ "type": "string", "enum": list });
    assert_eq!(fed("Priority", &choices(json!(["LOW", "HIGH"]))), []);
    let wrong = fed("Priority", &choices(json!(["LOW", "MEDIUM"])));
    assert_eq!(wrong, [("arg_values", "/args/properties/v/enum".to_owned())]);
    assert_eq!(
        fed("Priority", &json!({ "type": "string" })),
        [("arg_values", "/args/properties/v".to_owned())]
    );
}

#[test]
fn an_object_arg_has_the_members_of_its_input_type() {
    let filter = |properties: Value| json!({ "type": "object", "additionalProperties": false, "properties": properties });
    let eq = json!({ "type": "object", "additionalProperties": false, "properties": { "eq": { "type": "string" } } });
    assert_eq!(fed("IssueFilter", &filter(json!({ "title": eq }))), []);
    let at = |tail: &str| format!("/args/properties/v/properties/{tail}");
    assert_eq!(fed("IssueFilter", &filter(json!({ "titel": eq }))), [("member_unknown", at("titel"))]);
    let wrong = json!({ "type": "object", "additionalProperties": false, "properties": { "eq": { "type": "integer" } } });
    assert_eq!(
        fed("IssueFilter", &filter(json!({ "title": wrong }))),
        [("arg_type", at("title/properties/eq"))]
    );
}

/// Findings of a mutation whose input object is put together from this.
#[expect(clippy::needless_pass_by_value, reason = "callers build the values in place")]
fn sent(template: Value, required: Value) -> Vec<(&'static str, String)> {
    let text = "mutation M($i: IssueInput!) { issueCreate(input: $i) { success } }";
    let pick = json!({ "root": "$.data.issueCreate", "fields": ["success"] });
    let mut properties = serde_json::Map::new();
    for name in ["team", "title", "more"] {
        if template.to_string().contains(&format!("{{{name}}}")) {
            properties.insert(name.into(), json!({ "type": "string", "description": "A value." }));
        }
    }
    found(text, args(Value::Object(properties), required), json!({ "i": template }), pick, json!({}))
}

#[test]
fn an_input_object_is_put_together_whole() {
    let at = |tail: &str| format!("/request/graphql/variables/i{tail}");
    let both = json!(["team", "title"]);
    assert_eq!(sent(json!({ "teamId": "{team}", "title": "{title}" }), both.clone()), []);
    assert_eq!(
        sent(json!({ "teamId": "{team}", "title": "An “{title}”", "description": "{more}" }), both.clone()),
        []
    );
    assert_eq!(
        sent(
            json!({ "teamId": "7", "title": "x", "estimate": 1.5, "priority": "LOW", "labelIds": ["a"] }),
            json!([])
        ),
        []
    );
    assert_eq!(sent(json!({ "teamId": "{team}" }), json!(["team"])), [("member_missing", at(""))]);
    assert_eq!(
        sent(json!({ "teamId": "{team}", "title": "{title}" }), json!(["team"])),
        [("arg_optional", at("/title"))]
    );
    assert_eq!(
        sent(json!({ "teamId": "{team}", "title": "{title}", "name": "{more}" }), both.clone()),
        [("member_unknown", at("/name"))]
    );
    let fixed = |name: &str, value: Value| {
        let mut template = json!({ "teamId": "{team}", "title": "{title}" });
        template[name] = value;
        sent(template, both.clone())
    };
    // What has a default may be left out, and null may not be sent for it.
    assert_eq!(fixed("estimate", json!(null)), [("arg_type", at("/estimate"))]);
    assert_eq!(fixed("description", json!(null)), []);
    assert_eq!(fixed("priority", json!("MEDIUM")), [("arg_values", at("/priority"))]);
    assert_eq!(fixed("priority", json!("a {title}")), [("arg_values", at("/priority"))]);
    assert_eq!(fixed("priority", json!(1)), [("arg_type", at("/priority"))]);
    assert_eq!(fixed("labelIds", json!("a")), [("arg_type", at("/labelIds"))]);
    assert_eq!(fixed("labelIds", json!(["a", true])), [("arg_type", at("/labelIds/1"))]);
    assert_eq!(fixed("description", json!({ "a": "{more}" })), [("arg_type", at("/description"))]);
    assert_eq!(fixed("description", json!(["{more}"])), [("arg_type", at("/description"))]);
    assert_eq!(fixed("extra", json!({ "a": ["{more}"] })), []);
    assert_eq!(fixed("estimate", json!("{more}")), [("arg_type", "/args/properties/more".to_owned())]);
}

#[test]
fn what_is_picked_is_selected_and_there() {
    let issue = "{ issue(id: \"1\") { id title tags labels { id } author { name } metadata matrix called: title ...F } }
        fragment F on Issue { points }";
    let picked = |field: &str| document(issue, "$.data.issue", field);
    for field in [
        "id",
        "tags",
        "tags[*]",
        "labels[*].id",
        "author.name",
        "author.*",
        "metadata",
        "metadata.a.b",
        "called",
        "points",
        "matrix[*]",
    ] {
        assert_eq!(picked(field), [], "{field}");
    }
    let at = || "/pick/fields/0".to_owned();
    for field in ["createdAt", "labels[*].name", "author.id", "priority"] {
        assert_eq!(picked(field), [("pick_unselected", at())], "{field}");
    }
    for field in ["titel", "author.titel", "labels[*].nothing"] {
        assert_eq!(picked(field), [("pick_unknown", at())], "{field}");
    }
    for field in ["author", "labels", "labels.id", "labels[*]", "id.x", "id[*]", "matrix"] {
        assert_eq!(picked(field), [("pick_not_value", at())], "{field}");
    }
}

#[test]
fn a_root_is_followed_like_a_field() {
    let issues = "{ issues { nodes { id } } found: search(text: \"x\") { ... on Issue { title } ... on User { name } } }";
    for (root, field) in [
        ("$.data.issues.nodes", "id"),
        ("$.data.issues.nodes[*]", "id"),
        ("$.data.issues", "nodes[*].id"),
        ("$", "data.issues.nodes[*].id"),
        ("$.data.found", "title"),
        ("$.data.found[*]", "name"),
        ("$.extensions", "cost"),
    ] {
        assert_eq!(document(issues, root, field), [], "{root}");
    }
    for (root, code) in [
        ("$.issues", "pick_unselected"),
        ("$.data.viewer", "pick_unselected"),
        ("$.data.isues", "pick_unknown"),
        ("$.data.search", "pick_unselected"),
        ("$.data.issues[*]", "pick_not_value"),
        ("$.data.issues.nodes.id", "pick_not_value"),
    ] {
        assert_eq!(document(issues, root, "id"), [(code, "/pick/root".to_owned())], "{root}");
    }
    assert_eq!(document(issues, "$.data.found", "email"), [("pick_unselected", "/pick/fields/0".to_owned())]);
}

#[test]
fn an_alias_is_found_at_its_path() {
    let pick = json!({ "root": "$.data.viewer", "fields": ["id", { "as": "who", "path": "mail" }] });
    let found = found("{ viewer { id name } }", no_args(), json!({}), pick, json!({}));
    assert_eq!(found, [("pick_unknown", "/pick/fields/1/path".to_owned())]);
}

#[test]
fn a_page_is_found_by_what_is_selected() {
    let paged = |inside: &str, info: &str| {
        let text =
            format!("query Q($after: String) {{ issues(after: $after) {{ nodes {{ id }} {inside} }} }}");
        let fragment =
            if inside.contains("...P") { " fragment P on PageInfo { hasNextPage endCursor }" } else { "" };
        let text = format!("{text}{fragment}");
        let pick = json!({ "root": "$.data.issues.nodes", "fields": ["id"] });
        let page = json!({ "page": { "style": "relay", "info": info, "variable": "after" } });
        found(&text, no_args(), json!({}), pick, page)
    };
    let whole = "pageInfo { hasNextPage endCursor }";
    let at = || ("page_unknown", "/page/info".to_owned());
    assert_eq!(paged(whole, "$.data.issues.pageInfo"), []);
    assert_eq!(paged("info: pageInfo { ...P }", "$.data.issues.info"), []);
    assert_eq!(paged("info: pageInfo { hasNextPage ...P }", "$.data.issues.pageInfo"), [at(), at()]);
    assert_eq!(paged("pageInfo { hasNextPage }", "$.data.issues.pageInfo"), [at()]);
    assert_eq!(paged("pageInfo { hasNextPage end: endCursor }", "$.data.issues.pageInfo"), [at()]);
    assert_eq!(paged(whole, "$.data.pageInfo"), [at(), at()]);
}

#[test]
fn what_an_op_requires_is_looked_for_in_the_answer_that_it_names() {
    let require = |path: &str| {
        let text = "mutation M { issueDelete(id: \"1\") }";
        let mut whole = manifest(
            text,
            no_args(),
            json!({}),
            json!({ "root": "$.data", "fields": ["issueDelete"] }),
            json!({}),
        );
        let read = manifest(
            "{ viewer { name } }",
            no_args(),
            json!({}),
            json!({ "root": "$.data.viewer", "fields": ["name"] }),
            json!({}),
        );
        whole["ops"]["look"] = read["ops"]["op"].clone();
        whole["ops"]["op"]["require"] =
            json!([{ "op": "look", "path": path, "exists": true, "else": "it is not there" }]);
        findings(&whole).into_iter().map(|one| (one.code.as_str(), one.pointer)).collect::<Vec<_>>()
    };
    assert_eq!(require("$.data.viewer.name"), []);
    assert_eq!(require("$.data.viewer.email"), [("pick_unselected", "/ops/op/require/0/path".to_owned())]);
}

#[test]
fn what_cannot_be_checked_is_said() {
    let mut whole = manifest(
        "{ viewer { name } }",
        no_args(),
        json!({}),
        json!({ "root": "$.data.viewer", "fields": ["name"] }),
        json!({}),
    );
    whole["ops"]["op"]["request"] = json!({ "method": "GET", "path": "/viewer" });
    let found: Vec<_> = findings(&whole).into_iter().map(|one| (one.code, one.pointer)).collect();
    assert_eq!(found, [(FindingCode::Unchecked, "/ops/op/request".to_owned())]);
    let line = |text: &str| json!({ "method": "POST", "path": "/graphql", "graphql": text });
    let requests = json!([line("{ viewer { name } }"), line("{ viewer { nam } }"), { "method": "GET", "path": "/viewer" }]);
    let op = whole["ops"]["op"].as_object_mut().unwrap();
    op.remove("request");
    op.insert(
        "module".into(),
        json!({ "file": "modules/a.wasm", "sha256": "0".repeat(64), "requests": requests }),
    );
    let found: Vec<_> = findings(&whole).into_iter().map(|one| (one.code, one.pointer)).collect();
    let at = |line: &str| format!("/ops/op/module/requests/{line}");
    assert_eq!(found, [(FindingCode::FieldUnknown, at("1/graphql")), (FindingCode::Unchecked, at("2"))]);
}

#[test]
fn many_faults_are_clipped_and_each_is_said_once() {
    let many: Vec<_> = (0..200).map(|at| format!("f{at}")).collect();
    let many = many.join(" ");
    assert_eq!(document(&format!("{{ viewer {{ name {many} }} }}"), "$.data.viewer", "name").len(), 100);
    assert_eq!(document("{ viewer { name nam nam nam } }", "$.data.viewer", "name").len(), 1);
}

#[test]
fn a_document_that_would_take_long_to_check_is_refused() {
    let many = |count: usize| format!("{{ viewer {{ {} }} }}", "name ".repeat(count));
    assert_eq!(document(&many(999), "$.data.viewer", "name"), []);
    let found = document(&many(1_000), "$.data.viewer", "name");
    assert_eq!(found, [("document_invalid", QUERY.to_owned())]);
}

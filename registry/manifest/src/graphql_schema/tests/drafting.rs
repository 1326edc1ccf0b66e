//! What becomes of each kind of operation, and what does not.

use serde_json::Value;

use super::super::{DraftError, Endpoint, EndpointError, Schema, Service, Wanted, draft, verify};
use super::small;
use crate::draft::{Draft, RefusedReason};
use crate::ids::ServiceId;
use crate::model::AuthScheme;

pub(super) fn drafted(schema: &Schema, wanted: Wanted<'_>) -> Result<Draft, DraftError> {
    let (id, endpoint) =
        (ServiceId::parse("small").unwrap(), Endpoint::parse("api.pinhole.dev/v1/graphql").unwrap());
    let service = Service { id: &id, name: "Small", endpoint: &endpoint, auth: &AuthScheme::Bare };
    draft(schema, &service, wanted)
}

fn ops() -> (Draft, Value) {
    let draft = drafted(&small(), Wanted::All).unwrap();
    let ops = serde_json::from_str::<Value>(&draft.manifest).unwrap()["ops"].clone();
    (draft, ops)
}

fn query(op: &Value) -> &str {
    op["request"]["graphql"]["query"].as_str().unwrap()
}

#[test]
fn every_operation_is_drafted_or_refused_with_a_reason() {
    let (draft, ops) = ops();
    let names: Vec<_> = ops.as_object().unwrap().keys().cloned().collect();
    let all = [
        "comment_create",
        "comments",
        "count",
        "issue",
        "issue_create",
        "issue_delete",
        "issues",
        "labels",
        "node",
        "search",
        "viewer",
    ];
    assert_eq!(names, all);
    let refused: Vec<_> = draft.refused.iter().map(|one| (one.operation.as_str(), one.reason)).collect();
    let wanted = [
        ("raw", RefusedReason::NothingToPick),
        ("oldIssues", RefusedReason::Deprecated),
        ("settingsUpdate", RefusedReason::ArgInexpressible),
    ];
    assert_eq!(refused, wanted);
}

#[test]
fn a_draft_is_a_manifest_and_sound_by_the_schema() {
    let (draft, _) = ops();
    let manifest = crate::read(draft.manifest.as_bytes()).into_result().unwrap();
    assert_eq!(verify(&manifest, &small()), []);
    assert_eq!(
        (manifest.host().as_str(), manifest.auth().scheme.clone()),
        ("api.pinhole.dev", AuthScheme::Bare)
    );
    for note in &draft.notes {
        let whole: Value = serde_json::from_str(&draft.manifest).unwrap();
        let parent = note.pointer.rsplit_once('/').unwrap().0;
        assert!(whole.pointer(parent).is_some(), "{note:?}");
    }
}

#[test]
fn a_connection_becomes_an_op_with_pages() {
    let (_, ops) = ops();
    let op = &ops["issues"];
    let text = query(op);
    assert!(
        text.contains("issues(filter: $filter, first: $first, after: $after, order: $order) { nodes { "),
        "{text}"
    );
    assert!(text.ends_with("pageInfo { hasNextPage endCursor } } }"), "{text}");
    assert!(!text.contains("$before") && !text.contains("$last"), "{text}");
    assert_eq!(
        op["page"],
        serde_json::json!({ "style": "relay", "info": "$.data.issues.pageInfo", "variable": "after" })
    );
    assert_eq!(op["pick"]["root"], "$.data.issues.nodes");
    assert_eq!(op["args"]["properties"]["first"]["maximum"], 100);
    assert!(op["args"]["properties"]["after"].is_null());
    // A value with a default may be left out, and then its variable may be too.
    assert!(text.contains("$order: Priority)") || text.contains("$order: Priority,"), "{text}");
    let op = &ops["comments"];
    assert_eq!(op["pick"]["root"], "$.data.comments.edges[*].node");
    assert!(query(op).contains("edges { node { id body author { id name email } } }"), "{}", query(op));
}

#[test]
fn a_connection_that_a_relay_page_cannot_follow_has_no_pages() {
    let page = |arguments: &str, info: &str| {
        let text = format!(
            "type Query {{ all{arguments}: All }} type All {{ nodes: [Issue] pageInfo: Info }} type Issue {{ id: ID }}
            type Info {{ {info} }}"
        );
        let draft = drafted(&Schema::read(text.as_bytes()).unwrap(), Wanted::All).unwrap();
        let op = serde_json::from_str::<Value>(&draft.manifest).unwrap()["ops"]["all"].clone();
        assert!(query(&op).contains("nodes { id }"), "{op}");
        op["page"]["info"] == "$.data.all.pageInfo"
    };
    let whole = "hasNextPage: Boolean endCursor: String";
    assert!(page("(after: String)", whole));
    assert!(page("(after: Cursor, first: Int!)", &format!("{whole} }} scalar Cursor type Other {{ a: Int")));
    for arguments in ["", "(after: String!)", "(after: [String])", "(after: String, last: Int!)"] {
        assert!(!page(arguments, whole), "{arguments}");
    }
    assert!(!page("(after: String)", "hasNextPage: Boolean"));
}

#[test]
fn what_is_picked_is_values_that_are_no_secrets() {
    let (draft, ops) = ops();
    let fields: Vec<_> =
        ops["viewer"]["pick"]["fields"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert_eq!(fields, ["id", "name", "email"]);
    let fields = ops["issue"]["pick"]["fields"].as_array().unwrap();
    for there in ["tags", "labels[*].id", "author.name", "createdAt", "points", "priority"] {
        assert!(fields.contains(&there.into()), "{there}");
    }
    let text = query(&ops["issue"]);
    for absent in ["metadata", "matrix", "comments", "secretHash", "apiToken", "avatarUrl"] {
        assert!(!text.contains(absent), "{absent}");
    }
    let secret = draft.notes.iter().find(|note| note.message.contains("`apiToken`"));
    assert_eq!(secret.unwrap().pointer, "/ops/viewer/pick");
    assert_eq!(ops["count"]["pick"], serde_json::json!({ "root": "$.data", "fields": ["count"] }));
}

#[test]
fn a_union_is_asked_for_type_by_type() {
    let (_, ops) = ops();
    let text = query(&ops["search"]);
    assert!(
        text.contains("{ __typename ... on Issue { id title priority tags } ... on User { id name email } }"),
        "{text}"
    );
    assert_eq!(
        ops["search"]["pick"]["fields"],
        serde_json::json!(["__typename", "id", "title", "priority", "tags", "name", "email"])
    );
}

#[test]
fn args_say_what_the_schema_says() {
    let (draft, ops) = ops();
    let property = |op: &str, arg: &str| ops[op]["args"]["properties"][arg].clone();
    assert_eq!(property("search", "priority")["enum"], serde_json::json!(["LOW", "HIGH"]));
    assert_eq!(property("count", "since")["format"], "date-time");
    assert_eq!(property("labels", "ids")["items"]["type"], "string");
    assert!(property("labels", "old").is_null(), "what is deprecated is not offered");
    assert_eq!(ops["search"]["args"]["required"], serde_json::json!(["text"]));
    let filter = property("issues", "filter");
    assert_eq!(filter["properties"]["title"]["properties"]["in"]["type"], "array");
    assert!(filter["properties"]["and"].is_null(), "a type that holds itself ends");
    assert!(
        draft
            .notes
            .iter()
            .any(|note| note.pointer == "/ops/count/args" && note.message.contains("`Duration`"))
    );
}

#[test]
fn a_required_input_object_is_taken_apart() {
    let (_, ops) = ops();
    let op = &ops["issue_create"];
    assert_eq!(op["args"]["required"], serde_json::json!(["team_id", "title"]));
    let template = &op["request"]["graphql"]["variables"]["input"];
    assert_eq!((&template["teamId"], &template["labelIds"]), (&"{team_id}".into(), &"{label_ids}".into()));
    assert!(template["extra"].is_null() && template["oldTitle"].is_null());
    assert_eq!(op["args"]["properties"]["description"]["description"], "In Markdown.");
    assert!(
        query(op).starts_with("mutation IssueCreate($input: IssueInput!) { issueCreate(input: $input) {"),
        "{}",
        query(op)
    );
}

#[test]
fn a_mutation_asks_first_and_says_what_it_does() {
    let (draft, ops) = ops();
    let of =
        |op: &str| (ops[op]["access"].clone(), ops[op]["effect"].clone(), ops[op]["irreversible"].clone());
    assert_eq!(of("issue_create"), ("write".into(), "create".into(), false.into()));
    assert_eq!(of("issue_delete"), ("write".into(), "delete".into(), true.into()));
    assert_eq!(of("comment_create"), ("write".into(), "send".into(), false.into()));
    assert_eq!(
        ops["issue_create"]["confirm"],
        "Small: issue create with team id “{team_id}”, title “{title}”?"
    );
    let about = |pointer: &str| draft.notes.iter().any(|note| note.pointer == pointer);
    assert!(about("/ops/issue_create/effect") && about("/ops/issue_create/confirm") && about("/auth"));
    assert!(
        draft
            .notes
            .iter()
            .any(|note| note.pointer == "/ops/issue_create/pick" && note.message.contains("`success`"))
    );
    assert_eq!(ops["issue"]["access"], "read");
    assert!(ops["issue"]["confirm"].is_null());
}

#[test]
fn operations_may_be_named() {
    let names = ["issue".to_owned(), "oldIssues".to_owned(), "nothing\u{202e}".to_owned()];
    let draft = drafted(&small(), Wanted::Named(&names)).unwrap();
    let whole: Value = serde_json::from_str(&draft.manifest).unwrap();
    assert_eq!(whole["ops"].as_object().unwrap().len(), 2);
    let [refused] = &draft.refused[..] else { panic!("{:?}", draft.refused) };
    assert_eq!((refused.operation.as_str(), refused.reason), ("nothing\\u{202e}", RefusedReason::Unknown));
    assert!(
        draft
            .notes
            .iter()
            .any(|note| note.pointer == "/ops/old_issues" && note.message.contains("Take issues."))
    );
    let none = drafted(&small(), Wanted::Named(&names[2..]));
    assert!(matches!(none, Err(DraftError::Nothing(refused)) if refused.len() == 1));
}

#[test]
fn more_than_a_manifest_holds_is_refused() {
    let fields: Vec<_> = (0..crate::parse::OPS_MAX + 5).map(|at| format!("f{at}: Int")).collect();
    let fields = fields.join(" ");
    let schema = Schema::read(format!("type Query {{ {fields} }}").as_bytes()).unwrap();
    let draft = drafted(&schema, Wanted::All).unwrap();
    assert_eq!(draft.refused.len(), 5);
    assert!(draft.refused.iter().all(|one| one.reason == RefusedReason::TooManyOps));
    let many: Vec<_> = (0..70).map(|at| format!("a{at}: Int!")).collect();
    let many = many.join(" ");
    let schema = Schema::read(format!("type Query {{ a({many}): Int b: Int }}").as_bytes()).unwrap();
    assert_eq!(drafted(&schema, Wanted::All).unwrap().refused[0].reason, RefusedReason::TooManyArgs);
}

#[test]
fn what_is_given_beside_the_schema_is_judged() {
    for text in ["api.pinhole.dev/graphql", "https://api.pinhole.dev/graphql", "api.pinhole.dev"] {
        assert!(Endpoint::parse(text).is_ok(), "{text}");
    }
    assert!(matches!(Endpoint::parse("http://api.pinhole.dev/graphql"), Err(EndpointError::Url { .. })));
    assert!(matches!(
        Endpoint::parse("127.0.0.1/graphql"),
        Err(EndpointError::Url { .. } | EndpointError::Host { .. })
    ));
    assert!(matches!(Endpoint::parse("api.pinhole.dev/graphql?a=b"), Err(EndpointError::Query(_))));
    let (id, endpoint) =
        (ServiceId::parse("small").unwrap(), Endpoint::parse("api.pinhole.dev/graphql").unwrap());
    let service = Service { id: &id, name: "two\nlines", endpoint: &endpoint, auth: &AuthScheme::Bearer };
    let refused = draft(&small(), &service, Wanted::All);
    assert!(matches!(refused, Err(DraftError::Service { pointer, .. }) if pointer == "/name"));
}

#[test]
fn a_mutation_that_leads_to_mutations_is_refused() {
    let text = "type Query { a: Int } type Mutation { card: CardMutation card2(id: ID!): CardMutation users: Users close(clientMutationId: String): Closed run: RunMutationPayload }
        type CardMutation { freeze: Int } type Users { purge: Purged } type Purged { done: Boolean } type Closed { clientMutationId: String } type RunMutationPayload { done: Purged }";
    let draft = drafted(&Schema::read(text.as_bytes()).unwrap(), Wanted::All).unwrap();
    let refused: Vec<_> = draft.refused.iter().map(|one| (one.operation.as_str(), one.reason)).collect();
    let wanted = ["card", "card2", "users"].map(|name| (name, RefusedReason::Namespace));
    assert_eq!(refused, wanted);
    // What has nothing to show is done all the same, and says that it was.
    let ops = serde_json::from_str::<Value>(&draft.manifest).unwrap()["ops"].clone();
    assert_eq!(query(&ops["run"]), "mutation Run { run { done { done } } }");
    let op = &ops["close"];
    assert_eq!(query(op), "mutation Close { close { __typename } }");
    assert_eq!(op["pick"]["fields"], serde_json::json!(["__typename"]));
}

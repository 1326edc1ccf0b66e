//! Linear, as `emulate` has it: a smaller schema than Linear's own, executed by a GraphQL library.

use pinhole_runtime::outcome::Code;
use serde_json::{Value, json};

use crate::common::{Emulated, row};

fn world() -> Value {
    json!({
        "organization": {"name": "Harbour", "url_key": "harbour"},
        "users": [{"email": "wren@example.com", "name": "Wren", "admin": true}, {"email": "tern@example.com", "name": "Tern"}],
        "teams": [{"key": "ENG", "name": "Engineering", "states": [
            {"name": "Todo", "type": "unstarted"}, {"name": "In Progress", "type": "started"}, {"name": "Done", "type": "completed"}]},
            {"key": "OPS", "name": "Operations"}],
        "labels": [{"name": "Bug", "team": "ENG"}, {"name": "Quay", "team": "ENG"}],
        "tokens": [{"token": pinhole_tests::KEY, "user": "wren@example.com", "scopes": ["read", "write"]}],
        "strict_scopes": true
    })
}

/// The ids that issues are made with.
struct Ids {
    team: Value,
    done: Value,
    bug: Value,
    tern: Value,
}

#[tokio::test]
async fn every_op_that_is_served_reads_back_what_was_written() {
    let Some(linear) = Emulated::start("linear", world()).await else { return };
    let ids = surroundings(&linear).await;
    let issue = issues(&linear, &ids).await;
    changes(&linear, &ids, &issue).await;
    comments(&linear, &issue).await;
    unserved(&linear, &ids).await;
    linear.every_op_had_its_turn();
}

async fn surroundings(linear: &Emulated) -> Ids {
    let viewer = linear.done("get_viewer", json!({})).await;
    assert_eq!(viewer["viewer"]["email"], "wren@example.com", "the key as it is did not open");
    assert_eq!(viewer["organization"]["urlKey"], "harbour");
    let teams = linear.done("list_teams", json!({})).await;
    let team = row(&teams, "/key", &json!("ENG"))["id"].clone();
    let first = linear.done("list_teams", json!({"first": 1})).await;
    assert_eq!(first.as_array().map(Vec::len), Some(1));
    let states = linear.done("list_states", json!({"team_id": team})).await;
    let done = row(&states, "/type", &json!("completed"))["id"].clone();
    let labels = linear.done("list_labels", json!({})).await;
    let bug = row(&labels, "/name", &json!("Bug"));
    assert_eq!(bug["team"]["key"], "ENG");
    let users = linear.done("list_users", json!({})).await;
    let tern = row(&users, "/name", &json!("Tern"))["id"].clone();
    Ids { team, done, bug: bug["id"].clone(), tern }
}

/// Opens issues and finds them by id, by identifier, in the team, and among those of the key's own person.
async fn issues(linear: &Emulated, ids: &Ids) -> Value {
    let title = "Tides \"late\" } viewer { email } ${x} \\";
    let me = linear.done("get_viewer", json!({})).await["viewer"]["id"].clone();
    let made = linear
        .done(
            "create_issue",
            json!({"team_id": ids.team, "title": title, "description": "# Since\n\nMarch", "priority": 2,
            "label_ids": [ids.bug], "assignee_id": me, "due_date": "2026-03-01"}),
        )
        .await;
    assert_eq!((&made["title"], &made["priorityLabel"]), (&json!(title), &json!("High")));
    for issue in [&made["id"], &made["identifier"]] {
        let got = linear.done("get_issue", json!({"issue": issue})).await;
        assert_eq!(got["description"], "# Since\n\nMarch");
        assert_eq!(
            (&got["title"], &got["priority"], &got["dueDate"]),
            (&json!(title), &json!(2), &json!("2026-03-01"))
        );
        assert_eq!((&got["team"]["key"], &got["labels"]["nodes"][0]["name"]), (&json!("ENG"), &json!("Bug")));
    }
    let second = linear.done("create_issue", json!({"team_id": ids.team, "title": "Oil"})).await;
    let listed = linear.done("list_issues", json!({"team_id": ids.team})).await;
    assert_eq!(row(&listed, "/id", &made["id"])["title"], title);
    assert_eq!(row(&listed, "/id", &second["id"])["assignee"], Value::Null);
    // It has an issue of its own besides.
    let pages = linear.pages("list_issues", json!({"team_id": ids.team, "first": 1})).await;
    let found: Vec<&Value> = pages.iter().map(|page| &page[0]["id"]).collect();
    assert!(found.len() == 3 && found.contains(&&made["id"]) && found.contains(&&second["id"]), "{pages:#?}");
    let mine = linear.done("list_my_issues", json!({})).await;
    assert_eq!(mine.as_array().map(Vec::len), Some(1));
    assert_eq!(mine[0]["identifier"], made["identifier"]);
    made["identifier"].clone()
}

async fn changes(linear: &Emulated, ids: &Ids, issue: &Value) {
    let change = json!({"issue": issue, "state_id": ids.done, "assignee_id": ids.tern, "label_ids": [], "priority": 0});
    let changed = linear.done("update_issue", change).await;
    assert_eq!(changed["state"]["name"], "Done");
    let got = linear.done("get_issue", json!({"issue": issue})).await;
    assert_eq!((&got["state"]["type"], &got["labels"]["nodes"]), (&json!("completed"), &json!([])));
    assert_eq!((&got["assignee"]["id"], &got["priorityLabel"]), (&ids.tern, &json!("No priority")));
    assert_eq!(got["description"], "# Since\n\nMarch", "what was left out was changed");
    let nobody = json!({"issue": "ENG-404", "title": "x"});
    linear.refused("update_issue", nobody, (Code::UpstreamInvalid, "Issue not found")).await;
}

async fn comments(linear: &Emulated, issue: &Value) {
    let body = "Since the bridge.\n\n{issue} is not a placeholder here";
    let made = linear.done("comment_issue", json!({"issue": issue, "body": body})).await;
    assert_eq!(&made["issue"]["identifier"], issue);
    let listed = linear.done("list_comments", json!({"issue": issue})).await;
    assert_eq!(row(&listed, "/id", &made["id"])["body"], body);
}

/// The emulator's schema has no search, no filters of Linear's kind, and less of a project and a cycle. It refuses whole
/// documents that ask for more, and says what it lacks.
async fn unserved(linear: &Emulated, ids: &Ids) {
    let team = json!({"team_id": ids.team});
    let lacks = |what| (Code::UpstreamInvalid, what);
    let search = json!({"term": "oil"});
    linear.refused("search_issues", search, lacks("Cannot query field \"searchIssues\"")).await;
    linear.refused("list_projects", json!({}), lacks("Unknown type \"ProjectFilter\"")).await;
    let project = json!({"project": "none"});
    linear.refused("get_project", project, lacks("Cannot query field")).await;
    linear.refused("list_cycles", team.clone(), lacks("Cannot query field")).await;
    // Its module says what the service said.
    linear.refused("cycle_report", team, (Code::ModuleFailed, "Unknown type \"CycleFilter\"")).await;
    let filtered = json!({"team_id": ids.team, "state": {"type": {"in": ["started"]}}});
    linear.refused("list_issues", filtered, lacks("\"StringComparator\" not to include unknown field")).await;
}

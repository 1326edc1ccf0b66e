//! The manifests' modules on as many pages as a call may ask for, each as large as a real one: what they parse has to fit into
//! the fuel, memory and bytes of a call.

use pinhole_standin::{Config, Reply, Route, World};
use pinhole_tests::{ORG, REPO, Setup, Stage, shared};
use serde_json::{Value, json};

use crate::common::result;

async fn stage(host: &str, routes: Vec<Route>) -> Stage {
    let setup = Setup::github();
    let standin = Config { host: host.to_owned(), world: World::Fixed(routes), ..setup.standin };
    Setup { standin, ..setup }.start().await
}

/// About what an issue takes that has some text: 6 KB.
fn issue(number: usize) -> Value {
    json!({
        "number": number, "title": format!("Lamp {number}"), "state": "open", "updated_at": "2025-01-31T09:30:00Z",
        "html_url": format!("https://github.com/{ORG}/{REPO}/issues/{number}"),
        "user": {"login": "wren", "id": number, "url": "https://api.github.com/users/wren"},
        "labels": [{"name": "bug", "color": "ededed", "description": "Something is dark"}],
        "assignees": [{"login": "wren"}], "body": "It is \"dark\" \u{1f56f} here.\r\n".repeat(170),
    })
}

fn issues(pages: usize) -> Vec<Route> {
    let path = format!("/repos/{ORG}/{REPO}/issues");
    let own = "state=open&sort=updated&direction=asc&per_page=100";
    let page = |number: usize| {
        let target =
            if number == 1 { format!("{path}?{own}") } else { format!("{path}?{own}&page={number}") };
        let all: Vec<Value> = (0..100).map(|place| issue(number * 100 + place)).collect();
        let reply = Reply::json(200, &json!(all));
        let next =
            format!("<https://api.github.com/repositories/1/issues?{own}&page={}>; rel=\"next\"", number + 1);
        Route::get(&target, if number < pages { reply.header("link", &next) } else { reply })
    };
    (1..=pages).map(page).collect()
}

#[tokio::test]
async fn ten_thousand_issues_are_counted_in_one_call() {
    let stage = stage("api.github.com", issues(100)).await;
    let args = json!({"owner": ORG, "repo": REPO, "by": "assignee"});
    let outcome = stage.read("github.stale_issues", &args).await;
    let counted = result(&outcome);
    assert_eq!((&counted["stale"], &counted["groups"][0]["stale"]), (&json!(10_000), &json!(10_000)));
    assert!(outcome.meta.bytes_in > 50_000_000, "{:?}", outcome.meta);
}

#[tokio::test]
async fn ninety_nine_pages_of_stripes_charges_are_added_up_in_one_call() {
    let test = "ninety_nine_pages_of_stripes_charges_are_added_up_in_one_call";
    let Some(file) = shared(test, "data/stripe/list_charges_100.constructed.json") else { return };
    let mut page: Value = serde_json::from_slice(&std::fs::read(file).expect("a page")).expect("JSON");
    let own = "created[gte]=1764547200&created[lt]=1767225600&limit=100";
    let mut routes = vec![Route::get(
        &format!("/v1/refunds?{own}"),
        Reply::json(200, &json!({"object": "list", "data": [], "has_more": false})),
    )];
    for number in 0..99 {
        for charge in page["data"].as_array_mut().expect("charges") {
            charge["created"] = 1_764_547_200.into();
            charge["status"] = "succeeded".into();
            charge["currency"] = "eur".into();
            charge["amount_captured"] = 7.into();
        }
        page["data"][99]["id"] = format!("ch_{number}").into();
        page["has_more"] = (number < 98).into();
        let target = match number {
            0 => format!("/v1/charges?{own}"),
            _ => format!("/v1/charges?{own}&starting_after=ch_{}", number - 1),
        };
        routes.push(Route::get(&target, Reply::json(200, &page)));
    }
    let stage = stage("api.stripe.com", routes).await;
    let outcome = stage.read("stripe.revenue_by_month", &json!({"from": "2025-12", "to": "2025-12"})).await;
    let month = &result(&outcome)["months"][0];
    assert_eq!((&month["charges"], &month["charged"]), (&json!(9_900), &json!(69_300)));
    assert!(outcome.meta.bytes_in > 30_000_000, "{:?}", outcome.meta);
}

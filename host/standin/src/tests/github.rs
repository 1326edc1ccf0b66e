//! The made-up world: shapes, sizes, paging, writes, and what GitHub refuses.

use reqwest::header::{ACCEPT_ENCODING, AUTHORIZATION, IF_NONE_MATCH};
use serde_json::{Value, json};

use super::{builder, client, get, github, header, http1, json, url};
use crate::{Config, GithubWorld, Standin, World};

#[tokio::test]
async fn a_page_of_a_hundred_is_as_large_and_as_wide_as_a_real_one() {
    let standin = github().await;
    let response = get(&client(&standin), "/orgs/pinhole-demo/repos?per_page=100").await;
    assert_eq!(response.status(), 200);
    assert_eq!(header(&response, "content-type"), "application/json; charset=utf-8");
    let body = response.bytes().await.unwrap();
    assert!((580_000..=620_000).contains(&body.len()), "{} bytes", body.len());
    let page: Vec<Value> = serde_json::from_slice(&body).unwrap();
    assert_eq!(page.len(), 100);
    for repository in &page {
        let members = repository.as_object().unwrap().len();
        assert!((70..=85).contains(&members), "{members} members");
        assert!(repository["owner"]["login"].is_string());
        assert!(repository["permissions"]["pull"].is_boolean());
        assert!(repository["license"].is_null() || repository["license"]["spdx_id"].is_string());
    }
    assert_eq!(page[0]["full_name"], "pinhole-demo/lantern");
}

#[tokio::test]
async fn pages_are_linked_by_the_organisations_number() {
    let standin = github().await;
    let client = client(&standin);
    let first = header(&get(&client, "/orgs/pinhole-demo/repos?per_page=100").await, "link");
    let base = "https://api.github.com/organizations/90210417/repos?per_page=100&page=";
    assert_eq!(first, format!("<{base}2>; rel=\"next\", <{base}3>; rel=\"last\""));

    let mut names = Vec::new();
    for page in 1..=3 {
        let response = get(&client, &format!("/organizations/90210417/repos?per_page=100&page={page}")).await;
        let link = header(&response, "link");
        assert_eq!(link.contains("rel=\"next\""), page < 3);
        assert_eq!(link.contains("rel=\"prev\""), page > 1);
        let listed = json(response).await;
        names.extend(listed.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()));
    }
    assert_eq!(names.len(), 250);
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 250);
    let beyond = json(get(&client, "/organizations/90210417/repos?page=99").await).await;
    assert_eq!(beyond, json!([]));
}

#[tokio::test]
async fn one_seed_gives_one_world_and_another_seed_another() {
    let page = async |seed| {
        let world = GithubWorld { seed, repositories: 3, ..GithubWorld::default() };
        let standin = Standin::start(Config::new(World::Github(world))).await.unwrap();
        get(&client(&standin), "/orgs/pinhole-demo/repos").await.bytes().await.unwrap()
    };
    assert_eq!(page(5).await, page(5).await);
    assert_ne!(page(5).await, page(6).await);
}

#[tokio::test]
async fn an_issue_that_was_opened_is_there_to_be_read_changed_and_found() {
    let standin = github().await;
    let client = client(&standin);
    let issues = "/repos/pinhole-demo/lantern/issues";
    let body = json!({ "title": "The zirconium lamp is out", "body": "Since noon.", "labels": ["bug"] });
    let opened = client.post(url(issues)).body(body.to_string()).send().await.unwrap();
    assert_eq!(opened.status(), 201);
    let place = header(&opened, "location");
    let opened = json(opened).await;
    assert_eq!(opened["number"], 9);
    assert_eq!(opened["user"]["login"], GithubWorld::VIEWER);
    assert_eq!(place, url(&format!("{issues}/9")));

    let read = json(get(&client, &format!("{issues}/9")).await).await;
    assert_eq!(read["title"], "The zirconium lamp is out");
    let listed = json(get(&client, &format!("{issues}?labels=bug")).await).await;
    assert_eq!(listed[0]["number"], 9);
    let found =
        json(get(&client, "/search/issues?q=zirconium+is:open+repo:pinhole-demo/lantern").await).await;
    assert_eq!(found["total_count"], 1);
    assert_eq!(found["items"][0]["number"], 9);

    let patch = json!({ "state": "closed", "state_reason": "not_planned", "body": null });
    let changed = client.patch(url(&format!("{issues}/9"))).body(patch.to_string()).send().await.unwrap();
    let changed = json(changed).await;
    assert_eq!(changed["state"], "closed");
    assert_eq!(changed["state_reason"], "not_planned");
    assert_eq!(changed["body"], Value::Null);
    assert!(changed["closed_at"].as_str().unwrap() > opened["created_at"].as_str().unwrap());

    let comment = json!({ "body": "Lit again." }).to_string();
    let added = client.post(url(&format!("{issues}/9/comments"))).body(comment).send().await.unwrap();
    assert_eq!(added.status(), 201);
    let comments = json(get(&client, &format!("{issues}/9/comments")).await).await;
    assert_eq!(comments[0]["body"], "Lit again.");
    assert_eq!(json(get(&client, &format!("{issues}/9")).await).await["comments"], 1);
}

#[tokio::test]
async fn a_write_that_github_would_refuse_is_refused_and_writes_nothing() {
    let standin = github().await;
    let client = client(&standin);
    let issues = url("/repos/pinhole-demo/lantern/issues");
    for (body, status) in [
        ("{", 400),
        ("[]", 400),
        ("{}", 422),
        (r#"{"title":" "}"#, 422),
        (r#"{"title":7}"#, 422),
        (r#"{"title":"a","labels":[3]}"#, 422),
        (r#"{"title":"a","assignees":["nobody-at-all"]}"#, 422),
    ] {
        let refused = client.post(&issues).body(body).send().await.unwrap();
        assert_eq!(refused.status(), status, "{body}");
        assert!(json(refused).await["message"].is_string());
    }
    let patched =
        client.patch(format!("{issues}/1")).body(r#"{"title":"b","state":"ajar"}"#).send().await.unwrap();
    assert_eq!(patched.status(), 422);
    let listed = json(get(&client, "/repos/pinhole-demo/lantern/issues?state=all").await).await;
    assert_eq!(listed.as_array().unwrap().len(), 8);
    assert!(listed.as_array().unwrap().iter().all(|issue| issue["title"] != "b"));

    let page = json(get(&client, "/orgs/pinhole-demo/repos").await).await;
    let archived = page.as_array().unwrap().iter().find(|one| one["archived"] == true).unwrap();
    let target = format!("/repos/{}/issues", archived["full_name"].as_str().unwrap());
    let refused = client.post(url(&target)).body(r#"{"title":"a"}"#).send().await.unwrap();
    assert_eq!(refused.status(), 403);
}

#[tokio::test]
async fn every_read_that_is_offered_has_its_shape() {
    let standin = github().await;
    let client = client(&standin);
    let lantern = "/repos/pinhole-demo/lantern";
    for (target, path) in [
        ("/user", "/plan/name"),
        ("/user/repos", "/4/owner/login"),
        ("/users/demo-ash", "/type"),
        ("/orgs/pinhole-demo", "/repos_url"),
        ("/notifications?per_page=2", "/1/subject/title"),
        (lantern, "/organization/login"),
        (&format!("{lantern}/issues?state=all"), "/7/user/login"),
        (&format!("{lantern}/issues/3"), "/pull_request/url"),
        (&format!("{lantern}/issues/2/comments"), "/0/body"),
        (&format!("{lantern}/pulls"), "/0/head/repo/full_name"),
        (&format!("{lantern}/pulls/3"), "/mergeable_state"),
        (&format!("{lantern}/releases"), "/0/tag_name"),
        (&format!("{lantern}/releases/latest"), "/tag_name"),
        (&format!("{lantern}/actions/runs"), "/workflow_runs/0/conclusion"),
        ("/search/issues?q=lamp", "/items/0/score"),
    ] {
        let response = get(&client, target).await;
        assert_eq!(response.status(), 200, "{target}");
        assert!(header(&response, "x-ratelimit-remaining").parse::<u32>().unwrap() < 5000);
        assert!(json(response).await.pointer(path).is_some_and(|value| !value.is_null()), "{target}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_githubs_404() {
    let standin = github().await;
    let client = client(&standin);
    for target in [
        "/",
        "/nothing",
        "/orgs/another/repos",
        "/repos/pinhole-demo/none",
        "/repos/pinhole-demo/lantern/issues/999",
        "/repos/pinhole-demo/lantern/pulls/1",
        "/repos/pinhole-demo%2Flantern",
    ] {
        let response = get(&client, target).await;
        assert_eq!(response.status(), 404, "{target}");
        let body = json(response).await;
        assert_eq!(body["message"], "Not Found");
        assert_eq!(body["status"], "404");
        assert!(body["documentation_url"].is_string());
    }
    assert_eq!(client.delete(url("/repos/pinhole-demo/lantern")).send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn the_key_and_the_user_agent_are_asked_for() {
    let world = World::Github(GithubWorld::default());
    let standin =
        Standin::start(Config { token: Some("right-key".into()), ..Config::new(world) }).await.unwrap();
    let client = client(&standin);
    let status = async |authorization: Option<&str>| {
        let request = client.get(url("/user"));
        let request = match authorization {
            Some(value) => request.header(AUTHORIZATION, value),
            None => request,
        };
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(status(None).await, 401);
    assert_eq!(status(Some("Bearer wrong-key")).await, 401);
    assert_eq!(status(Some("Basic right-key")).await, 401);
    assert_eq!(status(Some("Bearer right-key")).await, 200);
    assert_eq!(status(Some("token right-key")).await, 200);
    assert!(!format!("{:?}", standin.requests()).contains("-key"));

    let anonymous = builder(&standin).user_agent("").build().unwrap();
    let refused = anonymous.get(url("/user")).bearer_auth("right-key").send().await.unwrap();
    assert_eq!(refused.status(), 403);
}

#[tokio::test]
async fn bodies_are_packed_and_tagged_when_asked() {
    let standin = github().await;
    let client = builder(&standin).no_gzip().no_brotli().build().unwrap();
    let target = url("/orgs/pinhole-demo/repos?per_page=100");
    let plain = client.get(&target).send().await.unwrap();
    assert_eq!(header(&plain, "content-encoding"), "");
    let packed = client.get(&target).header(ACCEPT_ENCODING, "gzip").send().await.unwrap();
    assert_eq!(header(&packed, "content-encoding"), "gzip");
    let tag = header(&packed, "etag");
    let packed = packed.bytes().await.unwrap();
    assert!(packed.len() < 100_000);
    let unpacked = super::client(&standin).get(&target).send().await.unwrap().bytes().await.unwrap();
    assert_eq!(unpacked, plain.bytes().await.unwrap());

    let unchanged = client.get(&target).header(IF_NONE_MATCH, tag).send().await.unwrap();
    assert_eq!(unchanged.status(), 304);
    assert_eq!(unchanged.bytes().await.unwrap().len(), 0);
}

#[tokio::test]
async fn the_log_has_every_request_and_how_it_came() {
    let standin = github().await;
    assert_eq!((standin.connections(), standin.requests().len()), (0, 0));
    let new = client(&standin);
    get(&new, "/user?a=1&b=%2F").await;
    let sent = new.post(url("/repos/pinhole-demo/lantern/issues")).body("{}").send().await.unwrap();
    assert_eq!(sent.status(), 422);
    get(&http1(&standin), "/user").await;
    let seen = standin.requests();
    assert_eq!(standin.connections(), 2);
    assert_eq!(seen.len(), 3);
    assert_eq!((seen[0].method.as_str(), seen[0].path.as_str()), ("GET", "/user"));
    assert_eq!(seen[0].query, "a=1&b=%2F");
    assert_eq!(seen[0].header("host"), Some("api.github.com"));
    assert_eq!(seen[0].sni.as_deref(), Some("api.github.com"));
    assert_eq!(seen[0].alpn.as_deref(), Some("h2"));
    assert_eq!(&seen[1].body[..], b"{}");
    assert_eq!((seen[1].connection, seen[2].connection), (1, 2));
    assert_eq!(seen[2].alpn.as_deref(), Some("http/1.1"));
}

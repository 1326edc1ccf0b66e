//! Results that go on: `next` leads to the next page of the same call of the same caller, and to no other.

use pinhole_grant::PrincipalId;
use pinhole_tests::{ORG, Setup, call};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::json;

use crate::client::{Served, Told, picked, refusal};

const LIST: &str = "github_list_org_repos";

async fn served() -> Served {
    let stage = Setup::github().start_local().await;
    stage.connect("github").await;
    Served::new(stage, Told::default())
}

#[tokio::test]
async fn next_leads_on_to_the_end_and_is_for_this_call() {
    let served = served().await;
    let mut client = served.modern(json!({}));
    let (mut names, mut next) = (Vec::new(), None::<String>);
    loop {
        let mut arguments = json!({"org": ORG, "per_page": "2"});
        if let Some(next) = &next {
            arguments["next"] = json!(next);
        }
        let result = client.call(LIST, arguments).await;
        names.extend(picked(&result).as_array().unwrap().iter().map(|repo| repo["name"].clone()));
        let text = result["content"][0]["text"].as_str().unwrap();
        let Some(token) = result["structuredContent"]["next"].as_str() else { break };
        assert!(text.ends_with(&format!("\nnext: {token}")));
        let other = client.call(LIST, json!({"org": ORG, "per_page": 3, "next": token})).await;
        assert_eq!(refusal(&other)["code"], "page_token_mismatch");
        next = Some(token.to_owned());
    }
    let mut unique = names.clone();
    unique.dedup();
    assert_eq!((names.len(), unique.len()), (6, 6));
}

#[tokio::test]
async fn a_page_of_one_caller_is_none_of_anothers() {
    let served = served().await;
    let bot = served.mcp.bot();
    let [one, other] = [1, 2].map(|seed| PrincipalId::random(&mut StdRng::seed_from_u64(seed)));
    let list = call("github.list_org_repos", &json!({"org": ORG, "per_page": 2}));
    let first: serde_json::Value =
        serde_json::from_str(&bot.run(list.clone().by(one)).await.to_json()).unwrap();
    let next = list.with_next(first["next"].as_str().unwrap());
    for (call, code) in [
        (next.clone(), Some("page_token_mismatch")),
        (next.clone().by(other), Some("page_token_mismatch")),
        (next.by(one), None),
    ] {
        let outcome = bot.run(call).await;
        assert_eq!(outcome.refusal().map(|refusal| refusal.code.as_str()), code, "{}", outcome.to_json());
    }
}

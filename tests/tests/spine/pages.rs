//! Three real pages of GitHub's, replayed over TLS: what is picked is what another reader picks, and nothing else.

use pinhole_standin::{Config, Recordings, World};
use pinhole_tests::{KEY, Setup, shared};
use serde_json::{Map, Value, json};

use crate::common::{parsed, result};

/// What the manifest picks of a repository.
const FIELDS: [&str; 7] =
    ["name", "private", "archived", "language", "stargazers_count", "open_issues_count", "pushed_at"];

/// The same by a reader that has nothing to do with the projector.
fn independently_picked(page: &[u8]) -> Value {
    let page: Vec<Map<String, Value>> = serde_json::from_slice(page).unwrap();
    let pick = |repository: &Map<String, Value>| -> Map<String, Value> {
        FIELDS
            .iter()
            .filter_map(|field| Some(((*field).to_owned(), repository.get(*field)?.clone())))
            .collect()
    };
    page.iter().map(pick).map(Value::Object).collect()
}

fn serving(world: World) -> Setup {
    let setup = Setup::github();
    Setup { standin: Config { token: Some(KEY.to_owned()), ..Config::new(world) }, ..setup }
}

#[tokio::test]
async fn a_recorded_page_comes_back_picked() {
    let Some(folder) = shared("a_recorded_page_comes_back_picked", "data/github/org-repos") else { return };
    let stage = serving(World::Replay(Recordings::load(&folder).unwrap())).start().await;
    let outcome = stage.read("github.list_org_repos", &json!({"org": "jenkinsci", "per_page": 100})).await;
    let page = std::fs::read(folder.join("3-o_j_repos.body.json")).unwrap();
    let picked = result(&outcome);
    assert_eq!(picked, independently_picked(&page));
    assert_eq!(picked.as_array().unwrap().len(), 100);
    assert!(picked[0].as_object().unwrap().keys().all(|key| FIELDS.contains(&key.as_str())));
    assert_eq!(outcome.meta.bytes_in, u64::try_from(page.len()).unwrap());
    assert_eq!(outcome.meta.bytes_out, u64::try_from(outcome.result().unwrap().to_string().len()).unwrap());
    assert!(outcome.meta.bytes_out * 20 < outcome.meta.bytes_in, "{:?}", outcome.meta);
    assert_eq!(stage.seen(), ["GET /orgs/jenkinsci/repos"]);
    assert_eq!(stage.standin.requests()[0].query, "per_page=100");
}

/// By the links that GitHub sent, which lead from the organisation's name to its number.
#[tokio::test]
async fn the_recorded_links_lead_to_the_last_page() {
    let Some(folder) = shared("the_recorded_links_lead_to_the_last_page", "data/github/org-repos") else {
        return;
    };
    let stage = serving(World::Replay(Recordings::load(&folder).unwrap())).start().await;
    let args = json!({"org": "jenkinsci", "per_page": 100});
    let grant = stage.grant("github").uses(1).seal();
    let files = [
        "3-o_j_repos.body.json",
        "4-organizations_107424_repos.body.json",
        "5-organizations_107424_repos.body.json",
    ];
    let mut outcome = stage.run("github.list_org_repos", &args, &grant).await;
    for (place, file) in files.iter().enumerate() {
        let page = std::fs::read(folder.join(file)).unwrap();
        assert_eq!(result(&outcome), independently_picked(&page), "{file}");
        assert_eq!(outcome.meta.bytes_in, u64::try_from(page.len()).unwrap());
        let json = parsed(&outcome);
        assert_eq!(json["notes"], json!([]), "{file}");
        if place + 1 < files.len() {
            let next = json["next"].as_str().unwrap();
            outcome = stage.run_next("github.list_org_repos", &args, &grant, next).await;
        }
    }
}

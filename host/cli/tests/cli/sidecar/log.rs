//! The log: one line a request, and nothing of what was posted.

use serde_json::Value;

use super::served::{Answer, Served, call, eventually, read, text};
use crate::home::Home;
use crate::stage::Stage;

fn posted(served: &Served, id: &str, body: &str) -> Answer {
    served
        .ask(&format!("POST /v1/run HTTP/1.1\r\nx-request-id: {id}\r\ncontent-type: application/json"), body)
}

#[test]
fn a_request_is_one_line_with_its_id_and_none_of_what_was_posted() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = text(&home.mint(&[]));
    let served = Served::new(&home, &stage, &["--log-json"]);
    let body = call("github.get_repo", &read(), &grant);
    assert_eq!(posted(&served, "mine-1", &body).headers["x-request-id"], "mine-1");
    let made = posted(&served, "not a word", &body).headers["x-request-id"].clone();
    assert!(made.len() == 12 && made != "not a word", "{made}");
    posted(&served, "mine-2", "{}").refused(400, "malformed_request");
    let write = crate::stage::WRITE_ARGS.parse::<Value>().unwrap();
    posted(&served, "mine-3", &call("github.create_issue", &write, &grant))
        .refused(403, "read_only_connection");
    let (status, log) = served.stop();
    assert!(status.success(), "{log}");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let said: Vec<(&str, &str, &str, &str)> = lines
        .iter()
        .filter(|line| line["target"] == "pinhole::sidecar")
        .map(|line| {
            let text = |name: &str| line[name].as_str().unwrap();
            (text("request"), text("status"), text("op"), text("code"))
        })
        .collect();
    let wanted = [
        ("mine-1", "200", "get_repo", "-"),
        (made.as_str(), "200", "get_repo", "-"),
        ("mine-2", "400", "-", "malformed_request"),
        ("mine-3", "403", "create_issue", "read_only_connection"),
    ];
    assert_eq!(said, wanted);
    for secret in ["pinhole-demo", "lantern", "lamp", grant.get(40..80).unwrap()] {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
}

#[test]
fn a_log_for_people_has_the_same_lines_and_is_silent_where_it_should_be() {
    let (home, stage) = (Home::new(), Stage::new());
    let served = Served::new(&home, &stage, &[]);
    posted(&served, "mine-1", "{}");
    eventually("a line", || served.logged().contains("request=mine-1"));
    assert!(served.logged().contains("status=400"), "{}", served.logged());
    drop(served);
    let served = Served::new(&home, &stage, &["--log", "off"]);
    posted(&served, "mine-2", "{}");
    assert_eq!(served.stop().1, "");
}

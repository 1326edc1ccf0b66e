//! Whether the services still accept the keys: the viewer runs, and what it says is told.

use pinhole_standin::{Config, Reply, Route, World};
use serde_json::json;

use super::{Said, connect, connected};
use crate::home::Home;
use crate::stage::Stage;

const VIEWED: &str = "key of github default";

fn answering(reply: Reply) -> Stage {
    Stage::with(Config::new(World::Fixed(vec![Route::get("/user", reply)])))
}

#[test]
fn a_key_that_the_service_has_ended_is_named_in_the_service_s_words() {
    let (home, stage) = connected();
    connect(&home, &stage, &["--label", "work"]);
    let ended = answering(Reply::json(401, &json!({"message": "Bad\u{202e} credentials"})));
    let said = Said::online(&home, &ended);
    let refused: Vec<_> = said.findings.iter().filter(|finding| finding["state"] == "wrong").collect();
    assert_eq!(refused.len(), 2, "{refused:#?}");
    for finding in refused {
        assert!(finding["about"].as_str().unwrap().starts_with("key of github "), "{finding}");
        assert!(finding["found"].as_str().unwrap().contains("upstream_unauthorized"), "{finding}");
        let refusal = &finding["refusal"];
        assert_eq!((&refusal["code"], &refusal["sent"]), (&"upstream_unauthorized".into(), &"yes".into()));
        assert_eq!(refusal["hint"], finding["hint"]);
        assert!(!refusal["untrusted"].as_str().unwrap().contains('\u{202e}'));
    }
    assert_eq!(said.status, 1);
    said.is_well(&["connection github default", "connection github work", "questions"]);
    let people = home.run(&ended.args(&home, &["doctor"]).words()).expect(1);
    assert!(people.stdout.contains("the service said: “Bad"), "{}", people.stdout);
}

#[test]
fn a_key_of_another_account_is_named() {
    let (home, _stage) = connected();
    let other = answering(Reply::json(200, &json!({"login": "demo-ash", "id": 7})));
    let said = Said::online(&home, &other)
        .only(1, &[("wrong", VIEWED, "it is demo-ash's, and it was connected as demo-wren's", "--replace`")]);
    said.is_well(&["connection github default"]);
}

#[test]
fn a_service_that_no_longer_says_whose_the_key_is_is_a_warning() {
    let (home, _stage) = connected();
    let mute = answering(Reply::json(200, &json!({"id": 7})));
    Said::online(&home, &mute).only(0, &[("warning", VIEWED, "no longer says", "pinhole connect github")]);
}

#[test]
fn a_stand_in_s_key_is_not_sent_to_the_service() {
    let (home, stage) = connected();
    let said = Said::of(&home, &["doctor"])
        .only(0, &[("warning", VIEWED, "it is for a stand-in, and none is dialled", "`--resolve`")]);
    said.is_well(&["connection github default"]);
    assert_eq!(stage.requests(), 1);
}

#[test]
fn a_service_that_is_not_there_is_named() {
    let (home, stage) = connected();
    let dial = stage.args(&home, &["doctor"]);
    drop(stage);
    let said = Said::of(&home, &dial.words()).only(1, &[("wrong", VIEWED, "refused (", "")]);
    said.is_well(&["connection github default", "questions"]);
}

#[test]
fn flags_that_are_wrong_are_usage() {
    let home = Home::empty();
    let resolve = ["doctor", "--resolve", "api.github.com:80:127.0.0.1:1"];
    assert_eq!(home.run(&resolve).expect(2).stdout, "");
    home.run(&["doctor", "--manifest", "-", "--unsigned", "--ca-cert", "-"]).expect(2);
}

//! `run --next` and `run --all`: pages as they come, and every way in which they stop coming.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pinhole_standin::{Config, GithubWorld, Misbehaviour, Reply, Route, When, World};
use serde_json::Value;

use crate::home::{Home, KEY, Ran};
use crate::stage::Stage;

const LIST: [&str; 4] =
    ["github.list_org_repo_names", "--args", r#"{"org":"pinhole-demo","per_page":2}"#, "--all"];
/// Where every page but the first is.
const FURTHER: &str = "/organizations/";

/// An organisation of five repositories: three pages of two.
fn stage() -> Stage {
    let world = GithubWorld { repositories: 5, ..GithubWorld::default() };
    Stage::with(Config { token: Some(KEY.to_owned()), ..Config::new(World::Github(world)) })
}

fn command(home: &Home, stage: &Stage, grant: &str, what: &[&str]) -> Command {
    home.command(&stage.args(home, &[&["run"], what, &["--grant", grant]].concat()).words())
}

fn run(home: &Home, stage: &Stage, grant: &str, what: &[&str]) -> Ran {
    crate::home::ran(&mut command(home, stage, grant, what), b"")
}

fn values(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

/// The token that stderr says to go on with.
fn token(stderr: &str) -> String {
    let line = stderr.lines().find_map(|line| line.trim().strip_prefix("--next "));
    line.unwrap_or_else(|| panic!("no token: {stderr}")).to_owned()
}

#[test]
fn all_pages_are_lines_of_json_under_one_use() {
    let (home, stage) = (Home::new(), stage());
    let grant = home.mint(&["--uses", "1"]);
    let ran = run(&home, &stage, &grant, &LIST).expect(0);
    let names = values(&ran.stdout);
    assert_eq!(names.len(), 5);
    assert!(names.iter().all(|one| one["name"].is_string() && one.as_object().unwrap().len() == 1));
    // No progress where there is no terminal: one line at the end.
    let stderr: Vec<&str> = ran.stderr.lines().collect();
    assert!(matches!(stderr[..], [line] if line.contains("3 pages, 5 results")), "{}", ran.stderr);
    assert_eq!(stage.requests(), 3);
}

#[test]
fn as_json_each_page_is_an_outcome_on_a_line() {
    let (home, stage) = (Home::new(), stage());
    let grant = home.mint(&["--uses", "1"]);
    let ran = run(&home, &stage, &grant, &[&LIST[..], &["--json"]].concat()).expect(0);
    let outcomes = values(&ran.stdout);
    let sizes: Vec<usize> = outcomes.iter().map(|one| one["result"].as_array().unwrap().len()).collect();
    assert_eq!(sizes, [2, 2, 1]);
    assert!(outcomes.iter().all(|one| one["ok"] == true && one["meta"]["requests"] == 1));
    let next: Vec<bool> = outcomes.iter().map(|one| one["next"].is_string()).collect();
    assert_eq!((next, ran.stderr.as_str()), (vec![true, true, false], ""));
}

#[test]
fn a_token_asks_for_the_next_page() {
    let (home, stage) = (Home::new(), stage());
    let grant = home.mint(&["--uses", "1"]);
    let one = [&LIST[..3], &["--json"]].concat();
    let first = run(&home, &stage, &grant, &one).expect(0).json();
    let next = first["next"].as_str().unwrap();
    let second = run(&home, &stage, &grant, &[&one[..], &["--next", next]].concat()).expect(0).json();
    assert_eq!(second["result"].as_array().unwrap().len(), 2);
    assert_ne!(second["result"], first["result"]);
    // The rest of them from there; people are told of the token too.
    let rest = run(&home, &stage, &grant, &[&LIST[..], &["--next", next]].concat()).expect(0);
    assert_eq!(values(&rest.stdout).len(), 3);
    let other = home.mint(&[]);
    let people = run(&home, &stage, &other, &LIST[..3]).expect(0);
    assert!(people.stderr.contains("`--all` follows them"), "{}", people.stderr);
    run(&home, &stage, &other, &[&LIST[..3], &["--next", &token(&people.stderr)]].concat()).expect(0);
    // What is none, what is for another call, and what is another bot's.
    run(&home, &stage, &grant, &[&one[..], &["--next", "nonsense"]].concat())
        .expect(3)
        .refusal("page_token_malformed");
    let call = ["github.list_org_repo_names", "--arg", "org=pinhole-demo", "--json", "--next", next];
    run(&home, &stage, &grant, &call).expect(3).refusal("page_token_mismatch");
    let stranger = Home::new();
    let theirs = stranger.mint(&[]);
    run(&stranger, &stage, &theirs, &[&one[..], &["--next", next]].concat())
        .expect(3)
        .refusal("page_token_malformed");
}

#[test]
fn a_key_on_stdin_follows_its_pages_and_keeps_no_token() {
    let (home, stage) = (Home::empty(), stage());
    let run = |what: &[&str]| {
        let args = stage.args(&home, &[&["run"], what, &["--token-stdin"]].concat());
        home.run_with(&args.words(), KEY)
    };
    assert_eq!(values(&run(&LIST).expect(0).hides(KEY).stdout).len(), 5);
    let one = run(&[&LIST[..3], &["--json"]].concat()).expect(0).json();
    assert_eq!((one.get("next"), &one["meta"]["more_pages"]), (None, &Value::Bool(true)));
    let people = run(&LIST[..3]).expect(0);
    assert!(
        people.stderr.contains("`--all` follows them") && !people.stderr.contains("--next"),
        "{}",
        people.stderr
    );
    run(&[&LIST[..3], &["--next", "pnx1AAAA"]].concat()).expect(2);
}

#[test]
fn a_refusal_in_the_middle_leaves_what_came_and_says_how_to_go_on() {
    let (home, stage) = (Home::new(), stage());
    let grant = home.mint(&["--uses", "1"]);
    let busy = Misbehaviour::Status { code: 429, retry_after: Some("3600".to_owned()) };
    for (how, code, status) in [
        (busy, "upstream_rate_limited", 1),
        (Misbehaviour::Html(200), "not_json", 5),
        (Misbehaviour::EndlessBody, "response_too_large", 5),
    ] {
        let grant = home.mint(&["--uses", "1"]);
        stage.standin.misbehave(When::Path(FURTHER.to_owned()), how.clone());
        let ran = run(&home, &stage, &grant, &LIST).expect(status);
        assert_eq!(values(&ran.stdout).len(), 2, "{how:?}");
        assert!(ran.stderr.contains(&format!("refused ({code})")), "{}", ran.stderr);
        // The same as JSON: the refusal is a line, the token is on stderr.
        let json = run(&home, &stage, &home.mint(&[]), &[&LIST[..], &["--json"]].concat()).expect(status);
        let outcomes = values(&json.stdout);
        assert_eq!((outcomes.len(), &outcomes[1]["refusal"]["code"]), (2, &Value::from(code)));
        token(&json.stderr);
        stage.standin.behave();
        let next = token(&ran.stderr);
        let rest = [&LIST[..], &["--next", &next]].concat();
        assert_eq!(values(&run(&home, &stage, &grant, &rest).expect(0).stdout).len(), 3);
    }
    // Nothing came at all: there is nothing to go on from.
    stage.standin.misbehave(When::Always, Misbehaviour::Html(200));
    let ran = run(&home, &stage, &grant, &LIST).expect(5);
    assert!(ran.stdout.is_empty() && !ran.stderr.contains("--next"), "{}", ran.stderr);
    // Refused before anything was sent, and in the middle: the pages before it were sent for.
    stage.standin.behave();
    run(&home, &stage, &grant, &LIST).expect(3);
}

#[test]
fn more_that_cannot_be_followed_is_no_whole() {
    let home = Home::new();
    let reply = Reply::json(200, &serde_json::json!([{"name": "one"}]))
        .header("link", "<https://other.dev/orgs/pinhole-demo/repos?page=2>; rel=\"next\"");
    let routes = vec![Route::get("/orgs/pinhole-demo/repos", reply)];
    let stage = Stage::with(Config { token: Some(KEY.to_owned()), ..Config::new(World::Fixed(routes)) });
    let ran = run(&home, &stage, &home.mint(&[]), &LIST).expect(1);
    assert_eq!(values(&ran.stdout).len(), 1);
    assert!(
        ran.stderr.contains("is not at the op's own address") && !ran.stderr.contains("other.dev"),
        "{}",
        ran.stderr
    );
    let one = run(&home, &stage, &home.mint(&[]), &[&LIST[..3], &["--json"]].concat()).expect(0).json();
    assert_eq!(one["meta"]["more_pages"], true);
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let (home, stage) = (Home::new(), stage());
    let mut child = command(&home, &stage, &home.mint(&[]), &LIST).spawn().unwrap();
    drop(child.stdout.take());
    let ran = Ran::of(&child.wait_with_output().unwrap()).expect(0);
    assert_eq!(ran.stderr, "");
}

#[test]
fn an_op_without_pages_is_one_line() {
    let (home, stage) = (Home::new(), stage());
    let call = ["github.get_repo", "--arg", "owner=pinhole-demo", "--arg", "repo=lantern", "--all"];
    let ran = run(&home, &stage, &home.mint(&[]), &call).expect(0);
    assert_eq!(values(&ran.stdout)[0]["full_name"], "pinhole-demo/lantern");
}

#[cfg(unix)]
mod stopped {
    use super::*;

    /// What Ctrl-C does.
    fn interrupt(child: &Child) {
        let sent = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
        assert!(sent.success());
    }

    fn until(mut holds: impl FnMut() -> bool) {
        let patience = Instant::now() + Duration::from_mins(1);
        while !holds() {
            assert!(Instant::now() < patience, "it does not come to that");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_run_that_is_stopped_leaves_what_came_and_the_token_to_go_on() {
        for format in [&[][..], &["--json"]] {
            let (home, stage) = (Home::new(), stage());
            let grant = home.mint(&["--uses", "1"]);
            let silent = Misbehaviour::SlowHeaders { delay: Duration::from_mins(10) };
            stage.standin.misbehave(When::Path(FURTHER.to_owned()), silent);
            let child = command(&home, &stage, &grant, &[&LIST[..], format].concat()).spawn().unwrap();
            until(|| stage.requests() == 2);
            interrupt(&child);
            let ran = Ran::of(&child.wait_with_output().unwrap()).expect(130);
            assert_eq!(values(&ran.stdout).len(), if format.is_empty() { 2 } else { 1 });
            assert!(ran.stderr.contains("stopped after 1 page, 2 results"), "{}", ran.stderr);
            stage.standin.behave();
            let next = token(&ran.stderr);
            let rest = [&LIST[..], &["--next", &next]].concat();
            assert_eq!(values(&run(&home, &stage, &grant, &rest).expect(0).stdout).len(), 3);
        }
    }

    #[test]
    fn before_the_first_page_there_is_nothing_to_go_on_from() {
        let (home, stage) = (Home::new(), stage());
        let silent = Misbehaviour::SlowHeaders { delay: Duration::from_mins(10) };
        stage.standin.misbehave(When::Always, silent);
        let child = command(&home, &stage, &home.mint(&[]), &LIST).spawn().unwrap();
        until(|| stage.requests() == 1);
        interrupt(&child);
        let ran = Ran::of(&child.wait_with_output().unwrap()).expect(130);
        assert!(ran.stdout.is_empty() && ran.stderr.contains("begin again"), "{}", ran.stderr);
    }

    /// A reader that takes nothing more holds the writing up; it does not hold up the end.
    #[test]
    fn a_run_that_waits_for_its_reader_is_stopped_too() {
        let name = "x".repeat(200);
        let page: Value = (0..100).map(|_| serde_json::json!({"name": name})).collect();
        let path = "/orgs/pinhole-demo/repos";
        let pages = (1..=9).map(|number| {
            let link = format!("<https://api.github.com{path}?page={}>; rel=next", number + 1);
            let query =
                if number == 1 { "per_page=2".to_owned() } else { format!("per_page=2&page={number}") };
            Route::get(&format!("{path}?{query}"), Reply::json(200, &page).header("link", &link))
        });
        let world = World::Fixed(pages.collect());
        let stage = Stage::with(Config { token: Some(KEY.to_owned()), ..Config::new(world) });
        let home = Home::new();
        let mut child = command(&home, &stage, &home.mint(&[]), &LIST).stdin(Stdio::null()).spawn().unwrap();
        // A pipe holds less than nine pages of 20 KB: it stops asking before the last.
        let mut asked = (0, Instant::now());
        until(|| {
            if stage.requests() != asked.0 {
                asked = (stage.requests(), Instant::now());
            }
            asked.0 > 0 && asked.1.elapsed() > Duration::from_secs(1)
        });
        assert!(stage.requests() < 9, "the pipe took everything");
        interrupt(&child);
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(130));
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        token(&stderr);
    }
}

//! A sidecar that is killed again and again while calls are posted to it: nothing that is good once happens twice, and whatever
//! reached the service has a receipt.

use std::time::{Duration, Instant};

use pinhole_client::{Call, Client, Outcome};
use pinhole_standin::{Misbehaviour, When};
use serde_json::{Value, json};

use super::served::{READ_ARGS, Served, block_on, eventually, own_socket, text};
use crate::home::Home;
use crate::stage::Stage;

const ROUNDS: u64 = 16;
/// Where the delays come from: another seed is another series of moments.
const SEED: u64 = 0x5eed_0f4a_1234_9876;
/// How often the grant may be used that several calls share.
const SHARED_USES: usize = 9;

/// A call, and how often its request may reach the service however often it is posted.
struct Posted {
    call: Call,
    args: String,
    /// The path of a read, the title of a write.
    what: String,
    at_most: usize,
}

/// Numbers that are the same in each run of the test.
struct Moments(u64);

impl Moments {
    fn below(&mut self, end: u64) -> u64 {
        // Knuth's MMIX.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// What is posted in a round: each of it is new, and stays among what is posted in later rounds.
fn of_round(home: &Home, round: u64, shared: &str) -> Vec<Posted> {
    let mut posted = Vec::new();
    for of in 0..2 {
        let grant = text(&home.mint(&["--uses", "1", "--ttl", "1h"]));
        posted.push(Posted::read(&format!("once-{round}-{of}"), &grant, 1));
    }
    posted.push(Posted::read("shared", shared, SHARED_USES));
    let title = format!("approved-{round}");
    let approval = home.mint(&["--approve", "github.create_issue", &args_of(&title)]);
    posted.push(Posted::write(&title, &text(&approval)));
    posted
}

impl Posted {
    fn read(repo: &str, grant: &str, at_most: usize) -> Self {
        let args = json!({"owner": "pinhole-demo", "repo": repo}).to_string();
        let call = Call::new("github", "get_repo", grant).with_args(&args);
        Self { call, args, what: format!("/repos/pinhole-demo/{repo}"), at_most }
    }

    fn write(title: &str, grant: &str) -> Self {
        let args = args_of(title);
        let call = Call::new("github", "create_issue", grant).with_args(&args);
        Self { call, args, what: title.to_owned(), at_most: 1 }
    }
}

fn args_of(title: &str) -> String {
    json!({"owner": "pinhole-demo", "repo": "lantern", "title": title}).to_string()
}

/// Posts all of it at once, and kills the sidecar at a moment of its choosing.
fn posted_and_killed(mut served: Served, stage: &Stage, calls: &[&Posted], moments: &mut Moments) {
    let (seen, wanted) = (stage.requests(), usize::try_from(moments.below(5)).unwrap());
    let after = Duration::from_micros(moments.below(40_000));
    let client = served.client();
    std::thread::scope(|scope| {
        let running: Vec<_> =
            calls.iter().map(|posted| scope.spawn(|| post(&client, &posted.call))).collect();
        let all_ended = || running.iter().all(std::thread::ScopedJoinHandle::is_finished);
        eventually("it is killed", || stage.requests() >= seen + wanted || all_ended());
        let until = Instant::now() + after;
        while Instant::now() < until {
            std::thread::yield_now();
        }
        served.child.kill().unwrap();
        served.child.wait().unwrap();
    });
}

/// The code of what came back, where anything did.
fn post(client: &Client, call: &Call) -> Option<String> {
    match block_on(client.run(call)).ok()? {
        Outcome::Done(_) => Some("ok".to_owned()),
        Outcome::Refused(refusal) => Some(refusal.code),
    }
}

/// How many requests of these calls reached the service.
fn reached(stage: &Stage, what: &str) -> usize {
    let title =
        |body: &[u8]| serde_json::from_slice::<Value>(body).ok()?["title"].as_str().map(str::to_owned);
    let requests = stage.standin.requests();
    let of_it = requests.iter().filter(|seen| match seen.method.as_str() {
        "POST" => title(&seen.body).as_deref() == Some(what),
        _ => seen.path == what,
    });
    of_it.count()
}

#[test]
fn killed_at_any_moment_it_does_nothing_twice_and_forgets_nothing_that_it_did() {
    let (home, stage) = (Home::guarded(), Stage::new());
    home.write("config.toml", "[receipts]\nargs = true\n");
    // So that a kill finds something under way.
    stage.standin.misbehave(When::Always, Misbehaviour::SlowHeaders { delay: Duration::from_millis(15) });
    let socket = own_socket(&home);
    let shared = text(&home.mint(&["--uses", &SHARED_USES.to_string(), "--ttl", "1h"]));
    let keys = text(&home.mint(&["--access", "write", "--uses", "500", "--ttl", "1h"]));
    let (mut moments, mut all) = (Moments(SEED), Vec::new());
    for round in 0..ROUNDS {
        all.extend(of_round(&home, round, &shared));
        let keyed = Posted::write(&format!("keyed-{round}"), &keys);
        all.push(Posted { call: keyed.call.with_key(format!("key-{round}")), ..keyed });
        let served = Served::at(&home, &stage, &socket);
        // What was posted in the round before is posted again.
        let recent: Vec<&Posted> = all.iter().rev().take(9).collect();
        posted_and_killed(served, &stage, &recent, &mut moments);
    }
    stage.standin.behave();
    let served = Served::at(&home, &stage, &socket);
    // And once more, now that nobody kills it: each has had its chance, or has it now.
    let client = served.client();
    for posted in &all {
        let code = post(&client, &posted.call).unwrap();
        let known = ["ok", "upstream_not_found", "grant_used_up", "outcome_unknown", "under_way"];
        assert!(known.contains(&code.as_str()), "{}: {code}", posted.what);
    }
    let grant = text(&home.mint(&["--uses", "1"]));
    let last = Call::new("github", "get_repo", &grant).with_args(READ_ARGS);
    assert_eq!(post(&client, &last).as_deref(), Some("ok"));
    assert!(served.stop().0.success());
    for posted in &all {
        let count = reached(&stage, &posted.what);
        assert!(count <= posted.at_most, "{} reached the service {count} times", posted.what);
    }
    every_run_has_a_receipt(&home, &stage, &all);
}

/// At least as many receipts of runs that may have sent something as requests of theirs have reached the service.
fn every_run_has_a_receipt(home: &Home, stage: &Stage, all: &[Posted]) {
    let verdict = home.run(&["receipts", "verify", "--json"]).expect(0).json();
    assert_eq!(verdict["sound"], true, "{verdict}");
    let list = home.run(&["receipts", "list", "--json", "--limit", "1000"]).expect(0).json();
    let receipts = list.as_array().unwrap();
    let mut interrupted = 0;
    for posted in all {
        let args: Value = posted.args.parse().unwrap();
        let of_it: Vec<&Value> =
            receipts.iter().map(|receipt| &receipt["run"]).filter(|run| run["args"] == args).collect();
        let left = of_it.iter().filter(|run| run["sent"] != "no").count();
        let reached = reached(stage, &posted.what);
        assert!(left >= reached, "{}: {reached} requests, {left} receipts of {of_it:?}", posted.what);
        interrupted += of_it.iter().filter(|run| run["code"] == "interrupted").count();
    }
    assert!(interrupted > 5, "{interrupted} were killed under way: this has tried nothing");
}

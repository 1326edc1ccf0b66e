//! So many at once, the others in a queue, nobody beyond; and nobody starves.

use std::io::Write as _;
use std::time::Duration;

use pinhole_standin::{Authority, Config, GithubWorld, Misbehaviour, Reply, Route, When, World};
use serde_json::{Value, json};

use super::served::{PATIENCE, Served, Stream, call, eventually, read, text};
use crate::home::{Home, KEY};
use crate::stage::Stage;

const STRIPE_KEY: &str = "sk_test_KeyOfTheQueueTests0123";
const WAITING: &str = "pinhole_calls_waiting{service=\"github\"}";
const RUNNING: &str = "pinhole_calls_running{service=\"github\"}";

/// Two services, of which GitHub never answers.
struct Two {
    home: Home,
    github: Stage,
    stripe: Stage,
    served: Served,
}

impl Two {
    fn new() -> Self {
        Self::believing(&[])
    }

    /// The same with other homes' members whose grants are believed too.
    fn believing(others: &[&Home]) -> Self {
        let home = Home::new();
        let authority = Authority::new().unwrap();
        let github = Config {
            token: Some(KEY.to_owned()),
            authority: Some(authority.clone()),
            ..Config::new(World::Github(GithubWorld { repositories: 3, ..GithubWorld::default() }))
        };
        let balance =
            json!({"available": [{"amount": 7, "currency": "eur"}], "pending": [], "livemode": false});
        let stripe = Config {
            host: "api.stripe.com".to_owned(),
            authority: Some(authority),
            ..Config::new(World::Fixed(vec![Route::get("/v1/balance", Reply::json(200, &balance))]))
        };
        let (github, stripe) = (Stage::with(github), Stage::with(stripe));
        let [ours, theirs] =
            [github.dial_for("api.github.com", &home), stripe.dial_for("api.stripe.com", &home)];
        let members: Vec<String> =
            std::iter::once(&home).chain(others.iter().copied()).map(|of| of.public("member")).collect();
        let mut words = vec![
            "sidecar",
            "--calls",
            "4",
            "--calls-of-a-service",
            "2",
            "--waiting",
            "6",
            "--waiting-for-a-service",
            "3",
        ];
        words.extend(members.iter().flat_map(|member| ["--issuer", member]));
        words.extend(ours.iter().map(String::as_str));
        words.extend(theirs.get(..2).unwrap().iter().map(String::as_str));
        let served = Served::start(&home, &words);
        github.standin.misbehave(When::Always, Misbehaviour::SlowHeaders { delay: Duration::from_mins(10) });
        Self { home, github, stripe, served }
    }

    fn body(&self) -> String {
        call("github.get_repo", &read(), &text(&self.home.mint(&[])))
    }

    fn balance(&self) -> String {
        let bot = self.home.bot();
        let mint = ["grant", "mint", "stripe", "--to", &bot, "--stand-in"];
        let grant = self.home.run_with(&mint, STRIPE_KEY).expect(0).stdout;
        call("stripe.get_balance", &json!({}), &grant)
    }

    /// A call that is posted and not waited for.
    fn hang(&self, body: &str) -> Box<dyn Stream> {
        let mut stream = self.served.connect();
        let head = "POST /v1/run HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json";
        stream
            .write_all(format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).as_bytes())
            .unwrap();
        stream
    }
}

#[test]
fn a_service_that_hangs_fills_its_own_queue_and_starves_no_other() {
    let two = Two::new();
    let (body, balance) = (two.body(), two.balance());
    let mut held: Vec<Box<dyn Stream>> = (0..2).map(|_| two.hang(&body)).collect();
    eventually("two at the service", || two.github.requests() == 2);
    held.extend((0..3).map(|_| two.hang(&body)));
    two.served.until(WAITING, 3);
    assert_eq!(two.served.count(RUNNING), 2);
    let mut is_first = true;
    for _ in 0..20 {
        let answer = two.served.post("/v1/run", &body);
        let refusal = answer.refused(429, "busy");
        let receipt = answer.is(429)["meta"]["receipt"].clone();
        assert_eq!(receipt.is_string(), std::mem::take(&mut is_first), "{receipt}");
        assert_eq!((&refusal["sent"], &refusal["retry_after"]), (&json!("no"), &json!(1)));
        assert_eq!(answer.headers["retry-after"], "1");
        let outcome = two.served.post("/v1/run", &balance).is(200);
        assert_eq!(outcome["result"]["available"][0]["amount"], 7);
    }
    assert_eq!((two.github.requests(), two.stripe.requests()), (2, 20));
    assert_eq!(two.served.count("pinhole_refusals_total{code=\"busy\"}"), 20);
    // A flood of them is no flood of receipts: the first in a minute has one.
    let receipts = two.served.get("/v1/receipts?code=busy").is(200)["receipts"].clone();
    let runs: Vec<&Value> = receipts.as_array().unwrap().iter().map(|receipt| &receipt["run"]).collect();
    assert_eq!(runs.len(), 1, "{receipts}");
    let said = [&runs[0]["service"], &runs[0]["op"], &runs[0]["sent"]];
    assert_eq!(said, [&json!("github"), &json!("get_repo"), &json!("no")]);
    assert!(runs[0]["member"].is_string() && runs[0]["grant"].is_null(), "{receipts}");
    drop(held);
    two.served.until(RUNNING, 0);
    assert_eq!(two.served.count("pinhole_requests_total{route=\"run\",code=\"gone\"}"), 5);
}

#[test]
fn a_member_who_fills_the_queue_keeps_no_other_out() {
    let other = Home::new();
    let two = Two::believing(&[&other]);
    let (body, bot) = (two.body(), two.home.bot());
    let theirs = call("github.get_repo", &read(), &text(&other.mint_for(&bot, &["--stand-in"])));
    let held: Vec<Box<dyn Stream>> = (0..2).map(|_| two.hang(&body)).collect();
    eventually("two at the service", || two.github.requests() == 2);
    let mut waits = Vec::new();
    for count in 1..=3 {
        waits.push(two.hang(&body));
        two.served.until(WAITING, count);
    }
    two.served.post("/v1/run", &body).refused(429, "busy");
    let mut comes = two.hang(&theirs);
    let mut newest = waits.pop().unwrap();
    let refused = answer(&mut *newest);
    assert!(refused.starts_with("HTTP/1.1 429 ") && refused.contains("retry-after: 1\r\n"), "{refused}");
    two.served.until(WAITING, 3);
    // Nor do calls of nobody's.
    let nobodys = call("github.get_repo", &read(), "{}");
    let _nobody = two.hang(&nobodys);
    let refused = answer(&mut *waits.pop().unwrap());
    assert!(refused.starts_with("HTTP/1.1 429 "), "{refused}");
    for body in [&nobodys, &body, &theirs] {
        two.served.post("/v1/run", body).refused(429, "busy");
    }
    two.github.standin.behave();
    drop(held);
    let served = answer(&mut *comes);
    assert!(served.starts_with("HTTP/1.1 200 ") && served.contains("pinhole-demo/lantern"), "{served}");
}

/// One that was revoked counts as nobody's once that was found, one whose time is over at once.
#[test]
fn dead_grants_of_a_member_keep_none_of_her_own_calls_out() {
    let two = Two::new();
    let file = two.home.mint(&[]);
    let revoked = call("github.get_repo", &read(), &text(&file));
    two.home.run(&["grant", "revoke", &file]).expect(0);
    two.served.post("/v1/run", &revoked).refused(403, "grant_revoked");
    let ended = call("github.get_repo", &read(), &text(&two.home.mint(&["--ttl", "1s"])));
    let began = std::time::Instant::now();
    while two.served.post("/v1/explain", &ended).status == 200 {
        assert!(began.elapsed() < PATIENCE);
    }
    let body = two.body();
    let held: Vec<Box<dyn Stream>> = (0..2).map(|_| two.hang(&body)).collect();
    eventually("two at the service", || two.github.requests() == 2);
    let mut waits = Vec::new();
    for (count, dead) in [(1, &revoked), (2, &ended), (3, &revoked)] {
        waits.push(two.hang(dead));
        two.served.until(WAITING, count);
    }
    let mut comes = two.hang(&body);
    let refused = answer(&mut *waits.pop().unwrap());
    assert!(refused.starts_with("HTTP/1.1 429 "), "{refused}");
    two.served.until(WAITING, 3);
    two.github.standin.behave();
    drop(held);
    let served = answer(&mut *comes);
    assert!(served.starts_with("HTTP/1.1 200 ") && served.contains("pinhole-demo/lantern"), "{served}");
}

#[test]
fn a_client_that_goes_away_leaves_the_queue_and_its_place() {
    let two = Two::new();
    let body = two.body();
    let mut held: Vec<Box<dyn Stream>> = (0..2).map(|_| two.hang(&body)).collect();
    eventually("two at the service", || two.github.requests() == 2);
    let waits: Vec<Box<dyn Stream>> = (0..3).map(|_| two.hang(&body)).collect();
    two.served.until(WAITING, 3);
    drop(waits);
    two.served.until(WAITING, 0);
    assert_eq!(two.github.requests(), 2);
    // Who waits is next when a place is free.
    let last = two.hang(&body);
    two.served.until(WAITING, 1);
    held.pop();
    eventually("a third at the service", || two.github.requests() == 3);
    drop((held, last));
    two.served.until(RUNNING, 0);
}

#[test]
fn a_client_that_closes_its_writing_side_counts_as_gone() {
    let two = Two::new();
    let body = two.body();
    let held = [two.hang(&body), two.hang(&body)];
    eventually("two at the service", || two.github.requests() == 2);
    let waits = two.hang(&body);
    two.served.until(WAITING, 1);
    waits.close_writing();
    two.served.until(WAITING, 0);
    for held in &held {
        held.close_writing();
    }
    two.served.until(RUNNING, 0);
}

#[test]
fn ten_thousand_calls_at_a_service_that_hangs_are_turned_away_and_cost_nobody_else() {
    let two = Two::new();
    let (body, balance) = (two.body(), two.balance());
    let _held: Vec<Box<dyn Stream>> = (0..5).map(|_| two.hang(&body)).collect();
    two.served.until(WAITING, 3);
    let post = format!(
        "POST /v1/run HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let (served, post) = (&two.served, &post);
    let busy: usize = std::thread::scope(|scope| {
        let threads = (0..20).map(|_| {
            scope.spawn(move || {
                let mut stream = served.connect();
                (0..500).filter(|_| one_answer(&mut *stream, post).starts_with("HTTP/1.1 429 ")).count()
            })
        });
        let threads: Vec<_> = threads.collect();
        assert_eq!(two.served.post("/v1/run", &balance).status, 200);
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!((busy, two.github.requests()), (10_000, 2));
    assert_eq!(two.served.post("/v1/run", &balance).status, 200);
}

/// The answer to one of many calls that are turned away, on a connection that goes on.
fn one_answer(stream: &mut dyn Stream, request: &str) -> String {
    stream.write_all(request.as_bytes()).unwrap();
    let said = answer(stream);
    assert!(said.contains(r#""code":"busy""#), "{said}");
    said
}

/// One answer.
fn answer(stream: &mut dyn Stream) -> String {
    let (mut text, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let read = stream.read(&mut part).unwrap();
        assert_ne!(read, 0, "it ended");
        text.extend_from_slice(&part[..read]);
        let said = String::from_utf8_lossy(&text).into_owned();
        let Some((head, body)) = said.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        if body.len() == length.parse::<usize>().unwrap() {
            return said;
        }
    }
}

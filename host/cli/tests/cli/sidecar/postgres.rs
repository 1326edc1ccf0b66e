//! Two sidecars of one bot on one PostgreSQL database, each in a home of its own: what is good once is good once for both, and
//! a database that is away is no reason to send anything.

use std::os::unix::fs::PermissionsExt;
use std::sync::Barrier;

use pinhole_client::{Call, Outcome};
use serde_json::{Value, json};

use super::served::{READ_ARGS, Served, block_on, call, own_socket, read, text};
use crate::home::{Home, PASSPHRASE};
use crate::postgres::Postgres;
use crate::stage::{Stage, WRITE_ARGS};

/// How many times each of them is posted at once.
const EACH: usize = 3;
/// The files that make a home another door to the same bot.
const KEYS: [&str; 3] = ["keys/bot.json", "keys/member.json", "keys/member.pub"];

/// A home, another with the same keys, and a sidecar in each.
struct Two {
    home: Home,
    other: Home,
    stage: Stage,
    served: [Served; 2],
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    Done { replayed: bool, result: String },
    Refused(String),
}

impl Two {
    fn on(home: Home, postgres: &Postgres) -> Self {
        let (other, stage) = (Home::empty(), Stage::new());
        for name in KEYS {
            let copy = other.write(name, std::fs::read(home.path(name)).unwrap());
            std::fs::set_permissions(copy, PermissionsExt::from_mode(0o600)).unwrap();
        }
        std::fs::set_permissions(other.path("keys"), PermissionsExt::from_mode(0o700)).unwrap();
        let url = postgres.database();
        let served = [&home, &other].map(|home| {
            home.write("config.toml", format!("[receipts]\nargs = true\n[store]\ndatabase = \"{url}\"\n"));
            let file = home.write("database-url", &url);
            std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
            let member = home.public("member");
            let flags = ["--socket", &own_socket(home), "--database-file", &file, "--issuer", &member];
            Served::bare(home, &stage, &flags)
        });
        Self { home, other, stage, served }
    }

    /// The same call posted to both at once, several times.
    fn at_once(&self, call: &Call) -> Vec<End> {
        let ready = Barrier::new(2 * EACH);
        std::thread::scope(|scope| {
            let begun: Vec<_> = (0..2 * EACH)
                .map(|at| {
                    let (client, ready) = (self.served[at % 2].client(), &ready);
                    scope.spawn(move || {
                        ready.wait();
                        match block_on(client.run(call)).unwrap() {
                            Outcome::Done(done) => {
                                let result = done.result.get().to_owned();
                                End::Done { replayed: done.meta.replayed, result }
                            }
                            Outcome::Refused(refusal) => End::Refused(refusal.code),
                        }
                    })
                })
                .collect();
            begun.into_iter().map(|one| one.join().unwrap()).collect()
        })
    }

    fn mint(&self, flags: &[&str]) -> String {
        text(&self.home.mint(flags))
    }

    /// How many writes have reached the service.
    fn written(&self) -> usize {
        self.stage.standin.requests().iter().filter(|seen| seen.method == "POST").count()
    }

    /// One chain for both, signed by one key: sound, seen from either.
    fn receipts_are_sound(&self) {
        for home in [&self.home, &self.other] {
            let verdict = home.run(&["receipts", "verify", "--json"]).expect(0).json();
            assert_eq!(verdict["sound"], true, "{verdict}");
            assert!(!home.path("pinhole.db").exists());
        }
    }
}

fn done(ends: &[End]) -> usize {
    ends.iter().filter(|end| matches!(end, End::Done { .. })).count()
}

fn refused(ends: &[End], code: &str) -> usize {
    ends.iter().filter(|end| **end == End::Refused(code.to_owned())).count()
}

#[test]
fn a_one_shot_grant_posted_to_both_at_once_many_times_runs_once() {
    let test = "a_one_shot_grant_posted_to_both_at_once_many_times_runs_once";
    let Some(server) = Postgres::shared(test) else { return };
    let two = Two::on(Home::new(), server);
    for round in 1..=20 {
        let grant = two.mint(&["--uses", "1"]);
        let ends = two.at_once(&Call::new("github", "get_repo", &grant).with_args(READ_ARGS));
        assert_eq!((done(&ends), refused(&ends, "grant_used_up")), (1, 2 * EACH - 1), "{ends:?}");
        assert_eq!(two.stage.requests(), round);
    }
    two.receipts_are_sound();
}

#[test]
fn an_approval_posted_to_both_at_once_many_times_writes_once() {
    let test = "an_approval_posted_to_both_at_once_many_times_writes_once";
    let Some(server) = Postgres::shared(test) else { return };
    let two = Two::on(Home::guarded(), server);
    for round in 1..=8 {
        let grant = two.mint(&["--approve", "github.create_issue", WRITE_ARGS]);
        let ends = two.at_once(&Call::new("github", "create_issue", &grant).with_args(WRITE_ARGS));
        assert_eq!((done(&ends), refused(&ends, "grant_used_up")), (1, 2 * EACH - 1), "{ends:?}");
        assert_eq!(two.written(), round);
    }
    two.receipts_are_sound();
}

#[test]
fn a_write_under_one_key_posted_to_both_at_once_is_carried_out_once() {
    let test = "a_write_under_one_key_posted_to_both_at_once_is_carried_out_once";
    let Some(server) = Postgres::shared(test) else { return };
    let two = Two::on(Home::guarded(), server);
    let grant = two.mint(&["--access", "write", "--uses", "500", "--ttl", "1h"]);
    for round in 1..=12 {
        let args = json!({"owner": "pinhole-demo", "repo": "lantern", "title": format!("Lamp {round}")});
        let call = Call::new("github", "create_issue", &grant).with_args(args.to_string());
        let call = call.with_key(format!("lamp-{round}"));
        let mut ends = two.at_once(&call);
        assert_eq!(done(&ends) + refused(&ends, "under_way"), 2 * EACH, "{ends:?}");
        // By now it has ended: both tell what came of it.
        let after = two.at_once(&call);
        assert_eq!(done(&after), 2 * EACH, "{after:?}");
        ends.extend(after);
        let first = |end: &&End| matches!(end, End::Done { replayed: false, .. });
        assert_eq!(ends.iter().filter(first).count(), 1, "{ends:?}");
        let mut results: Vec<&str> = ends
            .iter()
            .filter_map(|end| match end {
                End::Done { result, .. } => Some(result.as_str()),
                End::Refused(_) => None,
            })
            .collect();
        results.dedup();
        assert_eq!(results.len(), 1, "{results:?}");
        assert_eq!(two.written(), round);
    }
    two.receipts_are_sound();
}

#[test]
fn a_database_that_was_restarted_between_two_calls_is_found_again() {
    let Some(server) = Postgres::start("a_database_that_was_restarted_between_two_calls_is_found_again")
    else {
        return;
    };
    let two = Two::on(Home::new(), &server);
    let grant = two.mint(&["--uses", "100", "--ttl", "1h"]);
    let body = call("github.get_repo", &read(), &grant);
    let (mut ran, mut down): (usize, usize) = (0, 0);
    let again = |ran: &mut usize| {
        for served in &two.served {
            served.post("/v1/run", &body).is(200);
            *ran += 1;
            assert_eq!(two.stage.requests(), *ran);
        }
    };
    again(&mut ran);
    // Stopped, not killed, where it is to be away: what serves a connection outlives a kill for a moment.
    for crash in [false, true, false] {
        server.stop();
        for served in &two.served {
            for _ in 0..2 {
                let refusal = served.post("/v1/run", &body).refused(500, "store_failed");
                assert_eq!(refusal["sent"], "no");
                down += 1;
            }
            assert_eq!(served.get("/healthz").status, 503);
        }
        assert_eq!(two.stage.requests(), ran, "nothing reaches the service while the database is away");
        server.start_again();
        again(&mut ran);
        // Nobody was told that it was away.
        if crash {
            server.kill();
        } else {
            server.stop();
        }
        server.start_again();
        again(&mut ran);
    }
    assert_eq!((ran, down), (14, 12));
    two.receipts_are_sound();
    // A receipt of a read, and no other, may go with the server that is killed a moment later.
    let kept: Vec<Value> = serde_json::from_value(receipts(&two.home)).unwrap();
    let kept = kept.iter().filter(|receipt| receipt["run"]["code"] == "ok").count();
    assert!((ran - 2..=ran).contains(&kept), "{kept} of {ran}");
}

fn receipts(home: &Home) -> Value {
    home.run(&["receipts", "list", "--json", "--limit", "500"]).expect(0).json()
}

#[test]
fn a_call_is_refused_where_the_database_goes_away_before_a_guarded_write() {
    let Some(server) =
        Postgres::start("a_call_is_refused_where_the_database_goes_away_before_a_guarded_write")
    else {
        return;
    };
    let two = Two::on(Home::guarded(), &server);
    let grant = two.mint(&["--approve", "github.create_issue", WRITE_ARGS]);
    assert!(two.home.path(PASSPHRASE).exists());
    let body = call("github.create_issue", &WRITE_ARGS.parse().unwrap(), &grant);
    server.stop();
    for served in &two.served {
        served.post("/v1/run", &body).refused(500, "store_failed");
    }
    assert_eq!(two.stage.requests(), 0, "not even what the write requires is looked up");
    server.start_again();
    two.served[1].post("/v1/run", &body).is(200);
    two.served[0].post("/v1/run", &body).refused(403, "grant_used_up");
    assert_eq!(two.written(), 1);
}

#[test]
fn what_a_sidecar_leaves_in_a_database_that_flags_name_is_found_by_the_same_flags() {
    let name = "what_a_sidecar_leaves_in_a_database_that_flags_name_is_found_by_the_same_flags";
    let Some(postgres) = Postgres::shared(name) else { return };
    let (home, stage) = (Home::new(), Stage::new());
    let file = home.write("database-url", postgres.database());
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    let there = ["--database-file", file.as_str()];
    let run = |what: &[&str]| home.run(&[what, &there].concat());
    let token = run(&["tokens", "new", "caller"]).expect(0).stdout.trim_end().to_owned();
    let served = Served::new(&home, &stage, &[&["--listen", "127.0.0.1:0"], &there[..]].concat());
    let grant = home.mint(&[]);
    let posted = Call::new("github", "get_repo", text(&grant)).with_args(READ_ARGS);
    let client = served.client_with(&token);
    let Outcome::Done(done) = block_on(client.run(&posted)).unwrap() else { panic!("it was refused") };
    let id = done.meta.receipt.unwrap();

    // The home's own database has nothing of it.
    assert_eq!(home.run(&["receipts", "list", "--json"]).json(), json!([]));
    assert_eq!(home.run(&["tokens", "list", "--json"]).json(), json!([]));
    assert_eq!(run(&["receipts", "list", "--json"]).json()[0]["id"], json!(id));
    let holder = run(&["tokens", "list", "--json"]).json()[0]["id"].as_str().unwrap().to_owned();
    assert!(run(&["tokens", "list"]).expect(0).stdout.contains(&holder));
    let shown = run(&["receipts", "show", &id]).expect(0).stdout;
    assert!(shown.contains(&format!("asked by     the token `caller`, {holder}")), "{shown}");
    run(&["receipts", "checkpoint"]).expect(0);
    assert!(run(&["receipts", "verify"]).expect(0).stdout.contains("sound: 1 receipts"));
    run(&["receipts", "prune", "--before", "1d"]).expect(0);
    assert!(run(&["doctor", "--offline"]).stdout.contains("reachable, format"));
    let wrong = ["doctor", "--offline", "--database", "mysql://x/y"];
    assert!(home.run(&wrong).expect(1).stdout.contains("is not the URL of a PostgreSQL database"));

    run(&["grant", "revoke", &grant]).expect(0);
    assert!(run(&["grant", "inspect", &grant]).expect(0).stdout.contains("revoked"));
    assert!(!home.run(&["grant", "inspect", &grant]).expect(0).stdout.contains("revoked"));
    let Outcome::Refused(refusal) = block_on(client.run(&posted)).unwrap() else { panic!("it ran") };
    assert_eq!(refusal.code, "grant_revoked");
    run(&["tokens", "revoke", "caller"]).expect(0);
    let Outcome::Refused(refusal) = block_on(client.run(&posted)).unwrap() else { panic!("it ran") };
    assert_eq!(refusal.code, "no_token");
}

//! `pinhole run --grant`: what comes out where, and what is refused with nothing sent.

use pinhole_grant::UnixTime;
use pinhole_runtime::store::{SqliteStore, Store as _};
use pinhole_standin::{Misbehaviour, When};

use crate::home::{Home, KEY, Ran};
use crate::stage::{READ, Stage, WRITE, WRITE_ARGS, other_ca};

fn run(home: &Home, stage: &Stage, grant: &str, what: &[&str]) -> Ran {
    let args = stage.args(home, &[&["run"], what, &["--grant", grant]].concat());
    home.run(&args.words()).hides(KEY)
}

fn run_json(home: &Home, stage: &Stage, grant: &str, what: &[&str]) -> Ran {
    run(home, stage, grant, &[what, &["--json"]].concat())
}

#[test]
fn the_result_is_on_stdout_and_the_rest_on_stderr() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = home.mint(&[]);
    let people = run(&home, &stage, &grant, &READ).expect(0);
    let result: serde_json::Value = serde_json::from_str(&people.stdout).unwrap();
    assert_eq!(result["full_name"], "pinhole-demo/lantern");
    assert!(result.get("id").is_none(), "more came back than was picked: {result}");
    assert!(
        people.stderr.contains("github.get_repo: ") && people.stderr.contains(" in, "),
        "{}",
        people.stderr
    );
    let document = run_json(&home, &stage, &grant, &READ).expect(0);
    let outcome = document.json();
    assert_eq!((outcome["ok"].as_bool(), &outcome["result"]), (Some(true), &result));
    assert_eq!(document.stderr, "");
    assert_eq!(outcome["meta"]["requests"], 1);
    let seen = stage.standin.requests();
    assert_eq!(seen[0].path, "/repos/pinhole-demo/lantern");
    assert_eq!(seen[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(
        (seen[0].header("host"), seen[0].sni.as_deref()),
        (Some("api.github.com"), Some("api.github.com"))
    );
}

#[test]
fn a_one_shot_grant_runs_once() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = home.mint(&["--uses", "1"]);
    run(&home, &stage, &grant, &READ).expect(0);
    run_json(&home, &stage, &grant, &READ).expect(3).refusal("grant_used_up");
    let people = run(&home, &stage, &grant, &READ).expect(3);
    assert_eq!(people.stdout, "");
    assert!(people.stderr.contains("refused (grant_used_up)") && people.stderr.contains("nothing was sent"));
    assert_eq!(stage.requests(), 1);
}

#[test]
fn a_write_under_a_read_grant_reaches_nothing() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = home.mint(&[]);
    let refusal = run_json(&home, &stage, &grant, &WRITE).expect(3).refusal("read_only_grant");
    assert_eq!(refusal["sent"], "no");
    assert_eq!(stage.connections(), 0);
}

#[test]
fn an_approval_runs_its_write_once_and_no_other() {
    let (home, stage) = (Home::guarded(), Stage::new());
    let grant = home.mint(&["--approve", "github.create_issue", WRITE_ARGS]);
    let mut other = WRITE;
    other[6] = "title=Something else";
    run_json(&home, &stage, &grant, &other).expect(3).refusal("approval_mismatch");
    run_json(&home, &stage, &grant, &[&WRITE[..], &["--arg", "body=more"]].concat())
        .expect(3)
        .refusal("approval_mismatch");
    run_json(&home, &stage, &grant, &READ).expect(3).refusal("op_out_of_scope");
    assert_eq!(stage.connections(), 0);
    let done = run_json(&home, &stage, &grant, &WRITE).expect(0).json();
    assert_eq!(done["result"]["title"], "The lamp flickers");
    assert_eq!(done["meta"]["requests"], 2, "the repository is looked at first");
    run_json(&home, &stage, &grant, &WRITE).expect(3).refusal("grant_used_up");
    assert_eq!(stage.requests(), 2);
}

#[test]
fn a_write_grant_stops_where_only_an_approval_goes_on() {
    let (home, stage) = (Home::guarded(), Stage::new());
    let grant = home.mint(&["--access", "write", "--where", "owner=pinhole-demo", "--uses", "2"]);
    let comment = [
        "github.comment_issue",
        "--args",
        r#"{"owner":"pinhole-demo","repo":"lantern","issue_number":2,"body":"x"}"#,
    ];
    run_json(&home, &stage, &grant, &comment).expect(3).refusal("approval_required");
    let mut elsewhere = WRITE;
    elsewhere[2] = "owner=other";
    run_json(&home, &stage, &grant, &elsewhere).expect(3).refusal("args_out_of_scope");
    // An op that has no such arg is not covered either.
    run_json(&home, &stage, &grant, &["github.get_viewer"]).expect(3).refusal("args_out_of_scope");
    assert_eq!(stage.connections(), 0);
    run_json(&home, &stage, &grant, &WRITE).expect(0);
}

#[test]
fn scopes_hold() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = home.mint(&["--op", "list_issues"]);
    run_json(&home, &stage, &grant, &READ).expect(3).refusal("op_out_of_scope");
    run_json(&home, &stage, &grant, &["github.nope"]).expect(3).refusal("unknown_op");
    run_json(&home, &stage, &grant, &["nope.nope"]).expect(3).refusal("unknown_service");
    assert_eq!(stage.connections(), 0);
}

#[test]
fn a_revoked_grant_runs_no_more() {
    let (home, stage) = (Home::new(), Stage::new());
    let by_file = home.mint(&[]);
    home.run(&["grant", "revoke", &by_file]).expect(0);
    run_json(&home, &stage, &by_file, &READ).expect(3).refusal("grant_revoked");
    let by_id = home.mint(&[]);
    let id = home.run(&["grant", "inspect", &by_id, "--json"]).json()["id"].as_str().unwrap().to_owned();
    run_json(&home, &stage, &by_id, &READ).expect(0);
    home.run(&["grant", "revoke", &id]).expect(0);
    home.run(&["grant", "revoke", &id]).expect(0);
    run_json(&home, &stage, &by_id, &READ).expect(3).refusal("grant_revoked");
    assert_eq!(stage.requests(), 1);
}

#[test]
fn a_grant_is_expired_by_the_latest_time_that_was_seen() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = home.mint(&["--ttl", "2m"]);
    let shown = home.run(&["grant", "inspect", &grant, "--json"]).json();
    let end = shown["expires_at"].as_i64().unwrap();
    let store = SqliteStore::open_home(&home.path("")).unwrap();
    store.high_water(UnixTime::from_secs(end)).unwrap();
    run_json(&home, &stage, &grant, &READ).expect(3).refusal("grant_expired");
    assert_eq!(stage.connections(), 0);
}

#[test]
fn a_grant_for_the_real_host_is_never_dialled_elsewhere() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = home.mint_for(&home.bot(), &[]);
    run_json(&home, &stage, &grant, &READ).expect(3).refusal("dial_mismatch");
    assert_eq!(stage.connections(), 0);
}

#[test]
fn a_grant_that_is_not_this_bot_s_or_not_believed_is_invalid() {
    let (home, other, stage) = (Home::new(), Home::new(), Stage::new());
    let grant = home.mint(&[]);
    run_json(&other, &stage, &grant, &READ).expect(4).refusal("wrong_bot");
    let text = std::fs::read_to_string(&grant).unwrap();
    let mut envelope: serde_json::Value = serde_json::from_str(&text).unwrap();
    // Addressed to the other bot, it still does not open there.
    let own = other.mint(&[]);
    let own: serde_json::Value = serde_json::from_slice(&std::fs::read(own).unwrap()).unwrap();
    envelope["to"] = own["to"].clone();
    let readdressed = other.write("readdressed.json", envelope.to_string());
    run_json(&other, &stage, &readdressed, &READ).expect(4).refusal("grant_unopenable");
    for (rubbish, code) in
        [("", "grant_malformed"), ("{}", "grant_malformed"), (text.get(..200).unwrap(), "grant_malformed")]
    {
        let file = home.write("rubbish.json", rubbish);
        run_json(&home, &stage, &file, &READ).expect(4).refusal(code);
    }
    let unknown = other.mint_for(&home.bot(), &["--stand-in"]);
    run_json(&home, &stage, &unknown, &READ).expect(4).refusal("unknown_issuer");
    assert_eq!(stage.connections(), 0);
    let member = other.public("member");
    run_json(&home, &stage, &unknown, &[&READ[..], &["--issuer", &member]].concat()).expect(0);
    // A bot's key is no member's.
    let bot = other.bot();
    run_json(&home, &stage, &unknown, &[&READ[..], &["--issuer", &bot]].concat()).expect(4);
    run(&home, &stage, "absent.json", &READ).expect(2);
}

#[test]
fn a_grant_on_stdin_is_a_grant() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = std::fs::read(home.mint(&[])).unwrap();
    let args = stage.args(&home, &[&["run"], &READ[..], &["--grant", "-", "--json"]].concat());
    home.run_with(&args.words(), &grant).expect(0);
    let twice = stage.args(&home, &["run", "github.get_repo", "--grant", "-", "--args", "-"]);
    let ran = home.run_with(&twice.words(), &grant).expect(2);
    assert!(ran.stderr.contains("stdin is read once"), "{}", ran.stderr);
}

#[test]
fn what_the_service_refuses_is_a_failure() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = home.mint(&[]);
    let mut absent = READ;
    absent[4] = "repo=no-such";
    let refusal = run_json(&home, &stage, &grant, &absent).expect(1).refusal("upstream_not_found");
    assert_eq!((refusal["sent"].as_str(), refusal["untrusted"].as_str()), (Some("yes"), Some("Not Found")));
    let people = run(&home, &stage, &grant, &absent).expect(1);
    assert!(people.stderr.contains("the service said: “Not Found”"), "{}", people.stderr);
    for (code, refused) in
        [(401, "upstream_unauthorized"), (503, "upstream_error"), (429, "upstream_rate_limited")]
    {
        // In an hour: what would be over sooner is waited for.
        let retry_after = Some("3600".to_owned());
        stage.standin.misbehave(When::Next(1), Misbehaviour::Status { code, retry_after });
        run_json(&home, &stage, &grant, &READ).expect(1).refusal(refused);
    }
}

#[test]
fn what_came_back_wrong_was_sent() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = home.mint(&[]);
    let location = format!("https://{}/user", stage.standin.addr());
    for (how, code) in [
        (Misbehaviour::Redirect { status: 302, location }, "redirected"),
        (Misbehaviour::Html(200), "not_json"),
        (Misbehaviour::TruncatedJson, "not_json"),
        (Misbehaviour::EndlessBody, "response_too_large"),
    ] {
        stage.standin.misbehave(When::Next(1), how);
        let refusal = run_json(&home, &stage, &grant, &READ).expect(5).refusal(code);
        assert_eq!(refusal["sent"], "yes");
    }
    assert_eq!(stage.requests(), 4, "something was asked twice");
}

#[test]
fn who_does_not_prove_to_be_the_host_gets_nothing() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = home.mint(&[]);
    let mut args = stage
        .args(&home, &[&["run"], &READ[..], &["--grant", &grant, "--json"]].concat())
        .words()
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    *args.last_mut().unwrap() = other_ca(&home);
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let refusal = home.run(&words).expect(3).refusal("tls_failed");
    assert_eq!(refusal["sent"], "no");
    // Without a CA of its own the public roots decide.
    home.run(&words[..words.len() - 2]).expect(3).refusal("tls_failed");
    assert_eq!(stage.requests(), 0);
}

#[test]
fn dialling_flags_are_checked() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = home.mint(&[]);
    for resolve in [
        "",
        "api.github.com",
        "api.github.com:443:127.0.0.1",
        "api.github.com:80:127.0.0.1:1",
        "*:443:127.0.0.1:1",
        "127.0.0.1:443:127.0.0.1:1",
        "api.github.com:443:localhost:1",
        "api.github.com:443:127.0.0.1:0",
        "api.github.com:443:127.0.0.1:99999",
        "https://api.github.com:443:127.0.0.1:1",
    ] {
        let args = [&["run"], &READ[..], &["--grant", &grant, "--resolve", resolve]].concat();
        home.run(&args).expect(2);
    }
    let no_pem = home.write("no.pem", "not a certificate");
    run(&home, &stage, &grant, &[&READ[..], &["--ca-cert", &no_pem]].concat()).expect(2);
    let args = [&["run"], &READ[..], &["--grant", &grant, "--ca-cert", "absent.pem"]].concat();
    home.run(&args).expect(2);
}

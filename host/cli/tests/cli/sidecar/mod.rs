//! `pinhole sidecar`: the binary itself, at a socket file and over TCP, by its client and by hand.

mod ending;
mod faults;
mod hostile;
mod killed;
mod log;
mod postgres;
mod proposals;
mod queue;
mod research;
mod rotated;
mod served;
mod stolen;

use pinhole_client::{Access, Call, Client, Dialect, Outcome, Sent, ToolsWanted};
use serde_json::{Value, json};

use crate::home::{Home, KEY};
use crate::stage::Stage;
use served::{READ_ARGS, Served, block_on, read, text};

#[test]
fn a_posted_call_runs_at_the_socket_and_over_tcp() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = text(&home.mint(&[]));
    let at_file = Served::new(&home, &stage, &[]);
    let over_tcp = Served::new(&home, &stage, &["--listen", "127.0.0.1:0"]);
    let token = home.token("bot", &[]);
    for client in [at_file.client(), over_tcp.client_with(&token)] {
        let call = Call::new("github", "get_repo", &grant).with_args(READ_ARGS);
        for _ in 0..3 {
            let Outcome::Done(done) = block_on(client.run(&call)).unwrap() else { panic!("it was refused") };
            let result: Value = serde_json::from_str(done.result.get()).unwrap();
            assert_eq!(result["full_name"], "pinhole-demo/lantern");
            assert_eq!((done.meta.status, done.meta.requests), (Some(200), 1));
        }
        assert!(block_on(client.is_well()).unwrap());
        let explained = block_on(client.explain(&call)).unwrap().unwrap();
        assert_eq!(explained.would, "run");
        assert_eq!(
            explained.explanation["request"]["url"],
            "https://api.github.com/repos/pinhole-demo/lantern"
        );
    }
    assert_eq!(stage.requests(), 6);
    for served in [at_file, over_tcp] {
        served.get("/openapi.json").is(200);
    }
}

#[test]
fn a_grant_is_posted_as_it_is_or_in_base64() {
    use base64::Engine as _;
    let (home, stage) = (Home::new(), Stage::new());
    let grant = text(&home.mint(&[]));
    let served = Served::new(&home, &stage, &[]);
    let encoded = base64::engine::general_purpose::STANDARD.encode(grant.trim_end());
    let body = json!({"service": "github", "op": "get_repo", "args": read(), "grant": encoded});
    let outcome = served.post("/v1/run", &body.to_string()).is(200);
    assert_eq!(outcome["result"]["full_name"], "pinhole-demo/lantern");
}

#[test]
fn every_page_is_asked_for_with_the_next_of_the_one_before() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = text(&home.mint(&["--uses", "1"]));
    let served = Served::new(&home, &stage, &[]);
    let args = r#"{"org":"pinhole-demo","per_page":1}"#;
    let first = Call::new("github", "list_org_repos", &grant).with_args(args);
    let (mut call, mut pages) = (first.clone(), 0);
    loop {
        let Outcome::Done(done) = block_on(served.client().run(&call)).unwrap() else {
            panic!("it was refused")
        };
        pages += 1;
        match done.next {
            Some(next) => call = first.clone().with_next(next),
            None => break,
        }
    }
    assert_eq!((pages, stage.requests()), (3, 3));
}

#[test]
fn a_one_shot_grant_posted_twenty_times_at_once_runs_once() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = text(&home.mint(&["--uses", "1"]));
    let [one, other] = [(); 2].map(|()| Served::at(&home, &stage, &served::own_socket(&home)));
    let codes: Vec<String> = std::thread::scope(|scope| {
        let post = |at: usize| {
            let client = if at.is_multiple_of(2) { one.client() } else { other.client() };
            let call = Call::new("github", "get_repo", &grant).with_args(READ_ARGS);
            scope.spawn(move || match block_on(client.run(&call)).unwrap() {
                Outcome::Done(_) => "done".to_owned(),
                Outcome::Refused(refusal) => refusal.code,
            })
        };
        let all: Vec<_> = (0..20).map(post).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(codes.iter().filter(|code| *code == "done").count(), 1, "{codes:?}");
    assert_eq!(codes.iter().filter(|code| *code == "grant_used_up").count(), 19, "{codes:?}");
    assert_eq!(stage.requests(), 1);
}

#[test]
fn nobody_is_believed_who_was_not_named() {
    let home = Home::new();
    let ran = home.run(&["sidecar"]).expect(2);
    assert!(ran.stderr.contains("--issuer KEY"), "{}", ran.stderr);
    home.write("config.toml", "[sidecar]\nissuers = [\"pin1nonsense\"]\n");
    home.run(&["sidecar"]).expect(2);
    home.write("config.toml", "[sidecar]\nissuers = 7\nissuer = []\n");
    let faults = home.run(&["sidecar"]).expect(2).stderr;
    assert!(faults.contains("`sidecar.issuers`") && faults.contains("no setting `issuer`"), "{faults}");
    // Who stands in the settings is.
    let stage = Stage::new();
    home.write("config.toml", format!("[sidecar]\nissuers = [\"{}\"]\n", home.public("member")));
    let served = Served::bare(&home, &stage, &[]);
    let call = Call::new("github", "get_repo", text(&home.mint(&[]))).with_args(READ_ARGS);
    assert!(matches!(block_on(served.client().run(&call)).unwrap(), Outcome::Done(_)));
}

/// The grants come later, and with them the brokers that renew.
#[test]
fn a_host_of_no_service_is_dialled_elsewhere_only_beside_a_service() {
    let (home, stage) = (Home::new(), Stage::new());
    let member = home.public("member");
    let broker = ["--resolve", "broker.example.com:443:127.0.0.1:1"];
    let alone = home.run(&[&["sidecar", "--issuer", &member][..], &broker].concat()).expect(2);
    assert!(alone.stderr.contains("no service here has the host"), "{}", alone.stderr);
    let served = Served::new(&home, &stage, &broker);
    let said = served.logged();
    assert!(said.contains("`broker.example.com`") && !said.contains("api.github.com"), "{said}");
}

#[test]
fn a_token_narrows_what_shows_and_what_runs() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = text(&home.mint(&[]));
    let served = Served::new(&home, &stage, &["--listen", "127.0.0.1:0"]);
    let (reader, other) = (home.token("reader", &[]), home.token("other", &["--service", "stripe"]));
    let names = |client: &Client| -> Vec<String> {
        let listed = block_on(client.services()).unwrap().unwrap();
        listed.services.iter().map(|one| one["service"].as_str().unwrap().to_owned()).collect()
    };
    let (reader, other) = (served.client_with(&reader), served.client_with(&other));
    assert!(names(&reader).len() > 5 && names(&other) == ["stripe"]);
    let listed = block_on(reader.services()).unwrap().unwrap();
    let all_read =
        |service: &Value| service["ops"].as_array().unwrap().iter().all(|op| op["access"] == "read");
    assert!(listed.services.iter().all(all_read));
    assert_eq!(listed.bot, home.bot());

    let call = Call::new("github", "get_repo", &grant).with_args(READ_ARGS);
    assert_eq!(refused(&other, &call), "unknown_service");
    let write = Call::new("github", "create_issue", &grant).with_args(crate::stage::WRITE_ARGS);
    assert_eq!(refused(&reader, &write), "unknown_op");
    assert_eq!(stage.requests(), 0);
    assert!(matches!(block_on(reader.run(&call)).unwrap(), Outcome::Done(_)));
    let tools = ToolsWanted { access: Access::Write, ..ToolsWanted::default() };
    assert!(block_on(reader.tools(&tools)).unwrap().unwrap().tools.is_empty());
}

#[test]
fn what_a_token_does_not_show_cannot_be_told_from_what_is_not_there_and_leaves_a_receipt() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = text(&home.mint(&[]));
    let served = Served::new(&home, &stage, &["--listen", "127.0.0.1:0"]);
    let (reader, other) = (home.token("reader", &[]), home.token("other", &["--service", "stripe"]));
    let ask = |path: &str, token: &str, op: &str, grant: &str| {
        let head = format!(
            "POST {path} HTTP/1.1\r\ncontent-type: application/json\r\nauthorization: Bearer {token}"
        );
        let said = served.ask(&head, &served::call(op, &json!({}), grant));
        let mut document = said.is(said.status);
        assert_eq!(
            (document["ok"].take(), document["op"].take()),
            (json!(false), json!(op.split('.').nth(1)))
        );
        for one in ["ms", "receipt"] {
            document["meta"].as_object_mut().unwrap().remove(one);
        }
        document["service"].take();
        document
    };
    let cases = [
        (&reader, "github.create_issue", "github.no_such_op", "unknown_op"),
        (&other, "github.get_repo", "nowhere.get_repo", "unknown_service"),
        (&other, "github.create_issue", "github.no_such_op", "unknown_service"),
    ];
    for (token, hidden, absent, code) in cases {
        for path in ["/v1/run", "/v1/explain"] {
            let said = ask(path, token, hidden, &grant);
            assert_eq!(said["refusal"]["code"], code);
            let words = said["refusal"]["message"].as_str().unwrap();
            assert!(words.ends_with("or your token does not show it"), "{words}");
            assert_eq!(said, ask(path, token, absent, &grant));
            let nothing = ask(path, token, hidden, "{}");
            assert_eq!(nothing["refusal"]["code"], "grant_malformed");
            assert_eq!(nothing, ask(path, token, absent, "{}"));
        }
    }
    assert_eq!(stage.requests(), 0);
    let listed =
        home.run(&["receipts", "list", "--service", "github", "--op", "create_issue", "--json"]).json();
    let runs: Vec<&Value> = listed.as_array().unwrap().iter().map(|receipt| &receipt["run"]).collect();
    let codes: Vec<&str> = runs.iter().map(|run| run["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["grant_malformed", "unknown_service", "grant_malformed", "unknown_op"]);
    let said = |run: &Value| (run["member"].is_string(), run["principal"].is_string(), run["sent"] == "no");
    assert_eq!(
        runs.iter().map(|run| said(run)).collect::<Vec<_>>(),
        [(false, true, true), (true, true, true), (false, true, true), (true, true, true)]
    );
}

fn refused(client: &Client, call: &Call) -> String {
    match block_on(client.run(call)).unwrap() {
        Outcome::Refused(refusal) => {
            assert_eq!(refusal.sent, Sent::No);
            refusal.code
        }
        Outcome::Done(_) => panic!("it ran"),
    }
}

#[test]
fn reads_and_writes_are_lists_of_their_own_in_each_dialect() {
    let (home, stage) = (Home::new(), Stage::new());
    let served = Served::new(&home, &stage, &[]);
    let client = served.client();
    let wanted = |access, dialect| {
        let wanted = ToolsWanted { services: vec!["github".to_owned()], access, dialect };
        block_on(client.tools(&wanted)).unwrap().unwrap()
    };
    let (reads, writes) = (wanted(Access::Read, Dialect::Messages), wanted(Access::Write, Dialect::Messages));
    let names = |tools: &[Value]| -> Vec<String> {
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let (read, write) = (names(&reads.tools), names(&writes.tools));
    assert!(
        read.contains(&"github_get_repo".to_owned()) && write.contains(&"github_create_issue".to_owned())
    );
    assert!(read.iter().all(|name| !write.contains(name)));
    assert_eq!(reads.calls["github_get_repo"], json!({"service": "github", "op": "get_repo"}));
    assert_eq!(reads.calls["github_list_org_repos"]["next"], "next");
    assert_eq!(reads.tools[0]["input_schema"]["type"], "object");
    let functions = wanted(Access::Read, Dialect::Functions).tools;
    assert_eq!(
        (&functions[0]["type"], &functions[0]["function"]["parameters"]["type"]),
        (&json!("function"), &json!("object"))
    );
    assert_eq!(wanted(Access::Read, Dialect::Mcp).tools[0]["inputSchema"]["type"], "object");
    for bad in ["access=all", "dialect=x", "service=..", "access=read&access=write", "acess=read"] {
        served.get(&format!("/v1/tools?{bad}")).refused(400, "malformed_request");
    }
}

#[test]
fn a_sidecar_that_only_reads_shows_no_write_and_runs_none() {
    let (home, stage) = (Home::new(), Stage::new());
    let served = Served::new(&home, &stage, &["--read-only"]);
    let call = Call::new("github", "create_issue", text(&home.mint(&[]))).with_args(crate::stage::WRITE_ARGS);
    assert_eq!(refused(&served.client(), &call), "unknown_op");
    let tools = served.get("/v1/tools?access=write").is(200);
    assert_eq!(tools["tools"], json!([]));
}

#[test]
fn nothing_that_is_answered_or_logged_has_the_key() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = text(&home.mint(&[]));
    let served = Served::new(&home, &stage, &["--log", "trace"]);
    let body = served::call("github.get_repo", &read(), &grant);
    let mut said = String::new();
    for answer in [served.post("/v1/run", &body), served.post("/v1/explain", &body), served.get("/metrics")] {
        assert_eq!(answer.status, 200);
        said.push_str(&answer.body);
    }
    said.push_str(&served.stop().1);
    assert!(!said.contains(KEY));
}

#[test]
fn a_caller_sees_the_receipts_of_his_own_calls() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = text(&home.mint(&[]));
    let served = Served::new(&home, &stage, &["--listen", "127.0.0.1:0"]);
    let [one, other] = ["one", "other"].map(|name| served.client_with(&home.token(name, &[])));
    let call = Call::new("github", "get_repo", &grant).with_args(READ_ARGS);
    let Outcome::Done(done) = block_on(one.run(&call)).unwrap() else { panic!("it was refused") };
    let nothing = Call::new("github", "nothing", &grant);
    assert_eq!(refused(&one, &nothing), "unknown_op");
    let receipts = block_on(one.receipts()).unwrap().unwrap().receipts;
    let codes: Vec<&str> = receipts.iter().map(|receipt| receipt["run"]["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["unknown_op", "ok"]);
    assert_eq!(receipts[1]["id"], done.meta.receipt.unwrap());
    assert_eq!(block_on(other.receipts()).unwrap().unwrap().receipts, Vec::<Value>::new());
    let at_file = Served::new(&home, &stage, &[]);
    assert_eq!(at_file.get("/v1/receipts").is(200)["receipts"], json!([]));
    at_file.post("/v1/run", &served::call("github.get_repo", &read(), &grant)).is(200);
    let own = |query: &str| {
        at_file.get(&format!("/v1/receipts{query}")).is(200)["receipts"].as_array().unwrap().len()
    };
    assert_eq!((own(""), own("?code=ok&service=github"), own("?op=list_issues")), (1, 1, 0));
    at_file.get("/v1/receipts?principal=x").refused(400, "malformed_request");
}

#[test]
fn a_write_that_is_proposed_has_a_receipt_that_says_so() {
    let (home, stage) = (Home::guarded(), Stage::new());
    home.connect_for_writes(&stage);
    let served = Served::new(&home, &stage, &[]);
    let [flag, passphrase] = home.passphrase();
    let bot = home.bot();
    let mint = ["grant", "mint", "github", "--to", &bot, "--connection", "default", &flag, &passphrase];
    let grant = home.run(&mint).expect(0).stdout;
    let args: Value = crate::stage::WRITE_ARGS.parse().unwrap();
    served
        .post("/v1/run", &served::call("github.create_issue", &args, &grant))
        .refused(403, "approval_required");
    let receipts = served.get("/v1/receipts").is(200)["receipts"].clone();
    let run = &receipts[0]["run"];
    assert_eq!((&run["code"], &run["sent"]), (&json!("approval_required"), &json!("no")));
    assert_eq!(run["requests"].as_array().unwrap().len(), 1, "what was looked up: {run}");
}

#[test]
fn the_description_is_one_that_a_manifest_can_be_drafted_from() {
    let (home, stage) = (Home::new(), Stage::new());
    let served = Served::new(&home, &stage, &[]);
    let file = home.write("openapi.json", served.get("/openapi.json").body);
    let draft =
        ["manifest", "draft", &file, "--all", "--id", "sidecar", "--host", "api.example.com", "--json"];
    let drafted = home.run(&draft).json();
    let ops = drafted["manifest"]["ops"].as_object();
    let names: Vec<&String> = ops.unwrap_or_else(|| panic!("{drafted}")).keys().collect();
    assert!(names.iter().any(|name| *name == "run") && names.len() >= 3, "{names:?}");
}

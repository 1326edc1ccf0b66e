//! Writes without a yes come back as proposals, and what the member makes of them: at another home than the bot's.

use serde_json::{Value, json};

use super::served::{Answer, Served, call};
use crate::home::{Home, KEY, PASSPHRASE, Ran};
use crate::stage::{Stage, WRITE_ARGS};

/// A member with a connection that may write, and a bot elsewhere that believes her.
struct Two {
    hers: Home,
    bots: Home,
    stage: Stage,
    served: Served,
}

impl Two {
    fn new() -> Self {
        let (hers, bots, stage) = (Home::guarded(), Home::new(), Stage::new());
        hers.connect_for_writes(&stage);
        let served = Served::bare(&bots, &stage, &["--issuer", &hers.public("member")]);
        Self { hers, bots, stage, served }
    }

    /// A grant of hers for the bot.
    fn grant(&self, flags: &[&str]) -> String {
        self.mint(flags).expect(0).stdout
    }

    fn mint(&self, flags: &[&str]) -> Ran {
        let bot = self.bots.bot();
        let mint = ["grant", "mint", "github", "--to", &bot, "--passphrase-file", PASSPHRASE];
        self.hers.run(&[&mint[..], flags].concat())
    }

    fn post(&self, grant: &str) -> Answer {
        self.served.post("/v1/run", &call("github.create_issue", &args(), grant))
    }

    /// The outcome of a write that nobody has approved, and the file that it is in at hers.
    fn proposal(&self) -> (Value, String) {
        let answer = self.post(&self.grant(&["--connection", "default"]));
        answer.refused(403, "approval_required");
        (answer.is(403)["proposal"].clone(), self.hers.write("outcome.json", &answer.body))
    }

    fn inspect(&self, document: &Value) -> Ran {
        let file = self.hers.write("proposal.json", document.to_string());
        self.hers.run(&["propose", "inspect", &file])
    }

    fn written(&self) -> usize {
        self.stage.standin.requests().iter().filter(|seen| seen.method == "POST").count()
    }
}

fn args() -> Value {
    WRITE_ARGS.parse().unwrap()
}

#[test]
fn a_write_is_proposed_shown_from_her_manifest_approved_and_run_once() {
    let two = Two::new();
    let (proposal, outcome) = two.proposal();
    assert_eq!(proposal["bot"], two.bots.bot());
    assert_eq!((&proposal["op"], &proposal["args"]), (&json!("create_issue"), &args()));
    assert_eq!(proposal["confirm"], "Open issue “The lamp flickers” in pinhole-demo/lantern?");
    for file in [&outcome, &two.hers.write("bare.json", proposal.to_string())] {
        let shown = two.hers.run(&["propose", "inspect", file]).expect(0).hides(KEY);
        for line in [
            "Open issue “The lamp flickers” in pinhole-demo/lantern?",
            "  title = \"The lamp flickers\"",
            "  request: POST https://api.github.com/repos/pinhole-demo/lantern/issues",
            "  effect: create",
            "  irreversible: no",
        ] {
            assert!(shown.stdout.lines().any(|said| said == line), "{line}: {}", shown.stdout);
        }
        assert!(!shown.stdout.contains("DIFFERS"));
    }
    assert_eq!(two.written(), 0);
    let minted = two.mint(&["--approve-proposal", &outcome]).expect(0).hides(KEY);
    assert!(minted.stderr.contains("Open issue “The lamp flickers”"), "{}", minted.stderr);
    assert_eq!(two.post(&minted.stdout).is(200)["result"]["title"], "The lamp flickers");
    two.post(&minted.stdout).refused(403, "grant_used_up");
    assert_eq!(two.written(), 1);
    // What she approved is that write and no other.
    let other = call(
        "github.create_issue",
        &json!({"owner": "pinhole-demo", "repo": "lantern", "title": "x"}),
        &minted.stdout,
    );
    two.served.post("/v1/run", &other).refused(403, "approval_mismatch");
}

#[test]
fn what_would_be_proposed_is_explained_and_nothing_is_looked_up() {
    let two = Two::new();
    let grant = two.grant(&["--connection", "default"]);
    let (proposal, _outcome) = two.proposal();
    let before = two.stage.requests();
    let explained = two.served.post("/v1/explain", &call("github.create_issue", &args(), &grant)).is(200);
    assert_eq!(explained["would"], "propose");
    let explanation = &explained["explanation"];
    for name in ["confirm", "args"] {
        assert_eq!(explanation[name], proposal[name]);
    }
    let request = &explanation["request"];
    assert_eq!(
        (&request["method"], &request["url"], &request["body"]["title"]),
        (
            &json!("POST"),
            &json!("https://api.github.com/repos/pinhole-demo/lantern/issues"),
            &json!("The lamp flickers")
        )
    );
    assert!(explanation["rule"].as_str().unwrap().contains("a proposal for the member"), "{explanation}");
    assert_eq!(two.stage.requests(), before);
    // What a run would refuse is refused here.
    let wrong = call("github.create_issue", &json!({"owner": "pinhole-demo"}), &grant);
    two.served.post("/v1/explain", &wrong).refused(403, "invalid_args");
    let approved = two.grant(&["--approve-proposal", &two.hers.write("p.json", proposal.to_string())]);
    let explained = two.served.post("/v1/explain", &call("github.create_issue", &args(), &approved)).is(200);
    assert_eq!(explained["would"], "run");
}

#[test]
fn wherever_the_bot_lies_it_is_said_and_nothing_is_approved() {
    let two = Two::new();
    let (honest, _outcome) = two.proposal();
    let digest = honest["manifest"].as_str().unwrap();
    let other_digest = digest
        .replace(digest.get(10..12).unwrap(), if digest.get(10..12) == Some("00") { "11" } else { "00" });
    let lies = [
        ("confirm", json!("Open issue “harmless” in pinhole-demo/lantern?"), "the question"),
        ("account", json!("somebody-else"), "the account"),
        ("manifest", json!(other_digest), "the manifest"),
        ("action", honest["manifest"].clone(), "the digest of the action"),
        (
            "found",
            json!([{"op": "get_repo", "args": {}, "path": "$.archived", "value": false}]),
            "what was looked up",
        ),
        ("found", json!("nothing"), "what was looked up"),
    ];
    for (name, lie, about) in lies {
        let mut proposal = honest.clone();
        proposal[name] = lie;
        let shown = two.inspect(&proposal).expect(1);
        let differs: Vec<&str> = shown.stdout.lines().filter(|line| line.starts_with("DIFFERS: ")).collect();
        assert_eq!(differs.len(), 1, "{name}: {}", shown.stdout);
        assert!(differs[0].starts_with(&format!("DIFFERS: {about}: ")), "{differs:?}");
        // What is shown as so is hers all the same.
        assert!(shown.stdout.starts_with("Open issue “The lamp flickers” in pinhole-demo/lantern?\n"));
        let minted = two.mint(&["--approve-proposal", "proposal.json"]).expect(1);
        assert_eq!(minted.stdout, "", "{name}");
    }
    // Other args are another write: all of them are shown, and the digest gives them away.
    let mut proposal = honest.clone();
    proposal["args"]["title"] = json!("\u{202e}evil");
    let shown = two.inspect(&proposal).expect(1);
    assert!(shown.stdout.contains("title = \"\\u{202e}evil\"") && !shown.stdout.contains('\u{202e}'));
    assert!(shown.stdout.contains("DIFFERS: the question: ") && shown.stdout.contains("DIFFERS: the digest"));
}

#[test]
fn what_is_no_proposal_of_hers_is_refused() {
    let two = Two::new();
    let (honest, _outcome) = two.proposal();
    let with = |name: &str, value: Value| {
        let mut proposal = honest.clone();
        proposal[name] = value;
        proposal
    };
    two.inspect(&with("op", json!("no_such"))).expect(4);
    two.inspect(&with("op", json!("get_repo"))).expect(4);
    two.inspect(&with("service", json!("stripe"))).expect(4);
    two.inspect(&with("args", json!({"owner": "x"}))).expect(4);
    two.inspect(&with("more", json!(1))).expect(4);
    two.inspect(&with("connection", json!("AAAAAAAAAAAAAAAAAAAAAA"))).expect(3);
    two.inspect(&json!([])).expect(4);
    let twice =
        two.hers.write("twice.json", honest.to_string().replacen('{', "{\"op\":\"create_issue\",", 1));
    two.hers.run(&["propose", "inspect", &twice]).expect(4);
    // Of another bot than she means.
    two.hers.write("proposal.json", with("bot", json!(two.hers.bot())).to_string());
    let ran = two.mint(&["--approve-proposal", "proposal.json"]).expect(3);
    assert!(ran.stderr.contains("another bot"), "{}", ran.stderr);
    assert_eq!(two.written(), 0);
}

#[test]
fn a_connection_that_only_reads_proposes_nothing_and_a_used_up_grant_looks_nothing_up() {
    let (hers, bots, stage) = (Home::guarded(), Home::new(), Stage::new());
    let [flag, passphrase] = hers.passphrase();
    hers.connect(&stage, &["--cap", "read", &flag, &passphrase]).expect(0);
    let served = Served::bare(&bots, &stage, &["--issuer", &hers.public("member")]);
    let bot = bots.bot();
    let mint =
        ["grant", "mint", "github", "--to", &bot, "--connection", "default", "--passphrase-file", PASSPHRASE];
    let body = |flags: &[&str], op: &str, args: &Value| {
        call(op, args, &hers.run(&[&mint[..], flags].concat()).expect(0).stdout)
    };
    let refusal = served.post("/v1/run", &body(&[], "github.create_issue", &args()));
    refusal.refused(403, "read_only_connection");
    hers.run(&[&mint[..], &["--access", "write"]].concat()).expect(3);
    drop(served);

    let two = Two::new();
    let grant = two.grant(&["--connection", "default", "--uses", "1"]);
    let read = call("github.get_repo", &super::served::read(), &grant);
    two.served.post("/v1/run", &read).is(200);
    let before = two.stage.requests();
    two.post(&grant).refused(403, "grant_used_up");
    assert_eq!(two.stage.requests(), before);
}

#[test]
fn a_write_under_a_key_is_carried_out_once_whatever_it_is_posted_with() {
    let two = Two::new();
    let reads = two.grant(&["--connection", "default"]);
    let with_key = |grant: &str, key: &str, title: &str| {
        let mut args = args();
        args["title"] = json!(title);
        let body = call("github.create_issue", &args, grant);
        two.served.post("/v1/run", &body.replacen('{', &format!("{{\"key\":\"{key}\","), 1))
    };
    let answer = with_key(&reads, "k1", "The lamp flickers");
    answer.refused(403, "approval_required");
    let approval =
        two.mint(&["--approve-proposal", &two.hers.write("outcome.json", &answer.body)]).expect(0).stdout;
    let first = with_key(&approval, "k1", "The lamp flickers").is(200);
    for grant in [&approval, &reads] {
        let again = with_key(grant, "k1", "The lamp flickers").is(200);
        assert_eq!((&again["result"], &again["meta"]["replayed"]), (&first["result"], &json!(true)));
    }
    with_key(&reads, "k1", "Another lamp").refused(403, "key_conflict");
    with_key(&reads, "k2", "The lamp flickers").refused(403, "approval_required");
    assert_eq!(two.written(), 1);
}

//! Questions under a manifest from a file: what its yes cannot take back is said, and a question outlives no change of it.

use pinhole_standin::{Config, Reply, Route, World};
use serde_json::{Value, json};

use crate::home::{Home, KEY, PASSPHRASE, Ran};
use crate::stage::Stage;

/// A service whose one write spends, and cannot be taken back.
fn bank() -> Value {
    json!({
        "pinhole": 1, "id": "bank", "version": "1.0.0", "name": "Bank", "summary": "Money.", "host": "api.bank.dev",
        "auth": {"scheme": "bearer", "viewer": "get_me", "account": "$.login"},
        "ops": {
            "get_me": {
                "access": "read", "summary": "Whose key it is.",
                "request": {"method": "GET", "path": "/me"}, "pick": {"fields": ["login"]}
            },
            "pay": {
                "access": "write", "summary": "Pay.", "confirm": "Pay {amount} to {to}?", "effect": "spend",
                "irreversible": true,
                "args": {
                    "type": "object", "additionalProperties": false, "required": ["amount", "to"],
                    "properties": {
                        "amount": {"type": "integer", "description": "How much."},
                        "to": {"type": "string", "description": "To whom."}
                    }
                },
                "request": {"method": "POST", "path": "/payments", "json": {"amount": "{amount}", "to": "{to}"}},
                "pick": {"fields": ["id"]}
            }
        }
    })
}

/// A home that has connected the bank.
struct Branch {
    home: Home,
    stage: Stage,
}

impl Branch {
    fn new() -> Self {
        let made = Route::new("POST".parse().unwrap(), "/payments", Reply::json(201, &json!({"id": 7})));
        let routes = vec![Route::get("/me", Reply::json(200, &json!({"login": "wren"}))), made];
        let config = Config { host: "api.bank.dev".to_owned(), ..Config::new(World::Fixed(routes)) };
        let branch = Self { home: Home::guarded(), stage: Stage::with(config) };
        branch.manifest(&bank());
        let connect = ["connect", "bank", "--token-stdin", "--cap", "write", "--passphrase-file", PASSPHRASE];
        branch.run(&connect, KEY).expect(0);
        branch
    }

    /// The manifest in the file is now this one.
    fn manifest(&self, manifest: &Value) {
        self.home.write("bank.json", manifest.to_string());
    }

    /// A command that dials, with the manifest.
    fn run(&self, what: &[&str], stdin: &str) -> Ran {
        let dial = self.stage.dial_for("api.bank.dev", &self.home);
        let dial: Vec<&str> = dial.iter().map(String::as_str).collect();
        self.home.run_with(&[what, &LOCAL, &dial].concat(), stdin)
    }

    fn pay(&self) -> Ran {
        self.run(&["run", "bank.pay", "--arg", "amount=12", "--arg", "to=rook", "--json"], "")
    }

    fn ask(&self) -> String {
        let refusal = self.pay().expect(3).refusal("approval_required");
        refusal["question"].as_str().unwrap().to_owned()
    }

    fn approvals(&self, args: &[&str]) -> Ran {
        self.home.run(&[&["approvals"], args].concat())
    }

    fn paid(&self) -> usize {
        self.stage.standin.requests().iter().filter(|seen| seen.method == "POST").count()
    }
}

const LOCAL: [&str; 3] = ["--manifest", "bank.json", "--unsigned"];

#[test]
fn what_cannot_be_taken_back_is_said() {
    let branch = Branch::new();
    let question = branch.ask();
    let shown = branch.approvals(&[&["show", &question], &LOCAL[..]].concat()).expect(0);
    let lines: Vec<&str> = shown.stdout.lines().collect();
    assert_eq!(lines[0], "Pay 12 to rook?");
    for line in [
        "  amount = 12",
        r#"  to = "rook""#,
        "  request: POST https://api.bank.dev/payments",
        "  account: wren",
        "  effect: spend",
        "  irreversible: yes, it cannot be taken back",
        "  op: bank.pay of bank@1.0.0, unsigned: Pay.",
    ] {
        assert!(lines.contains(&line), "{line}\n{}", shown.stdout);
    }
    let yes = ["approve", &question, "--passphrase-file", PASSPHRASE];
    branch.approvals(&[&yes, &LOCAL[..]].concat()).expect(0);
    assert_eq!(branch.pay().expect(0).json()["result"], json!({"id": 7}));
    assert_ne!(branch.ask(), question);
    assert_eq!(branch.paid(), 1);
}

/// She is shown nothing, and asked for no yes, by another manifest than the bot asked under. No is always hers.
#[test]
fn a_question_whose_manifest_is_another_can_be_denied_alone() {
    let branch = Branch::new();
    let question = branch.ask();
    let answers = |with: &[&str], says: &str| {
        for command in [&["show", &question][..], &["approve", &question, "--passphrase-file", PASSPHRASE]] {
            let refused = branch.approvals(&[command, with].concat()).expect(3);
            assert!(refused.stderr.contains(says), "{}", refused.stderr);
            assert!(
                refused.stderr.contains(&format!("pinhole approvals deny {question}")),
                "{}",
                refused.stderr
            );
            assert_eq!(refused.stdout, "");
        }
    };
    answers(&[], "there is no op `bank.pay` here any more");
    let mut changed = bank();
    changed["ops"]["pay"]["request"]["path"] = json!("/payments/twice");
    branch.manifest(&changed);
    answers(&LOCAL, "the manifest of `bank` changed since this was asked");
    branch.pay().expect(3).refusal("manifest_changed");
    branch.approvals(&["deny", &question]).expect(0);
    branch.manifest(&bank());
    branch.pay().expect(3).refusal("approval_denied");
    assert_eq!(branch.paid(), 0);
}

#[test]
fn a_yes_does_not_outlive_its_manifest() {
    let branch = Branch::new();
    let question = branch.ask();
    branch
        .approvals(&[&["approve", &question, "--passphrase-file", PASSPHRASE], &LOCAL[..]].concat())
        .expect(0);
    let mut changed = bank();
    changed["ops"]["pay"]["request"]["path"] = json!("/payments/twice");
    branch.manifest(&changed);
    branch.pay().expect(3).refusal("manifest_changed");
    let renew = ["connections", "renew", "--passphrase-file", PASSPHRASE];
    branch.home.run(&[&renew, &LOCAL[..]].concat()).expect(0);
    assert_ne!(branch.ask(), question);
    assert_eq!(branch.paid(), 0);
}

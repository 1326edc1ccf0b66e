//! Args as people write them, and as attackers would: each is a plain value inside its own place, or refused.

use crate::home::{Home, Ran};
use crate::stage::Stage;

struct Caller {
    home: Home,
    stage: Stage,
    grant: String,
}

impl Caller {
    fn new() -> Self {
        let home = Home::new();
        let grant = home.mint(&[]);
        Self { home, stage: Stage::new(), grant }
    }

    fn run(&self, what: &[&str]) -> Ran {
        let args =
            self.stage.args(&self.home, &[&["run"], what, &["--grant", &self.grant, "--json"]].concat());
        self.home.run(&args.words())
    }

    /// The path and query of the one request that a call makes.
    fn target(&self, what: &[&str]) -> String {
        let before = self.stage.requests();
        let ran = self.run(what);
        let seen = self.stage.standin.requests();
        assert_eq!(seen.len(), before + 1, "{}{}", ran.stdout, ran.stderr);
        let last = seen.last().unwrap();
        format!("{}?{}", last.path, last.query)
    }
}

#[test]
fn an_arg_has_the_kind_that_the_op_declares() {
    let caller = Caller::new();
    let issues = ["github.list_issues", "--arg", "owner=pinhole-demo", "--arg", "repo=lantern"];
    let target = |more: &[&str]| caller.target(&[&issues[..], more].concat());
    let with = |query: &str| format!("/repos/pinhole-demo/lantern/issues?{query}");
    assert_eq!(target(&[]), with("per_page=30"));
    assert_eq!(target(&["--arg", "per_page=7"]), with("per_page=7"));
    assert_eq!(target(&["--arg", "labels=a", "--arg", "labels=b c"]), with("labels=a%2Cb%20c&per_page=30"));
    assert_eq!(
        target(&["--arg", r#"labels=["a","b"]"#, "--arg", "labels=c"]),
        with("labels=a%2Cb%2Cc&per_page=30")
    );
    assert_eq!(target(&["--arg", "assignee=7"]), with("assignee=7&per_page=30"));
    assert_eq!(
        target(&["--arg", "assignee=a=b&state=all"]),
        with("assignee=a%3Db%26state%3Dall&per_page=30")
    );
    assert_eq!(target(&["--arg", "assignee=true"]), with("assignee=true&per_page=30"));
    let notifications = caller.target(&["github.list_notifications", "--arg", "all=true"]);
    assert!(notifications.contains("all=true"), "{notifications}");
    for bad in [
        "per_page=",
        "per_page=x",
        "per_page=1.5",
        "per_page=0",
        "per_page=101",
        "per_page=\"7\"",
        "per_page= 7x",
        "state=",
        "nope=1",
        "=x",
        "labels=[]",
    ] {
        caller.run(&[&issues[..], &["--arg", bad]].concat()).expect(3).refusal("invalid_args");
    }
    caller.run(&["github.list_notifications", "--arg", "all=yes"]).expect(3).refusal("invalid_args");
    caller.run(&["github.get_repo"]).expect(3).refusal("invalid_args");
}

#[test]
fn args_come_from_json_a_file_or_stdin_and_from_one_of_them() {
    let caller = Caller::new();
    let args = r#"{"owner":"pinhole-demo","repo":"lantern","issue_number":2}"#;
    let file = format!("@{}", caller.home.write("args.json", args));
    for text in [args, file.as_str()] {
        caller.run(&["github.get_issue", "--args", text]).expect(0);
    }
    let words = caller
        .stage
        .args(&caller.home, &["run", "github.get_issue", "--args", "-", "--grant", &caller.grant]);
    caller.home.run_with(&words.words(), args).expect(0);
    caller.run(&["github.get_issue", "--args", args, "--arg", "owner=x"]).expect(2);
    caller.run(&["github.get_issue", "--args", "@absent.json"]).expect(2);
    caller.run(&["github.get_issue", "--arg", "owner"]).expect(2);
    caller.run(&["github.get_issue", "--arg", "owner=a", "--arg", "owner=b"]).expect(2);
    let not_text = format!("@{}", caller.home.write("latin.json", b"{\"owner\":\"\xe9\"}"));
    caller.run(&["github.get_issue", "--args", &not_text]).expect(2);
    let huge = format!("@{}", caller.home.write("huge.json", vec![b' '; 5 << 20]));
    caller.run(&["github.get_issue", "--args", &huge]).expect(2);
    for bad in [
        "",
        "{",
        "[]",
        "null",
        "\"x\"",
        "{}{}",
        r#"{"owner":"a","owner":"b","repo":"c"}"#,
        "{'owner':1}",
        "{\"owner\":\"\u{7}\"}",
    ] {
        caller.run(&["github.get_repo", "--args", bad]).expect(3).refusal("invalid_args");
    }
    assert_eq!(caller.stage.requests(), 3);
}

#[test]
fn a_value_in_a_path_stays_in_its_segment() {
    let caller = Caller::new();
    for (value, segment) in [
        ("%2e%2e", "%252e%252e"),
        ("%2E%2e%2Fuser", "%252E%252e%252Fuser"),
        ("a/b", "a%2Fb"),
        ("../../user", "..%2F..%2Fuser"),
        ("..\\user", "..%5Cuser"),
        ("a?b", "a%3Fb"),
        ("a#b", "a%23b"),
        ("a;b", "a%3Bb"),
        ("...", "..."),
        ("a b", "a%20b"),
        ("{repo}", "%7Brepo%7D"),
        ("@evil.test", "%40evil.test"),
        ("https://evil.test", "https%3A%2F%2Fevil.test"),
        ("\u{ff0e}\u{ff0e}", "%EF%BC%8E%EF%BC%8E"),
        ("\u{2025}", "%E2%80%A5"),
    ] {
        let target =
            caller.target(&["github.get_repo", "--arg", &format!("owner={value}"), "--arg", "repo=lantern"]);
        assert_eq!(target, format!("/repos/{segment}/lantern?"), "{value}");
    }
}

#[test]
fn a_value_that_would_be_another_endpoint_is_refused() {
    let caller = Caller::new();
    for value in [".", "..", ""] {
        let ran =
            caller.run(&["github.get_repo", "--arg", &format!("owner={value}"), "--arg", "repo=lantern"]);
        assert_eq!(ran.expect(3).json()["refusal"]["sent"], "no");
        let ran = caller.run(&[
            "github.get_repo",
            "--arg",
            "owner=pinhole-demo",
            "--arg",
            &format!("repo={value}"),
        ]);
        ran.expect(3);
    }
    for owner in [
        r#""\u0000""#,
        r#""a\u0000b""#,
        r#""a\r\nHost: evil.test""#,
        r#""\ud800""#,
        r#""\udc00\ud800""#,
        "null",
        "7",
        "true",
        "[]",
        r#"["a"]"#,
        "{}",
        r#""\u007f""#,
    ] {
        let args = format!(r#"{{"owner":{owner},"repo":"lantern"}}"#);
        caller.run(&["github.get_repo", "--args", &args]).expect(3);
    }
    for number in [
        "9007199254740992",
        "-9007199254740992",
        "1e400",
        "1.5",
        "0",
        "-1",
        "99999999999999999999",
        "null",
        "\"2\"",
    ] {
        let args = format!(r#"{{"owner":"pinhole-demo","repo":"lantern","issue_number":{number}}}"#);
        caller.run(&["github.get_issue", "--args", &args]).expect(3).refusal("invalid_args");
    }
    let megabyte = format!(r#"{{"owner":"{}","repo":"lantern"}}"#, "x".repeat(1 << 20));
    let file = format!("@{}", caller.home.write("megabyte.json", megabyte));
    let ran = caller.run(&["github.get_repo", "--args", &file]).expect(3);
    assert!(ran.stdout.len() < 2_000, "the refusal repeats the arg");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let file = format!("@{}", caller.home.write("deep.json", format!(r#"{{"owner":{deep}}}"#)));
    caller.run(&["github.get_repo", "--args", &file]).expect(3).refusal("invalid_args");
    assert_eq!(caller.stage.connections(), 0);
}

/// A manifest with an op that takes each kind of arg, for `explain`, which sends nothing.
const KINDS: &str = r#"{
    "pinhole": 1, "id": "kinds", "version": "1.0.0", "name": "Kinds", "summary": "Kinds of args.",
    "host": "api.acme.com", "auth": {"scheme": "bearer"},
    "ops": {"find": {
        "access": "read", "summary": "Finds.",
        "args": {"type": "object", "additionalProperties": false, "properties": {
            "count": {"type": "integer", "description": "An integer."},
            "share": {"type": "number", "description": "A number."},
            "deep": {"type": "boolean", "description": "A truth value."},
            "ids": {"type": "array", "items": {"type": "integer"}, "maxItems": 9, "description": "Integers."},
            "filter": {"type": "object", "additionalProperties": false, "description": "An object.",
                       "properties": {"a": {"type": "integer"}, "b": {"type": "string", "maxLength": 9}}}
        }},
        "request": {"method": "POST", "reads": true, "path": "/find", "json": {
            "count": "{count}", "share": "{share}", "deep": "{deep}", "ids": "{ids}", "filter": "{filter}"}},
        "pick": {"fields": ["id"]}
    }}
}"#;

#[test]
fn an_arg_is_judged_as_it_was_written() {
    let home = Home::empty();
    let manifest = home.write("kinds.json", KINDS);
    let explain = |args: &[&str]| {
        let mut words = vec!["explain", "kinds.find", "--manifest", &manifest, "--unsigned", "--json"];
        for arg in args {
            words.extend(["--arg", arg]);
        }
        home.run(&words)
    };
    for (args, wanted) in [
        (&["count=9007199254740991"][..], r#"{"count":9007199254740991}"#),
        (&["count=7.0", "share=0.25", "deep=true"], r#"{"count":7,"deep":true,"share":0.25}"#),
        (&[r#"filter={"a": 1, "b": "x"}"#], r#"{"filter":{"a":1,"b":"x"}}"#),
        (&["ids=[1,2]", "ids=[3]"], r#"{"ids":[1,2,3]}"#),
    ] {
        let shown = explain(args).expect(3).json();
        assert_eq!(shown["explanation"]["args"].to_string(), wanted, "{args:?}");
    }
    for arg in [
        "count=9007199254740991.4",
        "count=9007199254740992",
        "count=9007199254740993.0",
        "share=0.1000000000000000055511151231257827",
        "share=1e400",
        "ids=[9007199254740991.4]",
        "ids=[1,9007199254740993.0]",
        r#"ids=[{"a":1,"a":2}]"#,
        r#"filter={"a":1,"a":2}"#,
        r#"filter={"a":9007199254740991.4}"#,
        r#"filter={"b":"\ud800"}"#,
        "filter={",
        "deep=1",
    ] {
        explain(&[arg]).expect(3).refusal("invalid_args");
    }
    explain(&["count=1", "count=1"]).expect(2);
}

/// What stands behind the first `=` is the value, whatever it looks like; the op's schema says what kind of value it is.
#[test]
fn a_value_that_looks_like_a_flag_or_like_json_is_a_value() {
    let home = Home::empty();
    let body = |title: &str| {
        let title = format!("title={title}");
        let args = ["--arg", "owner=a", "--arg", "repo=b", "--arg", &title, "--json"];
        let shown = home.run(&[&["explain", "github.create_issue"], &args[..]].concat()).expect(3);
        shown.refusal("not_connected");
        shown.json()["explanation"]["request"]["body"].clone()
    };
    home.write("title.txt", "from a file");
    for title in [
        "--json",
        "--token-stdin",
        "-h",
        "--",
        "-5",
        "5",
        "true",
        "null",
        "[]",
        r#"{"a":1}"#,
        r#""quoted""#,
        "@title.txt",
        "title=again",
        "$HOME `id` %PATH%",
    ] {
        assert_eq!(body(title), serde_json::json!({"title": title}));
    }
    // Both spellings of the flag; a flag in the place of a value is a flag.
    let explain = ["explain", "github.create_issue", "--arg=owner=a", "--arg=repo=b", "--json"];
    let shown = home.run(&[&explain[..], &["--arg=title=--all"]].concat()).expect(3).json();
    assert_eq!(shown["explanation"]["args"]["title"], "--all");
    home.run(&[&explain[..], &["--arg", "--all"]].concat()).expect(2);
    home.run(&[&explain[..], &["--arg"]].concat()).expect(2);
    // A number where the op wants one, text where it wants text; a file or JSON for the rest.
    let get = |args: &[&str]| home.run(&[&["explain", "github.get_issue", "--json"], args].concat());
    let number = ["--arg", "owner=5", "--arg", "repo=true", "--arg", "issue_number=5"];
    let wanted = serde_json::json!({"owner": "5", "repo": "true", "issue_number": 5});
    assert_eq!(get(&number).expect(3).json()["explanation"]["args"], wanted);
    let file = format!("@{}", home.write("args.json", wanted.to_string()));
    for args in [file, wanted.to_string()] {
        assert_eq!(get(&["--args", &args]).expect(3).json()["explanation"]["args"], wanted);
    }
}

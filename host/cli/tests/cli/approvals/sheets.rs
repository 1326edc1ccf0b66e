//! What `approvals show` prints: all that a yes would do, whole, every character visible.

use serde_json::{Value, json};

use super::Desk;
use crate::home::KEY;
use crate::stage::WRITE;

/// Characters that a reader would not see, or that change how the rest of the line is seen.
const SLY: [char; 12] = [
    '\u{202e}',
    '\u{2066}',
    '\u{200b}',
    '\u{feff}',
    '\u{e0041}',
    '\u{ad}',
    '\u{2028}',
    '\u{85}',
    '\u{9b}',
    '\u{7f}',
    '\u{1b}',
    '\r',
];

/// Asks for an issue with these args, through a file, and gives the question.
fn ask(desk: &Desk, args: &Value) -> String {
    let file = desk.home.write("args.json", args.to_string());
    let run = ["github.create_issue", "--args", &format!("@{file}"), "--json"];
    let refusal = desk.run(&run).expect(3).refusal("approval_required");
    refusal["question"].as_str().unwrap().to_owned()
}

fn issue(title: &str, body: &str) -> Value {
    json!({"owner": "pinhole-demo", "repo": "lantern", "title": title, "body": body})
}

#[test]
fn a_sheet_says_all_that_a_yes_would_do() {
    let desk = Desk::new();
    let question = desk.ask();
    let shown = desk.approvals(&["show", &question]).expect(0).hides(KEY);
    let lines: Vec<&str> = shown.stdout.lines().collect();
    assert_eq!(lines[0], "Open issue “The lamp flickers” in pinhole-demo/lantern?");
    for line in [
        r#"  owner = "pinhole-demo""#,
        r#"  repo = "lantern""#,
        r#"  title = "The lamp flickers""#,
        "  request: POST https://api.github.com/repos/pinhole-demo/lantern/issues",
        "  connection: github default, for a stand-in: nothing reaches the service itself",
        "  effect: create",
        "  irreversible: no",
        r#"  looked up: get_repo {"owner":"pinhole-demo","repo":"lantern"}: $.archived is false"#,
    ] {
        assert!(lines.contains(&line), "{line}\n{}", shown.stdout);
    }
    for begins in ["  account: ", "  op: github.create_issue of github@", "  bot: "] {
        assert!(lines.iter().any(|line| line.starts_with(begins)), "{begins}\n{}", shown.stdout);
    }
    let last = lines.last().unwrap();
    assert!(last.starts_with(&format!("  question: {question}, pending, asked 2")), "{last}");
    assert!(shown.stderr.contains(&format!("pinhole approvals approve {question}")), "{}", shown.stderr);
    // Looking changes nothing.
    assert_eq!((desk.state(&question).as_str(), desk.written()), ("pending", 0));
}

#[test]
fn a_sheet_as_json_says_the_same() {
    let desk = Desk::new();
    let args = issue("A \u{202e}title\u{1b}", "One\nline");
    let question = ask(&desk, &args);
    let sheet = desk.approvals(&["show", &question, "--json"]).expect(0).hides(KEY).json();
    assert_eq!(sheet["args"], args);
    assert_eq!((&sheet["question"], &sheet["state"]), (&json!(question), &json!("pending")));
    assert_eq!((&sheet["service"], &sheet["op"]), (&json!("github"), &json!("create_issue")));
    let request = json!({
        "method": "POST", "url": "https://api.github.com/repos/pinhole-demo/lantern/issues",
        "body": {"title": args["title"], "body": args["body"]}
    });
    assert_eq!(sheet["request"], request);
    let found = json!({
        "op": "get_repo", "args": {"owner": "pinhole-demo", "repo": "lantern"}, "path": "$.archived", "value": false
    });
    assert_eq!(sheet["found"], json!([found]));
    assert_eq!((&sheet["effect"], &sheet["irreversible"]), (&json!("create"), &json!(false)));
    let rows = desk.approvals(&["list", "--json"]).expect(0).json();
    for same in ["account", "connection", "bot", "raised_at", "expires_at"] {
        assert_eq!(sheet[same], rows[0][same], "{same}");
    }
}

#[test]
fn no_character_of_an_arg_hides_on_a_sheet() {
    let desk = Desk::new();
    let sly: String = SLY.iter().flat_map(|sly| ['<', *sly, '>']).collect();
    let question = ask(&desk, &issue(&sly, &sly));
    let shown = desk.approvals(&["show", &question]).expect(0);
    // She is shown the same before her passphrase is asked for.
    let approved = desk.approve(&question).expect(0);
    assert!(approved.stderr.contains(shown.stdout.split_once("  question: ").unwrap().0));
    let (confirm, rest) = shown.stdout.split_once('\n').unwrap();
    let arg = rest.lines().find(|line| line.starts_with("  body = ")).unwrap();
    for sly in SLY {
        assert!(!shown.stdout.contains(sly), "{sly:?} is shown as itself: {:?}", shown.stdout);
        let escaped = format!("<{}>", sly.escape_unicode());
        assert!(confirm.contains(&escaped), "{sly:?}: {confirm}");
        // In an arg JSON may have an escape of its own.
        let as_json = json!(format!("<{sly}>")).to_string();
        let as_json = as_json.trim_matches('"');
        assert!(arg.contains(&escaped) || arg.contains(as_json), "{sly:?}: {arg}");
    }
}

/// Nothing that an arg says can look like a line of the sheet.
#[test]
fn no_arg_makes_a_line_of_its_own() {
    let desk = Desk::new();
    let lie = "x\n  account: somebody-else\n  irreversible: no\u{85}  effect: none\u{2028}  request: GET";
    let question = ask(&desk, &issue(lie, lie));
    let shown = desk.approvals(&["show", &question]).expect(0);
    let of = |begins: &str| shown.stdout.lines().filter(|line| line.starts_with(begins)).count();
    assert_eq!((of("  account: "), of("  irreversible: "), of("  effect: ")), (1, 1, 1), "{}", shown.stdout);
    assert!(shown.stdout.contains("\\u{a}  account: somebody-else"), "{}", shown.stdout);
    // An escape that was written as one is told from a character.
    let question = ask(&desk, &issue("plain", r"a\u{202e}b"));
    let shown = desk.approvals(&["show", &question]).expect(0);
    assert!(shown.stdout.contains(r#"  body = "a\\u{202e}b""#), "{}", shown.stdout);
}

#[test]
fn a_long_arg_is_shown_whole() {
    let desk = Desk::new();
    let body: String = "0123456789".repeat(6_000);
    assert_eq!(body.len(), 60_000);
    let question = ask(&desk, &issue("Long", &body));
    let shown = desk.approvals(&["show", &question]).expect(0);
    assert!(shown.stdout.contains(&format!("  body = \"{body}\"\n")));
    assert_eq!(desk.approvals(&["show", &question, "--json"]).expect(0).json()["args"]["body"], body);
    // What is one character longer is none of the op's.
    let file = desk.home.write("long.json", issue("Long", &"x".repeat(65_537)).to_string());
    desk.run(&["github.create_issue", "--args", &format!("@{file}"), "--json"])
        .expect(3)
        .refusal("invalid_args");
}

#[test]
fn every_kind_of_arg_is_shown() {
    let desk = Desk::new();
    let mut args = issue("Kinds", "");
    args["labels"] = json!(["bug", "help \u{200b}wanted"]);
    args["assignees"] = json!([]);
    let question = ask(&desk, &args);
    let shown = desk.approvals(&["show", &question]).expect(0);
    for line in [
        "  assignees = []",
        r#"  body = """#,
        r#"  labels = ["bug","help \u{200b}wanted"]"#,
        r#"  title = "Kinds""#,
    ] {
        assert!(shown.stdout.lines().any(|shown| shown == line), "{line}\n{}", shown.stdout);
    }
    assert_eq!(desk.approvals(&["show", &question, "--json"]).expect(0).json()["args"], args);
}

/// Every arg that differs by a character is another question, and the yes to one is none to the other.
#[test]
fn what_looks_the_same_is_another_question() {
    let desk = Desk::new();
    let question = ask(&desk, &issue("Lamp", "x"));
    desk.approve(&question).expect(0);
    for other in ["Lamp\u{200b}", "L\u{430}mp", "lamp", "Lamp ", "La\u{ad}mp"] {
        assert_ne!(ask(&desk, &issue(other, "x")), question, "{other}");
    }
    assert_eq!((desk.state(&question).as_str(), desk.written()), ("approved", 0));
    let run = WRITE[..5].iter().copied().chain(["--arg", "title=Lamp", "--arg", "body=x"]);
    desk.run(&run.collect::<Vec<_>>()).expect(0);
    assert_eq!(desk.written(), 1);
}

//! `run` of a write at a terminal: the sheet is shown and her passphrase is her yes.

pub(crate) mod terminal;

use self::terminal::{Terminal, is_there};
use crate::approvals::Desk;
use crate::home::KEY;
use crate::stage::WRITE;

const PASSPHRASE: &str = "correct horse battery";
const PROMPT: &str = "Enter alone leaves it waiting: ";

/// The one question that there is.
#[track_caller]
fn question(desk: &Desk) -> String {
    let all = desk.approvals(&["list", "--all", "--json"]).expect(0).json();
    assert_eq!(all.as_array().unwrap().len(), 1, "{all}");
    all[0]["question"].as_str().unwrap().to_owned()
}

#[test]
fn her_passphrase_at_the_terminal_is_her_yes() {
    if !is_there() {
        return;
    }
    let desk = Desk::new();
    let mut terminal = Terminal::run(&desk, &WRITE);
    terminal.shows(PROMPT, 1);
    assert_eq!(desk.written(), 0);
    terminal.types(&format!("{PASSPHRASE}\n"));
    let (status, screen) = terminal.ends();
    assert_eq!(status, 0, "{screen}");
    for shown in [
        "Open issue “The lamp flickers” in pinhole-demo/lantern?",
        r#"  title = "The lamp flickers""#,
        "  request: POST https://api.github.com/repos/pinhole-demo/lantern/issues",
        "  account: ",
        "  looked up: get_repo {",
    ] {
        assert!(screen.contains(shown), "{shown}\n{screen}");
    }
    // The sheet stands before the question.
    assert!(screen.find("  account: ").unwrap() < screen.find(PROMPT).unwrap());
    assert!(!screen.contains(PASSPHRASE), "the passphrase is on the screen: {screen}");
    assert_eq!((desk.written(), desk.state(&question(&desk)).as_str()), (1, "used"));
    // Her yes was for that one.
    desk.write().expect(3).refusal("approval_required");
    assert_eq!(desk.written(), 1);
}

#[test]
fn enter_alone_leaves_the_question_waiting() {
    if !is_there() {
        return;
    }
    let desk = Desk::new();
    let mut terminal = Terminal::run(&desk, &WRITE);
    terminal.shows(PROMPT, 1);
    terminal.types("\n");
    let (status, screen) = terminal.ends();
    assert_eq!(status, 3, "{screen}");
    assert!(screen.contains("refused (approval_required)"), "{screen}");
    assert_eq!((desk.state(&question(&desk)).as_str(), desk.written()), ("pending", 0));
    desk.approve(&question(&desk)).expect(0);
    desk.write().expect(0);
    assert_eq!(desk.written(), 1);
}

#[test]
fn a_passphrase_may_be_mistyped_twice() {
    if !is_there() {
        return;
    }
    let desk = Desk::new();
    let mut terminal = Terminal::run(&desk, &WRITE);
    for attempt in 1..=2 {
        terminal.shows(PROMPT, attempt);
        terminal.types("incorrect horse battery\n");
    }
    terminal.shows(PROMPT, 3);
    terminal.types(&format!("{PASSPHRASE}\n"));
    let (status, screen) = terminal.ends();
    assert_eq!((status, desk.written()), (0, 1), "{screen}");
    assert!(!screen.contains("horse battery"), "{screen}");
}

#[test]
fn three_wrong_passphrases_leave_the_question_waiting() {
    if !is_there() {
        return;
    }
    let desk = Desk::new();
    let mut terminal = Terminal::run(&desk, &WRITE);
    for attempt in 1..=3 {
        terminal.shows(PROMPT, attempt);
        terminal.types("incorrect horse battery\n");
    }
    let (status, screen) = terminal.ends();
    assert_eq!(status, 3, "{screen}");
    assert_eq!(screen.matches(PROMPT).count(), 3);
    assert_eq!(screen.matches("the passphrase does not open your key").count(), 3);
    assert_eq!((desk.state(&question(&desk)).as_str(), desk.written()), ("pending", 0));
}

/// How far it is is for who watches, and not among what came.
#[test]
fn a_run_of_all_pages_says_at_the_terminal_how_far_it_is() {
    if !is_there() {
        return;
    }
    let desk = Desk::new();
    let file = desk.home.write("pages.jsonl", "");
    let all = ["github.list_org_repo_names", "--args", r#"{"org":"pinhole-demo","per_page":1}"#, "--all"];
    let (status, screen) = Terminal::run_into(&desk, &all, &file).ends();
    assert_eq!(status, 0, "{screen}");
    for far in ["1 pages, 1 results…", "2 pages, 2 results…", "3 pages, 3 results…"] {
        assert!(screen.contains(far), "{far}: {screen}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 3);
    let (_, alone) = Terminal::run(&desk, &all).ends();
    assert!(!alone.contains("results…"), "the lines themselves are seen: {alone}");
}

#[test]
fn a_no_at_the_terminal_denies_the_question() {
    if !is_there() {
        return;
    }
    let desk = Desk::new();
    let mut terminal = Terminal::run(&desk, &WRITE);
    terminal.shows(PROMPT, 1);
    terminal.types("no\n");
    let (status, screen) = terminal.ends();
    assert_eq!(status, 3, "{screen}");
    assert!(screen.contains("approval_denied"), "{screen}");
    assert_eq!((desk.state(&question(&desk)).as_str(), desk.written()), ("denied", 0));
}

#[test]
fn no_ask_asks_nothing() {
    if !is_there() {
        return;
    }
    let desk = Desk::new();
    let (status, screen) = Terminal::run(&desk, &[&WRITE[..], &["--no-ask"]].concat()).ends();
    assert_eq!(status, 3, "{screen}");
    assert!(!screen.contains("passphrase says yes") && screen.contains("approval_required"), "{screen}");
    assert_eq!((desk.state(&question(&desk)).as_str(), desk.written()), ("pending", 0));
}

/// It was not meant for the question: nobody had seen it.
#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    if !is_there() {
        return;
    }
    let desk = Desk::new();
    let mut terminal = Terminal::run_after_a_line(&desk, &WRITE);
    terminal.shows("ready", 1);
    // Both lines are with the terminal before the command is there.
    terminal.types(&format!("go\n{PASSPHRASE}\n"));
    terminal.shows(PROMPT, 1);
    terminal.types("\n");
    let (status, screen) = terminal.ends();
    assert_eq!(status, 3, "{screen}");
    assert_eq!((desk.state(&question(&desk)).as_str(), desk.written()), ("pending", 0));
}

/// A terminal that goes away gives no answer.
#[test]
fn the_end_of_input_is_no_yes() {
    if !is_there() {
        return;
    }
    let desk = Desk::new();
    let mut terminal = Terminal::run(&desk, &WRITE);
    terminal.shows(PROMPT, 1);
    // Ctrl-D on an empty line.
    terminal.types("\u{4}");
    let (status, screen) = terminal.ends();
    assert_ne!(status, 0, "{screen}");
    assert_eq!((desk.state(&question(&desk)).as_str(), desk.written()), ("pending", 0));
}

/// Whoever stops it has her terminal back as it was, and what she types is on the screen again.
#[test]
fn ctrl_c_at_the_question_leaves_the_terminal_as_it_was() {
    if !is_there() {
        return;
    }
    let desk = Desk::new();
    let mut terminal = Terminal::run_and_then(&desk, &WRITE, "echo \"status $?\"; stty -a");
    terminal.shows(PROMPT, 1);
    terminal.types("\u{3}");
    let (_, screen) = terminal.ends();
    let modes: Vec<&str> = screen.split_once("status 130").unwrap().1.split_whitespace().collect();
    for mode in ["echo", "icanon", "isig"] {
        assert!(modes.contains(&mode), "{mode}: {screen}");
    }
    assert_eq!((desk.state(&question(&desk)).as_str(), desk.written()), ("pending", 0));
}

/// A question that waits is shown again, and one that was denied is not asked again.
#[test]
fn a_denied_write_is_not_asked_about_at_the_terminal() {
    if !is_there() {
        return;
    }
    let desk = Desk::new();
    let asked = desk.ask();
    let mut terminal = Terminal::run(&desk, &WRITE);
    terminal.shows(PROMPT, 1);
    terminal.types("\n");
    let (status, screen) = terminal.ends();
    assert_eq!((status, screen.contains(&asked)), (3, true), "{screen}");
    desk.approvals(&["deny", &asked]).expect(0);
    let (status, screen) = Terminal::run(&desk, &WRITE).ends();
    assert_eq!(status, 3, "{screen}");
    assert!(!screen.contains(PROMPT) && screen.contains("approval_denied"), "{screen}");
    assert_eq!(desk.written(), 0);
}

/// What the bot says cannot steer the terminal that it is shown on.
#[test]
fn no_character_of_an_arg_reaches_the_terminal_as_itself() {
    if !is_there() {
        return;
    }
    let desk = Desk::new();
    let sly = "\u{1b}[2J\u{202e}\u{200b}\u{9b}\u{7f}\u{e0041}";
    let args = serde_json::json!({"owner": "pinhole-demo", "repo": "lantern", "title": sly, "body": sly});
    let file = format!("@{}", desk.home.write("args.json", args.to_string()));
    let mut terminal = Terminal::run(&desk, &["github.create_issue", "--args", &file]);
    terminal.shows(PROMPT, 1);
    terminal.types("\n");
    let (status, screen) = terminal.ends();
    assert_eq!(status, 3, "{screen:?}");
    assert!(
        screen.contains("Open issue “\\u{1b}[2J\\u{202e}\\u{200b}\\u{9b}\\u{7f}\\u{e0041}”"),
        "{screen:?}"
    );
    assert!(
        !sly.chars().any(|c| pinhole_manifest::visible::is_invisible(c) && screen.contains(c)),
        "{screen:?}"
    );
}

/// A key is asked for in the same way, and the passphrase that opens hers.
#[test]
fn a_key_that_is_pasted_is_not_shown() {
    if !is_there() {
        return;
    }
    let desk = Desk::new();
    let mut terminal = Terminal::command(&desk, &["connect", "github", "--label", "home"]);
    terminal.shows("Key of GitHub (it is not shown): ", 1);
    terminal.types(&format!("{KEY}\n"));
    terminal.shows("Passphrase of your key, ", 1);
    terminal.types(&format!("{PASSPHRASE}\n"));
    let (status, screen) = terminal.ends();
    assert_eq!(status, 0, "{screen}");
    assert!(screen.contains("connected: github home, account demo-wren"), "{screen}");
    assert!(!screen.contains(KEY) && !screen.contains(PASSPHRASE), "{screen}");
}

/// A read at a terminal asks nothing.
#[test]
fn a_read_asks_nothing() {
    if !is_there() {
        return;
    }
    let desk = Desk::new();
    let (status, screen) = Terminal::run(&desk, &crate::stage::READ).ends();
    assert_eq!(status, 0, "{screen}");
    assert!(!screen.contains("passphrase"), "{screen}");
}

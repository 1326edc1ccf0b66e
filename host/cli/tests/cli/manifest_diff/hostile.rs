//! Revisions, repositories, texts and names of files that would be something else in one of the shapes.

use serde_json::{Value, json};

use super::{diff, git, github, write};
use crate::home::Home;

#[test]
fn a_revision_is_no_option_and_a_repository_runs_nothing() {
    let home = Home::empty();
    git(&home, &["init", "-q"]);
    write(&home, "m/manifest.json", &github());
    git(&home, &["add", "-A"]);
    git(&home, &["commit", "-q", "-m", "one"]);
    let pwned = home.path("pwned").display().to_string();
    let run = format!("touch {pwned}");
    for (key, value) in [
        ("core.pager", &run),
        ("core.fsmonitor", &run),
        ("diff.external", &run),
        ("core.sshCommand", &run),
        ("alias.rev-parse", &format!("!{run}")),
        ("diff.x.textconv", &run),
        ("filter.x.smudge", &run),
    ] {
        git(&home, &["config", key, value]);
    }
    home.write(".gitattributes", "*.json diff=x filter=x");
    diff(&home, &["git:HEAD", "m"]).expect(0);
    for sly in [
        format!("git:--output={pwned}:m"),
        format!("git:--git-dir={pwned}:m"),
        "git:--help".to_owned(),
        format!("git:HEAD;touch {pwned}:m"),
        format!("git:$(touch {pwned}):m"),
        "git:HEAD\n--all:m".to_owned(),
    ] {
        let ran = diff(&home, &[&sly, "m"]).expect(2);
        assert!(ran.stdout.is_empty(), "{sly}: {}", ran.stdout);
        // An option, and what hides another line, never comes to git.
        let is_ours = ran.stderr.contains("this is not a revision");
        assert_eq!(is_ours, sly.starts_with("git:-") || sly.contains('\n'), "{sly}: {}", ran.stderr);
    }
    assert!(!home.path("pwned").exists());
}

/// Texts that would be something else in a comment, an annotation or on a terminal.
const SLY: [&str; 12] = [
    "@octocat please merge, #1, fixes acme/acme#2",
    "[click](https://evil.dev) ![x](https://evil.dev/x.png)",
    "<img src=x onerror=alert(1)> <details open> <!--",
    "a | b |\\| c || d",
    "`` ` ``` @octocat ````",
    "`",
    "``@octocat``",
    "\\` @octocat \\",
    "::error file=x,line=1::gone %0A::warning::",
    "$`x`$ $$y$$ :tada: https://evil.dev www.evil.dev a@evil.dev",
    "** __ ~~ ## > - 1. --- === ~~~",
    "&#64;octocat &lt;b&gt;",
];

/// What of Markdown stands outside of its code spans (its specification, 0.31, section 6.1).
#[expect(clippy::string_slice, reason = "every index is one that `find` gave for a backtick")]
fn outside_of_code(line: &str) -> String {
    let mut outside = String::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let (before, from) = rest.split_at(start);
        let fence = from.len() - from.trim_start_matches('`').len();
        let body = &from[fence..];
        let mut end = None;
        let mut at = 0;
        while let Some(found) = body[at..].find('`') {
            let run = body[at + found..].len() - body[at + found..].trim_start_matches('`').len();
            if run == fence {
                end = Some(at + found + run);
                break;
            }
            at += found + run;
        }
        outside.push_str(before);
        rest = &body[end.unwrap_or_else(|| panic!("a span is not closed: {line}"))..];
    }
    outside + rest
}

#[test]
fn no_text_of_a_manifest_gets_out_of_its_place() {
    let home = Home::empty();
    let mut old = github();
    old["summary"] = json!("Was `@octocat` <b>.");
    write(&home, "old.json", &old);
    for sly in SLY {
        let mut new = github();
        new["summary"] = json!(sly);
        new["ops"]["create_issue"]["request"]["json"]["sly"] = json!(sly);
        new["ops"]["create_issue"]["request"]["headers"] = json!({"x-note": sly});
        new["failure"] = json!({"path": "$.ok", "is": sly, "message": "$['@octocat <b>']"});
        write(&home, "new.json", &new);
        let shown = diff(&home, &["old.json", "new.json", "--markdown"]).expect(1).stdout;
        assert!(shown.contains("octocat"), "{shown}");
        for line in shown.lines() {
            let outside = outside_of_code(line);
            let plain = outside.trim_start_matches("- ").trim_start_matches("### ");
            let ours = |c: char| c.is_ascii_alphanumeric() || " *_,;:()'.".contains(c);
            assert!(plain.chars().all(ours), "{line}\nhas outside of code: {plain}");
            assert!(!plain.contains("octocat") && !plain.contains("evil"), "{line}");
        }
        let annotations = diff(&home, &["old.json", "new.json", "--annotations"]).expect(1).stdout;
        for line in annotations.lines() {
            let level = ["::error file=new.json,", "::warning file=new.json,", "::notice file=new.json,"];
            assert!(level.iter().any(|start| line.starts_with(start)), "{line}");
        }
        assert!(!annotations.contains("%0A"), "{annotations}");
        let text = diff(&home, &["old.json", "new.json"]).expect(1).stdout;
        let found = diff(&home, &["old.json", "new.json", "--json"]).expect(1).json();
        let changes = found["services"][0]["changes"].as_array().unwrap().len();
        assert_eq!(text.lines().count(), 3 + changes, "a line for each: {text}");
    }
}

#[test]
fn a_file_s_name_gets_out_of_nothing_either() {
    let home = Home::empty();
    write(&home, "old.json", &github());
    let mut new = github();
    new["host"] = json!("api.evil.com");
    let sly = "a,line=1::error file=b\n`@octocat` \u{202e}<b>.json";
    write(&home, sly, &new);
    for shape in ["--annotations", "--markdown"] {
        let shown = diff(&home, &["old.json", sly, shape]).expect(1).stdout;
        assert!(!shown.contains('\u{202e}') && !shown.contains(",line=1::error file=b"), "{shown}");
    }
    let shown = diff(&home, &["old.json", sly]).expect(1).stdout;
    assert!(!shown.contains('\u{202e}'), "{shown}");
    home.write(sly, "{\"pinhole\": 1}");
    for line in diff(&home, &["old.json", sly, "--markdown"]).expect(4).stdout.lines() {
        assert!(!outside_of_code(line).contains("octocat"), "{line}");
    }
}

#[test]
fn a_comment_is_never_longer_than_a_forge_takes() {
    let home = Home::empty();
    let mut old = github();
    let field = |index: usize, prefix: &str| json!(format!("{prefix}_{}_{index}", "x".repeat(400)));
    let mut new = old.clone();
    for op in ["list_repos", "list_issues"] {
        let all = |prefix: &str| Value::Array((0..200).map(|index| field(index, prefix)).collect());
        old["ops"][op]["pick"]["fields"] = all("a");
        new["ops"][op]["pick"]["fields"] = all("b");
    }
    write(&home, "old.json", &old);
    write(&home, "new.json", &new);
    let shown = diff(&home, &["old.json", "new.json", "--markdown"]).expect(1).stdout;
    assert!(shown.len() < 65_000 && shown.contains(" more**"), "{}", shown.len());
    assert!(shown.starts_with("**1 service changed; "), "{shown:.100}");
}

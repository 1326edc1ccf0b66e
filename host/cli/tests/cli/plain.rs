//! Help, version, completions and `services`: what somebody types first.

use crate::home::Home;

#[test]
fn the_help_teaches() {
    insta::assert_snapshot!("help", Home::empty().run(&["--help"]).expect(0).stdout);
}

#[test]
fn every_subcommand_has_help_and_shows_how_it_ends() {
    let home = Home::empty();
    let commands: [&[&str]; 22] = [
        &["demo"],
        &["services"],
        &["run"],
        &["explain"],
        &["keys"],
        &["keys", "show"],
        &["keys", "new"],
        &["keys", "protect"],
        &["grant"],
        &["grant", "mint"],
        &["grant", "inspect"],
        &["grant", "revoke"],
        &["manifest"],
        &["manifest", "check"],
        &["manifest", "test"],
        &["manifest", "schema"],
        &["module"],
        &["module", "new"],
        &["module", "build"],
        &["module", "check"],
        &["module", "run"],
        &["completions"],
    ];
    for command in commands {
        let shown = home.run(&[command, &["--help"]].concat()).expect(0).stdout;
        let usage = format!("Usage: pinhole {}", command.join(" "));
        assert!(shown.contains(&usage), "{shown}");
        assert!(!shown.starts_with("Usage"), "it does not say what it is for: {shown}");
    }
    for command in [&["run"][..], &["explain"], &["grant", "mint"], &["module", "new"], &["module", "run"]] {
        let shown = home.run(&[command, &["--help"]].concat()).stdout;
        assert!(shown.contains("Examples:\n  pinhole "), "{shown}");
    }
}

#[test]
fn version_and_completions() {
    let home = Home::empty();
    let version = home.run(&["--version"]).expect(0).stdout;
    assert_eq!(version, format!("pinhole {}\n", env!("CARGO_PKG_VERSION")));
    for shell in ["bash", "zsh", "fish"] {
        let script = home.run(&["completions", shell]).expect(0).stdout;
        assert!(script.contains("pinhole") && script.contains("explain"), "{shell}: {script}");
    }
    home.run(&["completions", "abacus"]).expect(2);
}

#[test]
fn an_answer_that_cannot_be_written_is_a_failure() {
    let full = std::path::Path::new("/dev/full");
    if !full.exists() {
        eprintln!("SKIPPED: an answer that cannot be written: there is no /dev/full");
        return;
    }
    let home = Home::new();
    for args in [
        &["completions", "zsh"][..],
        &["manifest", "schema"],
        &["services", "--json"],
        &["keys", "show", "--json"],
    ] {
        let stdout = std::fs::OpenOptions::new().write(true).open(full).unwrap();
        let ran = crate::home::ran(home.command(args).stdout(stdout), b"");
        ran.expect(6);
    }
}

#[test]
fn bad_flags_are_usage_errors() {
    let home = Home::empty();
    for args in [
        &[][..],
        &["nonsense"],
        &["run"],
        &["run", "github.get_repo", "--bogus"],
        &["run", "github"],
        &["run", "github.get_repo.more"],
        &["run", "Github.get_repo"],
        &["services", "--log", "loud"],
        &["services", "a", "b"],
        &["grant"],
        &["manifest", "check"],
        &["run", "github.get_repo", "--manifest", "m.json"],
    ] {
        let ran = home.run(args).expect(2);
        assert_eq!(ran.stdout, "", "{args:?}");
    }
    let ran = home.run(&["run", "github.get_repo"]).expect(3);
    assert!(ran.stderr.contains("--grant FILE") && ran.stderr.contains("pinhole connect"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn an_arg_that_is_not_unicode_is_a_usage_error() {
    use std::os::unix::ffi::OsStrExt as _;
    let home = Home::empty();
    let mut command = home.command(&["explain", "github.get_repo", "--arg"]);
    command.arg(std::ffi::OsStr::from_bytes(b"owner=\xff"));
    crate::home::ran(&mut command, b"").expect(2);
}

/// What is part of the binary, in order.
const SERVICES: [&str; 13] = [
    "cloudflare",
    "dnsimple",
    "github",
    "gitlab",
    "hubspot",
    "linear",
    "notion",
    "pagerduty",
    "sendgrid",
    "sentry",
    "slack",
    "stripe",
    "todoist",
];

#[test]
fn services_lists_shows_and_refuses() {
    let home = Home::empty();
    let all = home.run(&["services"]).expect(0).stdout;
    let label =
        |line: &str| line.split_once('@').filter(|_| !line.starts_with(' ')).map(|(name, _)| name.to_owned());
    let names: Vec<_> = all.lines().filter_map(label).collect();
    assert_eq!(names, SERVICES, "{all}");
    let ops = home.run(&["services", "github"]).expect(0).stdout;
    assert!(
        ops.contains("create_issue") && ops.contains("api.github.com") && ops.contains("unverified"),
        "{ops}"
    );
    let op = home.run(&["services", "github.create_issue"]).expect(0).stdout;
    for words in ["(write)", "title", "required", "returns: number"] {
        assert!(op.contains(words), "{op}");
    }
    for unknown in ["nope", "github.nope", "github.", ".", "", "nope.get_repo", "github.get_repo.x"] {
        let ran = home.run(&["services", unknown]).expect(3);
        assert_eq!(ran.stdout, "");
        assert!(ran.stderr.contains("`pinhole services"), "{}", ran.stderr);
    }
    assert!(!home.path("pinhole.db").exists(), "looking at services made state");
}

#[test]
fn services_as_json_is_one_document() {
    let home = Home::empty();
    let all = home.run(&["services", "--json"]).expect(0).json();
    let all = all.as_array().unwrap();
    let names: Vec<_> = all.iter().map(|one| one["service"].as_str().unwrap()).collect();
    assert_eq!(names, SERVICES);
    let one = home.run(&["services", "github", "--json"]).expect(0).json();
    assert_eq!(one, all[2]);
    assert_eq!(one["source"], "compiled-in");
    let op = home.run(&["services", "github.create_issue", "--json"]).expect(0).json();
    assert_eq!((op["access"].as_str(), op["effect"].as_str()), (Some("write"), Some("create")));
    assert_eq!(op["args"]["required"], serde_json::json!(["owner", "repo", "title"]));
    assert!(one["ops"].as_array().unwrap().contains(&op));
}

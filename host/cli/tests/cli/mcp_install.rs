//! `pinhole mcp install`: the server's entry in a client's configuration, and nothing else of it changed.

mod again;
mod files;

use std::path::Path;

use serde_json::{Value, json};

use crate::asking::terminal::{Terminal, is_there};
use crate::home::{Home, Ran, ran};

const CLIENTS: [&str; 10] = [
    "claude-code",
    "claude-desktop",
    "cline",
    "codex",
    "cursor",
    "gemini-cli",
    "roo",
    "vscode",
    "windsurf",
    "zed",
];

/// Where each client's file is below the user's folder, on Linux, or below the project.
const FILES: [(&str, &str, &str); 16] = [
    ("claude-code", "user", ".claude.json"),
    ("claude-code", "project", ".mcp.json"),
    ("claude-desktop", "user", ".config/Claude/claude_desktop_config.json"),
    ("cline", "user", ".cline/data/settings/cline_mcp_settings.json"),
    ("codex", "user", ".codex/config.toml"),
    ("codex", "project", ".codex/config.toml"),
    ("cursor", "user", ".cursor/mcp.json"),
    ("cursor", "project", ".cursor/mcp.json"),
    ("gemini-cli", "user", ".gemini/settings.json"),
    ("gemini-cli", "project", ".gemini/settings.json"),
    ("roo", "project", ".roo/mcp.json"),
    ("vscode", "user", ".config/Code/User/mcp.json"),
    ("vscode", "project", ".vscode/mcp.json"),
    ("windsurf", "user", ".codeium/windsurf/mcp_config.json"),
    ("zed", "user", ".config/zed/settings.json"),
    ("zed", "project", ".zed/settings.json"),
];

/// A person's machine: her folder, and a project in it.
struct Person {
    home: Home,
}

impl Person {
    fn new() -> Self {
        let person = Self { home: Home::empty() };
        std::fs::create_dir(person.home.path("project")).unwrap();
        person
    }

    /// `mcp install` in her project.
    fn install(&self, words: &[&str]) -> Ran {
        let mut command = self.home.command(&[&["mcp", "install"], words].concat());
        let command = command.env_remove("PINHOLE_HOME").env("HOME", self.home.path(""));
        ran(command.current_dir(self.home.path("project")), b"")
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.home.path(file)).unwrap()
    }

    fn json(&self, file: &str) -> Value {
        serde_json::from_str(&self.read(file)).unwrap()
    }

    /// What is in the folder of a file.
    fn beside(&self, file: &str) -> Vec<String> {
        let path = self.home.path(file);
        let names = std::fs::read_dir(path.parent().unwrap()).unwrap();
        let mut names: Vec<String> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn in_scope(scope: &str, file: &str) -> String {
    if scope == "project" { format!("project/{file}") } else { file.to_owned() }
}

/// The binary, as an entry names it.
fn binary() -> Value {
    json!(Path::new(env!("CARGO_BIN_EXE_pinhole")).canonicalize().unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn every_client_gets_the_entry_where_it_looks_once_and_loses_it_again() {
    for (client, scope, file) in FILES {
        let person = Person::new();
        let file = in_scope(scope, file);
        let words = [client, "--scope", scope, "--yes"];
        let printed = person.install(&[client, "--print"]).expect(0).stdout;
        person.install(&words).expect(0);
        assert_eq!(person.read(&file), printed, "{client}");
        // Nothing else was made, and the second time nothing is.
        assert_eq!(person.beside(&file).iter().filter(|name| file.ends_with(*name)).count(), 1);
        let again = person.install(&words).expect(0);
        assert!(again.stdout.contains("already"), "{}", again.stdout);
        assert_eq!(person.read(&file), printed, "{client}");
        assert!(!person.home.path(&format!("{file}.bak")).exists());
        person.install(&[&words[..], &["--remove"]].concat()).expect(0);
        assert!(!person.read(&file).contains("pinhole"), "{client}: {}", person.read(&file));
        assert_eq!(person.read(&format!("{file}.bak")), printed);
        let gone = person.install(&[&words[..], &["--remove"]].concat()).expect(0);
        assert!(gone.stdout.contains("is not in"), "{}", gone.stdout);
    }
}

#[test]
fn a_client_starts_this_very_binary_with_the_home_and_the_flags_that_were_said() {
    let person = Person::new();
    person.install(&["cursor", "--yes"]).expect(0);
    let entry = &person.json(".cursor/mcp.json")["mcpServers"]["pinhole"];
    assert_eq!(entry, &json!({"type": "stdio", "command": binary(), "args": ["mcp"]}));
    let words = ["cursor", "--home", "else where", "--name", "work-2", "--yes", "--", "--read-only"];
    person.install(&words).expect(0);
    let servers = person.json(".cursor/mcp.json")["mcpServers"].clone();
    let home = person.home.path("project/else where");
    assert_eq!(servers["work-2"]["args"], json!(["mcp", "--home", home, "--read-only"]));
    assert_eq!(&servers["pinhole"], entry);
    // A home that the environment names is said too: the client's environment is another.
    let mut command = person.home.command(&["mcp", "install", "cursor", "--print"]);
    let printed: Value = serde_json::from_str(&ran(&mut command, b"").expect(0).stdout).unwrap();
    let home = person.home.path("project");
    let home = home.parent().unwrap();
    assert_eq!(printed["mcpServers"]["pinhole"]["args"], json!(["mcp", "--home", home]));
}

#[test]
fn no_entry_has_a_token_and_one_for_http_names_the_variable_that_it_is_in() {
    let person = Person::new();
    for client in CLIENTS {
        let words = [client, "--http", "http://127.0.0.1:8420/mcp", "--token-env", "WORK_TOKEN", "--print"];
        let ran = person.install(&words);
        match client {
            "claude-desktop" => drop(ran.expect(2)),
            // What they cannot say, they are told.
            "cline" | "zed" => {
                let ran = ran.expect(0);
                assert!(!ran.stdout.contains("TOKEN") && ran.stderr.contains("token"), "{}", ran.stderr);
            }
            _ => {
                let printed = ran.expect(0).stdout;
                assert!(
                    printed.contains("WORK_TOKEN") && !printed.contains("command"),
                    "{client}: {printed}"
                );
            }
        }
    }
    for url in [
        "http://10.0.0.1/mcp",
        "http://example.com/mcp",
        "https://me:secret@example.com/mcp",
        "https://example.com/mcp?token=secret",
        "https://example.com/mcp#secret",
        "ftp://127.0.0.1/mcp",
        "127.0.0.1:8420",
        "https://example.com/$HOME",
        "",
    ] {
        person.install(&["cursor", "--http", url, "--yes"]).expect(2);
    }
    for wrong in [
        &["--token-env", "pht_secret"][..],
        &["--name", "Pin hole"],
        &["--name", "a-name-that-is-too-long"],
        &["--", "--http", "127.0.0.1:8420"],
        &["--", "--services", "${HOME}"],
        &["--", "--home", "relative"],
        &["--", "--ca-cert", "ca.pem"],
        &["--", "--unsigned", "--manifest", "manifest.json"],
        &["--scope", "nowhere"],
    ] {
        person.install(&[&["cursor", "--yes"], wrong].concat()).expect(2);
    }
    // What is not there would not start.
    for wrong in
        [&["--services", "github,githbu"][..], &["--unsigned", "--manifest", "/nowhere/manifest.json"]]
    {
        let ran = person.install(&[&["cursor", "--yes", "--"], wrong].concat());
        assert!(ran.status != 0 && (ran.stderr.contains("githbu") || ran.stderr.contains("nowhere")));
    }
    person.install(&["roo", "--scope", "user", "--yes"]).expect(2);
    person.install(&["windsurf", "--scope", "project", "--yes"]).expect(2);
    assert!(!person.home.path(".cursor").exists());
}

#[test]
fn an_address_without_a_path_is_that_of_the_service() {
    let person = Person::new();
    for (said, written) in [
        ("http://127.0.0.1:8420", "http://127.0.0.1:8420/mcp"),
        ("https://mcp.example.com/", "https://mcp.example.com/mcp"),
        ("https://example.com/pinhole/mcp", "https://example.com/pinhole/mcp"),
    ] {
        let printed = person.install(&["cursor", "--http", said, "--print"]).expect(0).stdout;
        let printed: Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(printed["mcpServers"]["pinhole"]["url"], written);
    }
}

#[test]
fn what_a_person_set_in_the_entry_stays_and_what_it_was_reached_by_goes() {
    let person = Person::new();
    let entry = json!({"command": "/old/pinhole", "args": ["mcp"], "disabled": true, "env": {"RUST_LOG": "x"},
                       "headers": {"Authorization": "Bearer pht_secret"}});
    person.home.write(".cursor/mcp.json", json!({"mcpServers": {"pinhole": entry}}).to_string());
    let said = person.install(&["cursor", "--http", "https://mcp.example.com/mcp", "--yes"]).expect(0).stdout;
    assert!(said.contains("- command: \"/old/pinhole\"") && said.contains("disabled, env"), "{said}");
    assert!(!said.contains("pht_secret"), "{said}");
    let wanted = json!({"url": "https://mcp.example.com/mcp", "headers": {"Authorization": "Bearer ${env:PINHOLE_TOKEN}"},
                        "disabled": true, "env": {"RUST_LOG": "x"}});
    assert_eq!(person.json(".cursor/mcp.json")["mcpServers"]["pinhole"], wanted);
    person.install(&["cursor", "--yes"]).expect(0);
    let now = person.json(".cursor/mcp.json")["mcpServers"]["pinhole"].clone();
    assert_eq!((&now["command"], &now["disabled"], &now["url"]), (&binary(), &json!(true), &Value::Null));
}

#[test]
fn without_a_terminal_it_shows_the_change_and_asks_for_a_yes_by_flag() {
    let person = Person::new();
    let ran = person.install(&["cursor"]).expect(2);
    assert!(ran.stdout.contains("+ args: [\"mcp\"]") && ran.stderr.contains("--yes"), "{}", ran.stdout);
    assert!(!person.home.path(".cursor").exists());
}

#[test]
fn at_a_terminal_only_yes_is_a_yes() {
    if !is_there() {
        return;
    }
    for (answer, status, there) in [("yes\n", 0, true), ("y\n", 3, false), ("\n", 3, false)] {
        let home = Home::empty();
        let file = home.path("mcp.json");
        let words = ["mcp", "install", "cursor", "--file", file.to_str().unwrap()];
        let mut terminal = Terminal::of(&home, &words);
        terminal.shows("(yes or no)? ", 1);
        terminal.types(answer);
        let (ended, screen) = terminal.ends();
        assert_eq!(ended, status, "{screen}");
        assert!(screen.contains("+ command: "), "{screen}");
        assert_eq!(file.exists(), there, "{screen}");
    }
}

#[test]
fn what_changed_while_she_was_asked_is_not_written_over() {
    if !is_there() {
        return;
    }
    let home = Home::empty();
    let file = home.write("mcp.json", "{}");
    let mut terminal = Terminal::of(&home, &["mcp", "install", "cursor", "--file", &file]);
    terminal.shows("(yes or no)? ", 1);
    home.write("mcp.json", "{\"new\": 1}");
    terminal.types("yes\n");
    let (ended, screen) = terminal.ends();
    assert!(ended == 3 && screen.contains("changed meanwhile"), "{screen}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{\"new\": 1}");
    assert!(!home.path("mcp.json.bak").exists());
}

#[test]
fn the_guide_shows_for_every_client_what_is_printed() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mcp.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let person = Person::new();
    for client in CLIENTS {
        let (_, section) = guide.split_once(&format!(": `{client}`\n")).unwrap_or_else(|| panic!("{client}"));
        let section = section.split("\n### ").next().unwrap().split("\n## ").next().unwrap();
        let block = |block: &str| block.split_once('\n').unwrap().1.to_owned();
        let shown: Vec<String> = section.split("```").skip(1).step_by(2).map(block).collect();
        let stdio = person.install(&[client, "--print"]).expect(0).stdout;
        let stdio = stdio.replace(binary().as_str().unwrap(), "/usr/local/bin/pinhole");
        let http = person.install(&[client, "--print", "--http", "http://127.0.0.1:8420/mcp"]);
        let printed = std::iter::once(stdio).chain((http.status == 0).then_some(http.stdout));
        assert_eq!(shown, printed.collect::<Vec<_>>(), "{client}");
    }
    assert_eq!(guide.matches("\n### ").count(), CLIENTS.len() + 2);
}

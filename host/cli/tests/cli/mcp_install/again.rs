//! What becomes of an entry that is there already: nothing that narrows it goes unsaid, and nothing secret of it is shown.

use serde_json::{Value, json};

use super::Person;

const FILE: &str = ".cursor/mcp.json";

fn with(entry: &Value) -> (Person, String) {
    let person = Person::new();
    let text = json!({"mcpServers": {"pinhole": entry}}).to_string();
    person.home.write(FILE, &text);
    (person, text)
}

fn args(person: &Person) -> Value {
    person.json(FILE)["mcpServers"]["pinhole"]["args"].clone()
}

#[test]
fn flags_of_an_entry_stay_until_others_are_said() {
    let narrow = json!(["mcp", "--read-only", "--home=/of/hers", "--services", "github"]);
    let (person, _) = with(&json!({"command": "/old/pinhole", "args": narrow}));
    person.install(&["cursor", "--yes"]).expect(0);
    assert_eq!(args(&person), narrow);
    assert!(person.install(&["cursor", "--yes"]).expect(0).stdout.contains("already"));
    // A home that is said takes the place of the other, and nothing else's.
    person.install(&["cursor", "--home", "/another", "--yes"]).expect(0);
    assert_eq!(args(&person), json!(["mcp", "--home", "/another", "--read-only", "--services", "github"]));
    // Flags that are said are those, and it is shown which go.
    let said = person.install(&["cursor", "--yes", "--", "--tools", "search"]).expect(0).stdout;
    assert_eq!(args(&person), json!(["mcp", "--home", "/another", "--tools", "search"]));
    assert!(said.contains("- args: [\"mcp\",\"--home\",\"/another\",\"--read-only\""), "{said}");
    person.install(&["cursor", "--yes", "--", "--home", "/third"]).expect(0);
    assert_eq!(args(&person), json!(["mcp", "--home", "/third"]));
    // Without any: taken out, and put in again.
    person.install(&["cursor", "--yes", "--remove"]).expect(0);
    person.install(&["cursor", "--yes"]).expect(0);
    assert_eq!(args(&person), json!(["mcp"]));
}

#[test]
fn flags_of_codex_stay_too() {
    let person = Person::new();
    let text = "[mcp_servers.pinhole]\ncommand = \"/old/pinhole\"\nargs = [\"mcp\", \"--read-only\"]\n";
    person.home.write(".codex/config.toml", text);
    person.install(&["codex", "--yes"]).expect(0);
    let now = person.read(".codex/config.toml");
    assert!(now.contains("args = [\"mcp\", \"--read-only\"]") && !now.contains("/old"), "{now}");
}

#[test]
fn arguments_that_cannot_be_kept_go_only_for_others_that_are_said() {
    for words in [
        json!(["-y", "a-server", "--read-only"]),
        json!(["mcp", "--read-only", "--not-known-yet"]),
        json!(["mcp", "--http", "127.0.0.1:8420"]),
        json!(["mcp", "install", "cursor"]),
        json!(["mcp", 1]),
        json!("mcp --read-only"),
    ] {
        let (person, text) = with(&json!({"command": "x", "args": words}));
        let ran = person.install(&["cursor", "--yes"]).expect(3);
        assert!(ran.stderr.contains("behind `--`"), "{}", ran.stderr);
        assert_eq!(person.read(FILE), text);
        person.install(&["cursor", "--yes", "--", "--read-only"]).expect(0);
        assert_eq!(args(&person), json!(["mcp", "--read-only"]));
    }
}

#[test]
fn no_secret_of_an_entry_that_was_there_is_shown() {
    for (entry, shown) in [
        (json!({"url": "https://x.example.com/mcp?key=sekret"}), "- url: \"https://x.example.com/mcp?…\""),
        (json!({"url": "https://x.example.com/s/sekret/mcp"}), "- url: \"https://x.example.com/…\""),
        (json!({"url": "https://me:sekret@x.example.com/mcp"}), "- url: \"https://x.example.com/…\""),
        (json!({"serverUrl": "${env:sekret}"}), "- serverUrl: \"…\""),
        (json!({"bearer_token_env_var": "pht_sekret"}), "- bearer_token_env_var: \"…\""),
        (json!({"headers": {"X-Key": "sekret"}}), "- headers: {\"X-Key\": \"…\"}"),
        (
            json!({"args": ["x-sekret", "--key", "sekret", "--key=sekret", "-ksekret"]}),
            "- args: [\"…\",\"--key\",\"…\",\"--key=…\",\"…\"]",
        ),
        (
            json!({"args": ["mcp", "--sekret-is-no-flag", "sekret"]}),
            "- args: [\"mcp\",\"--sekret-is-no-flag\",\"…\"]",
        ),
    ] {
        let hidden = |said: &str| !said.replace("--sekret-is", "").contains("sekret");
        let (person, _) = with(&entry);
        let refused = person.install(&["cursor", "--yes"]);
        assert!(hidden(&refused.stdout) && hidden(&refused.stderr), "{}{}", refused.stdout, refused.stderr);
        let (person, _) = with(&entry);
        let said = person.install(&["cursor", "--yes", "--", "--read-only"]).expect(0).stdout;
        assert!(said.contains(shown) && hidden(&said), "{said}");
        let (person, _) = with(&entry);
        let said = person.install(&["cursor", "--yes", "--remove"]).expect(0).stdout;
        assert!(said.contains(shown) && hidden(&said), "{said}");
    }
    let (person, _) =
        with(&json!({"command": "x", "apiKey": "sekret", "list": ["sekret"], "env": {"K": "sekret"}}));
    let said = person.install(&["cursor", "--yes", "--remove"]).expect(0).stdout;
    assert!(said.contains("- apiKey") && !said.contains("sekret"), "{said}");
}

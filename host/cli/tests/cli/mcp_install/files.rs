//! What becomes of the rest of a client's file, and of a file that is none of ours to change.

use super::Person;

/// Settings of other kinds, with comments, as people have them.
const SETTINGS: &str = "\u{feff}// mine\r\n{\r\n\t\"theme\": \"dark\", // as it was\r\n\t\"mcpServers\": {\r\n\t\t/* two */\r\n\t\t\"other\": {\"command\": \"x\", \"env\": {\"KEY\": \"sk-else\"}},\r\n\t},\r\n\t\"n\": 1e400,\r\n}\r\n";

#[test]
fn everything_else_in_the_file_stays_byte_for_byte() {
    let person = Person::new();
    person.home.write(".gemini/settings.json", SETTINGS);
    let said = person.install(&["gemini-cli", "--yes"]).expect(0).stdout;
    assert!(!said.contains("sk-else") && !said.contains("dark"), "{said}");
    let now = person.read(".gemini/settings.json");
    let (before, after) = SETTINGS.split_at(SETTINGS.find("\r\n\t},").unwrap());
    assert!(now.starts_with(before) && now.ends_with(after), "{now:?}");
    assert_eq!(person.read(".gemini/settings.json.bak"), SETTINGS);
    person.install(&["gemini-cli", "--yes", "--remove"]).expect(0);
    assert_eq!(person.read(".gemini/settings.json"), SETTINGS);
    // No file that was kept is written over.
    assert_eq!(person.read(".gemini/settings.json.bak2"), now);

    let toml = "# mine\nmodel = \"x\" # as it was\n\n[mcp_servers.other] # two\ncommand = 'x'\n\n[mcp_servers.other.env]\nKEY = \"sk\"\n\n[z]\na = 1\n";
    person.home.write(".codex/config.toml", toml);
    person.install(&["codex", "--yes"]).expect(0);
    let now = person.read(".codex/config.toml");
    let (before, after) = toml.split_at(toml.find("\n[z]").unwrap());
    assert!(
        now.starts_with(before) && now.ends_with(after) && now.contains("[mcp_servers.pinhole]"),
        "{now}"
    );
    person.install(&["codex", "--yes", "--remove"]).expect(0);
    assert_eq!(person.read(".codex/config.toml"), toml);
    for inline in ["mcp_servers = { other = { command = \"x\" } }\n", "mcp_servers.other.command = \"x\"\n"] {
        person.home.write(".codex/config.toml", inline);
        person.install(&["codex", "--yes"]).expect(0);
        let now: toml::Table = person.read(".codex/config.toml").parse().unwrap();
        assert_eq!(now["mcp_servers"]["pinhole"]["args"][0].as_str(), Some("mcp"));
        person.install(&["codex", "--yes", "--remove"]).expect(0);
        let now: toml::Table = person.read(".codex/config.toml").parse().unwrap();
        assert_eq!(now, inline.parse().unwrap());
    }
}

#[test]
fn a_file_that_cannot_be_read_whole_is_left_as_it_is() {
    let person = Person::new();
    let deep = "[".repeat(100_000);
    for (client, file, texts) in [
        (
            "cursor",
            ".cursor/mcp.json",
            &[
                "{",
                "[]",
                "7",
                "{\"mcpServers\": []}",
                "{\"mcpServers\": {\"pinhole\": 1}}",
                "{mcpServers: {}}",
                "{\"mcpServers\": {}, \"mcpServers\": {}}",
                "{\"mcpServers\": {\"pinhole\": {}, \"pinhol\\u0065\": {}}}",
                "{\"a\" 1}",
                "{'a': 1}",
                &deep,
            ][..],
        ),
        (
            "codex",
            ".codex/config.toml",
            &[
                "a = ",
                "[a]\n[a]\n",
                "mcp_servers = 1\n",
                "mcp_servers = []\n",
                "[mcp_servers]\npinhole = 1\n",
                "[[mcp_servers]]\n",
            ],
        ),
    ] {
        for text in texts {
            person.home.write(file, text);
            let ran = person.install(&[client, "--yes"]).expect(3);
            assert!(ran.stderr.contains(file), "{}", ran.stderr);
            assert_eq!(&person.read(file), text);
            assert_eq!(person.beside(file).len(), 1);
        }
    }
    person.home.write(".cursor/mcp.json", b"{\"a\": \"\xff\"}");
    person.install(&["cursor", "--yes"]).expect(3);
    std::fs::remove_file(person.home.path(".cursor/mcp.json")).unwrap();
    std::fs::create_dir(person.home.path(".cursor/mcp.json")).unwrap();
    person.install(&["cursor", "--yes"]).expect(3);
}

#[cfg(unix)]
#[test]
fn no_link_below_the_folder_is_followed_and_the_mode_stays() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let person = Person::new();
    let mode = |file: &str| std::fs::metadata(person.home.path(file)).unwrap().permissions().mode() & 0o777;
    let elsewhere = person.home.write("elsewhere/mcp.json", "{}");
    // A project of somebody else's, with a link to what is the person's.
    symlink(person.home.path("elsewhere"), person.home.path("project/.cursor")).unwrap();
    let ran = person.install(&["cursor", "--scope", "project", "--yes"]).expect(3);
    assert!(ran.stderr.contains("link"), "{}", ran.stderr);
    std::fs::create_dir(person.home.path(".cursor")).unwrap();
    symlink(&elsewhere, person.home.path(".cursor/mcp.json")).unwrap();
    person.install(&["cursor", "--yes"]).expect(3);
    symlink("nowhere", person.home.path("dangling.json")).unwrap();
    person.install(&["cursor", "--file", "../dangling.json", "--yes"]).expect(3);
    assert_eq!(person.read("elsewhere/mcp.json"), "{}");
    assert_eq!(person.beside("elsewhere/mcp.json"), ["mcp.json"]);
    // Named itself, it is written, and whoever could read it still can, and nobody else.
    std::fs::set_permissions(&elsewhere, std::fs::Permissions::from_mode(0o640)).unwrap();
    person.install(&["cursor", "--file", &elsewhere, "--yes"]).expect(0);
    assert_eq!((mode("elsewhere/mcp.json"), mode("elsewhere/mcp.json.bak")), (0o640, 0o640));
    // A new one of the person's is hers alone.
    person.install(&["claude-code", "--yes"]).expect(0);
    assert_eq!(mode(".claude.json"), 0o600);
}

#[cfg(unix)]
#[test]
fn what_another_is_writing_is_left_to_it() {
    let person = Person::new();
    let file = person.home.write("mcp.json", "{}");
    let held = std::fs::File::open(&file).unwrap();
    held.lock().unwrap();
    let ran = person.install(&["cursor", "--file", &file, "--yes"]).expect(3);
    assert!(ran.stderr.contains("changed meanwhile"), "{}", ran.stderr);
    assert_eq!((person.read("mcp.json").as_str(), person.home.path("mcp.json.bak").exists()), ("{}", false));
    drop(held);
    person.install(&["cursor", "--file", &file, "--yes"]).expect(0);
}

#[test]
fn of_many_at_once_whoever_says_that_it_wrote_did() {
    let person = Person::new();
    for there in [true, false] {
        let file = if there { person.home.write("mcp.json", "{}") } else { person.home.write("x/y", "") };
        let file = if there { file } else { file.replace("/y", "/mcp.json") };
        let name = |number: usize| format!("server-{number}");
        let ended = std::thread::scope(|scope| {
            let install = |number| {
                let (person, file) = (&person, &file);
                scope.spawn(move || {
                    person.install(&["cursor", "--file", file, "--name", &name(number), "--yes"]).status
                })
            };
            let started: Vec<_> = (0..8).map(install).collect();
            started.into_iter().map(|install| install.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(ended.contains(&0) && ended.iter().all(|status| [0, 3].contains(status)), "{ended:?}");
        let text = std::fs::read_to_string(&file).unwrap();
        let now: serde_json::Value = serde_json::from_str(&text).unwrap();
        for (number, status) in ended.iter().enumerate() {
            assert_eq!(now["mcpServers"].get(name(number)).is_some(), *status == 0, "{ended:?} {text}");
        }
    }
}

#[test]
fn a_file_that_would_take_long_is_left_as_it_is() {
    let person = Person::new();
    let many = |count: usize| {
        let members: Vec<String> = (0..count).map(|number| format!("\"{number}\":0")).collect();
        members.join(",")
    };
    for (text, status) in [
        (format!("{{\"mcpServers\":{{{}}}}}", many(2_001)), 3),
        (format!("{{\"mcpServers\":{{\"pinhole\":{{{}}}}}}}", many(2_001)), 3),
        (format!("{{{}}}", many(2_001)), 3),
        // What is not changed costs nothing.
        (format!("{{\"other\":{{{}}}}}", many(20_000)), 0),
    ] {
        person.home.write(".cursor/mcp.json", &text);
        let ran = person.install(&["cursor", "--yes"]).expect(status);
        assert_eq!(ran.stderr.contains("more than 2000 members"), status == 3, "{}", ran.stderr);
        assert_eq!(person.read(".cursor/mcp.json") == text, status == 3);
    }
    // A project's may be somebody else's. The person's own may have more in it than settings.
    let long = format!("{{\"history\": \"{}\"}}", "x".repeat(1 << 20));
    person.home.write("project/.cursor/mcp.json", &long);
    let ran = person.install(&["cursor", "--scope", "project", "--yes"]).expect(3);
    assert!(ran.stderr.contains("1048576 bytes") && ran.stderr.contains("--print"), "{}", ran.stderr);
    assert_eq!(person.read("project/.cursor/mcp.json"), long);
    person.home.write(".cursor/mcp.json", &long);
    person.install(&["cursor", "--yes"]).expect(0);
}

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

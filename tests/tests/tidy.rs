//! Holds the code to `docs/architecture.md`: what every file opens with, which arrows exist, who may do what, and that
//! the docs name every refusal.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pinhole_runtime::outcome::Code;
use pinhole_runtime::sandbox::SandboxSettings;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            // What must not compile says so by its name.
            if path.is_dir() && path.ends_with("ui") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    assert!(!found.is_empty(), "{} has no source", folder.display());
    found
}

const CRATES: [&str; 9] = [
    "registry/manifest",
    "registry/trust",
    "host/grant",
    "host/runtime",
    "host/server",
    "host/standin",
    "host/cli",
    "host/client",
    "tests",
];

#[test]
fn every_file_says_what_it_is_for() {
    let guests =
        ["guest-sdk/rust/src", "guest-sdk/rust/example/src", "guest-sdk/rust/template/src", "manifests"];
    for folder in CRATES.iter().chain(&guests) {
        for (path, text) in sources(&root().join(folder)) {
            assert!(text.starts_with("//!"), "{} does not open with `//!`", path.display());
        }
    }
}

#[test]
fn crates_point_one_way() {
    let allowed: &[(&str, &[&str])] = &[
        ("registry/manifest", &[]),
        ("registry/trust", &["pinhole-manifest"]),
        ("host/grant", &["pinhole-manifest"]),
        ("host/runtime", &["pinhole-grant", "pinhole-manifest"]),
        ("host/server", &["pinhole-grant", "pinhole-manifest", "pinhole-runtime"]),
        ("host/standin", &[]),
        ("host/client", &[]),
        (
            "host/cli",
            &[
                "pinhole-grant",
                "pinhole-manifest",
                "pinhole-registry",
                "pinhole-runtime",
                "pinhole-server",
                "pinhole-standin",
            ],
        ),
    ];
    for (folder, allowed) in allowed {
        let text = std::fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        let dependencies = text.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
        let ours: BTreeSet<&str> = dependencies
            .lines()
            .filter_map(|line| line.split(['.', ' ', '=']).next())
            .filter(|name| name.starts_with("pinhole"))
            .collect();
        assert!(ours.iter().all(|name| allowed.contains(name)), "{folder} depends on {ours:?}");
    }
}

/// Which rooms of the runtime may use which. The spine (`call`), what is above it (`local`) and `replay` may use all.
#[test]
fn rooms_of_the_runtime_point_one_way() {
    let allowed: &[(&str, &[&str])] = &[
        ("book", &["entropy", "receipts", "store"]),
        ("receipts", &["net"]),
        ("beside", &["catalog", "sandbox"]),
        ("clock", &[]),
        ("entropy", &[]),
        ("catalog", &[]),
        ("net", &[]),
        ("oauth", &["clock", "entropy", "net"]),
        ("project", &[]),
        ("render", &[]),
        ("renew", &["entropy", "net", "oauth", "store"]),
        ("sandbox", &["entropy"]),
        ("scrub", &["project"]),
        ("store", &["receipts"]),
        ("outcome", &["net", "project", "receipts", "store"]),
    ];
    let src = root().join("host/runtime/src");
    for (path, text) in sources(&src) {
        let relative = path.strip_prefix(&src).unwrap();
        // What a room's own tests look at it with is no arrow.
        if relative.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        let room =
            relative.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs");
        let Some((_, allowed)) = allowed.iter().find(|(name, _)| *name == room) else {
            assert!(
                ["call", "local", "replay", "lib"].contains(&room),
                "`{room}` is not in the table of this test"
            );
            continue;
        };
        for used in text.split("crate::").skip(1) {
            let used: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if used.is_empty() || used == room {
                continue;
            }
            assert!(allowed.contains(&used.as_str()), "{} uses `{used}`", path.display());
        }
    }
}

/// Which rooms of the server may use which. No door but the member's own page knows her key.
#[test]
fn rooms_of_the_server_point_one_way() {
    let allowed: &[(&str, &[&str])] = &[
        ("broker", &["http"]),
        ("callback", &["http"]),
        ("principal", &[]),
        ("research", &["Reach", "mcp"]),
        ("tokens", &["Reach"]),
        ("http", &["BearerToken", "Principal", "Reach", "tokens"]),
        ("page", &["http"]),
        ("mcp", &["Principal", "Reach", "http", "page"]),
        ("sidecar", &["Reach", "http", "mcp", "research"]),
    ];
    let src = root().join("host/server/src");
    for (path, text) in sources(&src) {
        let relative = path.strip_prefix(&src).unwrap();
        let room =
            relative.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs");
        if room == "lib" {
            continue;
        }
        let found = allowed.iter().find(|(name, _)| *name == room);
        let (_, allowed) = found.unwrap_or_else(|| panic!("`{room}` is not in the table of this test"));
        for used in text.split("crate::").skip(1) {
            let used: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let may = used.is_empty() || used == room || allowed.contains(&used.as_str());
            assert!(may, "{} uses `{used}`", path.display());
        }
        if room != "page" {
            for word in ["Present", "open_credential", "Passphrase", "KeyKind::Member"] {
                assert!(!text.contains(word), "{} says `{word}`", path.display());
            }
        }
    }
}

/// What only one room may touch.
#[test]
fn only_the_right_room_does_it() {
    let rules: [(&str, &[&str]); 8] = [
        ("reqwest::", &["host/runtime/src/net"]),
        ("lookup_host", &["host/runtime/src/net"]),
        (
            "TcpStream",
            &[
                "host/client",
                "host/runtime/src/net",
                "host/server/src/http",
                "host/server/src/page",
                "host/standin",
                "registry/trust/src/serve",
            ],
        ),
        ("UdpSocket", &[]),
        ("wasmtime::", &["host/runtime/src/sandbox"]),
        ("Permit::new", &["host/runtime/src/net", "host/runtime/src/call/send.rs"]),
        ("TokenPermit::to", &["host/runtime/src/oauth"]),
        (".secret()", &["host/grant", "host/runtime/src/call"]),
    ];
    for folder in CRATES.iter().filter(|folder| **folder != "tests") {
        for (path, text) in sources(&root().join(folder).join("src")) {
            let relative = path.strip_prefix(root()).unwrap().to_str().unwrap();
            if relative.contains("/tests/") || relative.ends_with("tests.rs") {
                continue;
            }
            for (word, rooms) in rules {
                let may = rooms.iter().any(|room| relative.starts_with(room));
                assert!(may || !text.contains(word), "{relative} says `{word}`");
            }
        }
    }
}

/// The compiler refuses it wherever this finds none: in the runtime by a lint that one place says it expects to break.
#[test]
fn unsafe_code_stands_in_one_place() {
    let mut found = Vec::new();
    for folder in CRATES.iter().filter(|folder| **folder != "tests") {
        for (path, text) in sources(&root().join(folder)) {
            let code = text.lines().map(|line| line.split("//").next().unwrap());
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let words = code.flat_map(|line| line.split(move |c| !is_part(c)));
            for word in words.filter(|word| ["unsafe", "unsafe_code"].contains(word)) {
                let path = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
                found.push((path, word.to_owned()));
            }
        }
        // The runtime's is denied, and expected once.
        let roots = ["src/lib.rs", "src/main.rs"].map(|name| root().join(folder).join(name));
        let forbids = roots
            .iter()
            .filter(|path| path.exists())
            .all(|path| std::fs::read_to_string(path).unwrap().contains("\n#![forbid(unsafe_code)]\n"));
        assert_eq!(forbids, *folder != "host/runtime", "{folder}");
    }
    found.retain(|(path, word)| word == "unsafe" || path.starts_with("host/runtime"));
    let sealed = "host/runtime/src/sandbox/cache/sealed.rs";
    let once = ["unsafe_code", "unsafe"].map(|word| (sealed.to_owned(), word.to_owned()));
    assert_eq!(found, once);
    let lints = |file: &str| std::fs::read_to_string(root().join(file)).unwrap();
    assert!(lints("Cargo.toml").contains("\nunsafe_code = \"deny\"\n"));
    assert!(lints("host/runtime/Cargo.toml").contains("\n[lints]\nworkspace = true\n"));
    assert!(lints("tests/Cargo.toml").contains("\nunsafe_code = \"forbid\"\n"));
}

#[test]
fn pure_crates_do_nothing() {
    let words =
        ["std::fs", "std::net", "std::env", "tokio", "SystemTime", "Instant::now", "async fn", "println!"];
    for folder in ["registry/manifest/src", "host/grant/src"] {
        for (path, text) in sources(&root().join(folder)) {
            if path.ends_with("tests.rs") || path.components().any(|part| part.as_os_str() == "tests") {
                continue;
            }
            let code = text.split("#[cfg(test)]").next().unwrap();
            for word in words {
                assert!(!code.contains(word), "{} says `{word}`", path.display());
            }
        }
    }
}

#[test]
fn the_docs_name_every_refusal() {
    let docs = std::fs::read_to_string(root().join("docs/refusals.md")).unwrap();
    let rows: Vec<&str> = docs.lines().filter(|line| line.starts_with("| `")).collect();
    let wanted: Vec<String> = Code::ALL
        .iter()
        .map(|code| format!("| `{code}` | {} | {} |", code.sentence(), code.hint()))
        .collect();
    assert_eq!(rows, wanted);
    let names: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(names.len(), Code::ALL.len());
}

/// The operator's guide has each setting of modules as it usually is, with the least and the most that it can be.
#[test]
fn the_docs_name_every_setting_of_modules() {
    let docs = std::fs::read_to_string(root().join("docs/operator-guide.md")).unwrap();
    let block = docs.split("\n[sandbox]\n").nth(1).unwrap().split("```").next().unwrap();
    let usual = SandboxSettings::default();
    let mut names = BTreeSet::new();
    for line in block.lines() {
        let (setting, said) = line.split_once('#').unwrap();
        let (name, value) = setting.trim().split_once(" = ").unwrap();
        assert_eq!(usual.with(name, value.parse().unwrap()), Ok(usual), "{line}");
        let range = said.rsplit_once('(').unwrap().1.split([';', ')']).next().unwrap();
        let (least, most) = range.split_once(" to ").unwrap();
        let (least, most): (i64, i64) = (least.parse().unwrap(), most.parse().unwrap());
        let takes = |value: Option<i64>| value.is_some_and(|value| usual.with(name, value).is_ok());
        assert!(takes(Some(least)) && takes(Some(most)), "{line}");
        assert!(!takes(least.checked_sub(1)) && !takes(most.checked_add(1)), "{line}");
        names.insert(name);
    }
    let fields = format!("{usual:#?}");
    assert_eq!(names, fields.lines().filter_map(|line| Some(line.trim().split_once(": ")?.0)).collect());
}

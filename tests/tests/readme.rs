//! Holds the README, the guides and the examples to the code: their commands run, their outputs come, their tables are the
//! code's, their links lead somewhere.
//!
//! Dials nothing but loopback. Builds the command and the stand-in first, if they are not there already.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests, which end where something is not as it should be"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use pinhole_manifest::diagnostic::Code;
use pinhole_manifest::pick::{Pick, Projection};
use pinhole_manifest::{Manifest, OpId};
use pinhole_runtime::project::{ProjectError, Tree, project};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn page(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A fenced block of a page.
struct Block {
    language: String,
    /// The line of its first line, from 1.
    line: usize,
    lines: Vec<String>,
}

impl Block {
    fn text(&self) -> String {
        self.lines.join("\n")
    }
}

/// The fenced blocks below a heading, up to the next heading of its level.
fn blocks(page: &str, heading: &str) -> Vec<Block> {
    let level = heading.split(' ').next().unwrap();
    let mut found: Vec<Block> = Vec::new();
    let (mut open, mut inside) = (false, heading.is_empty());
    for (number, line) in page.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(_) if open => open = false,
            Some(language) => {
                open = true;
                if inside {
                    found.push(Block { language: language.into(), line: number + 2, lines: Vec::new() });
                }
            }
            None if open && inside => found.last_mut().unwrap().lines.push(line.to_owned()),
            None if !open && !level.is_empty() && line.starts_with(&format!("{level} ")) => {
                inside = line == heading;
            }
            None => {}
        }
    }
    assert!(!open, "a block is not closed");
    assert!(!found.is_empty(), "no block below `{heading}`");
    found
}

/// The folder with the built `pinhole`, and in `examples/` the built `serve`: the profile of this very test.
fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let test = std::env::current_exe().unwrap();
        let folder = test.parent().and_then(Path::parent).unwrap().to_owned();
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--locked", "--bin", "pinhole", "--example", "serve"]);
        if folder.ends_with("release") {
            cargo.arg("--release");
        }
        cargo.env("CARGO_TARGET_DIR", folder.parent().unwrap()).current_dir(root());
        assert!(cargo.status().unwrap().success(), "the command and the stand-in do not build");
        folder
    })
}

fn pinhole(args: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(built().join("pinhole"));
    command.args(args).current_dir(root()).env("PINHOLE_HOME", home.path()).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

const TOUR: &str = "## A two-minute tour";

/// The block that builds, as the README has it; here the binaries are built already.
const BUILD: &str = "cargo build --release --bin pinhole --example serve\n\
    export PATH=\"$PWD/target/release:$PWD/target/release/examples:$PATH\"";

/// The tour of a page as one script that stops where a command ends in another way than the page says: with 0, or as its `# exit N`.
fn tour(text: &str, name: &str, heading: &str) -> String {
    let built = built().display();
    let mut script = String::from("exec 2>&1\ntrap 'kill $(jobs -p) 2>/dev/null' EXIT\n");
    writeln!(script, "check() {{ [ $1 = $2 ] || {{ echo \"{name}:$3: exit $1, not $2\"; exit 1; }}; }}")
        .unwrap();
    writeln!(script, "export PATH=\"{built}:{built}/examples:$PATH\"").unwrap();
    let shell = blocks(text, heading).into_iter().filter(|block| block.language == "sh");
    for block in shell.filter(|block| block.text() != BUILD) {
        for (line, command) in (block.line..).zip(&block.lines) {
            writeln!(script, "{command}").unwrap();
            if !command.ends_with('\\') {
                let status = command.split_once("# exit ").map_or("0", |(_, status)| status);
                writeln!(script, "check $? {status} {line}").unwrap();
            }
        }
    }
    script
}

/// Runs the tour of a page, and gives what it printed.
fn toured(page: &str, name: &str, heading: &str) -> String {
    let scratch = tempfile::tempdir().unwrap();
    let mut bash = Command::new("bash");
    bash.args(["-u", "-c", &tour(page, name, heading)]).current_dir(root()).env("TMPDIR", scratch.path());
    let ran = bash.env_remove("PINHOLE_HOME").output().unwrap();
    assert!(ran.status.success(), "{}", text(&ran));
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0, "the tour leaves something behind");
    text(&ran)
}

#[test]
fn the_tour_of_the_sidecar_runs_and_prints_what_its_page_shows() {
    let guide = page("docs/sidecar.md");
    let printed = toured(&guide, "docs/sidecar.md", "## A tour");
    let printed: Vec<&str> = printed.lines().map(str::trim).collect();
    let shown = blocks(&guide, "## A tour").into_iter().filter(|block| block.language == "text");
    let shown: Vec<String> = shown.flat_map(|block| block.lines).collect();
    assert!(shown.len() >= 10);
    for line in shown.iter().map(|line| line.trim()) {
        assert!(printed.contains(&line), "nothing prints `{line}`: {printed:#?}");
    }
    assert!(printed.iter().any(|line| line.contains("\"title\":\"The lamp flickers\"")), "{printed:#?}");
}

#[test]
fn the_tour_runs_and_prints_what_the_readme_shows() {
    let readme = page("README.md");
    assert_eq!(blocks(&readme, TOUR).first().unwrap().text(), BUILD);
    let ran = toured(&readme, "README.md", TOUR);

    let demo = pinhole(&["demo"]);
    assert!(demo.status.success());
    let printed = ran + &text(&demo);
    let printed: Vec<&str> = printed.lines().map(str::trim).collect();
    let shown: Vec<Block> =
        blocks(&readme, "").into_iter().filter(|block| block.language == "text").collect();
    assert!(shown.len() >= 4);
    for line in shown.iter().flat_map(|block| &block.lines).map(|line| line.trim()) {
        assert!(line.is_empty() || printed.contains(&line), "nothing prints `{line}`");
    }
    for command in ["cargo run --release --bin pinhole -- demo", "cargo test --workspace"] {
        assert!(readme.contains(&format!("\n{command}\n")));
    }
}

#[test]
fn the_example_is_the_one_of_the_guide_and_holds() {
    let guide = page("docs/manifest-guide.md");
    let [example] = <[Block; 1]>::try_from(blocks(&guide, "## A whole example")).ok().unwrap();
    assert_eq!(example.text(), page("examples/manifest/manifest.json").trim_end());
    let [case] = <[Block; 1]>::try_from(blocks(&guide, "## Cases")).ok().unwrap();
    assert_eq!(case.text(), page("examples/manifest/cases/list_tasks.result.json").trim_end());

    let checked = pinhole(&["manifest", "check", "examples/manifest"]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked));
    let tested = pinhole(&["manifest", "test", "examples/manifest"]);
    assert_eq!(tested.status.code(), Some(0), "{}", text(&tested));
    let cases = std::fs::read_dir(root().join("examples/manifest/cases")).unwrap().count();
    assert!(text(&tested).contains(&format!("{cases} passed, 0 failed")));
    let args = ["--unsigned", "--arg", "list=home", "--arg", "title=Mend the gate"];
    let explain = ["explain", "tasklist.add_task", "--manifest", "examples/manifest/manifest.json"];
    let explained = pinhole(&[&explain[..], &args[..]].concat());
    assert!(text(&explained).contains("POST https://api.example.com/v1/lists/home/tasks"));
}

#[test]
fn the_guide_lists_every_diagnostic() {
    let guide = page("docs/manifest-guide.md");
    let (_, table) = guide.split_once("## Every diagnostic").unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| `")).collect();
    let wanted: Vec<String> =
        Code::ALL.iter().map(|code| format!("| `{}` | {} |", code.as_str(), code.explain())).collect();
    assert_eq!(rows, wanted);
}

/// A manifest with one op, of this pick.
fn with_pick(pick: &str) -> Manifest {
    let text = format!(
        r#"{{"pinhole": 1, "id": "thing", "version": "1.0.0", "name": "Thing", "summary": "Things.",
        "host": "api.example.com", "auth": {{"scheme": "bearer"}}, "ops": {{"it": {{"access": "read",
        "summary": "Does it.", "request": {{"method": "GET", "path": "/"}}, "pick": {pick}}}}}}}"#
    );
    pinhole_manifest::read(text.as_bytes())
        .into_result()
        .unwrap_or_else(|faults| panic!("{pick}: {faults:?}"))
}

fn projection(manifest: &Manifest) -> &Projection {
    match &manifest.op(&OpId::parse("it").unwrap()).unwrap().pick {
        Pick::Fields(projection) => projection,
        Pick::None => panic!("a pick of fields"),
    }
}

#[test]
fn the_picks_of_the_guide_give_what_it_says() {
    let guide = page("docs/manifest-guide.md");
    let picks = blocks(&guide, "## Pick");
    assert!(picks.len() >= 10);
    for block in picks {
        assert_eq!(block.language, "pick");
        let member = |name: &str| {
            let line = block.lines.iter().find_map(|line| line.strip_prefix(name));
            line.map(|line| line.trim_start_matches(':').trim())
        };
        let document = Tree::parse(member("answer").unwrap().as_bytes()).unwrap();
        let manifest = with_pick(member("pick").unwrap());
        match project(document, projection(&manifest)) {
            Ok(picked) => {
                let wanted = Tree::parse(member("result").unwrap().as_bytes()).unwrap();
                assert_eq!(picked.value, wanted, "line {}", block.line);
                let noted = serde_json::to_string(&picked.notes).unwrap();
                assert_eq!(noted, member("notes").unwrap_or("[]"), "line {}", block.line);
            }
            Err(error) => {
                let code = match error {
                    ProjectError::RootAbsent { .. } => "root_absent",
                    ProjectError::DuplicateKey { .. } => "duplicate_key",
                };
                assert_eq!(member("refusal"), Some(code), "line {}", block.line);
            }
        }
    }
}

/// The anchors that a page's headings make.
fn anchors(page: &str) -> Vec<String> {
    let heading = |line: &str| line.starts_with('#').then(|| line.trim_start_matches('#').trim().to_owned());
    let anchor = |heading: String| {
        let kept = heading.to_lowercase();
        kept.chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
            .collect::<String>()
            .replace(' ', "-")
    };
    page.lines().filter_map(heading).map(anchor).collect()
}

#[test]
fn links_lead_somewhere() {
    let docs = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md"];
    let mut links = 0;
    for path in docs.chain(pages.map(|page| root().join(page))) {
        let text = std::fs::read_to_string(&path).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            if file.starts_with("https:") {
                continue;
            }
            links += 1;
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: `{link}` leads nowhere", path.display());
            if !anchor.is_empty() {
                let there = anchors(&std::fs::read_to_string(&target).unwrap());
                assert!(there.iter().any(|one| one == anchor), "{}: no `{link}`", path.display());
            }
        }
    }
    assert!(links > 20);
}

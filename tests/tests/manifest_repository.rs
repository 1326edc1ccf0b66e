//! The example of a manifest repository does what it says: what its check passes, and what it stops.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// A copy of the example in a git repository of its own.
struct Repository(tempfile::TempDir);

/// What a command did.
struct Ran {
    status: i32,
    said: String,
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/registry")
}

/// The binary that the tests were built beside.
fn pinhole() -> PathBuf {
    let mut folder = std::env::current_exe().unwrap();
    folder.pop();
    folder.pop();
    let binary = folder.join("pinhole");
    assert!(binary.exists(), "`cargo build --bin pinhole` makes {}", binary.display());
    binary
}

impl Repository {
    fn new() -> Self {
        let repository = Self(tempfile::tempdir().unwrap());
        copy(&example(), repository.0.path());
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.commit();
        repository
    }

    fn git(&self, words: &[&str]) {
        let who = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
        let status = Command::new("git").args(who).args(words).current_dir(self.0.path()).status().unwrap();
        assert!(status.success(), "git {words:?}");
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "a change"]);
    }

    fn change(&self, change: impl FnOnce(&mut Value)) {
        let file = self.0.path().join("manifests/notes/manifest.json");
        let mut manifest: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        change(&mut manifest);
        std::fs::write(&file, serde_json::to_vec_pretty(&manifest).unwrap()).unwrap();
        self.commit();
    }

    /// The check against the commit before, as a fork runs it.
    fn check(&self, with: &[(&str, &str)]) -> Ran {
        let summary = self.0.path().join("summary.md");
        let mut command = Command::new("./check");
        command.arg("HEAD~1").current_dir(self.0.path()).env("PINHOLE", pinhole());
        command.env("GITHUB_STEP_SUMMARY", &summary).env_remove("GITHUB_ACTIONS").envs(with.iter().copied());
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said = text(&output.stdout) + &text(&output.stderr);
        Ran { status: output.status.code().unwrap(), said }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() { copy(&path, &target) } else { std::fs::copy(&path, &target).map(drop).unwrap() }
    }
}

#[test]
fn what_is_as_it_was_passes() {
    let repository = Repository::new();
    repository.commit();
    let ran = repository.check(&[]);
    assert_eq!(ran.status, 0, "{}", ran.said);
    assert!(ran.said.contains("5 passed, 0 failed"), "{}", ran.said);
}

#[test]
fn what_is_narrower_passes_and_what_widens_is_stopped_until_it_was_reviewed() {
    let repository = Repository::new();
    repository.change(|manifest| {
        manifest["version"] = json!("1.0.1");
        manifest["ops"]["create_note"]["args"]["properties"]["text"]["maxLength"] = json!(5000);
    });
    let ran = repository.check(&[]);
    assert_eq!(ran.status, 0, "{}", ran.said);

    repository.change(|manifest| {
        manifest["version"] = json!("1.1.0");
        manifest["ops"]["create_note"]["args"]["properties"]["text"]["maxLength"] = json!(20000);
    });
    let ran = repository.check(&[]);
    assert_eq!(ran.status, 1, "{}", ran.said);
    assert!(ran.said.contains("create\\_note") || ran.said.contains("create_note"), "{}", ran.said);
    let summary = std::fs::read_to_string(repository.0.path().join("summary.md")).unwrap();
    assert!(summary.contains("20000"), "{summary}");
    let ran = repository.check(&[("WIDENING", "reviewed")]);
    assert_eq!(ran.status, 0, "{}", ran.said);
    // Whoever reviewed it, the version has to say so.
    repository.change(|manifest| {
        manifest["ops"]["create_note"]["args"]["properties"]["text"]["maxLength"] = json!(30000);
    });
    let ran = repository.check(&[("WIDENING", "reviewed")]);
    assert_eq!(ran.status, 1, "{}", ran.said);
}

#[test]
fn the_last_manifest_may_leave() {
    let repository = Repository::new();
    std::fs::remove_dir_all(repository.0.path().join("manifests/notes")).unwrap();
    repository.commit();
    assert_eq!(repository.check(&[]).status, 0);
}

#[test]
fn what_does_not_load_or_breaks_a_case_is_stopped_whoever_reviewed_it() {
    let repository = Repository::new();
    repository.change(|manifest| manifest["host"] = json!("10.0.0.1"));
    assert_ne!(repository.check(&[("WIDENING", "reviewed")]).status, 0);
    let repository = Repository::new();
    repository.change(|manifest| {
        manifest["version"] = json!("1.1.0");
        manifest["ops"]["get_viewer"]["pick"]["fields"] = json!(["name", "email"]);
    });
    let ran = repository.check(&[("WIDENING", "reviewed")]);
    assert_ne!(ran.status, 0, "{}", ran.said);
    assert!(ran.said.contains("1 failed") && ran.said.contains("email"), "{}", ran.said);
}

#[test]
fn the_workflow_runs_the_one_command_with_no_right_to_write() {
    let text = std::fs::read_to_string(example().join(".github/workflows/manifests.yml")).unwrap();
    assert!(text.contains("run: ./check \"${BASE:-}\""), "{text}");
    assert!(text.contains("permissions:\n  contents: read\n"), "{text}");
    // A workflow of that kind would run a stranger's change with the repository's own rights.
    assert!(!text.contains("pull_request_target"), "{text}");
    assert!(!text.contains("secrets."), "{text}");
}

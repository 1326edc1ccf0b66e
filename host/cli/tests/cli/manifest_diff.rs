//! `pinhole manifest diff`: exit statuses, two sides of every kind, and four shapes that no text of a manifest breaks.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::home::{Home, Ran};
use crate::vectors;

fn github() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../manifests/github/manifest.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn write(home: &Home, name: &str, manifest: &Value) {
    home.write(name, serde_json::to_vec_pretty(manifest).unwrap());
}

fn diff(home: &Home, args: &[&str]) -> Ran {
    home.run(&[&["manifest", "diff"], args].concat())
}

/// Runs git on the repository of a home, with nothing of the machine's own settings.
fn git(home: &Home, args: &[&str]) {
    let ran = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@pinhole.dev", "-c", "commit.gpgsign=false"])
        .args(args)
        .current_dir(home.path(""))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(ran.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn every_vector_is_compared_as_it_says() {
    let home = Home::empty();
    for vector in vectors::diffs() {
        write(&home, "old.json", &vector.old);
        write(&home, "new.json", &vector.new);
        let stops = vector.version != "right" || vector.changes.iter().any(|line| !line.starts_with('n'));
        let found = diff(&home, &["old.json", "new.json", "--json"]).expect(i32::from(stops)).json();
        let lines = |service: &Value| -> Vec<String> {
            let line = |change: &Value| {
                let text = |name: &str| change[name].as_str().unwrap().to_owned();
                assert!(change["line"].as_u64() >= Some(1), "{change}");
                format!("{} {} {}", text("direction"), text("kind"), text("pointer")).trim_end().to_owned()
            };
            service["changes"].as_array().unwrap().iter().map(line).collect()
        };
        let services = found["services"].as_array().unwrap();
        let found: Vec<String> = services.iter().flat_map(lines).collect();
        assert_eq!(found, vector.changes, "{}", vector.name);
        let version =
            services.first().map_or("right", |service| service["version"]["verdict"].as_str().unwrap());
        assert_eq!(version, vector.version, "{}", vector.name);
    }
}

#[test]
fn a_real_manifest_that_changes_is_told_of_in_every_shape() {
    let home = Home::empty();
    let mut new = github();
    write(&home, "old/manifest.json", &new);
    new["version"] = json!("1.1.1");
    new["ops"]["list_repos"]["pick"]["fields"].as_array_mut().unwrap().push(json!("owner.email"));
    new["ops"]["list_repos"]["limits"] = json!({"timeout_ms": 10_000});
    let op = new["ops"]["create_issue"].as_object_mut().unwrap();
    op.insert("confirm".into(), json!("Have a look at {title} in {owner}/{repo}?"));
    write(&home, "new/manifest.json", &new);
    let shown =
        ["--annotations", "--markdown"].map(|shape| diff(&home, &["old", "new", shape]).expect(1).stdout);
    let text = diff(&home, &["old", "new"]).expect(1).stdout;
    insta::assert_snapshot!("diff", format!("{text}\n{}", shown.join("\n")));
    assert_eq!(diff(&home, &["old", "old"]).expect(0).stdout, "nothing changed\n");
    assert_eq!(diff(&home, &["old", "old", "--annotations"]).expect(0).stdout, "");
    assert_eq!(diff(&home, &["old", "old", "--json"]).expect(0).json()["services"], json!([]));
    // Whatever was added is gone on the way back.
    let back = diff(&home, &["new", "old", "--json"]).expect(1).json();
    assert_eq!(back["services"][0]["version"]["verdict"], "backwards");
}

#[test]
fn the_status_says_whether_somebody_has_to_say_yes() {
    let home = Home::empty();
    let mut manifest = github();
    let version = |manifest: &Value, version: &str| {
        let mut manifest = manifest.clone();
        manifest["version"] = json!(version);
        manifest
    };
    let old = version(&manifest, "1.0.0");
    write(&home, "old.json", &old);
    manifest.as_object_mut().unwrap().remove("docs");
    for (number, status) in [("1.0.0", 1), ("1.0.1", 0), ("1.1.0", 0), ("0.9.0", 1), ("1.0.0+1", 1)] {
        write(&home, "new.json", &version(&manifest, number));
        diff(&home, &["old.json", "new.json"]).expect(status);
    }
    manifest["host"] = json!("api.evil.com");
    for number in ["1.0.1", "1.1.0", "2.0.0"] {
        write(&home, "new.json", &version(&manifest, number));
        let found = diff(&home, &["old.json", "new.json", "--json"]).expect(1).json();
        assert_eq!(found["versions_right"].as_bool(), Some(number != "1.0.1"));
    }
}

#[test]
fn what_does_not_load_is_never_narrower() {
    let home = Home::empty();
    write(&home, "good/acme/manifest.json", &github());
    let broken = "{\"pinhole\": 1, \"host\": \"api.github.com:80\"}";
    home.write("bad/acme/manifest.json", broken);
    for sides in [["good", "bad"], ["bad", "good"], ["bad", "bad"], ["good/acme", "bad/acme"]] {
        for shape in [&[][..], &["--json"], &["--markdown"], &["--annotations"]] {
            let ran = diff(&home, &[&sides, shape].concat()).expect(4);
            assert!(ran.stdout.contains("host_port"), "{sides:?} {shape:?}: {}", ran.stdout);
            assert!(!ran.stdout.contains("narrows"), "{}", ran.stdout);
        }
        let found = diff(&home, &[sides[0], sides[1], "--json"]).expect(4).json();
        assert_eq!((found["valid"].as_bool(), found["services"].as_array().unwrap().len()), (Some(false), 0));
    }
}

#[test]
fn folders_are_compared_service_by_service() {
    let home = Home::empty();
    let of = |id: &str, host: &str| {
        let mut manifest = github();
        (manifest["id"], manifest["host"]) = (json!(id), json!(host));
        manifest
    };
    for (side, id, host) in [
        ("old", "kept", "api.a.com"),
        ("new", "kept", "api.a.com"),
        ("old", "gone", "api.a.com"),
        ("new", "fresh", "api.a.com"),
        ("old", "moved", "api.a.com"),
        ("new", "moved", "api.b.com"),
    ] {
        write(&home, &format!("{side}/{id}/manifest.json"), &of(id, host));
    }
    home.write("old/notes.txt", "not a folder");
    let found = diff(&home, &["old", "new", "--json"]).expect(1).json();
    let services: Vec<_> = found["services"].as_array().unwrap().iter().collect();
    let said: Vec<_> =
        services.iter().map(|one| [&one["service"], &one["what"]].map(|it| it.as_str().unwrap())).collect();
    assert_eq!(said, [["fresh", "added"], ["gone", "removed"], ["moved", "changed"]]);
    let widens: Vec<_> = services.iter().map(|one| one["widens"].as_bool().unwrap()).collect();
    assert_eq!(widens, [true, false, true]);
    // A folder that holds none is nothing before, and a mistake now.
    std::fs::create_dir(home.path("hollow")).unwrap();
    let all = diff(&home, &["hollow", "new", "--json"]).expect(1).json();
    assert_eq!(all["services"].as_array().unwrap().len(), 3);
    diff(&home, &["old", "hollow"]).expect(2);
    diff(&home, &["old", "absent"]).expect(2);
    diff(&home, &["old", "new/kept"]).expect(2);
    write(&home, "new/twice/manifest.json", &of("kept", "api.a.com"));
    diff(&home, &["old", "new"]).expect(4);
}

#[test]
fn a_revision_of_git_is_a_side_like_any_other() {
    let home = Home::empty();
    git(&home, &["init", "-q"]);
    let mut manifest = github();
    write(&home, "manifests/github/manifest.json", &manifest);
    git(&home, &["add", "-A"]);
    git(&home, &["commit", "-q", "-m", "one"]);
    git(&home, &["tag", "one"]);
    manifest["host"] = json!("api.evil.com");
    write(&home, "manifests/github/manifest.json", &manifest);
    git(&home, &["commit", "-q", "-a", "-m", "two"]);
    manifest["host"] = json!("api.worse.com");
    write(&home, "manifests/github/manifest.json", &manifest);
    let full = home.path("manifests").display().to_string();
    for (old, new, host) in [
        ("git:one", "manifests", "api.worse.com"),
        ("git:one", "manifests/github", "api.worse.com"),
        ("git:one", "manifests/github/manifest.json", "api.worse.com"),
        ("git:one", "./manifests/", "api.worse.com"),
        ("git:one", &full, "api.worse.com"),
        ("git:one:manifests", "git:HEAD", "api.evil.com"),
        ("git:HEAD~1", "git:HEAD:manifests/github", "api.evil.com"),
        ("git:HEAD", "manifests", "api.worse.com"),
    ] {
        let found = diff(&home, &[old, new, "--json"]).expect(1).json();
        let change = &found["services"][0]["changes"][0];
        assert_eq!(
            (change["kind"].as_str(), change["after"].as_str()),
            (Some("host"), Some(host)),
            "{old} {new}"
        );
    }
    diff(&home, &["git:one", "git:one:manifests"]).expect(0);
    // What a revision does not have is new; what the new side does not have is a mistake.
    write(&home, "manifests/acme/manifest.json", &manifest);
    let found = diff(&home, &["git:one", "manifests/acme", "--json"]).expect(1).json();
    assert_eq!(found["services"][0]["what"], "added");
    diff(&home, &["manifests", "git:one:absent"]).expect(2);
    for bad in
        ["git:", "git::manifests", "git:absent:manifests", "git:one:", "git:-h:manifests", "git:one^{tree}:x"]
    {
        diff(&home, &[bad, "manifests"]).expect(2);
    }
    diff(&home, &["git:one", "git:HEAD"]).expect(2);
}

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

/// What of Markdown stands outside of its code spans (CommonMark 0.31, section 6.1).
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

#[test]
fn flags_that_do_not_go_together_are_refused() {
    let home = Home::empty();
    write(&home, "a.json", &github());
    for flags in [["--json", "--markdown"], ["--json", "--annotations"], ["--markdown", "--annotations"]] {
        diff(&home, &["a.json", "a.json", flags[0], flags[1]]).expect(2);
    }
    diff(&home, &["a.json"]).expect(2);
}

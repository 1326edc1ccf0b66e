//! `pinhole manifest diff`: exit statuses, two sides of every kind, four shapes.

#[cfg(test)]
mod hostile;

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
fn flags_that_do_not_go_together_are_refused() {
    let home = Home::empty();
    write(&home, "a.json", &github());
    for flags in [["--json", "--markdown"], ["--json", "--annotations"], ["--markdown", "--annotations"]] {
        diff(&home, &["a.json", "a.json", flags[0], flags[1]]).expect(2);
    }
    diff(&home, &["a.json"]).expect(2);
}

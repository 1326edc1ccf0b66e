//! `pinhole manifest check|schema`: every fault, where it is and what to write instead, in three shapes.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::home::Home;
use crate::vectors;

fn github() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../manifests/github").to_str().unwrap().to_owned()
}

#[test]
fn what_is_valid_is_named_with_its_digest() {
    let home = Home::empty();
    for path in [github(), format!("{}/manifest.json", github())] {
        let ran = home.run(&["manifest", "check", &path]).expect(0);
        assert!(ran.stdout.contains("github@") && ran.stdout.contains("sha256:"), "{}", ran.stdout);
    }
    assert_eq!(home.run(&["manifest", "check", &github(), "--annotations"]).expect(0).stdout, "");
    let checked = home.run(&["manifest", "check", &github(), "--json"]).expect(0).json();
    assert_eq!(
        (checked[0]["valid"].as_bool(), checked[0]["diagnostics"].as_array().unwrap().len()),
        (Some(true), 0)
    );
}

#[test]
fn every_vector_is_judged_in_every_shape() {
    let home = Home::empty();
    let vectors = vectors::all(&home);
    assert!(vectors.len() > 300, "{}", vectors.len());
    let files: Vec<&str> = vectors.iter().map(|vector| vector.file.as_str()).collect();
    let check = |shape: &[&str]| home.run(&[&["manifest", "check"], shape, &files].concat()).expect(4);
    let found = check(&["--json"]).json();
    for (vector, found) in vectors.iter().zip(found.as_array().unwrap()) {
        assert_eq!(found["file"], vector.file.as_str());
        let diagnostics = found["diagnostics"].as_array().unwrap();
        let mut codes: BTreeSet<&str> = diagnostics.iter().map(|one| one["code"].as_str().unwrap()).collect();
        // A vector with a module has no file beside it.
        let is_beside = codes.remove("module_absent");
        assert_eq!(codes, vector.expect.iter().map(String::as_str).collect(), "{}", vector.file);
        assert_eq!(found["valid"].as_bool(), Some(vector.expect.is_empty() && !is_beside), "{}", vector.file);
        for one in diagnostics {
            assert!(one["line"].as_u64() >= Some(1) && one["column"].as_u64() >= Some(1), "{one}");
            assert!(!one["help"].as_str().unwrap().is_empty(), "{one}");
        }
    }
    let text = check(&[]).stdout;
    let annotations = check(&["--annotations"]).stdout;
    for line in annotations.lines() {
        assert!(line.starts_with("::error file=") || line.starts_with("::warning file="), "{line}");
    }
    for (shape, output) in [("text", &text), ("annotations", &annotations)] {
        for c in ['\u{1b}', '\u{7}', '\u{0}', '\u{202e}', '\u{200b}', '\u{e0041}', '\r'] {
            assert!(!output.contains(c), "{shape} shows {c:?} as itself");
        }
        for vector in vectors.iter().filter(|vector| !vector.expect.is_empty()) {
            let named = output.matches(vector.expect[0].as_str()).count();
            assert!(named > 0, "{shape} does not name {}", vector.expect[0]);
        }
    }
}

#[test]
fn each_bad_host_path_header_and_pick_ends_with_4() {
    let home = Home::empty();
    for name in [
        "host/host_wildcard.json",
        "host/host_port.json",
        "host/host_path.json",
        "host/host_address.json",
        "host/host_single_label.json",
        "host/host_private.json",
        "host/host_placeholder.json",
        "host/host_trailing_dot.json",
        "placeholders/placeholder_unclosed.json",
        "path/path_dot_segment.json",
        "path/path_authority.json",
        "path/path_url.json",
        "placeholders/placeholder_undeclared.json",
        "args/arg_unused.json",
        "methods/read_method.json",
        "ops/no_confirm.json",
        "ops/no_pick.json",
        "pick/pick_descendant.json",
        "pick/pick_collision.json",
        "headers/header_credential.json",
        "headers/header_override.json",
    ] {
        let vector = vectors::one(&home, name);
        let ran = home.run(&["manifest", "check", &vector.file]).expect(4);
        assert!(ran.stdout.contains(&format!("({})", vector.expect[0])), "{name}: {}", ran.stdout);
        assert!(ran.stdout.contains("help: ") && ran.stdout.contains("it does not load"), "{}", ran.stdout);
    }
}

#[test]
fn a_caret_stands_under_the_fault() {
    let home = Home::empty();
    let mut shown = String::new();
    for name in ["host/host_port.json", "ops/no_confirm.json", "json/json_trailing.json"] {
        let vector = vectors::one(&home, name);
        shown.push_str(&home.run(&["manifest", "check", &vector.file]).expect(4).stdout);
    }
    insta::assert_snapshot!("carets", shown);
}

#[test]
fn one_long_line_with_many_faults_is_quoted_in_windows() {
    let home = Home::empty();
    let header = |index: usize| {
        format!(r#""x-h{index:05}":{}"#, "[".repeat(1 + index % 2) + &"]".repeat(1 + index % 2))
    };
    let headers: Vec<String> = (0..40_000).map(header).collect();
    let text = format!(r#"{{"pinhole":1,"id":"acme","headers":{{{}}}}}"#, headers.join(","));
    assert!(text.len() > 500_000 && !text.contains('\n'));
    home.write("long.json", &text);
    let found = home.run(&["manifest", "check", "long.json", "--json"]).expect(4).json();
    let found = found[0]["diagnostics"].as_array().unwrap();
    assert!(found.len() > 50, "{}", found.len());
    let shown = home.run(&["manifest", "check", "long.json"]).expect(4).stdout;
    assert!(shown.contains(&format!("\nand {} more; `--json` has them all\n", found.len() - 50)), "{shown}");
    let places: Vec<&str> = shown.lines().filter_map(|line| line.strip_prefix(" --> ")).collect();
    let wanted: Vec<String> =
        found.iter().take(50).map(|one| format!("long.json:{}:{}", one["line"], one["column"])).collect();
    assert_eq!(places, wanted);
    for line in shown.lines() {
        assert!(line.chars().count() < 300, "{line}");
    }
}

#[test]
fn what_is_no_manifest_is_not_quoted() {
    let home = Home::new();
    let grant = home.mint(&[]);
    let key: Value = serde_json::from_slice(&std::fs::read(home.path("keys/bot.json")).unwrap()).unwrap();
    let secret = key["secret"].as_str().unwrap();
    let parts: Vec<String> =
        secret.as_bytes().chunks(12).map(|part| String::from_utf8(part.to_vec()).unwrap()).collect();
    assert!(parts.len() > 3);
    let one_line = home.write("one-line.json", key.to_string());
    let cut = home.write("cut.json", key.to_string().trim_end_matches('}'));
    let pretty = home.write("pretty.json", serde_json::to_string_pretty(&key).unwrap());
    let pem = home.write("key.pem", format!("-----BEGIN PRIVATE KEY-----\n{secret}\n"));
    let mut files = vec!["keys/bot.json", "keys/member.json", &one_line, &cut, &pretty, &pem, &grant];
    files.push(home.write("bare", secret).leak());
    for file in files {
        for shape in [&[][..], &["--json"], &["--annotations"]] {
            let ran = home.run(&[&["manifest", "check", file], shape].concat()).expect(4).hides(secret);
            // Nor any part of it.
            for part in parts.iter().filter(|part| part.len() == 12) {
                assert!(!ran.stdout.contains(part), "{file} {shape:?}: {}", ran.stdout);
            }
            if shape.is_empty() {
                let quotes = |line: &str| line.starts_with(|c: char| c.is_ascii_digit());
                assert!(ran.stdout.contains("--> ") && !ran.stdout.lines().any(quotes), "{}", ran.stdout);
            }
        }
    }
    // One that is meant as a manifest is, however broken.
    home.write("broken.json", r#"{"pinhole": 1, "secret": "x",,"#);
    let shown = home.run(&["manifest", "check", "broken.json"]).expect(4).stdout;
    assert!(shown.contains("1 | {\"pinhole\""), "{shown}");
}

#[test]
fn folders_several_files_and_files_that_are_not_there() {
    let home = Home::empty();
    let bad = vectors::one(&home, "host/host_port.json").file;
    let found = home.run(&["manifest", "check", "--json", &github(), &bad]).expect(4).json();
    let valid: Vec<&Value> = found.as_array().unwrap().iter().map(|one| &one["valid"]).collect();
    assert_eq!(valid, [&Value::Bool(true), &Value::Bool(false)]);
    home.run(&["manifest", "check", "absent.json"]).expect(2);
    home.run(&["manifest", "check", &github(), "absent.json"]).expect(2);
    std::fs::create_dir(home.path("hollow")).unwrap();
    home.run(&["manifest", "check", "hollow"]).expect(2);
    home.run(&["manifest", "check", &github(), "--json", "--annotations"]).expect(2);
    let stdin = std::fs::read(format!("{}/manifest.json", github())).unwrap();
    home.run_with(&["manifest", "check", "-"], stdin).expect(0);
    home.run(&["manifest", "check", "-"]).expect(4);
    home.write("huge.json", vec![b' '; 5 << 20]);
    home.run(&["manifest", "check", "huge.json"]).expect(2);
}

#[test]
fn a_file_s_name_cannot_forge_an_annotation() {
    let home = Home::empty();
    let vector = vectors::one(&home, "host/host_port.json");
    let sly = home.path("a,line=1::error file=b\nc.json");
    std::fs::rename(home.path(&vector.file), &sly).unwrap();
    let shown = home.run(&["manifest", "check", "--annotations", sly.to_str().unwrap()]).expect(4).stdout;
    assert_eq!(shown.lines().count(), 1, "{shown}");
    assert!(!shown.contains(",line=1::error file=b"), "{shown}");
}

#[test]
fn the_schema_is_one_and_takes_what_the_checker_takes() {
    let home = Home::empty();
    let ran = home.run(&["manifest", "schema"]).expect(0);
    let schema: Value = serde_json::from_str(&ran.stdout).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    let manifest: Value =
        serde_json::from_slice(&std::fs::read(format!("{}/manifest.json", github())).unwrap()).unwrap();
    assert!(
        schema.is_valid(&manifest),
        "{:?}",
        schema.iter_errors(&manifest).map(|e| e.to_string()).collect::<Vec<_>>()
    );
    let mut more = manifest.clone();
    more["extra"] = Value::Bool(true);
    assert!(!schema.is_valid(&more));
    let mut less = manifest;
    less.as_object_mut().unwrap().remove("host");
    assert!(!schema.is_valid(&less));
}

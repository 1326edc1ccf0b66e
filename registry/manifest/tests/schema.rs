//! The published schema takes whatever loads, and refuses what is wrong in its shape.

#[cfg(test)]
mod common;

use std::fs;
use std::path::Path;

use pinhole_manifest::schema::schema;
use serde_json::Value;

#[expect(clippy::disallowed_methods, reason = "a test asks whether it may be skipped")]
fn is_ci() -> bool {
    std::env::var("CI").as_deref() == Ok("true")
}

/// Codes that are about the shape alone, so that a schema can say them.
const STRUCTURAL: [&str; 16] = [
    "unknown_member",
    "missing_member",
    "wrong_type",
    "unknown_word",
    "one_of",
    "format",
    "service_name",
    "op_name",
    "no_ops",
    "too_many_ops",
    "no_confirm",
    "no_effect",
    "no_pick",
    "args_open",
    "module_digest",
    "header_name",
];

#[test]
fn the_schema_is_a_schema() {
    let schema = schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert!(jsonschema::meta::is_valid(&schema));
}

#[test]
fn passing_vectors_validate_and_structural_ones_fail() {
    let validator = jsonschema::draft202012::options().build(&schema()).unwrap();
    let (mut passed, mut failed) = (0, 0);
    for vector in common::vectors() {
        let Ok(value) = serde_json::from_slice::<Value>(&vector.bytes) else { continue };
        let errors: Vec<_> =
            validator.iter_errors(&value).map(|e| format!("{}: {e:.200}", e.instance_path())).collect();
        if vector.expect.is_empty() {
            assert!(errors.is_empty(), "{}: {errors:?}", vector.name);
            passed += 1;
        } else if vector.expect.iter().all(|code| STRUCTURAL.contains(&code.as_str())) {
            assert!(!errors.is_empty(), "{} validates", vector.name);
            failed += 1;
        }
    }
    assert!(passed > 100 && failed > 50, "{passed} passed, {failed} failed");
}

#[test]
fn the_manifests_of_the_project_load_and_validate() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../manifests");
    let Ok(services) = fs::read_dir(&folder) else {
        assert!(!is_ci(), "{} is not there", folder.display());
        eprintln!("SKIPPED: the manifests of the project: {} is not there", folder.display());
        return;
    };
    let validator = jsonschema::draft202012::options().build(&schema()).unwrap();
    for service in services.map(|entry| entry.unwrap().path()) {
        let Ok(bytes) = fs::read(service.join("manifest.json")) else { continue };
        let diagnostics = pinhole_manifest::read(&bytes).diagnostics;
        let lines: Vec<_> = diagnostics.iter().map(|d| format!("{} {d}", d.pointer)).collect();
        assert!(lines.is_empty(), "{}:\n{}", service.display(), lines.join("\n"));
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        assert!(validator.is_valid(&value), "{}", service.display());
        let Ok(cases) = fs::read_dir(service.join("cases")) else { continue };
        for case in cases.map(|entry| entry.unwrap().path()) {
            let name = case.file_name().unwrap().to_str().unwrap();
            assert!(pinhole_manifest::cases::CaseName::parse(name).is_ok(), "{name}");
            let faults =
                pinhole_manifest::cases::Case::parse(&fs::read(&case).unwrap()).err().unwrap_or_default();
            assert!(faults.is_empty(), "{}: {faults:?}", case.display());
        }
    }
}

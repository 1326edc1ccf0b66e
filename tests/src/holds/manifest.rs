//! Reading a manifest: any bytes are judged without a panic, and what loads is what the published schema takes, renders,
//! and goes nowhere but to its host.

use jsonschema::Validator;
use pinhole_manifest::diagnostic::Severity;
use pinhole_manifest::{Digest, Manifest, read, schema};
use pinhole_runtime::render::render;
use serde_json::Value;

use super::altered::altered;
use super::target::seen;

/// Manifests that load, and that changes are made to.
const SOUND: [&str; 5] = [
    include_str!("../../../registry/manifest/tests/vectors/base/whole.json"),
    include_str!("../../../registry/manifest/tests/vectors/base/graphql.json"),
    include_str!("../../../registry/manifest/tests/vectors/base/module.json"),
    include_str!("../../../registry/manifest/tests/vectors/base/write.json"),
    include_str!("../../../registry/manifest/tests/vectors/base/minimal.json"),
];

/// Bytes as the file of a manifest; or, where the first is one that no JSON begins with, as changes to one that loads.
pub fn manifest(bytes: &[u8]) {
    match bytes.split_first() {
        Some((&first, changes)) if let Some(sound) = SOUND.get(usize::from(first)) => {
            let sound: Value = serde_json::from_str(sound).expect("JSON");
            file(altered(sound, changes).to_string().as_bytes());
        }
        _ => file(bytes),
    }
}

/// Inputs of [`manifest`] besides the vectors, named.
pub fn manifest_seeds() -> Vec<(String, Vec<u8>)> {
    let changes = b"\x00\x01\x00true\xff\x00\x09\x02 {id}\xff\x00\x07\x03\x00\x02\xff\x00\x0b\x05renamed";
    let number = |place: usize| u8::try_from(place).expect("a few");
    let seed = |place| (format!("changes_{place}"), [&[number(place)], changes.as_slice()].concat());
    (0..SOUND.len()).map(seed).collect()
}

fn file(bytes: &[u8]) {
    let reading = read(bytes);
    let failed = reading.diagnostics.iter().any(|diagnostic| diagnostic.severity() == Severity::Error);
    assert_ne!(reading.manifest.is_some(), failed, "a manifest comes out exactly when nothing is an error");
    for diagnostic in &reading.diagnostics {
        let span = bytes.get(diagnostic.span.clone());
        assert!(span.is_some(), "{:?} lies in the file", diagnostic.span);
        assert!(diagnostic.line >= 1 && diagnostic.column >= 1);
        assert!(diagnostic.pointer.is_empty() || diagnostic.pointer.starts_with('/'));
    }
    let Some(manifest) = reading.manifest else { return };
    assert_eq!(manifest.digest(), Digest::of(bytes));
    let value: Value = serde_json::from_slice(bytes).expect("what loads is JSON to every reader");
    thread_local! {
        static SCHEMA: Validator =
            jsonschema::draft202012::options().build(&schema::schema()).expect("a schema");
    }
    SCHEMA.with(|validator| {
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|error| format!("{error:.300}")).collect();
        assert!(errors.is_empty(), "what loads, the published schema takes: {errors:?}");
    });
    renders(&manifest);
}

/// Every op that needs no arg renders, and what renders goes to the host.
fn renders(manifest: &Manifest) {
    for (name, op) in manifest.ops() {
        let Ok(args) = op.args.parse_text("{}") else {
            let needy = op.args.defs().values().any(|def| def.required);
            assert!(needy, "{name} wants no arg and takes none");
            continue;
        };
        let Some(request) = op.request() else { continue };
        match render(manifest, request, &args) {
            Ok(rendered) => drop(seen(manifest.host().as_str(), request, &rendered)),
            Err(fault) => assert!(!op.args.defs().is_empty(), "{name} has no args, yet: {fault}"),
        }
    }
}

//! Many and large patterns.

use serde_json::Value;

use super::Code;

/// A manifest whose one op has args with these patterns, 50 to an object.
fn with_patterns(patterns: &[String]) -> String {
    let mut manifest: Value =
        serde_json::from_str(include_str!("../../../tests/vectors/base/write.json")).unwrap();
    let op = &mut manifest["ops"]["create_thing"];
    op["confirm"] = "Put it?".into();
    op["request"]["path"] = "/things".into();
    let (mut body, mut properties) = (serde_json::Map::new(), serde_json::Map::new());
    for (at, patterns) in patterns.chunks(50).enumerate() {
        let member = |(at, pattern): (usize, &String)| {
            (format!("m{at}"), serde_json::json!({"type": "string", "pattern": pattern}))
        };
        let members: serde_json::Map<_, _> = patterns.iter().enumerate().map(member).collect();
        let object = serde_json::json!({"type": "object", "additionalProperties": false, "description": "Many.", "properties": members});
        properties.insert(format!("o{at}"), object);
        body.insert(format!("o{at}"), format!("{{o{at}}}").into());
    }
    op["request"]["json"] = body.into();
    op["args"] =
        serde_json::json!({"type": "object", "additionalProperties": false, "properties": properties});
    manifest.to_string()
}

fn codes(text: &str) -> Vec<Code> {
    crate::read(text.as_bytes()).diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

#[test]
fn a_file_of_large_patterns_is_refused_before_they_are_compiled() {
    let patterns: Vec<_> = (0..1_200).map(|at| format!("[^a]{{1000}}N{at}")).collect();
    let text = with_patterns(&patterns);
    assert!(text.len() > 60_000);
    // Compiled, each would be a fault of its own.
    assert_eq!(codes(&text), [Code::ArgsPatterns]);
    assert_eq!(codes(&with_patterns(&vec!["(".to_owned(); 201])), [Code::ArgsPatterns]);
    assert_eq!(codes(&with_patterns(&patterns[..200])), [Code::ArgsPattern; 200]);
}

#[test]
fn patterns_that_just_fit_are_taken() {
    // As long as they may be, each with groups, which costs more than the same without.
    let patterns: Vec<_> = (0..200).map(|at| format!("^(([ab]){{200}})([cd]){{200}}N{at}$")).collect();
    assert_eq!(codes(&with_patterns(&patterns)), []);
}

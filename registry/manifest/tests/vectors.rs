//! Every fault has a vector that fails for it alone, and one that does not.

#[cfg(test)]
mod common;

use std::collections::BTreeSet;

use pinhole_manifest::diagnostic::{Code, Severity};
use pinhole_manifest::read;

fn codes(bytes: &[u8]) -> BTreeSet<String> {
    let reading = read(bytes);
    let faulty = reading.diagnostics.iter().any(|diagnostic| diagnostic.severity() == Severity::Error);
    assert_ne!(reading.manifest.is_some(), faulty, "{:?}", reading.diagnostics);
    reading.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str().to_owned()).collect()
}

#[test]
fn every_vector_is_judged_as_it_says() {
    let mut wrong = Vec::new();
    for vector in common::vectors() {
        let found = codes(&vector.bytes);
        let expected: BTreeSet<_> = vector.expect.iter().cloned().collect();
        if found != expected {
            let text: Vec<_> =
                read(&vector.bytes).diagnostics.iter().map(|d| format!("\n    {} {d}", d.pointer)).collect();
            wrong.push(format!("{}: expected {expected:?}, found {found:?}{}", vector.name, text.concat()));
        }
    }
    assert!(wrong.is_empty(), "{} vectors:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_code_has_a_failing_and_a_passing_vector() {
    let vectors = common::vectors();
    let mut missing = Vec::new();
    for code in Code::ALL.iter().filter(|code| !code.is_beside()) {
        let name = code.as_str();
        let of_code = |vector: &&common::Vector| vector.name.split(['/', '.']).nth(1) == Some(name);
        let mut own = vectors.iter().filter(of_code);
        let (mut fails, mut passes) = (false, false);
        for vector in own.by_ref() {
            fails |= vector.expect == [name];
            passes |= vector.expect.is_empty() && vector.name.contains(".passes");
        }
        if !(fails && passes) {
            missing.push(format!("{name}: failing {fails}, passing {passes}"));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    for vector in &vectors {
        let code = vector.name.split(['/', '.']).nth(1).unwrap();
        assert!(
            Code::ALL.iter().any(|known| known.as_str() == code),
            "{} is named after no code",
            vector.name
        );
    }
}

#[test]
fn codes_are_named_once_and_explained() {
    let names: BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(names.len(), Code::ALL.len());
    for code in Code::ALL {
        assert!(code.explain().ends_with('.') && code.explain().len() > 20, "{code:?}");
    }
}

#[test]
fn the_bases_load() {
    for name in ["minimal", "write", "graphql", "module", "whole"] {
        let bytes = common::base(name).to_string().into_bytes();
        assert_eq!(codes(&bytes), BTreeSet::new(), "{name}");
    }
}

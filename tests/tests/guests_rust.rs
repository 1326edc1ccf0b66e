//! Modules in Rust from source to outcome: what `pinhole module new` makes, the SDK's example and the modules of the
//! manifests are built by the command and run on their cases.
//!
//! Needs a compiler for Wasm (`.ci/run` installs Debian's where there is none); says so loudly where it is missing, and
//! fails there in CI. Sources are put where they always are, under the folder of the build, so that the standard library is
//! built once for each.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pinhole_tests::guests::{build, compared, copied, done, held, pinhole, place, root, run, workshop};
use pinhole_tests::missing;

/// The manifests' modules in Rust, and how many cases each has at least.
const MODULES: [(&str, usize); 4] = [
    ("dnsimple/modules/zone_file", 7),
    ("github/modules/stale_issues", 8),
    ("hubspot/modules/pipeline_summary", 7),
    ("stripe/modules/revenue_by_month", 8),
];

/// Whether modules can be built here.
fn compiler(test: &str) -> Option<()> {
    let has = |rustc: &str, part: &str| {
        let said = Command::new(rustc).args(["--print", "sysroot"]).output().ok()?;
        let sysroot = String::from_utf8(said.stdout).ok()?;
        Path::new(sysroot.trim()).join(part).is_dir().then_some(())
    };
    let found = has("rustc", "lib/rustlib/wasm32-unknown-unknown/lib")
        .or_else(|| has("/usr/bin/rustc", "lib/rustlib/src/rust/library"));
    found.or_else(|| missing(test, "there is no Rust compiler for Wasm; `.ci/run` installs one"))
}

/// The native tests of a module; at least so many.
fn native_tests(module: &Path, at_least: usize) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--lib"]).current_dir(module).env("CARGO_TARGET_DIR", workshop().join("target"));
    let said = done(&mut cargo);
    let passed = said.split("test result: ok. ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
    assert!(passed.is_some_and(|passed: usize| passed >= at_least), "{}: {said}", module.display());
}

/// A new module, with the versions of everything that this workspace has.
fn new(name: &str, service: &str) -> PathBuf {
    let module = place(name);
    let dir = module.to_str().expect("text");
    let args = ["module", "new", "rust", "top-members", "--service", service, "--dir", dir];
    done(pinhole(root()).args(args));
    fs::copy(root().join("Cargo.lock"), module.join("Cargo.lock")).expect("a copy");
    module
}

#[test]
fn a_new_module_is_tested_built_and_run_as_it_is_and_then_does_worse() {
    let Some(()) = compiler("a_new_module_is_tested_built_and_run_as_it_is_and_then_does_worse") else {
        return;
    };
    let module = new("new", "github");
    native_tests(&module, 2);
    let built = build(&module, &[]);
    done(pinhole(&module).args(["module", "check"]));
    // The name of its folder has no place in a component.
    let elsewhere = place("elsewhere/by/another/name");
    copied(&module, &elsewhere);
    assert_eq!((&build(&elsewhere, &[])["sha256"], &built["reproducible"]), (&built["sha256"], &true.into()));

    let result = &held(&module, &[])[0]["outcome"]["result"];
    let names = result["names"].as_array().expect("names").len();
    assert!(names > 0 && result["members"] == names, "{result}");

    let source = module.join("src/lib.rs");
    let whole = fs::read_to_string(&source).expect("the source");
    let begins = "    // A value goes into a path";
    assert!(whole.contains(begins), "{whole}");
    for (line, code, words) in [
        ("panic!(\"the wick is {}\", \"out\");", "module_trapped", "the wick is out"),
        ("return Err(Error::new(\"no such lamp\"));", "module_failed", "no such lamp"),
        ("Request::get(path!(\"/users/{}\", \"..\")).send(host)?;", "module_failed", "cannot be sent"),
        (
            "Request::get(path!(\"/users/{}\", \"a/b\")).send(host)?;",
            "module_request_refused",
            "/users/a%2Fb",
        ),
        ("Request::get(\"/user\").send(host)?.json::<Vec<String>>()?;", "module_failed", "not the JSON"),
    ] {
        let worse =
            whole.replace(begins, &format!("    if host.now() > 0 {{\n        {line}\n    }}\n{begins}"));
        fs::write(&source, worse).expect("written");
        assert_ne!(build(&module, &[])["sha256"], built["sha256"], "{line}");
        let outcome = run(&module, &[])[0]["outcome"].clone();
        let said = outcome.to_string();
        assert!(outcome["refusal"]["code"] == code && said.contains(words), "{line}: {said}");
    }
}

#[test]
fn a_new_module_of_graphql_is_tested_as_it_is() {
    let Some(()) = compiler("a_new_module_of_graphql_is_tested_as_it_is") else { return };
    native_tests(&new("new-graphql", "linear"), 2);
}

#[test]
fn the_example_is_tested_built_and_run() {
    let Some(()) = compiler("the_example_is_tested_built_and_run") else { return };
    let sdk = place("sdk");
    copied(&root().join("guest-sdk/rust"), &sdk);
    let example = sdk.join("example");
    native_tests(&example, 2);
    build(&example, &[]);
    assert_eq!(held(&example, &[]).len(), 2);
}

#[test]
fn the_manifests_modules_are_built_again_and_hold_their_cases() {
    let Some(()) = compiler("the_manifests_modules_are_built_again_and_hold_their_cases") else { return };
    let made = place("made");
    fs::create_dir_all(&made).expect("a folder");
    for (folder, cases) in MODULES {
        let module = root().join("manifests").join(folder);
        let out = made.join(module.file_name().expect("a name")).with_extension("wasm");
        let out = out.to_str().expect("text");
        let built = build(&module, &["--out", out]);
        assert!(held(&module, &["--component", out]).len() >= cases, "{folder}");
        compared(&module, &built);
    }
}

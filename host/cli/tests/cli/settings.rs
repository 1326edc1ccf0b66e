//! `config.toml`: what is not a setting of this program is refused by name, all of it at once, before anything is done.

use crate::home::{Home, KEY};

/// A call that reads the settings; it would be refused for its manifest otherwise.
fn run(home: &Home) -> crate::home::Ran {
    home.run_with(&["run", "github.get_viewer", "--token-stdin"], KEY)
}

#[test]
fn every_fault_of_the_settings_is_named_with_what_to_write() {
    let home = Home::new();
    let faults: [(&str, &[&str]); 12] = [
        ("sandbox = 7", &["`sandbox` is a table: write `[sandbox]`"]),
        ("[sandbocks]\ncalls = 1", &["there is no setting `sandbocks`"]),
        ("calls = 1", &["there is no setting `calls`", "write `[sandbox]` and below it"]),
        ("[sandbox]\ncals = 1", &["there is no setting `cals`"]),
        ("[sandbox]\ncalls = \"16\"", &["`sandbox.calls` is a string: write a whole number"]),
        ("[sandbox]\ncalls = 1.5", &["`sandbox.calls` is a float: write a whole number"]),
        ("[sandbox]\ncalls = 0", &["`calls` is `0`: write a number from 1 to 1000"]),
        ("[sandbox]\nfuel = -1", &["`fuel` is `-1`: write a number from 1 to"]),
        (
            "[sandbox]\nmemory_bytes = 64",
            &["`memory_bytes` is `64`: write a number from 65536 to 4294967296"],
        ),
        ("[sandbox]\ncache_bytes = 256", &["`cache_bytes` is `256`: write a number from 1048576 to"]),
        ("[sandbox]\n\ncalls =\n", &["config.toml`, line 3: "]),
        (
            "proxy = 1\n[sandbox]\ncalls = 0\nlog_lines = 70000000000\nfuel = true",
            &[
                "no setting `proxy`",
                "`calls` is `0`",
                "`log_lines` is `70000000000`",
                "`sandbox.fuel` is a boolean",
            ],
        ),
    ];
    for (text, said) in faults {
        home.write("config.toml", text);
        let ran = run(&home).expect(2).hides(KEY);
        assert_eq!(ran.stdout, "", "{text}");
        for said in said {
            assert!(ran.stderr.contains(said), "{text}\n{}", ran.stderr);
        }
    }
    home.write("config.toml", b"\xff\xfe");
    assert!(run(&home).expect(2).stderr.contains("is not UTF-8 text"));
}

#[test]
fn what_is_no_file_of_the_operator_s_is_not_read() {
    let home = Home::new();
    std::fs::create_dir(home.path("config.toml")).unwrap();
    assert!(run(&home).expect(2).stderr.contains("config.toml` is not a file"));
    std::fs::remove_dir(home.path("config.toml")).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", home.path("config.toml")).unwrap();
        assert!(run(&home).expect(2).stderr.contains("cannot be read"));
        std::fs::remove_file(home.path("config.toml")).unwrap();
        let path = home.write("config.toml", "[sandbox]\ncalls = 2\n");
        let mode = |mode| std::os::unix::fs::PermissionsExt::from_mode(mode);
        for others in [0o620, 0o602] {
            std::fs::set_permissions(&path, mode(others)).unwrap();
            let said = run(&home).expect(6).stderr;
            assert!(
                said.contains("others than its owner can write") && said.contains("chmod go-w"),
                "{said}"
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn a_home_that_others_can_write_and_settings_of_another_user_are_refused() {
    let home = Home::new();
    let mode =
        |mode| std::fs::set_permissions(home.path(""), std::os::unix::fs::PermissionsExt::from_mode(mode));
    for others in [0o777, 0o1777, 0o720] {
        mode(others).unwrap();
        for what in [&["receipts", "list"][..], &["connections"], &["sidecar", "--issuer", "x"]] {
            let said = home.run(what).expect(6).stderr;
            assert!(
                said.contains("others than its owner can put files") && said.contains("chmod go-w"),
                "{said}"
            );
        }
    }
    mode(0o755).unwrap();
    home.run(&["connections"]).expect(0);
    let path = home.write("config.toml", "[sandbox]\ncalls = 2\n");
    // Only the superuser gives files away.
    if std::os::unix::fs::chown(&path, Some(65_534), None).is_ok() {
        let said = run(&home).expect(6).stderr;
        assert!(said.contains("belongs to another user (id 65534)") && said.contains("`chown "), "{said}");
        std::os::unix::fs::chown(home.path(""), Some(65_534), None).unwrap();
        assert_ne!(run(&home).expect(3).stderr, said);
        std::os::unix::fs::chown(home.path(""), Some(0), None).unwrap();
    }
}

/// What reads no module needs no settings, and none of them is in the way.
#[test]
fn what_runs_no_op_does_not_read_the_settings() {
    let home = Home::new();
    home.write("config.toml", "what = is this");
    home.run(&["services"]).expect(0);
    home.run(&["keys", "show"]).expect(0);
    run(&home).expect(2);
    home.run_with(&["connect", "github", "--token-stdin"], KEY).expect(2);
}

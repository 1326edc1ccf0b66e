//! `pinhole keys`: private files, never overwritten, a passphrase where the member wants one.

use std::path::Path;

use crate::home::{Home, KEY};

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(unix)]
#[test]
fn keys_are_private_even_under_a_loose_umask() {
    let home = Home::empty();
    let mut loose = std::process::Command::new("/bin/sh");
    loose.args(["-c", "umask 000; exec \"$0\" keys new", env!("CARGO_BIN_EXE_pinhole")]);
    let made = loose.env_clear().env("PINHOLE_HOME", home.path("")).output().unwrap();
    assert!(made.status.success());
    for (name, wanted) in [("keys", 0o700), ("keys/member.json", 0o600), ("keys/bot.json", 0o600)] {
        assert_eq!(mode(&home.path(name)), wanted, "{name}");
    }
    let passphrase = home.write("passphrase", "a long one");
    home.run(&["keys", "protect", "--passphrase-file", &passphrase]).expect(0);
    assert_eq!(mode(&home.path("keys/member.json")), 0o600);
    // What a revocation or a run leaves is private too.
    home.run(&["grant", "revoke", "AAAAAAAAAAAAAAAAAAAAAA"]).expect(0);
    assert_eq!(mode(&home.path("pinhole.db")), 0o600);
}

#[cfg(unix)]
#[test]
fn a_key_that_others_can_get_at_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let grant = home.mint(&[]);
    let bot = home.bot();
    let passphrase = home.write("passphrase", "correct horse battery");
    let set = |name: &str, mode| {
        std::fs::set_permissions(home.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let run = [&["run"], &crate::stage::READ[..], &["--grant", &grant]].concat();
    for mode in [0o644, 0o640, 0o604, 0o620, 0o602, 0o666] {
        for (name, uses) in [
            ("keys/member.json", &["keys", "show"][..]),
            ("keys/member.json", &["keys", "protect", "--passphrase-file", &passphrase]),
            ("keys/member.json", &["grant", "mint", "github", "--to", &bot]),
            ("keys/bot.json", &["keys", "show"]),
            ("keys/bot.json", &["grant", "inspect", &grant]),
            ("keys/bot.json", &run),
        ] {
            set(name, mode);
            let ran = home.run_with(uses, KEY).expect(6);
            assert_eq!(ran.stdout, "", "{name} {mode:o} {uses:?}");
            assert!(ran.stderr.contains("`chmod 600 "), "{}", ran.stderr);
            set(name, 0o600);
        }
    }
    for mode in [0o600, 0o400] {
        set("keys/bot.json", mode);
        home.run(&["grant", "inspect", &grant]).expect(0);
    }
}

#[test]
fn keys_are_never_overwritten() {
    let home = Home::new();
    let read = |name: &str| std::fs::read(home.path(name)).unwrap();
    let before = (read("keys/member.json"), read("keys/bot.json"));
    let again = home.run(&["keys", "new", "--protect"]).expect(1);
    assert!(again.stderr.contains("stays as it is") && again.stderr.contains("pinhole keys protect"));
    assert_eq!((read("keys/member.json"), read("keys/bot.json")), before);
    // One that is missing is made, and the other stays.
    std::fs::remove_file(home.path("keys/bot.json")).unwrap();
    home.run(&["keys", "new"]).expect(0);
    assert_eq!(read("keys/member.json"), before.0);
    assert_ne!(read("keys/bot.json"), before.1);
    assert_eq!(std::fs::read_dir(home.path("keys")).unwrap().count(), 3, "a draft was left behind");
}

/// A new one would be another member's, with none of her connections.
#[test]
fn a_members_key_that_is_kept_elsewhere_is_not_made_anew() {
    let (home, stage) = (Home::new(), crate::stage::Stage::new());
    home.connect(&stage, &[]).expect(0);
    let (stored, member) = (home.stored(), home.path("keys/member.json"));
    let key = std::fs::read(&member).unwrap();
    std::fs::remove_file(&member).unwrap();
    let passphrase = home.passphrase();
    let mut refused = vec![home.connect(&stage, &[])];
    for what in [
        &["keys", "new"][..],
        &["keys", "protect"],
        &["connections", "renew"],
        &["connections", "cap", "github", "write"],
    ] {
        refused.push(home.run(&[what, &[&passphrase[0], &passphrase[1]]].concat()));
    }
    for ran in refused {
        let ran = ran.expect(6);
        assert!(ran.stderr.contains("not here") && ran.stderr.contains("bring it back"), "{}", ran.stderr);
    }
    assert!(!member.exists());
    // Nor is somebody else's taken for it.
    std::fs::copy(Home::new().path("keys/member.json"), &member).unwrap();
    for what in [&["connections", "renew"][..], &["connections", "cap", "github", "read"]] {
        let ran = home.run(what).expect(6);
        assert!(ran.stderr.contains("another member"), "{}", ran.stderr);
    }
    home.connect(&stage, &[]).expect(6);
    assert_eq!((home.stored(), stage.requests()), (stored, 1));
    std::fs::write(&member, key).unwrap();
    home.connect(&stage, &[]).expect(0);
}

#[test]
fn show_prints_public_keys_alone() {
    let home = Home::empty();
    let none = home.run(&["keys", "show"]).expect(0).stdout;
    assert!(none.contains("`pinhole keys new` makes it"), "{none}");
    assert_eq!(
        home.run(&["keys", "show", "--json"]).expect(0).json(),
        serde_json::json!({"member": null, "bot": null})
    );
    home.run(&["keys", "new"]).expect(0);
    let shown = home.run(&["keys", "show", "--json"]).expect(0).json();
    for who in ["member", "bot"] {
        let key = shown[who].as_str().unwrap();
        assert!(key.starts_with("pin1") && key.len() == 96, "{key}");
    }
    let text = home.run(&["keys", "show"]).expect(0).stdout;
    assert!(
        text.contains(shown["member"].as_str().unwrap()) && text.contains(shown["bot"].as_str().unwrap())
    );
    let file: serde_json::Value =
        serde_json::from_slice(&std::fs::read(home.path("keys/bot.json")).unwrap()).unwrap();
    for value in file.as_object().unwrap().values().filter_map(|value| value.as_str()) {
        assert!(
            value.len() < 20 || value.starts_with("pin1") || !text.contains(value),
            "a private key was shown"
        );
    }
}

#[test]
fn a_broken_key_file_is_the_store_s_fault() {
    let home = Home::new();
    for broken in ["", "{}", "not json", r#"{"v":2}"#] {
        std::fs::write(home.path("keys/member.json"), broken).unwrap();
        let ran = home.run(&["keys", "show"]).expect(6);
        assert!(ran.stderr.contains("restore the file"), "{}", ran.stderr);
        home.run(&["keys", "protect"]).expect(6);
    }
}

#[test]
fn a_home_that_cannot_be_made_is_the_store_s_fault() {
    let home = Home::empty();
    let file = home.write("file", "in the way");
    let ran = home.run(&["--home", &file, "keys", "new"]).expect(6);
    assert!(ran.stderr.contains("--home"), "{}", ran.stderr);
}

#[test]
fn a_protected_key_mints_only_with_its_passphrase() {
    let home = Home::empty();
    let right = home.write("right", "correct horse battery\n");
    let wrong = home.write("wrong", "correct horse");
    let empty = home.write("empty", "\n");
    home.run(&["keys", "new", "--passphrase-file", &empty]).expect(2);
    assert!(!home.path("keys/member.json").exists());
    home.run(&["keys", "new", "--passphrase-file", &right]).expect(0);
    let bot = home.bot();
    let mint =
        |flags: &[&str]| home.run_with(&[&["grant", "mint", "github", "--to", &bot], flags].concat(), KEY);
    assert_eq!(mint(&["--passphrase-file", &wrong]).expect(3).stdout, "");
    // Without the flag it asks at the terminal, and here is none that would answer.
    mint(&["--passphrase-file", &home.path("absent").to_string_lossy()]).expect(2);
    // Stdin has the key already.
    let twice = mint(&["--passphrase-file", "-"]).expect(2);
    assert!(twice.stderr.contains("stdin"), "{}", twice.stderr);
    let minted = mint(&["--passphrase-file", &right]).expect(0);
    assert_eq!(minted.json()["kind"], "grant");
    // A bot needs no passphrase: it never holds the member's key.
    let grant = home.write("grant.json", minted.stdout);
    home.run(&["grant", "inspect", &grant]).expect(0);
}

#[test]
fn protect_protects_once() {
    let home = Home::empty();
    let passphrase = home.write("passphrase", "correct horse battery");
    let protect = ["keys", "protect", "--passphrase-file", passphrase.as_str()];
    home.run(&protect).expect(2);
    home.run(&["keys", "new"]).expect(0);
    let public = home.public("member");
    let before = std::fs::read(home.path("keys/member.json")).unwrap();
    home.run(&protect).expect(0);
    let after = std::fs::read(home.path("keys/member.json")).unwrap();
    assert_ne!(before, after);
    assert_eq!(home.public("member"), public, "it is another key now");
    let again = home.run(&protect).expect(1);
    assert!(again.stderr.contains("nothing was changed"), "{}", again.stderr);
    assert_eq!(std::fs::read(home.path("keys/member.json")).unwrap(), after);
}

/// Types at a terminal of the child's own: each answer when its question has been asked.
const TYPIST: &str = r#"
import os, pty, sys, termios, time
asked = [("New passphrase: ", sys.argv[1]), ("Once more: ", sys.argv[2])]
child, terminal = pty.fork()
if child == 0:
    os.execve(sys.argv[3], sys.argv[3:], dict(os.environ))
seen = ""
def read():
    try:
        return os.read(terminal, 4096).decode()
    except OSError:
        return ""
for question, answer in asked:
    while question not in seen:
        more = read()
        if not more:
            break
        seen += more
    # The question stands there a moment before the echo is off; nobody types as fast as this does.
    patience = time.monotonic() + 30
    while termios.tcgetattr(terminal)[3] & termios.ECHO and time.monotonic() < patience:
        os.sched_yield()
    os.write(terminal, (answer + "\n").encode())
while True:
    more = read()
    if not more:
        break
    seen += more
print(seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"#;

#[test]
fn a_passphrase_is_asked_at_the_terminal_and_not_echoed() {
    let home = Home::new();
    let typed = |first: &str, second: &str| {
        let output = std::process::Command::new("python3")
            .args(["-c", TYPIST, first, second, env!("CARGO_BIN_EXE_pinhole"), "keys", "protect"])
            .env("PINHOLE_HOME", home.path(""))
            .output();
        output.ok().map(|output| crate::home::Ran::of(&output))
    };
    let Some(differ) = typed("tangerine-one", "tangerine-two") else {
        #[expect(
            clippy::disallowed_methods,
            reason = "whether a skip is a failure is the environment's to say"
        )]
        let ci = std::env::var_os("CI");
        assert_ne!(ci.as_deref(), Some("true".as_ref()), "there is no python3");
        eprintln!("SKIPPED: a passphrase at the terminal: there is no python3 to type it");
        return;
    };
    assert_eq!(differ.status, 2, "{}{}", differ.stdout, differ.stderr);
    let same = typed("tangerine-one", "tangerine-one").unwrap();
    assert_eq!(same.status, 0, "{}{}", same.stdout, same.stderr);
    assert!(same.stdout.contains("Once more: ") && !same.stdout.contains("tangerine"), "{}", same.stdout);
    let passphrase = home.write("passphrase", "tangerine-one");
    let bot = home.bot();
    home.run_with(&["grant", "mint", "github", "--to", &bot, "--passphrase-file", &passphrase], KEY)
        .expect(0);
}

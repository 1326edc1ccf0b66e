//! `pinhole connect` with what is no good: it is refused, says so in words that cannot deceive, and leaves nothing behind.

use pinhole_standin::{Config, Echo, Misbehaviour, Reply, Route, When, World};
use serde_json::{Value, json};

use crate::home::{Home, KEY, Ran};
use crate::stage::{Stage, other_ca};

/// What must never reach a terminal as it is.
const HIDDEN: [char; 6] = ['\u{202e}', '\u{2066}', '\u{200b}', '\u{7}', '\u{1b}', '\u{e0041}'];

/// Nothing is stored, no grant either, and the key is in no file.
#[track_caller]
fn nothing_of_it_is_left(home: &Home) {
    assert!(home.stored().iter().all(Vec::is_empty), "{:?}", home.stored());
    home.hides(KEY);
}

#[track_caller]
fn shows_what_it_prints(ran: &Ran) {
    let printed = format!("{}{}", ran.stdout, ran.stderr);
    assert!(!printed.contains(HIDDEN), "{printed:?}");
}

/// One that answers `GET /user` like this, whatever the key.
fn answering(reply: Reply) -> Stage {
    Stage::with(Config::new(World::Fixed(vec![Route::get("/user", reply)])))
}

#[test]
fn what_does_not_look_like_a_key_of_the_service_is_not_sent() {
    let (home, stage) = (Home::empty(), Stage::new());
    let stripe = format!("sk_test_{}", "0a".repeat(12));
    let within = format!("x{KEY}");
    let ended = format!("{KEY}-");
    for key in ["gho_HushHushHush", "HushHushHush", "ghp_", &stripe, &within, &ended] {
        let ran = home.connect_with(&stage, key, &[]).expect(3);
        assert!(!ran.stderr.contains("Hush") && !ran.stderr.contains(KEY), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("copy the key again") && ran.stderr.contains("https://"),
            "{}",
            ran.stderr
        );
        nothing_of_it_is_left(&home);
    }
    assert_eq!(stage.connections(), 0);
}

#[test]
fn what_is_no_key_at_all_is_a_usage_error_and_is_not_repeated() {
    let (home, stage) = (Home::empty(), Stage::new());
    let bad: [&[u8]; 9] = [
        b"",
        b"\n",
        b"ghp_hush\nghp_hush",
        b"ghp_hush\r\nhush",
        b" ghp_hush",
        b"ghp_hush ",
        b"ghp_hush\0",
        b"ghp_hush\xff",
        "ghp_hush\u{e9}\u{202e}".as_bytes(),
    ];
    let long = format!("ghp_{}", "k".repeat(100_000));
    for stdin in bad.into_iter().chain([long.as_bytes()]) {
        let ran = home.connect_with(&stage, stdin, &[]).expect(2);
        assert_eq!(ran.stdout, "");
        assert!(!ran.stderr.contains("hush") && !ran.stderr.contains("kkkk"), "{}", ran.stderr);
        shows_what_it_prints(&ran);
        nothing_of_it_is_left(&home);
    }
    assert_eq!(stage.connections(), 0);
    // The end of the line is not part of it.
    home.connect_with(&stage, format!("{KEY}\r\n"), &[]).expect(0);
    assert_eq!(stage.keys(), [KEY]);
}

#[test]
fn a_wrong_key_is_refused_in_the_service_s_own_words_and_nothing_is_stored() {
    let (home, stage) = (Home::empty(), Stage::new());
    let wrong = format!("{KEY}0");
    let ran = home.connect_with(&stage, &wrong, &[]).expect(1).hides(&wrong);
    assert!(ran.stderr.contains("  the service said: “Bad credentials”\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("nothing was stored") && ran.stdout.is_empty(), "{}", ran.stderr);
    let ran = home.connect_with(&stage, &wrong, &["--json"]).expect(1).hides(&wrong);
    assert_eq!(ran.refusal("upstream_unauthorized")["untrusted"], "Bad credentials");
    assert_eq!((ran.json()["ok"].clone(), ran.stderr.as_str()), (json!(false), ""));
    nothing_of_it_is_left(&home);
    home.hides(&wrong);
    assert_eq!(stage.keys(), [wrong.as_str(), &wrong]);
    // One that was connected stays as it was.
    home.connect(&stage, &[]).expect(0);
    let before = home.stored();
    home.connect_with(&stage, &wrong, &[]).expect(1);
    home.connect_with(&stage, &wrong, &["--replace"]).expect(1);
    assert_eq!(home.stored(), before);
}

#[test]
fn what_the_service_says_is_clipped_and_shown_as_what_it_is() {
    let home = Home::empty();
    let said = format!(
        "no”\u{a}refused: paste it at\u{202e}\u{2066}\u{200b}\u{7}\u{1b}[2J\u{e0041} {}",
        "x".repeat(9_000)
    );
    let stage = answering(Reply::json(401, &json!({"message": said})));
    let ran = home.connect(&stage, &[]).expect(1);
    shows_what_it_prints(&ran);
    assert!(ran.stderr.contains("\\u{202e}") && ran.stderr.len() < 2_000, "{}", ran.stderr);
    assert!(!ran.stderr.lines().any(|line| line.starts_with("refused: paste")), "{}", ran.stderr);
    let ran = home.connect(&stage, &["--json"]).expect(1);
    let untrusted = ran.refusal("upstream_unauthorized")["untrusted"].as_str().unwrap().len();
    assert!(untrusted < 1_000, "{untrusted}");
    // The key itself, sent back.
    stage.standin.misbehave(When::Always, Misbehaviour::EchoCredential(Echo::ErrorMessage));
    home.connect(&stage, &[]).expect(1).hides(KEY);
    home.connect(&stage, &["--json", "--log", "trace"]).expect(1).hides(KEY).refusal("upstream_invalid");
    nothing_of_it_is_left(&home);
}

#[test]
fn whoever_is_not_the_service_gets_no_key_and_proves_none() {
    let (home, stage) = (Home::empty(), Stage::new());
    let dial = stage.dial_for("api.github.com", &home);
    let other = other_ca(&home);
    let words = ["connect", "github", "--token-stdin", "--json", &dial[0], &dial[1], "--ca-cert", &other];
    home.run_with(&words, KEY).expect(3).refusal("tls_failed");
    assert_eq!(stage.requests(), 0);
    let location = "https://api.github.com/user?again".to_owned();
    stage.standin.misbehave(When::Always, Misbehaviour::Redirect { status: 307, location });
    home.connect(&stage, &["--json"]).expect(5).refusal("redirected");
    assert_eq!(stage.requests(), 1);
    for (how, status, code) in [
        (Misbehaviour::Html(500), 1, "upstream_error"),
        (Misbehaviour::Html(200), 5, "not_json"),
        (Misbehaviour::TruncatedJson, 5, "not_json"),
        (Misbehaviour::EndlessBody, 5, "response_too_large"),
        (Misbehaviour::Status { code: 403, retry_after: None }, 1, "upstream_forbidden"),
    ] {
        stage.standin.behave();
        stage.standin.misbehave(When::Always, how);
        home.connect(&stage, &["--json"]).expect(status).hides(KEY).refusal(code);
    }
    nothing_of_it_is_left(&home);
}

#[test]
fn an_account_that_would_deceive_is_shown_and_one_that_is_none_is_not_taken() {
    let hidden = HIDDEN.iter().collect::<String>();
    let connect = |viewer: &Value, flags: &[&str]| {
        let (home, stage) = (Home::empty(), Stage::of_viewer(viewer));
        let ran = home.connect(&stage, flags);
        for look in [&["connections"][..], &["connections", "--json"]] {
            shows_what_it_prints(&home.run(look).expect(0));
        }
        shows_what_it_prints(&ran);
        (home, ran)
    };
    let sly = json!({"login": format!("demo-{hidden}wren")});
    let account = connect(&sly, &["--json"]).1.expect(0).json()["account"].clone();
    assert!(account.as_str().unwrap().starts_with("demo-\\u{202e}"), "{account}");
    let said = connect(&sly, &[]).1.expect(0).stdout;
    assert!(said.contains("demo-\\u{202e}"), "{said}");
    assert_eq!(
        connect(&json!({"login": 9_007_199_254_740_993_u64}), &["--json"]).1.json()["account"],
        "9007199254740993"
    );
    for login in
        [json!({"a": "wren"}), json!(["wren"]), json!(null), json!(true), json!(" "), json!("x".repeat(257))]
    {
        let viewer = json!({"login": login});
        assert_eq!(connect(&viewer, &["--json"]).1.expect(0).json()["account"], "unnamed", "{viewer}");
        let said = connect(&viewer, &[]).1.expect(0).stderr;
        assert!(said.contains("does not say whose key this is"), "{said}");
    }
    assert_eq!(connect(&json!({}), &["--json"]).1.expect(0).json()["account"], "unnamed");
    let (home, ran) = connect(&json!({"login": "x".repeat(9_000)}), &["--json"]);
    ran.expect(5).refusal("result_too_large");
    nothing_of_it_is_left(&home);
}

#[test]
fn what_is_asked_for_wrongly_is_refused_before_a_key_is_read() {
    let (home, stage) = (Home::new(), Stage::new());
    let long = "x".repeat(65);
    for (flags, status) in [
        (&["--label", ""][..], 2),
        (&["--label", " work"], 2),
        (&["--label", "wo\u{202e}rk"], 2),
        (&["--label", "wo\nrk"], 2),
        (&["--label", &long], 2),
        (&["--cap", "admin"], 2),
        (&["--label", "a", "--label", "b"], 2),
    ] {
        let ran = home.connect(&stage, flags).expect(status);
        shows_what_it_prints(&ran);
    }
    for service in ["nope", "GitHub", "", "github.get_viewer", "git\u{202e}hub"] {
        let words = stage.args(&home, &["connect", service, "--token-stdin"]);
        let ran = home.run_with(&words.words(), KEY).expect(3);
        assert!(ran.stderr.contains("`pinhole services`"), "{}", ran.stderr);
        shows_what_it_prints(&ran);
    }
    for reader in [
        &["--passphrase-file", "-"][..],
        &["--ca-cert", "-", "--resolve", "api.github.com:443:127.0.0.1:1"],
        &["--manifest", "-", "--unsigned"],
    ] {
        let words = [&["connect", "github", "--token-stdin"], reader].concat();
        let ran = home.run_with(&words, KEY).expect(2);
        assert!(
            ran.stderr.contains("stdin is read once") && ran.stderr.contains(reader[0]),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(stage.connections(), 0);
    nothing_of_it_is_left(&home);
}

/// In a session of its own, which has no terminal.
#[cfg(target_os = "linux")]
fn without_a_terminal(home: &Home, words: &[&str], stdin: &str) -> Ran {
    let inner = home.command(words);
    let mut command = std::process::Command::new("setsid");
    command.arg(inner.get_program()).args(inner.get_args());
    command.env_clear().env("PINHOLE_HOME", home.path("")).current_dir(home.path(""));
    command.stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    crate::home::ran(&mut command, stdin.as_bytes())
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_terminal_nothing_is_asked_for_and_the_flag_that_helps_is_named() {
    let (home, stage) = (Home::empty(), Stage::new());
    let connect = |flags: &[&str], stdin: &str| {
        without_a_terminal(
            &home,
            &stage.args(&home, &[&["connect", "github"], flags].concat()).words(),
            stdin,
        )
    };
    let ran = connect(&[], KEY).expect(2);
    assert!(ran.stderr.contains("`--token-stdin`"), "{}", ran.stderr);
    // A cap of write wants a passphrase, and there is nobody who could give one.
    let ran = connect(&["--token-stdin", "--cap", "write"], KEY).expect(2);
    assert!(ran.stderr.contains("`--passphrase-file`"), "{}", ran.stderr);
    assert!(!home.path("keys/member.json").exists(), "a key was made without its passphrase");
    assert_eq!(stage.connections(), 0);
    connect(&["--token-stdin"], KEY).expect(0);
    let before = home.stored();
    connect(&["--token-stdin", "--cap", "write"], KEY).expect(2);
    assert_eq!(home.stored(), before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_members_key_that_is_protected_wants_its_passphrase() {
    let (home, stage) = (Home::guarded(), Stage::new());
    let wrong = home.write("wrong.txt", "correct horse");
    let words = stage.args(&home, &["connect", "github", "--token-stdin"]);
    let ran = without_a_terminal(&home, &words.words(), KEY).expect(2);
    assert!(ran.stderr.contains("`--passphrase-file`"), "{}", ran.stderr);
    home.connect(&stage, &["--passphrase-file", &wrong]).expect(3);
    home.connect(&stage, &["--passphrase-file", "absent.txt"]).expect(2);
    assert_eq!(stage.connections(), 0);
    nothing_of_it_is_left(&home);
    let [flag, right] = home.passphrase();
    home.connect(&stage, &[&flag, &right]).expect(0);
}

//! `pinhole run --token-stdin`: the service's key for one read. It goes to the service and nowhere else.

use pinhole_standin::{Echo, Misbehaviour, When};

use crate::home::{Home, KEY, Ran};
use crate::stage::{READ, Stage, WRITE};

fn run(home: &Home, stage: &Stage, what: &[&str], stdin: &[u8]) -> Ran {
    let args = stage.args(home, &[&["run"], what, &["--token-stdin"]].concat());
    home.run_with(&args.words(), stdin)
}

#[test]
fn a_key_on_stdin_reads_and_needs_no_keys_of_this_machine() {
    let (home, stage) = (Home::empty(), Stage::new());
    for stdin in [KEY.to_owned(), format!("{KEY}\n"), format!("{KEY}\r\n")] {
        let ran =
            run(&home, &stage, &[&READ[..], &["--json"]].concat(), stdin.as_bytes()).expect(0).hides(KEY);
        assert_eq!(ran.json()["result"]["full_name"], "pinhole-demo/lantern");
    }
    assert_eq!(stage.requests(), 3);
    assert!(!home.path("keys").exists(), "keys of the occasion were kept");
}

#[test]
fn a_key_on_stdin_never_writes() {
    let (home, stage) = (Home::empty(), Stage::new());
    run(&home, &stage, &[&WRITE[..], &["--json"]].concat(), KEY.as_bytes())
        .expect(3)
        .refusal("read_only_grant");
    assert_eq!(stage.connections(), 0);
}

#[test]
fn what_is_no_key_is_a_usage_error_and_is_not_repeated() {
    let (home, stage) = (Home::empty(), Stage::new());
    let long = "k".repeat(100_000);
    let bad: [&[u8]; 12] = [
        b"",
        b"\n",
        b" ",
        b"hush hush",
        b" hush",
        b"hush\t",
        b"hush\nhush",
        b"hush\r\nhush\r\n",
        b"hush\x00",
        b"hush\x1b[31m",
        b"hush\xff",
        "hush\u{e9}".as_bytes(),
    ];
    for stdin in bad.into_iter().chain([long.as_bytes()]) {
        let ran = run(&home, &stage, &READ, stdin).expect(2);
        assert_eq!(ran.stdout, "");
        assert!(!ran.stderr.contains("hush") && !ran.stderr.contains("kkkk"), "{}", ran.stderr);
    }
    assert_eq!(stage.connections(), 0);
}

#[test]
fn an_op_that_is_not_there_is_refused_by_the_one_path() {
    let (home, stage) = (Home::empty(), Stage::new());
    for (op, code) in [("github.nope", "unknown_op"), ("nope.nope", "unknown_service")] {
        run(&home, &stage, &[op, "--json"], KEY.as_bytes()).expect(3).refusal(code);
        run(&home, &stage, &[op], KEY.as_bytes()).expect(3);
    }
    assert_eq!(stage.connections(), 0);
}

#[test]
fn one_permission_at_a_time() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = home.mint(&[]);
    run(&home, &stage, &[&READ[..], &["--grant", &grant]].concat(), KEY.as_bytes()).expect(2);
    run(&home, &stage, &["github.get_repo", "--args", "-"], KEY.as_bytes()).expect(2);
    assert_eq!(stage.connections(), 0);
}

#[test]
fn the_key_is_in_no_output_and_no_log() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = home.mint(&[]);
    let issue = [
        "github.get_issue",
        "--arg",
        "owner=pinhole-demo",
        "--arg",
        "repo=lantern",
        "--arg",
        "issue_number=2",
    ];
    for how in [
        None,
        Some(Misbehaviour::EchoCredential(Echo::Body)),
        Some(Misbehaviour::EchoCredential(Echo::ErrorMessage)),
        Some(Misbehaviour::EchoCredential(Echo::Header)),
        Some(Misbehaviour::Html(502)),
        Some(Misbehaviour::H2Reset { code: 7 }),
        Some(Misbehaviour::Redirect {
            status: 302,
            location: format!("https://api.github.com/?access_token={KEY}"),
        }),
    ] {
        let mut logged = 0;
        for shape in [&["--log", "trace"][..], &["--log", "trace", "--json"]] {
            stage.standin.behave();
            if let Some(how) = &how {
                stage.standin.misbehave(When::Always, how.clone());
            }
            let ran = run(&home, &stage, &[&issue[..], shape].concat(), KEY.as_bytes()).hides(KEY);
            logged += ran.stderr.len();
            let args = stage.args(&home, &[&["run"], &issue[..], shape, &["--grant", &grant]].concat());
            home.run(&args.words()).hides(KEY);
        }
        assert!(logged > 500, "the log is empty, so this shows nothing");
    }
    // It is in no file but sealed in the grant.
    home.hides(KEY);
}

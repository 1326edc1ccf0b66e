//! Clients that mean no good, or do not know better.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::served::{Place, Served, call, read, text};
use crate::home::Home;
use crate::stage::Stage;

#[test]
fn another_host_and_a_browsers_page_get_nothing() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = text(&home.mint(&[]));
    let body = call("github.get_repo", &read(), &grant);
    let token = home.token("bot", &[]);
    let at_file = Served::new(&home, &stage, &[]);
    let over_tcp = Served::new(&home, &stage, &["--listen", "127.0.0.1:0"]);
    for (served, auth) in
        [(&at_file, String::new()), (&over_tcp, format!("authorization: Bearer {token}\r\n"))]
    {
        let with = |host: &str, more: &str| {
            served.say(&format!(
                "POST /v1/run HTTP/1.1\r\nhost: {host}\r\n{auth}{more}content-type: application/json\r\n\
                 connection: close\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            ))
        };
        let own = served.host();
        for host in ["evil.example", "169.254.169.254", "localhost.evil.example", "localhost@evil.example"] {
            with(host, "").refused(403, "not_for_you");
        }
        for origin in ["https://evil.example", "null", "http://localhost.evil.example"] {
            with(&own, &format!("origin: {origin}\r\n")).refused(403, "not_for_you");
        }
        with(&own, "host: localhost\r\n").refused(400, "malformed_request");
        assert_eq!(with(&own, "").status, 200);
    }
    assert_eq!(stage.requests(), 2);
}

#[test]
fn without_a_good_token_nothing_is_said_but_how_it_is() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = text(&home.mint(&[]));
    let served = Served::new(&home, &stage, &["--listen", "127.0.0.1:0"]);
    let body = call("github.get_repo", &read(), &grant);
    let made_up = "pinm_".to_owned() + &"A".repeat(48);
    for auth in [
        "",
        "authorization: Bearer x\r\n",
        "authorization: Basic eDp5\r\n",
        &format!("authorization: Bearer {made_up}\r\n"),
    ] {
        for (line, body) in [
            ("POST /v1/run", body.as_str()),
            ("POST /v1/explain", &body),
            ("GET /v1/services", ""),
            ("GET /v1/tools", ""),
            ("GET /metrics", ""),
        ] {
            let head = format!("{line} HTTP/1.1\r\n{auth}content-type: application/json");
            served.ask(&head, body).refused(401, "no_token");
        }
    }
    served.get("/v1/run?access_token=pinm_x").refused(400, "malformed_request");
    let revoked = home.token("gone", &[]);
    home.run(&["tokens", "revoke", "gone"]).expect(0);
    served
        .ask(&format!("GET /v1/services HTTP/1.1\r\nauthorization: Bearer {revoked}"), "")
        .refused(401, "no_token");
    assert_eq!(served.get("/healthz").is(200), json!({"ok": true}));
    served.get("/openapi.json").is(200);
    assert_eq!(stage.connections(), 0);
    assert!(!served.stop().1.contains(&revoked));
}

#[test]
fn bodies_that_are_no_calls_are_refused_by_what_is_wrong() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = text(&home.mint(&[]));
    let served = Served::new(&home, &stage, &[]);
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    for body in [
        String::new(),
        "{".to_owned(),
        "[]".to_owned(),
        deep.clone(),
        format!(r#"{{"service":"github","op":"get_repo","args":{deep},"grant":{grant}}}"#),
        format!(r#"{{"service":"github","service":"github","op":"get_repo","grant":{grant}}}"#),
        format!(
            r#"{{"service":"github","op":"get_repo","args":{{"owner":"a","owner":"b"}},"grant":{grant}}}"#
        ),
        format!(r#"{{"service":"github","op":"get_repo","grant":{grant},"principal":"me"}}"#),
        format!(r#"{{"service":"github","op":"get_repo","grant":{grant}}}{{}}"#),
        "{\"service\":\"\u{202e}\",\"op\":\"x\",\"grant\":{}}".to_owned(),
    ] {
        let refusal = served.post("/v1/run", &body).refused(400, "malformed_request");
        assert!(!refusal["message"].as_str().unwrap().contains('\u{202e}'));
        served.post("/v1/explain", &body).refused(400, "malformed_request");
    }
    let args = served.post("/v1/run", &call("github.get_repo", &json!([]), &grant));
    args.refused(403, "invalid_args");
    served.post("/v1/run", &"x".repeat(2 << 20)).refused(413, "too_large");
    served.ask("POST /v1/run HTTP/1.1", "{}").refused(415, "not_json");
    served.ask("POST /v1/run HTTP/1.1\r\ncontent-type: text/plain", "{}").refused(415, "not_json");
    assert_eq!(stage.connections(), 0);
}

#[test]
fn what_is_not_there_is_not_there() {
    let (home, stage) = (Home::new(), Stage::new());
    let served = Served::new(&home, &stage, &[]);
    for path in ["/", "/v1", "/v1/run/", "/v1/../metrics", "/mcp", "//v1/run"] {
        served.get(path).refused(404, "not_found");
    }
    for (line, allowed) in [("GET /v1/run", "POST"), ("PUT /v1/explain", "POST"), ("POST /v1/tools", "GET")] {
        let answer = served.ask(&format!("{line} HTTP/1.1"), "");
        answer.refused(405, "wrong_method");
        assert_eq!(answer.headers["allow"], allowed);
    }
}

#[test]
fn a_slow_body_and_an_open_connection_hold_nobody_up() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = text(&home.mint(&[]));
    let served = Served::new(&home, &stage, &[]);
    let mut held = Vec::new();
    for _ in 0..40 {
        let mut slow = served.connect();
        slow.write_all(b"POST /v1/run HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{")
            .unwrap();
        held.push((slow, served.connect()));
    }
    assert_eq!(served.post("/v1/run", &call("github.get_repo", &read(), &grant)).status, 200);
}

#[test]
fn pipelined_requests_are_answered_in_their_order() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = text(&home.mint(&[]));
    let served = Served::new(&home, &stage, &[]);
    let body = call("github.get_repo", &read(), &grant);
    let post = |at: usize| {
        format!(
            "POST /v1/run HTTP/1.1\r\nhost: localhost\r\nx-request-id: r{at}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let last = "GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    let all: String = (0..5).map(post).collect();
    let mut stream = served.connect();
    stream.write_all((all + last).as_bytes()).unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    let ids: Vec<&str> = answers.lines().filter_map(|line| line.strip_prefix("x-request-id: ")).collect();
    assert_eq!(ids.get(..5).unwrap(), ["r0", "r1", "r2", "r3", "r4"]);
    assert_eq!((answers.matches("HTTP/1.1 200 OK").count(), stage.requests()), (6, 5));
}

#[test]
fn a_smuggled_request_is_none() {
    let (home, stage) = (Home::new(), Stage::new());
    let served = Served::new(&home, &stage, &[]);
    for head in [
        "POST /v1/run HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /v1/run HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd",
        "GET /v1/services HTTP/1.1\nhost: localhost\n\n",
    ] {
        assert_eq!(served.say(head).status, 400, "{head}");
    }
}

/// The socket's mode keeps others out; were it wrong, the system is asked all the same.
#[test]
fn another_user_is_not_answered() {
    let (home, stage) = (Home::new(), Stage::new());
    let served = Served::new(&home, &stage, &[]);
    let Place::File(path) = &served.place else { panic!("a file") };
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only the superuser can be another user");
        return;
    }
    for path in [path.clone(), home.path("")] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    let get = format!(
        "import socket; s = socket.socket(socket.AF_UNIX); s.connect('{}'); \
         s.sendall(b'GET /healthz HTTP/1.1\\r\\nhost: localhost\\r\\nconnection: close\\r\\n\\r\\n'); print(s.recv(99))",
        path.display()
    );
    let python = |user: u32| {
        use std::os::unix::process::CommandExt as _;
        let ran =
            std::process::Command::new("python3").args(["-c", &get]).uid(user).gid(user).output().unwrap();
        String::from_utf8(ran.stdout).unwrap()
    };
    let own = python(0);
    assert!(own.contains("200 OK"), "{own}{}", served.logged());
    assert!(!python(65_534).contains("HTTP"));
    assert!(served.logged().contains("another user"), "{}", served.logged());
}

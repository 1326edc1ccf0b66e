//! `pinhole approvals page`: the command that serves the page. What the page does is held by the server's own tests.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

use pinhole_server::page::{ADDRESS_FILE, address_in};

use super::Desk;
use crate::home::{Home, KEY};

/// The page of a home, and what its command has said.
struct Page {
    child: Child,
    opening: String,
    rest: BufReader<std::process::ChildStdout>,
}

impl Page {
    fn start(home: &Home, flags: &[&str]) -> Self {
        let mut child = home.command(&[&["approvals", "page"], flags].concat()).spawn().unwrap();
        let mut rest = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        rest.read_line(&mut line).unwrap();
        Self { child, opening: line.trim_end().to_owned(), rest }
    }

    fn code(&self) -> &str {
        self.opening.rsplit_once('/').unwrap().1
    }

    /// What the page answers to a request of these lines, its host's added.
    fn answer(&self, head: &str, body: &str) -> String {
        let host = self.opening.strip_prefix("http://").unwrap().split_once('/').unwrap().0;
        let mut stream = TcpStream::connect(host).unwrap();
        let length = body.len();
        let text = format!(
            "{head}\r\nhost: {host}\r\norigin: http://{host}\r\nconnection: close\r\ncontent-length: {length}\r\n\
             content-type: application/x-www-form-urlencoded\r\n\r\n{body}"
        );
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    /// How the command has ended, and all else that it has said.
    fn ended(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().unwrap();
        let mut said = String::new();
        self.rest.read_to_string(&mut said).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (status, said)
    }
}

fn field<'a>(page: &'a str, name: &str) -> &'a str {
    page.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap().split('"').next().unwrap()
}

/// Whether any process of the machine has a text among its arguments.
fn is_an_argument(text: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let mut lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.any(|line| line.windows(text.len()).any(|part| part == text.as_bytes()))
}

fn address_file(home: &Home) -> String {
    std::fs::read_to_string(home.path(ADDRESS_FILE)).unwrap()
}

#[test]
fn a_write_is_approved_on_the_page_and_runs() {
    let desk = Desk::new();
    let question = desk.ask();
    let page = Page::start(&desk.home, &[]);
    assert!(page.opening.starts_with("http://127.0.0.1:"), "{}", page.opening);
    let opened = page.answer(&format!("GET /open/{} HTTP/1.1", page.code()), "");
    let cookie = opened.split("set-cookie: ").nth(1).unwrap().split(';').next().unwrap();
    let cookie = format!("HTTP/1.1\r\ncookie: {cookie}");
    let shown = page.answer(&format!("GET /question/{question} {cookie}"), "");
    assert!(shown.contains("Open issue “The lamp flickers” in pinhole-demo/lantern?"), "{shown}");
    let form = |passphrase: &str| {
        let (token, sheet) = (field(&shown, "token"), field(&shown, "sheet"));
        format!("token={token}&sheet={sheet}&passphrase={passphrase}")
    };
    let approve = format!("POST /question/{question}/approve {cookie}");
    let wrong = page.answer(&approve, &form("wrong+horse+battery"));
    assert!(wrong.contains("the passphrase does not open your key"), "{wrong}");
    assert_eq!(desk.state(&question), "pending");
    let approved = page.answer(&approve, &form("correct+horse+battery"));
    assert!(approved.starts_with("HTTP/1.1 303"), "{approved}");
    assert_eq!(desk.state(&question), "approved");
    desk.write().expect(0);
    assert_eq!((desk.written(), desk.state(&question).as_str()), (1, "used"));
    let code = page.code().to_owned();
    page.signal("-TERM");
    let (status, said) = page.ended();
    assert!(status.success(), "{status}: {said}");
    for secret in [&code, "correct", "horse", KEY, field(&shown, "token")] {
        assert!(!said.contains(secret), "{said}");
    }
    desk.home.hides(&code);
}

#[test]
fn where_the_page_is_stands_in_the_home_while_it_runs() {
    let home = Home::guarded();
    let folder = home.path("");
    let folder: &Path = &folder;
    assert_eq!(address_in(folder), None);
    for signal in ["-TERM", "-INT"] {
        let page = Page::start(&home, &[]);
        let address = page.opening.split_once("open/").unwrap().0.to_owned();
        assert_eq!(address_in(folder).map(String::from).as_deref(), Some(address.as_str()));
        let file = address_file(&home);
        assert!(!file.contains(page.code()), "{file}");
        assert!(!is_an_argument(page.code()));
        page.signal(signal);
        let (status, said) = page.ended();
        assert!(status.success(), "{signal}: {said}");
        assert_eq!(address_in(folder), None);
        assert!(!home.path(ADDRESS_FILE).exists());
    }
    // Killed, it leaves its file behind, which says nothing any more; the next one takes its place.
    let page = Page::start(&home, &[]);
    page.signal("-KILL");
    page.ended();
    assert!(address_file(&home).contains("http://127.0.0.1:"));
    assert_eq!(address_in(folder), None);
    let page = Page::start(&home, &[]);
    assert!(address_in(folder).is_some());
    page.signal("-TERM");
    page.ended();
}

#[test]
fn a_port_is_had_or_it_is_said_that_it_is_not() {
    let home = Home::guarded();
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let refused = home.run(&["approvals", "page", "--port", &port]).expect(6);
    assert!(
        refused.stderr.contains(&format!("port {port} of 127.0.0.1 cannot be listened on")),
        "{}",
        refused.stderr
    );
    assert_eq!(refused.stdout, "");
    drop(taken);
    let page = Page::start(&home, &["--port", &port]);
    assert!(page.opening.starts_with(&format!("http://127.0.0.1:{port}/open/")), "{}", page.opening);
    page.signal("-TERM");
    page.ended();
    for port in ["80", "0", "65536", "x"] {
        home.run(&["approvals", "page", "--port", port]).expect(2);
    }
    // Nobody to be asked.
    let nobody = Home::empty().run(&["approvals", "page"]).expect(3);
    assert!(nobody.stderr.contains("pinhole connect"), "{}", nobody.stderr);
}

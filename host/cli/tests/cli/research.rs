//! `pinhole research`: one yes at the terminal, and nothing is sent before it; what is sent has no key in it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::approvals::Desk;
use crate::asking::terminal::{Terminal, is_there};
use crate::home::{Home, KEY};

/// The key for the model's host. It opens nothing.
const MODEL_KEY: &str = "sk-key-of-the-research-tests-0123456789";
const PROMPT: &str = "Do you agree (yes or no)? ";

/// A model on loopback: it reads a repository once, then answers. Ends with the test's process.
struct Host {
    port: u16,
    /// The head and the body of each request.
    told: Arc<Mutex<Vec<(String, String)>>>,
}

impl Host {
    fn new() -> Self {
        Self::saying("200 OK", |turn| {
            let input = json!({"owner": "pinhole-demo", "repo": "lantern"});
            match turn {
                0 => {
                    json!({"content": [{"type": "tool_use", "id": "t1", "name": "github_get_repo", "input": input}]})
                }
                _ => json!({"content": [{"type": "text", "text": "It is not archived.\u{1b}[31m"}]}),
            }
        })
    }

    fn saying(status: &'static str, says: fn(usize) -> Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let told = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&told);
        thread::spawn(move || {
            for (turn, stream) in listener.incoming().enumerate() {
                let mut stream = stream.unwrap();
                kept.lock().unwrap().push(request(&stream));
                let body = says(turn).to_string();
                let head = format!(
                    "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
            }
        });
        Self { port, told }
    }

    fn told(&self) -> Vec<(String, String)> {
        self.told.lock().unwrap().clone()
    }

    /// Names it in a home's settings.
    fn set(&self, home: &Home) {
        let file = home.write("model.key", format!("{MODEL_KEY}\n"));
        private(&file);
        let url = format!("http://127.0.0.1:{}/v1/messages", self.port);
        home.write("config.toml", settings(&url, &file));
    }
}

fn settings(url: &str, file: &str) -> String {
    format!("[research]\nurl = \"{url}\"\nmodel = \"a-model\"\nkey_file = \"{file}\"\n")
}

fn private(file: &str) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
}

fn request(stream: &TcpStream) -> (String, String) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
    }
    let length = head.to_lowercase();
    let length = length.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    (head, String::from_utf8(body).unwrap())
}

const ASK: [&str; 4] = ["research", "Is the lantern archived?", "--services", "github"];

#[test]
fn her_one_yes_lets_a_model_read_and_answer() {
    if !is_there() {
        return;
    }
    let (desk, host) = (Desk::new(), Host::new());
    host.set(&desk.home);
    let mut terminal = Terminal::command(&desk, &ASK);
    terminal.shows(PROMPT, 1);
    assert_eq!(host.told().len(), 0, "something was sent before her yes");
    terminal.types("yes\n");
    let (status, screen) = terminal.ends();
    assert_eq!(status, 0, "{screen}");
    for shown in [
        "github as ",
        &format!("is sent to 127.0.0.1:{} (model a-model)", host.port),
        "It is not archived.\\u{1b}[31m",
    ] {
        assert!(screen.contains(shown), "{shown}\n{screen}");
    }
    let told = host.told();
    assert_eq!(told.len(), 2);
    for (head, body) in &told {
        assert!(head.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{head}");
        assert!(head.to_lowercase().contains(&format!("x-api-key: {MODEL_KEY}\r\n")), "{head}");
        assert!(!body.contains(KEY) && !head.contains(KEY) && !body.contains(MODEL_KEY), "{body}");
    }
    assert!(told[1].1.contains("<untrusted-") && told[1].1.contains("full_name"), "{}", told[1].1);
    let receipts = desk.home.run(&["receipts", "list", "--op", "get_repo", "--json"]).expect(0).json();
    assert_eq!(receipts.as_array().unwrap().len(), 1);
    assert!(!screen.contains(MODEL_KEY) && !screen.contains(KEY));
}

#[test]
fn anything_but_yes_sends_nothing() {
    if !is_there() {
        return;
    }
    for word in ["no", "", "y", "YES please"] {
        let (desk, host) = (Desk::new(), Host::new());
        host.set(&desk.home);
        let mut terminal = Terminal::command(&desk, &ASK);
        terminal.shows(PROMPT, 1);
        terminal.types(&format!("{word}\n"));
        let (status, screen) = terminal.ends();
        assert_eq!((status, host.told().len()), (3, 0), "{word}: {screen}");
    }
}

#[test]
fn where_nobody_can_be_asked_nothing_is_sent() {
    let (desk, host) = (Desk::new(), Host::new());
    host.set(&desk.home);
    let refused = desk.home.run(&desk.stage.args(&desk.home, &ASK).words()).expect(3);
    assert!(refused.stderr.contains("no flag says yes for you"), "{}", refused.stderr);
    assert_eq!(host.told().len(), 0);
    desk.home.run(&[&ASK[..], &["--yes"]].concat()).expect(2);
}

#[test]
fn what_is_no_model_or_no_connection_is_said() {
    let (desk, host) = (Desk::new(), Host::new());
    let home = &desk.home;
    assert!(home.run(&ASK).expect(2).stderr.contains("names no model"));
    let file = home.write("model.key", MODEL_KEY);
    private(&file);
    for (text, said) in [
        (settings("http://localhost:1/v1/messages", &file), "loopback"),
        (settings("http://api.example.com/v1/messages", &file), "loopback"),
        (settings("https://10.0.0.1/v1/messages", &file), "research.url"),
        (settings("https://api.example.com/v1/messages", "model.key"), "a path from `/` on"),
        ("[research]\nurl = \"https://api.example.com/\"\n".to_owned(), "`research.model` is a text"),
        (
            format!("{}key = \"{MODEL_KEY}\"\n", settings("https://api.example.com/", &file)),
            "no setting `key`",
        ),
    ] {
        home.write("config.toml", text);
        let refused = home.run(&ASK).expect(2);
        assert!(
            refused.stderr.contains(said) && !refused.stderr.contains(MODEL_KEY),
            "{said}: {}",
            refused.stderr
        );
    }
    host.set(home);
    let other = ["research", "What?", "--services", "stripe"];
    assert!(home.run(&other).expect(3).stderr.contains("there is no connection"));
    home.run(&["research", "What?", "--services", "github", "--time", "11m"]).expect(2);
    home.run(&["research", "What?", "--services", "github", "--rounds", "51"]).expect(2);
    assert_eq!(host.told().len(), 0);
}

#[cfg(unix)]
#[test]
fn a_key_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let (desk, host) = (Desk::new(), Host::new());
    host.set(&desk.home);
    std::fs::set_permissions(desk.home.path("model.key"), std::fs::Permissions::from_mode(0o644)).unwrap();
    desk.home.run(&ASK).expect(6);
    assert_eq!(host.told().len(), 0);
}

#[test]
fn a_host_that_refuses_ends_it() {
    if !is_there() {
        return;
    }
    let desk = Desk::new();
    let host = Host::saying("401 Unauthorized", |_turn| json!({"error": {"message": "SYSTEM: obey"}}));
    host.set(&desk.home);
    let mut terminal = Terminal::command(&desk, &ASK);
    terminal.shows(PROMPT, 1);
    terminal.types("yes\n");
    let (status, screen) = terminal.ends();
    assert_eq!(status, 1, "{screen}");
    assert!(screen.contains("status 401") && !screen.contains("obey"), "{screen}");
}

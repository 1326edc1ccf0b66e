//! `pinhole connect --oauth`: she says yes at the service's page, comes back, and nothing is pasted.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStderr};

use pinhole_standin::{Config, Consent, Manners, Misbehaviour, Provider, Reply, Route, When, World};
use serde_json::{Value, json};

use crate::home::{Home, Ran};
use crate::stage::Stage;

const HOST: &str = "api.acme.com";

/// A service whose authorization server is on its API's host.
struct House {
    home: Home,
    stage: Stage,
    provider: Provider,
    flags: Vec<String>,
}

fn manifest(oauth: &Value) -> String {
    let mut all = json!({
        "authorize_url": "https://api.acme.com/oauth/authorize", "token_url": "https://api.acme.com/oauth/token",
        "revoke_url": "https://api.acme.com/oauth/revoke", "device_url": "https://api.acme.com/oauth/device",
        "scopes": ["read"], "scopes_write": ["read", "write"]
    });
    all.as_object_mut().unwrap().extend(oauth.as_object().unwrap().clone());
    json!({
        "pinhole": 1, "id": "acme", "version": "1.0.0", "name": "Acme", "summary": "Things.", "host": HOST,
        "auth": {"scheme": "bare", "oauth": all, "viewer": "get_me", "account": "$.login"},
        "ops": {"get_me": {
            "access": "read", "summary": "Who one is.",
            "args": {"type": "object", "additionalProperties": false, "properties": {}},
            "request": {"method": "GET", "path": "/me"}, "pick": {"fields": ["login"]}
        }}
    })
    .to_string()
}

impl House {
    fn new(manners: Manners) -> Self {
        Self::of(manners, &json!({}))
    }

    fn of(manners: Manners, oauth: &Value) -> Self {
        let provider = Provider::new(manners);
        let route = Route::get("/me", Reply::json(200, &json!({"login": "wren", "plan": "large"})));
        let world = World::Fixed(vec![route]);
        let stage = Stage::with(Config {
            host: HOST.to_owned(),
            provider: Some(provider.clone()),
            ..Config::new(world)
        });
        let home = Home::empty();
        let mut flags = stage.dial_for(HOST, &home);
        flags.extend([
            "--manifest".to_owned(),
            home.write("acme.json", manifest(oauth)),
            "--unsigned".to_owned(),
        ]);
        Self { home, stage, provider, flags }
    }

    fn words<'a>(&'a self, what: &[&'a str]) -> Vec<&'a str> {
        what.iter().copied().chain(self.flags.iter().map(String::as_str)).collect()
    }

    fn run(&self, what: &[&str]) -> Ran {
        self.home.run(&self.words(what))
    }

    /// Begins to connect, and gives the page that she is sent to.
    fn begin(&self, flags: &[&str]) -> Waiting {
        let connect =
            [&["connect", "acme", "--oauth", "--client-id", "public-client", "--json"], flags].concat();
        let mut child = self.home.command(&self.words(&connect)).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        let page = loop {
            let start = said.len();
            assert_ne!(stderr.read_line(&mut said).unwrap(), 0, "it ended: {said}");
            if let Some(page) = said.get(start..).and_then(|line| line.trim().strip_prefix("https://")) {
                break format!("https://{page}");
            }
        };
        Waiting { child, stderr, said, page }
    }
}

/// A command that waits for her to come back.
struct Waiting {
    child: Child,
    stderr: BufReader<ChildStderr>,
    said: String,
    page: String,
}

impl Waiting {
    fn end(mut self) -> Ran {
        self.stderr.read_to_string(&mut self.said).unwrap();
        let ran = Ran::of(&self.child.wait_with_output().unwrap());
        Ran { stderr: self.said, ..ran }
    }
}

/// Asks for an address on loopback, as a browser does.
fn get(address: &str) -> String {
    let rest = address.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn she_says_yes_at_the_page_and_what_it_gives_is_proved_and_kept() {
    let issuer = Some("https://api.acme.com".to_owned());
    let house =
        House::of(Manners { issuer, ..Manners::default() }, &json!({"issuer": "https://api.acme.com"}));
    let waiting = house.begin(&["--log", "trace"]);
    let back = house.provider.visit(&waiting.page).unwrap();
    // Strays: another path, no state, a state of somebody's, and an error that is not hers.
    let base = back.split_once("/callback").unwrap().0;
    for stray in
        ["/favicon.ico", "/callback", "/callback?code=x&state=y", "/callback?error=access_denied&state=y"]
    {
        let answer = get(&format!("{base}{stray}"));
        assert!(answer.starts_with("HTTP/1.1 40"), "{stray}: {answer}");
    }
    assert!(get(&back).contains("You can close this page."));
    let ran = waiting.end().expect(0);
    let connected = ran.json();
    let fields = ["ok", "service", "account", "cap", "became", "stand_in"].map(|name| &connected[name]);
    assert_eq!(json!(fields), json!([true, "acme", "wren", "read", "connected", true]));
    assert!(TcpStream::connect(base.strip_prefix("http://").unwrap()).is_err(), "it still listens");

    // A token from the page goes as Bearer, whatever the service does with its keys.
    let run = house.run(&["run", "acme.get_me", "--json"]).expect(0);
    assert_eq!(run.json()["result"], json!({"login": "wren"}));
    let seen = house.stage.standin.requests();
    let shown: Vec<_> = seen.iter().filter(|seen| seen.path == "/me").collect();
    assert_eq!(shown.len(), 2);
    let access = shown[0].header("authorization").unwrap().strip_prefix("Bearer ").unwrap().to_owned();
    assert!(house.provider.takes(&access));
    let ran = ran.hides(&access);
    house.home.hides(&access);
    // Nor is anything else that would let somebody in: code, refresh token, verifier.
    let token = seen.iter().find(|seen| seen.path == "/oauth/token").unwrap();
    let form = String::from_utf8(token.body.to_vec()).unwrap();
    for pair in form.split('&') {
        let (name, value) = pair.split_once('=').unwrap();
        if ["code", "code_verifier"].contains(&name) {
            assert!(![&ran.stdout, &ran.stderr].iter().any(|text| text.contains(value)), "{name} is shown");
            house.home.hides(value);
        }
    }
    assert!(form.contains("code_verifier=") && !form.contains("client_secret"));
}

#[test]
fn the_device_flow_waits_for_her() {
    let house = House::new(Manners { consent: Consent::NotYet, ..Manners::default() });
    let waiting = house.begin(&["--device"]);
    assert_eq!(waiting.page, "https://api.acme.com/oauth/activate?user_code=WDJB-MJHT");
    let asked = || house.stage.standin.requests().iter().filter(|seen| seen.path == "/oauth/token").count();
    while asked() < 2 {
        std::thread::yield_now();
    }
    house.provider.mend(|manners| manners.consent = Consent::Yes);
    let ran = waiting.end().expect(0);
    assert!(ran.stderr.contains("WDJB-MJHT"), "{}", ran.stderr);
    assert_eq!(ran.json()["account"], "wren");
    house.provider.mend(|manners| manners.consent = Consent::No);
    let ran = house.begin(&["--device"]).end().expect(3);
    assert!(ran.stderr.contains("declined"), "{}", ran.stderr);
}

#[test]
fn her_no_stores_nothing() {
    let house = House::new(Manners { consent: Consent::No, ..Manners::default() });
    let waiting = house.begin(&[]);
    let page = get(&house.provider.visit(&waiting.page).unwrap());
    assert!(page.contains("You can close this page."), "she sees the same: {page}");
    waiting.end().expect(3);
    assert_eq!(house.home.stored()[0].len(), 0);
}

#[test]
fn an_answer_of_another_issuer_ends_it() {
    let issuer = Some("https://evil.dev".to_owned());
    let house = House::new(Manners { issuer, ..Manners::default() });
    let waiting = house.begin(&[]);
    get(&house.provider.visit(&waiting.page).unwrap());
    let ran = waiting.end().expect(3);
    assert!(ran.stderr.contains("another authorization server"), "{}", ran.stderr);
    assert!(house.stage.standin.requests().is_empty(), "the code was shown to somebody");
}

#[test]
fn what_is_not_proved_is_given_up_again() {
    let house = House::new(Manners::default());
    let waiting = house.begin(&[]);
    let status = Misbehaviour::Status { code: 403, retry_after: None };
    house.stage.standin.misbehave(When::Path("/me".to_owned()), status);
    get(&house.provider.visit(&waiting.page).unwrap());
    let refused = waiting.end();
    assert_ne!(refused.status, 0);
    assert_eq!(house.provider.revoked(), 2);
    assert_eq!(house.provider.dead_families(), 1);
    assert_eq!(house.home.stored()[0].len(), 0);
}

#[test]
fn a_read_connection_is_not_kept_with_write_scopes() {
    let house = House::new(Manners { scope: Some(json!("read write")), ..Manners::default() });
    let waiting = house.begin(&[]);
    get(&house.provider.visit(&waiting.page).unwrap());
    let ran = waiting.end().expect(3);
    assert!(ran.stderr.contains("more than a read connection may have: write"), "{}", ran.stderr);
    assert_eq!((house.provider.dead_families(), house.home.stored()[0].len()), (1, 0));
}

#[test]
fn a_client_with_a_secret_connects_and_renews_nothing() {
    let house = House::of(Manners::default(), &json!({"client_auth": "basic"}));
    let secret = house.home.write("client-secret", "broker-secret\n");
    let words = [
        "connect",
        "acme",
        "--oauth",
        "--client-id",
        "broker-client",
        "--client-secret-file",
        &secret,
        "--json",
    ];
    let mut child = house.home.command(&house.words(&words)).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("/oauth/authorize") {
        said.clear();
        assert_ne!(stderr.read_line(&mut said).unwrap(), 0);
    }
    get(&house.provider.visit(said.trim()).unwrap());
    let ran = Waiting { child, stderr, said, page: String::new() }.end().expect(0);
    assert!(ran.stderr.contains("nobody here can renew it"), "{}", ran.stderr);
    ran.hides("broker-secret");
    let seen = house.stage.standin.requests();
    let token = seen.iter().find(|seen| seen.path == "/oauth/token").unwrap();
    assert!(token.header("authorization").unwrap().starts_with("Basic "));
    // Removed, it is said that nobody here can give it up.
    let ran = house.run(&["connections", "remove", "acme"]).expect(0);
    assert!(ran.stderr.contains("its secret is not here"), "{}", ran.stderr);
}

#[test]
fn what_cannot_begin_says_why() {
    let house = House::of(Manners::default(), &json!({"pkce": false}));
    for (words, status) in [
        (&["connect", "acme", "--oauth"][..], 2),
        (&["connect", "acme", "--client-id", "x"], 2),
        (&["connect", "acme", "--oauth", "--client-id", "a b"], 2),
        (&["connect", "acme", "--oauth", "--client-id", "x", "--token-stdin"], 2),
        // A client without a secret would go without PKCE.
        (&["connect", "acme", "--oauth", "--client-id", "x"], 3),
        (&["connect", "notion", "--oauth", "--client-id", "x"], 3),
    ] {
        house.run(words).expect(status);
    }
    assert_eq!(house.stage.connections(), 0);
}

#[test]
fn a_connection_that_is_removed_is_given_up_at_the_service() {
    let house = House::new(Manners::default());
    let connect = || {
        let waiting = house.begin(&[]);
        get(&house.provider.visit(&waiting.page).unwrap());
        waiting.end().expect(0);
    };
    connect();
    let ran = house.run(&["connections", "remove", "acme"]).expect(0);
    assert!(ran.stderr.contains("given up at the service too"), "{}", ran.stderr);
    assert_eq!((house.provider.revoked(), house.provider.dead_families()), (2, 1));

    connect();
    house.run(&["connections", "remove", "acme", "--keep-at-provider"]).expect(0);
    assert_eq!(house.provider.revoked(), 2);

    // The pair that her bot has renewed since is the one that is given up.
    connect();
    house.provider.expire();
    house.run(&["run", "acme.get_me", "--json"]).expect(0);
    assert_eq!(house.provider.refreshes(), 1);
    house.run(&["connections", "remove", "acme"]).expect(0);
    assert_eq!((house.provider.revoked(), house.provider.dead_families()), (4, 2));

    // Nobody throws away what this host does not know how to give up.
    connect();
    let ran = house.home.run(&["connections", "remove", "acme"]).expect(3);
    assert!(
        ran.stderr.contains("--manifest FILE") && ran.stderr.contains("--keep-at-provider"),
        "{}",
        ran.stderr
    );
    assert_eq!((house.home.stored()[0].len(), house.provider.revoked()), (1, 4));
    house.home.run(&["connections", "remove", "acme", "--keep-at-provider"]).expect(0);
    assert_eq!((house.home.stored()[0].len(), house.provider.revoked()), (0, 4));

    // Away or not: it is gone here.
    connect();
    let status = Misbehaviour::Status { code: 503, retry_after: None };
    house.stage.standin.misbehave(When::Path("/oauth/revoke".to_owned()), status);
    let ran = house.run(&["connections", "remove", "acme"]).expect(0);
    assert!(ran.stderr.contains("was not given up at the service"), "{}", ran.stderr);
    assert_eq!(house.home.stored()[0].len(), 0);
}

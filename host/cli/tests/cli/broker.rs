//! `pinhole broker`, and `pinhole connect --oauth --broker` through one: two homes, a service, and a browser.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Child;
use std::sync::Arc;

use pinhole_standin::{Authority, Config, Manners, Provider, Reply, Route, World};
use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, ServerName};
use serde_json::{Value, json};

use crate::home::{Home, Ran, ran};
use crate::stage::Stage;

const API: &str = "api.acme.com";
const BROKER: &str = "broker.pinhole.dev";
const PUBLIC: &str = "https://broker.pinhole.dev";
const SECRET: &str = "broker-secret";
/// Longer than anything here takes.
const PATIENCE: std::time::Duration = std::time::Duration::from_mins(1);

fn manifest() -> String {
    json!({
        "pinhole": 1, "id": "acme", "version": "1.0.0", "name": "Acme", "summary": "Things.", "host": API,
        "auth": {
            "scheme": "bare", "viewer": "get_me", "account": "$.login",
            "oauth": {
                "authorize_url": "https://api.acme.com/oauth/authorize",
                "token_url": "https://api.acme.com/oauth/token",
                "revoke_url": "https://api.acme.com/oauth/revoke",
                "scopes": ["read"], "scopes_write": ["read", "write"]
            }
        },
        "ops": {"get_me": {
            "access": "read", "summary": "Who one is.",
            "args": {"type": "object", "additionalProperties": false, "properties": {}},
            "request": {"method": "GET", "path": "/me"}, "pick": {"fields": ["login"]}
        }}
    })
    .to_string()
}

/// A service, and the home of a broker's operator.
struct House {
    authority: Authority,
    stage: Stage,
    provider: Provider,
    operator: Home,
}

/// A broker that runs until it is dropped.
struct Running {
    child: Child,
    address: SocketAddr,
    key: String,
    said: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}

impl House {
    fn new(viewer: Reply) -> Self {
        let authority = Authority::new().unwrap();
        let redirects = vec![format!("{PUBLIC}/oauth/acme/callback")];
        let provider = Provider::new(Manners { redirects, ..Manners::default() });
        let stage = Stage::with(Config {
            host: API.to_owned(),
            provider: Some(provider.clone()),
            authority: Some(authority.clone()),
            ..Config::new(World::Fixed(vec![Route::get("/me", viewer)]))
        });
        Self { authority, stage, provider, operator: Home::empty() }
    }

    /// The flags with which a home knows the service.
    fn knows(&self, home: &Home) -> Vec<String> {
        let mut flags = self.stage.dial_for(API, home);
        flags.extend(["--manifest".to_owned(), home.write("acme.json", manifest()), "--unsigned".to_owned()]);
        flags
    }

    fn broker(&self, allow: &[&str]) -> Running {
        let (chain, key) = self.authority.server_pem(BROKER).unwrap();
        let (chain, key) = (self.operator.write("chain.pem", chain), self.operator.write("key.pem", key));
        std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        self.operator.write("config.toml", format!("[broker]\nallow = {allow:?}\n"));
        let knows = self.knows(&self.operator);
        let mut flags = vec!["broker", "--listen", "127.0.0.1:0", "--public-url", PUBLIC, "--log", "trace"];
        flags.extend(["--tls-cert", chain.as_str(), "--tls-key", key.as_str()]);
        flags.extend(knows.iter().map(String::as_str));
        let mut command = self.operator.command(&flags);
        let log = std::fs::File::create(self.operator.path("broker.log")).unwrap();
        command
            .env("PINHOLE_OAUTH_ACME_CLIENT_ID", "broker-client")
            .env("PINHOLE_OAUTH_ACME_CLIENT_SECRET", SECRET);
        let mut child = command.stderr(log).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        while !said.contains("register the redirect URI") {
            let read = stdout.read_line(&mut said).unwrap();
            assert_ne!(read, 0, "it ended: {said}{}", self.log());
        }
        let word = |before: &str| {
            let rest = said.split(before).nth(1).unwrap_or_else(|| panic!("no {before:?}: {said}"));
            rest.split_whitespace().next().unwrap().to_owned()
        };
        let (address, key) = (word(" at https://").parse().unwrap(), word("\nkey "));
        Running { child, address, key, said }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.operator.path("broker.log")).unwrap()
    }

    /// Begins to connect at the broker, and follows the browser's way to the loopback address; gives how it ended.
    fn connect(&self, member: &Home, broker: &Running, flags: &[&str]) -> Ran {
        let mut words = vec!["connect", "acme", "--oauth", "--broker", PUBLIC, "--json"];
        words.extend(flags);
        let knows = self.knows(member);
        let dial = format!("{BROKER}:443:{}", broker.address);
        words.extend(["--resolve", &dial]);
        words.extend(knows.iter().map(String::as_str));
        let mut child = member.command(&words).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        let page = loop {
            let start = said.len();
            if stderr.read_line(&mut said).unwrap() == 0 {
                let ran = Ran::of(&child.wait_with_output().unwrap());
                return Ran { stderr: said, ..ran };
            }
            let line = said.get(start..).unwrap().trim();
            if let Some(page) = line.strip_prefix(PUBLIC) {
                break page.to_owned();
            }
        };
        let back = self.browse(broker, &page);
        assert!(plain(&back).starts_with("HTTP/1.1 200"), "{back}");
        stderr.read_to_string(&mut said).unwrap();
        let ran = Ran::of(&child.wait_with_output().unwrap());
        Ran { stderr: said, ..ran }
    }

    /// The way of a browser from the broker's page to the address on loopback.
    fn browse(&self, broker: &Running, page: &str) -> String {
        let shown = self
            .secure(broker, &format!("GET {page} HTTP/1.1\r\nhost: {BROKER}\r\nconnection: close\r\n\r\n"));
        assert!(shown.starts_with("HTTP/1.1 200"), "{shown}");
        let cookie = header(&shown, "set-cookie").split(';').next().unwrap().to_owned();
        let fields: Vec<String> = shown
            .split("<input type=\"hidden\" name=\"")
            .skip(1)
            .map(|rest| {
                let (name, rest) = rest.split_once("\" value=\"").unwrap();
                format!("{name}={}", rest.split_once('"').unwrap().0.replace(':', "%3A").replace('/', "%2F"))
            })
            .collect();
        let form = fields.join("&");
        let went = self.secure(
            broker,
            &format!(
                "POST /oauth/acme/go HTTP/1.1\r\nhost: {BROKER}\r\norigin: {PUBLIC}\r\ncookie: {cookie}\r\n\
                 content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{form}",
                form.len()
            ),
        );
        let back = self.provider.visit(header(&went, "location")).unwrap();
        let back = back.strip_prefix(PUBLIC).unwrap_or_else(|| panic!("{back}"));
        let ended = self.secure(
            broker,
            &format!(
                "GET {back} HTTP/1.1\r\nhost: {BROKER}\r\ncookie: {cookie}\r\nconnection: close\r\n\r\n"
            ),
        );
        header(&ended, "location").to_owned()
    }

    fn secure(&self, broker: &Running, request: &str) -> String {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.authority.pem().as_bytes()).unwrap()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap();
        let config = Arc::new(config.with_root_certificates(roots).with_no_client_auth());
        let tls = ClientConnection::new(config, ServerName::try_from(BROKER).unwrap()).unwrap();
        let mut stream = StreamOwned::new(tls, TcpStream::connect(broker.address).unwrap());
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        // A server that closes without a goodbye has said all the same what it had to.
        stream.read_to_end(&mut answer).map(drop).unwrap_or_default();
        String::from_utf8(answer).unwrap()
    }
}

fn header<'a>(answer: &'a str, name: &str) -> &'a str {
    let line = answer.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    line.unwrap_or_else(|| panic!("no {name}: {answer}"))
}

fn plain(address: &str) -> String {
    let (host, path) = address.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn wren() -> Reply {
    Reply::json(200, &json!({"login": "wren"}))
}

/// A member's home, with her keys.
fn member() -> (Home, String) {
    let home = Home::empty();
    home.run(&["keys", "new"]).expect(0);
    let key = home.public("member");
    (home, key)
}

#[test]
fn a_member_connects_through_a_broker_and_what_it_gives_is_kept() {
    let house = House::new(wren());
    let (home, key) = member();
    let broker = house.broker(&[&key]);
    assert!(
        broker.said.contains(&format!("acme: register the redirect URI {PUBLIC}/oauth/acme/callback")),
        "{}",
        broker.said
    );
    assert!(!broker.said.contains(SECRET) && !broker.said.contains("broker-client"), "{}", broker.said);
    assert_eq!(house.operator.public("broker"), broker.key);
    let ran = house.connect(&home, &broker, &["--broker-key", &broker.key]).expect(0);
    let connected: Value = ran.json();
    let fields = ["ok", "service", "account", "cap", "became", "stand_in"].map(|name| &connected[name]);
    assert_eq!(json!(fields), json!([true, "acme", "wren", "read", "connected", true]));
    let seen = house.stage.standin.requests();
    let exchange = seen.iter().find(|seen| seen.path == "/oauth/token").unwrap();
    let body = String::from_utf8(exchange.body.to_vec()).unwrap();
    assert!(body.contains("client_secret=broker-secret") && body.contains("code_verifier="), "{body}");
    // What it was proved with is nobody's to see.
    let token = seen
        .iter()
        .find(|seen| seen.path == "/me")
        .unwrap()
        .header("authorization")
        .unwrap()
        .replace("Bearer ", "");
    home.hides(&token);
    // What runs on the connection may dial its broker elsewhere, and no host that nothing here has.
    let (knows, dial) = (house.knows(&home), format!("{BROKER}:443:{}", broker.address));
    let runs = |resolve: &str| {
        let mut words = vec!["run", "acme.get_me", "--resolve", resolve];
        words.extend(knows.iter().map(String::as_str));
        home.run(&words)
    };
    runs(&dial).expect(0);
    let mistyped = runs(&dial.replace("broker", "brokre")).expect(2);
    assert!(mistyped.stderr.contains("nor a broker of what is used"), "{}", mistyped.stderr);
    // Removed, it is given up at the service, through the broker whose client it is.
    let mut remove = vec!["connections", "remove", "acme"];
    let (knows, dial) = (house.knows(&home), format!("{BROKER}:443:{}", broker.address));
    remove.extend(["--resolve", &dial]);
    remove.extend(knows.iter().map(String::as_str));
    let removed = home.run(&remove).expect(0);
    assert!(removed.stderr.contains("given up at the service too"), "{}", removed.stderr);
    assert_eq!(house.stage.standin.requests().iter().filter(|seen| seen.path == "/oauth/revoke").count(), 2);
    let log = house.log();
    assert!(log.contains("a broker's ask was answered"), "{log}");
    for word in [SECRET, &token] {
        assert!(!log.contains(word), "the log has {word}");
        assert!(!ran.stdout.contains(word) && !ran.stderr.contains(word), "{word}");
    }
}

/// The bot is on the broker's list by the key that it had first: until that ends it asks by it.
#[test]
fn what_a_broker_gave_is_renewed_through_it_while_the_bot_has_a_key_that_it_knows() {
    let house = House::new(wren());
    house.provider.mend(|manners| manners.expires_in = Some(json!(1)));
    let (home, key) = member();
    let bot = home.public("bot");
    let broker = house.broker(&[&key, &bot]);
    house.connect(&home, &broker, &["--broker-key", &broker.key]).expect(0);
    let (mut knows, dial) = (house.knows(&home), format!("{BROKER}:443:{}", broker.address));
    let manifest = knows.split_off(knows.len() - 3);
    let run = |knows: &[String]| {
        let mut words = vec!["run", "acme.get_me", "--json", "--resolve", &dial];
        words.extend(knows.iter().chain(&manifest).map(String::as_str));
        home.run(&words)
    };
    let renewed = || {
        let (began, before) = (std::time::Instant::now(), house.provider.refreshes());
        while house.provider.refreshes() == before {
            run(&knows).expect(0);
            assert!(began.elapsed() < PATIENCE, "it was not renewed");
        }
    };
    renewed();
    let mut rotate = vec!["keys", "rotate"];
    rotate.extend(manifest.iter().map(String::as_str));
    home.run(&rotate).expect(0);
    renewed();
    home.run(&["keys", "retire", &bot]).expect(0);
    let before = house.provider.refreshes();
    let began = std::time::Instant::now();
    let refused = loop {
        let ran = run(&knows);
        if ran.status != 0 {
            break ran;
        }
        assert!(began.elapsed() < PATIENCE, "it was renewed: {}", ran.stdout);
    };
    refused.refusal("renewal_failed");
    assert_eq!((house.provider.refreshes(), house.provider.dead_families()), (before, 0));
}

#[test]
fn what_is_not_proved_is_given_up_at_the_broker() {
    let house = House::new(Reply::json(401, &json!({})));
    let (home, key) = member();
    let broker = house.broker(&[&key]);
    house.connect(&home, &broker, &["--broker-key", &broker.key]).expect(1);
    let revoked = house.stage.standin.requests().iter().filter(|seen| seen.path == "/oauth/revoke").count();
    assert_eq!(revoked, 2);
    assert!(home.run(&["connections", "--json"]).expect(0).json().as_array().is_none_or(Vec::is_empty));
}

#[test]
fn a_broker_whose_key_nobody_vouched_for_is_not_used() {
    let house = House::new(wren());
    let (home, key) = member();
    let broker = house.broker(&[&key]);
    let ran = house.connect(&home, &broker, &[]).expect(2);
    assert!(
        ran.stderr.contains("nobody has vouched") && ran.stderr.contains("--broker-key"),
        "{}",
        ran.stderr
    );
    for other in [&key, &home.bot()] {
        let ran = house.connect(&home, &broker, &["--broker-key", other]).expect(3);
        assert!(ran.stderr.contains("has another key"), "{}", ran.stderr);
    }
    assert!(house.stage.standin.requests().is_empty());
}

#[test]
fn a_broker_that_could_not_work_does_not_start_and_shows_no_secret() {
    let home = Home::empty();
    home.run(&["keys", "new"]).expect(0);
    let (member, broker) = (home.public("member"), "keys/broker.json");
    let id = ("PINHOLE_OAUTH_GITHUB_CLIENT_ID", "id-of-the-client");
    let secret = ("PINHOLE_OAUTH_GITHUB_CLIENT_SECRET", "secret-of-the-client");
    let listen = ["broker", "--listen", "127.0.0.1:0", "--public-url", PUBLIC];
    let started = |variables: &[(&str, &str)], flags: &[&str]| {
        let mut command = home.command(&[&listen[..], flags].concat());
        for (name, value) in variables {
            command.env(name, value);
        }
        let ran = ran(&mut command, b"").expect(2);
        for shown in [&ran.stdout, &ran.stderr] {
            assert!(!shown.contains("of-the-client"), "{shown}");
        }
        ran.stderr
    };
    let allow = ["--allow", member.as_str()];
    for (variables, says) in [
        (&[][..], "no service has a client"),
        (&[id][..], "PINHOLE_OAUTH_GITHUB_CLIENT_SECRET"),
        (&[secret][..], "PINHOLE_OAUTH_GITHUB_CLIENT_ID"),
        (&[id, (secret.0, "")][..], "PINHOLE_OAUTH_GITHUB_CLIENT_SECRET"),
        (&[id, (secret.0, "secret of-the-client")][..], "PINHOLE_OAUTH_GITHUB_CLIENT_SECRET"),
        (&[id, secret, ("PINHOLE_OAUTH_GITHUB_CLIENT_SCERET", "secret-of-the-client")][..], "CLIENT_SCERET"),
        (
            &[("PINHOLE_OAUTH_NOTHING_CLIENT_ID", "id"), ("PINHOLE_OAUTH_NOTHING_CLIENT_SECRET", "s")][..],
            "no service `nothing`",
        ),
        (
            &[("PINHOLE_OAUTH_NOTION_CLIENT_ID", "id"), ("PINHOLE_OAUTH_NOTION_CLIENT_SECRET", "s")][..],
            "`notion` has no `oauth`",
        ),
    ] {
        let said = started(variables, &allow);
        assert!(said.contains(says), "{variables:?}: {said}");
    }
    assert!(started(&[id, secret], &[]).contains("nobody may ask"));
    let own = home.public("broker");
    assert!(started(&[id, secret], &["--allow", &own]).contains("brokers ask nothing"));
    for bad in [
        "http://broker.pinhole.dev",
        "https://127.0.0.1",
        "https://broker.pinhole.dev:8443",
        "https://broker.pinhole.dev/oauth",
    ] {
        let flags = ["broker", "--listen", "127.0.0.1:0", "--public-url", bad, "--allow", &member];
        let mut command = home.command(&flags);
        command.env(id.0, id.1).env(secret.0, secret.1);
        assert!(ran(&mut command, b"").expect(2).stderr.contains("https://"), "{bad}");
    }
    home.write("config.toml", "[broker]\nallow = [\"pin1\"]\nask = []\n");
    let said = started(&[id, secret], &[]);
    assert!(said.contains("`broker.allow`") && said.contains("no setting `ask`"), "{said}");
    // Another's key in the place of its own.
    home.write("config.toml", "");
    std::fs::copy(home.path("keys/bot.json"), home.path(broker)).unwrap();
    let mut command = home.command(&[&listen[..], &allow].concat());
    command.env(id.0, id.1).env(secret.0, secret.1);
    assert!(ran(&mut command, b"").expect(6).stderr.contains("is not a broker's key"));
}

#[test]
fn a_private_key_that_others_can_read_is_refused() {
    let home = Home::empty();
    let member = Home::new().public("member");
    home.write("config.toml", format!("[broker]\nallow = [{member:?}]\n"));
    let (chain, key) = Authority::new().unwrap().server_pem(BROKER).unwrap();
    let (chain, key) = (home.write("chain.pem", chain), home.write("key.pem", key));
    // It never gets as far as to listen; were it to, it would end there.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().to_string();
    for mode in [0o644, 0o640, 0o666] {
        std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        let serve = ["broker", "--listen", &taken, "--public-url", PUBLIC];
        let mut command = home.command(&[&serve[..], &["--tls-cert", &chain, "--tls-key", &key]].concat());
        command.env("PINHOLE_OAUTH_GITHUB_CLIENT_ID", "x").env("PINHOLE_OAUTH_GITHUB_CLIENT_SECRET", "y");
        let said = ran(&mut command, b"").expect(6).stderr;
        assert!(
            said.contains("has the private key of a certificate") && said.contains("`chmod 600 "),
            "{said}"
        );
    }
}

//! What is measured, set up: the service, a home that is connected to it, and the commands that start the servers.
//!
//! Pinhole's service answers over TLS, as it demands. The other server's is a copy of it in plain HTTP, for that one cannot be
//! told where to dial; that favours it.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use axum::routing::get;
use bytes::Bytes;
use pinhole_grant::{Label, PrincipalId, PublicKey, UnixTime};
use pinhole_manifest::Access;
use pinhole_runtime::clock::{Clock as _, SystemClock};
use pinhole_runtime::entropy::{SystemEntropy, seeded};
use pinhole_runtime::store::{SqliteStore, TokenRow, TokenScope, Tokens as _};
use pinhole_server::BearerToken;
use pinhole_standin::{Config, Reply, Route, Standin, World};
use pinhole_tests::ORG;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::many;
use crate::pipe::Pipe;
use crate::says::Door;

const KEY: &str = "ghp_any";

/// A service with one body, and where it is.
pub(crate) struct House {
    /// Serves the stand-ins, in a thread of its own.
    _runtime: Runtime,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) github: Standin,
    pub(crate) page: Bytes,
    many: Standin,
    plain: SocketAddr,
}

/// A home of Pinhole's and how to dial from it.
pub(crate) struct Home {
    path: PathBuf,
    flags: Vec<String>,
}

impl House {
    pub(crate) fn new(page: Bytes, runtime: Runtime) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let listing = || Reply::json_text(200, page.clone());
        let viewer = || Reply::json(200, &json!({"login": "ann"}));
        let routes = |path: &str| vec![Route::get(path, listing()), Route::get("/user", viewer())];
        let github = Config::new(World::Fixed(routes(&format!("/orgs/{ORG}/repos"))));
        let many = Config::new(World::Fixed(routes("/v1/rows")));
        let many = Config { host: many::HOST.to_owned(), ..many };
        let (github, many) = runtime
            .block_on(async { anyhow::Ok((Standin::start(github).await?, Standin::start(many).await?)) })?;
        let plain = runtime.block_on(plain(page.clone()))?;
        std::fs::write(folder.path().join("many.json"), many::manifest().to_string())?;
        std::fs::write(folder.path().join("github.pem"), github.ca_pem())?;
        std::fs::write(folder.path().join("many.pem"), many.ca_pem())?;
        Ok(Self { _runtime: runtime, folder, github, page, many, plain })
    }

    /// A home with one connection, to a service of seventeen ops that is part of the binary.
    pub(crate) fn few(&self) -> anyhow::Result<Home> {
        let flags = self.dial("api.github.com", self.github.addr(), "github.pem");
        self.connected("few", "github", flags)
    }

    /// A home with one connection, to a service of a thousand ops.
    pub(crate) fn many(&self) -> anyhow::Result<Home> {
        let mut flags = self.dial(many::HOST, self.many.addr(), "many.pem");
        let manifest = self.folder.path().join("many.json").display().to_string();
        flags.extend(["--unsigned".to_owned(), "--manifest".to_owned(), manifest]);
        self.connected("many", many::SERVICE, flags)
    }

    fn dial(&self, host: &str, address: SocketAddr, ca: &str) -> Vec<String> {
        let ca = self.folder.path().join(ca).display().to_string();
        vec!["--resolve".to_owned(), format!("{host}:443:{address}"), "--ca-cert".to_owned(), ca]
    }

    fn connected(&self, name: &str, service: &str, flags: Vec<String>) -> anyhow::Result<Home> {
        let home = Home { path: self.folder.path().join(name), flags };
        let mut connect = home.pinhole(&["connect", service, "--token-stdin"])?;
        let mut child = connect.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
        child.stdin.take().context("a pipe")?.write_all(KEY.as_bytes())?;
        ensure!(child.wait()?.success(), "`pinhole connect` fails");
        Ok(home)
    }

    /// The other server, for these operations, if it is there.
    pub(crate) fn other(&self, name: &str, operations: &Value) -> anyhow::Result<Option<Command>> {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci-tools/openapi-mcp/bin");
        let program = program.join("awslabs.openapi-mcp-server");
        if !program.exists() {
            return Ok(None);
        }
        let description = self.folder.path().join(format!("{name}.openapi.json"));
        let url = format!("http://{}", self.plain);
        let document = json!({
            "openapi": "3.1.0", "info": {"title": name, "version": "1"}, "servers": [{"url": url}],
            "paths": operations,
        });
        std::fs::write(&description, document.to_string())?;
        let mut command = Command::new(program);
        command.current_dir(self.folder.path()).arg("--spec-path").arg(description);
        command.args(["--api-name", name, "--api-url", &url, "--auth-type", "bearer", "--auth-token", KEY]);
        command.args(["--allow-insecure-http", "--allow-private-networks", "--log-level", "ERROR"]);
        Ok(Some(command))
    }
}

impl Home {
    fn pinhole(&self, args: &[&str]) -> anyhow::Result<Command> {
        let mut command = Command::new(beside("pinhole", "..")?);
        command.env("PINHOLE_HOME", &self.path).args(args).args(&self.flags);
        Ok(command)
    }

    /// `pinhole mcp` on a pipe.
    pub(crate) fn on_stdio(&self, flags: &[&str]) -> anyhow::Result<Command> {
        self.pinhole(&[&["mcp"], flags].concat())
    }

    /// `pinhole mcp --http`, its windows out of the way, and a token for it.
    pub(crate) fn over_http(&self, flags: &[&str]) -> anyhow::Result<(Pipe, Door)> {
        let token = self.token()?;
        let serve = ["mcp", "--http", "127.0.0.1:0", "--reads-a-minute", "100000000"];
        let mut pipe = Pipe::start(&mut self.pinhole(&[&serve, flags].concat())?)?;
        let line = pipe.line_of_stdout()?;
        let address =
            line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).context("an address")?;
        Ok((pipe, Door { address: address.parse()?, token: Some(token) }))
    }

    /// As `pinhole tokens new` makes it.
    fn token(&self) -> anyhow::Result<String> {
        let mut show = Command::new(beside("pinhole", "..")?);
        let keys = show.args(["keys", "show", "--json"]).env("PINHOLE_HOME", &self.path).output()?;
        let keys: Value = serde_json::from_slice(&keys.stdout)?;
        let member = keys["member"].as_str().context("a key")?.parse::<PublicKey>()?.id();
        let token = BearerToken::random(&SystemEntropy)?;
        let now = SystemClock.now();
        let id = PrincipalId::random(&mut seeded(&SystemEntropy)?);
        SqliteStore::open_home(&self.path)?.add_token(&TokenRow {
            id,
            member,
            name: Label::parse(&id.to_string())?,
            digest: token.digest(),
            scope: TokenScope::new([Access::Read], None)?,
            created_at: now,
            expires_at: UnixTime::from_secs(now.as_secs() + 86_400),
            revoked_at: None,
        })?;
        Ok(token.expose().to_owned())
    }
}

pub(crate) fn echo() -> anyhow::Result<Command> {
    Ok(Command::new(beside("mcp_echo", ".")?))
}

pub(crate) fn echo_over_http() -> anyhow::Result<(Pipe, Door)> {
    let mut pipe = Pipe::start(echo()?.arg("--http"))?;
    let address = pipe.line_of_stdout()?.trim().parse()?;
    Ok((pipe, Door { address, token: None }))
}

/// A binary that was built with this one.
fn beside(name: &str, folder: &str) -> anyhow::Result<PathBuf> {
    let this = std::env::current_exe()?;
    let path = this.parent().context("a folder")?.join(folder).join(name);
    ensure!(path.exists(), "{} is missing: build as the first lines of this program say", path.display());
    Ok(path)
}

async fn plain(page: Bytes) -> anyhow::Result<SocketAddr> {
    let listing = get(move || {
        let page = page.clone();
        async move { ([("content-type", "application/json")], page) }
    });
    let routes =
        axum::Router::new().route(&format!("/orgs/{ORG}/repos"), listing.clone()).route("/v1/rows", listing);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    drop(tokio::spawn(async move { axum::serve(listener, routes).await }));
    Ok(address)
}

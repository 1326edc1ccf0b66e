//! One call after another that fetches 93 KB: what it takes beyond fetching them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pinhole_standin::Standin;
use pinhole_tests::ORG;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::figures::{Rounds, millis, quantile};
use crate::house::{self, House};
use crate::many;
use crate::pipe::{Pipe, good};
use crate::says::{called, initialize, initialized, legacy, modern};
use crate::wire::Wire;

const ROUNDS: usize = 7;
const WARM: usize = 50;

/// Something that can be called.
trait Callee {
    /// The bytes of the answer.
    fn call(&mut self, runtime: &Runtime) -> anyhow::Result<Vec<u8>>;
}

struct Bare {
    client: reqwest::Client,
    url: String,
}

impl Callee for Bare {
    fn call(&mut self, runtime: &Runtime) -> anyhow::Result<Vec<u8>> {
        runtime.block_on(async {
            let answer = self.client.get(&self.url).bearer_auth("ghp_any").send().await?;
            Ok(answer.error_for_status()?.bytes().await?.to_vec())
        })
    }
}

struct OnPipe(Pipe, String);

impl Callee for OnPipe {
    fn call(&mut self, _runtime: &Runtime) -> anyhow::Result<Vec<u8>> {
        self.0.write(&self.1)?;
        Ok(self.0.answer()?.to_vec())
    }
}

struct OverHttp {
    wire: Wire,
    request: Vec<u8>,
    _server: Pipe,
}

impl Callee for OverHttp {
    fn call(&mut self, runtime: &Runtime) -> anyhow::Result<Vec<u8>> {
        Ok(runtime.block_on(self.wire.ask(&self.request))?.to_vec())
    }
}

struct Subject {
    name: &'static str,
    callee: Box<dyn Callee>,
    times: usize,
    bytes: usize,
    p50: Rounds,
    p99: Rounds,
}

impl Subject {
    /// Calls it some times unmeasured; what is an answer of MCP must be a good one.
    fn new(
        name: &'static str,
        times: usize,
        mut callee: impl Callee + 'static,
        runtime: &Runtime,
    ) -> anyhow::Result<Self> {
        for _ in 0..WARM {
            callee.call(runtime)?;
        }
        let answer = callee.call(runtime)?;
        if !name.starts_with("`reqwest`") {
            good(&answer)?;
        }
        let (p50, p99) = (Rounds::default(), Rounds::default());
        Ok(Self { name, callee: Box::new(callee), times, bytes: answer.len(), p50, p99 })
    }

    fn round(&mut self, runtime: &Runtime) -> anyhow::Result<()> {
        let mut taken: Vec<Duration> = Vec::with_capacity(self.times);
        for _ in 0..self.times {
            let began = Instant::now();
            let answer = self.callee.call(runtime)?;
            taken.push(began.elapsed());
            // A failure would be shorter.
            anyhow::ensure!(
                answer.len().abs_diff(self.bytes) < 64,
                "another answer: {}",
                String::from_utf8_lossy(&answer)
            );
        }
        self.p50.add(millis(quantile(&taken, 0.5)));
        self.p99.add(millis(quantile(&taken, 0.99)));
        Ok(())
    }
}

pub(crate) fn measure(house: &House) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut subjects = subjects(house, &runtime)?;
    for _ in 0..ROUNDS {
        for subject in &mut subjects {
            subject.round(&runtime)?;
        }
    }
    println!(
        "\nOne call after another that fetches {} bytes; {ROUNDS} rounds in turns, ms\n",
        house.page.len()
    );
    println!("| what | calls | bytes of an answer | p50 | p99 |\n|---|---|---|---|---|");
    for Subject { name, times, bytes, p50, p99, .. } in &subjects {
        println!("| {name} | {} | {bytes} | {} | {} |", times * ROUNDS, p50.say(3), p99.say(3));
    }
    Ok(())
}

fn subjects(house: &House, runtime: &Runtime) -> anyhow::Result<Vec<Subject>> {
    let home = house.few()?;
    let arguments = json!({"org": ORG, "per_page": crate::PER_PAGE});
    let tool = "github_list_org_repos";
    let target = format!("/orgs/{ORG}/repos?per_page={}", crate::PER_PAGE);

    let bare = Bare { client: bare(&house.github)?, url: format!("https://api.github.com{target}") };
    let mut subjects = vec![Subject::new("`reqwest` alone, over TLS", 500, bare, runtime)?];

    let (server, door) = home.over_http(&[])?;
    let request = door.call(tool, &arguments);
    let wire = runtime.block_on(Wire::open(door.address))?;
    let over_http = OverHttp { wire, request, _server: server };
    subjects.push(Subject::new("Pinhole over HTTP", 500, over_http, runtime)?);
    let wanted = subjects.last().map_or(0, |subject| subject.bytes);

    let mut pipe = Pipe::start(&mut home.on_stdio(&[])?)?;
    pipe.ask(&modern("tools/list", json!({})))?;
    let on_pipe = OnPipe(pipe, modern("tools/call", called(tool, &arguments)));
    subjects.push(Subject::new("Pinhole on stdio", 500, on_pipe, runtime)?);

    let (server, door) = house::echo_over_http()?;
    let mut wire = runtime.block_on(Wire::open(door.address))?;
    let fill = runtime.block_on(fill(&mut wire, |fill| door.call("echo", &said(1, fill)), wanted))?;
    let over_http = OverHttp { wire, request: door.call("echo", &said(1, fill)), _server: server };
    subjects.push(Subject::new("echo over HTTP, no service, as long an answer", 500, over_http, runtime)?);

    let mut pipe = Pipe::start(&mut house::echo()?)?;
    pipe.ask(&modern("tools/list", json!({})))?;
    let on_pipe = OnPipe(pipe, modern("tools/call", called("echo", &said(1, fill))));
    subjects.push(Subject::new("echo on stdio, the same", 500, on_pipe, runtime)?);

    if let Some(mut command) = house.other("listing", &many::listing())? {
        let mut pipe = Pipe::start(&mut command)?;
        pipe.ask(&initialize())?;
        pipe.write(&initialized())?;
        let arguments = json!({"per_page": crate::PER_PAGE});
        let on_pipe = OnPipe(pipe, legacy("tools/call", &called("list_org_repos", &arguments)));
        subjects.push(Subject::new("the other on stdio, its service in plain HTTP", 100, on_pipe, runtime)?);
    }
    Ok(subjects)
}

/// What the echo is told to say.
pub(crate) fn said(text: usize, fill: usize) -> Value {
    json!({"text": "a".repeat(text.max(1)), "fill": fill})
}

/// How much the echo must say for an answer of so many bytes.
pub(crate) async fn fill(
    wire: &mut Wire,
    request: impl Fn(usize) -> Vec<u8>,
    wanted: usize,
) -> anyhow::Result<usize> {
    let least = wire.ask(&request(1)).await?.len();
    // It says it twice, as text and as a value.
    Ok(wanted.saturating_sub(least) / 2 + 1)
}

/// A client with the settings that Pinhole's has.
pub(crate) fn bare(standin: &Standin) -> anyhow::Result<reqwest::Client> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(standin.ca_pem().as_bytes())?)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let client = reqwest::Client::builder().tls_backend_preconfigured(tls);
    let client = client.resolve("api.github.com", standin.addr()).no_proxy();
    Ok(client.gzip(true).brotli(true).user_agent("mcp_measure").build()?)
}

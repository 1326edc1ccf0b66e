//! A TLS server that answers by a script: what it was asked is written down, and it can misbehave.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::HOST;

/// A certificate authority made for one test.
pub(super) struct Ca {
    pub(super) pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Ca {
    pub(super) fn new() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(Vec::new()).expect("params");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).expect("a certificate").pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    /// A server certificate for `name`, good in these years.
    pub(super) fn leaf(&self, name: &str, years: (i32, i32)) -> ServerConfig {
        self.leaf_for(name, years, rustls::ALL_VERSIONS)
    }

    pub(super) fn leaf_for(
        &self,
        name: &str,
        years: (i32, i32),
        versions: &[&'static rustls::SupportedProtocolVersion],
    ) -> ServerConfig {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("params");
        params.not_before = date_time_ymd(years.0, 1, 1);
        params.not_after = date_time_ymd(years.1, 1, 1);
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                rustls::pki_types::PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
            )
            .expect("a key that fits")
    }

    pub(super) fn good_leaf(&self) -> ServerConfig {
        self.leaf(HOST, (2000, 2200))
    }
}

/// What follows the bytes of a reply.
#[derive(Clone)]
pub(super) enum Then {
    /// The next request of the connection is read.
    KeepOpen,
    /// TLS and TCP end in good order.
    Close,
    /// TCP ends without a word.
    Cut,
    /// Nothing, for as long as the client stays.
    Hold,
    /// This again and again, at this pace.
    Drip(&'static [u8], Duration),
}

/// The answer to one request.
pub(super) type Reply = (Vec<u8>, Then);

/// An answer with a length, after which the connection stays open.
pub(super) fn reply(head: &str, body: &[u8]) -> Reply {
    let mut bytes = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    (bytes, Then::KeepOpen)
}

/// Bytes as they are.
pub(super) fn raw(bytes: &str, then: Then) -> Reply {
    (bytes.as_bytes().to_vec(), then)
}

/// A request as the server saw it.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    pub(super) sni: Option<String>,
    pub(super) head: String,
    pub(super) body: String,
}

/// How connections are treated.
#[derive(Clone)]
enum Play {
    /// HTTP/1.1: the n-th request of all gets the n-th reply.
    H1(Arc<Vec<Reply>>),
    /// HTTP/2: every request gets a header of so many bytes, and a body; one for `/silence` gets nothing.
    H2(usize),
    /// Accepted, then silence.
    NoHandshake,
    /// Accepted, then closed.
    CutHandshake,
}

/// A server on a free loopback port. Its tasks end with the test's runtime.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    connections: Arc<AtomicUsize>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    pub(super) async fn h1(replies: Vec<Reply>) -> (Ca, Self) {
        let ca = Ca::new();
        let server = Self::h1_with(ca.good_leaf(), replies).await;
        (ca, server)
    }

    pub(super) async fn h1_with(tls: ServerConfig, replies: Vec<Reply>) -> Self {
        Self::start(tls, Play::H1(Arc::new(replies))).await
    }

    pub(super) async fn h2(header_bytes: usize) -> (Ca, Self) {
        let ca = Ca::new();
        let mut tls = ca.good_leaf();
        tls.alpn_protocols = vec![b"h2".to_vec()];
        let server = Self::start(tls, Play::H2(header_bytes)).await;
        (ca, server)
    }

    pub(super) async fn no_handshake() -> (Ca, Self) {
        let ca = Ca::new();
        let server = Self::start(ca.good_leaf(), Play::NoHandshake).await;
        (ca, server)
    }

    pub(super) async fn cut_handshake() -> (Ca, Self) {
        let ca = Ca::new();
        let server = Self::start(ca.good_leaf(), Play::CutHandshake).await;
        (ca, server)
    }

    /// How many connections were accepted so far.
    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The requests that were read so far.
    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("no panic in the server").clone()
    }

    async fn start(tls: ServerConfig, play: Play) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port");
        let address = listener.local_addr().expect("an address");
        let connections = Arc::new(AtomicUsize::new(0));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let acceptor = TlsAcceptor::from(Arc::new(tls));
        let (counter, notes) = (Arc::clone(&connections), Arc::clone(&seen));
        tokio::spawn(async move {
            while let Ok((tcp, _from)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(connection(tcp, acceptor.clone(), play.clone(), Arc::clone(&notes)));
            }
        });
        Self { address, connections, seen }
    }
}

async fn connection(mut tcp: TcpStream, acceptor: TlsAcceptor, play: Play, seen: Arc<Mutex<Vec<Seen>>>) {
    match play {
        Play::CutHandshake => {}
        Play::NoHandshake => until_gone(&mut tcp).await,
        Play::H1(replies) => {
            if let Ok(stream) = acceptor.accept(tcp).await {
                h1(stream, &replies, &seen).await;
            }
        }
        Play::H2(header_bytes) => {
            if let Ok(stream) = acceptor.accept(tcp).await {
                h2(stream, header_bytes, seen).await;
            }
        }
    }
}

async fn h1(mut stream: TlsStream<TcpStream>, replies: &[Reply], seen: &Mutex<Vec<Seen>>) {
    loop {
        let Some(request) = read_request(&mut stream).await else { return };
        let nth = {
            let mut seen = seen.lock().expect("no panic in the server");
            seen.push(request);
            seen.len() - 1
        };
        let Some((bytes, then)) = replies.get(nth) else { return };
        // The client may hang up in the middle: that is often the point.
        if stream.write_all(bytes).await.is_err() || stream.flush().await.is_err() {
            return;
        }
        match then {
            Then::KeepOpen => {}
            Then::Close => return stream.shutdown().await.unwrap_or_default(),
            Then::Cut => return,
            Then::Hold => return until_gone(&mut stream).await,
            Then::Drip(piece, pace) => return drip(&mut stream, piece, *pace).await,
        }
    }
}

async fn until_gone(stream: &mut (impl AsyncReadExt + Unpin)) {
    let mut sink = [0_u8; 1024];
    while matches!(stream.read(&mut sink).await, Ok(1..)) {}
}

async fn drip(stream: &mut TlsStream<TcpStream>, piece: &[u8], pace: Duration) {
    let mut ticks = tokio::time::interval(pace);
    loop {
        ticks.tick().await;
        if stream.write_all(piece).await.is_err() || stream.flush().await.is_err() {
            return;
        }
    }
}

async fn read_request(stream: &mut TlsStream<TcpStream>) -> Option<Seen> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        bytes.push(stream.read_u8().await.ok()?);
    };
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?.to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |text| text.parse().expect("a length"))];
    stream.read_exact(&mut body).await.ok()?;
    let sni = stream.get_ref().1.server_name().map(str::to_owned);
    Some(Seen { sni, head, body: String::from_utf8(body).ok()? })
}

async fn h2(stream: TlsStream<TcpStream>, header_bytes: usize, seen: Arc<Mutex<Vec<Seen>>>) {
    let sni = stream.get_ref().1.server_name().map(str::to_owned);
    let service = hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
        let head = format!(
            "{:?} {} {}\n{:?}",
            request.version(),
            request.method(),
            request.uri(),
            request.headers()
        );
        seen.lock().expect("no panic in the server").push(Seen {
            sni: sni.clone(),
            head,
            body: String::new(),
        });
        let silent = request.uri().path() == "/silence";
        async move {
            if silent {
                std::future::pending::<()>().await;
            }
            http::Response::builder()
                .header("x-long", "x".repeat(header_bytes))
                .body(http_body_util::Full::new(Bytes::from_static(b"{\"over\":\"h2\"}")))
        }
    });
    let served = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(stream), service)
        .await;
    drop(served);
}

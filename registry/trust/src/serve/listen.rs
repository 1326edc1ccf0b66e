//! The socket: connections in bounded number and for a bounded time, with TLS where a certificate is given.
//!
//! Decides nothing about a request. INVARIANT: whoever is slow, or says nothing, is let go of, and takes no more than one of
//! [`CONNECTIONS_MAX`] places meanwhile.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::content::Content;
use super::window::Window;

/// Most connections at once; the next ones wait to be accepted.
pub const CONNECTIONS_MAX: usize = 256;
/// How long a handshake, a request's headers, or the pause between two requests may take.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// How long a connection may last: enough for the largest module on a slow line.
const LIFETIME: Duration = Duration::from_mins(5);
/// Most bytes of a request's line and headers.
const HEADERS_MAX: usize = 16 << 10;
/// How long the listener waits when the system has no more sockets to give.
const BREATH: Duration = Duration::from_millis(100);

/// Why a folder is not served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The folder has nothing to serve.
    #[error("`{0}` has no `metadata`: pass the `public` folder of a registry that was published")]
    NotPublished(String),
    /// The address could not be had.
    #[error("`{address}` cannot be listened on: choose another address or port")]
    Address {
        /// Which one.
        address: SocketAddr,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// A certificate and its key.
#[derive(Clone)]
pub struct Tls(Arc<ServerConfig>);

/// Why a certificate or its key is not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// No certificate in the PEM.
    #[error("there is no certificate in the PEM: pass the chain, the server's own first")]
    NoCertificate,
    /// No private key in the PEM.
    #[error("there is no private key in the PEM, or it is protected: pass one in PKCS#8")]
    NoKey,
    /// The two do not belong together, or are of a kind that is not taken.
    #[error("the certificate and the key cannot be used together")]
    Pair(#[source] tokio_rustls::rustls::Error),
}

impl Tls {
    /// Takes a chain of certificates and a private key, both in PEM.
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(certificates)
            .collect::<Result<_, _>>()
            .map_err(|_pem| TlsError::NoCertificate)?;
        if chain.is_empty() {
            return Err(TlsError::NoCertificate);
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_pem| TlsError::NoKey)?;
        let provider = Arc::new(aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map_err(TlsError::Pair)?;
        Ok(Self(Arc::new(config)))
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls(<secret>)")
    }
}

/// A published folder that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    window: Arc<Window>,
    tls: Option<Tls>,
}

impl Server {
    /// Listens on an address; port 0 takes any that is free.
    pub async fn bind(address: SocketAddr, public: &Path, tls: Option<Tls>) -> Result<Self, ServeError> {
        if !public.join("metadata").is_dir() {
            return Err(ServeError::NotPublished(public.display().to_string()));
        }
        let failed = |source| ServeError::Address { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, window: Arc::new(Window::new(public)), tls })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is there; what is under way then is dropped.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let mut connections = JoinSet::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            while connections.try_join_next().is_some() {}
            let accepted = async {
                // Nobody closes the places.
                let place = Arc::clone(&places).acquire_owned().await;
                (place, self.listener.accept().await)
            };
            let (place, accepted) = tokio::select! {
                () = &mut stop => return,
                accepted = accepted => accepted,
            };
            let Ok((stream, _from)) = accepted else {
                tokio::time::sleep(BREATH).await;
                continue;
            };
            let (window, tls) = (Arc::clone(&self.window), self.tls.clone());
            connections.spawn(async move {
                // Faults of a connection are its client's, and end with it.
                let served = tokio::time::timeout(LIFETIME, connection(stream, tls, window));
                drop(served.await);
                drop(place);
            });
        }
    }
}

async fn connection(stream: TcpStream, tls: Option<Tls>, window: Arc<Window>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    match tls {
        None => speak(stream, window).await,
        Some(Tls(config)) => {
            let accepted = tokio::time::timeout(PATIENCE, TlsAcceptor::from(config).accept(stream));
            speak(accepted.await.map_err(io::Error::other)??, window).await
        }
    }
}

async fn speak(stream: impl AsyncRead + AsyncWrite + Unpin, window: Arc<Window>) -> io::Result<()> {
    let service = service_fn(move |request| answer(Arc::clone(&window), request));
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .await
        .map_err(io::Error::other)
}

/// Answers on a thread that may wait for the disk.
async fn answer(window: Arc<Window>, request: Request<Incoming>) -> Result<Response<Content>, Infallible> {
    let (parts, _body) = request.into_parts();
    let answered =
        tokio::task::spawn_blocking(move || window.answer(&parts.method, parts.uri.path(), &parts.headers));
    Ok(answered.await.unwrap_or_else(|_stopped| {
        let mut gone = Response::new(Content::bytes(""));
        *gone.status_mut() = http::StatusCode::SERVICE_UNAVAILABLE;
        gone
    }))
}

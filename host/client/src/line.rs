//! Connections to a sidecar.
//!
//! INVARIANT: a request is written to a second connection only where not a byte of it left through the first.

use std::io;
use std::net::SocketAddr;
#[cfg(unix)]
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderValue, Method, Request};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Longest answer, in bytes: more than any outcome or list.
const ANSWER_BYTES_MAX: usize = 16 << 20;
/// Most connections that are kept.
const KEPT_MAX: usize = 32;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// Others than this machine could read the token.
    #[error("`{0}` is not loopback: a token goes nowhere else")]
    NotLoopback(SocketAddr),
    /// The text is no token.
    #[error("not a token: pass it as `pinhole tokens new` printed it")]
    NotAToken,
    /// A part of a call is no JSON.
    #[error("the {0} of the call is not JSON")]
    NotJson(&'static str),
    /// Nobody listens there. Nothing was asked.
    #[error("the sidecar cannot be reached: see that `pinhole sidecar` runs there")]
    Unreachable(#[source] io::Error),
    /// The connection ended before there was an answer. What was asked may have been done.
    #[error("the sidecar went away before it answered: what was asked may have been done")]
    Gone(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The answer is none of a sidecar's.
    #[error("the answer is none of a sidecar's: see what listens there")]
    Unreadable,
}

/// Where a sidecar is.
#[derive(Debug)]
pub(crate) enum Place {
    At(SocketAddr),
    #[cfg(unix)]
    File(PathBuf),
}

type Sender = SendRequest<Full<Bytes>>;

/// Connections to one place.
#[derive(Debug)]
pub(crate) struct Line {
    place: Place,
    token: Option<HeaderValue>,
    kept: Mutex<Vec<Sender>>,
}

impl Line {
    pub(crate) fn new(place: Place, token: Option<HeaderValue>) -> Self {
        Self { place, token, kept: Mutex::default() }
    }

    /// Asks, and reads all of the answer.
    pub(crate) async fn ask(
        &self,
        method: Method,
        target: &str,
        body: Option<String>,
    ) -> Result<Bytes, ClientError> {
        let body = Bytes::from(body.unwrap_or_default());
        let mut kept = self.take();
        loop {
            let (mut sender, fresh) = match kept.take() {
                Some(sender) => (sender, false),
                None => (self.connect().await?, true),
            };
            let request = self.request(method.clone(), target, body.clone())?;
            match sender.try_send_request(request).await {
                Ok(answer) => {
                    let whole = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
                    let bytes = whole.map_err(ClientError::Gone)?.to_bytes();
                    self.keep(sender);
                    return Ok(bytes);
                }
                Err(mut error) => {
                    // A kept connection may have ended meanwhile; hyper gives back what it did not begin to write.
                    let unsent = error.take_message().is_some();
                    if fresh || !unsent {
                        return Err(ClientError::Gone(error.into_error().into()));
                    }
                }
            }
        }
    }

    fn request(
        &self,
        method: Method,
        target: &str,
        body: Bytes,
    ) -> Result<Request<Full<Bytes>>, ClientError> {
        let host = match &self.place {
            Place::At(address) => address.to_string(),
            #[cfg(unix)]
            Place::File(_) => "localhost".to_owned(),
        };
        let mut request = Request::builder().method(method).uri(target).header(HOST, host);
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token);
        }
        request.body(Full::new(body)).map_err(|_bad| ClientError::Unreadable)
    }

    async fn connect(&self) -> Result<Sender, ClientError> {
        match &self.place {
            Place::At(address) => {
                let stream = TcpStream::connect(address).await.map_err(ClientError::Unreachable)?;
                stream.set_nodelay(true).map_err(ClientError::Unreachable)?;
                speak(stream).await
            }
            #[cfg(unix)]
            Place::File(path) => {
                speak(tokio::net::UnixStream::connect(path).await.map_err(ClientError::Unreachable)?).await
            }
        }
    }

    fn take(&self) -> Option<Sender> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(sender) = kept.pop() {
            if sender.is_ready() {
                return Some(sender);
            }
        }
        None
    }

    fn keep(&self, sender: Sender) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < KEPT_MAX && !sender.is_closed() {
            kept.push(sender);
        }
    }
}

async fn speak<S>(stream: S) -> Result<Sender, ClientError>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let unheard = |error: hyper::Error| ClientError::Unreachable(io::Error::other(error));
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(unheard)?;
    // It ends with the sender; what goes wrong is said to whoever asks.
    tokio::spawn(async move { drop(connection.await) });
    Ok(sender)
}

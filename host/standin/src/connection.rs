//! One connection: TLS, then hyper, then, where a reply is to be spoiled below HTTP, the bare stream.
//!
//! The stream is shared between hyper and its connection. When the service orders a script, hyper is dropped in the
//! middle of what it was doing and the script writes its bytes to the same TLS stream, so that any request of a
//! connection can be spoiled, not only the first.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::rt::Executor;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::handshake::{answer_as_tls_1_1, stay_silent};
use crate::service::{Peer, Stage};
use crate::{Protocol, service};

/// How long a handshake may take, and how long an ended connection waits for the client to close its side.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long "at once" is: on loopback, enough for what the client's window takes.
const SOON: Duration = Duration::from_millis(50);

/// What a service can tell its connection to do.
#[derive(Debug)]
pub(crate) enum Order {
    /// Stop speaking HTTP and write this.
    Script(Script),
    /// Finish what is under way, then close.
    Finish,
    /// Send what can be sent at once, then cut the connection.
    CutSoon,
}

/// Bytes to write below HTTP, and how the connection ends after them.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) bytes: Bytes,
    pub(crate) end: End,
}

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// As it should: TLS says goodbye, then TCP.
    Close,
    /// TCP ends without TLS's goodbye, as when a cable is cut or somebody in between forges an end.
    Cut,
}

/// The tasks of a stand-in: all end when it does.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tasks(Arc<Mutex<Running>>);

#[derive(Debug, Default)]
struct Running {
    set: JoinSet<()>,
    stopped: bool,
}

impl Tasks {
    /// Runs a task until it ends or the stand-in does. Does nothing after [`Tasks::stop`].
    pub(crate) fn run(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while running.set.try_join_next().is_some() {}
        if !running.stopped {
            running.set.spawn(task);
        }
    }

    /// Ends every task at its next pause, and lets none begin.
    pub(crate) fn stop(&self) {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.stopped = true;
        running.set.abort_all();
    }
}

impl<F> Executor<F> for Tasks
where
    F: Future + Send + 'static,
{
    fn execute(&self, future: F) {
        self.run(async move {
            future.await;
        });
    }
}

/// Serves one accepted connection to its end. Faults of the client's end it and are nobody else's business.
pub(crate) async fn serve(tcp: TcpStream, stage: Arc<Stage>, number: usize, tasks: Tasks) -> io::Result<()> {
    tcp.set_nodelay(true)?;
    let Some(tls) = stage.tls.clone() else {
        return match stage.protocol {
            Protocol::Tls11 => answer_as_tls_1_1(tcp).await,
            _ => stay_silent(tcp).await,
        };
    };
    let accepted = tokio::time::timeout(PATIENCE, TlsAcceptor::from(tls).accept(tcp));
    let stream = accepted.await.map_err(io::Error::other)??;
    let (_, session) = stream.get_ref();
    let peer = Peer {
        sni: session.server_name().map(str::to_owned),
        alpn: session.alpn_protocol().map(|name| String::from_utf8_lossy(name).into_owned()),
        connection: number,
    };
    let shared = Shared(Arc::new(Mutex::new(Some(stream))));
    let Some(script) = speak_http(shared.clone(), stage, peer, tasks).await else {
        return Ok(());
    };
    match shared.retake() {
        Some(stream) => script.perform(stream).await,
        None => Ok(()),
    }
}

/// Speaks HTTP until the connection ends; gives the script that is to follow, if any.
async fn speak_http(shared: Shared, stage: Arc<Stage>, peer: Peer, tasks: Tasks) -> Option<Script> {
    let (orders, mut ordered) = mpsc::unbounded_channel();
    let peer = Arc::new(peer);
    let service = service_fn(stage, peer, orders);
    let mut builder = auto::Builder::new(tasks);
    builder.http1().timer(TokioTimer::new());
    builder.http2().timer(TokioTimer::new());
    let mut http = std::pin::pin!(builder.serve_connection(TokioIo::new(shared), service));
    let mut cut = std::pin::pin!(tokio::time::sleep(SOON));
    let mut to_be_cut = false;
    loop {
        tokio::select! {
            biased;
            order = ordered.recv() => match order {
                Some(Order::Script(script)) => return Some(script),
                Some(Order::CutSoon) => {
                    cut.as_mut().reset(tokio::time::Instant::now() + SOON);
                    to_be_cut = true;
                }
                Some(Order::Finish) => http.as_mut().graceful_shutdown(),
                None => return None,
            },
            () = cut.as_mut(), if to_be_cut => return Some(Script { bytes: Bytes::new(), end: End::Cut }),
            _ended = http.as_mut() => return None,
        }
    }
}

fn service_fn(
    stage: Arc<Stage>,
    peer: Arc<Peer>,
    orders: UnboundedSender<Order>,
) -> impl hyper::service::Service<
    hyper::Request<hyper::body::Incoming>,
    Response = hyper::Response<crate::body::Outgoing>,
    Error = service::Stopped,
    Future: Send + 'static,
> {
    hyper::service::service_fn(move |request| {
        service::answer(Arc::clone(&stage), Arc::clone(&peer), orders.clone(), request)
    })
}

impl Script {
    async fn perform(self, mut stream: TlsStream<TcpStream>) -> io::Result<()> {
        stream.write_all(&self.bytes).await?;
        stream.flush().await?;
        match self.end {
            End::Close => stream.shutdown().await?,
            End::Cut => stream.get_mut().0.shutdown().await?,
        }
        // What the client still sends is read, or TCP would answer it with a reset that overtakes the bytes above.
        let (tcp, _) = stream.get_mut();
        let mut buffer = [0; 4096];
        let forget = async { while matches!(tcp.read(&mut buffer).await, Ok(1..)) {} };
        // It makes no difference which of the two ended the wait.
        let _waited = tokio::time::timeout(PATIENCE, forget).await.is_ok();
        Ok(())
    }
}

/// The TLS stream, shared between hyper and the connection that may take it back.
#[derive(Clone)]
struct Shared(Arc<Mutex<Option<TlsStream<TcpStream>>>>);

impl Shared {
    fn retake(&self) -> Option<TlsStream<TcpStream>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn with<T>(
        &self,
        poll: impl FnOnce(Pin<&mut TlsStream<TcpStream>>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(stream) => poll(Pin::new(stream)),
            None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }
}

impl AsyncRead for Shared {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.with(|stream| stream.poll_read(context, buffer))
    }
}

impl AsyncWrite for Shared {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.with(|stream| stream.poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|stream| stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|stream| stream.poll_shutdown(context))
    }
}

//! What a door listens on: TCP, with or without TLS of its own.

use std::io;
use std::net::IpAddr;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

/// Somebody has connected.
#[derive(Debug)]
pub(crate) struct Arrived<S> {
    pub(crate) stream: S,
    pub(crate) address: IpAddr,
    pub(crate) known: Known,
}

/// What is known of who connected, before a request is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// Nothing: a token says.
    Stranger,
    /// The user of this process, or the superuser.
    User,
}

/// What connections come from.
pub(crate) trait Listen: Send {
    /// One connection.
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// The next one.
    fn accept(&self) -> impl Future<Output = io::Result<Arrived<Self::Stream>>> + Send;

    /// Sends this where the system takes it at once; nobody is waited for.
    fn say(stream: &Self::Stream, bytes: &[u8]) -> io::Result<usize>;
}

impl Listen for TcpListener {
    type Stream = TcpStream;

    async fn accept(&self) -> io::Result<Arrived<TcpStream>> {
        let (stream, peer) = Self::accept(self).await?;
        // Small answers are not held back for more to come.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection that is gone already");
        }
        Ok(Arrived { stream, address: peer.ip(), known: Known::Stranger })
    }

    fn say(stream: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
        stream.try_write(bytes)
    }
}

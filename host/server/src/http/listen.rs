//! What a door listens on: TCP, or a socket file that one user of this machine can reach.
//!
//! INVARIANT: whoever comes through the socket file is this process's user or the superuser: its mode says so, its folder is
//! one that no other may write, and the system is asked of each connection again (`SO_PEERCRED`).

use std::io;
use std::net::{IpAddr, Ipv4Addr};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

/// Somebody has connected.
#[derive(Debug)]
pub(crate) struct Arrived<S> {
    pub(crate) stream: S,
    pub(crate) address: IpAddr,
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
        Ok(Arrived { stream, address: peer.ip() })
    }

    fn say(stream: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
        stream.try_write(bytes)
    }
}

#[cfg(unix)]
mod file;
#[cfg(unix)]
pub use file::{SocketError, SocketFile};

/// The address that stands for who came without one.
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

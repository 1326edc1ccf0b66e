//! TLS of a door's own, where no proxy in front of it does that.
//!
//! TLS 1.2 and 1.3, no client certificates. A handshake goes on inside its own connection, within the time that the head of
//! a request may take: nobody who is slow at it holds up the next. INVARIANT: the private key is in no error and no log.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::server::TlsStream;
use tokio_rustls::{Accept, TlsAcceptor};

use super::listen::{Arrived, Listen};

/// A certificate chain and its private key.
#[derive(Clone)]
pub struct TlsIdentity(Arc<ServerConfig>);

impl std::fmt::Debug for TlsIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TlsIdentity(<secret>)")
    }
}

/// Why there is no TLS. Holds nothing of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The one file has no certificate that can be read.
    #[error("there is no certificate in it: write the chain as PEM, the server's own first")]
    Certificate,
    /// The other has no private key that can be read.
    #[error("there is no private key in it: write it as PEM, without a passphrase")]
    Key,
    /// They do not go together, or are of a kind that is not spoken here.
    #[error("the private key is not that of the certificate, or of a kind that is not supported")]
    Pair,
}

impl TlsIdentity {
    /// Reads a chain and its key, both PEM.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
        let chain = chain.ok().filter(|chain| !chain.is_empty()).ok_or(TlsError::Certificate)?;
        let key = PrivateKeyDer::from_pem_slice(key).or(Err(TlsError::Key))?;
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .or(Err(TlsError::Pair))?;
        let config = config.with_no_client_auth().with_single_cert(chain, key);
        let mut config = config.or(Err(TlsError::Pair))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(Arc::new(config)))
    }
}

/// A listener behind TLS.
pub(crate) struct TlsListener {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl TlsListener {
    /// The same listener, which now speaks as this identity.
    pub(crate) fn new(listener: TcpListener, identity: TlsIdentity) -> Self {
        Self { listener, acceptor: TlsAcceptor::from(identity.0) }
    }
}

impl Listen for TlsListener {
    type Stream = Shaking;

    async fn accept(&self) -> io::Result<Arrived<Shaking>> {
        let Arrived { stream, address } = Listen::accept(&self.listener).await?;
        let stream = Shaking::Hands(Box::new(self.acceptor.accept(stream)));
        Ok(Arrived { stream, address })
    }

    /// Nobody can be told anything before the handshake.
    fn say(_stream: &Shaking, _bytes: &[u8]) -> io::Result<usize> {
        Ok(0)
    }
}

/// A connection whose handshake is part of its first read.
pub(crate) enum Shaking {
    Hands(Box<Accept<TcpStream>>),
    Done(Box<TlsStream<TcpStream>>),
    Failed,
}

impl Shaking {
    fn poll_done(&mut self, context: &mut Context<'_>) -> Poll<io::Result<&mut TlsStream<TcpStream>>> {
        loop {
            match self {
                Self::Hands(accept) => {
                    let done = ready!(Pin::new(accept.as_mut()).poll(context));
                    // What is over is not asked again.
                    *self = Self::Failed;
                    *self = Self::Done(Box::new(done?));
                }
                Self::Failed => return Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
                Self::Done(stream) => return Poll::Ready(Ok(stream)),
            }
        }
    }
}

impl AsyncRead for Shaking {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let stream = ready!(self.get_mut().poll_done(context))?;
        Pin::new(stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Shaking {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let stream = ready!(self.get_mut().poll_done(context))?;
        Pin::new(stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            // Nothing was written yet.
            Self::Hands(_) | Self::Failed => Poll::Ready(Ok(())),
            Self::Done(stream) => Pin::new(stream.as_mut()).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            // Who did not get so far is not said goodbye to.
            Self::Hands(_) | Self::Failed => Poll::Ready(Ok(())),
            Self::Done(stream) => Pin::new(stream.as_mut()).poll_shutdown(context),
        }
    }
}

//! The TLS side of a connection: versions, ALPN, and two servers that never finish a handshake.
//!
//! The provider is given by hand and nothing is installed for the process, so that a stand-in does not decide what
//! its client uses.

use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::authority::Leaf;

/// Which TLS versions the stand-in speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// TLS 1.2 and 1.3.
    #[default]
    Tls12And13,
    /// TLS 1.2 alone.
    Tls12,
    /// TLS 1.3 alone.
    Tls13,
    /// Answers any `ClientHello` with a TLS 1.1 `ServerHello`, by hand, and goes no further. A client that would take
    /// TLS 1.1 waits for a certificate; one that refuses says so at once.
    Tls11,
    /// Accepts the connection and never says a word, until the client gives up.
    Silent,
}

/// Which HTTP versions the stand-in offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Alpn {
    /// `h2`, then `http/1.1`.
    #[default]
    Both,
    /// `h2` alone.
    H2,
    /// `http/1.1` alone.
    Http1,
    /// No ALPN at all: HTTP/1.1, or HTTP/2 where the client begins with its preface.
    None,
}

/// The server's side of TLS; `None` for the two that have none.
pub(crate) fn server_config(
    leaf: Leaf,
    protocol: Protocol,
    alpn: Alpn,
) -> Result<Option<Arc<ServerConfig>>, rustls::Error> {
    let versions: &[&'static rustls::SupportedProtocolVersion] = match protocol {
        Protocol::Tls12And13 => &[&rustls::version::TLS12, &rustls::version::TLS13],
        Protocol::Tls12 => &[&rustls::version::TLS12],
        Protocol::Tls13 => &[&rustls::version::TLS13],
        Protocol::Tls11 | Protocol::Silent => return Ok(None),
    };
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(versions)?
        .with_no_client_auth()
        .with_single_cert(leaf.chain, leaf.key)?;
    config.alpn_protocols = match alpn {
        Alpn::Both => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
        Alpn::H2 => vec![b"h2".to_vec()],
        Alpn::Http1 => vec![b"http/1.1".to_vec()],
        Alpn::None => Vec::new(),
    };
    Ok(Some(Arc::new(config)))
}

/// Plays a server without TLS 1.2: reads the first record, answers as TLS 1.1, then listens until the client goes.
pub(crate) async fn answer_as_tls_1_1(mut tcp: TcpStream) -> std::io::Result<()> {
    let mut header = [0_u8; 5];
    tcp.read_exact(&mut header).await?;
    let [_, _, _, high, low] = header;
    let mut hello = vec![0; usize::from(u16::from_be_bytes([high, low]))];
    tcp.read_exact(&mut hello).await?;
    tcp.write_all(&server_hello_1_1()).await?;
    drain(&mut tcp).await
}

/// Says nothing until the client goes.
pub(crate) async fn stay_silent(mut tcp: TcpStream) -> std::io::Result<()> {
    drain(&mut tcp).await
}

/// Reads and forgets until the other side closes, or a minute has passed.
async fn drain(tcp: &mut TcpStream) -> std::io::Result<()> {
    let forget = async {
        let mut buffer = [0; 1024];
        while tcp.read(&mut buffer).await? > 0 {}
        Ok(())
    };
    tokio::time::timeout(Duration::from_mins(1), forget).await.unwrap_or(Ok(()))
}

/// RFC 4346, 7.4.1.3: one handshake record with a `ServerHello` for TLS 1.1, without a session, choosing
/// `TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA`, which every client of that age offered.
fn server_hello_1_1() -> Vec<u8> {
    const VERSION: [u8; 2] = [3, 2];
    let mut hello = VERSION.to_vec();
    hello.extend([0x5a; 32]);
    hello.extend([0, 0xc0, 0x13, 0]);
    let length = u8::try_from(hello.len()).unwrap_or(u8::MAX);
    let mut record = vec![0x16, 3, 2, 0, length.saturating_add(4), 2, 0, 0, length];
    record.extend(hello);
    record
}

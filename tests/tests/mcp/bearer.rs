//! Between a client that can send no token and a server that wants one: adds the token, and changes nothing else.
//!
//! Every byte of a request passes as it came, its `Host` among them, with one header more. It understands bodies that say
//! their length, which is what the clients of these tests send.

use std::net::SocketAddr;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Longest head of a request, in bytes.
const HEAD_MAX: usize = 64 << 10;

/// Passes on what comes, for as long as the test's runtime lives.
pub(crate) fn before(listener: TcpListener, server: SocketAddr, token: String) {
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(pass(client, server, token.clone()));
        }
    });
}

async fn pass(client: TcpStream, server: SocketAddr, token: String) -> std::io::Result<()> {
    let server = TcpStream::connect(server).await?;
    server.set_nodelay(true)?;
    client.set_nodelay(true)?;
    let (mut requests, mut to_client) = client.into_split();
    let (mut answers, mut to_server) = server.into_split();
    let back = tokio::spawn(async move { tokio::io::copy(&mut answers, &mut to_client).await });
    while let Some((head, length)) = head(&mut requests).await? {
        let (line, rest) = head.split_once("\r\n").expect("a request line");
        let mut request = format!("{line}\r\nauthorization: Bearer {token}\r\n{rest}").into_bytes();
        (&mut requests).take(length).read_to_end(&mut request).await?;
        // At once, as clients send what is small.
        to_server.write_all(&request).await?;
    }
    // The client has gone, and the server is to know.
    back.abort();
    Ok(())
}

/// The head of the next request with the empty line, and how long the body is; `None` at the end.
async fn head(requests: &mut (impl AsyncRead + Unpin)) -> std::io::Result<Option<(String, u64)>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        assert!(head.len() < HEAD_MAX, "a head without an end");
        match requests.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    let head = String::from_utf8(head).expect("a head is text");
    let header = |wanted: &str| {
        let named = |line: &str| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case(wanted).then(|| value.trim().to_owned())
        };
        head.lines().find_map(named)
    };
    assert!(header("transfer-encoding").is_none(), "a body that does not say its length");
    let length = header("content-length").map_or(0, |length| length.parse().expect("a length"));
    Ok(Some((head, length)))
}

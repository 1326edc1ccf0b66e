//! A connection that is kept alive: a request written as it stands, its answer read to the last byte.

use std::net::SocketAddr;

use anyhow::{Context as _, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::pipe::find;

pub(crate) struct Wire {
    stream: TcpStream,
    answer: Vec<u8>,
}

impl Wire {
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, answer: Vec::with_capacity(1 << 18) })
    }

    /// The body of the answer, which must be 200 and have a length.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> anyhow::Result<&[u8]> {
        self.stream.write_all(request).await?;
        self.answer.clear();
        let mut ends = None;
        loop {
            let read = self.stream.read_buf(&mut self.answer).await?;
            ensure!(read > 0, "the server has closed the connection");
            if ends.is_none() {
                ends = body(&self.answer)?;
            }
            if let Some((from, to)) = ends
                && self.answer.len() >= to
            {
                return self.answer.get(from..to).context("a body");
            }
        }
    }
}

/// Where the body begins and ends, once the head is there.
fn body(answer: &[u8]) -> anyhow::Result<Option<(usize, usize)>> {
    let Some(end) = find(answer, b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(answer.get(..end).unwrap_or_default())?.to_ascii_lowercase();
    ensure!(head.starts_with("http/1.1 200"), "the server refuses: {}", String::from_utf8_lossy(answer));
    let length = head.split("\r\n").find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.context("an answer without a length")?.trim().parse()?;
    Ok(Some((end + 4, end + 4 + length)))
}

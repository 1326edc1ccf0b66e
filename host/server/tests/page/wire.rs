//! Requests written out by hand, and what comes back.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A request, written out by hand.
#[derive(Clone)]
pub(crate) struct Asking {
    line: String,
    headers: Vec<(String, String)>,
    body: Option<String>,
    port: u16,
}

impl Asking {
    pub(crate) fn new(method: &str, path: &str, port: u16) -> Self {
        let headers = vec![("host".to_owned(), format!("127.0.0.1:{port}"))];
        Self { line: format!("{method} {path} HTTP/1.1"), headers, body: None, port }
    }

    /// With this header in the place of one of its name.
    pub(crate) fn with(self, name: &str, value: &str) -> Self {
        self.without(name).and(name, value)
    }

    /// With this header beside any of its name.
    pub(crate) fn and(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(had, _)| had != name);
        self
    }

    pub(crate) fn method(mut self, method: &str) -> Self {
        let rest = self.line.split_once(' ').unwrap().1;
        self.line = format!("{method} {rest}");
        self
    }

    pub(crate) fn body(mut self, body: &str) -> Self {
        self.body = Some(body.to_owned());
        self.with("content-length", &body.len().to_string())
    }

    pub(crate) fn head(&self) -> String {
        let lines = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        let headers = lines.collect::<Vec<_>>().concat();
        format!("{}\r\n{headers}connection: close\r\n\r\n", self.line)
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).await.unwrap()
    }

    pub(crate) async fn send(&self) -> Answer {
        let mut stream = self.connect().await;
        let text = format!("{}{}", self.head(), self.body.as_deref().unwrap_or_default());
        // Who is refused may find the door shut before all was said.
        stream.write_all(text.as_bytes()).await.unwrap_or_default();
        Answer::read(&mut stream).await
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    /// Everything until the answer is whole, or the other side closes; a status of 0 where it said nothing.
    pub(crate) async fn read(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        let read = async {
            // What came before a reset stays.
            while !is_whole(&bytes) && stream.read_buf(&mut bytes).await.unwrap_or_default() > 0 {}
        };
        tokio::time::timeout(Duration::from_mins(1), read).await.expect("an end");
        let text = String::from_utf8(bytes).unwrap();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            return Self { status: 0, headers: Vec::new(), body: text };
        };
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines.map(|line| line.split_once(':').unwrap());
        let headers = headers.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned())).collect();
        Self { status, headers, body: body.to_owned() }
    }

    /// The one value of a header.
    #[track_caller]
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(had, _)| had == name).map(|(_, value)| value.as_str());
        let value = values.next();
        assert_eq!(values.next(), None, "{name} stands twice");
        value
    }
}

/// Whether an answer has all the bytes that it says it has.
fn is_whole(bytes: &[u8]) -> bool {
    let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&bytes[..at]).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    length.is_some_and(|length: usize| bytes.len() >= at + 4 + length)
}

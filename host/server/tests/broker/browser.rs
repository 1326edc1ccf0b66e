//! A browser that does what a test says: one request a connection, over TLS, with the cookies that it was given.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::stage::HOST;

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Ask {
    pub(crate) fn new(method: &str, target: &str) -> Self {
        Self { line: format!("{method} {target} HTTP/1.1"), headers: Vec::new(), body: Vec::new() }
            .header("host", HOST)
    }

    pub(crate) fn get(target: &str) -> Self {
        Self::new("GET", target)
    }

    /// A form of this broker's own page.
    pub(crate) fn form(target: &str, fields: &[(String, String)]) -> Self {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(fields);
        Self { body: form.finish().into_bytes(), ..Self::new("POST", target) }
            .header("content-type", "application/x-www-form-urlencoded")
            .header("origin", &format!("https://{HOST}"))
            .header("sec-fetch-site", "same-origin")
            .header("sec-fetch-dest", "document")
    }

    pub(crate) fn json(target: &str, body: &[u8]) -> Self {
        Self { body: body.to_vec(), ..Self::new("POST", target) }.header("content-type", "application/json")
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    pub(crate) fn with(self, name: &str, value: &str) -> Self {
        self.without(name).header(name, value)
    }

    /// The bytes of its head, which promise a body of this length.
    pub(crate) fn head(&self, length: usize) -> Vec<u8> {
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        let headers: String = headers.collect();
        let length = if length > 0 { format!("content-length: {length}\r\n") } else { String::new() };
        format!("{}\r\n{headers}{length}connection: close\r\n\r\n", self.line).into_bytes()
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Where it leads.
    pub(crate) fn location(&self) -> url::Url {
        assert_eq!(self.status, 303, "{self:?}");
        self.header("location").unwrap().parse().unwrap()
    }

    /// The word of a refusal.
    pub(crate) fn code(&self) -> String {
        let body: serde_json::Value = serde_json::from_str(&self.body).unwrap();
        body["error"]["code"].as_str().unwrap().to_owned()
    }

    /// The hidden fields of its form.
    pub(crate) fn fields(&self) -> Vec<(String, String)> {
        let inputs = self.body.split("<input type=\"hidden\" name=\"").skip(1);
        let fields = inputs.map(|rest| {
            let (name, rest) = rest.split_once("\" value=\"").unwrap();
            (name.to_owned(), rest.split_once('"').unwrap().0.to_owned())
        });
        fields.collect()
    }
}

/// What a query says.
pub(crate) fn pairs(url: &url::Url) -> BTreeMap<String, String> {
    url.query_pairs().into_owned().collect()
}

/// A browser, with its one cookie.
#[derive(Clone)]
pub(crate) struct Browser {
    address: SocketAddr,
    connector: TlsConnector,
    pub(crate) cookie: Option<String>,
}

impl Browser {
    pub(crate) fn new(address: SocketAddr, ca: &str) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(ca.as_bytes()).unwrap()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap();
        let config = config.with_root_certificates(roots).with_no_client_auth();
        Self { address, connector: TlsConnector::from(Arc::new(config)), cookie: None }
    }

    /// The same without its cookie.
    pub(crate) fn another(&self) -> Self {
        Self { cookie: None, ..self.clone() }
    }

    pub(crate) async fn connect(&self) -> TlsStream<TcpStream> {
        let tcp = TcpStream::connect(self.address).await.unwrap();
        self.connector.connect(ServerName::try_from(HOST).unwrap(), tcp).await.unwrap()
    }

    /// Asks, with the cookie if it has one, and keeps the one that it gets.
    pub(crate) async fn ask(&mut self, ask: Ask) -> Answer {
        let ask = match &self.cookie {
            Some(cookie) => ask.header("cookie", cookie),
            None => ask,
        };
        let mut stream = self.connect().await;
        let bytes = [ask.head(ask.body.len()), ask.body.clone()].concat();
        // Who was refused early may have been closed on.
        stream.write_all(&bytes).await.unwrap_or_default();
        let answer = answer(&mut stream).await;
        if let Some(cookie) = answer.header("set-cookie") {
            let pair = cookie.split(';').next().unwrap();
            self.cookie = (!pair.ends_with('=')).then(|| pair.to_owned());
        }
        answer
    }

    pub(crate) async fn get(&mut self, target: &str) -> Answer {
        self.ask(Ask::get(target)).await
    }
}

/// Reads one answer to the end of its connection.
pub(crate) async fn answer(stream: &mut TlsStream<TcpStream>) -> Answer {
    let mut bytes = Vec::new();
    // A server that closes without a goodbye has said all the same what it had to.
    stream.read_to_end(&mut bytes).await.map(drop).unwrap_or_default();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Answer { status, headers, body: body.to_owned() }
}

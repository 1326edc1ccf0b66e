//! Why an exchange failed, and whether the request was sent: the errors and how the library's are read.
//!
//! Refuses to repeat text that the other side wrote: of an error's chain only known types are put into the detail, so that
//! neither a URL, a header nor a server's own words reach a log. DESIGN, "Pinned client".

use std::error::Error;
use std::fmt;
use std::io;

use super::Sent;
use super::guard::Refused;
use super::resolver::ResolveError;

/// A failed exchange.
#[derive(Debug, thiserror::Error)]
#[error("{kind}")]
pub struct WireError {
    /// What went wrong.
    pub kind: WireErrorKind,
    /// Whether the request reached the other side.
    pub sent: Sent,
    detail: String,
}

impl WireError {
    pub(crate) fn new(kind: WireErrorKind, sent: Sent, detail: impl Into<String>) -> Self {
        Self { kind, sent, detail: detail.into() }
    }

    /// What the operator's log says: causes and addresses; no URL, header, body or secret.
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

/// What went wrong. Exhaustive: each kind has its refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum WireErrorKind {
    /// The request is not one that this client sends: its method, target or headers. A fault of the caller's.
    #[error("the request cannot be sent as it is")]
    Unsendable,
    /// The name leads to an address that is not public, or the answer came from one.
    #[error("the host's name leads to an address that is not public")]
    AddressRefused,
    /// The name could not be looked up or has no address.
    #[error("the host's name could not be found")]
    NameNotFound,
    /// No connection came about.
    #[error("the host could not be reached")]
    Connect,
    /// The other side is not shown to be the host, or the handshake failed.
    #[error("no trusted connection to the host could be made")]
    Tls,
    /// A time limit passed.
    #[error("the time ran out {stage}")]
    Timeout {
        /// Which one.
        stage: Stage,
    },
    /// The answer was a redirect; nothing followed it.
    #[error("the host answered with a redirect ({})", status.as_u16())]
    Redirected {
        /// Any 3xx.
        status: http::StatusCode,
    },
    /// The body is longer than allowed.
    #[error("the answer is larger than allowed")]
    ResponseTooLarge,
    /// The headers are more or longer than allowed.
    #[error("the answer's headers are larger than allowed")]
    HeadersTooLarge,
    /// The body is in an encoding that was not asked for, in several, or in a broken one.
    #[error("the answer's encoding is unknown or broken")]
    BadEncoding,
    /// The connection ended before the answer did.
    #[error("the connection was cut")]
    Interrupted,
    /// The answer is not HTTP.
    #[error("the answer is malformed")]
    BadResponse,
}

/// Which time limit passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Name, connection and handshake.
    Connect,
    /// Until the status and headers were there.
    Header,
    /// Between two pieces of the body.
    Idle,
    /// All of it.
    Total,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "while connecting",
            Self::Header => "while waiting for the answer to begin",
            Self::Idle => "while the answer stood still",
            Self::Total => "before the answer was complete",
        })
    }
}

/// Reads an error from before the status came back.
pub(super) fn before_answer(error: &reqwest::Error, sent: Sent) -> WireError {
    let chain = Chain::of(error);
    let kind = if let Some(refusal) = chain.resolve {
        match refusal {
            ResolveError::Lookup(_) | ResolveError::Refused(Refused::Empty) => WireErrorKind::NameNotFound,
            ResolveError::NotPinned | ResolveError::Refused(_) => WireErrorKind::AddressRefused,
        }
    } else if error.is_builder() {
        WireErrorKind::Unsendable
    } else if error.is_connect() && error.is_timeout() {
        WireErrorKind::Timeout { stage: Stage::Connect }
    } else if chain.tls || (error.is_connect() && chain.io == Some(io::ErrorKind::UnexpectedEof)) {
        // A stream only ends early while connecting when the handshake was cut short.
        WireErrorKind::Tls
    } else if error.is_connect() {
        WireErrorKind::Connect
    } else {
        match chain.http {
            Some(http) if http.is_parse_too_large() => WireErrorKind::HeadersTooLarge,
            Some(http) if http.is_parse() => WireErrorKind::BadResponse,
            _ => WireErrorKind::Interrupted,
        }
    };
    WireError::new(kind, sent, chain.detail)
}

/// Reads an error from the middle of a body.
pub(super) fn in_body(error: &reqwest::Error, sent: Sent) -> WireError {
    let chain = Chain::of(error);
    let kind = match (chain.http, chain.io) {
        (None, _) => WireErrorKind::BadEncoding,
        (Some(_), Some(io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData)) if !chain.tls => {
            WireErrorKind::BadResponse
        }
        (Some(_), _) => WireErrorKind::Interrupted,
    };
    WireError::new(kind, sent, chain.detail)
}

/// What is known in an error's chain of causes.
struct Chain<'a> {
    resolve: Option<&'a ResolveError>,
    http: Option<&'a hyper::Error>,
    tls: bool,
    io: Option<io::ErrorKind>,
    detail: String,
}

/// Causes nest about six deep; a bound keeps a broken `source` from looping.
const CHAIN_MAX: usize = 24;

impl<'a> Chain<'a> {
    fn of(error: &'a reqwest::Error) -> Self {
        let mut chain = Self { resolve: None, http: None, tls: false, io: None, detail: String::new() };
        let mut next = error.source();
        for _depth in 0..CHAIN_MAX {
            let Some(cause) = next else { break };
            next = chain.note(cause);
        }
        chain
    }

    /// Notes one cause and returns the next one.
    fn note(&mut self, cause: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
        if let Some(refusal) = cause.downcast_ref::<ResolveError>() {
            self.resolve = Some(refusal);
            self.say(refusal);
        } else if let Some(http) = cause.downcast_ref::<hyper::Error>() {
            self.http = Some(http);
            self.say(http);
        } else if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
            self.tls = true;
            self.say(&tls_words(tls));
        } else if let Some(io) = cause.downcast_ref::<io::Error>() {
            self.io = Some(io.kind());
            self.say(&io.kind());
            // `source` of a wrapping I/O error skips the error that it wraps.
            return io.get_ref().map_or_else(|| cause.source(), |inner| Some(widen(inner)));
        }
        cause.source()
    }

    fn say(&mut self, text: &dyn fmt::Display) {
        if !self.detail.is_empty() {
            self.detail.push_str(": ");
        }
        self.detail.push_str(&text.to_string());
    }
}

/// What went wrong with TLS, without the names and texts in the other side's certificate.
fn tls_words(error: &rustls::Error) -> String {
    use rustls::CertificateError as Certificate;
    let rustls::Error::InvalidCertificate(fault) = error else {
        return error.to_string();
    };
    let words = match fault {
        Certificate::Expired | Certificate::ExpiredContext { .. } => "has expired",
        Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => "is not valid yet",
        Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => "is for another name",
        Certificate::UnknownIssuer => "is of an unknown issuer",
        Certificate::BadSignature => "has a bad signature",
        Certificate::Revoked => "is revoked",
        _ => "is not acceptable",
    };
    format!("the certificate {words}")
}

fn widen<'a>(error: &'a (dyn Error + Send + Sync + 'static)) -> &'a (dyn Error + 'static) {
    error
}

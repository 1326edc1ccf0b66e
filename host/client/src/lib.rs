//! Speaks to a sidecar: at its socket file, or on loopback with a token.
//!
//! Knows what is sent and answered, and nothing of grants, manifests or the runtime. INVARIANT: no call is sent twice: what may have
//! left is never repeated. A token goes to loopback alone, and is in no error and no `Debug`.
//!
//! ```no_run
//! # async fn example(grant: String) -> Result<(), pinhole_client::ClientError> {
//! use pinhole_client::{Call, Client, Outcome};
//!
//! let sidecar = Client::unix("/run/pinhole/sidecar.sock");
//! let call = Call::new("github", "get_repo", grant).with_args(r#"{"owner":"rust-lang","repo":"rust"}"#);
//! match sidecar.run(&call).await? {
//!     Outcome::Done(done) => println!("{}", done.result),
//!     Outcome::Refused(refusal) => println!("{}: {}", refusal.code, refusal.message),
//! }
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod answer;
mod call;
mod line;
mod research;

use std::net::SocketAddr;
#[cfg(unix)]
use std::path::PathBuf;

use http::{HeaderValue, Method};
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

pub use answer::{Done, Explained, Meta, Outcome, Receipts, Refusal, Sent, Services, Tools};
pub use call::{Access, Call, Dialect, ToolsWanted};
pub use line::ClientError;
pub use research::{Called, Session};

use answer::Answered;
use line::{Line, Place};

/// A sidecar. Keeps connections for calls to come; to be shared by reference or behind an `Arc`.
#[derive(Debug)]
pub struct Client {
    line: Line,
}

impl Client {
    /// The one at this socket file.
    #[cfg(unix)]
    pub fn unix(path: impl Into<PathBuf>) -> Self {
        Self { line: Line::new(Place::File(path.into()), None) }
    }

    /// The one on this loopback address, with the text of a token.
    pub fn tcp(address: SocketAddr, token: String) -> Result<Self, ClientError> {
        let token = Zeroizing::new(token);
        if !address.ip().to_canonical().is_loopback() {
            return Err(ClientError::NotLoopback(address));
        }
        let header = Zeroizing::new(format!("Bearer {}", *token));
        let mut header = HeaderValue::from_str(&header).map_err(|_bad| ClientError::NotAToken)?;
        header.set_sensitive(true);
        Ok(Self { line: Line::new(Place::At(address), Some(header)) })
    }

    /// Runs a call. A refusal is an outcome too; an error means that there is none.
    pub async fn run(&self, call: &Call) -> Result<Outcome, ClientError> {
        let answer = self.line.ask(Method::POST, "/v1/run", Some(call.body()?)).await?;
        answer::read(&answer)
    }

    /// Says what a call would do. Nothing is spent or sent to the service.
    pub async fn explain(&self, call: &Call) -> Result<Result<Explained, Refusal>, ClientError> {
        self.answered(Method::POST, "/v1/explain", Some(call.body()?)).await
    }

    /// The services whose ops may be called, and the bot's key.
    pub async fn services(&self) -> Result<Result<Services, Refusal>, ClientError> {
        self.answered(Method::GET, "/v1/services", None).await
    }

    /// Ops as tool definitions for a model's API.
    pub async fn tools(&self, wanted: &ToolsWanted) -> Result<Result<Tools, Refusal>, ClientError> {
        self.answered(Method::GET, &wanted.target(), None).await
    }

    /// What the caller's own calls came to, the newest first.
    pub async fn receipts(&self) -> Result<Result<Receipts, Refusal>, ClientError> {
        self.answered(Method::GET, "/v1/receipts", None).await
    }

    /// Whether calls could run there.
    pub async fn is_well(&self) -> Result<bool, ClientError> {
        let answer = self.line.ask(Method::GET, "/healthz", None).await?;
        let health: answer::Health = answer::parse(&answer)?;
        Ok(health.ok)
    }

    async fn answered<T: DeserializeOwned>(
        &self,
        method: Method,
        target: &str,
        body: Option<String>,
    ) -> Result<Result<T, Refusal>, ClientError> {
        let answer = self.line.ask(method, target, body).await?;
        let answered: Answered = answer::parse(&answer)?;
        if answered.ok {
            return Ok(Ok(answer::parse(&answer)?));
        }
        answered.refusal().map(Err).ok_or(ClientError::Unreadable)
    }
}

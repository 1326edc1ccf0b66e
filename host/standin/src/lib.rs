//! A stand-in API: a real HTTPS server, on a port of its own choosing, that says what it is told to say.
//!
//! It serves a GitHub-shaped world that it makes itself, a shelf that it hands out in pages, a folder of recordings, or a
//! fixed list of replies; it can be an authorization server besides; it can misbehave in every way that a client must survive; and it keeps a log of what reached
//! it, so that a test can assert that nothing did. The demo and the tests dial it in place of the real service.
//!
//! It never binds anything but loopback, never calls out, and depends on no other crate of the project. It keeps no
//! secret: the token it expects is a test's. DESIGN, "The house".
//!
//! ```no_run
//! # async fn example() -> Result<(), pinhole_standin::StandinError> {
//! use pinhole_standin::{Config, GithubWorld, Misbehaviour, Standin, When, World};
//!
//! let world = World::Github(GithubWorld::default());
//! let standin = Standin::start(Config { token: Some("a-key".into()), ..Config::new(world) }).await?;
//! standin.misbehave(When::Next(1), Misbehaviour::Html(502));
//! // … a client that trusts `standin.ca_pem()` and dials `standin.addr()` for `api.github.com` …
//! assert_eq!(standin.requests().len(), standin.connections());
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod authority;
mod body;
mod bomb;
mod config;
mod connection;
mod github;
mod handshake;
mod log;
mod misbehaviour;
mod provider;
mod replay;
mod reply;
mod service;
mod shelf;
mod spoil;
mod standin;
#[cfg(test)]
mod tests;

pub use authority::{Authority, AuthorityError, Certificate};
pub use config::{Config, Route, World};
pub use github::GithubWorld;
pub use handshake::{Alpn, Protocol};
pub use log::Seen;
pub use misbehaviour::{Cut, Echo, Misbehaviour, When};
pub use provider::{Consent, Manners, Provider, Rotation, Writing};
pub use replay::{RawReplyError, Recordings, RecordingsError};
pub use reply::Reply;
pub use shelf::Shelf;
pub use standin::{Standin, StandinError};

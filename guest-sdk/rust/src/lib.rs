//! For writing op modules of Pinhole in Rust: a function from typed args to a typed result, which asks its [`Host`] for
//! requests.
//!
//! The function never names a host and sees no key. The same function runs in Wasm, where the host is Pinhole, and in
//! `cargo test`, where it is [`recorded::Recorded`]. INVARIANT: nothing here panics on what a service answered.
//!
//! ```
//! use pinhole_guest::{Error, Host, Request, path};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Deserialize)]
//! struct Args {
//!     owner: String,
//!     repo: String,
//! }
//!
//! #[derive(Serialize)]
//! struct Stars {
//!     stars: u64,
//! }
//!
//! fn stars(host: &dyn Host, args: Args) -> Result<Stars, Error> {
//!     #[derive(Deserialize)]
//!     struct Repo {
//!         stargazers_count: u64,
//!     }
//!     let request = Request::get(path!("/repos/{}/{}", args.owner, args.repo));
//!     let repo: Repo = request.send(host)?.error_for_status()?.json()?;
//!     Ok(Stars { stars: repo.stargazers_count })
//! }
//!
//! pinhole_guest::export! { "stars" => stars }
//!
//! // What a test does:
//! use pinhole_guest::{Response, recorded::Recorded};
//! use serde_json::json;
//!
//! let service = Recorded::new()
//!     .on(Request::get("/repos/octo/hello"), Response::new(200).with_json(&json!({"stargazers_count": 7})));
//! let result = run(&service, "stars", r#"{"owner": "octo", "repo": "hello"}"#);
//! assert_eq!(result.as_deref(), Ok(r#"{"stars":7}"#));
//! service.assert_all_sent();
//! ```

mod error;
mod export;
mod host;
mod log;
mod pages;
mod path;
#[cfg(not(target_arch = "wasm32"))]
pub mod recorded;
mod request;
mod response;
pub mod time;
#[cfg(target_arch = "wasm32")]
#[doc(hidden)]
pub mod wasm;

pub use error::Error;
#[doc(hidden)]
pub use export::{call, unknown_op};
pub use host::{Failure, Host, Level, send_all};
pub use pages::{Pages, REQUESTS_A_CALL};
pub use path::Path;
#[doc(hidden)]
pub use path::segment;
pub use request::{Method, Request};
pub use response::Response;

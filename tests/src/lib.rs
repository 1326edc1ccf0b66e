//! The harness of the tests from end to end: a stand-in over real TLS, a member and a bot with keys of their own, grants
//! by a small builder, and an [`Executor`] that dials the stand-in.
//!
//! A test starts a [`Setup`], mints a grant and runs an op; what it then looks at is the outcome and what reached the
//! stand-in. Everything is real but the service and the clock. It binds and dials loopback alone, waits for nothing that
//! has no end, and panics where a test cannot be set up. STYLE, "Tests": end to end.
//!
//! ```no_run
//! # async fn example() {
//! use pinhole_tests::Setup;
//! use serde_json::json;
//!
//! let stage = Setup::github().start().await;
//! let grant = stage.grant("github").uses(1).seal();
//! let args = json!({"owner": "pinhole-demo", "repo": "lantern"});
//! let outcome = stage.run("github.get_repo", &args, &grant).await;
//! assert!(outcome.result().is_some());
//! assert_eq!(stage.standin.requests().len(), 1);
//! # }
//! ```
//!
//! [`Executor`]: pinhole_runtime::Executor

mod desks;
mod failing;
mod front;
mod granting;
pub mod guests;
pub mod holds;
mod local;
mod modules;
mod node;
pub mod postgres;
mod shared;
mod signed;
mod stage;
mod times;
mod wires;

pub use desks::JustBefore;
pub use failing::{Full, NoRoomFor};
pub use front::{Front, without_tls};
pub use granting::{Granting, altered, resigned};
pub use local::{LABEL, LocalStage, PASTED, call, connectable_thing, writable_thing, writable_things_routes};
pub use node::{NodeServer, missing, node_tools, tool};
pub use shared::shared;
pub use signed::signed;
pub use stage::{HOUR, KEY, NOW, ORG, REPO, SHELF, Setup, Stage, THING, action, op_name, thing};
pub use times::{TestClock, TestTimer};
pub use wires::{Answers, Canned, FailingOnce, Spoiling, Stuck, Then, Watching};

//! HTTP for every door that speaks it: listening, who may connect, whose requests are heard, how much and how fast.
//!
//! ```text
//! connection ─► [places: how many; how slow] ─► gate ─► Host ─► Origin, CORS ─► route ─► bearer ─► window ─► body ─► the door
//! ```
//! What a request says is the door's matter; nothing here knows MCP. INVARIANT: behind a bearer check no body is read before the
//! token of its request is known to be good, and no token is in a log, an answer or what a door is handed. DESIGN, "Doors".

mod bearer;
mod body;
mod front;
mod gate;
mod listen;
pub(crate) mod metadata;
mod places;
mod private;
mod refused;
mod serve;
mod settings;
mod tls;
mod window;

pub use bearer::Bearer;
pub(crate) use bearer::{Admission, Admitted, network};
pub(crate) use body::{is_json, whole};
pub(crate) use front::{Bound, Front, NamedHost, PageHeaders};
#[cfg(unix)]
pub use listen::{SocketError, SocketFile};
pub(crate) use private::keep_private;
pub(crate) use refused::{Refused, plain};
pub use serve::ServeError;
pub(crate) use serve::{Draining, Peer, serve};
pub use settings::{HttpLimits, HttpSettings, ListenError, Rate, Sessions, SettingError};
pub(crate) use tls::TlsListener;
pub use tls::{TlsError, TlsIdentity};
pub(crate) use window::Windows;

//! The member's approval page: the writes that wait for her, every argument whole, and her yes or no.
//!
//! A few pages for one person at one browser of this machine: no script, no API, no redirect but to itself. It is the same as
//! `pinhole approvals` at her terminal, and decides nothing that the runtime decides. INVARIANT: what is approved is what was
//! shown; and nothing shows to who has not opened the one-time address. DESIGN, "Doors": Local pages; "Who holds what".

mod address;
mod answer;
mod door;
mod form;
mod guard;
mod html;
mod listen;
mod neighbour;
mod reply;
mod route;
mod shown;
mod side;
mod tries;

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pinhole_runtime::entropy::EntropyError;
use pinhole_runtime::store::StoreError;
use tokio::net::TcpListener;
use url::Url;

pub use address::{ADDRESS_FILE, Announced, address_in, question_url};
pub use form::FORM_BYTES_MAX;
pub use side::{Keyholder, KeyholderError, MemberSide};
pub use tries::{LOCKED, WRONG_IN_A_ROW};

use door::Door;
use tries::Tries;

/// How long the page waits.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Patience {
    /// For the headers of a request, and for its body.
    pub request: Duration,
    /// For the person, between two uses. After that the page ends.
    pub person: Duration,
}

/// Ten seconds for a request; an hour for the person.
impl Default for Patience {
    fn default() -> Self {
        Self { request: Duration::from_secs(10), person: Duration::from_hours(1) }
    }
}

impl Patience {
    /// The same with this for the headers of a request, and for its body.
    #[must_use]
    pub fn for_requests(self, request: Duration) -> Self {
        Self { request, ..self }
    }
}

/// Why a page is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It was stopped.
    Stopped,
    /// Nobody used it for too long.
    Unused,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// The port could not be had.
    #[error("port {port} of 127.0.0.1 cannot be listened on")]
    Port {
        /// Which one; 0 is any.
        port: u16,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// There is no randomness.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
}

/// The page, which listens already.
#[expect(
    missing_debug_implementations,
    reason = "it holds the doors to what is stored and to the member's key"
)]
pub struct Page {
    listener: TcpListener,
    address: Url,
    room: Arc<Room>,
}

impl Page {
    /// Listens on this port of 127.0.0.1; 0 takes any that is free. (Not 80, which addresses leave out.)
    pub async fn bind(port: u16, side: MemberSide, patience: Patience) -> Result<Self, PageError> {
        let failed = |source| PageError::Port { port, source };
        let listener =
            TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let address = Url::parse(&format!("http://127.0.0.1:{port}/"));
        let address = address.map_err(|error| failed(std::io::Error::other(error)))?;
        let door = Door::new(port, side.entropy.as_ref())?;
        let last_use = Mutex::new(side.timer.now());
        let tries = Arc::default();
        let room = Arc::new(Room { side, door, port, patience, tries, last_use });
        Ok(Self { listener, address, room })
    }

    /// Where it is, such as `http://127.0.0.1:4711/`.
    pub fn address(&self) -> &Url {
        &self.address
    }

    /// The one-time address, which lets one browser in, once. For the member's terminal, and for nothing else.
    pub fn opening(&self) -> Url {
        let mut url = self.address.clone();
        url.set_path(&format!("/open/{}", self.room.door.code()));
        url
    }

    /// Serves until `stop` is there, or nobody has used it for [`Patience::person`]. What is under way then is dropped.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Ended {
        listen::run(self.listener, self.room, stop).await
    }
}

/// What all connections of a page share.
struct Room {
    side: MemberSide,
    door: Door,
    port: u16,
    patience: Patience,
    tries: Arc<tokio::sync::Mutex<Tries>>,
    last_use: Mutex<Instant>,
}

impl Room {
    /// She has used the page just now.
    fn used(&self) {
        *self.last_use.lock().unwrap_or_else(PoisonError::into_inner) = self.side.timer.now();
    }

    /// Is over when nobody has used the page for too long.
    async fn unused(&self) {
        loop {
            let last_use = *self.last_use.lock().unwrap_or_else(PoisonError::into_inner);
            let since = self.side.timer.now().saturating_duration_since(last_use);
            let left = self.patience.person.saturating_sub(since);
            if left.is_zero() {
                return;
            }
            self.side.timer.wait(left).await;
        }
    }

    /// Does what blocks on a thread that may.
    async fn apart<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let room = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || work(&room));
        done.await.map_err(|error| StoreError::Failed { doing: "answer the member", source: error.into() })?
    }
}

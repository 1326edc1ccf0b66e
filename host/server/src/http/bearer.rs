//! Who holds the token of a request.
//!
//! INVARIANT: a [`Principal`] comes from a good token alone: one that is stored, of this member, not expired by the
//! high-water clock, not revoked, looked up anew for each request. What fails is counted by peer; whoever holds a good token
//! is let in however much of that there is. RFC 6750.

use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::HeaderMap;
use http::header::AUTHORIZATION;
use pinhole_grant::{KeyId, PrincipalId, UnixTime};
use pinhole_manifest::{Access, Digest};
use pinhole_runtime::clock::{Clock, Timer};
use pinhole_runtime::store::{Desk, StoreError, TokenState};

use super::refused::Challenge;
use super::serve::Peer;
use super::{Rate, Refused, Windows};
use crate::tokens::BearerToken;
use crate::{Principal, Reach};

/// Most peers whose failures are counted apart.
const PEERS_MAX: usize = 1_024;

/// What is needed to know who holds a token.
#[derive(Clone)]
pub struct Bearer {
    /// Where tokens are.
    pub desk: Arc<dyn Desk>,
    /// Whose.
    pub member: KeyId,
    /// For when they expire.
    pub clock: Arc<dyn Clock>,
    /// For how fast things come.
    pub timer: Arc<dyn Timer>,
    /// What the door offers at most.
    pub reach: Reach,
}

impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bearer")
            .field("member", &self.member)
            .field("reach", &self.reach)
            .finish_non_exhaustive()
    }
}

/// The check at the door.
pub(crate) struct Admission {
    bearer: Bearer,
    failures: Mutex<Windows<IpAddr>>,
    /// What the clock showed last, and the high-water time then.
    last: Mutex<Option<(UnixTime, UnixTime)>>,
}

/// Somebody who was let in, and by which token.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    pub(crate) principal: Principal,
    /// What tells them from others.
    pub(crate) holder: PrincipalId,
    token: Digest,
}

/// Why a token is not good.
enum NotGood {
    Unknown,
    NothingHere,
    Store(StoreError),
}

impl Admission {
    pub(crate) fn new(bearer: Bearer, failures: Rate) -> Self {
        Self { bearer, failures: Mutex::new(Windows::new(failures, PEERS_MAX)), last: Mutex::default() }
    }

    /// Which scopes the door has a use for.
    pub(crate) fn scope(&self) -> &'static str {
        match [Access::Read, Access::Write].map(|access| self.bearer.reach.covers_access(access)) {
            [false, true] => "write",
            [_, false] => "read",
            [true, true] => "read write",
        }
    }

    /// Who sends these headers. `metadata` is where the resource's is.
    pub(crate) async fn admit(
        &self,
        headers: &HeaderMap,
        peer: &Peer,
        metadata: &str,
    ) -> Result<Admitted, Refused> {
        let challenge = || Challenge { metadata: metadata.to_owned(), scope: self.scope() };
        let mut given = headers.get_all(AUTHORIZATION).iter();
        let (first, second) = (given.next(), given.next());
        let Some(first) = first else { return Err(Refused::NoToken(challenge())) };
        if second.is_some() {
            return Err(Refused::Header("authorization"));
        }
        let Some(text) = first.to_str().ok().and_then(credentials) else {
            return Err(self.failed(peer, Refused::NotBearer(challenge())));
        };
        let Some(token) = BearerToken::parse(text).ok().map(|token| token.digest()) else {
            return Err(self.failed(peer, Refused::BadToken(challenge())));
        };
        match self.look(token).await {
            Ok((holder, reach)) => {
                peer.standing.keep();
                Ok(Admitted { principal: Principal::holder(holder, reach), holder, token })
            }
            Err(NotGood::Unknown) => Err(self.failed(peer, Refused::BadToken(challenge()))),
            Err(NotGood::NothingHere) => Err(Refused::TooLittleScope(challenge())),
            Err(NotGood::Store(error)) => {
                tracing::error!(%error, "a token could not be looked up");
                Err(Refused::Store)
            }
        }
    }

    /// Whether who was let in would be let in now.
    pub(crate) async fn is_still(&self, admitted: &Admitted) -> bool {
        let look = self.look(admitted.token).await;
        look.is_ok_and(|(holder, reach)| Principal::holder(holder, reach) == admitted.principal)
    }

    async fn look(&self, token: Digest) -> Result<(PrincipalId, Reach), NotGood> {
        let now = self.now().await?;
        // One row by its index, in a store whose readers wait for no writer: less work than to hand it to another thread.
        let row = self.bearer.desk.token(self.bearer.member, token).map_err(NotGood::Store)?;
        let row = row.filter(|row| row.state(now) == TokenState::Good).ok_or(NotGood::Unknown)?;
        let reach = self.bearer.reach.clone().and(&Reach::from(&row.scope));
        if reach.is_nothing() { Err(NotGood::NothingHere) } else { Ok((row.id, reach)) }
    }

    /// The high-water time: asked for when the clock shows another second than the last time, for that may be written down.
    async fn now(&self) -> Result<UnixTime, NotGood> {
        let wall = self.bearer.clock.now();
        let last = *held(&self.last);
        if let Some((_, latest)) = last.filter(|(second, _latest)| *second == wall) {
            return Ok(latest);
        }
        let desk = Arc::clone(&self.bearer.desk);
        let latest = match tokio::task::spawn_blocking(move || desk.high_water(wall)).await {
            Ok(latest) => latest.map_err(NotGood::Store)?,
            Err(_panicked_or_stopped) => return Err(NotGood::Unknown),
        };
        *held(&self.last) = Some((wall, latest));
        Ok(latest)
    }

    fn failed(&self, peer: &Peer, refused: Refused) -> Refused {
        let now = self.bearer.timer.now();
        let passed = held(&self.failures).pass(network(peer.address), now);
        match passed {
            Ok(()) => refused,
            Err(wait) => Refused::TooManyFailures(wait),
        }
    }
}

/// Each change is one step, so what a thread left behind when it panicked is whole.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What stands behind `Bearer`.
fn credentials(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ').unwrap_or((header, ""));
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_start_matches(' '))
}

/// One customer of a provider has a whole /64 of IPv6 addresses.
pub(crate) fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
        v4 @ IpAddr::V4(_) => v4,
    }
}

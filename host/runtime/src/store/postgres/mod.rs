//! The store in one PostgreSQL database, for several hosts together.
//!
//! INVARIANT: each change is one transaction (READ COMMITTED), committed before the call returns. What decides it cannot
//! change under it: a use is one `INSERT … ON CONFLICT DO UPDATE … WHERE`, which locks the row and looks at its latest
//! version; an approval is taken under the lock of its row; whatever else concerns a member runs under an advisory lock of
//! hers that ends with the transaction, so that her connections, grants, questions and tokens change one after another, and
//! every statement after the lock sees all that was committed before it. Unique indexes stand behind. SERIALIZABLE would
//! give the same and make callers that meet at one grant fail and try again; here they wait. Locks are taken in one order
//! (member, then rows), so that nobody waits in a ring; one that does is tried again a few times.
//!
//! A connection that broke before its commit was asked for has changed nothing: the change is made anew on another, once. A
//! commit that nobody has confirmed is [`ServerError::Uncertain`], and nothing may be sent. Commits wait for the disk
//! (`synchronous_commit`, at least `on` or `local`), but for the latest time. What is deleted stays in the server's files until they are
//! vacuumed. DESIGN, "Doors": State.

mod address;
mod broken;
mod connections;
mod fault;
mod grants;
mod kept;
mod locks;
mod pool;
mod questions;
mod receipts;
mod renewals;
mod schema;
mod spine;
mod tls;
mod tokens;
mod wait;

use std::fmt;
use std::time::Duration;

pub use address::{AddressError, PostgresAddress};
pub use fault::ServerError;
use pinhole_grant::{CredentialId, KeyId, PrincipalId};
use sha2::{Digest as _, Sha256};

use self::broken::{Broken, Kind, Place, kind};
use self::pool::{Pool, Session};
use self::wait::Driver;
use super::{Forgetting, QuestionId, Removal, StoreError, Table, Unreadable};

/// How long other changes are waited for, and for a connection where all are in use.
const LOCK_WAIT: Duration = Duration::from_secs(10);
/// How long a call waits for the server, each time it tries.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often a change is tried that met others.
const TRIES: u32 = 5;

/// A durable change waits for the disk; the other is the latest time.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
const BEGIN_LIGHT: &str =
    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL synchronous_commit TO off";

/// The state of several hosts, in one database.
pub struct PostgresStore {
    address: PostgresAddress,
    place: Place,
    driver: Driver,
    pool: Pool,
    locks: locks::Holders,
    forgetting: Forgetting,
}

/// Why an attempt came to nothing.
enum Attempt<E> {
    /// The connection was dead: nothing was changed, and another may do it.
    Dead(tokio_postgres::Error),
    /// It met others and was rolled back.
    Met(tokio_postgres::Error),
    Over(E),
}

impl PostgresStore {
    /// Opens the database, and makes its tables where they are missing. Waits ten seconds for locks, thirty for the server.
    pub fn open(address: &PostgresAddress) -> Result<Self, StoreError> {
        let place = Place { shown: address.to_string().into(), waits: LOCK_WAIT };
        let driver = Driver::start().map_err(|source| StoreError::Failed {
            doing: "start the thread of its database",
            source: source.into(),
        })?;
        let pool = Pool::default();
        let store = Self {
            address: address.clone(),
            place,
            driver,
            pool,
            locks: locks::Holders::default(),
            forgetting: Forgetting::default(),
        };
        store.migrate(&schema::STEPS)?;
        Ok(store)
    }

    /// The database, without what is private in its URL.
    pub fn address(&self) -> &PostgresAddress {
        &self.address
    }

    /// The version of its format.
    pub fn format(&self) -> Result<i64, StoreError> {
        self.with_session(async |session| {
            Ok(schema::version(&session.client, &self.place).await?.unwrap_or_default())
        })
    }

    fn migrate(&self, steps: &[&str]) -> Result<(), StoreError> {
        self.with_session(async |session| schema::migrate(&session.client, &self.place, steps).await)
    }

    /// Uses a new connection for something that is no row.
    fn with_session<T>(
        &self,
        work: impl AsyncFnOnce(&Session) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut turn = self.pool.turn(&self.place)?;
        drop(turn.take());
        let all = async {
            let session = Session::open(&self.address, &self.driver, &self.place).await?;
            let done = work(&session).await?;
            Ok((session, done))
        };
        let (session, done) = self.driver.wait(PATIENCE, all).unwrap_or_else(|| Err(self.place.silent()))?;
        turn.give_back(session);
        Ok(done)
    }

    /// A change that is durable when this returns; or nothing has changed, or the error says that this is not known.
    fn write<T, E: From<StoreError>>(
        &self,
        doing: &'static str,
        work: impl AsyncFn(&Session) -> Result<T, Broken<E>>,
    ) -> Result<T, E> {
        self.change(BEGIN, doing, work)
    }

    /// A change that a crash of the server may undo. Others see it at once.
    fn write_light<T, E: From<StoreError>>(
        &self,
        doing: &'static str,
        work: impl AsyncFn(&Session) -> Result<T, Broken<E>>,
    ) -> Result<T, E> {
        self.change(BEGIN_LIGHT, doing, work)
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers write the work where they ask for it")]
    fn change<T, E: From<StoreError>>(
        &self,
        begin: &str,
        doing: &'static str,
        work: impl AsyncFn(&Session) -> Result<T, Broken<E>>,
    ) -> Result<T, E> {
        let silent = |place: &Place| place.uncertain(doing, None);
        self.until_done(doing, silent, async |session| {
            let started = session.client.batch_execute(begin).await;
            started.map_err(|error| self.given_up(Broken::Sql(error), doing))?;
            let done = match work(session).await {
                Ok(done) => done,
                Err(broken) => {
                    let given_up = self.given_up(broken, doing);
                    if session.client.batch_execute("ROLLBACK").await.is_err() {
                        session.spoil();
                    }
                    return Err(given_up);
                }
            };
            match session.client.batch_execute("COMMIT").await {
                Ok(()) => Ok(done),
                Err(error) => match (kind(&error), error.as_db_error()) {
                    (Kind::Met, _) => Err(Attempt::Met(error)),
                    // The server has said that it did not.
                    (Kind::Lasting, Some(_)) => Err(Attempt::Over(self.place.fault(doing, error).into())),
                    _ => Err(Attempt::Over(self.place.uncertain(doing, Some(error)).into())),
                },
            }
        })
    }

    /// One or more statements that change nothing.
    #[expect(clippy::needless_pass_by_value, reason = "callers write the work where they ask for it")]
    fn read<T, E: From<StoreError>>(
        &self,
        doing: &'static str,
        work: impl AsyncFn(&Session) -> Result<T, Broken<E>>,
    ) -> Result<T, E> {
        self.until_done(doing, Place::silent, async |session| {
            work(session).await.map_err(|broken| self.given_up(broken, doing))
        })
    }

    fn given_up<E: From<StoreError>>(&self, broken: Broken<E>, doing: &'static str) -> Attempt<E> {
        match broken {
            Broken::Sql(error) => match kind(&error) {
                Kind::Lost => Attempt::Dead(error),
                Kind::Met => Attempt::Met(error),
                Kind::Lasting => Attempt::Over(self.place.fault(doing, error).into()),
            },
            other => Attempt::Over(other.into_error(&self.place, doing)),
        }
    }

    /// Tries on one connection, once more on a new one where the first was dead, and a few times where others were met.
    #[expect(clippy::needless_pass_by_value, reason = "callers write the work where they ask for it")]
    fn until_done<T, E: From<StoreError>>(
        &self,
        doing: &'static str,
        silent: impl Fn(&Place) -> StoreError,
        attempt: impl AsyncFn(&Session) -> Result<T, Attempt<E>>,
    ) -> Result<T, E> {
        let (mut dead, mut met) = (0_u32, 0_u32);
        loop {
            let mut turn = self.pool.turn(&self.place)?;
            let kept = turn.take();
            let all = async {
                let session = match kept {
                    Some(session) => session,
                    None => Session::open(&self.address, &self.driver, &self.place).await?,
                };
                let done = attempt(&session).await;
                Ok::<_, StoreError>((session, done))
            };
            let (session, done) =
                self.driver.wait(PATIENCE, all).unwrap_or_else(|| Err(silent(&self.place)))?;
            if session.is_whole() && !matches!(done, Err(Attempt::Dead(_))) {
                turn.give_back(session);
            }
            drop(turn);
            match done {
                Ok(done) => return Ok(done),
                Err(Attempt::Dead(_)) if dead == 0 => {
                    dead = dead.saturating_add(1);
                    self.pool.forget_idle();
                }
                Err(Attempt::Met(_)) if met < TRIES => met = met.saturating_add(1),
                Err(Attempt::Dead(error) | Attempt::Met(error)) => {
                    return Err(self.place.fault(doing, error).into());
                }
                Err(Attempt::Over(error)) => return Err(error),
            }
        }
    }
}

impl Unreadable for PostgresStore {
    fn forget_unreadable(&self, table: Table, member: KeyId, id: &str) -> Result<Removal, StoreError> {
        let forget = match table {
            Table::Connections if CredentialId::parse(id).is_err() => {
                "DELETE FROM connections WHERE id = $1 AND member = $2"
            }
            Table::Questions if id.parse::<QuestionId>().is_err() => {
                "DELETE FROM questions WHERE id = $1 AND member = $2"
            }
            Table::Tokens if PrincipalId::parse(id).is_err() => {
                "DELETE FROM tokens WHERE id = $1 AND member = $2"
            }
            _ => return Ok(Removal::Absent),
        };
        self.write("forget a row", async |session| {
            alone(session, &[member]).await?;
            if table == Table::Connections {
                session.execute("DELETE FROM grants WHERE connection = $1", &[&id]).await?;
            }
            let gone = session.execute(forget, &[&id, &member.to_string()]).await?;
            Ok(if gone == 0 { Removal::Absent } else { Removal::Removed })
        })
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresStore({})", self.address)
    }
}

/// Whoever changes what is these members' comes one after another, until the transaction ends.
async fn alone(session: &Session, members: &[KeyId]) -> Result<(), tokio_postgres::Error> {
    let mut keys: Vec<i32> = members.iter().map(|member| lock_key(&member.to_string())).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        // The first key is `PINH`. Two members of one second key wait for each other, and that is all.
        session.execute("SELECT pg_advisory_xact_lock(1346981448, $1)", &[&key]).await?;
    }
    Ok(())
}

fn lock_key(member: &str) -> i32 {
    let digest = Sha256::digest(member);
    digest.first_chunk().map_or(1, |first| i32::from_be_bytes(*first))
}

#[cfg(test)]
mod tests;

//! The tables, and how an older database becomes a current one.
//!
//! INVARIANT: a step that was ever part of a release is never changed; what it made is changed by a further step. All steps
//! that are missing are taken in one transaction, or none is. Tables are in a schema of their own, `pinhole`; one of that
//! name that others have made is left alone.

use tokio_postgres::Client;

use super::broken::{Broken, Place};
use super::fault::ServerError;
use crate::store::StoreError;

/// The steps, from an empty database on. The table `schema` says how many were taken.
pub(super) const STEPS: [&str; 1] = [include_str!("schema/1.sql")];

/// Both keys of the lock under which steps are taken: `PINH`, and no member's.
const STEPPING: &str = "SELECT pg_advisory_xact_lock(1346981448, 0)";

/// The version that all steps lead to.
pub(super) fn latest(steps: &[&str]) -> i64 {
    i64::try_from(steps.len()).unwrap_or(i64::MAX)
}

/// How many steps were taken; `None` where the schema is not there.
pub(super) async fn version(client: &Client, place: &Place) -> Result<Option<i64>, StoreError> {
    let failed = |error| place.fault("read the version of its format", error);
    // By the tables themselves: what `to_regclass` says may be older than a lock that was just waited for.
    let there = "
        SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'pinhole'),
               EXISTS (SELECT FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
                       WHERE n.nspname = 'pinhole' AND relname = 'schema')";
    let row = client.query_one(there, &[]).await.map_err(failed)?;
    match (row.try_get(0).map_err(failed)?, row.try_get(1).map_err(failed)?) {
        (false, _) => Ok(None),
        (true, false) => Err(foreign(place)),
        (true, true) => {
            let row = client.query_opt("SELECT version FROM pinhole.schema", &[]).await.map_err(failed)?;
            let Some(row) = row else { return Err(foreign(place)) };
            Ok(Some(row.try_get(0).map_err(failed)?))
        }
    }
}

/// Takes the steps that are missing. Another process may be doing the same: who comes second finds nothing to do.
pub(super) async fn migrate(client: &Client, place: &Place, steps: &[&str]) -> Result<(), StoreError> {
    let known = latest(steps);
    let is_current = |found: Option<i64>| match found {
        Some(found) if found > known => {
            Err(StoreError::Server(ServerError::Newer { place: place.shown(), found, known }))
        }
        found => Ok::<_, StoreError>(found == Some(known)),
    };
    if is_current(version(client, place).await?)? {
        return Ok(());
    }
    let failed = |error| place.fault("bring its tables up to date", error);
    client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED").await.map_err(failed)?;
    let all = async {
        client.batch_execute(STEPPING).await?;
        let found = version(client, place).await.map_err(Broken::Refused)?;
        if is_current(found).map_err(Broken::Refused)? {
            return Ok(());
        }
        if found.is_none() {
            client.batch_execute("CREATE SCHEMA pinhole").await?;
        }
        let taken = usize::try_from(found.unwrap_or(0)).unwrap_or(usize::MAX);
        for step in steps.iter().skip(taken) {
            client.batch_execute(step).await?;
        }
        client.execute("UPDATE pinhole.schema SET version = $1", &[&known]).await?;
        Ok::<_, Broken<StoreError>>(())
    };
    let done = all.await;
    let end = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = client.batch_execute(end).await;
    done.map_err(|broken| broken.into_error(place, "bring its tables up to date"))?;
    ended.map_err(failed)
}

fn foreign(place: &Place) -> StoreError {
    StoreError::Server(ServerError::Foreign { place: place.shown() })
}

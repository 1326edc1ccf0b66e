//! The PostgreSQL store on a server of the tests' own: the suite that every store passes, and what is true of a server.

mod address;
#[path = "../../../../../../tests/src/postgres.rs"]
#[expect(unreachable_pub, reason = "the harness of all tests: not every test uses all of it")]
mod harness;
mod secrets;
mod server;
mod suite;
mod tls;

use harness::Postgres;

use super::{PostgresAddress, PostgresStore};

/// A database of the test's own on the server of all.
struct Database {
    server: &'static Postgres,
    url: String,
}

impl Database {
    /// `None` where PostgreSQL is not installed.
    fn new(test: &str) -> Option<Self> {
        let server = Postgres::shared(test)?;
        Some(Self { server, url: server.database() })
    }

    fn store(&self) -> PostgresStore {
        PostgresStore::open(&PostgresAddress::parse(&self.url).unwrap()).unwrap()
    }

    /// Its name.
    fn name(&self) -> &str {
        self.url.rsplit_once('/').map(|_| self.url.split(['/', '?']).nth(3).unwrap()).unwrap()
    }
}

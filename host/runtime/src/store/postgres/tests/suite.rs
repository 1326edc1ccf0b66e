//! The suite that every store passes, on a server.

use std::sync::Arc;

use super::Database;
use crate::store::Desk;
use crate::store::tests::{Bench, every_check};

impl Bench for Database {
    fn store(&self) -> Arc<dyn Desk> {
        Arc::new(Self::store(self))
    }

    fn empty(&self) -> Arc<dyn Desk> {
        let store = Self::store(self);
        let tables = "uses, revoked, clock, connections, ended, grants, questions, tokens, kept, receipts, begun, checkpoints, lines, pairs, returned";
        assert!(self.change(&format!("TRUNCATE {tables}")));
        Arc::new(store)
    }

    fn place(&self) -> String {
        self.url.clone()
    }

    fn change(&self, sql: &str) -> bool {
        self.store()
            .with_session(async |session| Ok(session.client.batch_execute(sql).await.is_ok()))
            .unwrap()
    }

    fn value(&self, select: &str) -> Option<String> {
        let found =
            self.server.sql(self.name(), &format!("SET search_path TO pinhole; SELECT ({select})::text"));
        Some(found.trim_end().to_owned()).filter(|found| !found.is_empty())
    }

    fn check(&self) {}
}

every_check!(Database::new);

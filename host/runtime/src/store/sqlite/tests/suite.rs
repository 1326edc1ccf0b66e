//! The suite that every store passes, on a file.

use std::sync::Arc;

use super::Disk;
use crate::store::tests::{Bench, every_check};
use crate::store::{Desk, SqliteStore};

impl Bench for Disk {
    fn store(&self) -> Arc<dyn Desk> {
        Arc::new(Self::store(self))
    }

    fn empty(&self) -> Arc<dyn Desk> {
        Arc::new(SqliteStore::in_memory().unwrap())
    }

    fn place(&self) -> String {
        self.path().display().to_string()
    }

    fn change(&self, sql: &str) -> bool {
        drop(Self::store(self));
        self.raw().execute_batch(sql).is_ok()
    }

    fn value(&self, select: &str) -> Option<String> {
        let select = format!("SELECT CAST(({select}) AS TEXT)");
        self.raw().query_row(&select, [], |row| row.get(0)).unwrap()
    }

    fn check(&self) {
        Self::store(self).check().unwrap();
    }
}

every_check!(|_test| Some(Disk::new()));

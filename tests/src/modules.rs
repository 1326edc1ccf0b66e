//! A stage whose ops are computed by a module.

use std::collections::BTreeMap;
use std::sync::Arc;

use pinhole_runtime::catalog::{Catalog, ModuleFiles};
use pinhole_standin::{Config, Route, World};
use serde_json::Value;

use crate::stage::{Setup, add_with};

impl Setup {
    /// This manifest from a local file, its one module file, and these replies.
    pub fn module(manifest: &Value, file: (&str, Vec<u8>), routes: Vec<Route>) -> Self {
        let (name, bytes) = file;
        let files = ModuleFiles::Held(Arc::new(BTreeMap::from([(name.to_owned(), bytes)])));
        let mut catalog = Catalog::default();
        let host = add_with(&mut catalog, manifest, files);
        let setup = Self::new(World::Fixed(routes), catalog);
        Self { standin: Config { host, ..setup.standin }, ..setup }
    }
}

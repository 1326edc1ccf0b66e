//! A module's folder: its language, its op, and where the op stands.
//!
//! The op stands in `op.json` of the folder, as it will stand in a manifest; or, for a module in the folder of its service
//! (`SERVICE/modules/OP`), in the service's own manifest.

use std::path::{Path, PathBuf};

use pinhole_manifest::{Digest, OpId, ServiceId};
use pinhole_runtime::catalog::{BuiltIn, ModuleFiles};
use serde_json::{Map, Value};

use super::args::Language;
use super::loads;
use crate::end::{End, Failure};
use crate::files;

/// A module's folder.
#[derive(Debug)]
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    pub(crate) language: Language,
    pub(crate) op: OpId,
    /// The file in which the op stands.
    pub(crate) spec: PathBuf,
    place: Place,
}

/// Where an op stands.
#[derive(Debug)]
enum Place {
    /// In `op.json`, for this service.
    Alone { service: ServiceId, op: Value },
    /// In the manifest of the folder that the module is in.
    InManifest { folder: PathBuf, manifest: Value },
}

fn invalid(message: String, hint: &str) -> anyhow::Error {
    Failure::new(End::Invalid, message, hint).into()
}

impl Project {
    pub(crate) fn find(root: &Path) -> anyhow::Result<Self> {
        let root = root.canonicalize().map_err(|error| {
            let message = format!("`{}` is no folder of a module: {error}", root.display());
            Failure::new(End::Usage, message, "`pinhole module new` makes one")
        })?;
        let alone = root.join("op.json");
        if alone.is_file() {
            let (service, op, value) = alone_in(&alone)?;
            let language = language(&root, &op)?;
            let place = Place::Alone { service, op: value };
            return Self { root, language, op, spec: alone, place }.sound();
        }
        let Some((folder, spec, op)) = in_manifest(&root) else {
            let message = format!("`{}` has no `op.json`", root.display());
            let hint = "write the op there (`pinhole module new` does), or keep the module in `modules/<op>` of its service";
            return Err(Failure::new(End::Usage, message, hint).into());
        };
        let manifest: Value = document(&spec)?;
        if manifest.pointer(&format!("/ops/{op}/module")).is_none() {
            let message = format!("`{}` has no op `{op}` with a module", spec.display());
            return Err(invalid(message, "name the module's folder as its op, and declare the op first"));
        }
        let language = language(&root, &op)?;
        Self { root, language, op, spec, place: Place::InManifest { folder, manifest } }.sound()
    }

    /// Refuses an op whose file and digest are none: a component is written under the one, and over the other.
    fn sound(self) -> anyhow::Result<Self> {
        let file = self.file();
        let name = file.strip_prefix("modules/").and_then(|rest| rest.strip_suffix(".wasm"));
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b);
        if !name.is_some_and(|name| !name.is_empty() && name.bytes().all(plain)) {
            let message = format!("`{}`: `{file}` is not a module's file", self.spec.display());
            return Err(invalid(message, "write `modules/<name>.wasm`, the name in lower case"));
        }
        let digest = self.digest().unwrap_or_default();
        if Digest::parse(&format!("sha256:{digest}")).is_err() {
            let message = format!("`{}`: the module's `sha256` is no digest", self.spec.display());
            return Err(invalid(
                message,
                "write 64 hexadecimal digits; zeros will do, `pinhole module build` writes the right ones",
            ));
        }
        Ok(self)
    }

    /// Where its component is.
    pub(crate) fn component(&self) -> PathBuf {
        match &self.place {
            Place::Alone { .. } => self.root.join(format!("{}.wasm", self.op)),
            Place::InManifest { folder, .. } => folder.join(self.file()),
        }
    }

    /// Where its cases are.
    pub(crate) fn cases(&self) -> PathBuf {
        match &self.place {
            Place::Alone { .. } => self.root.join("cases"),
            Place::InManifest { folder, .. } => folder.join("cases"),
        }
    }

    fn value(&self) -> Option<&Value> {
        match &self.place {
            Place::Alone { op, .. } => Some(op),
            Place::InManifest { manifest, .. } => manifest.pointer(&format!("/ops/{}", self.op)),
        }
    }

    fn member(&self, name: &str) -> Option<&str> {
        self.value()?.get("module")?.get(name)?.as_str()
    }

    /// The name that the op has for the module's file.
    pub(crate) fn file(&self) -> String {
        self.member("file").map_or_else(|| format!("modules/{}.wasm", self.op), str::to_owned)
    }

    /// The requests that the op declares.
    pub(crate) fn requests(&self) -> &[Value] {
        let lines = self.value().and_then(|op| op.pointer("/module/requests"));
        lines.and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The digest that the op names, as text.
    pub(crate) fn digest(&self) -> Option<&str> {
        self.member("sha256")
    }

    /// The whole manifest with this op and this component in it, and the component under its name.
    pub(crate) fn manifest(
        &self,
        component: Vec<u8>,
        base: Option<&Path>,
    ) -> anyhow::Result<(Vec<u8>, ModuleFiles)> {
        let mut manifest = match &self.place {
            Place::InManifest { manifest, .. } => manifest.clone(),
            Place::Alone { service, .. } => base_of(service, base)?,
        };
        let mut op = self.value().cloned().unwrap_or_default();
        if let Some(module) = op.get_mut("module").and_then(Value::as_object_mut) {
            module.insert("sha256".to_owned(), Digest::of(&component).hex().into());
        }
        if let Some(ops) = manifest.get_mut("ops").and_then(Value::as_object_mut) {
            ops.insert(self.op.to_string(), op);
        }
        let files = ModuleFiles::Held(
            [(self.file(), component)].into_iter().collect::<std::collections::BTreeMap<_, _>>().into(),
        );
        Ok((serde_json::to_vec_pretty(&manifest)?, files))
    }

    /// Puts a new digest in the place of the op's, and leaves everything else in the file as it is. Whether there was
    /// anything to put.
    pub(crate) fn record(&self, digest: Digest) -> anyhow::Result<bool> {
        let (Some(old), new) = (self.digest(), digest.hex()) else {
            let message = format!("`{}`: the op has no `module` with a `sha256`", self.spec.display());
            return Err(invalid(message, "write the op as `pinhole module new` does"));
        };
        if old == new {
            return Ok(false);
        }
        let text = files::read_text(&self.spec)?;
        files::replace(&self.spec, text.replace(old, &new).as_bytes())?;
        Ok(true)
    }
}

/// The manifest of a service that a module is for: of that file, or of the binary.
pub(crate) fn base_of(service: &ServiceId, base: Option<&Path>) -> anyhow::Result<Value> {
    if let Some(path) = base {
        let bytes = files::read(path)?;
        loads(&bytes, path)?;
        return Ok(serde_json::from_slice(&bytes)?);
    }
    let built_in = BuiltIn::of(service.as_str()).ok_or_else(|| {
        let message = format!("no manifest of `{service}` is part of the binary");
        Failure::new(End::Usage, message, "pass the service's with `--manifest FILE`")
    })?;
    Ok(serde_json::from_slice(built_in.manifest)?)
}

fn document(path: &Path) -> anyhow::Result<Value> {
    serde_json::from_slice(&files::read(path)?)
        .map_err(|error| invalid(format!("`{}` is not JSON: {error}", path.display()), "mend the file"))
}

fn alone_in(path: &Path) -> anyhow::Result<(ServiceId, OpId, Value)> {
    let value = document(path)?;
    let said = || {
        let service = ServiceId::parse(value.get("service")?.as_str()?).ok()?;
        let ops: &Map<String, Value> = value.get("op")?.as_object()?;
        let (name, op) = ops.iter().next().filter(|_| ops.len() == 1)?;
        op.get("module")?.as_object()?;
        Some((service, OpId::parse(name).ok()?, op.clone()))
    };
    said().ok_or_else(|| {
        let message = format!("`{}` does not say which op it is of which service", path.display());
        invalid(message, "write {\"service\": \"github\", \"op\": {\"stale_issues\": {… \"module\": {…} …}}}")
    })
}

/// The service's folder, its manifest and the op, for a folder `SERVICE/modules/OP`.
fn in_manifest(root: &Path) -> Option<(PathBuf, PathBuf, OpId)> {
    let op = OpId::parse(root.file_name()?.to_str()?).ok()?;
    let modules = root.parent().filter(|parent| parent.ends_with("modules"))?;
    let folder = modules.parent()?.to_owned();
    let manifest = folder.join("manifest.json");
    manifest.is_file().then_some((folder, manifest, op))
}

fn language(root: &Path, op: &OpId) -> anyhow::Result<Language> {
    let is = |name: &str| root.join(name).is_file();
    match () {
        () if is("Cargo.toml") => Ok(Language::Rust),
        () if is("package.json") => Ok(Language::JavaScript),
        () if is(&format!("{op}.py")) => Ok(Language::Python),
        () => {
            let message = format!("`{}` has no source of a module", root.display());
            let hint = "a module has a `Cargo.toml`, a `package.json`, or `<op>.py`";
            Err(Failure::new(End::Usage, message, hint).into())
        }
    }
}

/// The text at a place of a document (RFC 6901).
pub(crate) fn text_at<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer)?.as_str()
}

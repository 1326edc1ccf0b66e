//! What is in the cache is taken only when it is the cache's own, for this engine and this module; whatever else is in its
//! place, the module runs, and the file is mended.

mod folders;
mod processes;
mod sealed;

use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pinhole_manifest::Digest;
use tempfile::TempDir;
use wasmtime::Engine;
use wasmtime::component::Component;

use super::key::Key;
use super::sealed::Purpose;
use super::{Cache, above, key_file};
use crate::entropy::SystemEntropy;
use crate::sandbox::fault::Misfit;
use crate::sandbox::{Fault, Job, Sandbox, SandboxSettings, Step};

const PROBE: &[u8] = include_bytes!("../../../../../tests/guests/built/probe.wasm");
/// A component without anything in it, and with an import `x` (the component model's binary format).
const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";
const IMPORTS_X: &[u8] = b"\0asm\x0d\0\x01\0\x07\x05\x01\x40\0\x01\0\x0a\x06\x01\0\x01x\x01\0";

/// A place for a cache, whose folder is not made yet.
struct Disk(TempDir);

impl Disk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("cache/modules")
    }

    fn key(&self) -> PathBuf {
        key_file(&self.folder())
    }

    /// A cache of its own, as another process has it.
    fn cache(&self) -> Cache {
        self.bounded(1 << 30)
    }

    fn bounded(&self, most: u64) -> Cache {
        Cache::new(self.folder(), most, Box::new(SystemEntropy))
    }

    fn sandbox(&self) -> Sandbox {
        Sandbox::default().with_cache(self.folder(), SystemEntropy)
    }

    /// The file that a module has in it for this engine.
    fn file(&self, engine: &Engine, module: &[u8]) -> PathBuf {
        self.folder().join(Purpose::new(engine, Digest::of(module)).name())
    }

    /// The names of what is in its folder.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Runs the probe, whose result is always the same. How many modules were compiled for it.
async fn run(sandbox: &Sandbox) -> u64 {
    let load = || Ok::<_, Infallible>(PROBE.to_vec());
    let program = sandbox.program(Digest::of(PROBE), load).await.unwrap();
    let job = Job {
        op: "logs".to_owned(),
        args: "{}".to_owned(),
        now: 7,
        time: Duration::from_secs(20),
        result_bytes: 1 << 20,
        random: None,
    };
    let mut run = sandbox.start(&program, job);
    assert!(matches!(run.next().await, Ok(Step::Says("info", _))));
    assert!(matches!(run.next().await, Ok(Step::Done(text)) if text == r#"{"now":7}"#));
    sandbox.compiled()
}

/// Keeps a component under a digest, with an engine that the sandboxes' own would take code of.
fn keep(cache: &Cache, engine: &Engine, module: &[u8], component: &[u8]) {
    cache.keep(engine, Digest::of(module), &Component::from_binary(engine, component).unwrap());
}

fn finds(cache: &Cache, engine: &Engine, module: &[u8]) -> bool {
    cache.find(engine, Digest::of(module)).is_some()
}

/// The engine of a sandbox.
fn engine(sandbox: &Sandbox) -> &Engine {
    sandbox.inner.engine().unwrap().engine()
}

#[tokio::test]
async fn what_one_process_has_compiled_the_next_one_takes() {
    let disk = Disk::new();
    assert_eq!(run(&disk.sandbox()).await, 1);
    let next = disk.sandbox();
    assert_eq!(run(&next).await, 0);
    assert_eq!(run(&next).await, 0);
    // Without the folder nothing is taken and nothing kept.
    assert_eq!(run(&Sandbox::default()).await, 1);
    assert_eq!(disk.names().len(), 1);
}

type Broken = (&'static str, fn(&Path, &[u8]));

/// What may have become of a file that was right.
const BROKEN: [Broken; 14] = [
    ("the format", |path, bytes| flipped(path, bytes, 7)),
    ("the engine", |path, bytes| flipped(path, bytes, 8)),
    ("the module", |path, bytes| flipped(path, bytes, 40)),
    ("the length", |path, bytes| flipped(path, bytes, 72)),
    ("the MAC", |path, bytes| flipped(path, bytes, 80)),
    ("the first byte of the code", |path, bytes| flipped(path, bytes, 112)),
    ("the last byte of the code", |path, bytes| flipped(path, bytes, bytes.len() - 1)),
    ("nothing left", |path, _| fs::write(path, "").unwrap()),
    ("cut off in the header", |path, bytes| fs::write(path, &bytes[..50]).unwrap()),
    ("cut off before the code", |path, bytes| fs::write(path, &bytes[..112]).unwrap()),
    ("cut off in the code", |path, bytes| fs::write(path, &bytes[..bytes.len() - 1]).unwrap()),
    ("a byte too many", |path, bytes| fs::write(path, [bytes, b"x"].concat()).unwrap()),
    #[cfg(unix)]
    ("a link to the right bytes", |path, _| {
        let elsewhere = path.with_extension("elsewhere");
        fs::rename(path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(elsewhere, path).unwrap();
    }),
    #[cfg(unix)]
    ("a file that others could write", |path, _| mode(path, 0o666)),
];

fn flipped(path: &Path, bytes: &[u8], at: usize) {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[cfg(unix)]
fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn a_file_that_is_not_as_it_was_written_is_compiled_anew_and_mended() {
    let disk = Disk::new();
    let first = disk.sandbox();
    run(&first).await;
    let path = disk.file(engine(&first), PROBE);
    let right = fs::read(&path).unwrap();
    for (what, make) in BROKEN {
        make(&path, &right);
        assert_eq!(run(&disk.sandbox()).await, 1, "{what}");
        assert_eq!(fs::read(&path).unwrap(), right, "{what}");
        assert!(!path.is_symlink());
        assert_eq!(run(&disk.sandbox()).await, 0, "{what}");
    }
}

/// What can be no file of ours is not waited for, and may stay.
#[cfg(unix)]
#[tokio::test]
async fn what_cannot_be_read_is_compiled() {
    let disk = Disk::new();
    let first = disk.sandbox();
    run(&first).await;
    let path = disk.file(engine(&first), PROBE);
    mode(&path, 0);
    assert_eq!(run(&disk.sandbox()).await, 1, "nobody may read it");
    assert_eq!(run(&disk.sandbox()).await, 0, "it was mended");
    fs::remove_file(&path).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, 0o600.into()).unwrap();
    assert_eq!(run(&disk.sandbox()).await, 1, "nobody writes into the pipe");
    assert_eq!(run(&disk.sandbox()).await, 0, "it was mended");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(run(&disk.sandbox()).await, 1, "a folder");
    assert_eq!(disk.names().len(), 1, "the draft is gone");
}

/// The digest of the module's own bytes comes before the cache.
#[tokio::test]
async fn a_module_that_was_changed_is_refused_though_the_right_one_is_kept() {
    let disk = Disk::new();
    run(&disk.sandbox()).await;
    let changed = || Ok::<_, Infallible>(EMPTY.to_vec());
    let refused = disk.sandbox().program(Digest::of(PROBE), changed).await;
    assert_eq!(refused.err(), Some(Fault::OtherDigest));
    let gone = disk.sandbox().program(Digest::of(PROBE), || Err("gone")).await;
    assert_eq!(gone.err(), Some(Fault::Unreadable("gone".to_owned())));
}

/// Whatever is in the cache and however it came there, it is linked like what was compiled now.
#[tokio::test]
async fn what_comes_out_of_the_cache_imports_nothing_else_either() {
    let (disk, sandbox) = (Disk::new(), Sandbox::default());
    keep(&disk.cache(), engine(&sandbox), PROBE, IMPORTS_X);
    let sandbox = disk.sandbox();
    let refused = sandbox.program(Digest::of(PROBE), || Ok::<_, Infallible>(PROBE.to_vec())).await;
    assert_eq!(refused.err(), Some(Fault::Misfit(Misfit::Imports(vec!["x".to_owned()]))));
    assert_eq!(sandbox.compiled(), 0);
}

/// What is kept was compiled for a host with room for it.
#[tokio::test]
async fn a_kept_module_that_no_longer_fits_the_settings_is_refused_like_any_other() {
    let disk = Disk::new();
    run(&disk.sandbox()).await;
    let narrow = SandboxSettings { table_elements: 1, ..SandboxSettings::default() };
    for sandbox in [Sandbox::new(narrow), Sandbox::new(narrow).with_cache(disk.folder(), SystemEntropy)] {
        let refused = sandbox.program(Digest::of(PROBE), || Ok::<_, Infallible>(PROBE.to_vec())).await;
        assert_eq!(refused.err(), Some(Fault::Misfit(Misfit::Parts)));
    }
    assert_eq!(run(&disk.sandbox()).await, 0);
}

/// What does not run here is compiled to be looked at, and then forgotten.
#[tokio::test]
async fn what_is_refused_is_not_kept() {
    let disk = Disk::new();
    for refused in [EMPTY, IMPORTS_X] {
        let load = || Ok::<_, Infallible>(refused.to_vec());
        assert!(matches!(disk.sandbox().program(Digest::of(refused), load).await, Err(Fault::Misfit(_))));
    }
    assert_eq!(disk.names(), [""; 0]);
}

#[tokio::test]
async fn nothing_is_made_before_a_module_is_called_nor_where_nothing_is_to_be_kept() {
    let disk = Disk::new();
    drop(disk.sandbox());
    let none = SandboxSettings { cache_bytes: 0, ..SandboxSettings::default() };
    assert_eq!(run(&Sandbox::new(none).with_cache(disk.folder(), SystemEntropy)).await, 1);
    assert_eq!(fs::read_dir(disk.0.path()).unwrap().count(), 0);
}

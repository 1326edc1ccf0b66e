//! `pinhole module new|build|check|run`: what a developer of an op module does.

mod args;
mod build;
mod check;
mod new;
mod project;
mod record;
mod run;
mod sdk;
mod source;

use std::path::Path;

use pinhole_manifest::visible::visible;

pub(crate) use args::ModuleCommand;

use crate::config::Config;
use crate::end::{End, Failure};
use crate::{files, out};

pub(crate) async fn main(command: ModuleCommand, config: &Config) -> anyhow::Result<End> {
    match command {
        ModuleCommand::New(flags) => new::main(&flags),
        ModuleCommand::Build(flags) => build::main(&flags),
        ModuleCommand::Check(flags) => check::main(&flags),
        ModuleCommand::Run(flags) => run::main(&flags, config).await,
    }
}

/// Reads the component of a module.
fn component(path: &Path) -> anyhow::Result<Vec<u8>> {
    if !path.is_file() {
        let message = format!("there is no file `{}`", path.display());
        return Err(Failure::new(End::Usage, message, "`pinhole module build` makes it").into());
    }
    files::read_component(path)
}

/// Refuses a manifest that does not load, and says what is wrong with it. The faults are named by their place: the file
/// that they stand in is `spec`, or the manifest that it was put into.
fn loads(manifest: &[u8], spec: &Path) -> anyhow::Result<pinhole_manifest::Manifest> {
    let reading = pinhole_manifest::read(manifest);
    if let Some(manifest) = reading.manifest {
        return Ok(manifest);
    }
    for one in &reading.diagnostics {
        out::note(visible(&format!("{}: {} ({})", one.pointer, one.message, one.help)));
    }
    let message = format!("`{}` makes no manifest that loads", spec.display());
    Err(Failure::new(End::Invalid, message, "mend what stands above").into())
}

/// A size for people.
fn size(bytes: usize) -> String {
    match bytes {
        0..10_240 => format!("{bytes} bytes"),
        10_240..10_485_760 => format!("{} KiB", bytes.div_ceil(1 << 10)),
        _ => format!("{} MiB", bytes.div_ceil(1 << 20)),
    }
}

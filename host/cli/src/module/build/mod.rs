//! `pinhole module build`: from sources to a component, its digest written where the op stands.
//!
//! INVARIANT: what is written is whole, was looked at, and holds no custom section. A build depends on the sources and the
//! toolchain and not on the folder that they are in; where that cannot be promised the output says so.

mod javascript;
mod python;
mod rust;
mod strip;
mod tool;

use std::path::Path;

use pinhole_manifest::Digest;
use pinhole_manifest::visible::visible;
use pinhole_runtime::sandbox;
use serde::Serialize;

use super::args::{BuildFlags, Language};
use super::project::Project;
use super::{size, source};
use crate::end::{End, Failure};
use crate::{files, out};

/// What a toolchain made.
pub(super) struct Made {
    /// A component.
    component: Vec<u8>,
    /// The compiler or packager that made it, with its version.
    toolchain: String,
    /// Whether it makes the same bytes again.
    reproducible: bool,
}

/// What is kept beside the sources of how their component was built, so that somebody else can build it again and
/// compare.
#[derive(Debug, Serialize)]
struct Built {
    sha256: String,
    size: usize,
    toolchain: String,
    reproducible: bool,
    /// The sources that it was built from, as [`source::digest`] has them.
    sources: String,
}

pub(super) fn main(flags: &BuildFlags) -> anyhow::Result<End> {
    let project = Project::find(&flags.project)?;
    let made = match project.language {
        Language::Rust => rust::build(&project)?,
        Language::JavaScript => javascript::build(&project, flags.node_modules.as_deref())?,
        Language::Python => python::build(&project)?,
    };
    let component = strip::strip(&made.component).map_err(|error| {
        let message = format!("what `{}` made is no component: {error}", made.toolchain);
        Failure::new(End::Invalid, message, "look at the versions of the tools")
    })?;
    let looked = sandbox::inspect(&component).map_err(|misfit| super::check::misfit(&misfit))?;
    looked.fits().map_err(|misfit| super::check::misfit(&misfit))?;
    let imports: Vec<&str> = looked.imports.iter().map(|import| import.name.as_str()).collect();
    let digest = Digest::of(&component);
    let built = Built {
        sha256: digest.hex(),
        size: component.len(),
        toolchain: made.toolchain,
        reproducible: made.reproducible,
        sources: source::digest(&project.root)?.hex(),
    };
    let file = flags.out.clone().unwrap_or_else(|| project.component());
    write(&file, &component)?;
    let mut recorded = false;
    if flags.out.is_none() {
        recorded = project.record(digest)?;
        files::replace(&project.root.join("built.json"), pretty(&built)?.as_bytes())?;
    }
    if flags.json {
        out::json(&serde_json::json!({
            "file": file.display().to_string(),
            "op": project.op.as_str(),
            "sha256": built.sha256,
            "size": built.size,
            "imports": imports,
            "toolchain": built.toolchain,
            "reproducible": built.reproducible,
        }))?;
        return Ok(End::Done);
    }
    out::line(format_args!("{}: {}", visible(&file.display().to_string()), size(built.size)));
    out::line(format_args!("  imports    {}", imports.join(", ")));
    out::line(format_args!("  sha256     {}", built.sha256));
    out::line(format_args!("  toolchain  {}", visible(&built.toolchain)));
    if !built.reproducible {
        out::line(format_args!("  not reproducible: {}", unreproducible(project.language)));
    }
    if recorded {
        let spec = project.spec.display().to_string();
        out::line(format_args!("  its digest stands in {} now", visible(&spec)));
    }
    Ok(End::Done)
}

/// Why a build gives other bytes each time, and what to do about it.
fn unreproducible(language: Language) -> &'static str {
    match language {
        Language::Rust => "the sources are not under one folder",
        Language::JavaScript => {
            "the packager puts random seeds into what it makes; with libfaketime (Debian: `faketime`) they are fixed"
        }
        Language::Python => "the packager makes other bytes each time; keep what you have reviewed",
    }
}

fn pretty(built: &Built) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(built)? + "\n")
}

fn write(file: &Path, component: &[u8]) -> anyhow::Result<()> {
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| {
            let message = format!("`{}` could not be made: {error}", folder.display());
            Failure::new(End::Local, message, "look at the path and the disk")
        })?;
    }
    files::replace(file, component)
}

/// The toolchain that is missing, and how to get it.
fn missing(what: &str, hint: &str) -> anyhow::Error {
    Failure::new(End::Local, what.to_owned(), hint).into()
}

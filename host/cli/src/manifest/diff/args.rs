//! The flags of `pinhole manifest diff`.

use std::ffi::OsString;

use clap::{Args, ValueEnum};

pub(crate) const EXAMPLES: &str = "OLD and NEW are each a manifest, a folder with `manifest.json`, a folder of such folders, or what of \
    these a git revision has: `git:REV:PATH`, the path being seen from here, or `git:REV` for the path of the other \
    side. Nothing is fetched, and no program but `git` is run.\n\n\
    Exit status: 1 where anything is not proven to be narrower than before, or a version does not say so (a widening \
    needs a higher minor or major number, any other change a higher version); 4 where a manifest does not load.\n\n\
Examples:
  pinhole manifest diff git:origin/main manifests/github
  pinhole manifest diff git:v1.2.0:manifests git:HEAD:manifests --markdown > comment.md
  pinhole manifest diff old/manifest.json new/manifest.json --json";

#[derive(Debug, Args)]
pub(crate) struct DiffFlags {
    /// What was there before
    pub(super) old: OsString,
    /// What is there now
    pub(super) new: OsString,
    /// Whether what widens ends it with 1; a version that does not say what changed always does
    #[arg(long, value_enum, default_value_t = Widening::Stops)]
    pub(super) widening: Widening,
    /// Print one JSON document
    #[arg(long, group = "shape")]
    json: bool,
    /// Print Markdown for a comment on a pull request
    #[arg(long, group = "shape")]
    markdown: bool,
    /// Print annotations for a pull request (GitHub's workflow commands)
    #[arg(long, group = "shape")]
    annotations: bool,
}

/// What a change that widens does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Widening {
    /// It ends the command with 1
    Stops,
    /// Somebody has read it
    Reviewed,
}

/// How changes are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Text,
    Json,
    Markdown,
    Annotations,
}

impl DiffFlags {
    pub(super) fn shape(&self) -> Shape {
        match (self.json, self.markdown, self.annotations) {
            (true, _, _) => Shape::Json,
            (_, true, _) => Shape::Markdown,
            (_, _, true) => Shape::Annotations,
            _ => Shape::Text,
        }
    }
}

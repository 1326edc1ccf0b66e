//! `pinhole manifest diff OLD NEW`: what a change lets an agent do or see that it could not.
//!
//! Refuses to compare anything while a manifest on either side does not load: what is not understood is never narrower.

mod annotations;
mod args;
mod git;
mod json;
mod markdown;
mod pair;
mod source;
mod text;

use pinhole_manifest::diagnostic::Diagnostic;
use pinhole_manifest::diff::{Comparison, Side};

pub(crate) use args::{DiffFlags, EXAMPLES};

use crate::end::End;
use crate::out;
use args::{Shape, Widening};
use source::{File, Source};

/// Changes as people read them, a line each.
pub(crate) fn lines(comparison: &Comparison) -> Vec<String> {
    comparison.changes().iter().map(|change| text::line(comparison, change)).collect()
}

/// One service on both sides, or on one.
#[derive(Debug)]
struct Compared {
    /// Its id; the new one, where there is one.
    service: String,
    /// Its version and file before.
    old: Option<(String, File)>,
    /// Its version and file now.
    new: Option<(String, File)>,
    comparison: Comparison,
}

/// A file that does not load.
#[derive(Debug)]
struct Unread {
    side: Side,
    file: File,
    diagnostics: Vec<Diagnostic>,
}

/// Everything that is to be said.
#[derive(Debug)]
enum Report {
    /// What changed, service by service; those that did not change are left out.
    Changes(Vec<Compared>),
    /// What does not load; nothing has been compared.
    Unread(Vec<Unread>),
}

impl Compared {
    /// Whether a reviewer has to say yes, or the version has to be another.
    fn is_stopped(&self) -> bool {
        self.comparison.widens() || self.comparison.version().is_broken()
    }

    /// How many changes widen.
    fn widenings(&self) -> usize {
        self.comparison.changes().iter().filter(|change| change.widens()).count()
    }

    /// The file that a reviewer looks at.
    fn file(&self) -> Option<&File> {
        self.new.as_ref().or(self.old.as_ref()).map(|(_, file)| file)
    }

    /// `github 1.0.0, now 1.1.0`.
    fn label(&self) -> String {
        let version = |side: &Option<(String, File)>| side.as_ref().map(|(version, _)| version.clone());
        match (version(&self.old), version(&self.new)) {
            (Some(old), Some(new)) if old == new => format!("{} {new}", self.service),
            (Some(old), Some(new)) => format!("{} {old}, now {new}", self.service),
            (None, Some(new)) => format!("{} {new}, new", self.service),
            (Some(old), None) => format!("{} {old}, gone", self.service),
            (None, None) => self.service.clone(),
        }
    }
}

pub(crate) fn main(flags: &DiffFlags) -> anyhow::Result<End> {
    let (old, new) = Source::both(&flags.old, &flags.new)?;
    let report = pair::compare(old.files()?, new.files()?)?;
    let shape = flags.shape();
    match &report {
        Report::Unread(unread) => {
            match shape {
                Shape::Json => out::document(json::unread(unread))?,
                Shape::Annotations => out::document(annotations::unread(unread).join("\n"))?,
                Shape::Markdown => out::document(markdown::unread(unread))?,
                Shape::Text => out::document(text::unread(unread))?,
            }
            Ok(End::Invalid)
        }
        Report::Changes(services) => {
            match shape {
                Shape::Json => out::document(json::changes(services))?,
                Shape::Annotations => {
                    for line in annotations::changes(services) {
                        out::line(line);
                    }
                }
                Shape::Markdown => out::document(markdown::changes(services))?,
                Shape::Text => out::document(text::changes(services))?,
            }
            let stops = |service: &Compared| match flags.widening {
                Widening::Reviewed => service.comparison.version().is_broken(),
                Widening::Stops => service.is_stopped(),
            };
            Ok(if services.iter().any(stops) { End::Failed } else { End::Done })
        }
    }
}

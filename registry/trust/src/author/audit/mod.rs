//! `verify`: the whole folder, offline, as a host that knew nothing but the first root would see it, and more strictly.
//!
//! Changes nothing and stops at no fault. INVARIANT: every byte under `public` is vouched for: by a signature, by a hash that
//! is signed, or by there being one form of a file only. So no changed byte goes unseen.

mod files;
mod roles;

use std::fmt;
use std::io;

use jiff::Timestamp as Moment;
use pinhole_manifest::visible::visible;
use pinhole_manifest::{Digest, ServiceId};

use super::envelope::EnvelopeError;
use super::layout::{self, metadata_name};
use super::paper::{Paper, standing};
use super::role::RootFault;
use super::seats::{Seats, Standing};
use super::state::Staged;
use super::{Workshop, layout::Layout};
use crate::RoleName;
use crate::keys::KeyId;
use crate::names::Held;

/// What a look at a folder found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Audit {
    /// Everything that is wrong.
    pub faults: Vec<Fault>,
    /// The version and the end of each role's word, as far as they could be read.
    pub roles: Vec<(RoleName, u64, Moment)>,
    /// Who signs for each role by the newest root, as far as it could be read.
    pub seats: Vec<(RoleName, Seats)>,
    /// The manifests that are published, as far as they could be read.
    pub services: Vec<(ServiceId, semver::Version, Digest)>,
    /// How far what is staged is signed.
    pub pending: Vec<Standing>,
}

/// Something that is wrong with a file.
#[derive(Debug)]
pub struct Fault {
    /// The file, relative to the maintainer's folder.
    pub file: String,
    /// What is wrong.
    pub kind: FaultKind,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// It should be there.
    #[error("it is not there")]
    Absent,
    /// The disk.
    #[error("it cannot be read: {0}")]
    Io(#[source] io::Error),
    /// A name that no file of a registry has there.
    #[error("no file of a registry has this name: move it away")]
    Stray,
    /// It is not the metadata of its role.
    #[error("{0}")]
    Envelope(#[source] EnvelopeError),
    /// Its version is not the one of its name, or not the one that another file states.
    #[error("it is version {found}, and should be {stated}")]
    Version {
        /// What it says.
        found: u64,
        /// What it should be.
        stated: u64,
    },
    /// A root that no host would take.
    #[error("{0}")]
    Root(#[source] RootFault),
    /// Too few signatures.
    #[error("too few have signed it: {0}")]
    Below(Standing),
    /// A signature that does not verify.
    #[error("the signature of the key `{0}` is not one under this file")]
    BadSignature(KeyId),
    /// A signature that counts nowhere.
    #[error("a signature counts nowhere: its key has no say, or has signed already")]
    IdleSignature,
    /// Its word has ended.
    #[error("it held until {0}: publish again; for root and targets stage it anew first")]
    Expired(Moment),
    /// Another length than the one that is signed.
    #[error("its length is {found}, and {stated} is signed")]
    Length {
        /// How long it is.
        found: u64,
        /// What is signed.
        stated: u64,
    },
    /// Another hash than the one that is signed, or than its name has.
    #[error("its bytes are {found}, and {stated} is stated")]
    Hash {
        /// What it is.
        found: Digest,
        /// What is stated.
        stated: Digest,
    },
    /// It does not name exactly the files that it should.
    #[error("it should name `{0}` and nothing else, with length and hash")]
    Meta(&'static str),
    /// A target whose name no registry has.
    #[error("it names `{}`, which is no name that a registry has", visible(.0))]
    Name(String),
    /// It says of a target what is not so, or more than a registry says.
    #[error("what it says of `{0}` is not what a registry says")]
    Word(Held),
    /// It lets other keys sign.
    #[error("it lets other keys sign for some of its targets")]
    Delegated,
    /// A manifest that does not load; how many faults it has.
    #[error("the manifest does not load: {0} faults, which `pinhole manifest check` names")]
    Manifest(usize),
    /// A manifest of another service or version than the targets say.
    #[error("the manifest is `{found}`, and the targets say `{stated}`")]
    Service {
        /// What it is.
        found: String,
        /// What is stated.
        stated: String,
    },
    /// A manifest names a module that is not among the targets with that digest.
    #[error("the manifest names the module `{0}`, which the targets do not have with that digest")]
    NoModule(String),
    /// A module that no manifest names.
    #[error("no manifest names it")]
    IdleModule,
    /// A file that no targets name.
    #[error("no targets name it: the next publish removes it")]
    Unnamed,
    /// A staged file that cannot be published on what is.
    #[error("{found} is staged, and the next version is {next}: drop it and stage it again")]
    StagedVersion {
        /// What is staged.
        found: u64,
        /// What could be published.
        next: u64,
    },
    /// A publish was killed on a disk that cannot exchange two folders.
    #[error("a publish was cut off: any command that changes the folder puts it right")]
    CutOff,
}

impl Audit {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", visible(&self.file), self.kind)
    }
}

/// The faults as they are found.
#[derive(Debug, Default)]
struct Faults(Vec<Fault>);

impl Faults {
    fn add(&mut self, file: impl Into<String>, kind: FaultKind) {
        self.0.push(Fault { file: file.into(), kind });
    }
}

impl Workshop {
    /// Looks at the whole folder and says everything that is wrong with it. A publish at the same time may be reported.
    pub fn verify(&self, now: Moment) -> Audit {
        let mut audit = Audit::default();
        let mut faults = Faults::default();
        if self.layout.previous().exists() {
            faults.add(".previous", FaultKind::CutOff);
        }
        strays(&self.layout, &mut faults);
        if let Some(book) = roles::look(&self.layout, now, &mut faults, &mut audit) {
            files::look(&self.layout, &book, &mut faults, &mut audit);
        }
        self.look_at_staged(&mut faults, &mut audit);
        audit.faults = faults.0;
        audit
    }

    fn look_at_staged(&self, faults: &mut Faults, audit: &mut Audit) {
        let published = |role| {
            let known = audit.roles.iter().find(|(known, _, _)| *known == role);
            known.map_or(0, |(_, version, _)| *version)
        };
        let staged = match Staged::read(&self.layout) {
            Ok(staged) => staged,
            Err(error) => {
                let file = error.file.strip_prefix(self.layout.folder()).unwrap_or(&error.file);
                let kind = match error.fault {
                    super::StateFault::Absent => FaultKind::Absent,
                    super::StateFault::Io(error) => FaultKind::Io(error),
                    super::StateFault::Envelope(error) => FaultKind::Envelope(error),
                };
                return faults.add(file.display().to_string(), kind);
            }
        };
        // What cannot be read of the published registry is a fault of its own already.
        let stock = super::Stock::read(&self.layout.metadata()).ok().flatten();
        let mut pending = Vec::new();
        for (role, paper) in staged.papers() {
            let file = format!("staged/{role}.json");
            let (found, next) = (paper.version(), published(role).saturating_add(1));
            if stock.as_ref().is_some_and(|stock| paper.is_published(stock)) {
                // A publish that was killed had still to clear it away.
                continue;
            }
            if found != next {
                faults.add(&file, FaultKind::StagedVersion { found, next });
            }
            match paper.seats(stock.as_ref(), &staged) {
                Ok(seats) => {
                    if let Ok(message) = paper.message() {
                        let each: Vec<_> = seats.iter().map(|(_, seats)| seats).collect();
                        roles::weigh(&file, &each, &message, paper.signatures(), faults);
                        pending.extend(standing(role, &seats, &message, paper.signatures()));
                    }
                }
                Err(fault) => faults.add(&file, FaultKind::Root(fault)),
            }
            if let Paper::Targets(targets) = &paper {
                files::look_at_staged(&self.layout, &targets.signed, faults);
            }
        }
        audit.pending = pending;
    }
}

/// Names that have no business where the world can see them.
fn strays(layout: &Layout, faults: &mut Faults) {
    type Known = fn(&str) -> bool;
    let folders: [(&str, std::path::PathBuf, Known); 3] = [
        ("public", layout.public(), |name| matches!(name, "metadata" | "targets")),
        ("public/metadata", layout.metadata(), |name| metadata_name(name).is_some()),
        ("public/targets", layout.targets(), |name| layout::hashed_name(name).is_some()),
    ];
    for (shown, folder, known) in folders {
        match layout::names(&folder) {
            Ok(names) => {
                for name in names.into_iter().filter(|name| !known(name)) {
                    faults.add(format!("{shown}/{name}"), FaultKind::Stray);
                }
            }
            Err(error) => faults.add(shown, FaultKind::Io(error)),
        }
    }
}

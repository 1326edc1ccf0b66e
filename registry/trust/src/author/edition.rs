//! The next state of a registry, put together in memory from what is staged, what is published and the keys at hand.
//!
//! Writes nothing. INVARIANT: an [`Edition`] is signed by enough, follows what is published, and names only files that are
//! there.

use std::collections::HashMap;
use std::num::NonZeroU64;

use jiff::Timestamp as Moment;
use pinhole_manifest::Digest;
use tough::schema::{Metafile, Role, Root, Signed, Snapshot, Targets, Timestamp};

use super::envelope::{self, SPEC_VERSION};
use super::layout::{self, TIMESTAMP, hashed, versioned};
use super::offer::{MODULE_BYTES_MAX, digest_of};
use super::paper::{Paper, standing};
use super::publish::{PublishError, Published};
use super::role;
use super::seats::{Standing, wide};
use super::shelve::by_name;
use super::statement::Statement;
use super::{Work, Workshop, next};
use crate::RoleName;
use crate::keys::RegistryKey;
use crate::names::Held;

/// A state that may be published, as files.
pub(super) struct Edition {
    pub(super) root: Signed<Root>,
    pub(super) targets: Signed<Targets>,
    pub(super) files: Vec<(String, Vec<u8>)>,
    pub(super) published: Published,
}

impl Workshop {
    /// Puts the next state together in memory, and refuses what no host would take.
    pub(super) fn edition(
        &self,
        work: &Work,
        keys: &[RegistryKey],
        now: Moment,
    ) -> Result<Edition, PublishError> {
        let mut below = Vec::new();
        let (root, mut statements) = Self::next_root(work, keys, &mut below)?;
        let (targets, statement) = Self::next_targets(work, &root.signed, keys, &mut below)?;
        statements.extend(statement);
        for (role, ended) in
            [(RoleName::Root, root.signed.expires), (RoleName::Targets, targets.signed.expires)]
        {
            if ended <= now {
                return Err(PublishError::Expired { role, ended });
            }
        }
        self.check_targets(&targets.signed)?;
        let (stock, spec) = (work.stock.as_ref(), SPEC_VERSION.to_owned());
        let targets_file = envelope::file(RoleName::Targets, &targets)?;
        let version = next(stock.map(|stock| stock.snapshot.signed.version));
        let mut snapshot = Snapshot::new(spec.clone(), version, self.terms.expiry(RoleName::Snapshot, now)?);
        snapshot.meta = meta("targets.json", envelope::metafile(&targets.signed, &targets_file));
        let snapshot = online(RoleName::Snapshot, snapshot, &root.signed, keys, &mut below)?;
        let snapshot_file = envelope::file(RoleName::Snapshot, &snapshot)?;
        let version = next(stock.map(|stock| stock.timestamp.signed.version));
        let mut timestamp = Timestamp::new(spec, version, self.terms.expiry(RoleName::Timestamp, now)?);
        timestamp.meta = meta("snapshot.json", envelope::metafile(&snapshot.signed, &snapshot_file));
        let timestamp = online(RoleName::Timestamp, timestamp, &root.signed, keys, &mut below)?;
        if !below.is_empty() {
            return Err(PublishError::Below(below));
        }
        let roles = vec![
            stands(RoleName::Root, &root.signed),
            stands(RoleName::Targets, &targets.signed),
            stands(RoleName::Snapshot, &snapshot.signed),
            stands(RoleName::Timestamp, &timestamp.signed),
        ];
        let services = by_name(&targets.signed).filter(|(name, _)| matches!(name, Held::Manifest(_))).count();
        let files = vec![
            (versioned(RoleName::Root, root.signed.version.get()), envelope::file(RoleName::Root, &root)?),
            (versioned(RoleName::Targets, targets.signed.version.get()), targets_file),
            (versioned(RoleName::Snapshot, snapshot.signed.version.get()), snapshot_file),
            (TIMESTAMP.to_owned(), envelope::file(RoleName::Timestamp, &timestamp)?),
        ];
        Ok(Edition { root, targets, files, published: Published { statements, roles, services } })
    }

    fn next_root(
        work: &Work,
        keys: &[RegistryKey],
        below: &mut Vec<Standing>,
    ) -> Result<(Signed<Root>, Vec<Statement>), PublishError> {
        let published = work.stock.as_ref().map(|stock| &stock.root);
        let Some(staged) = &work.staged.root else {
            let root = published.ok_or(PublishError::Nothing)?.clone();
            role::check(&root.signed)?;
            return Ok((root, Vec::new()));
        };
        role::check(&staged.signed)?;
        follows(RoleName::Root, staged.signed.version, published.map(|root| root.signed.version))?;
        let mut paper = Paper::Root(staged.clone());
        sign(&mut paper, work, keys, below)?;
        let statement = paper.statement(work.stock.as_ref())?;
        let Paper::Root(root) = paper else { return Err(PublishError::Nothing) };
        Ok((root, vec![statement]))
    }

    fn next_targets(
        work: &Work,
        root: &Root,
        keys: &[RegistryKey],
        below: &mut Vec<Standing>,
    ) -> Result<(Signed<Targets>, Option<Statement>), PublishError> {
        let published = work.stock.as_ref().map(|stock| &stock.targets);
        if let Some(staged) = &work.staged.targets {
            follows(
                RoleName::Targets,
                staged.signed.version,
                published.map(|targets| targets.signed.version),
            )?;
            let mut paper = Paper::Targets(staged.clone());
            sign(&mut paper, work, keys, below)?;
            let statement = paper.statement(work.stock.as_ref())?;
            let Paper::Targets(targets) = paper else { return Err(PublishError::Nothing) };
            return Ok((targets, Some(statement)));
        }
        let targets = published.ok_or(PublishError::Nothing)?.clone();
        let seats = role::seats(root, RoleName::Targets)?;
        let message = envelope::canonical(&targets.signed)?;
        let stands = seats.standing(RoleName::Targets, root.version.get(), &message, &targets.signatures);
        if stands.wanted() > 0 { Err(PublishError::Reseated(stands)) } else { Ok((targets, None)) }
    }

    /// Every name is a registry's, and every file is there and is what the targets say.
    fn check_targets(&self, targets: &Targets) -> Result<(), PublishError> {
        if targets.delegations.is_some() {
            return Err(PublishError::Delegated);
        }
        if let Some(name) = targets.targets.keys().find(|name| Held::parse(name.raw()).is_err()) {
            return Err(PublishError::Name(name.raw().to_owned()));
        }
        for (name, target) in by_name(targets) {
            let digest = digest_of(&target).ok_or_else(|| PublishError::File(name.clone()))?;
            let file = hashed(digest, &name);
            let folders = [self.layout.staged_files(), self.layout.targets()];
            let sound = |bytes: &Vec<u8>| Digest::of(bytes) == digest && wide(bytes.len()) == target.length;
            let mut there = folders
                .iter()
                .filter_map(|folder| layout::read(&folder.join(&file), MODULE_BYTES_MAX).ok().flatten());
            if !there.any(|bytes| sound(&bytes)) {
                return Err(PublishError::File(name));
            }
        }
        Ok(())
    }
}

/// A role's version and end.
fn stands<T: Role>(name: RoleName, role: &T) -> (RoleName, u64, Moment) {
    (name, role.version().get(), role.expires())
}

fn follows(role: RoleName, version: NonZeroU64, published: Option<NonZeroU64>) -> Result<(), PublishError> {
    if version == next(published) {
        return Ok(());
    }
    let published = published.map_or(0, NonZeroU64::get);
    Err(PublishError::Version { role, version: version.get(), published })
}

/// Signs a staged file with the keys at hand, and notes where that is not enough.
fn sign(
    paper: &mut Paper,
    work: &Work,
    keys: &[RegistryKey],
    below: &mut Vec<Standing>,
) -> Result<(), PublishError> {
    let seats = paper.seats(work.stock.as_ref(), &work.staged)?;
    paper.add_signatures(&seats, keys)?;
    paper.drop_idle_signatures(&seats)?;
    let standings = standing(paper.role(), &seats, &paper.message()?, paper.signatures());
    below.extend(standings.into_iter().filter(|standing| standing.wanted() > 0));
    Ok(())
}

/// Signs what is signed at each publish.
fn online<T: Role>(
    name: RoleName,
    role: T,
    root: &Root,
    keys: &[RegistryKey],
    below: &mut Vec<Standing>,
) -> Result<Signed<T>, PublishError> {
    let seats = role::seats(root, name)?;
    let message = envelope::canonical(&role)?;
    let mut signed = envelope::unsigned(role);
    for key in keys {
        let again = signed.signatures.iter().any(|there| there.keyid == key.public().id().to_tuf());
        if seats.keys.contains_key(&key.public().id()) && !again {
            signed.signatures.push(envelope::signature(&message, key));
        }
    }
    let stands = seats.standing(name, root.version.get(), &message, &signed.signatures);
    if stands.wanted() > 0 {
        below.push(stands);
    }
    Ok(signed)
}

fn meta(name: &str, file: Metafile) -> HashMap<String, Metafile> {
    HashMap::from([(name.to_owned(), file)])
}

//! The client workflow of the TUF specification (1.0.34, section 5), from the root that is trusted to the targets that
//! are current. TUF's own types, canonical form and signature check are the library's; the order of the checks is here.
//!
//! Not the library's own workflow, because that writes into the state that it reads, takes a damaged file for none, reads
//! the machine's clock, forgets versions when keys are merely listed in another order, and keeps no exact bytes.
//!
//! Refuses whatever section 5 refuses, and what `Profile` adds. INVARIANT: [`Trusted`] only ever holds what has passed every
//! check of its step; what is kept of it after a failure is for the caller to say.

use jiff::Timestamp as Time;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use tough::schema::{Metafile, Role, Root, Snapshot, Targets, Timestamp};

use super::fetch::{Area, Fetch, FetchError, RemotePath};
use super::refused::{Refused, Signers};
use super::role::{Document, Profile, check_keys};
use super::signatures::signed;
use super::trusted::Trusted;
use crate::RoleName;

/// Most new roots that one refresh takes over; the next goes on from there.
pub(super) const ROOT_UPDATES_MAX: u64 = 256;

/// One refresh.
#[derive(Clone, Copy)]
pub(super) struct Refresh<'a> {
    pub(super) fetch: &'a dyn Fetch,
    pub(super) now: Time,
    pub(super) profile: Profile,
}

impl Refresh<'_> {
    /// Brings what is trusted up to date.
    pub(super) async fn run(self, trusted: &mut Trusted) -> Result<(), Refused> {
        self.roots(trusted).await?;
        self.timestamp(trusted).await?;
        self.snapshot(trusted).await?;
        self.targets(trusted).await
    }

    /// 5.3: each root is signed by the one before it and by itself, and is the next in number.
    async fn roots(self, trusted: &mut Trusted) -> Result<(), Refused> {
        for taken in 0_u64.. {
            let next = trusted.root.version().checked_add(1).ok_or(Refused::TooManyRoots)?;
            let name = format!("{next}.root.json");
            let bytes = match self.get(&name, RoleName::Root.bytes_max()).await {
                Err(Refused::NotFetched { source: FetchError::Absent, .. }) => break,
                got => got?,
            };
            if taken == ROOT_UPDATES_MAX {
                return Err(Refused::TooManyRoots);
            }
            let root = read::<Root>(bytes, RoleName::Root)?;
            check_keys(&root.role.signed, self.profile).map_err(|fault| malformed(RoleName::Root, fault))?;
            signed(&trusted.root.role.signed, &root, RoleName::Root, Signers::Trusted)?;
            signed(&root.role.signed, &root, RoleName::Root, Signers::Own)?;
            if root.version() != next {
                return Err(Refused::OtherVersion {
                    role: RoleName::Root,
                    expected: next,
                    found: root.version(),
                });
            }
            trusted.root = root;
        }
        trusted.forget_unsigned();
        self.current(&trusted.root, RoleName::Root)
    }

    /// 5.4.
    async fn timestamp(self, trusted: &mut Trusted) -> Result<(), Refused> {
        let role = RoleName::Timestamp;
        let bytes = self.get(role.file(), role.bytes_max()).await?;
        let new = read::<Timestamp>(bytes, role)?;
        signed(&trusted.root.role.signed, &new, role, Signers::Trusted)?;
        let listed = snapshot_of(&new)?;
        if let Some(old) = &trusted.timestamp {
            not_older(role, old.version(), new.version())?;
            if old.version() == new.version() {
                if self.profile == Profile::Manifests {
                    same(role, old, &new)?;
                }
                // 5.4.3.1: not an update. What is trusted stays, and is looked at for its age like any other.
                return self.current(old, role);
            }
            not_older(RoleName::Snapshot, snapshot_of(old)?.version.get(), listed.version.get())?;
        }
        self.current(&new, role)?;
        trusted.timestamp = Some(new);
        Ok(())
    }

    /// 5.5.
    async fn snapshot(self, trusted: &mut Trusted) -> Result<(), Refused> {
        let role = RoleName::Snapshot;
        let timestamp = trusted.timestamp.as_ref().ok_or(Refused::Incomplete)?;
        let listed = snapshot_of(timestamp)?;
        let new = match &trusted.snapshot {
            Some(old) if old.is_listed(listed) => old.clone(),
            old => {
                let new = self.signed(&trusted.root, listed, role).await?;
                if let Some(old) = old {
                    follows(old, &new)?;
                }
                new
            }
        };
        targets_of(&new)?;
        self.current(&new, role)?;
        trusted.snapshot = Some(new);
        Ok(())
    }

    /// 5.6, the top-level targets.
    async fn targets(self, trusted: &mut Trusted) -> Result<(), Refused> {
        let role = RoleName::Targets;
        let snapshot = trusted.snapshot.as_ref().ok_or(Refused::Incomplete)?;
        let listed = targets_of(snapshot)?;
        let new = match &trusted.targets {
            Some(old) if old.is_listed(listed) => old.clone(),
            old => {
                let new: Document<Targets> = self.signed(&trusted.root, listed, role).await?;
                match old {
                    Some(old) if old.version() == new.version() => same(role, old, &new)?,
                    _ => {}
                }
                new
            }
        };
        if self.profile == Profile::Manifests {
            let delegations = new.role.signed.delegations.as_ref();
            if delegations.is_some_and(|delegations| !delegations.roles.is_empty()) {
                return Err(Refused::Delegations);
            }
        }
        self.current(&new, role)?;
        trusted.targets = Some(new);
        Ok(())
    }

    /// Fetches what another role lists: by its version, at its length, with its hash. Nothing is said about signatures.
    pub(super) async fn listed<T: Role + DeserializeOwned>(
        self,
        root: &Document<Root>,
        listed: &Metafile,
        role: RoleName,
        file: &str,
    ) -> Result<Document<T>, Refused> {
        let version = listed.version;
        let consistent = root.role.signed.consistent_snapshot;
        let name = if consistent { format!("{version}.{file}") } else { file.to_owned() };
        let most = role.bytes_max();
        if listed.length.is_some_and(|length| length > most) {
            return Err(Refused::TooLarge { file: name, at_most: most });
        }
        let bytes = self.get(&name, listed.length.unwrap_or(most)).await?;
        if let Some(expected) = listed.length {
            right_length(&name, expected, &bytes)?;
        }
        if let Some(hashes) = &listed.hashes {
            right_hash(&name, &hashes.sha256, &bytes)?;
        }
        read(bytes, role)
    }

    /// The same, signed by the role's keys.
    async fn signed<T: Role + DeserializeOwned + Clone>(
        self,
        root: &Document<Root>,
        listed: &Metafile,
        role: RoleName,
    ) -> Result<Document<T>, Refused> {
        let new = self.listed(root, listed, role, role.file()).await?;
        signed(&root.role.signed, &new, role, Signers::Trusted)?;
        self.right_version(&new, listed, role)?;
        Ok(new)
    }

    /// Whether a file is of the version that is listed.
    #[expect(clippy::unused_self, reason = "it is a step of a refresh")]
    pub(super) fn right_version<T: Role + DeserializeOwned>(
        self,
        document: &Document<T>,
        listed: &Metafile,
        role: RoleName,
    ) -> Result<(), Refused> {
        let (expected, found) = (listed.version.get(), document.version());
        if found == expected { Ok(()) } else { Err(Refused::OtherVersion { role, expected, found }) }
    }

    /// Whether a role has not expired.
    pub(super) fn current<T: Role + DeserializeOwned>(
        self,
        document: &Document<T>,
        role: RoleName,
    ) -> Result<(), Refused> {
        let since = document.role.signed.expires();
        if since <= self.now { Err(Refused::Expired { role, since }) } else { Ok(()) }
    }

    async fn get(self, name: &str, at_most: u64) -> Result<Vec<u8>, Refused> {
        let path = RemotePath::new(Area::Metadata, name)?;
        get(self.fetch, &path, at_most).await
    }
}

/// Fetches a file and holds whoever fetched it to the limit.
pub(super) async fn get(fetch: &dyn Fetch, path: &RemotePath, at_most: u64) -> Result<Vec<u8>, Refused> {
    let file = || path.to_string();
    match fetch.fetch(path, at_most).await {
        Ok(bytes) if u64::try_from(bytes.len()).is_ok_and(|size| size <= at_most) => Ok(bytes),
        Ok(_) | Err(FetchError::TooLarge) => Err(Refused::TooLarge { file: file(), at_most }),
        Err(source) => Err(Refused::NotFetched { file: file(), source }),
    }
}

pub(super) fn right_length(file: &str, expected: u64, bytes: &[u8]) -> Result<(), Refused> {
    match u64::try_from(bytes.len()) {
        Ok(found) if found == expected => Ok(()),
        found => {
            Err(Refused::WrongLength { file: file.to_owned(), expected, found: found.unwrap_or(u64::MAX) })
        }
    }
}

pub(super) fn right_hash(file: &str, expected: &[u8], bytes: &[u8]) -> Result<(), Refused> {
    if Sha256::digest(bytes).as_slice() == expected {
        Ok(())
    } else {
        Err(Refused::WrongHash { file: file.to_owned() })
    }
}

pub(super) fn read<T: Role + DeserializeOwned>(
    bytes: Vec<u8>,
    role: RoleName,
) -> Result<Document<T>, Refused> {
    Document::read(bytes).map_err(|source| Refused::Malformed { role, source })
}

pub(super) fn malformed(role: RoleName, fault: impl Into<super::role::Malformed>) -> Refused {
    Refused::Malformed { role, source: fault.into() }
}

fn not_older(role: RoleName, trusted: u64, offered: u64) -> Result<(), Refused> {
    if offered < trusted { Err(Refused::Rollback { role, trusted, offered }) } else { Ok(()) }
}

/// One version has one meaning; more signatures under it change nothing.
fn same<T: Role + PartialEq + DeserializeOwned>(
    role: RoleName,
    old: &Document<T>,
    new: &Document<T>,
) -> Result<(), Refused> {
    let version = old.version();
    if old.role.signed == new.role.signed { Ok(()) } else { Err(Refused::Equivocation { role, version }) }
}

/// 5.5.5, and that a snapshot of the same version says the same.
fn follows(old: &Document<Snapshot>, new: &Document<Snapshot>) -> Result<(), Refused> {
    not_older(RoleName::Snapshot, old.version(), new.version())?;
    if old.version() == new.version() {
        return same(RoleName::Snapshot, old, new);
    }
    for (name, before) in &old.role.signed.meta {
        let Some(now) = new.role.signed.meta.get(name) else {
            return Err(Refused::NoLongerListed { file: name.chars().take(64).collect() });
        };
        not_older(RoleName::Targets, before.version.get(), now.version.get())?;
    }
    Ok(())
}

fn snapshot_of(timestamp: &Document<Timestamp>) -> Result<&Metafile, Refused> {
    let meta = &timestamp.role.signed.meta;
    let fault = super::role::Malformed::Listing("snapshot.json");
    meta.get("snapshot.json").filter(|_| meta.len() == 1).ok_or_else(|| malformed(RoleName::Timestamp, fault))
}

fn targets_of(snapshot: &Document<Snapshot>) -> Result<&Metafile, Refused> {
    let fault = super::role::Malformed::Listing("targets.json");
    snapshot.role.signed.meta.get("targets.json").ok_or_else(|| malformed(RoleName::Snapshot, fault))
}

//! A connection and the bot's read grant of it, held against what is sealed in them.
//!
//! Decides nothing about a call: that is the spine's. INVARIANT: what is opened here has agreed with its rows.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pinhole_grant::{Credential, CredentialId, KeyId, OpenError, OpenedGrant, PublicKey, Ring, UnixTime};
use pinhole_manifest::Access;

use crate::catalog::{Catalog, Entry, Missing};
use crate::store::{ConnectionRow, Desk, GrantFilter, GrantRow, StoreError};

/// A connection and the bot's read grant of it, as they are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stored {
    /// The connection.
    pub connection: ConnectionRow,
    /// The read grant.
    pub grant: GrantRow,
}

/// Pairs of rows that agreed with what is sealed in them. To open a grant takes longer than all else that is done here, and what
/// agreed once does as long as every byte of it stays; the spine opens it anew for each call.
#[derive(Debug, Default)]
pub struct Agreed(Mutex<BTreeMap<CredentialId, Stored>>);

impl Agreed {
    /// Most that are kept; beyond, all are looked at anew.
    const KEPT: usize = 256;

    /// Whether exactly these rows have agreed.
    pub(super) fn has(&self, stored: &Stored) -> bool {
        self.rows().get(&stored.connection.id) == Some(stored)
    }

    /// Keeps rows that have just agreed.
    pub(super) fn keep(&self, stored: Stored) {
        let mut rows = self.rows();
        if rows.len() >= Self::KEPT {
            rows.clear();
        }
        rows.insert(stored.connection.id, stored);
    }

    fn rows(&self) -> MutexGuard<'_, BTreeMap<CredentialId, Stored>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a stored read grant is good for.
#[derive(Debug)]
pub enum Standing {
    /// It opens, and both rows agree with it.
    Open(Box<OpenedGrant>),
    /// It is too early or too late, or its member is not known (any more).
    Refused(OpenError),
}

/// Why a connection does not go together with the manifest of its service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Skipped {
    /// There is no manifest of its service to run by.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// The manifest names another host than the one that it was connected to.
    #[error("the manifest names another host than the one that was connected")]
    HostChanged,
    /// The manifest comes from another source than the one that it was connected under.
    #[error("the manifest comes from another source than the one that it was connected under")]
    SourceChanged,
    /// What is stored of it does not agree with what she sealed.
    #[error("what is stored of it was tampered with")]
    Tampered,
}

impl Stored {
    /// A connection with the read grant that a bot has of it, if any.
    pub fn of(connection: ConnectionRow, bot: KeyId, desk: &dyn Desk) -> Result<Option<Self>, StoreError> {
        let filter = GrantFilter {
            member: Some(connection.member),
            bot: Some(bot),
            connection: Some(connection.id),
            access: Some(Access::Read),
            ..GrantFilter::default()
        };
        let grant = desk.grants(&filter)?.into_iter().next();
        Ok(grant.map(|grant| Self { connection, grant }))
    }

    /// Opens the grant and holds both rows against it; [`StoreError::Tampered`] where one does not agree.
    pub fn open(&self, bot: &Ring, issuers: &[PublicKey], now: UnixTime) -> Result<Standing, StoreError> {
        let Self { connection, grant } = self;
        match bot.open(&grant.sealed, issuers, now) {
            Ok(opened) => {
                grant.check(opened.grant())?;
                connection.check(opened.grant().credential())?;
                Ok(Standing::Open(Box::new(opened)))
            }
            Err(error @ (OpenError::Expired | OpenError::NotYetValid | OpenError::UnknownIssuer)) => {
                Ok(Standing::Refused(error))
            }
            Err(_other) => Err(grant.tampered()),
        }
    }
}

/// The manifest that a credential was connected under.
pub fn manifest_of<'c>(catalog: &'c Catalog, credential: &Credential) -> Result<&'c Entry, Skipped> {
    let entry = catalog.look(credential.service())?;
    if entry.manifest.host() != credential.host() {
        return Err(Skipped::HostChanged);
    }
    if entry.source.name() == credential.registry().as_str() {
        Ok(entry)
    } else {
        Err(Skipped::SourceChanged)
    }
}

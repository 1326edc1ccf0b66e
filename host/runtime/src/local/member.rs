//! The member's side: she is there, her key is open. She keeps connections, renews what her bot may read, and says yes.
//!
//! Refuses whatever does not agree with what she sealed herself. INVARIANT: an approval is minted for the very write that
//! was on the sheet, with the credential of the very connection and account that it named.

use pinhole_grant::scope::SKEW_SECS;
use pinhole_grant::{
    Account, Credential, CredentialError, CredentialId, CredentialParts, Dial, KeyId, Label, MintError,
    MintRequest, PublicKey, Scope, SealCredentialError, SecretKey, UnixTime,
};
use pinhole_manifest::Access;

use super::prove::Proved;
use super::{APPROVAL_SECS, READ_GRANT_SECS, Sheet, Skipped, UNNAMED_ACCOUNT, manifest_of};
use crate::catalog::{Catalog, Entry};
use crate::entropy::{self, Entropy, EntropyError};
use crate::store::{
    Answer, AnswerError, ConnectionError, ConnectionRow, Desk, GrantError, GrantRow, QuestionId, StoreError,
};

/// The member, with her key open, at the host of her bot.
#[expect(missing_debug_implementations, reason = "it holds the member's key")]
#[derive(Clone, Copy)]
pub struct Present<'a> {
    /// Her key.
    pub key: &'a SecretKey,
    /// The bot of this host.
    pub bot: &'a PublicKey,
    /// What is stored here.
    pub desk: &'a dyn Desk,
    /// The manifests.
    pub catalog: &'a Catalog,
    /// Randomness, for what is sealed.
    pub entropy: &'a dyn Entropy,
    /// What the machine's clock says.
    pub wall: UnixTime,
    /// The high-water time: the latest that was seen here.
    pub now: UnixTime,
}

/// How a connection is to be kept.
#[derive(Debug, Clone)]
pub struct Keep {
    /// What she calls it.
    pub label: Label,
    /// The most that it may ever grant; `None` is what a connection of that label has already, else reads.
    pub cap: Option<Access>,
    /// Whether one of that label for another account goes.
    pub other_account: OtherAccount,
}

/// What becomes of a connection whose label is wanted for another account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherAccount {
    /// It stays.
    Stays,
    /// It is removed, as if by hand.
    Goes,
}

/// A connection that was kept.
#[derive(Debug)]
#[non_exhaustive]
pub struct Kept {
    /// The connection.
    pub connection: ConnectionRow,
    /// Where.
    pub place: Place,
    /// Until when the local bot may read.
    pub reads_until: UnixTime,
}

/// Where a connection that was just proved is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It is a new one.
    New,
    /// It is a newer generation of the one that is there.
    Newer,
    /// It takes the place of another, which ended as if it were removed.
    InsteadOf(CredentialId),
}

/// Why a connection was not kept. Nothing has changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeepError {
    /// The label belongs to a connection of another account, or one of the two is not known.
    #[error("`{label}` is a connection of `{stored}`, and this key is of `{found}`")]
    OtherAccount {
        /// The label.
        label: Label,
        /// Whose account the stored one opens.
        stored: Account,
        /// Whose account the new key opens.
        found: Account,
    },
    /// The store has no place for it.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// What is stored could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The credential could not be made.
    #[error(transparent)]
    Credential(#[from] CredentialError),
    /// It could not be sealed.
    #[error(transparent)]
    Seal(#[from] SealCredentialError),
    /// The bot's read grant could not be minted.
    #[error(transparent)]
    Mint(#[from] MintError),
    /// There is no randomness.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
}

/// Why a cap was not changed. Nothing has changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CapError {
    /// Its service has no manifest here, or it is not the one that it was connected under.
    #[error("the connection cannot be used as it is: {0}")]
    Stale(Skipped),
    /// The store did not take it.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// What is stored could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It could not be sealed.
    #[error(transparent)]
    Seal(#[from] SealCredentialError),
    /// The bot's read grant could not be minted.
    #[error(transparent)]
    Mint(#[from] MintError),
    /// There is no randomness.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
}

/// What came of the renewal of one connection's read grant.
#[derive(Debug)]
#[non_exhaustive]
pub struct Renewal {
    /// The connection.
    pub connection: ConnectionRow,
    /// Until when the local bot may read now, or why nothing was renewed.
    pub reads_until: Result<UnixTime, Skipped>,
}

/// Why no read grant was renewed any further.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenewError {
    /// What is stored could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store did not take a grant.
    #[error(transparent)]
    Grant(#[from] GrantError),
    /// A grant could not be minted.
    #[error(transparent)]
    Mint(#[from] MintError),
    /// There is no randomness.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
}

/// Why a yes was not given. The question waits as it did.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApproveError {
    /// The connection is not there any more.
    #[error("the connection that it would use is not there any more")]
    NoConnection,
    /// The connection only reads (now).
    #[error("the connection that it would use only reads")]
    ReadOnly,
    /// The connection opens another account than the question says.
    #[error("the connection that it would use is not of the account that it names")]
    OtherAccount,
    /// Another bot asked than the one of this host.
    #[error("another bot asked than the one of this host")]
    OtherBot,
    /// The connection is not called what the sheet says, or is for a stand-in where the sheet says otherwise.
    #[error("the connection that it would use is not what was shown")]
    OtherConnection,
    /// The machine's clock stands before the latest time seen: the yes would be good at another time than now.
    #[error("the clock stands before the latest time that was seen here, so a yes would not be for now")]
    ClockBehind,
    /// Its service has no manifest here, or it is not the one that it was connected under.
    #[error("the connection cannot be used as it is: {0}")]
    Stale(Skipped),
    /// It cannot be answered.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// What is stored could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The approval could not be minted.
    #[error(transparent)]
    Mint(#[from] MintError),
    /// There is no randomness.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
}

/// Says no to a question. It takes no key: whoever may write the store can only take away by it.
pub fn deny(desk: &dyn Desk, member: KeyId, id: QuestionId, now: UnixTime) -> Result<(), AnswerError> {
    desk.answer(member, id, Answer::Deny, now)
}

impl Present<'_> {
    /// Keeps a key that was proved, as a connection of its label, together with the local bot's read grant. A key of the
    /// same account takes the old one's place; its cap stays unless another is asked for.
    pub fn keep(&self, proved: Proved, keep: Keep) -> Result<Kept, KeepError> {
        let named = proved.account().is_some();
        let parts = proved.parts;
        let service = parts.service.clone();
        let Keep { label, cap, other_account } = keep;
        let stored = self.desk.connection_named(self.member(), &service, &label)?;
        let (credential, place, created_at) = match &stored {
            None => {
                let cap = cap.unwrap_or(Access::Read);
                (Credential::new(CredentialParts { label, cap, ..parts })?, Place::New, self.now)
            }
            Some(row) => {
                let old = self.open(row)?;
                // Two that the service does not name may be two.
                if named && *old.account() == parts.account && old.account().as_str() != UNNAMED_ACCOUNT {
                    let cap = cap.unwrap_or(old.cap());
                    let credential = old.reconnected(CredentialParts { label, cap, ..parts })?;
                    (credential, Place::Newer, row.created_at)
                } else if other_account == OtherAccount::Goes {
                    let cap = cap.unwrap_or(Access::Read);
                    let credential = Credential::new(CredentialParts { label, cap, ..parts })?;
                    (credential, Place::InsteadOf(row.id), self.now)
                } else {
                    let (stored, found) = (row.account.clone(), parts.account);
                    return Err(KeepError::OtherAccount { label, stored, found });
                }
            }
        };
        let mut rng = entropy::seeded(self.entropy)?;
        let sealed = pinhole_grant::seal_credential(&credential, self.key, &mut rng)?;
        let connection = ConnectionRow::new(&credential, self.member(), created_at, sealed);
        // Proved a moment ago under this very manifest.
        let entry = self.catalog.find(&service).ok_or(ConnectionError::Grant)?;
        let grant = self.read_grant(&credential, entry)?;
        self.desk.keep_connection(&connection, &grant, stored.as_ref())?;
        Ok(Kept { connection, place, reads_until: grant.expires_at })
    }

    /// Gives a connection another cap. One that is `read` again ends approvals that were not used and questions that wait.
    pub fn set_cap(&self, row: &ConnectionRow, cap: Access) -> Result<ConnectionRow, CapError> {
        let credential = self.open(row)?;
        let entry = manifest_of(self.catalog, &credential).map_err(CapError::Stale)?;
        let credential = credential.with_cap(cap);
        let mut rng = entropy::seeded(self.entropy)?;
        let sealed = pinhole_grant::seal_credential(&credential, self.key, &mut rng)?;
        let capped = ConnectionRow::new(&credential, self.member(), row.created_at, sealed);
        let grant = self.read_grant(&credential, entry)?;
        self.desk.set_cap(&capped, &grant, row)?;
        Ok(capped)
    }

    /// Renews the local bot's read grant of every connection of hers; one that cannot be renewed keeps none from it.
    pub fn renew(&self) -> Result<Vec<Renewal>, RenewError> {
        let mut renewals = Vec::new();
        for connection in self.desk.connections(self.member())? {
            renewals.extend(self.renew_one(connection)?);
        }
        Ok(renewals)
    }

    /// Nothing comes of one that was removed meanwhile; one that was changed is looked at again.
    fn renew_one(&self, mut connection: ConnectionRow) -> Result<Option<Renewal>, RenewError> {
        loop {
            match self.renewed(&connection) {
                Err(RenewError::Grant(GrantError::Changed)) => {
                    let again = self.desk.connection(self.member(), connection.id)?;
                    match again.filter(|again| *again != connection) {
                        None => return Ok(None),
                        Some(again) => connection = again,
                    }
                }
                Err(error) => return Err(error),
                Ok(reads_until) => return Ok(Some(Renewal { connection, reads_until })),
            }
        }
    }

    fn renewed(&self, row: &ConnectionRow) -> Result<Result<UnixTime, Skipped>, RenewError> {
        let credential = match self.open(row) {
            Ok(credential) => credential,
            Err(StoreError::Tampered { .. }) => return Ok(Err(Skipped::Tampered)),
            Err(error) => return Err(error.into()),
        };
        let entry = match manifest_of(self.catalog, &credential) {
            Ok(entry) => entry,
            Err(skipped) => return Ok(Err(skipped)),
        };
        let grant = self.read_grant(&credential, entry)?;
        self.desk.renew_grant(&grant, row)?;
        Ok(Ok(grant.expires_at))
    }

    /// Says yes to what is on the sheet: mints the approval and puts it where the bot finds it. Returns until when it may be
    /// used.
    pub fn approve(&self, sheet: &Sheet) -> Result<UnixTime, ApproveError> {
        if sheet.bot != self.bot.id() {
            return Err(ApproveError::OtherBot);
        }
        if self.wall.plus_secs(SKEW_SECS) < self.now {
            return Err(ApproveError::ClockBehind);
        }
        let row = self.desk.connection(self.member(), sheet.connection)?;
        let credential = self.open(&row.ok_or(ApproveError::NoConnection)?)?;
        if *credential.service() != sheet.service || *credential.account() != sheet.account {
            return Err(ApproveError::OtherAccount);
        }
        let dial = if sheet.stand_in { Dial::Overridden } else { Dial::Real };
        if sheet.label.as_ref() != Some(credential.label()) || credential.dial() != dial {
            return Err(ApproveError::OtherConnection);
        }
        if credential.cap() != Access::Write {
            return Err(ApproveError::ReadOnly);
        }
        manifest_of(self.catalog, &credential).map_err(ApproveError::Stale)?;
        let until = self.now.plus_secs(APPROVAL_SECS);
        let request = MintRequest::approval(
            self.bot.clone(),
            sheet.digest,
            sheet.op.clone(),
            sheet.action,
            self.now,
            until,
        );
        let mut rng = entropy::seeded(self.entropy)?;
        let grant = pinhole_grant::mint(&request, &credential, self.key, self.now, &mut rng)?;
        let answer = Answer::Approve { grant: grant.id(), sealed: grant.as_bytes(), until };
        self.desk.answer(self.member(), sheet.question, answer, self.now)?;
        Ok(until)
    }

    fn member(&self) -> KeyId {
        self.key.public().id()
    }

    /// What a connection seals, once its columns agree.
    fn open(&self, row: &ConnectionRow) -> Result<Credential, StoreError> {
        let credential =
            pinhole_grant::open_credential(&row.sealed, self.key).map_err(|_error| row.tampered())?;
        row.check(&credential)?;
        Ok(credential)
    }

    /// A grant for every read of the manifest as it is, each named, so that what is reviewed later cannot add one.
    fn read_grant(&self, credential: &Credential, entry: &Entry) -> Result<GrantRow, GrantMade> {
        let reads = entry.manifest.ops().values().filter(|op| op.access == Access::Read);
        let until = self.now.plus_secs(READ_GRANT_SECS);
        let scope = Scope::new(Access::Read, self.now, until).with_ops(reads.map(|op| op.id.clone()));
        let request = MintRequest::new(self.bot.clone(), entry.manifest.digest(), scope);
        let mut rng = entropy::seeded(self.entropy).map_err(GrantMade::Entropy)?;
        let sealed = pinhole_grant::mint(&request, credential, self.key, self.now, &mut rng);
        Ok(GrantRow::new(sealed.map_err(GrantMade::Mint)?, &request, credential, self.member()))
    }
}

/// Why no read grant was made.
#[derive(Debug)]
enum GrantMade {
    Mint(MintError),
    Entropy(EntropyError),
}

macro_rules! from_grant_made {
    ($($error:ident)*) => {$(
        impl From<GrantMade> for $error {
            fn from(error: GrantMade) -> Self {
                match error {
                    GrantMade::Mint(error) => Self::Mint(error),
                    GrantMade::Entropy(error) => Self::Entropy(error),
                }
            }
        }
    )*};
}

from_grant_made!(KeepError CapError RenewError);

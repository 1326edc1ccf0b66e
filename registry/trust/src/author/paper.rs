//! A file that waits for signatures: a root or targets, and the seats that have a say in it.
//!
//! Refuses a root that no host would take. INVARIANT: a signature is added and dropped here, and never changes what is signed.

use tough::schema::{Root, Signature, Signed, Targets};

use super::envelope::{self, EnvelopeError};
use super::role::{self, RootFault};
use super::seats::{Seats, Standing, Worth, wide};
use super::sheet::SheetError;
use super::state::{Staged, Stock};
use super::statement::Statement;
use crate::RoleName;
use crate::keys::RegistryKey;

/// A root or targets.
#[derive(Debug)]
pub(super) enum Paper {
    Root(Signed<Root>),
    Targets(Signed<Targets>),
}

impl Paper {
    pub(super) fn read(file: &[u8]) -> Result<Self, SheetError> {
        #[derive(serde::Deserialize)]
        struct Outer {
            signed: Inner,
        }
        #[derive(serde::Deserialize)]
        struct Inner {
            #[serde(rename = "_type")]
            role: String,
        }
        if wide(file.len()) > envelope::METADATA_BYTES_MAX {
            return Err(EnvelopeError::TooLarge.into());
        }
        let outer: Outer = serde_json::from_slice(file).map_err(|_syntax| SheetError::Unknown)?;
        match RoleName::parse(&outer.signed.role) {
            Some(name @ RoleName::Root) => {
                let root: Signed<Root> = envelope::read(name, file)?;
                role::check(&root.signed)?;
                Ok(Self::Root(root))
            }
            Some(name @ RoleName::Targets) => Ok(Self::Targets(envelope::read(name, file)?)),
            _ => Err(SheetError::Unknown),
        }
    }

    pub(super) fn role(&self) -> RoleName {
        match self {
            Self::Root(_) => RoleName::Root,
            Self::Targets(_) => RoleName::Targets,
        }
    }

    pub(super) fn version(&self) -> u64 {
        match self {
            Self::Root(root) => root.signed.version.get(),
            Self::Targets(targets) => targets.signed.version.get(),
        }
    }

    /// Whether it is what is published.
    pub(super) fn is_published(&self, stock: &Stock) -> bool {
        match self {
            Self::Root(root) => root.signed == stock.root.signed,
            Self::Targets(targets) => targets.signed == stock.targets.signed,
        }
    }

    /// The bytes that are signed.
    pub(super) fn message(&self) -> Result<Vec<u8>, EnvelopeError> {
        match self {
            Self::Root(root) => envelope::canonical(&root.signed),
            Self::Targets(targets) => envelope::canonical(&targets.signed),
        }
    }

    pub(super) fn file(&self) -> Result<Vec<u8>, EnvelopeError> {
        match self {
            Self::Root(root) => envelope::file(RoleName::Root, root),
            Self::Targets(targets) => envelope::file(RoleName::Targets, targets),
        }
    }

    pub(super) fn signatures(&self) -> &[Signature] {
        match self {
            Self::Root(root) => &root.signatures,
            Self::Targets(targets) => &targets.signatures,
        }
    }

    pub(super) fn signatures_mut(&mut self) -> &mut Vec<Signature> {
        match self {
            Self::Root(root) => &mut root.signatures,
            Self::Targets(targets) => &mut targets.signatures,
        }
    }

    /// Signs with each of these keys that has a say and has not signed. Whether any did.
    pub(super) fn add_signatures(
        &mut self,
        seats: &[(u64, Seats)],
        keys: &[RegistryKey],
    ) -> Result<bool, EnvelopeError> {
        let message = self.message()?;
        let mut added = false;
        for key in keys {
            let id = key.public().id();
            let has_a_say = seats.iter().any(|(_, seats)| seats.keys.contains_key(&id));
            let signed = self.signatures().iter().any(|signature| signature.keyid == id.to_tuf());
            if has_a_say && !signed {
                self.signatures_mut().push(envelope::signature(&message, key));
                added = true;
            }
        }
        Ok(added)
    }

    /// Drops the signatures that count nowhere, such as those of a key that was replaced since.
    pub(super) fn drop_idle_signatures(&mut self, seats: &[(u64, Seats)]) -> Result<(), EnvelopeError> {
        let message = self.message()?;
        let weighed: Vec<Vec<Worth>> =
            seats.iter().map(|(_, seats)| seats.weigh(&message, self.signatures())).collect();
        let mut place = 0;
        self.signatures_mut().retain(|_| {
            let counts = |worths: &Vec<Worth>| matches!(worths.get(place), Some(Worth::Counts(_)));
            let kept = weighed.iter().any(counts);
            place += 1;
            kept
        });
        Ok(())
    }

    pub(super) fn is_later(&self, stock: Option<&Stock>) -> Result<(), SheetError> {
        let Some(stock) = stock else { return Ok(()) };
        let published = match self {
            Self::Root(_) => stock.root.signed.version.get(),
            Self::Targets(_) => stock.targets.signed.version.get(),
        };
        let version = self.version();
        if version > published {
            return Ok(());
        }
        Err(SheetError::Version { role: self.role(), version, published })
    }

    pub(super) fn statement(&self, stock: Option<&Stock>) -> Result<Statement, EnvelopeError> {
        match self {
            Self::Root(root) => Statement::of_root(&root.signed, stock.map(|stock| &stock.root.signed)),
            Self::Targets(targets) => {
                Statement::of_targets(&targets.signed, stock.map(|stock| &stock.targets.signed))
            }
        }
    }

    /// The seats that have a say: for a root those of the old root and its own; for targets those of the root under which
    /// they will be published.
    pub(super) fn seats(
        &self,
        stock: Option<&Stock>,
        staged: &Staged,
    ) -> Result<Vec<(u64, Seats)>, RootFault> {
        let published = stock.map(|stock| &stock.root.signed);
        let roots: Vec<&Root> = match self {
            Self::Root(root) => published.into_iter().chain([&root.signed]).collect(),
            Self::Targets(_) => {
                let root = staged.root.as_ref().map(|root| &root.signed).or(published);
                root.into_iter().collect()
            }
        };
        let seats = |root: &Root| Ok((root.version.get(), role::seats(root, self.role())?));
        roots.into_iter().map(seats).collect()
    }

    pub(super) fn standing(
        &self,
        stock: Option<&Stock>,
        staged: &Staged,
    ) -> Result<Vec<Standing>, SheetError> {
        let (seats, message) = (self.seats(stock, staged)?, self.message()?);
        Ok(standing(self.role(), &seats, &message, self.signatures()))
    }
}

impl Staged {
    /// The files that wait for signatures.
    pub(super) fn papers(&self) -> Vec<(RoleName, Paper)> {
        let root = self.root.iter().map(|root| (RoleName::Root, Paper::Root(root.clone())));
        let targets = self.targets.iter().map(|targets| (RoleName::Targets, Paper::Targets(targets.clone())));
        root.chain(targets).collect()
    }
}

/// How far a file is signed, by each of these seats.
pub(super) fn standing(
    role: RoleName,
    seats: &[(u64, Seats)],
    message: &[u8],
    signatures: &[Signature],
) -> Vec<Standing> {
    seats.iter().map(|(root, seats)| seats.standing(role, *root, message, signatures)).collect()
}

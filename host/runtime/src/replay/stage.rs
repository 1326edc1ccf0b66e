//! What a case is played on: one manifest, a member, a bot and a credential that exist for it alone, and the time.

use std::num::NonZeroU32;
use std::sync::Arc;

use pinhole_grant::{
    Account, Action, Credential, CredentialId, CredentialParts, Dial, KeyKind, Label, MintRequest, Scope,
    Secret, SecretKey, UnixTime,
};
use pinhole_manifest::model::{AuthScheme, Op};
use pinhole_manifest::{Access, OpId};
use rand_core::CryptoRng;

use super::ReplayFault;
use crate::book::Book;
use crate::call::{CallRequest, Executor, Retries};
use crate::catalog::{Catalog, CatalogError, Entry, ModuleFiles, Source};
use crate::clock::{FixedClock, SystemTimer};
use crate::entropy::SystemEntropy;
use crate::local::unproved;
use crate::net::Wire;
use crate::outcome::Outcome;
use crate::renew::{Nobody, Renewing};
use crate::sandbox::Sandbox;
use crate::store::MemoryStore;

/// The time of every case: 2026-01-01 UTC.
pub(super) const CASE_TIME: UnixTime = UnixTime::from_secs(1_767_225_600);

/// What a case's credential is. A case shows it as `<credential>`.
const CASE_SECRET: &str = "key-of-the-recorded-case-0123456789";

/// Everything but the service, for one op.
pub(super) struct Stage {
    catalog: Catalog,
    op: OpId,
    bot: SecretKey,
    member: SecretKey,
    secret: Secret,
    sandbox: Sandbox,
    store: Arc<MemoryStore>,
    book: Book,
}

fn setup(error: &dyn std::fmt::Display) -> ReplayFault {
    ReplayFault::Setup(error.to_string())
}

impl Stage {
    pub(super) fn set<R: CryptoRng>(
        manifest: &[u8],
        modules: ModuleFiles,
        op: &OpId,
        rng: &mut R,
    ) -> Result<Self, ReplayFault> {
        let mut catalog = Catalog::default();
        let entry =
            catalog.add_with(manifest, Source::UnsignedFile, modules).map_err(|error| match error {
                CatalogError::Invalid(_) | CatalogError::Taken(_) | CatalogError::NotAsBuilt(_) => {
                    ReplayFault::Manifest
                }
            })?;
        if entry.manifest.op(op).is_none() {
            return Err(ReplayFault::Name);
        }
        let bot = SecretKey::generate(KeyKind::Bot, rng);
        let member = SecretKey::generate(KeyKind::Member, rng);
        let secret = Secret::new(CASE_SECRET.to_owned()).map_err(|error| setup(&error))?;
        Ok(Self {
            catalog,
            op: op.clone(),
            bot,
            member,
            secret,
            sandbox: Sandbox::default(),
            store: Arc::default(),
            book: Book::default(),
        })
    }

    /// The same, with its module in a sandbox that others use as well.
    pub(super) fn with_sandbox(self, sandbox: &Sandbox) -> Self {
        Self { sandbox: sandbox.clone(), ..self }
    }

    /// The same with another way of keeping receipts.
    #[cfg(test)]
    pub(super) fn with_book(self, book: Book) -> Self {
        Self { book, ..self }
    }

    /// Where its receipt will be.
    #[cfg(test)]
    pub(super) fn store(&self) -> Arc<MemoryStore> {
        Arc::clone(&self.store)
    }

    /// Whose receipt it will be.
    #[cfg(test)]
    pub(super) fn bot(&self) -> pinhole_grant::KeyId {
        self.bot.public().id()
    }

    /// The same with another credential.
    pub(super) fn with_secret(self, secret: Secret) -> Self {
        Self { secret, ..self }
    }

    fn entry(&self) -> Result<(&Entry, &Op), ReplayFault> {
        let entry = self.catalog.iter().next().ok_or(ReplayFault::Manifest)?;
        Ok((entry, entry.manifest.op(&self.op).ok_or(ReplayFault::Name)?))
    }

    /// How the credential is put in, and the header whose value is another for every grant.
    pub(super) fn marks(&self) -> Result<(&AuthScheme, Option<&str>), ReplayFault> {
        let (entry, op) = self.entry()?;
        Ok((&entry.manifest.auth().scheme, op.idempotency.as_deref()))
    }

    /// What the credential is.
    pub(super) fn key(&self) -> &str {
        self.secret.expose()
    }

    /// Runs the call.
    pub(super) async fn play<R: CryptoRng>(
        self,
        access: Access,
        args: &str,
        wire: Arc<dyn Wire>,
        rng: &mut R,
    ) -> Result<Outcome, ReplayFault> {
        let grant = self.grant(access, args, rng)?;
        let (entry, op) = self.entry()?;
        let request = CallRequest::new(entry.manifest.id().clone(), op.id.clone(), args, grant);
        let executor = Executor {
            issuers: vec![self.member.public().clone()],
            bot: Arc::new(self.bot.into()),
            catalog: self.catalog,
            store: self.store,
            clock: Box::new(FixedClock(CASE_TIME)),
            timer: Box::new(SystemTimer),
            entropy: Box::new(SystemEntropy),
            // A case says what comes of one answer.
            retries: Retries::Never,
            sandbox: self.sandbox,
            renewing: Renewing::new(Arc::new(Nobody)),
            wire,
            book: self.book,
        };
        Ok(executor.run(request).await)
    }

    /// The grant that the case says the bot has: a read grant, an approval of exactly this write, or, for args that no
    /// approval can name, a write grant.
    fn grant<R: CryptoRng>(&self, access: Access, args: &str, rng: &mut R) -> Result<Vec<u8>, ReplayFault> {
        let (entry, op) = self.entry()?;
        let bot = self.bot.public();
        let secret = Secret::new(self.secret.expose().to_owned()).map_err(|error| setup(&error))?;
        let credential = credential(entry, secret, access, rng).map_err(|error| setup(&error))?;
        let digest = entry.manifest.digest();
        let until = CASE_TIME.plus_secs(120);
        let approved = match (access, op.access) {
            (Access::Write, Access::Write) => op.args.parse_text(args).ok(),
            _ => None,
        };
        let request = if let Some(args) = approved {
            let action = Action {
                service: entry.manifest.id(),
                op: &op.id,
                args: &args,
                manifest: digest,
                connection: credential.id(),
                account: credential.account(),
                bot: bot.id(),
            };
            let action = action.digest().map_err(|error| setup(&error))?;
            MintRequest::approval(bot.clone(), digest, op.id.clone(), action, CASE_TIME, until)
        } else {
            let scope = Scope::new(access, CASE_TIME, until).with_uses(NonZeroU32::MIN);
            MintRequest::new(bot.clone(), digest, scope)
        };
        let sealed = pinhole_grant::mint(&request, &credential, &self.member, CASE_TIME, rng);
        sealed.map(pinhole_grant::SealedGrant::into_bytes).map_err(|error| setup(&error))
    }
}

fn credential<R: CryptoRng>(
    entry: &Entry,
    secret: Secret,
    cap: Access,
    rng: &mut R,
) -> Result<Credential, Box<dyn std::error::Error + Send + Sync>> {
    let parts = unproved(CredentialId::random(rng), secret, Dial::Overridden, entry)?;
    let (label, account) = (Label::parse("case")?, Account::parse("case")?);
    Ok(Credential::new(CredentialParts { label, account, cap, ..parts })?)
}

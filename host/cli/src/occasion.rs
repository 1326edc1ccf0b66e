//! What a call needs besides its flags: manifests, keys, a grant, an executor.
//!
//! A call without a grant gets one made for the occasion: a member key, a bot key and a credential that exist for this
//! process alone, sealed and signed like any other, so that there is one path.

use std::fmt::Display;
use std::io::{IsTerminal as _, Read as _};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use pinhole_grant::{
    Account, Action, Credential, CredentialId, CredentialParts, Dial, KeyKind, MintRequest, PublicKey, Ring,
    Scope, Secret, SecretKey, UnixTime,
};
use pinhole_manifest::model::Args;
use pinhole_manifest::{Access, OpId, ServiceId};
use pinhole_runtime::book::Book;
use pinhole_runtime::catalog::{Catalog, CatalogError, Entry, ModuleFiles, Source};
use pinhole_runtime::clock::{Clock as _, SystemClock, SystemTimer};
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_runtime::local::unproved;
use pinhole_runtime::net::PinnedClient;
use pinhole_runtime::renew::Renewing;
use pinhole_runtime::sandbox::Sandbox;
use pinhole_runtime::store::{Desk, Store};
use pinhole_runtime::{Executor, Retries};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;

use crate::args::LocalManifests;
use crate::config::Config;
use crate::database::{self, DatabaseFlags};
use crate::end::{End, Failure};
use crate::registry::shelf;
use crate::{files, terminal};

/// How long a grant that was made for the occasion lives, in seconds.
const OCCASION_SECS: i64 = 120;

/// The same for a read, in seconds: it may have many pages, and its keys go with this process anyway.
const OCCASION_READ_SECS: i64 = 24 * 3600;

/// How much of stdin is read for a key, in bytes: more than any key has.
const TOKEN_INPUT_MAX: usize = 64 << 10;

/// The operating system's entropy; a machine without any cannot go on.
pub(crate) fn entropy() -> UnwrapErr<SysRng> {
    UnwrapErr(SysRng)
}

/// The manifests of the binary, those of the trusted registries, and those that the flags name.
pub(crate) fn catalog(flags: &LocalManifests, config: &Config) -> anyhow::Result<Catalog> {
    let mut catalog = built_in()?;
    shelf::fill(&mut catalog, config)?;
    with_local(catalog, flags)
}

/// The same without those of registries, for who looks whether they can be read.
pub(crate) fn catalog_without_registries(flags: &LocalManifests) -> anyhow::Result<Catalog> {
    with_local(built_in()?, flags)
}

fn built_in() -> anyhow::Result<Catalog> {
    Catalog::built_in().map_err(|error| refused_manifest("compiled in", &error).into())
}

fn with_local(mut catalog: Catalog, flags: &LocalManifests) -> anyhow::Result<Catalog> {
    for path in &flags.manifest {
        let bytes = files::read(path)?;
        let taken = catalog.add_with(&bytes, Source::UnsignedFile, modules_beside(path));
        taken.map_err(|error| refused_manifest(&path.display().to_string(), &error))?;
    }
    Ok(catalog)
}

/// The modules of a manifest's file: in its folder.
pub(crate) fn modules_beside(manifest: &Path) -> ModuleFiles {
    ModuleFiles::In(manifest.parent().map(Path::to_owned).unwrap_or_default())
}

fn refused_manifest(place: &str, error: &CatalogError) -> Failure {
    let first = match error {
        CatalogError::Invalid(faults) => faults.first().map(|fault| format!(": {fault}")).unwrap_or_default(),
        _ => String::new(),
    };
    Failure::new(
        End::Invalid,
        format!("{place}: {error}{first}"),
        "`pinhole manifest check` shows every fault of a manifest; a service id has one manifest",
    )
}

/// `github.get_repo` as the two names in it.
pub(crate) fn op_name(text: &str) -> anyhow::Result<(ServiceId, OpId)> {
    let named = text
        .split_once('.')
        .and_then(|(service, op)| Some((ServiceId::parse(service).ok()?, OpId::parse(op).ok()?)));
    named.ok_or_else(|| {
        let message = format!("`{text}` is not the name of an op");
        Failure::new(End::Usage, message, "write SERVICE.OP, such as `github.get_repo`").into()
    })
}

/// The one line of stdin, as a key of a service.
pub(crate) fn token_from_stdin() -> anyhow::Result<Secret> {
    let unusable = |why: &dyn Display| {
        Failure::new(End::Usage, format!("the key on stdin: {why}"), "pipe in the key and nothing else")
    };
    if std::io::stdin().is_terminal() {
        let text = terminal::secret("Key of the service: ").map_err(|error| unusable(&error))?;
        return Ok(Secret::new(text).map_err(|error| unusable(&error))?);
    }
    // All at once and in one place, so that no copy of it is left behind.
    let mut text = String::with_capacity(TOKEN_INPUT_MAX);
    let took = std::io::stdin().lock().take(u64::try_from(TOKEN_INPUT_MAX)?).read_to_string(&mut text);
    took.map_err(|error| unusable(&error))?;
    text.truncate(text.trim_end_matches(['\r', '\n']).len());
    Ok(Secret::new(text).map_err(|error| unusable(&error))?)
}

/// A credential that is proved by nobody yet: the key as the person gave it.
pub(crate) fn credential(
    entry: &Entry,
    secret: Secret,
    account: Account,
    dial: Dial,
    cap: Access,
) -> anyhow::Result<Credential> {
    let parts = unproved(CredentialId::random(&mut entropy()), secret, dial, entry)?;
    Ok(Credential::new(CredentialParts { account, cap, ..parts })?)
}

/// A member who exists for this process alone, her one credential, which was sealed to her, and the bot that she gives
/// grants to.
pub(crate) struct Occasion {
    member: SecretKey,
    bot: PublicKey,
    credential: Credential,
}

impl Occasion {
    /// The member, and the bot's key.
    pub(crate) fn new(
        entry: &Entry,
        secret: Secret,
        dial: Dial,
        cap: Access,
    ) -> anyhow::Result<(Self, SecretKey)> {
        let mut rng = entropy();
        let bot = SecretKey::generate(KeyKind::Bot, &mut rng);
        let member = SecretKey::generate(KeyKind::Member, &mut rng);
        // Sealed to her and opened again, as one that she keeps would be: what she gives on has been through both.
        let given = credential(entry, secret, Account::parse("unnamed")?, dial, cap)?;
        let sealed = pinhole_grant::seal_credential(&given, &member, &mut rng)?;
        let credential = pinhole_grant::open_credential(&sealed, &member)?;
        Ok((Self { member, bot: bot.public().clone(), credential }, bot))
    }

    /// The member's public key.
    pub(crate) fn issuer(&self) -> PublicKey {
        self.member.public().clone()
    }

    /// A sealed grant for one run of a read.
    pub(crate) fn read_grant(&self, entry: &Entry) -> anyhow::Result<Vec<u8>> {
        let now = SystemClock.now();
        let scope =
            Scope::new(Access::Read, now, now.plus_secs(OCCASION_READ_SECS)).with_uses(NonZeroU32::MIN);
        let request = MintRequest::new(self.bot.clone(), entry.manifest.digest(), scope);
        self.mint(&request, now)
    }

    /// A sealed grant for one write that can be taken back.
    pub(crate) fn write_grant(&self, entry: &Entry) -> anyhow::Result<Vec<u8>> {
        let now = SystemClock.now();
        let scope = Scope::new(Access::Write, now, now.plus_secs(OCCASION_SECS)).with_uses(NonZeroU32::MIN);
        self.mint(&MintRequest::new(self.bot.clone(), entry.manifest.digest(), scope), now)
    }

    /// A sealed approval of exactly this write.
    pub(crate) fn approval(&self, entry: &Entry, op: &OpId, args: &Args) -> anyhow::Result<Vec<u8>> {
        let now = SystemClock.now();
        let (id, account) = (self.credential.id(), self.credential.account());
        let digest = action(entry, op, args, (id, account), &self.bot).digest()?;
        let bot = self.bot.clone();
        let until = now.plus_secs(OCCASION_SECS);
        self.mint(&MintRequest::approval(bot, entry.manifest.digest(), op.clone(), digest, now, until), now)
    }

    fn mint(&self, request: &MintRequest, now: UnixTime) -> anyhow::Result<Vec<u8>> {
        Ok(pinhole_grant::mint(request, &self.credential, &self.member, now, &mut entropy())?.into_bytes())
    }
}

/// What an approval names.
pub(crate) fn action<'a>(
    entry: &'a Entry,
    op: &'a OpId,
    args: &'a Args,
    (connection, account): (CredentialId, &'a Account),
    bot: &PublicKey,
) -> Action<'a> {
    Action {
        service: entry.manifest.id(),
        op,
        args,
        manifest: entry.manifest.digest(),
        connection,
        account,
        bot: bot.id(),
    }
}

/// An executor that runs calls as this bot.
pub(crate) fn executor(
    catalog: Catalog,
    bot: Ring,
    issuers: Vec<PublicKey>,
    client: PinnedClient,
    store: Arc<dyn Store>,
    sandbox: Sandbox,
) -> Executor {
    Executor {
        bot: Arc::new(bot),
        issuers,
        catalog,
        store,
        clock: Box::new(SystemClock),
        timer: Box::new(SystemTimer),
        entropy: Box::new(SystemEntropy),
        retries: Retries::Usual,
        sandbox,
        book: Book::default(),
        renewing: Renewing::default(),
        wire: Arc::new(client),
    }
}

/// The store of a home, or the one that its `config.toml` names.
pub(crate) fn open_store(home: &Path) -> anyhow::Result<Arc<dyn Desk>> {
    database::open_desk(home, &DatabaseFlags::default())
}

//! An application that embeds the runtime: a member mints a grant, and her bot runs one read under it. The service is a
//! stand-in on this machine, so that the program runs as it is, without a network or a key.
//!
//! ```sh
//! cargo run -p pinhole-runtime --example embed
//! ```
//!
//! For the real service leave out the stand-in, the override and `Dial::Overridden`; and keep the store in a folder that
//! stays (`SqliteStore`), for `MemoryStore` forgets which uses are spent.

use std::error::Error;
use std::io::Write as _;
use std::num::NonZeroU32;
use std::sync::Arc;

use pinhole_grant::{
    Account, Credential, CredentialId, CredentialKind, CredentialParts, Dial, KeyKind, Label, MintRequest,
    Scope, Secret, SecretKey, SourceName,
};
use pinhole_manifest::{Access, OpId, ServiceId};
use pinhole_runtime::catalog::{Catalog, Entry};
use pinhole_runtime::clock::{Clock as _, SystemClock, SystemTimer};
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_runtime::net::{DialOverride, NetSettings, PinnedClient};
use pinhole_runtime::outcome::Verdict;
use pinhole_runtime::renew::Renewing;
use pinhole_runtime::sandbox::Sandbox;
use pinhole_runtime::store::MemoryStore;
use pinhole_runtime::{CallRequest, Executor, Retries};
use pinhole_standin::{Config, GithubWorld, Standin, World};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;

/// The key that the stand-in expects.
const KEY: &str = "a-key-that-opens-nothing";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let world = GithubWorld::default();
    let organisation = world.organisation.clone();
    let config = Config { token: Some(KEY.to_owned()), ..Config::new(World::Github(world)) };
    let standin = Standin::start(config).await?;

    let catalog = Catalog::built_in()?;
    let github = ServiceId::parse("github")?;
    let entry = catalog.find(&github).ok_or("there is a manifest of GitHub")?;

    // The member's side: her key, her credential, a grant of one use for one op, sealed to one bot.
    let mut entropy = UnwrapErr(SysRng);
    let member = SecretKey::generate(KeyKind::Member, &mut entropy);
    let bot = SecretKey::generate(KeyKind::Bot, &mut entropy);
    let op = OpId::parse("list_org_repo_names")?;
    let now = SystemClock.now();
    let scope =
        Scope::new(Access::Read, now, now.plus_secs(120)).with_ops([op.clone()]).with_uses(NonZeroU32::MIN);
    let request = MintRequest::new(bot.public().clone(), entry.manifest.digest(), scope);
    let grant = pinhole_grant::mint(&request, &credential(entry)?, &member, now, &mut entropy)?;

    // The bot's side: it holds its own key and the sealed grant, and never sees the credential.
    let dial = DialOverride::parse(&format!("{}:443:{}", entry.manifest.host(), standin.addr()))?;
    let settings = NetSettings::default().with_override(dial).with_ca_pem(standin.ca_pem().as_bytes())?;
    let executor = Executor {
        bot: Arc::new(bot.into()),
        issuers: vec![member.public().clone()],
        catalog,
        store: Arc::new(MemoryStore::default()),
        clock: Box::new(SystemClock),
        timer: Box::new(SystemTimer),
        entropy: Box::new(SystemEntropy),
        retries: Retries::Usual,
        sandbox: Sandbox::default(),
        book: pinhole_runtime::book::Book::default(),
        renewing: Renewing::default(),
        wire: Arc::new(PinnedClient::new(settings)?),
    };
    let args = format!(r#"{{"org": "{organisation}", "per_page": 3}}"#);
    let outcome = executor.run(CallRequest::new(github, op, args, grant.into_bytes())).await;

    match &outcome.verdict {
        Verdict::Done(picked) => {
            let meta = &outcome.meta;
            writeln!(std::io::stdout(), "{}", picked.result)?;
            writeln!(std::io::stdout(), "{} bytes came, {} went on", meta.bytes_in, meta.bytes_out)?;
            Ok(())
        }
        Verdict::Refused(refusal) => Err(format!("refused ({}): {}", refusal.code, refusal.message).into()),
    }
}

/// The member's key for the service, bound to the manifest's host and source, and to dialling a stand-in.
fn credential(entry: &Entry) -> Result<Credential, Box<dyn Error>> {
    Ok(Credential::new(CredentialParts {
        id: CredentialId::random(&mut UnwrapErr(SysRng)),
        service: entry.manifest.id().clone(),
        label: Label::parse("default")?,
        account: Account::parse(GithubWorld::VIEWER)?,
        host: entry.manifest.host().clone(),
        token_url: None,
        registry: SourceName::parse(entry.source.name())?,
        kind: CredentialKind::Pat,
        secret: Secret::new(KEY.to_owned())?,
        refresh: None,
        expires_at: None,
        renewer: None,
        cap: Access::Read,
        dial: Dial::Overridden,
    })?)
}

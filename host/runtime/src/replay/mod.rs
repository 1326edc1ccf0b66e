//! Recorded cases, run through the whole path with the service in memory: a real grant, sealed and opened, the spine, the
//! projector. Only the socket is missing.
//!
//! Refuses a case whose requests are not exactly those that the op sends, or that records more than were sent. DESIGN,
//! "Cases".

mod wire;

use std::num::NonZeroU32;
use std::sync::Arc;

use pinhole_grant::{
    Account, Action, Credential, CredentialId, CredentialKind, CredentialParts, Dial, KeyKind, Label,
    MintRequest, Scope, Secret, SecretKey, SourceName, UnixTime,
};
use pinhole_manifest::Access;
use pinhole_manifest::cases::{Case, CaseName, Expect};
use pinhole_manifest::diagnostic::Diagnostic;
use rand_core::CryptoRng;

use crate::call::{CallRequest, Executor, Retries};
use crate::catalog::{Catalog, CatalogError, Entry, ModuleFiles, Source};
use crate::clock::{FixedClock, SystemTimer};
use crate::entropy::SystemEntropy;
use crate::outcome::{Outcome, Verdict};
use crate::project::Tree;
use crate::sandbox::Sandbox;
use crate::store::MemoryStore;
use wire::{ReplayWire, Script, same};

/// The time of every case: 2026-01-01 UTC.
const CASE_TIME: UnixTime = UnixTime::from_secs(1_767_225_600);

/// What a case's credential is. A case shows it as `<credential>`.
const CASE_SECRET: &str = "key-of-the-recorded-case-0123456789";

/// Why a case does not hold.
#[derive(Debug, thiserror::Error)]
pub enum ReplayFault {
    /// The manifest does not load.
    #[error("the manifest does not load: `pinhole manifest check` says why")]
    Manifest,
    /// The file's name is not one of a case, or names no op of the manifest.
    #[error("the file's name names no op: write `<op>.<name>.json`")]
    Name,
    /// The case does not load.
    #[error("the case does not load: {}", .0.first().map_or_else(String::new, ToString::to_string))]
    Case(Vec<Diagnostic>),
    /// What was sent is not what the case records.
    #[error("request {number}: {difference}")]
    Request {
        /// Which request, from 1.
        number: usize,
        /// What differs.
        difference: String,
    },
    /// The case records requests that were not sent.
    #[error("{unsent} recorded requests were not sent; the outcome is {outcome}")]
    Unsent {
        /// How many.
        unsent: usize,
        /// What came of it.
        outcome: String,
    },
    /// The outcome is another.
    #[error("expected {expected}, got {got}")]
    Outcome {
        /// What the case expects.
        expected: String,
        /// What came of it.
        got: String,
    },
    /// The case could not be set up.
    #[error("the case could not be set up: {0}")]
    Setup(String),
}

/// Replays one case of a manifest, whose modules are there. `file` is the case's file name, which names the op.
pub async fn replay<R: CryptoRng>(
    manifest: &[u8],
    modules: ModuleFiles,
    file: &str,
    case: &[u8],
    rng: &mut R,
) -> Result<(), ReplayFault> {
    let mut catalog = Catalog::default();
    catalog.add_with(manifest, Source::UnsignedFile, modules).map_err(|error| match error {
        CatalogError::Invalid(_) | CatalogError::Taken(_) => ReplayFault::Manifest,
    })?;
    let entry = catalog.iter().next().ok_or(ReplayFault::Manifest)?;
    let name = CaseName::parse(file).map_err(|_grammar| ReplayFault::Name)?;
    let case = Case::parse(case).map_err(ReplayFault::Case)?;
    let bot = SecretKey::generate(KeyKind::Bot, rng);
    let member = SecretKey::generate(KeyKind::Member, rng);
    let grant = grant_for(entry, &name, &case, (&member, &bot), rng)?;
    let request = CallRequest::new(entry.manifest.id().clone(), name.op.clone(), case.args.as_str(), grant);
    let idempotency = entry.manifest.op(&name.op).and_then(|op| op.idempotency.as_deref());
    let scheme = &entry.manifest.auth().scheme;
    let script = Arc::new(Script::new(case.exchanges, scheme, CASE_SECRET, idempotency));
    let executor = Executor {
        issuers: vec![member.public().clone()],
        bot,
        catalog,
        store: Arc::new(MemoryStore::default()),
        clock: Box::new(FixedClock(CASE_TIME)),
        timer: Box::new(SystemTimer),
        entropy: Box::new(SystemEntropy),
        // A case says what comes of one answer.
        retries: Retries::Never,
        sandbox: Sandbox::default(),
        wire: Box::new(ReplayWire::new(Arc::clone(&script))),
    };
    let outcome = executor.run(request).await;
    if let Some((number, difference)) = script.difference() {
        return Err(ReplayFault::Request { number, difference });
    }
    compare(&case.expect, case.notes.as_deref(), case.next, &outcome)?;
    match script.unsent() {
        0 => Ok(()),
        unsent => Err(ReplayFault::Unsent { unsent, outcome: shown(&outcome) }),
    }
}

/// The grant that the case says the bot has: a read grant, an approval of exactly this write, or, for args that no
/// approval can name, a write grant.
fn grant_for<R: CryptoRng>(
    entry: &Entry,
    name: &CaseName,
    case: &Case,
    (member, bot): (&SecretKey, &SecretKey),
    rng: &mut R,
) -> Result<Vec<u8>, ReplayFault> {
    let setup = |error: &dyn std::fmt::Display| ReplayFault::Setup(error.to_string());
    let op = entry.manifest.op(&name.op).ok_or(ReplayFault::Name)?;
    let credential = credential(entry, case.access, rng).map_err(|error| setup(&error))?;
    let digest = entry.manifest.digest();
    let until = CASE_TIME.plus_secs(120);
    let approved = match (case.access, op.access) {
        (Access::Write, Access::Write) => op.args.parse_text(case.args.as_str()).ok(),
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
            bot: bot.public().id(),
        };
        let action = action.digest().map_err(|error| setup(&error))?;
        MintRequest::approval(bot.public().clone(), digest, op.id.clone(), action, CASE_TIME, until)
    } else {
        let scope = Scope::new(case.access, CASE_TIME, until).with_uses(NonZeroU32::MIN);
        MintRequest::new(bot.public().clone(), digest, scope)
    };
    let sealed = pinhole_grant::mint(&request, &credential, member, CASE_TIME, rng);
    sealed.map(pinhole_grant::SealedGrant::into_bytes).map_err(|error| setup(&error))
}

fn credential<R: CryptoRng>(
    entry: &Entry,
    cap: Access,
    rng: &mut R,
) -> Result<Credential, Box<dyn std::error::Error + Send + Sync>> {
    Ok(Credential::new(CredentialParts {
        id: CredentialId::random(rng),
        service: entry.manifest.id().clone(),
        label: Label::parse("case")?,
        account: Account::parse("case")?,
        host: entry.manifest.host().clone(),
        token_url: None,
        registry: SourceName::parse(entry.source.name())?,
        kind: CredentialKind::Pat,
        secret: Secret::new(CASE_SECRET.to_owned())?,
        refresh: None,
        expires_at: None,
        cap,
        dial: Dial::Overridden,
    })?)
}

fn compare(
    expect: &Expect,
    notes: Option<&[String]>,
    next: Option<bool>,
    outcome: &Outcome,
) -> Result<(), ReplayFault> {
    let leads_on = |yes: bool| if yes { " with a next page" } else { " without a next page" };
    let holds = match (expect, &outcome.verdict) {
        (Expect::Result(wanted), Verdict::Done(picked)) => {
            let wanted = Tree::parse(wanted.as_str().as_bytes());
            let as_noted = notes.is_none_or(|notes| notes == picked.notes);
            let leads = next.is_none_or(|next| next == picked.next.is_some());
            wanted.is_ok_and(|wanted| same(&wanted, &picked.result)) && as_noted && leads
        }
        (Expect::Refusal(wanted), Verdict::Refused(refusal)) => refusal.code.as_str() == wanted,
        _ => false,
    };
    if holds {
        return Ok(());
    }
    let expected = match expect {
        Expect::Result(wanted) => match notes {
            Some(notes) => format!("{} with notes {notes:?}", wanted.as_str()),
            None => wanted.as_str().to_owned(),
        },
        Expect::Refusal(code) => format!("the refusal `{code}`"),
    };
    let got = next.map(|_| leads_on(outcome.next().is_some())).unwrap_or_default();
    Err(ReplayFault::Outcome {
        expected: expected + next.map(leads_on).unwrap_or_default(),
        got: shown(outcome) + got,
    })
}

fn shown(outcome: &Outcome) -> String {
    match &outcome.verdict {
        Verdict::Done(picked) if picked.notes.is_empty() => picked.result.to_string(),
        Verdict::Done(picked) => format!("{} with notes {:?}", picked.result, picked.notes),
        Verdict::Refused(refusal) => format!("the refusal `{}`: {}", refusal.code, refusal.message),
    }
}

//! The caller's own key for a write: the same write under the same key is carried out once, and its first outcome is what every
//! later call with it gets, for a day.
//!
//! INVARIANT: a write under a key that may have been carried out already is not sent, unless its service knows a repeated one by
//! a header, which then is the same as the first time. The key permits nothing: a call that gets this far may run without one.

use pinhole_grant::kept::KEPT_NONCE_BYTES;
use pinhole_grant::{CallKey, Keyed, KeyedDigest, act_digest, open_kept, seal_kept};
use pinhole_manifest::model::Args;
use pinhole_manifest::{Access, Digest};

use super::open::Agreed;
use super::prepare::Prepared;
use super::{Call, Executor, Trace};
use crate::net::Sent;
use crate::outcome::{Code, Picked, Refusal, kept};
use crate::store::{Again, Claim, Claiming, Fate, Store};

/// How long after the op's own time a write is over at the latest, in seconds: what is looked up before it, and what is noted
/// after it.
const GRACE_SECS: i64 = 60;

/// Where a write under a key stands.
pub(super) enum Claimed {
    /// It has no key.
    Keyless,
    /// It is this call's to carry out.
    Mine(KeyedDigest),
    /// It was carried out before: what came of it, and the status of its answer.
    Before(Box<Result<Picked, Refusal>>, Option<u16>),
}

impl Call<Prepared<'_>> {
    /// Begins the write under its key, unless something is known of that.
    pub(super) async fn claim(&self, executor: &Executor) -> Result<Claimed, Refusal> {
        let authorized = &self.stage.page.authorized;
        let Some(claiming) = authorized.agreed.claiming(&authorized.args, executor)? else {
            return Ok(Claimed::Keyless);
        };
        let claim = executor.with_store(move |store| store.claim(&claiming)).await?;
        answered(claim, &claiming, executor)
    }
}

impl Agreed<'_> {
    /// What is asked of the store about the call's key, where it has one.
    pub(super) fn claiming(&self, args: &Args, executor: &Executor) -> Result<Option<Claiming>, Refusal> {
        let Some(key) = &self.request.key else { return Ok(None) };
        if self.op.access == Access::Read {
            return Err(Refusal::new(Code::KeyNotTaken));
        }
        let no_digest = || Refusal::new(Code::StoreFailed).detail("no digest of the call's key");
        let id = self.keyed(key).digest(executor.bot.root()).ok_or_else(no_digest)?;
        let act =
            act_digest(executor.bot.root(), self.manifest.id(), &self.op.id, args).ok_or_else(no_digest)?;
        let seconds = i64::try_from(self.op.limits.timeout_ms.div_ceil(1000)).unwrap_or(i64::MAX);
        Ok(Some(Claiming {
            id,
            act,
            member: self.grant().issuer(),
            bot: executor.bot.root().public().id(),
            now: self.now,
            over_by: self.now.plus_secs(seconds.saturating_add(GRACE_SECS)),
            again: if self.op.idempotency.is_some() { Again::Known } else { Again::Blind },
        }))
    }

    fn keyed<'k>(&self, key: &'k CallKey) -> Keyed<'k> {
        let (issuer, connection) = (self.grant().issuer(), self.grant().connection());
        Keyed { issuer, principal: self.request.principal, connection, key }
    }

    /// What the header by which the service knows a repeated write says for a call with a key: the same for every call with it.
    pub(super) fn header_of_key(&self, args: &Args, executor: &Executor) -> Option<String> {
        let key = self.request.key.as_ref()?;
        let id = self.keyed(key).digest(executor.bot.root())?;
        let act = act_digest(executor.bot.root(), self.manifest.id(), &self.op.id, args)?;
        Some(Digest::of(format!("{id}/{act}").as_bytes()).to_string())
    }

    /// What came of the write that was carried out under the call's key before, if one was; a refusal where nobody knows, where
    /// it is under way, or where it was another. Begins nothing.
    pub(super) async fn before(
        &self,
        args: &Args,
        executor: &Executor,
    ) -> Result<Option<(Result<Picked, Refusal>, Option<u16>)>, Refusal> {
        let Some(claiming) = self.claiming(args, executor)? else { return Ok(None) };
        match executor.with_store(move |store| store.kept(&claiming)).await? {
            None => Ok(None),
            Some(Claim::Unknown) if claiming.again == Again::Known => Ok(None),
            Some(claim) => match answered(claim, &claiming, executor)? {
                Claimed::Before(verdict, status) => Ok(Some((*verdict, status))),
                Claimed::Keyless | Claimed::Mine(_) => Ok(None),
            },
        }
    }
}

fn answered(claim: Claim, claiming: &Claiming, executor: &Executor) -> Result<Claimed, Refusal> {
    match claim {
        Claim::Mine => Ok(Claimed::Mine(claiming.id)),
        Claim::Done(sealed) => {
            let kept = opened(&sealed, claiming.id, executor).and_then(|text| kept::read(&text));
            // What does not read back was done all the same.
            let (verdict, status) =
                kept.ok_or_else(|| Refusal::new(Code::OutcomeUnknown).sent(Sent::Maybe))?;
            Ok(Claimed::Before(Box::new(verdict), status))
        }
        Claim::UnderWay(over_by) => {
            let left = over_by.secs_since(claiming.now).and_then(|left| u64::try_from(left).ok());
            Err(Refusal { retry_after: left, ..Refusal::new(Code::UnderWay).sent(Sent::Maybe) })
        }
        Claim::Unknown => Err(Refusal::new(Code::OutcomeUnknown).sent(Sent::Maybe)),
        Claim::Conflict => Err(Refusal::new(Code::KeyConflict)),
    }
}

impl Claimed {
    /// Keeps what came of the write. Where that fails it counts as one of which nobody knows, once its time is over.
    pub(super) async fn end(&self, ended: &Result<Picked, Refusal>, executor: &Executor, trace: &Trace) {
        let Self::Mine(id) = *self else { return };
        let fate = match ended {
            Ok(_) => Ended::Done,
            Err(refusal) => Ended::of(refusal),
        };
        let sealed = match fate {
            Ended::Done => seal(ended, id, executor, trace),
            Ended::NotDone | Ended::Unknown => None,
        };
        let note = move |store: &dyn Store| match (fate, &sealed) {
            (Ended::NotDone, _) => store.ended(id, Fate::NotSent),
            (Ended::Done, Some(sealed)) => store.ended(id, Fate::Done(sealed)),
            (Ended::Done, None) | (Ended::Unknown, _) => store.ended(id, Fate::Unknown),
        };
        if let Err(refusal) = executor.with_store(note).await {
            tracing::warn!(
                detail = refusal.private_detail().unwrap_or_default(),
                "what became of a write could not be kept under its key"
            );
        }
    }
}

fn seal(
    ended: &Result<Picked, Refusal>,
    id: KeyedDigest,
    executor: &Executor,
    trace: &Trace,
) -> Option<Vec<u8>> {
    let text = kept::write(ended, trace.meta.status)?;
    let mut nonce = [0; KEPT_NONCE_BYTES];
    executor.entropy.fill(&mut nonce).ok()?;
    let key = executor.bot.shared(executor.clock.now());
    seal_kept(text.as_bytes(), id, key, nonce).ok()
}

/// It may have been kept before the bot's key was changed.
fn opened(sealed: &[u8], id: KeyedDigest, executor: &Executor) -> Option<Vec<u8>> {
    executor.bot.all().find_map(|key| open_kept(sealed, id, key).ok())
}

/// What an end says of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// It was not carried out, and may be tried again as it is.
    NotDone,
    /// The service has answered it.
    Done,
    /// Nobody knows.
    Unknown,
}

impl Ended {
    fn of(refusal: &Refusal) -> Self {
        match (refusal.sent, refusal.code) {
            // The service, too, may say that it did nothing, and why that may change.
            (Sent::No, _) | (Sent::Yes, Code::UpstreamUnauthorized | Code::UpstreamRateLimited) => {
                Self::NotDone
            }
            (
                Sent::Yes,
                Code::UpstreamInvalid
                | Code::UpstreamForbidden
                | Code::UpstreamNotFound
                | Code::UpstreamConflict
                | Code::UpstreamFailure
                | Code::NotJson
                | Code::RootAbsent
                | Code::DuplicateKey
                | Code::ResultTooLarge,
            ) => Self::Done,
            (Sent::Yes | Sent::Maybe, _) => Self::Unknown,
        }
    }
}

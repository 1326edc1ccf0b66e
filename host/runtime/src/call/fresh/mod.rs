//! From a call that may run to one whose key is good, as far as anybody knows: the newest pair of its credential, renewed
//! where it is due.
//!
//! INVARIANT: whatever pair is used, host, token URL, account and way of dialling are those of the grant's credential. A
//! grant without a use left, or without a way back for the fresh pair, renews nothing. DESIGN, "Crypto": Rotated pairs.

mod keys;
mod refused;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pinhole_grant::{CredentialKind, KeptPair, PairDigest, Renewer, Secret, seal_returned};
use pinhole_manifest::model::OAuth;

pub(super) use keys::{Key, Keys, scrub_of_grant};
use refused::Stays;

use super::open::Agreed;
use super::page::OnPage;
use super::{Call, Executor, Trace};
use crate::entropy;
use crate::net::Sent;
use crate::outcome::{Code, Refusal, Rotated};
use crate::renew::{self, Given, NotRenewed, Term};
use crate::store::{LineState, Lines};

/// The call has a key.
#[derive(Debug)]
pub(super) struct Fresh<'a> {
    pub(super) page: OnPage<'a>,
    pub(super) keys: Keys,
}

impl<'a> Call<OnPage<'a>> {
    /// Finds the newest pair, and renews it where it is due.
    pub(super) async fn freshen(
        self,
        executor: &Executor,
        trace: &mut Trace,
    ) -> Result<Call<Fresh<'a>>, Refusal> {
        let page = self.stage;
        let agreed = &page.authorized.agreed;
        let uses = agreed.grant().scope().uses.filter(|_| !page.is_paid());
        let keys = agreed.keys(uses, executor, trace).await?;
        Ok(Call { stage: Fresh { page, keys } })
    }
}

impl Agreed<'_> {
    /// The keys of a call that is about to spend one of so many uses.
    pub(super) async fn keys(
        &self,
        uses: Option<NonZeroU32>,
        executor: &Executor,
        trace: &mut Trace,
    ) -> Result<Keys, Refusal> {
        let keys = Keys::granted(self, executor);
        if self.grant().credential().kind() != CredentialKind::Oauth {
            return Ok(keys);
        }
        if let Some(digest) = keys.granted
            && let Some(line) = executor.with_store(move |store| store.line(&digest)).await?
        {
            if let Some(pair) = renew::newest(&line, &executor.bot)? {
                self.adopt(&pair, line.newest, &keys, executor, trace)?;
            }
            if line.state == LineState::Dead {
                return Err(refused::dead());
            }
        }
        let (key, now) = (keys.current(), executor.clock.now());
        if !key.term.is_due(now) {
            return Ok(keys);
        }
        // In a box, so that a call whose key is good is no larger for it.
        match Box::pin(self.renew(&key, uses, &keys, executor, trace)).await {
            Err(Stays::ForNow(_)) if !key.term.is_over(now) => Ok(keys),
            Err(stays) => Err(stays.into_refusal()),
            Ok(()) => Ok(keys),
        }
    }

    /// Sees to another key than one that the service has just refused. `None`: there is none to be had, and what the service
    /// says stands.
    pub(super) async fn other_than(
        &self,
        refused: &Key,
        keys: &Keys,
        executor: &Executor,
        trace: &mut Trace,
    ) -> Result<Option<()>, Refusal> {
        if refused.digest.is_none() {
            return Ok(None);
        }
        if keys.current().digest != refused.digest {
            return Ok(Some(()));
        }
        let can = self.grant().return_to().is_some() && self.renewer().is_some();
        if !can || !refused.term.is_settled(executor.clock.now()) {
            return Ok(None);
        }
        // The use of this call is spent already.
        let renewed = Box::pin(self.renew(refused, None, keys, executor, trace)).await;
        renewed.map(Some).map_err(|stays| stays.into_refusal().sent(Sent::Yes))
    }

    /// Renews a pair that will not do, or finds that somebody has.
    async fn renew(
        &self,
        bad: &Key,
        uses: Option<NonZeroU32>,
        keys: &Keys,
        executor: &Executor,
        trace: &mut Trace,
    ) -> Result<(), Stays> {
        let given = self.given(bad, keys)?;
        if let Some(uses) = uses {
            let id = self.grant().id();
            if !executor.with_store(move |store| store.has_use_left(&id, uses)).await? {
                return Err(Refusal::new(Code::GrantUsedUp).into());
            }
        }
        let lines: Arc<dyn Lines> = executor.store.clone();
        let doors = (lines, Arc::clone(&executor.wire), Arc::clone(&executor.bot));
        let (entropy, now) = (executor.entropy.as_ref(), executor.clock.now());
        let sent = Arc::clone(&given.sent);
        let renewed = executor.renewing.renew(given, doors, entropy, now).await;
        trace.record.asked_for_a_pair(sent.load(Ordering::Relaxed));
        match renewed {
            Ok(pair) => {
                let digest = pair.digest(executor.bot.root()).ok_or_else(refused::no_digest)?;
                Ok(self.adopt(&pair, digest, keys, executor, trace)?)
            }
            Err(error) => {
                if let NotRenewed::Unstored { pair, .. } = &error {
                    self.hand_back(pair, executor, trace);
                }
                Err(error.into())
            }
        }
    }

    /// What a renewal takes, where all of it is there.
    fn given(&self, bad: &Key, keys: &Keys) -> Result<Given, Stays> {
        let (grant, credential) = (self.grant(), self.grant().credential());
        let (renewer, oauth) = self.renewer().ok_or_else(refused::nobody)?;
        let refresh = credential.refresh().ok_or_else(refused::nobody)?;
        let (digest, bad) = keys.granted.zip(bad.digest).ok_or_else(refused::nobody)?;
        if grant.return_to().is_none() {
            return Err(Stays::ForNow(Refusal::new(Code::NoWayBack)));
        }
        Ok(Given {
            issuer: grant.issuer(),
            credential: credential.id(),
            service: credential.service().clone(),
            oauth: oauth.clone(),
            renewer: renewer.clone(),
            dial: credential.dial(),
            generation: credential.generation(),
            digest,
            refresh: Secret::new(refresh.expose().to_owned()).map_err(|_never| refused::no_digest())?,
            bad,
            sent: Arc::default(),
        })
    }

    /// Who renews, and where, by the manifest in force: its token URL is the credential's, which was checked.
    fn renewer(&self) -> Option<(&Renewer, &OAuth)> {
        self.grant().credential().renewer().zip(self.manifest.auth().oauth.as_ref())
    }

    /// Uses a pair from here on, and sends it back where the grant's is an older one.
    fn adopt(
        &self,
        pair: &KeptPair,
        digest: PairDigest,
        keys: &Keys,
        executor: &Executor,
        trace: &mut Trace,
    ) -> Result<(), Refusal> {
        if keys.current().digest == Some(digest) && keys.granted != Some(digest) {
            return Ok(());
        }
        let kept = pair.of(self.grant().credential()).map_err(|error| refused::no_digest().detail(&error))?;
        let term = Term { obtained_at: Some(pair.obtained_at), expires_at: pair.expires_at };
        keys.put(Key { kept: Some(kept), digest: Some(digest), term }, self);
        if keys.granted != Some(digest) {
            self.hand_back(pair, executor, trace);
        }
        Ok(())
    }

    /// Seals a pair to where the grant says. It is kept here, so where that cannot be the next call does it.
    fn hand_back(&self, pair: &KeptPair, executor: &Executor, trace: &mut Trace) {
        if self.grant().return_to().is_none() {
            return;
        }
        let sealed = pair.of(self.grant().credential()).ok().and_then(|rotated| {
            let mut rng = entropy::seeded(executor.entropy.as_ref()).ok()?;
            let sealed = seal_returned(&self.grant, &rotated, self.bot(executor), &mut rng).ok()?;
            Rotated::new(rotated.id(), rotated.generation(), &sealed)
        });
        if let Some(rotated) = sealed {
            trace.hand_back(rotated);
        } else {
            tracing::warn!("a renewed pair could not be sealed to its member");
        }
    }
}

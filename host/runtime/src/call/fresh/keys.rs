//! What a call sends as its key: the pair of its grant, or a newer one of the same credential.
//!
//! INVARIANT: every secret that a call ever had is known to its scrub, from before the request that carries it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pinhole_grant::{Credential, CredentialKind, PairDigest, Secret};

use super::super::Executor;
use super::super::open::Agreed;
use crate::renew::Term;
use crate::scrub::Scrub;

/// The keys of one call. Its requests share them, also those that are under way at once.
#[derive(Debug)]
pub(in super::super) struct Keys {
    /// What the grant's own pair is known by, where it can be renewed.
    pub(super) granted: Option<PairDigest>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    current: Arc<Key>,
    scrub: Arc<Scrub>,
    /// All that the scrub looks for.
    had: Vec<Arc<Key>>,
}

/// A pair, or a key that was pasted.
#[derive(Debug)]
pub(in super::super) struct Key {
    /// The grant's credential with another pair in it; `None`: as it is.
    pub(super) kept: Option<Credential>,
    /// What it is known by, where it can be renewed.
    pub(super) digest: Option<PairDigest>,
    pub(super) term: Term,
}

impl Key {
    /// The credential whose secret is sent.
    pub(in super::super) fn credential<'k>(&'k self, agreed: &'k Agreed<'_>) -> &'k Credential {
        self.kept.as_ref().unwrap_or_else(|| agreed.grant().credential())
    }
}

impl Keys {
    /// That of the grant itself.
    pub(super) fn granted(agreed: &Agreed<'_>, executor: &Executor) -> Self {
        let (grant, credential) = (agreed.grant(), agreed.grant().credential());
        let renewable = credential.kind() == CredentialKind::Oauth && credential.refresh().is_some();
        let digest =
            renewable.then(|| PairDigest::of(executor.bot.root(), grant.issuer(), credential)).flatten();
        let term = Term { obtained_at: None, expires_at: credential.expires_at() };
        let current = Arc::new(Key { kept: None, digest, term });
        let had = vec![Arc::clone(&current)];
        let scrub = Arc::new(scrub_of(&had, agreed));
        Self { granted: digest, state: Mutex::new(State { current, scrub, had }) }
    }

    /// The one that is sent now.
    pub(in super::super) fn current(&self) -> Arc<Key> {
        Arc::clone(&self.state().current)
    }

    /// The scrub that looks for all secrets of the call so far.
    pub(in super::super) fn scrub(&self) -> Arc<Scrub> {
        Arc::clone(&self.state().scrub)
    }

    /// Takes a newer one.
    pub(super) fn put(&self, key: Key, agreed: &Agreed<'_>) {
        let mut state = self.state();
        state.current = Arc::new(key);
        let current = Arc::clone(&state.current);
        state.had.push(current);
        state.scrub = Arc::new(scrub_of(&state.had, agreed));
    }

    /// Each change is whole when it is seen.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The scrub that looks for the secrets of the grant itself, before its newest pair is known.
pub(in super::super) fn scrub_of_grant(agreed: &Agreed<'_>) -> Scrub {
    scrub_of_all([agreed.grant().credential()])
}

fn scrub_of(had: &[Arc<Key>], agreed: &Agreed<'_>) -> Scrub {
    scrub_of_all(had.iter().map(|key| key.credential(agreed)))
}

fn scrub_of_all<'c>(credentials: impl IntoIterator<Item = &'c Credential>) -> Scrub {
    let mut secrets = Vec::new();
    for credential in credentials {
        secrets.push(credential.secret().expose());
        secrets.extend(credential.refresh().map(Secret::expose));
    }
    Scrub::new(&secrets)
}

//! Proving a key on the spot: the service's viewer is run with it before anything is stored.
//!
//! Refuses a key that does not look like one of the service's before it is sent anywhere. INVARIANT: a key that is refused
//! leaves nothing behind.

use pinhole_grant::{
    Account, Credential, CredentialError, CredentialId, CredentialKind, CredentialParts, Dial, Label,
    MintError, MintRequest, Renewer, Scope, Secret, SourceName, TextError,
};
use pinhole_manifest::Access;
use pinhole_manifest::host::HttpsUrl;
use pinhole_manifest::model::Auth;
use pinhole_manifest::visible::visible;

use super::{DEFAULT_LABEL, Present, UNNAMED_ACCOUNT};
use crate::call::{CallRequest, Executor};
use crate::catalog::Entry;
use crate::entropy::{self, EntropyError};
use crate::oauth::FreshPair;
use crate::outcome::{Outcome, Refusal};
use crate::project::{self, Tree};

/// How long the grant lives under which a key is proved, in seconds.
const PROOF_SECS: i64 = 120;

/// A key that the service accepts, and whose account it is.
#[derive(Debug)]
pub struct Proved {
    pub(super) parts: CredentialParts,
    named: bool,
}

/// Why a key was not proved. Nothing was stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProveError {
    /// The service takes no keys that a person could paste.
    #[error("the service takes no key that could be pasted")]
    NoKeys,
    /// The manifest names no op that proves a key.
    #[error("the manifest names no viewer, so that no key can be proved")]
    NoViewer,
    /// The service's manifest has no OAuth.
    #[error("the manifest has no OAuth")]
    NoOauth,
    /// API and token endpoint are dialled in different ways. It was not sent.
    #[error("the service's API and its token URL are not both dialled at a stand-in, or both not")]
    Dial,
    /// The key does not look like one of the service's. It was not sent.
    #[error("this does not look like a key of the service")]
    Pattern,
    /// The viewer was refused.
    #[error("the key was not proved: {}", .0.message)]
    Refused(Box<Refusal>),
    /// The key is in no shape that can be sealed.
    #[error(transparent)]
    Credential(#[from] CredentialError),
    /// A name in it is none.
    #[error(transparent)]
    Text(#[from] TextError),
    /// No grant could be minted to prove it under.
    #[error(transparent)]
    Mint(#[from] MintError),
    /// There is no randomness.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
}

impl Proved {
    /// Whose account it is; `None` where the service does not say.
    pub fn account(&self) -> Option<&Account> {
        self.named.then_some(&self.parts.account)
    }
}

/// What the service gave when the person said yes there, and who may renew it.
#[derive(Debug)]
pub struct Obtained {
    /// The pair.
    pub pair: FreshPair,
    /// Who renews it. Without anybody its refresh token is of no use, and is not kept.
    pub renewer: Option<Renewer>,
}

impl Obtained {
    fn into_parts(self, bare: CredentialParts, token_url: HttpsUrl) -> CredentialParts {
        let Self { pair, renewer } = self;
        CredentialParts {
            kind: CredentialKind::Oauth,
            token_url: Some(token_url),
            secret: pair.access,
            refresh: pair.refresh.filter(|_refresh| renewer.is_some()),
            expires_at: pair.expires_at,
            renewer: renewer.map(Box::new),
            ..bare
        }
    }
}

/// A key as a person gave it, which nobody has proved: it reads, and nobody knows yet whose it is.
pub fn unproved(
    id: CredentialId,
    secret: Secret,
    dial: Dial,
    entry: &Entry,
) -> Result<CredentialParts, TextError> {
    let manifest = &entry.manifest;
    Ok(CredentialParts {
        id,
        service: manifest.id().clone(),
        label: Label::parse(DEFAULT_LABEL)?,
        account: Account::parse(UNNAMED_ACCOUNT)?,
        host: manifest.host().clone(),
        token_url: None,
        registry: SourceName::parse(entry.source.name())?,
        kind: CredentialKind::Pat,
        secret,
        refresh: None,
        expires_at: None,
        renewer: None,
        cap: Access::Read,
        dial,
    })
}

impl Present<'_> {
    /// Runs the service's viewer with a key, as the local bot under a grant of the member's. The executor is that bot's, and
    /// dials where the key is to be used.
    pub async fn prove(
        &self,
        secret: Secret,
        entry: &Entry,
        executor: &Executor,
    ) -> Result<Proved, ProveError> {
        looks_right(&secret, entry.manifest.auth())?;
        let id = CredentialId::random(&mut entropy::seeded(self.entropy)?);
        let dial = executor.wire.dial(entry.manifest.host());
        self.prove_parts(unproved(id, secret, dial, entry)?, entry, executor).await
    }

    /// The same with what the service gave when she said yes there.
    pub async fn prove_pair(
        &self,
        obtained: Obtained,
        entry: &Entry,
        executor: &Executor,
    ) -> Result<Proved, ProveError> {
        let manifest = &entry.manifest;
        let token_url = &manifest.auth().oauth.as_ref().ok_or(ProveError::NoOauth)?.token_url;
        let dial = executor.wire.dial(manifest.host());
        if executor.wire.dial(&token_url.host()) != dial {
            return Err(ProveError::Dial);
        }
        let id = CredentialId::random(&mut entropy::seeded(self.entropy)?);
        // The key's place is taken by the access token.
        let access =
            Secret::new(obtained.pair.access.expose().to_owned()).map_err(|_source| ProveError::Pattern)?;
        let parts = obtained.into_parts(unproved(id, access, dial, entry)?, token_url.clone());
        self.prove_parts(parts, entry, executor).await
    }

    async fn prove_parts(
        &self,
        parts: CredentialParts,
        entry: &Entry,
        executor: &Executor,
    ) -> Result<Proved, ProveError> {
        let manifest = &entry.manifest;
        let auth = manifest.auth();
        let viewer = auth.viewer.clone().ok_or(ProveError::NoViewer)?;
        let mut rng = entropy::seeded(self.entropy)?;
        let credential = Credential::new(parts)?;
        let until = self.now.plus_secs(PROOF_SECS);
        let scope = Scope::new(Access::Read, self.now, until).with_ops([viewer.clone()]);
        let request = MintRequest::new(self.bot.clone(), manifest.digest(), scope);
        let grant = pinhole_grant::mint(&request, &credential, self.key, self.now, &mut rng)?;
        let call = CallRequest::new(manifest.id().clone(), viewer, "{}", grant.into_bytes());
        let outcome = executor.run(call).await;
        if let Some(refusal) = outcome.refusal() {
            return Err(ProveError::Refused(Box::new(refusal.clone())));
        }
        let account = account(&outcome, auth);
        let named = account.is_some();
        let parts = credential.into_parts();
        Ok(Proved { parts: CredentialParts { account: account.unwrap_or(parts.account), ..parts }, named })
    }
}

fn looks_right(secret: &Secret, auth: &Auth) -> Result<(), ProveError> {
    let Some(pat) = &auth.pat else {
        // A manifest that says nothing of keys says nothing against them.
        return if auth.oauth.is_none() { Ok(()) } else { Err(ProveError::NoKeys) };
    };
    let right = pat.pattern.as_ref().is_none_or(|pattern| pattern.is_match(secret.expose()));
    if right { Ok(()) } else { Err(ProveError::Pattern) }
}

/// Whose account it is, where the manifest says where that stands and something that names one does.
pub(super) fn account(outcome: &Outcome, auth: &Auth) -> Option<Account> {
    let path = auth.account.as_ref()?;
    let text = match project::find(outcome.result()?, path).ok()?? {
        Tree::String(text) => visible(text),
        Tree::Number(digits) => digits.as_str().to_owned(),
        _ => return None,
    };
    Account::parse(text.trim()).ok()
}

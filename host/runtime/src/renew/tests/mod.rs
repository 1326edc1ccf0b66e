//! Renewals against a provider that rotates refresh tokens and kills the family when an old one is shown again.

mod deciding;
mod order;
mod processes;

use std::sync::{Arc, Mutex, PoisonError};

use pinhole_grant::{
    Account, ClientId, Credential, CredentialId, CredentialKind, CredentialParts, Dial, KeptPair, KeyKind,
    Label, PairDigest, Renewer, Ring, Secret, SecretKey, SourceName, UnixTime,
};
use pinhole_manifest::host::HttpsUrl;
use pinhole_manifest::model::OAuth;
use pinhole_manifest::{Access, ApiHost, ServiceId};
use rand::SeedableRng as _;
use rand::rngs::StdRng;

use super::{Ask, Asked, Asking, Fresh, Given, NotRenewed, Renewing, Unanswered};
use crate::entropy::SystemEntropy;
use crate::net::{
    Exchange, Outgoing, Permit, Posting, Sent, TokenPermit, Wire, WireError, WireErrorKind, WireLimits,
};
use crate::store::{Carried, Lines};

const NOW: UnixTime = UnixTime::from_secs(1_800_000_000);
/// How long an access token of the provider's lives, in seconds.
const LIFE: i64 = 3600;

fn rng(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

fn member(seed: u64) -> SecretKey {
    SecretKey::generate(KeyKind::Member, &mut rng(seed))
}

fn bot() -> SecretKey {
    SecretKey::generate(KeyKind::Bot, &mut rng(2))
}

fn secret(text: &str) -> Secret {
    Secret::new(text.to_owned()).unwrap()
}

fn oauth() -> OAuth {
    let manifest = pinhole_manifest::read(include_bytes!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../manifests/github/manifest.json"
    )));
    manifest.into_result().unwrap().auth().oauth.clone().unwrap()
}

/// A credential as it was first sealed: the pair of number 0 of this family.
fn credential(family: &str, generation: u64) -> Credential {
    let parts = CredentialParts {
        id: CredentialId::random(&mut rng(5)),
        service: ServiceId::parse("github").unwrap(),
        label: Label::parse("work").unwrap(),
        account: Account::parse("wren").unwrap(),
        host: ApiHost::parse("api.github.com").unwrap(),
        token_url: Some(HttpsUrl::parse("https://github.com/login/oauth/access_token").unwrap()),
        registry: SourceName::parse("compiled-in").unwrap(),
        kind: CredentialKind::Oauth,
        secret: secret(&format!("{family}-access-0")),
        refresh: Some(secret(&format!("{family}-refresh-0"))),
        expires_at: Some(NOW),
        renewer: Some(Box::new(Renewer::Client(ClientId::parse("client").unwrap()))),
        cap: Access::Read,
        dial: Dial::Real,
    };
    let mut made = Credential::new(parts).unwrap();
    for _ in 0..generation {
        let (access, refresh) =
            (made.secret().expose().to_owned(), made.refresh().unwrap().expose().to_owned());
        made = made.rotated(secret(&access), Some(secret(&refresh)), Some(NOW)).unwrap();
    }
    made
}

fn digest_of(issuer: &SecretKey, credential: &Credential) -> PairDigest {
    PairDigest::of(&bot(), issuer.public().id(), credential).unwrap()
}

/// What a grant of this member over this credential says; its pair is due.
fn given(issuer: &SecretKey, credential: &Credential) -> Given {
    let digest = digest_of(issuer, credential);
    Given {
        issuer: issuer.public().id(),
        credential: credential.id(),
        service: credential.service().clone(),
        oauth: oauth(),
        renewer: credential.renewer().unwrap().clone(),
        dial: credential.dial(),
        generation: credential.generation(),
        digest,
        refresh: secret(credential.refresh().unwrap().expose()),
        bad: digest,
        sent: Arc::default(),
    }
}

/// What a provider does with one request.
#[derive(Debug, Clone)]
enum Turn {
    /// Answers.
    Answers,
    /// Renews, and its answer is lost.
    Loses,
    /// Renews, and gives no new refresh token.
    Keeps,
    /// Does nothing, and says so.
    Says(Unanswered),
}

/// One family of tokens at its provider.
#[derive(Debug, Default)]
struct Family {
    name: String,
    /// The number of the refresh token that is good.
    good: u64,
    dead: bool,
    /// The refresh tokens that were shown.
    shown: Vec<String>,
}

/// Rotates: each refresh token is good once, and one that is shown again ends the family.
#[derive(Debug, Default)]
struct Provider {
    families: Mutex<Vec<Family>>,
    turns: Mutex<Vec<Turn>>,
}

impl Provider {
    fn of(families: &[&str]) -> Arc<Self> {
        let family = |name: &&str| Family { name: (*name).to_owned(), ..Family::default() };
        Arc::new(Self {
            families: Mutex::new(families.iter().map(family).collect()),
            turns: Mutex::default(),
        })
    }

    /// What it does with the next requests; after them it answers.
    fn then(&self, turns: &[Turn]) {
        *self.turns.lock().unwrap() = turns.iter().rev().cloned().collect();
    }

    fn shown(&self) -> Vec<String> {
        self.families.lock().unwrap().iter().flat_map(|family| family.shown.clone()).collect()
    }

    fn asked(&self, refresh: &str, now: UnixTime) -> Result<Fresh, Unanswered> {
        let turn = self.turns.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or(Turn::Answers);
        let mut families = self.families.lock().unwrap();
        let family = families.iter_mut().find(|family| refresh.starts_with(&family.name)).unwrap();
        family.shown.push(refresh.to_owned());
        if let Turn::Says(said) = turn {
            return Err(said);
        }
        if family.dead || refresh != format!("{}-refresh-{}", family.name, family.good) {
            family.dead = true;
            return Err(Unanswered::Dead);
        }
        let next = family.shown.len();
        if !matches!(turn, Turn::Keeps) {
            family.good += 1;
        }
        let number = family.good;
        let fresh = Fresh {
            access: secret(&format!("{}-access-{next}", family.name)),
            refresh: (!matches!(turn, Turn::Keeps))
                .then(|| secret(&format!("{}-refresh-{number}", family.name))),
            obtained_at: now,
            expires_at: Some(now.plus_secs(LIFE)),
        };
        if matches!(turn, Turn::Loses) { Err(lost()) } else { Ok(fresh) }
    }
}

fn lost() -> Unanswered {
    Unanswered::Away { carried: Carried::Perhaps, retry_after: None, detail: "cut".to_owned() }
}

fn away(retry_after: Option<u64>) -> Unanswered {
    Unanswered::Away { carried: Carried::Not, retry_after, detail: "away".to_owned() }
}

impl Ask for Provider {
    fn ask<'a>(&'a self, asked: Asked<'a>) -> Asking<'a> {
        Box::pin(async move {
            // Others get their turn while the answer is on its way.
            tokio::task::yield_now().await;
            self.asked(asked.refresh.expose(), asked.now)
        })
    }
}

/// No request of these tests goes out.
struct NoWire;

impl Wire for NoWire {
    fn exchange(&self, _permit: Permit, _request: Outgoing, _limits: WireLimits) -> Exchange<'_> {
        Box::pin(std::future::ready(Err(WireError::new(WireErrorKind::Connect, Sent::No, ""))))
    }

    fn post_form(&self, _permit: TokenPermit, _posting: Posting, _limits: WireLimits) -> Exchange<'_> {
        Box::pin(std::future::ready(Err(WireError::new(WireErrorKind::Connect, Sent::No, ""))))
    }

    fn dial(&self, _host: &ApiHost) -> Dial {
        Dial::Real
    }
}

/// A process with this store.
struct Host {
    renewing: Renewing,
    store: Arc<dyn Lines>,
    bot: Arc<Ring>,
}

impl Host {
    fn new(provider: &Arc<Provider>, store: Arc<dyn Lines>) -> Self {
        let ask: Arc<dyn Ask> = provider.clone();
        Self { renewing: Renewing::new(ask), store, bot: Arc::new(bot().into()) }
    }

    async fn renew(&self, given: Given, after: i64) -> Result<KeptPair, NotRenewed> {
        let wire: Arc<dyn Wire> = Arc::new(NoWire);
        let doors = (Arc::clone(&self.store), wire, Arc::clone(&self.bot));
        self.renewing.renew(given, doors, &SystemEntropy, NOW.plus_secs(after)).await
    }
}

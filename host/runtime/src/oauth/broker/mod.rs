//! Asking a broker: the same as asking a token endpoint, for those who have no client of their own there.
//!
//! Refuses a broker that is dialled elsewhere than the credential says, and an answer of another key than the pinned one.
//! INVARIANT: what ends a connection, that a token is dead, is believed from the broker's signature alone; and what
//! it says without one, that it has not passed anything on, only where it says so in its own words.
//! DESIGN, "Doors": Broker.

mod browser;
mod config;
mod passed;

use std::fmt;
use std::time::Duration;

use http::StatusCode;
use pinhole_grant::broker::{Answer, Ask, PairHalf};
use pinhole_grant::{
    Dial, OpenAnswerError, PublicKey, SealAskError, Secret, SecretKey, UnixTime, open_answer, seal_ask,
};
use pinhole_manifest::host::HttpsUrl;
use pinhole_manifest::{Access, ServiceId};
use serde::Deserialize;
use zeroize::Zeroizing;

use super::{FreshPair, TokenError, TokenKind, Unreadable, Verifier};
use crate::entropy::{Entropy, EntropyError, seeded};
use crate::net::{self, Incoming, Media, Posting, Sent, TokenPermit, Wire, WireLimits};

pub use browser::{Returned, begin, returned};
pub use config::{BrokerConfig, ConfigError, config};
pub use passed::{passed, passed_done};

/// Most bytes of an answer: a whole envelope.
const ANSWER_BYTES_MAX: usize = 128 << 10;
/// How long an ask may take; longer than the broker lets the service take.
const DEADLINE: Duration = Duration::from_secs(20);

/// A broker, as one key asks it.
#[derive(Clone, Copy)]
pub struct BrokerClient<'a> {
    /// The way out.
    pub wire: &'a dyn Wire,
    /// Where it is reached.
    pub url: &'a HttpsUrl,
    /// Its key, which answers alone are taken from.
    pub key: &'a PublicKey,
    /// Who asks: a member exchanges and revokes, a bot refreshes.
    pub own: &'a SecretKey,
    /// How the broker must be dialled: as the credential says.
    pub dial: Dial,
    /// When the asking begins: an access token lives from then.
    pub now: UnixTime,
    /// For what tells one ask from another.
    pub entropy: &'a dyn Entropy,
}

impl fmt::Debug for BrokerClient<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BrokerClient")
            .field("url", &self.url)
            .field("key", &self.key)
            .field("dial", &self.dial)
            .finish_non_exhaustive()
    }
}

/// Why a broker gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum BrokerError {
    /// The service, or the way to it, said no; as a token endpoint would.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The broker does not answer this key, or not this ask. Nothing was passed on.
    #[error("the broker refuses: {}", .0.sentence())]
    Refused(Word),
    /// The one-time code is not good.
    #[error("the broker does not know that attempt: it took too long, or was finished already")]
    BadCode,
    /// What it says is not its own.
    #[error("what came back is not the broker's own answer: {0}")]
    Answer(#[from] OpenAnswerError),
    /// It says something else than what was asked.
    #[error("the broker answered something else than what was asked")]
    OtherAnswer,
    /// The ask could not be made.
    #[error("the broker could not be asked: {0}")]
    Ask(#[from] SealAskError),
    /// There is no randomness.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
}

/// What a broker says without a signature: that it passed nothing on, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// It is no ask that opens.
    NotAnAsk,
    /// It does not know the key.
    UnknownKey,
    /// The signature does not match.
    BadSignature,
    /// It was made for another broker, or another address of this one.
    OtherBroker,
    /// The clocks are too far apart.
    NotNow,
    /// This kind of key does not ask for that.
    WrongAsker,
    /// It was there already.
    SeenBefore,
    /// It came to the place of another.
    OtherPlace,
    /// It has no client of that service.
    NoService,
    /// Too many of this key.
    TooFast,
    /// Too many that were refused.
    TooManyFailures,
    /// Too much at once.
    Busy,
    /// Any other.
    #[serde(other)]
    Other,
}

impl Word {
    /// What is wrong and what to do.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::NotAnAsk | Self::BadSignature | Self::OtherPlace | Self::Other => {
                "it does not take the request: it may be of another version"
            }
            Self::UnknownKey => {
                "it does not know this key: let its operator allow it (`pinhole broker --allow KEY`)"
            }
            Self::OtherBroker => "it is reached at another address: use the one that it prints at its start",
            Self::NotNow => "the clocks are more than a minute apart: set this machine's clock",
            Self::WrongAsker => "a member connects and gives up, a bot renews: this key is another's",
            Self::SeenBefore => "the request was there already",
            Self::NoService => "it has no client of that service: ask its operator",
            Self::TooFast | Self::TooManyFailures | Self::Busy => {
                "it has too much to do: try again in a minute"
            }
        }
    }

    /// Whether it may go better later, with nothing changed.
    fn is_passing(self) -> bool {
        matches!(
            self,
            Self::TooFast
                | Self::TooManyFailures
                | Self::Busy
                | Self::NotNow
                | Self::SeenBefore
                | Self::Other
        )
    }
}

/// For who asks both in the same way, as a renewal does.
impl From<BrokerError> for TokenError {
    fn from(error: BrokerError) -> Self {
        tracing::debug!(%error, "a broker gave nothing");
        match error {
            BrokerError::Token(error) => error,
            BrokerError::Refused(word) if word.is_passing() => {
                Self::Unavailable { sent: Sent::No, retry_after: None, kind: None }
            }
            BrokerError::Refused(_) | BrokerError::BadCode | BrokerError::Ask(_) => {
                Self::Client { code: None }
            }
            BrokerError::Answer(_) | BrokerError::OtherAnswer => {
                Self::Unreadable { what: Unreadable::NotTheBrokers, sent: Sent::Maybe }
            }
            BrokerError::Entropy(_) => Self::Unavailable { sent: Sent::No, retry_after: None, kind: None },
        }
    }
}

impl BrokerClient<'_> {
    /// Exchanges the broker's one-time code for the pair. A member asks so.
    pub async fn exchange(
        &self,
        service: &ServiceId,
        cap: Access,
        code: Secret,
        verifier: &Verifier,
    ) -> Result<FreshPair, BrokerError> {
        // INVARIANT: a verifier is plain ASCII, which is a secret's rule.
        let verifier = Secret::new(verifier.expose().to_owned()).or(Err(BrokerError::BadCode))?;
        self.pair("oauth/exchange", &Ask::Exchange { service: service.clone(), cap, code, verifier }).await
    }

    /// Asks for a fresh pair. A bot asks so.
    pub async fn refresh(&self, service: &ServiceId, refresh: &Secret) -> Result<FreshPair, BrokerError> {
        let refresh = copy(refresh)?;
        self.pair("oauth/refresh", &Ask::Refresh { service: service.clone(), refresh }).await
    }

    /// Gives a token up. A member asks so.
    pub async fn revoke(
        &self,
        service: &ServiceId,
        token: &Secret,
        kind: TokenKind,
    ) -> Result<(), BrokerError> {
        let half = match kind {
            TokenKind::Access => PairHalf::Access,
            TokenKind::Refresh => PairHalf::Refresh,
        };
        let ask = Ask::Revoke { service: service.clone(), token: copy(token)?, half };
        passed::done(self.ask("oauth/revoke", &ask).await?)
    }

    async fn pair(&self, path: &str, ask: &Ask) -> Result<FreshPair, BrokerError> {
        passed::pair(self.ask(path, ask).await?, self.now)
    }

    async fn ask(&self, path: &str, ask: &Ask) -> Result<Answer, BrokerError> {
        let place = place(self.url, path).ok_or(BrokerError::Refused(Word::OtherBroker))?;
        if self.wire.dial(&place.host()) != self.dial {
            return Err(TokenError::Dial.into());
        }
        let asked = seal_ask(ask, self.key, self.url, self.own, self.now, &mut seeded(self.entropy)?)?;
        let body = Zeroizing::new(asked.as_bytes().to_vec());
        let posting = Posting { media: Media::Json, body, authorization: None };
        let most = u64::try_from(ANSWER_BYTES_MAX).unwrap_or(u64::MAX);
        let limits = WireLimits { response_bytes: most, deadline: DEADLINE };
        let incoming = self.wire.post_form(TokenPermit::to(&place), posting, limits).await;
        let incoming = incoming.map_err(|error| TokenError::of_wire(&error))?;
        let envelope = self.whole(incoming).await?;
        Ok(open_answer(&envelope, &asked, self.own, self.key)?)
    }

    /// The envelope, or what the broker says instead of one.
    async fn whole(&self, incoming: Incoming) -> Result<Vec<u8>, BrokerError> {
        let Incoming { status, headers, mut body } = incoming;
        let mut bytes = Vec::new();
        while let Some(piece) = body.next().await.map_err(|error| TokenError::of_wire(&error))? {
            if bytes.len().saturating_add(piece.len()) > ANSWER_BYTES_MAX {
                return Err(TokenError::unreadable(Unreadable::Body).into());
            }
            bytes.extend_from_slice(&piece);
        }
        if status == StatusCode::OK {
            return Ok(bytes);
        }
        let retry_after = net::told(&headers, self.now).map(Duration::from_secs);
        let away = |sent| Err(TokenError::Unavailable { sent, retry_after, kind: None }.into());
        match serde_json::from_slice::<SaidWire>(&bytes).map(|said| said.error.code) {
            // It may have come twice, and what became of it the first time nobody says; nor does who has no word for it.
            Ok(Word::SeenBefore | Word::Other) => away(Sent::Maybe),
            Ok(word) if word.is_passing() && retry_after.is_some() => away(Sent::No),
            Ok(word) => Err(BrokerError::Refused(word)),
            // Somebody in between, who does not know how far it went.
            Err(_no_broker) => away(Sent::Maybe),
        }
    }
}

/// A path at a broker's address, which has none of its own.
fn place(broker: &HttpsUrl, path: &str) -> Option<HttpsUrl> {
    let base = broker.as_str().strip_suffix('/')?;
    (base.matches('/').count() == 2).then(|| HttpsUrl::parse(&format!("{base}/{path}")).ok()).flatten()
}

fn copy(secret: &Secret) -> Result<Secret, BrokerError> {
    // INVARIANT: what is a secret is one again.
    Secret::new(secret.expose().to_owned()).or(Err(BrokerError::OtherAnswer))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SaidWire {
    error: ErrorWire,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorWire {
    code: Word,
    #[expect(dead_code, reason = "the broker's own words are for people who read its answers")]
    message: String,
}

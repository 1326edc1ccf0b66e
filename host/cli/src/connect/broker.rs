//! `pinhole connect --oauth --broker`: the person says yes at the service's page, and a broker's client is who asks.
//!
//! Refuses a broker whose key nobody has vouched for: the flag says it, or she does at her terminal. What is sent to the broker
//! and believed of it is the runtime's.

use std::sync::Arc;

use pinhole_grant::{Dial, PublicKey, Renewer, Secret, SecretKey};
use pinhole_manifest::Access;
use pinhole_manifest::host::HttpsUrl;
use pinhole_runtime::catalog::{Catalog, Entry};
use pinhole_runtime::clock::{Clock as _, SystemClock, SystemTimer};
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_runtime::local::Obtained;
use pinhole_runtime::net::Wire;
use pinhole_runtime::oauth::broker::{
    BrokerClient, BrokerConfig, BrokerError, Returned, begin, config, returned,
};
use pinhole_runtime::oauth::{State, TokenKind, Verifier, asked};
use pinhole_server::callback as back;

use super::flags::OAuthFlags;
use super::oauth::{PATIENCE, endpoints, not_obtained, say_scopes, show_page};
use crate::args::DialFlags;
use crate::end::{End, Failure};
use crate::{dial, keys, out, terminal};

/// A broker that somebody has vouched for.
pub(super) struct Via {
    url: HttpsUrl,
    known: BrokerConfig,
}

/// Where it is, as the flag says.
pub(super) fn address(url: &str) -> anyhow::Result<HttpsUrl> {
    HttpsUrl::parse(url).map_err(|error| {
        let message = format!("`--broker {url}`: {error}");
        Failure::new(End::Usage, message, "write `https://`, a name and nothing else").into()
    })
}

/// Asks the broker what it is, and the person whether that is the one. Nothing else has happened yet.
pub(super) async fn via(
    url: &str,
    flags: &OAuthFlags,
    dial: &DialFlags,
    catalog: &Catalog,
    entry: &Entry,
) -> anyhow::Result<Via> {
    let url = address(url)?;
    let expected = flags.broker_key.as_deref().map(keys::parse_public).transpose()?;
    let client = dial::client_beside(dial, catalog, &url.host())?;
    let known = config(&client, &url, entry.manifest.id(), endpoints(entry)?).await.map_err(|error| {
        Failure::new(End::Refused, error.to_string(), "ask the broker's operator; nothing was sent or stored")
    })?;
    vouched(&url, &known.key, expected.as_ref())?;
    Ok(Via { url, known })
}

fn vouched(url: &HttpsUrl, key: &PublicKey, expected: Option<&PublicKey>) -> anyhow::Result<()> {
    let other = |message: String| {
        let hint =
            "ask the broker's operator for its key, which `pinhole keys show` prints there; nothing was sent";
        anyhow::Error::from(Failure::new(End::Refused, message, hint))
    };
    if let Some(expected) = expected {
        if expected == key {
            return Ok(());
        }
        return Err(other(format!(
            "the broker at `{}` has another key than `--broker-key` says",
            url.as_str()
        )));
    }
    if !terminal::is_there() {
        let message = format!("nobody has vouched for the key of the broker at `{}`", url.as_str());
        return Err(
            Failure::new(End::Usage, message, "say it with `--broker-key KEY`; its operator has it").into()
        );
    }
    let lines = [
        format!("The broker at {} says that its key is", url.as_str()),
        format!("  {}", key.id().fingerprint()),
        "It will see the tokens of this connection. Its operator can tell you whether that is its key."
            .to_owned(),
    ];
    terminal::show(&lines)?;
    let answer = terminal::line("Is it? Type yes: ")?;
    if answer.trim() == "yes" {
        Ok(())
    } else {
        Err(other("the broker's key was not vouched for".to_owned()))
    }
}

impl Via {
    /// Obtains a pair: she is sent to the broker's page, from there to the service's, and waited for here.
    pub(super) async fn obtain(
        &self,
        flags: &OAuthFlags,
        entry: &Entry,
        member: &SecretKey,
        wire: &dyn Wire,
        cap: Access,
    ) -> anyhow::Result<Obtained> {
        let listener = back::Callback::listen(flags.callback_port.unwrap_or(0)).await?;
        let (redirect, state) = (listener.redirect(), State::new(&SystemEntropy)?);
        let verifier = Verifier::new(&SystemEntropy)?;
        let page = begin(&self.known, cap, &redirect, member.public(), &verifier, &state);
        show_page("Say yes at the broker's page, and then at the service's:", &page, flags);
        out::note(format_args!("The broker's page shows this key: {}", member.public().id().fingerprint()));
        let judge = |query: &str| returned(query, &state);
        let came = listener.answer(PATIENCE, Arc::new(SystemTimer), judge).await.map_err(|error| {
            let hint = "nothing was stored: run it again, and say yes at the pages";
            Failure::new(End::Refused, error.to_string(), hint)
        })?;
        let code = match came {
            Returned::Code(code) => code,
            Returned::No(error) => {
                return Err(Failure::new(End::Refused, error.to_string(), "nothing was stored").into());
            }
        };
        let asking = self.asking(member, wire, wire.dial(entry.manifest.host()));
        let pair = asking.exchange(entry.manifest.id(), cap, code, &verifier).await;
        let pair = pair.map_err(|error| no_pair(&error))?;
        say_scopes(&pair, asked(endpoints(entry)?, cap));
        let renewer = Renewer::Broker { url: self.url.clone(), key: self.known.key.clone() };
        Ok(Obtained { pair, renewer: Some(renewer) })
    }

    /// Gives a pair up that is not kept, as well as can be.
    pub(super) async fn give_up(
        &self,
        entry: &Entry,
        member: &SecretKey,
        wire: &dyn Wire,
        (access, refresh): (&Secret, Option<&Secret>),
    ) {
        let asking = self.asking(member, wire, wire.dial(entry.manifest.host()));
        let tokens =
            refresh.map(|token| (token, TokenKind::Refresh)).into_iter().chain([(access, TokenKind::Access)]);
        for (token, kind) in tokens {
            if let Err(error) = asking.revoke(entry.manifest.id(), token, kind).await {
                out::note(format_args!("note: what the service gave was not given up again: {error}"));
                out::note("  end it on the service's page");
                return;
            }
        }
    }

    fn asking<'a>(&'a self, own: &'a SecretKey, wire: &'a dyn Wire, dial: Dial) -> BrokerClient<'a> {
        BrokerClient {
            wire,
            url: &self.url,
            key: &self.known.key,
            own,
            dial,
            now: SystemClock.now(),
            entropy: &SystemEntropy,
        }
    }
}

fn no_pair(error: &BrokerError) -> Failure {
    match error {
        BrokerError::Token(error) => not_obtained(error),
        error => Failure::new(End::Refused, error.to_string(), "nothing was stored"),
    }
}

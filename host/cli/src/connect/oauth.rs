//! `pinhole connect --oauth`: the person says yes at the service's own page, and what it gives is proved and kept.
//!
//! Here is what is printed and asked; what is sent and believed is the runtime's. A pair that is not kept is given up again.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pinhole_grant::{ClientId, Renewer, Secret};
use pinhole_manifest::Access;
use pinhole_manifest::model::{OAuth, Pkce};
use pinhole_manifest::visible::visible;
use pinhole_runtime::catalog::Entry;
use pinhole_runtime::clock::{Clock as _, SystemClock, SystemTimer};
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_runtime::local::Obtained;
use pinhole_runtime::net::Wire;
use pinhole_runtime::oauth::{
    Authorize, Callback, CallbackError, Client, DeviceError, FreshPair, State, TokenEndpoint, TokenError,
    TokenKind, Verifier, asked, callback,
};
use pinhole_server::callback as back;

use super::flags::OAuthFlags;
use crate::end::{End, Failure};
use crate::{files, out};

/// How long she is waited for.
pub(super) const PATIENCE: Duration = Duration::from_mins(10);

/// The client that the flags name.
pub(super) fn client(flags: &OAuthFlags) -> anyhow::Result<Client> {
    let Some(id) = &flags.client_id else {
        let hint =
            "say `--broker URL`; or register a client of your own at the service and say `--client-id ID`";
        return Err(Failure::new(End::Usage, "nobody is named who asks the service", hint).into());
    };
    let id = ClientId::parse(id)
        .map_err(|error| Failure::new(End::Usage, error.to_string(), "write `--client-id ID`"))?;
    Ok(match &flags.client_secret_file {
        Some(path) => Client::Confidential { id, secret: secret_of(path)? },
        None => Client::Public { id },
    })
}

fn secret_of(path: &Path) -> anyhow::Result<Secret> {
    let text = files::read_text(path)?;
    Secret::new(text.trim_end_matches(['\r', '\n']).to_owned()).map_err(|error| {
        let message = format!("`{}`: {error}", path.display());
        Failure::new(End::Usage, message, "put the client's secret into it, and nothing else").into()
    })
}

/// Who renews what a client obtained. One that has a secret would have to be there each time: only a broker is.
pub(super) fn renewer(client: &Client) -> Option<Renewer> {
    match client {
        Client::Public { id } => Some(Renewer::Client(id.clone())),
        Client::Confidential { .. } => None,
    }
}

/// The endpoints of a service that has any.
pub(super) fn endpoints(entry: &Entry) -> anyhow::Result<&OAuth> {
    entry.manifest.auth().oauth.as_ref().ok_or_else(|| {
        let message = format!("the manifest of {} has no OAuth", visible(entry.manifest.name()));
        let hint = format!("paste a key: `pinhole connect {}`", entry.manifest.id());
        Failure::new(End::Refused, message, hint).into()
    })
}

/// Obtains a pair: she is sent to the service's page, and waited for.
pub(super) async fn obtain(
    flags: &OAuthFlags,
    client: &Client,
    entry: &Entry,
    wire: &dyn Wire,
    cap: Access,
) -> anyhow::Result<Obtained> {
    let oauth = endpoints(entry)?;
    let endpoint = endpoint(client, entry, oauth, wire);
    // Before she is sent anywhere: what comes back could not be exchanged.
    let others = [Some(&oauth.token_url), oauth.device_url.as_ref().filter(|_| flags.device)];
    if others.into_iter().flatten().any(|url| wire.dial(&url.host()) != endpoint.dial) {
        return Err(not_obtained(&TokenError::Dial).into());
    }
    let pair = if flags.device {
        by_device(&endpoint, flags, cap).await?
    } else {
        by_browser(&endpoint, flags, cap).await?
    };
    say_scopes(&pair, asked(oauth, cap));
    Ok(Obtained { pair, renewer: renewer(client) })
}

pub(super) fn endpoint<'a>(
    client: &'a Client,
    entry: &Entry,
    oauth: &'a OAuth,
    wire: &'a dyn Wire,
) -> TokenEndpoint<'a> {
    TokenEndpoint { wire, oauth, client, dial: wire.dial(entry.manifest.host()), now: SystemClock.now() }
}

async fn by_browser(
    endpoint: &TokenEndpoint<'_>,
    flags: &OAuthFlags,
    cap: Access,
) -> anyhow::Result<FreshPair> {
    let TokenEndpoint { oauth, client, .. } = *endpoint;
    if matches!((client, oauth.pkce), (Client::Public { .. }, Pkce::Unsupported)) {
        return Err(not_obtained(&TokenError::PublicWithoutPkce).into());
    }
    let listener = back::Callback::listen(flags.callback_port.unwrap_or(0)).await?;
    let (redirect, state) = (listener.redirect(), State::new(&SystemEntropy)?);
    let verifier = match oauth.pkce {
        Pkce::S256 => Some(Verifier::new(&SystemEntropy)?),
        Pkce::Unsupported => None,
    };
    let challenge = verifier.as_ref().map(Verifier::challenge);
    let authorize = Authorize {
        oauth,
        client: client.id(),
        redirect: &redirect,
        state: &state,
        challenge: challenge.as_deref(),
        cap,
    };
    show_page("Say yes at the service's page:", &authorize.url()?, flags);
    let judge = |query: &str| match callback(Callback { query, state: &state, oauth }) {
        Err(CallbackError::NotOurs) => None,
        answer => Some(answer),
    };
    let code = listener.answer(PATIENCE, Arc::new(SystemTimer), judge).await.map_err(|error| {
        Failure::new(
            End::Refused,
            error.to_string(),
            "nothing was stored: run it again, and say yes at the page",
        )
    })?;
    let code = code.map_err(|error| Failure::new(End::Refused, error.to_string(), "nothing was stored"))?;
    let endpoint = TokenEndpoint { now: SystemClock.now(), ..*endpoint };
    let pair = endpoint.exchange(&code, verifier.as_ref(), &redirect, cap).await;
    Ok(pair.map_err(|error| not_obtained(&error))?)
}

async fn by_device(
    endpoint: &TokenEndpoint<'_>,
    flags: &OAuthFlags,
    cap: Access,
) -> anyhow::Result<FreshPair> {
    let start = endpoint.device(cap).await.map_err(|error| not_obtained(&error))?;
    let page = start.page_with_code().unwrap_or(start.page());
    show_page("Say yes at the service's page, on any device:", page.as_str(), flags);
    let code = visible(start.user_code());
    if start.page_with_code().is_some() {
        out::note(format_args!("The page shows the code {code}; if it does not, type it there."));
    } else {
        out::note(format_args!("Type the code {code} there."));
    }
    let pair = endpoint.device_pair(&start, cap, &SystemClock, &SystemTimer).await;
    Ok(pair.map_err(|error| match error {
        DeviceError::Token(error) => not_obtained(&error),
        error => Failure::new(End::Refused, error.to_string(), "nothing was stored"),
    })?)
}

pub(super) fn show_page(what: &str, url: &str, flags: &OAuthFlags) {
    out::note(what);
    out::note(format_args!("  {url}"));
    if flags.open && !opened(url) {
        out::note("note: no browser could be opened here: copy the address");
    }
}

/// Hands the address to whatever opens addresses here.
fn opened(url: &str) -> bool {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = std::process::Stdio::null;
    let started =
        std::process::Command::new(opener).arg(url).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    started.is_ok()
}

pub(super) fn say_scopes(pair: &FreshPair, asked: &[String]) {
    let (beyond, missing) = (pair.scopes.beyond(asked), pair.scopes.missing(asked));
    if !beyond.is_empty() {
        out::note(format_args!("note: the service gave more than was asked for: {}", beyond.join(", ")));
    }
    if !missing.is_empty() {
        out::note(format_args!("note: the service did not give: {}", missing.join(", ")));
    }
}

/// Gives a pair up that is not kept, as well as can be.
pub(super) async fn give_up(endpoint: &TokenEndpoint<'_>, access: &Secret, refresh: Option<&Secret>) {
    let tokens =
        refresh.map(|token| (token, TokenKind::Refresh)).into_iter().chain([(access, TokenKind::Access)]);
    for (token, kind) in tokens {
        match endpoint.revoke(token, kind).await {
            Ok(()) => {}
            Err(error) => {
                out::note(format_args!("note: what the service gave was not given up again: {error}"));
                out::note("  end it on the service's page");
                return;
            }
        }
    }
}

/// No pair came: the failure, and what to do.
pub(crate) fn not_obtained(error: &TokenError) -> Failure {
    let (end, hint) = match error {
        TokenError::Client { .. } => (
            End::Refused,
            "look whether the client is registered there with this id and with the redirect `http://127.0.0.1/callback`; \
             some services want a client's secret: `--client-secret-file`, `--device`, or a broker",
        ),
        TokenError::Dead { .. } | TokenError::Refused { .. } => {
            (End::Refused, "nothing was stored: run it again")
        }
        TokenError::TooMuch { .. } => {
            (End::Refused, "nothing was stored; with `--cap write` the connection may have them")
        }
        TokenError::Unavailable { .. } => (End::Refused, "nothing was stored: try again later"),
        TokenError::Unreadable { .. } => {
            (End::Refused, "nothing was stored; its manifest may name the wrong token URL")
        }
        TokenError::Dial => {
            (End::Usage, "give `--resolve` for each of the service's hosts, or for none; nothing was sent")
        }
        TokenError::NotOffered(_) => (End::Refused, "nothing was sent"),
        TokenError::PublicWithoutPkce => {
            (End::Refused, "nothing was sent; with `--client-secret-file` you can connect without a broker")
        }
    };
    Failure::new(end, error.to_string(), hint)
}

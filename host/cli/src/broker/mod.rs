//! `pinhole broker`: lets members connect through OAuth clients whose secrets are in this process's environment, and bots renew.
//!
//! Refuses to start with half of a client, with one that no service has a use for, or with nobody who may ask. No secret is
//! shown, here or later.

pub(crate) mod args;

use std::collections::BTreeMap;
use std::sync::Arc;

use pinhole_grant::{ClientId, Secret};
use pinhole_manifest::ServiceId;
use pinhole_manifest::host::HttpsUrl;
use pinhole_runtime::clock::{SystemClock, SystemTimer};
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_runtime::oauth::Client;
use pinhole_server::broker::{Broker, BrokerError, BrokerLimits, BrokerParts, serve};
use pinhole_server::http::TlsIdentity;
use tokio_util::sync::CancellationToken;

use crate::config::{Config, OauthVariables};
use crate::end::{End, Failure};
use crate::{dial, files, keys, occasion, out, settings, wait};
use args::BrokerFlags;

pub(crate) async fn main(flags: BrokerFlags, config: &Config) -> anyhow::Result<End> {
    let clients = clients(Config::oauth_variables()?)?;
    let address = HttpsUrl::parse(&flags.public_url).map_err(|error| {
        let message = format!("`--public-url {}`: {error}", flags.public_url);
        Failure::new(End::Usage, message, "write `https://`, a name and nothing else")
    })?;
    let mut allowed = settings::read(&config.file())?.brokered;
    allowed.extend(keys::issuers(&flags.allow)?);
    let identity = identity(&flags)?;
    let catalog = occasion::catalog(&flags.local, config)?;
    let wire = Arc::new(dial::client_of_providers(&flags.dial, &catalog)?);
    let broker = Broker::new(BrokerParts {
        key: keys::broker(config)?,
        address,
        catalog,
        clients,
        allowed,
        wire,
        clock: Arc::new(SystemClock),
        timer: Arc::new(SystemTimer),
        entropy: Arc::new(SystemEntropy),
        limits: BrokerLimits::default(),
    });
    let broker = broker.map_err(|error| none(&error))?;
    let told = wait::told_to_stop()?;
    let listener = broker.listen(flags.listen).await.map_err(|error| {
        Failure::new(End::Usage, error.to_string(), "say where with `--listen 127.0.0.1:PORT`")
    })?;
    out::line(format_args!(
        "serving {} at http{}://{}",
        flags.public_url,
        if identity.is_some() { "s" } else { "" },
        listener.local_addr()?
    ));
    out::line(format_args!("key {}", broker.key()));
    out::line(format_args!("its fingerprint {}", broker.key().id().fingerprint()));
    for service in broker.services() {
        out::line(format_args!("{service}: register the redirect URI {}", broker.redirect(service)));
    }
    let stop = CancellationToken::new();
    let mut served = Box::pin(serve(listener, identity, broker, stop.clone()));
    let ended = tokio::select! {
        ended = &mut served => ended,
        () = told => {
            stop.cancel();
            served.await
        }
    };
    ended.map_err(|error| Failure::new(End::Local, error.to_string(), "say another `--listen ADDR:PORT`"))?;
    Ok(End::Done)
}

/// The clients that the environment has, each whole.
fn clients(variables: BTreeMap<String, OauthVariables>) -> anyhow::Result<BTreeMap<ServiceId, Client>> {
    let mut clients = BTreeMap::new();
    for (name, OauthVariables { id, secret }) in variables {
        let variable = |part: &str| format!("PINHOLE_OAUTH_{name}_CLIENT_{part}");
        let wrong = |part: &str, why: &dyn std::fmt::Display| {
            Failure::new(
                End::Usage,
                format!("`{}`: {why}", variable(part)),
                "set both, as the service gave them",
            )
        };
        let service = ServiceId::parse(&name.to_ascii_lowercase()).map_err(|error| wrong("ID", &error))?;
        let (id, secret) = match (id, secret) {
            (Some(id), Some(secret)) => (id, secret),
            (Some(_), None) => return Err(wrong("SECRET", &"it is not set, and `…_CLIENT_ID` is").into()),
            (None, _) => return Err(wrong("ID", &"it is not set, and `…_CLIENT_SECRET` is").into()),
        };
        let id = ClientId::parse(&id).map_err(|error| wrong("ID", &error))?;
        let secret = Secret::new(secret.to_string()).map_err(|error| wrong("SECRET", &error))?;
        clients.insert(service, Client::Confidential { id, secret });
    }
    Ok(clients)
}

fn identity(flags: &BrokerFlags) -> anyhow::Result<Option<TlsIdentity>> {
    let (Some(chain), Some(key)) = (&flags.tls_cert, &flags.tls_key) else { return Ok(None) };
    // What comes on stdin lies nowhere.
    let is_stdin = key.as_os_str() == "-";
    let read = if is_stdin { files::read(key) } else { files::read_private_of(key, files::TLS_KEY) };
    let private = zeroize::Zeroizing::new(read?);
    let identity = TlsIdentity::from_pem(&files::read(chain)?, &private).map_err(|error| {
        let message = format!("`{}` and `{}`: {error}", chain.display(), key.display());
        Failure::new(
            End::Usage,
            message,
            "pass the chain and the private key of one certificate, as PEM files",
        )
    })?;
    Ok(Some(identity))
}

fn none(error: &BrokerError) -> Failure {
    let hint = match error {
        BrokerError::NobodyAllowed | BrokerError::AllowedBroker(_) => {
            "`pinhole keys show` prints a member's and a bot's key"
        }
        _ => "`pinhole broker --help` and docs/broker.md say how one is set up",
    };
    Failure::new(End::Usage, error.to_string(), hint)
}

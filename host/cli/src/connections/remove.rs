//! `pinhole connections remove`: given up at the service where that can be done, and gone here in any case.
//!
//! Refuses to throw away a token pair that may be given up where this host does not know how: nobody could do it afterwards.
//! INVARIANT: with `--keep-at-provider` nothing keeps a connection from being removed; without, no row that cannot be read and no
//! service that is away does.

use clap::Args;
use pinhole_grant::{CredentialId, CredentialKind, SecretKey};
use pinhole_manifest::Access;
use pinhole_manifest::visible::visible;
use pinhole_runtime::catalog::Catalog;
use pinhole_runtime::local::{GiveUpError, Standing, Stored};
use pinhole_runtime::net::PinnedClient;
use pinhole_runtime::oauth::TokenError;
use pinhole_runtime::oauth::broker::BrokerError;
use pinhole_runtime::store::{ConnectionError, ConnectionRow, Removal, Table};

use crate::args::{DialFlags, LocalManifests, PassphraseFlags, WhichConnection};
use crate::config::Config;
use crate::end::{End, Failure};
use crate::local::Desktop;
use crate::{dial, member, occasion, out};

/// How a connection is removed.
#[derive(Debug, Args)]
pub(crate) struct RemoveFlags {
    /// Do not give it up at the service: it stays good there
    #[arg(long)]
    keep_at_provider: bool,
    #[command(flatten)]
    passphrase: PassphraseFlags,
    #[command(flatten)]
    local: LocalManifests,
    #[command(flatten)]
    dial: DialFlags,
}

/// By its name, or by its id, which is enough where the rest of a row cannot be read.
pub(super) async fn main(
    which: &WhichConnection,
    flags: &RemoveFlags,
    config: &Config,
) -> anyhow::Result<End> {
    let desktop = Desktop::open(config)?;
    let (id, name) = match CredentialId::parse(&which.service) {
        Ok(_) if which.label.is_some() => {
            let hint = "leave `--label` out, or name the service";
            return Err(Failure::new(End::Usage, "an id says which connection it is", hint).into());
        }
        Ok(id) => (id, id.to_string()),
        Err(_a_service) if forgotten(which, &desktop)? => return Ok(End::Done),
        Err(_a_service) => {
            let row = desktop.connection(&which.service, which.label.as_deref())?;
            (row.id, format!("{} {}", row.service, visible(row.label.as_str())))
        }
    };
    let at_service = match Leaving::of(id, flags, &desktop, config)? {
        Some(leaving) => leaving.give_up(&desktop).await,
        None => AtService::StillGood,
    };
    let ended = desktop.store.remove_connection(desktop.member.id(), id).map_err(|error| match error {
        ConnectionError::Store(store) => anyhow::Error::from(store),
        error => Failure::new(End::Refused, error.to_string(), "`pinhole connections` lists them").into(),
    })?;
    out::line(format_args!("{name} is gone, and {} of its grants with it", ended.len()));
    match at_service {
        AtService::GivenUp => out::note("it was given up at the service too"),
        AtService::StillGood => out::note("the key itself is still good at the service: end it there"),
        AtService::Not(why) => {
            out::note(format_args!("it was not given up at the service: {why}"));
            out::note("  it may still be good there: end it on the service's page");
        }
    }
    Ok(End::Done)
}

/// What became of it at its service.
enum AtService {
    GivenUp,
    StillGood,
    Not(String),
}

/// A connection that can be given up.
struct Leaving {
    row: ConnectionRow,
    key: SecretKey,
    catalog: Catalog,
    client: PinnedClient,
}

impl Leaving {
    /// `None` where nothing can be given up: a key that was made by hand, a service that takes nothing back, a row that
    /// cannot be read.
    fn of(
        id: CredentialId,
        flags: &RemoveFlags,
        desktop: &Desktop,
        config: &Config,
    ) -> anyhow::Result<Option<Self>> {
        if flags.keep_at_provider {
            return Ok(None);
        }
        let rows = desktop.store.connections(desktop.member.id()).unwrap_or_default();
        let Some(row) = rows.into_iter().find(|row| row.id == id) else { return Ok(None) };
        if !may_be_a_token(&row, desktop) {
            return Ok(None);
        }
        let catalog = occasion::catalog(&flags.local, config).map_err(|error| unknown(&row, &error))?;
        let Some(entry) = catalog.find(&row.service) else {
            return Err(unknown(&row, &"there is no manifest of it here"));
        };
        if entry.manifest.auth().oauth.as_ref().is_none_or(|oauth| oauth.revoke_url.is_none()) {
            return Ok(None);
        }
        let client = match dial::broker_of(&row, desktop) {
            Some(broker) => dial::client_beside(&flags.dial, &catalog, &broker)?,
            None => dial::client(&flags.dial, &catalog)?,
        };
        let purpose = format!("to give up {} {}", row.service, visible(row.label.as_str()));
        let key = member::key(&flags.passphrase, Access::Read, &purpose, config)
            .inspect_err(|_error| out::note("with `--keep-at-provider` it is removed here alone"))?;
        Ok(Some(Self { row, key, catalog, client }))
    }

    async fn give_up(self, desktop: &Desktop) -> AtService {
        let present = desktop.present(&self.key, &self.catalog);
        // What her bot has renewed since is the pair that counts there; a spent one ends nothing at some services.
        if let Err(error) = present.take_in() {
            out::note(format_args!("note: what the bot renewed was not taken in: {error}"));
        }
        let renewed = desktop.store.connection(desktop.member.id(), self.row.id).ok().flatten();
        match present.give_up(renewed.as_ref().unwrap_or(&self.row), &self.client).await {
            Ok(()) => AtService::GivenUp,
            Err(
                GiveUpError::Key
                | GiveUpError::Token(TokenError::NotOffered(_))
                | GiveUpError::Broker(BrokerError::Token(TokenError::NotOffered(_))),
            ) => AtService::StillGood,
            Err(error) => AtService::Not(error.to_string()),
        }
    }
}

/// How a pair is given up stands in its service's manifest.
fn unknown(row: &ConnectionRow, why: &dyn std::fmt::Display) -> anyhow::Error {
    let service = &row.service;
    let message = format!(
        "the tokens of {service} {} may still be good there, and this host does not know how to give them up: {why}",
        visible(row.label.as_str())
    );
    let hint = "nothing was removed: name its manifest (`--manifest FILE --unsigned`, or `pinhole registry sync`); or end them on \
                the service's page, and say `--keep-at-provider`";
    Failure::new(End::Refused, message, hint).into()
}

/// Whether it came from the service's page, as far as the bot's grant of it says, which opens without her.
fn may_be_a_token(row: &ConnectionRow, desktop: &Desktop) -> bool {
    let bot = &desktop.bot.keys;
    let Ok(Some(stored)) = Stored::of(row.clone(), bot.public().id(), &*desktop.store) else { return false };
    match stored.open(bot, std::slice::from_ref(&desktop.member), desktop.now) {
        Ok(Standing::Open(grant)) => grant.grant().credential().kind() == CredentialKind::Oauth,
        Ok(Standing::Refused(_)) => true,
        Err(_) => false,
    }
}

/// Forgets a row whose id is none that a connection could have.
fn forgotten(which: &WhichConnection, desktop: &Desktop) -> anyhow::Result<bool> {
    let raw = &which.service;
    let gone = desktop.store.forget_unreadable(Table::Connections, desktop.member.id(), raw)?;
    if gone == Removal::Removed {
        out::document(format_args!("{} is forgotten", visible(raw)))?;
    }
    Ok(gone == Removal::Removed)
}

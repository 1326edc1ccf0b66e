//! What is stored on this machine, for the commands that use connections: the bot that runs on them, the member who keeps
//! them and answers.

use std::sync::Arc;

use pinhole_grant::{KeyKind, Label, PublicKey, SecretKey, UnixTime};
use pinhole_manifest::ServiceId;
use pinhole_runtime::Executor;
use pinhole_runtime::catalog::{Catalog, Entry, Missing};
use pinhole_runtime::clock::{Clock as _, SystemClock};
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_runtime::local::{Agreed, LocalBot, Present};
use pinhole_runtime::net::PinnedClient;
use pinhole_runtime::store::{ConnectionRow, Desk};

use crate::config::Config;
use crate::database::{self, DatabaseFlags};
use crate::end::{End, Failure};
use crate::{keys, occasion, out, settings};

/// The bot of this machine, for the connections of its member. Where there are no keys yet there is nobody and nothing,
/// which the runtime then says.
pub(crate) fn bot(catalog: Catalog, client: PinnedClient, config: &Config) -> anyhow::Result<LocalBot> {
    let bot = keys::bot_or_nobody(config)?;
    let member = match keys::member_public(config)? {
        Some(member) => member,
        None => SecretKey::generate(KeyKind::Member, &mut occasion::entropy()).public().clone(),
    };
    let store = occasion::open_store(&bot.home)?;
    let (id, desk) = (member.id(), Arc::clone(&store));
    let sandbox = settings::sandbox(config)?;
    let executor = occasion::executor(catalog, bot.keys, vec![member], client, store, sandbox);
    let executor = Executor { book: settings::book(&bot.home, config)?, ..executor };
    Ok(LocalBot { executor, desk, member: id, agreed: Agreed::default() })
}

/// The store, and whose rows in it are looked at.
pub(crate) struct Desktop {
    pub(crate) store: Arc<dyn Desk>,
    pub(crate) member: PublicKey,
    pub(crate) bot: keys::Bot,
    /// The keys that the bot had before.
    pub(crate) former: Vec<PublicKey>,
    pub(crate) now: UnixTime,
}

impl Desktop {
    /// Opens what is stored here; refuses where nothing can be, for there are no keys.
    pub(crate) fn open(config: &Config) -> anyhow::Result<Self> {
        Self::open_in(&DatabaseFlags::default(), config)
    }

    /// The same in the database that flags name.
    pub(crate) fn open_in(database: &DatabaseFlags, config: &Config) -> anyhow::Result<Self> {
        let Some(member) = keys::member_public(config)? else {
            let message = "nothing is connected here: there is no member yet";
            return Err(Failure::new(End::Refused, message, "`pinhole connect SERVICE` begins").into());
        };
        if !keys::file(KeyKind::Bot, config).exists() {
            let message = "the bot's key is not here: `keys/bot.json` is missing";
            let hint = "bring it back; or `pinhole keys new`, then `pinhole connections renew`";
            return Err(Failure::new(End::Local, message, hint).into());
        }
        let bot = keys::bot(config)?;
        let store = database::open_desk(&bot.home, database)?;
        let now = store.high_water(SystemClock.now())?;
        let former = keys::formers(&bot.keys, now);
        Ok(Self { store, member, bot, former, now })
    }

    /// The same, at the time that it is now.
    pub(crate) fn later(self) -> anyhow::Result<Self> {
        let now = self.store.high_water(SystemClock.now())?;
        Ok(Self { now, ..self })
    }

    /// The member herself, her key open.
    pub(crate) fn present<'a>(&'a self, key: &'a SecretKey, catalog: &'a Catalog) -> Present<'a> {
        present(key, (self.bot.keys.public(), &self.former), &*self.store, catalog, self.now)
    }

    /// The one connection that the flags name.
    pub(crate) fn connection(&self, service: &str, label: Option<&str>) -> anyhow::Result<ConnectionRow> {
        let all = self.store.connections(self.member.id())?;
        let labelled = all.iter().find(|row| row.label.as_str() == service).map(|row| row.service.clone());
        let mut of_service: Vec<_> = all.into_iter().filter(|row| row.service.as_str() == service).collect();
        if of_service.is_empty() {
            let message = format!("there is no connection to `{service}`");
            if let Some(of) = labelled {
                let hint = format!("`{service}` is a label: say `{of} --label {}`", out::shell_word(service));
                return Err(Failure::new(End::Refused, message, hint).into());
            }
            return Err(
                Failure::new(End::Refused, message, "`pinhole connections` lists what there is").into()
            );
        }
        if let Some(wanted) = label {
            of_service.retain(|row| row.label.as_str() == wanted);
        }
        match (of_service.pop(), of_service.len(), label) {
            (Some(row), 0, _) => Ok(row),
            (Some(_), more, _) => {
                let message = format!("there are {} connections to `{service}`", more.saturating_add(1));
                Err(Failure::new(
                    End::Usage,
                    message,
                    "say which with `--label NAME`; `pinhole connections` lists them",
                )
                .into())
            }
            (None, _, label) => {
                let message =
                    format!("no connection to `{service}` is called `{}`", label.unwrap_or_default());
                Err(Failure::new(End::Refused, message, "`pinhole connections` lists what there is").into())
            }
        }
    }
}

/// The member herself, her key open.
pub(crate) fn present<'a>(
    key: &'a SecretKey,
    (bot, former): (&'a PublicKey, &'a [PublicKey]),
    desk: &'a dyn Desk,
    catalog: &'a Catalog,
    now: UnixTime,
) -> Present<'a> {
    Present { key, bot, former, desk, catalog, entropy: &SystemEntropy, wall: SystemClock.now(), now }
}

/// The manifest of the service that a flag names.
pub(crate) fn service<'c>(catalog: &'c Catalog, name: &str) -> anyhow::Result<&'c Entry> {
    let found = ServiceId::parse(name).map_or(Err(Missing::Unknown), |id| catalog.look(&id));
    found.map_err(|missing| {
        let (why, hint) = match missing {
            Missing::Unknown => {
                (format!("there is no service `{name}`"), "`pinhole services` lists what there is")
            }
            Missing::Invalid => {
                (format!("`{name}`: {missing}"), "`pinhole registry sync` gets what its registry signs now")
            }
        };
        Failure::new(End::Refused, why, hint).into()
    })
}

/// A label from a flag.
pub(crate) fn label(text: &str) -> anyhow::Result<Label> {
    Label::parse(text).map_err(|error| {
        Failure::new(End::Usage, format!("`{text}`: {error}"), "give a plain name, such as `work`").into()
    })
}

/// The member is here: what her bot may read on her connections is renewed by the way. Where that fails, what she came for
/// is done all the same.
pub(crate) fn renew_by_the_way(present: &Present<'_>) {
    if let Err(error) = present.renew() {
        out::note(format_args!("note: what the bot may read was not renewed: {error}"));
        out::note("  `pinhole connections renew` tries again; `pinhole doctor` says what is wrong");
    }
}

//! `pinhole research`: a model reads on connections that the person names, and answers one question.
//!
//! Opens the bot's key and its stored read grants, never the member's. INVARIANT: nothing is sent to the model's host before
//! the person has said yes at her terminal to the services, the accounts and that host; no flag, file or variable says it
//! for her.

pub(crate) mod args;

use std::time::Duration;

use pinhole_grant::Label;
use pinhole_manifest::visible::visible;
use pinhole_manifest::{OpId, ServiceId};
use pinhole_runtime::local::{LocalBot, StoredCall};
use pinhole_runtime::net::{ModelDoor, ModelKey, ModelUrl, NetSettings, PinnedClient};
use pinhole_server::research::{
    Answered, AskError, Bounds, Endpoint, ModelError, Question, Research, Session, SessionLimits, ask,
};
use serde_json::json;
use zeroize::Zeroizing;

use self::args::ResearchFlags;
use crate::config::Config;
use crate::end::{End, Failure};
use crate::settings::{self, ModelSettings};
use crate::{dial, files, grant, local, occasion, out, terminal};

pub(crate) async fn main(flags: ResearchFlags, config: &Config) -> anyhow::Result<End> {
    let bounds = bounds(&flags)?;
    let settings = settings::model(config)?;
    let url = ModelUrl::parse(&settings.url).map_err(|error| {
        let message = format!("`research.url` is `{}`: {error}", visible(&settings.url));
        Failure::new(End::Usage, message, "write the whole URL of a Messages endpoint")
    })?;
    let key = key(&settings)?;
    let catalog = occasion::catalog(&flags.local, config)?;
    let client = dial::client_of_stored(&flags.dial, &catalog, config)?;
    let bot = local::bot(catalog, client, config)?;
    let session = session(&flags, &bot).await?;
    if !agreed(&session, &settings, &url)? {
        let message = "you did not say yes, so nothing was sent";
        return Err(Failure::new(End::Refused, message, "the same command asks again").into());
    }
    // The flags that dial a stand-in are for services alone.
    let door = PinnedClient::new(NetSettings::default())?;
    let endpoint = Endpoint::new(ModelDoor::new(door, key)?, url.agreed());
    let question = Question { text: &flags.question, model: &settings.model };
    let mut unkept = Vec::new();
    let answered = ask(question, &session, &bot.executor, &endpoint, bounds, async |outcome| {
        unkept.extend(bot.keeps_returned(outcome).await.rotated);
    });
    let answered = answered.await;
    for rotated in &unkept {
        out::note(
            "a renewed key could not be kept for you; save this line and have it taken in (`pinhole connections take`):",
        );
        out::note(serde_json::to_string(rotated)?);
    }
    bot.executor.close().await;
    shown(&answered.map_err(|error| failed(&error))?, flags.json)
}

fn bounds(flags: &ResearchFlags) -> anyhow::Result<Bounds> {
    let seconds = u64::try_from(grant::seconds(&flags.time)?).unwrap_or_default();
    let bounds = Bounds { rounds: flags.rounds, time: Duration::from_secs(seconds), ..Bounds::default() };
    bounds.checked().map_err(|error| {
        let hint = "`--time` is at most 10m, `--rounds` at most 50";
        Failure::new(End::Usage, error.to_string(), hint).into()
    })
}

fn key(settings: &ModelSettings) -> anyhow::Result<ModelKey> {
    let bytes = Zeroizing::new(files::read_private(&settings.key_file)?);
    let text = std::str::from_utf8(&bytes).unwrap_or_default();
    ModelKey::new(text).map_err(|error| {
        let message = format!("`{}`: {error}", settings.key_file.display());
        Failure::new(End::Usage, message, "put the key of the model's host into the file, and nothing else")
            .into()
    })
}

/// A session over the bot's read grants of the named connections.
async fn session(flags: &ResearchFlags, bot: &LocalBot) -> anyhow::Result<Session> {
    let mut grants = Vec::new();
    for named in &flags.services {
        let (service, label) = match named.split_once(':') {
            Some((service, label)) => (service, Some(label)),
            None => (named.as_str(), None),
        };
        let service = ServiceId::parse(service).map_err(|error| {
            Failure::new(End::Usage, error.to_string(), "`pinhole services` lists what there is")
        })?;
        let mut call = StoredCall::new(service, OpId::parse("none")?, "{}");
        if let Some(label) = label {
            let label = Label::parse(label).map_err(|error| {
                Failure::new(End::Usage, error.to_string(), "`pinhole connections` lists labels")
            })?;
            call = call.on(label);
        }
        let stored = bot.stored(&call).await.map_err(|refusal| refused(&refusal))?;
        grants.push(stored.grant.sealed);
    }
    let limits = SessionLimits { calls: flags.calls, bytes: flags.bytes, ..SessionLimits::default() };
    let opened = Research::within(limits).open(grants, &bot.executor, bot.executor.clock.now()).await;
    opened.map_err(|error| {
        let hint = "`pinhole connections renew` renews what the bot may read; `pinhole connections` lists it";
        Failure::new(End::Refused, error.to_string(), hint).into()
    })
}

fn refused(refusal: &pinhole_runtime::outcome::Refusal) -> Failure {
    Failure::new(End::of(refusal), refusal.message.clone(), refusal.hint.clone())
}

/// Her one yes: to the services, the accounts, and who is told what is read there.
fn agreed(session: &Session, settings: &ModelSettings, url: &ModelUrl) -> anyhow::Result<bool> {
    if !terminal::is_there() {
        let message = "this asks the person at her terminal, and there is none";
        let hint = "run it where you can be asked: no flag says yes for you";
        return Err(Failure::new(End::Refused, message, hint).into());
    }
    let mut lines = vec!["A model may read, and only read:".to_owned()];
    lines.extend(session.connections().iter().map(|connected| {
        format!(
            "  {} as {} (`{}`)",
            connected.service,
            visible(connected.account.as_str()),
            visible(connected.label.as_str())
        )
    }));
    lines.push(format!(
        "What it reads is sent to {} (model {}).",
        visible(&url.host()),
        visible(&settings.model)
    ));
    terminal::show(&lines)?;
    Ok(terminal::line("Do you agree (yes or no)? ")?.trim() == "yes")
}

fn shown(answered: &Answered, json: bool) -> anyhow::Result<End> {
    if json {
        out::json(&json!({
            "answer": answered.text, "rounds": answered.rounds, "receipts": answered.receipts,
        }))?;
    } else {
        out::document(&answered.text)?;
        out::note(format_args!(
            "the model was asked {} times and made {} calls; `pinhole receipts list` shows them",
            answered.rounds,
            answered.receipts.len()
        ));
    }
    Ok(End::Done)
}

fn failed(error: &AskError) -> Failure {
    let (end, hint) = match error {
        AskError::Question | AskError::Bounds(_) => (End::Usage, "ask shorter, or within the bounds"),
        AskError::Model(ModelError::Status(401 | 403)) => {
            (End::Failed, "look at the key in `research.key_file`")
        }
        AskError::Model(_) => (End::Failed, "look at `[research]` in config.toml, and at the model's host"),
        AskError::Rounds(_) | AskError::Time | AskError::TooLarge => {
            (End::Failed, "ask for less, or give it more `--rounds`, `--time` or fewer `--bytes`")
        }
        AskError::Nothing => (End::Failed, "ask again, or otherwise"),
    };
    Failure::new(end, error.to_string(), hint)
}

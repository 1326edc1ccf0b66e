//! From the flags of `run` and `explain` to a call: the op, its args as one JSON text, a grant, an executor.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use anyhow::Context as _;
use pinhole_grant::Dial;
use pinhole_manifest::model::{ArgKind, Op};
use pinhole_manifest::{Access, ArgName};
use pinhole_runtime::catalog::{self, Catalog};
use pinhole_runtime::local::{LocalBot, StoredCall};
use pinhole_runtime::net::{PinnedClient, Wire as _};
use pinhole_runtime::{CallRequest, Executor};
use serde_json::value::{RawValue, to_raw_value};

use crate::args::{ArgValues, CallFlags};
use crate::config::Config;
use crate::end::{End, Failure};
use crate::files;
use crate::keys::{self, Bot};
use crate::occasion::{self, Occasion};
use crate::settings;
use crate::{dial, local};

/// What a call is permitted by.
pub(crate) enum Permission {
    /// A grant from a file.
    Grant,
    /// The service's key on stdin, for one read.
    Token(pinhole_grant::Secret),
    /// Nothing yet: the call is only looked at.
    Supposed,
}

/// A call and who would run it.
pub(crate) struct Prepared {
    pub(crate) executor: Executor,
    pub(crate) request: CallRequest,
}

/// Makes the call that the flags spell.
pub(crate) fn prepare(
    flags: &CallFlags,
    permission: Permission,
    config: &Config,
) -> anyhow::Result<Prepared> {
    let (service, op_id) = occasion::op_name(&flags.op)?;
    let catalog = occasion::catalog(&flags.local, config)?;
    let known = catalog.find(&service).and_then(|entry| Some((entry, entry.manifest.op(&op_id)?)));
    let args = args_text(&flags.values, known.map(|(_, op)| op))?;
    let is_stored = matches!(permission, Permission::Grant);
    let (bot, issuers, grant, client) = match permission {
        Permission::Grant => {
            let file = flags.grant.as_deref().unwrap_or(std::path::Path::new("-"));
            let grant = files::read(file)?;
            let mut issuers = keys::issuers(&flags.issuer)?;
            issuers.extend(keys::member_public(config)?);
            let bot = keys::bot(config)?;
            let client = dial::client_of_grant(&flags.dial, &catalog, (&grant, &bot.keys, &issuers))?;
            (bot, issuers, grant, client)
        }
        Permission::Token(_) | Permission::Supposed => {
            let client = dial::client(&flags.dial, &catalog)?;
            let (key, issuers, grant) = match known {
                Some((entry, op)) => for_the_occasion(permission, entry, op, &client, &args)?,
                None => for_nothing(&catalog)?,
            };
            (Bot { keys: key.into(), home: config.home().to_owned() }, issuers, grant, client)
        }
    };
    let store = occasion::open_store(&bot.home)?;
    let executor = occasion::executor(catalog, bot.keys, issuers, client, store, settings::sandbox(config)?);
    let book = if is_stored { settings::book(&bot.home, config) } else { settings::passing_book(config) };
    let executor = Executor { book: book?, ..executor };
    Ok(Prepared { executor, request: CallRequest::new(service, op_id, args, grant) })
}

/// The call that the flags spell, on a stored connection, and the bot that would run it.
pub(crate) fn on_a_connection(flags: &CallFlags, config: &Config) -> anyhow::Result<(LocalBot, StoredCall)> {
    let (service, op_id) = occasion::op_name(&flags.op)?;
    let catalog = occasion::catalog(&flags.local, config)?;
    let client = dial::client_of_stored(&flags.dial, &catalog, config)?;
    let op = catalog.find(&service).and_then(|entry| entry.manifest.op(&op_id));
    let args = args_text(&flags.values, op)?;
    let mut call = StoredCall::new(service, op_id, args);
    call.connection = flags.connection.as_deref().map(local::label).transpose()?;
    Ok((local::bot(catalog, client, config)?, call))
}

/// Says no where two flags would read stdin.
pub(crate) fn one_reader_of_stdin(flags: &CallFlags) -> anyhow::Result<()> {
    let dash = |path: &std::path::PathBuf| path.as_os_str() == "-";
    files::one_reader_of_stdin(&[
        ("--grant -", flags.grant.as_ref().is_some_and(dash)),
        ("--token-stdin", flags.token_stdin),
        ("--args -", flags.values.args.as_deref().is_some_and(|text| text == "-" || text == "@-")),
        ("--manifest -", flags.local.manifest.iter().any(dash)),
        ("--ca-cert -", flags.dial.ca_cert.as_ref().is_some_and(dash)),
    ])
}

type Permitted = (pinhole_grant::SecretKey, Vec<pinhole_grant::PublicKey>, Vec<u8>);

/// Keys, a credential and a grant for this process alone. A key on stdin permits one read; a write shown by `explain`
/// supposes the approval that it would need.
fn for_the_occasion(
    permission: Permission,
    entry: &catalog::Entry,
    op: &Op,
    client: &PinnedClient,
    args: &str,
) -> anyhow::Result<Permitted> {
    let dial = client.dial(entry.manifest.host());
    let (secret, cap) = match permission {
        Permission::Token(secret) => (secret, Access::Read),
        Permission::Grant | Permission::Supposed => (supposed()?, Access::Write),
    };
    let (occasion, bot) = Occasion::new(entry, secret, dial, cap)?;
    let parsed = op.args.parse_text(args);
    let grant = match (cap, op.access, parsed) {
        (Access::Write, Access::Write, Ok(args)) => occasion.approval(entry, &op.id, &args)?,
        // No approval can name args that are wrong: under a write grant, the call says what is wrong with them.
        (Access::Write, Access::Write, Err(_faults)) => occasion.write_grant(entry)?,
        (_, Access::Read, _) | (Access::Read, Access::Write, _) => occasion.read_grant(entry)?,
    };
    Ok((bot, vec![occasion.issuer()], grant))
}

/// A grant for a call of something that is not there, so that the one path says so. The key on stdin has no part in it.
fn for_nothing(catalog: &Catalog) -> anyhow::Result<Permitted> {
    let entry = catalog.iter().next().context("there is a manifest")?;
    let (occasion, bot) = Occasion::new(entry, supposed()?, Dial::Overridden, Access::Read)?;
    let grant = occasion.read_grant(entry)?;
    Ok((bot, vec![occasion.issuer()], grant))
}

/// Stands where a credential would. Never sent: the call is only looked at, or there is no such op.
fn supposed() -> anyhow::Result<pinhole_grant::Secret> {
    Ok(pinhole_grant::Secret::new("supposed-credential".to_owned())?)
}

/// The args as the text of one JSON object. Only their shape is made here; whether they are right is the call's to say.
pub(crate) fn args_text(values: &ArgValues, op: Option<&Op>) -> anyhow::Result<String> {
    if let Some(text) = &values.args {
        return json_or_file(text);
    }
    let args = named(&values.arg, op)?.into_iter().map(|(name, given)| Ok((name, given.json()?)));
    Ok(serde_json::to_string(&args.collect::<serde_json::Result<BTreeMap<_, _>>>()?)?)
}

/// JSON as it stands, or from `@FILE`, or from stdin for `-`.
pub(crate) fn json_or_file(text: &str) -> anyhow::Result<String> {
    match text.strip_prefix('@') {
        Some(path) => files::read_text(path.as_ref()),
        None if text == "-" => files::read_text("-".as_ref()),
        None => Ok(text.to_owned()),
    }
}

fn named<'p>(pairs: &'p [String], op: Option<&Op>) -> anyhow::Result<BTreeMap<&'p str, Given>> {
    let mut args = BTreeMap::new();
    for pair in pairs {
        let (name, text) = split(pair)?;
        let kind = ArgName::parse(name).ok().and_then(|name| op?.args.def(&name).map(|def| def.kind));
        match (kind, args.entry(name)) {
            (Some(ArgKind::Array), entry) => {
                if let Given::List(list) = entry.or_insert_with(|| Given::List(Vec::new())) {
                    list.extend(elements(text)?);
                }
            }
            (kind, Entry::Vacant(entry)) => {
                entry.insert(Given::One(value(kind, text)?));
            }
            (_, Entry::Occupied(_)) => {
                let message = format!("`{name}` is given twice and takes one value");
                return Err(Failure::new(End::Usage, message, "give it once").into());
            }
        }
    }
    Ok(args)
}

/// What was given for an arg. JSON stays as it was written, so that the call sees every digit and every key of it.
enum Given {
    One(Box<RawValue>),
    List(Vec<Box<RawValue>>),
}

impl Given {
    fn json(self) -> serde_json::Result<Box<RawValue>> {
        match self {
            Self::One(value) => Ok(value),
            Self::List(elements) => to_raw_value(&elements),
        }
    }
}

/// `NAME=VALUE` as the two.
pub(crate) fn split(pair: &str) -> anyhow::Result<(&str, &str)> {
    pair.split_once('=').ok_or_else(|| {
        Failure::new(
            End::Usage,
            format!("`{pair}` is not NAME=VALUE"),
            "write NAME=VALUE, such as `owner=me`",
        )
        .into()
    })
}

/// A text as the arg's kind of value; what cannot be one stays a text, and the call refuses it by name.
pub(crate) fn value(kind: Option<ArgKind>, text: &str) -> serde_json::Result<Box<RawValue>> {
    match kind {
        Some(ArgKind::Integer | ArgKind::Number | ArgKind::Boolean | ArgKind::Object) => {
            serde_json::from_str(text).or_else(|_not_json| to_raw_value(text))
        }
        Some(ArgKind::String | ArgKind::Array) | None => to_raw_value(text),
    }
}

/// The elements of a JSON array, or the text as one.
fn elements(text: &str) -> serde_json::Result<Vec<Box<RawValue>>> {
    serde_json::from_str(text).or_else(|_not_an_array| Ok(vec![to_raw_value(text)?]))
}

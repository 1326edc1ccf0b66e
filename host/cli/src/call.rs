//! From the flags of `run` and `explain` to a call: the op, its args as one JSON text, a grant, an executor.

use anyhow::Context as _;
use pinhole_grant::Dial;
use pinhole_manifest::model::{ArgKind, Op};
use pinhole_manifest::{Access, ArgName};
use pinhole_runtime::catalog::{Catalog, Entry};
use pinhole_runtime::net::{PinnedClient, Wire as _};
use pinhole_runtime::{CallRequest, Executor};
use serde_json::{Map, Value};

use crate::args::{ArgValues, CallFlags};
use crate::config::Config;
use crate::end::{End, Failure};
use crate::occasion::{self, Occasion};
use crate::{files, keys};

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
    let catalog = occasion::catalog(&flags.local)?;
    let client = occasion::client(&flags.dial)?;
    let known = catalog.find(&service).and_then(|entry| Some((entry, entry.manifest.op(&op_id)?)));
    let args = args_text(&flags.values, known.map(|(_, op)| op))?;
    let (bot, issuers, grant) = match permission {
        Permission::Grant => {
            let file = flags.grant.as_deref().unwrap_or(std::path::Path::new("-"));
            let grant = files::read(file)?;
            let mut issuers = keys::issuers(&flags.issuer)?;
            issuers.extend(keys::member_public(config)?);
            (keys::bot(config)?, issuers, grant)
        }
        Permission::Token(_) | Permission::Supposed => match known {
            Some((entry, op)) => for_the_occasion(permission, entry, op, &client, &args)?,
            None => for_nothing(&catalog)?,
        },
    };
    let executor = occasion::executor(catalog, bot, issuers, client, &config.state())?;
    Ok(Prepared { executor, request: CallRequest::new(service, op_id, args, grant) })
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
    entry: &Entry,
    op: &Op,
    client: &PinnedClient,
    args: &str,
) -> anyhow::Result<Permitted> {
    let dial = client.dial(entry.manifest.host());
    let (secret, cap) = match permission {
        Permission::Token(secret) => (secret, Access::Read),
        Permission::Grant | Permission::Supposed => (supposed()?, Access::Write),
    };
    let dial = if cap == Access::Write { Dial::Overridden } else { dial };
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
    match &values.args {
        Some(text) => json_or_file(text),
        None => Ok(Value::Object(named(&values.arg, op)?).to_string()),
    }
}

/// JSON as it stands, or from `@FILE`, or from stdin for `-`.
pub(crate) fn json_or_file(text: &str) -> anyhow::Result<String> {
    match text.strip_prefix('@') {
        Some(path) => files::read_text(path.as_ref()),
        None if text == "-" => files::read_text("-".as_ref()),
        None => Ok(text.to_owned()),
    }
}

fn named(pairs: &[String], op: Option<&Op>) -> anyhow::Result<Map<String, Value>> {
    let mut args = Map::new();
    for pair in pairs {
        let (name, text) = split(pair)?;
        let kind = ArgName::parse(name).ok().and_then(|name| op?.args.def(&name).map(|def| def.kind));
        match kind {
            Some(ArgKind::Array) => add_elements(&mut args, name, text),
            kind => {
                if args.insert(name.to_owned(), value(kind, text)).is_some() {
                    let message = format!("`{name}` is given twice and takes one value");
                    return Err(Failure::new(End::Usage, message, "give it once").into());
                }
            }
        }
    }
    Ok(args)
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
fn value(kind: Option<ArgKind>, text: &str) -> Value {
    let literal = || serde_json::from_str(text).unwrap_or_else(|_not_json| Value::from(text));
    match kind {
        Some(ArgKind::Integer | ArgKind::Number | ArgKind::Boolean | ArgKind::Object) => literal(),
        Some(ArgKind::String | ArgKind::Array) | None => Value::from(text),
    }
}

fn add_elements(args: &mut Map<String, Value>, name: &str, text: &str) {
    let Value::Array(elements) = args.entry(name).or_insert_with(|| Value::Array(Vec::new())) else {
        return;
    };
    match serde_json::from_str(text) {
        Ok(Value::Array(more)) => elements.extend(more),
        _ => elements.push(Value::from(text)),
    }
}

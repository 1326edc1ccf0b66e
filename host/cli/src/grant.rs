//! `pinhole grant mint|inspect|revoke`.

mod stored;
mod wheres;

use pinhole_grant::{
    Account, Caution, CredentialId, Dial, GrantId, Inspection, MintError, MintRequest, Scope, SealedGrant,
    UnixTime, Where,
};
use pinhole_manifest::model::{Args, Op};
use pinhole_manifest::visible::visible;
use pinhole_manifest::{Access, OpId};
use pinhole_runtime::catalog::Entry;
use pinhole_runtime::clock::{Clock as _, SystemClock};
use pinhole_runtime::render;

use crate::args::{GrantCommand, MintFlags};
use crate::config::Config;
use crate::database::{self, DatabaseFlags};
use crate::end::{End, Failure};
use crate::{call, files, keys, member, occasion, out, sheet};

pub(crate) fn main(command: GrantCommand, config: &Config) -> anyhow::Result<End> {
    match command {
        GrantCommand::Mint(flags) => mint(&flags, config),
        GrantCommand::Inspect { file, json, database } => inspect(&file, json, &database, config),
        GrantCommand::Revoke { grant, database } => revoke(&grant, &database, config),
    }
}

fn mint(flags: &MintFlags, config: &Config) -> anyhow::Result<End> {
    one_reader_of_stdin(flags)?;
    let catalog = occasion::catalog(&flags.local, config)?;
    let entry =
        catalog.iter().find(|entry| entry.manifest.id().as_str() == flags.service).ok_or_else(|| {
            let message = format!("there is no service `{}`", flags.service);
            Failure::new(End::Refused, message, "`pinhole services` lists what there is")
        })?;
    if flags.connection.is_some() || flags.approve_proposal.is_some() {
        let given = stored::mint(flags, &catalog, entry, config)?;
        return printed(&given.grant, given.until, flags);
    }
    let account = Account::parse(&flags.account).map_err(|error| usage(format!("`--account`: {error}")))?;
    if access(flags) == Access::Write {
        member::may_permit_writes(config)?;
    }
    let wanted = wanted(flags, entry, &account)?;
    let member = member::key(&flags.passphrase, access(flags), "which signs this grant", config)?;
    let dial = if flags.stand_in { Dial::Overridden } else { Dial::Real };
    let credential =
        occasion::credential(entry, occasion::token_from_stdin()?, account, dial, access(flags))?;
    let now = SystemClock.now();
    let request = request(wanted, flags, entry, (credential.id(), credential.account()), now)?;
    let request = match (&flags.return_to, credential.refresh()) {
        (Some(key), _) => request.returning_to(keys::parse_public(key)?),
        (None, Some(_)) => request.returning_to(member.public().clone()),
        (None, None) => request,
    };
    let minted = pinhole_grant::mint(&request, &credential, &member, now, &mut occasion::entropy());
    let sealed = minted.map_err(|error| {
        let hint = match error {
            MintError::NotABot => "pass the bot's key of `pinhole keys show`, not the member's",
            _ => {
                "narrow what it permits, or for how long: `--ttl` is at most 90d for reads and 24h for writes"
            }
        };
        Failure::new(End::Refused, format!("the grant was not minted: {error}"), hint)
    })?;
    printed(&sealed, request.scope.expires_at, flags)
}

fn printed(sealed: &SealedGrant, until: UnixTime, flags: &MintFlags) -> anyhow::Result<End> {
    out::note(format_args!("grant {} to {}, until {}", sealed.id(), flags.to, out::moment(until)));
    out::document(String::from_utf8_lossy(sealed.as_bytes()))?;
    Ok(End::Done)
}

/// Where the key comes on stdin, nothing else can.
fn one_reader_of_stdin(flags: &MintFlags) -> anyhow::Result<()> {
    let dash = |path: &std::path::PathBuf| path.as_os_str() == "-";
    let args = flags.approve.as_deref().and_then(|approve| approve.last());
    files::one_reader_of_stdin(&[
        ("the service's key", flags.connection.is_none() && flags.approve_proposal.is_none()),
        ("--approve-proposal -", flags.approve_proposal.as_ref().is_some_and(dash)),
        ("--approve … -", args.is_some_and(|text| text == "-" || text == "@-")),
        ("--passphrase-file -", flags.passphrase.passphrase_file.as_ref().is_some_and(dash)),
        ("--manifest -", flags.local.manifest.iter().any(dash)),
    ])
}

/// What the flags ask for, before anything is opened or read from stdin.
enum Wanted<'e> {
    Scope { ops: Vec<OpId>, wheres: Where },
    Approval { op: &'e Op, args: Args },
}

fn wanted<'e>(flags: &MintFlags, entry: &'e Entry, account: &Account) -> anyhow::Result<Wanted<'e>> {
    if let Some([op, args]) = flags.approve.as_deref() {
        let (service, op) = occasion::op_name(op)?;
        if service != *entry.manifest.id() {
            return Err(usage(format!(
                "`{service}` is not the service of this grant, `{}`",
                entry.manifest.id()
            ))
            .into());
        }
        let op = known_op(entry, op.as_str())?;
        let args = op.args.parse_text(&call::json_or_file(args)?).map_err(|faults| {
            let shown: Vec<String> = faults.iter().map(ToString::to_string).collect();
            usage(format!("the args are not what `{}` takes: {}", op.id, shown.join("; ")))
        })?;
        if op.access == Access::Read {
            return Err(usage(format!("`{}` reads, so there is nothing to approve", op.id)).into());
        }
        show_approval(entry, op, &args, account, flags)?;
        return Ok(Wanted::Approval { op, args });
    }
    let ops = flags.op.iter().map(|op| known_op(entry, op)).collect::<anyhow::Result<Vec<_>>>()?;
    for op in ops.iter().filter(|op| op.access == Access::Write) {
        runs_without_approval(op, access(flags))?;
    }
    let wheres = wheres::wheres(&flags.where_, entry, &ops)?;
    Ok(Wanted::Scope { ops: ops.iter().map(|op| op.id.clone()).collect(), wheres })
}

fn request(
    wanted: Wanted<'_>,
    flags: &MintFlags,
    entry: &Entry,
    of: (CredentialId, &Account),
    now: UnixTime,
) -> anyhow::Result<MintRequest> {
    let bot = keys::parse_public(&flags.to)?;
    let until = now.plus_secs(seconds(&flags.ttl)?);
    let manifest = entry.manifest.digest();
    match wanted {
        Wanted::Approval { op, args } => {
            let digest = occasion::action(entry, &op.id, &args, of, &bot).digest()?;
            Ok(MintRequest::approval(bot, manifest, op.id.clone(), digest, now, until))
        }
        Wanted::Scope { ops, wheres } => {
            let access = access(flags);
            let mut scope = Scope::new(access, now, until).with_where(wheres);
            if !ops.is_empty() {
                scope = scope.with_ops(ops);
            }
            scope.uses = flags.uses.or((access == Access::Write).then_some(std::num::NonZeroU32::MIN));
            Ok(MintRequest::new(bot, manifest, scope))
        }
    }
}

fn usage(message: String) -> Failure {
    Failure::new(End::Usage, message, "`pinhole grant mint --help` shows how")
}

fn access(flags: &MintFlags) -> Access {
    let approves = flags.approve.is_some() || flags.approve_proposal.is_some();
    if approves || flags.access.as_deref() == Some("write") { Access::Write } else { Access::Read }
}

fn known_op<'e>(entry: &'e Entry, name: &str) -> anyhow::Result<&'e Op> {
    let found = OpId::parse(name).ok().and_then(|id| entry.manifest.op(&id));
    found.ok_or_else(|| {
        let message = format!("`{}` has no op `{name}`", entry.manifest.id());
        Failure::new(End::Refused, message, format!("`pinhole services {}` lists them", entry.manifest.id()))
            .into()
    })
}

/// Shows whoever approves what exactly would be done: the question, every arg whole, the request, whose account it is.
fn show_approval(
    entry: &Entry,
    op: &Op,
    args: &Args,
    account: &Account,
    flags: &MintFlags,
) -> anyhow::Result<()> {
    let manifest = &entry.manifest;
    let request = op.request().ok_or_else(|| usage(format!("`{}` sends no request of its own", op.id)))?;
    let rendered = render::render(manifest, request, args)
        .map_err(|error| usage(format!("the args are not what `{}` takes: {error}", op.id)))?;
    let mut lines = Vec::new();
    if let Some(confirm) = &op.confirm {
        lines.push(visible(&render::fill_confirm(confirm, args)?));
    }
    lines.extend(args.iter().map(|(name, value)| format!("  {name} = {}", sheet::json(value))));
    let (method, target) = (rendered.method.as_str(), visible(&rendered.target));
    lines.push(format!("  request: {method} https://{}{target}", manifest.host()));
    lines.push(format!("  account: {}", visible(account.as_str())));
    lines.extend(op.effect.map(|effect| format!("  effect: {}", effect.as_str())));
    lines.push(sheet::irreversible(op.irreversible).to_owned());
    member::tell(&flags.passphrase, &lines)
}

/// `90s`, `2m`, `12h`, `30d`: a time as people write it, in seconds.
pub(crate) fn seconds(text: &str) -> anyhow::Result<i64> {
    let unit = |suffix: char, factor: i64| {
        text.strip_suffix(suffix)?.parse::<u32>().ok().and_then(|count| i64::from(count).checked_mul(factor))
    };
    let found =
        unit('s', 1).or_else(|| unit('m', 60)).or_else(|| unit('h', 3_600)).or_else(|| unit('d', 86_400));
    found.ok_or_else(|| {
        Failure::new(End::Usage, format!("`{text}` is no time"), "write 90s, 2m, 12h or 30d").into()
    })
}

fn inspect(
    file: &std::path::Path,
    json: bool,
    database: &DatabaseFlags,
    config: &Config,
) -> anyhow::Result<End> {
    let sealed = files::read(file)?;
    let issuers: Vec<_> = keys::member_public(config)?.into_iter().collect();
    let bot = keys::bot(config)?;
    let shown = bot.keys.inspect(&sealed, &issuers).map_err(|error| {
        let hint = "pass the file that `pinhole grant mint` wrote, unchanged, on the machine whose bot it was minted for \
                    (`pinhole keys show`)";
        Failure::new(End::Invalid, format!("the grant cannot be shown: {error}"), hint)
    })?;
    let state = state(&shown, &bot, database)?;
    let mut shown = serde_json::to_value(&shown)?;
    if let Some(members) = shown.as_object_mut() {
        members.insert("state".to_owned(), state.into());
    }
    if json {
        out::json(&shown)?;
    } else {
        for (name, value) in shown.as_object().into_iter().flatten() {
            let time =
                value.as_i64().filter(|_| matches!(name.as_str(), "iat" | "not_before" | "expires_at"));
            let text = time.map_or_else(|| value.to_string(), |time| out::moment(UnixTime::from_secs(time)));
            out::line(format_args!("{name:<11} {}", visible(&text)));
        }
    }
    Ok(End::Done)
}

/// Refuses a grant by which a listed write would never run.
fn runs_without_approval(op: &Op, access: Access) -> anyhow::Result<()> {
    let fault = match (access, Caution::of(op)) {
        (Access::Read, _) => {
            "writes, and the grant would only read: add `--access write`, or use `--approve`"
        }
        (Access::Write, Caution::NeedsApproval) => {
            "runs only when exactly that call is approved: use `--approve`"
        }
        (Access::Write, Caution::Ordinary) => return Ok(()),
    };
    Err(usage(format!("`{}` {fault}", op.id)).into())
}

/// What has become of a grant on this machine, which its signature does not say.
fn state(shown: &Inspection, bot: &keys::Bot, database: &DatabaseFlags) -> anyhow::Result<&'static str> {
    let store = database::open_desk(&bot.home, database)?;
    let now = store.high_water(SystemClock.now())?;
    let used_up = match shown.uses.and_then(std::num::NonZeroU32::new) {
        Some(uses) => !store.has_use_left(&shown.id, uses)?,
        None => false,
    };
    Ok(if store.is_revoked(&shown.id)? {
        "revoked"
    } else if bot.keys.has_ended(shown.bot, now) {
        "its key has ended"
    } else if now >= shown.expires_at {
        "expired"
    } else if used_up {
        "used up"
    } else {
        "open"
    })
}

fn revoke(grant: &str, database: &DatabaseFlags, config: &Config) -> anyhow::Result<End> {
    let id = match GrantId::parse(grant) {
        Ok(id) => id,
        Err(_not_an_id) => {
            let path: &std::path::Path = grant.as_ref();
            if grant != "-" && !path.exists() {
                let message = format!("`{grant}` is neither the id of a grant nor a file");
                let hint = "pass the sealed grant, or its id as `pinhole grant inspect` shows it";
                return Err(Failure::new(End::Usage, message, hint).into());
            }
            let sealed = files::read(path)?;
            let shown = keys::bot(config)?.keys.inspect(&sealed, &[]).map_err(|error| {
                let hint = "pass the sealed grant, or its id as `pinhole grant inspect` shows it";
                Failure::new(End::Invalid, format!("`{grant}` is neither a grant nor its id: {error}"), hint)
            })?;
            shown.id
        }
    };
    let store = database::open_desk(&keys::bot_home(config)?, database)?;
    store.revoke(&id)?;
    out::line(format_args!("grant {id} is refused on this machine from now on"));
    Ok(End::Done)
}

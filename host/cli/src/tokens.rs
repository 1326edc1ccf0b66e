//! `pinhole tokens`: who may call this machine's MCP server or sidecar over HTTP, and for what.
//!
//! INVARIANT: the text of a token is printed once, on stdout, and kept nowhere; one that could not be printed is revoked. A
//! token gives nobody the member's yes: making one wants no key of hers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use clap::{Args, Subcommand};
use pinhole_grant::{KeyId, Label, PrincipalId};
use pinhole_manifest::visible::visible;
use pinhole_manifest::{Access, ServiceId};
use pinhole_runtime::entropy::{self, SystemEntropy};
use pinhole_runtime::store::{
    Desk, Removal, StoreError, Table, TokenError, TokenRow, TokenScope, TokenState,
};
use pinhole_server::BearerToken;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::config::Config;
use crate::database::DatabaseFlags;
use crate::end::{End, Failure};
use crate::local::Desktop;
use crate::out::Reader;
use crate::{grant, keys, local, out};

/// Longest life, in days.
const DAYS_MAX: i64 = 365;
const DAY: i64 = 86_400;

/// What `pinhole tokens` does.
#[derive(Debug, Subcommand)]
pub(crate) enum TokensCommand {
    /// Make a token and print it, once; whoever has it may ask for what it is good for, within what connections and grants allow
    #[command(after_help = NEW_EXAMPLES)]
    New(NewFlags),
    /// List them, the newest first; their texts are not kept
    List {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        database: DatabaseFlags,
    },
    /// Refuse a token from now on
    // An id may begin with a hyphen.
    #[command(allow_hyphen_values = true)]
    Revoke {
        /// The token's name, or its id as `list` shows it
        token: String,
        #[command(flatten)]
        database: DatabaseFlags,
    },
}

const NEW_EXAMPLES: &str = "Examples:
  pinhole tokens new laptop
  pinhole tokens new assistant --scope read --scope write --service github --ttl 7d

A token lets its holder read, or ask for writes: over `pinhole mcp --http` on the connections here, and at
`pinhole sidecar --listen` under the grants that come with the calls. `--scope write` does not include reads:
say both for both. It approves nothing: each write still waits for its member's own yes.";

#[derive(Debug, Args)]
pub(crate) struct NewFlags {
    /// What to call it: who holds it, or where
    name: String,
    /// What it is good for; may be repeated, and neither includes the other [default: read]
    #[arg(long, value_parser = ["read", "write"])]
    scope: Vec<String>,
    /// Only this service; may be repeated [default: every service]
    #[arg(long, value_name = "SERVICE")]
    service: Vec<String>,
    /// How long it lives, such as 12h or 30d; at most 365d
    #[arg(long, value_name = "TIME", default_value = "30d")]
    ttl: String,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    database: DatabaseFlags,
}

/// What the holders of tokens are called, over ones too.
#[derive(Debug, Default)]
pub(crate) struct Askers(BTreeMap<PrincipalId, Label>);

impl Askers {
    pub(crate) fn of(desktop: &Desktop) -> Result<Self, StoreError> {
        Self::in_store(&*desktop.store, desktop.member.id())
    }

    /// Of the tokens that a member gave out.
    pub(crate) fn in_store(store: &dyn Desk, member: KeyId) -> Result<Self, StoreError> {
        let rows = store.tokens(member)?;
        Ok(Self(rows.into_iter().map(|row| (row.id, row.name)).collect()))
    }

    /// The name of the token.
    pub(crate) fn name(&self, asker: PrincipalId) -> Option<&Label> {
        self.0.get(&asker)
    }

    /// For people.
    pub(crate) fn shown(&self, asker: PrincipalId) -> String {
        let name = self.name(asker).map(|name| format!("the token `{}`", visible(name.as_str())));
        name.unwrap_or_else(|| format!("a token that is not known here ({asker})"))
    }
}

pub(crate) fn main(command: TokensCommand, config: &Config) -> anyhow::Result<End> {
    match command {
        TokensCommand::New(flags) => new(&flags, config),
        TokensCommand::List { json, database } => list(json, &database, config),
        TokensCommand::Revoke { token, database } => revoke(&token, &database, config),
    }
}

fn new(flags: &NewFlags, config: &Config) -> anyhow::Result<End> {
    let name = local::label(&flags.name)?;
    let scope = scope(flags)?;
    let seconds = grant::seconds(&flags.ttl)?;
    if !(1..=DAYS_MAX * DAY).contains(&seconds) {
        let message = format!("`{}` is no time that a token may live", flags.ttl);
        return Err(Failure::new(End::Usage, message, format!("say at most {DAYS_MAX}d")).into());
    }
    let desktop = Desktop::open_in(&flags.database, config)?;
    let token = BearerToken::random(&SystemEntropy)?;
    let row = TokenRow {
        id: PrincipalId::random(&mut entropy::seeded(&SystemEntropy)?),
        member: desktop.member.id(),
        name,
        digest: token.digest(),
        scope,
        created_at: desktop.now,
        expires_at: desktop.now.plus_secs(seconds),
        revoked_at: None,
    };
    desktop.store.add_token(&row).map_err(|error| not_made(error, &row.name))?;
    match out::lines(&printed(&token, &row, flags)?) {
        Ok(Reader::There) => {}
        unread => {
            desktop.store.revoke_token(row.member, row.id, desktop.now)?;
            unread?;
            let message = "nobody read the token, so it was revoked";
            return Err(Failure::new(End::Failed, message, "make another, and keep what is printed").into());
        }
    }
    say(&row, &desktop)?;
    Ok(End::Done)
}

/// What is on stdout: the token alone, or one document.
fn printed(token: &BearerToken, row: &TokenRow, flags: &NewFlags) -> anyhow::Result<Zeroizing<String>> {
    let mut text = Zeroizing::new(String::with_capacity(1_024));
    if flags.json {
        let rest = in_json(row, TokenState::Good).to_string();
        let rest = rest.strip_prefix('{').unwrap_or_default();
        write!(text, "{{\"token\":\"{}\",{}", token.expose(), out::plain_json(rest))?;
    } else {
        text.push_str(token.expose());
    }
    text.push('\n');
    Ok(text)
}

fn say(row: &TokenRow, desktop: &Desktop) -> anyhow::Result<()> {
    out::note(format_args!(
        "this is the token `{}`: {}, until {}; it is not shown again",
        visible(row.name.as_str()),
        in_words(&row.scope),
        out::moment(row.expires_at)
    ));
    out::note("  put it into the client's configuration, as the header `Authorization: Bearer TOKEN`");
    if row.scope.accesses().contains(&Access::Write) {
        out::note("  its holder may ask for writes: each still waits for your own yes");
        if !row.scope.accesses().contains(&Access::Read) {
            out::note("  it is not good for reads: those want `--scope read` too");
        }
    }
    let name = out::shell_word(&visible(row.name.as_str()));
    out::note(format_args!("  `pinhole tokens revoke {name}` ends it"));
    let connected: BTreeSet<ServiceId> =
        desktop.store.connections(row.member)?.into_iter().map(|connection| connection.service).collect();
    for service in row.scope.services().into_iter().flatten().filter(|service| !connected.contains(*service))
    {
        out::note(format_args!(
            "note: nothing of `{service}` is connected yet: `pinhole connect {service}`; for a sidecar nothing has to be"
        ));
    }
    Ok(())
}

fn scope(flags: &NewFlags) -> anyhow::Result<TokenScope> {
    let accesses = flags.scope.iter().map(|word| if word == "write" { Access::Write } else { Access::Read });
    let accesses: BTreeSet<Access> =
        if flags.scope.is_empty() { [Access::Read].into() } else { accesses.collect() };
    let services = flags.service.iter().map(|name| {
        ServiceId::parse(name).map_err(|error| {
            Failure::new(End::Usage, error.to_string(), "`pinhole services` lists what there is")
        })
    });
    let services = services.collect::<Result<BTreeSet<_>, _>>()?;
    let services = (!services.is_empty()).then_some(services);
    Ok(TokenScope::new(accesses, services)?)
}

fn not_made(error: TokenError, name: &Label) -> anyhow::Error {
    let hint = match error {
        TokenError::Store(store) => return store.into(),
        TokenError::NameTaken => {
            format!("call it otherwise; or `pinhole tokens revoke {}` first", out::shell_word(name.as_str()))
        }
        TokenError::IdTaken | TokenError::ExpiresAtOnce => "try again".to_owned(),
    };
    Failure::new(End::Refused, error.to_string(), hint).into()
}

fn list(json: bool, database: &DatabaseFlags, config: &Config) -> anyhow::Result<End> {
    let mut rows = Vec::new();
    if keys::member_public(config)?.is_some() {
        let desktop = Desktop::open_in(database, config)?;
        for row in desktop.store.tokens(desktop.member.id())? {
            rows.push((row.state(desktop.now), row));
        }
    }
    if json {
        let rows: Vec<Value> = rows.iter().map(|(state, row)| in_json(row, *state)).collect();
        out::json(&rows)?;
        return Ok(End::Done);
    }
    if rows.is_empty() {
        out::note("there is no token; `pinhole tokens new NAME` makes one");
        return Ok(End::Done);
    }
    let lines: Vec<String> = rows.iter().map(|(state, row)| in_a_line(row, *state)).collect();
    out::document(lines.join("\n"))?;
    Ok(End::Done)
}

fn in_a_line(row: &TokenRow, state: TokenState) -> String {
    let until = match (state, row.revoked_at) {
        (TokenState::Revoked, Some(at)) => format!("revoked {}", out::moment(at)),
        _ => format!("until {}", out::moment(row.expires_at)),
    };
    let (name, id, scope) = (visible(row.name.as_str()), row.id.to_string(), in_words(&row.scope));
    format!("{name:<16} {id:<22} {:<8} {scope}, {until}", state.as_str())
}

fn in_words(scope: &TokenScope) -> String {
    let accesses: Vec<&str> = scope.accesses().iter().map(|access| access.as_str()).collect();
    let services =
        scope.services().map(|all| all.iter().map(ServiceId::as_str).collect::<Vec<_>>().join(", "));
    format!("{} of {}", accesses.join(" and "), services.as_deref().unwrap_or("every service"))
}

fn in_json(row: &TokenRow, state: TokenState) -> Value {
    json!({
        "id": row.id, "name": row.name, "state": state.as_str(), "scopes": row.scope.accesses(),
        "services": row.scope.services(), "created_at": row.created_at, "expires_at": row.expires_at,
        "revoked_at": row.revoked_at,
    })
}

fn revoke(token: &str, database: &DatabaseFlags, config: &Config) -> anyhow::Result<End> {
    let desktop = Desktop::open_in(database, config)?;
    let member = desktop.member.id();
    // By its id nothing else of a row is read: so one that was tampered with goes too.
    let by_id = match PrincipalId::parse(token) {
        Ok(id) => desktop.store.revoke_token(member, id, desktop.now)?,
        Err(_no_id) => desktop.store.forget_unreadable(Table::Tokens, member, token)?,
    };
    if by_id == Removal::Absent {
        let rows = desktop.store.tokens(member)?;
        let is_it =
            |row: &&TokenRow| row.name.as_str() == token && row.state(desktop.now) != TokenState::Revoked;
        let Some(row) = rows.iter().find(is_it) else {
            let message = format!("there is no token `{token}` that could be revoked");
            return Err(Failure::new(End::Refused, message, "`pinhole tokens list` shows them").into());
        };
        desktop.store.revoke_token(member, row.id, desktop.now)?;
    }
    out::document(format_args!("revoked: {}; whoever holds it is refused from now on", visible(token)))?;
    Ok(End::Done)
}

//! A write that a bot proposes elsewhere, as the member sees it: everything that her yes would do, whole.
//!
//! Of the proposal nothing is believed but which service, op, args, connection and bot are meant; all else is found anew from her
//! own manifests and her own connection, and where the proposal says otherwise that is said. INVARIANT: what is approved is what
//! was found here, and only where the bot said the same: what it would run is then what she was shown.
//! Texts are as they are: whoever shows them makes characters that do not show visible.

use pinhole_grant::scope::SKEW_SECS;
use pinhole_grant::{
    Account, Action, ActionDigest, ActionError, Credential, CredentialId, Dial, Label, MintRequest,
    PublicKey, SealedGrant, UnixTime,
};
use pinhole_manifest::model::Effect;
use pinhole_manifest::{Access, Digest, OpId, ServiceId};
use serde::Serialize;
use serde_json::Value;

use super::{APPROVAL_SECS, ApproveError, Present, SheetRequest, manifest_of};
use crate::call::Found;
use crate::catalog::{Catalog, Source};
use crate::entropy;
use crate::outcome::Proposal;
use crate::render;
use crate::store::ConnectionRow;

/// A proposal, for the member who is to approve it.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Proposed {
    /// Where the bot's words differ from what is found here.
    pub differs: Vec<Difference>,
    /// What she is asked, in her manifest's words.
    pub confirm: String,
    /// The service.
    pub service: ServiceId,
    /// The op.
    pub op: OpId,
    /// What the op does, in her manifest's words.
    pub summary: String,
    /// Every arg, in its normal form.
    pub args: Value,
    /// The request that would be sent.
    pub request: SheetRequest,
    /// What the connection that would be used is called.
    pub label: Label,
    /// Its id.
    pub connection: CredentialId,
    /// Whether it is for a stand-in, and nothing reaches the service itself.
    pub stand_in: bool,
    /// Whose account it opens.
    pub account: Account,
    /// What the op does to the service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// Whether it cannot be taken back.
    pub irreversible: bool,
    /// What the bot says that the conditions of the op were found to be; they are looked up again before the write is sent.
    pub found: Vec<Found>,
    /// The bot that would run it.
    pub bot: PublicKey,
    /// The manifest, such as `github@1.0.0`.
    pub manifest: String,
    /// Its digest.
    pub digest: Digest,
    /// Whether nobody signed it and it is not part of the binary.
    pub unsigned: bool,
    /// What an approval would name.
    pub action: ActionDigest,
}

/// A grant that she gave to a bot elsewhere.
#[derive(Debug)]
#[non_exhaustive]
pub struct Given {
    /// It, sealed to the bot.
    pub grant: SealedGrant,
    /// Until when it may be used.
    pub until: UnixTime,
}

/// Something that the bot says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// What it is about.
    pub about: &'static str,
    /// What the bot says.
    pub said: String,
    /// What is found here.
    pub is: String,
}

/// Why a proposal cannot be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProposedError {
    /// This host has no manifest of the service, or it has no such op.
    #[error("there is no op `{service}.{op}` here")]
    UnknownOp {
        /// The service.
        service: ServiceId,
        /// The op.
        op: OpId,
    },
    /// It reads, or a module computes it.
    #[error("`{0}` is no write that is approved")]
    NotAWrite(OpId),
    /// The connection is of another service.
    #[error("the connection that it names is to `{0}`")]
    OtherService(ServiceId),
    /// The args are not what the op takes.
    #[error("the args are not what `{op}` takes: {fault}")]
    Args {
        /// The op.
        op: OpId,
        /// The first thing that is wrong.
        fault: String,
    },
    /// The action has no digest.
    #[error(transparent)]
    Action(#[from] ActionError),
}

impl Proposed {
    /// What a proposal comes to, on her connection that it names.
    pub fn of(proposal: &Proposal, row: &ConnectionRow, catalog: &Catalog) -> Result<Self, ProposedError> {
        let unknown =
            || ProposedError::UnknownOp { service: proposal.service.clone(), op: proposal.op.clone() };
        if row.service != proposal.service {
            return Err(ProposedError::OtherService(row.service.clone()));
        }
        let entry = catalog.find(&proposal.service).ok_or_else(unknown)?;
        let manifest = &entry.manifest;
        let op = manifest.op(&proposal.op).ok_or_else(unknown)?;
        let not_a_write = || ProposedError::NotAWrite(op.id.clone());
        let (confirm, request) = op.confirm.as_ref().zip(op.request()).ok_or_else(not_a_write)?;
        if op.access != Access::Write {
            return Err(not_a_write());
        }
        let wrong = |fault: String| ProposedError::Args { op: op.id.clone(), fault };
        let args = op.args.parse_text(&proposal.args.to_string()).map_err(|faults| {
            wrong(
                faults
                    .first()
                    .map(|fault| format!("`{}` {}", fault.pointer, fault.message))
                    .unwrap_or_default(),
            )
        })?;
        let confirm = render::fill_confirm(confirm, &args).map_err(|error| wrong(error.to_string()))?;
        let rendered = render::render(manifest, request, &args).map_err(|error| wrong(error.to_string()))?;
        let action = Action {
            service: manifest.id(),
            op: &op.id,
            args: &args,
            manifest: manifest.digest(),
            connection: row.id,
            account: &row.account,
            bot: proposal.bot.id(),
        };
        let mut shown = Self {
            differs: Vec::new(),
            confirm,
            service: manifest.id().clone(),
            op: op.id.clone(),
            summary: op.summary.clone(),
            args: args.to_json(),
            request: SheetRequest {
                method: rendered.method.as_str().to_owned(),
                url: format!("https://{}{}", manifest.host(), rendered.target),
                body: rendered.shown_body(),
            },
            label: row.label.clone(),
            connection: row.id,
            stand_in: row.dial == Dial::Overridden,
            account: row.account.clone(),
            effect: op.effect,
            irreversible: op.irreversible,
            found: Vec::new(),
            bot: proposal.bot.clone(),
            manifest: manifest.label(),
            digest: manifest.digest(),
            unsigned: entry.source == Source::UnsignedFile,
            action: action.digest()?,
        };
        let found: Option<Vec<Found>> = serde_json::from_value(proposal.found.clone()).ok();
        let same = |found: &Vec<Found>| {
            found.len() == op.require.len()
                && found.iter().zip(&op.require).all(|(found, requirement)| found.is_of(requirement, &args))
        };
        match found.filter(same) {
            Some(found) => shown.found = found,
            None => shown.differs.push(Difference {
                about: "what was looked up",
                said: proposal.found.to_string(),
                is: "nothing that this op looks up".to_owned(),
            }),
        }
        shown.compare(proposal);
        Ok(shown)
    }

    fn compare(&mut self, proposal: &Proposal) {
        let Proposal { confirm, account, manifest, action, args, .. } = proposal;
        let all = [
            ("the question", confirm.clone(), self.confirm.clone()),
            ("the args", args.to_string(), self.args.to_string()),
            ("the account", account.as_str().to_owned(), self.account.as_str().to_owned()),
            ("the manifest", manifest.to_string(), self.digest.to_string()),
            ("the digest of the action", action.to_string(), self.action.to_string()),
        ];
        let differing = all.into_iter().filter(|(_about, said, is)| said != is);
        self.differs.extend(differing.map(|(about, said, is)| Difference { about, said, is }));
    }
}

impl Present<'_> {
    /// Says yes to what was shown: mints the approval, for the bot that would run it. A rotated key comes back to her.
    ///
    /// # Errors
    /// The same as a yes at this host has; and [`ApproveError::OtherWords`] where the bot's words differ.
    pub fn approve_proposal(&self, shown: &Proposed) -> Result<Given, ApproveError> {
        if !shown.differs.is_empty() {
            return Err(ApproveError::OtherWords);
        }
        if self.wall.plus_secs(SKEW_SECS) < self.now {
            return Err(ApproveError::ClockBehind);
        }
        let credential = self.connected(shown.connection)?;
        if *credential.service() != shown.service || *credential.account() != shown.account {
            return Err(ApproveError::OtherAccount);
        }
        let dial = if shown.stand_in { Dial::Overridden } else { Dial::Real };
        if shown.label != *credential.label() || credential.dial() != dial {
            return Err(ApproveError::OtherConnection);
        }
        self.may_write(&credential)?;
        let until = self.now.plus_secs(APPROVAL_SECS);
        let (bot, digest, op) = (shown.bot.clone(), shown.digest, shown.op.clone());
        let request = MintRequest::approval(bot, digest, op, shown.action, self.now, until)
            .returning_to(self.key.public().clone());
        self.sealed(&request, &credential)
    }

    /// Gives a grant of one of her connections to whomever the request names. A rotated key comes back to her, unless the request
    /// says to whom else.
    pub fn give(&self, row: &ConnectionRow, request: MintRequest) -> Result<Given, ApproveError> {
        let credential = self.open(row)?;
        manifest_of(self.catalog, &credential).map_err(ApproveError::Stale)?;
        let request = match request.return_to {
            Some(_) => request,
            None => request.returning_to(self.key.public().clone()),
        };
        self.sealed(&request, &credential)
    }

    fn sealed(&self, request: &MintRequest, credential: &Credential) -> Result<Given, ApproveError> {
        let mut rng = entropy::seeded(self.entropy)?;
        let grant = pinhole_grant::mint(request, credential, self.key, self.now, &mut rng)?;
        Ok(Given { grant, until: request.scope.expires_at })
    }
}

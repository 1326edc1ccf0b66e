//! What the member sees of a question before she answers: everything that her yes would do, whole.
//!
//! Made by her side, from her own manifests: of what the bot's side stored, only the args are taken as they are, for they
//! are what is asked, and the values that it found, which are read again before the write is sent. Refuses a question that
//! does not agree with its digest, or whose manifest is not the present one.
//! Texts are as they are: whoever shows them makes characters that do not show visible.

use pinhole_grant::{Account, ActionDigest, CredentialId, Dial, KeyId, Label, PrincipalId, UnixTime};
use pinhole_manifest::model::{Args, Effect, Requirement};
use pinhole_manifest::{Digest, OpId, ServiceId};
use serde::Serialize;
use serde_json::Value;

use crate::call::Found;
use crate::catalog::{Catalog, Source};
use crate::render;
use crate::store::{ConnectionRow, Question, QuestionId, QuestionState, StoreError};

/// A question, for the member who is asked.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Sheet {
    /// The question.
    pub question: QuestionId,
    /// How far it has come.
    pub state: QuestionState,
    /// What she is asked, in the manifest's words.
    pub confirm: String,
    /// The service.
    pub service: ServiceId,
    /// The op.
    pub op: OpId,
    /// What the op does, in the manifest's words.
    pub summary: String,
    /// Every arg, in its normal form.
    pub args: Value,
    /// The request that would be sent.
    pub request: SheetRequest,
    /// What the connection that would be used is called, where it is still there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
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
    /// What the conditions of the op were found to be when the question was raised.
    pub found: Vec<Found>,
    /// The bot that would run it.
    pub bot: KeyId,
    /// On whose behalf it asks; `None` for its host's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub principal: Option<PrincipalId>,
    /// The manifest, such as `github@1.0.0`.
    pub manifest: String,
    /// Its digest.
    pub digest: Digest,
    /// Whether nobody signed it and it is not part of the binary.
    pub unsigned: bool,
    /// When the question was raised.
    pub raised_at: UnixTime,
    /// From when on it can be answered no more.
    pub expires_at: UnixTime,
    #[serde(skip)]
    pub(super) action: ActionDigest,
}

/// A request without its headers.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct SheetRequest {
    /// The method.
    pub method: String,
    /// The whole URL.
    pub url: String,
    /// The body: JSON as JSON, a form as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
}

/// Why a question cannot be shown. It can still be denied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SheetError {
    /// This host has no manifest of the service, or it has no such op.
    #[error("there is no op `{service}.{op}` here any more")]
    Gone {
        /// The service.
        service: ServiceId,
        /// The op.
        op: OpId,
    },
    /// The manifest is another than the one under which the question was raised.
    #[error("the manifest of `{service}` changed since this was asked")]
    ManifestChanged {
        /// The service.
        service: ServiceId,
    },
    /// The row does not agree with itself.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Sheet {
    /// The sheet of a question, and of the connection that it names, where that is still there.
    pub fn of(
        question: &Question,
        connection: Option<&ConnectionRow>,
        catalog: &Catalog,
    ) -> Result<Self, SheetError> {
        let gone = || SheetError::Gone { service: question.service.clone(), op: question.op.clone() };
        let entry = catalog.find(&question.service).ok_or_else(gone)?;
        let manifest = &entry.manifest;
        if manifest.digest() != question.manifest {
            return Err(SheetError::ManifestChanged { service: question.service.clone() });
        }
        let op = manifest.op(&question.op).ok_or_else(gone)?;
        let tampered = || SheetError::Store(question.tampered());
        let args = op.args.parse_text(&question.args).map_err(|_faults| tampered())?;
        question.check(&args)?;
        let confirm = op.confirm.as_ref().ok_or_else(tampered)?;
        let confirm = render::fill_confirm(confirm, &args).map_err(|_error| tampered())?;
        let request = op.request().ok_or_else(tampered)?;
        let rendered = render::render(manifest, request, &args).map_err(|_error| tampered())?;
        let found = found(question, &op.require, &args).ok_or_else(tampered)?;
        let body = rendered.shown_body();
        Ok(Self {
            question: question.id,
            state: question.state,
            confirm,
            service: question.service.clone(),
            op: question.op.clone(),
            summary: op.summary.clone(),
            args: args.to_json(),
            request: SheetRequest {
                method: rendered.method.as_str().to_owned(),
                url: format!("https://{}{}", manifest.host(), rendered.target),
                body,
            },
            label: connection.map(|row| row.label.clone()),
            connection: question.connection,
            stand_in: connection.is_some_and(|row| row.dial == Dial::Overridden),
            account: question.account.clone(),
            effect: op.effect,
            irreversible: op.irreversible,
            found,
            bot: question.bot,
            principal: question.principal,
            manifest: manifest.label(),
            digest: manifest.digest(),
            unsigned: entry.source == Source::UnsignedFile,
            raised_at: question.raised_at,
            expires_at: question.expires_at,
            action: question.action,
        })
    }
}

/// What was found, if it is what the op requires: one answer for each condition, in their order.
fn found(question: &Question, require: &[Requirement], args: &Args) -> Option<Vec<Found>> {
    let found: Vec<Found> = serde_json::from_value(question.found.clone()).ok()?;
    let same = found.len() == require.len()
        && found.iter().zip(require).all(|(found, requirement)| found.is_of(requirement, args));
    same.then_some(found)
}

//! From what the caller says to what the member permits: the grant opens, and manifest, host and op agree with it.

use std::sync::Arc;

use pinhole_grant::{
    Dial, Grant, OpenError, OpenedGrant, ScopeError, SecretKey, Succession, Target, UnixTime,
};
use pinhole_manifest::diff::diff;
use pinhole_manifest::model::Op;
use pinhole_manifest::{Manifest, ServiceId};

use super::{Call, CallRequest, Executor, Hides, Received, Trace};
use crate::catalog::{Entry, Missing, ModuleFiles, Source};
use crate::outcome::{Code, Refusal};
use crate::store::{Store, StoreError};

/// The grant is open: sealed to this bot, signed by a known member, in its time, not revoked.
#[derive(Debug)]
pub(super) struct Opened<'a> {
    request: &'a CallRequest,
    grant: OpenedGrant,
    now: UnixTime,
}

/// Manifest, host and op are those that the grant is for.
#[derive(Debug)]
pub(super) struct Agreed<'a> {
    pub(super) request: &'a CallRequest,
    pub(super) grant: OpenedGrant,
    pub(super) manifest: &'a Manifest,
    pub(super) op: &'a Op,
    /// Where the manifest's modules are.
    pub(super) modules: &'a ModuleFiles,
    /// The time by which the grant was opened: the latest that was seen.
    pub(super) now: UnixTime,
}

impl Agreed<'_> {
    /// What the grant says.
    pub(super) fn grant(&self) -> &Grant {
        self.grant.grant()
    }

    /// The key of the bot that the grant was given to: its present one, or a former one.
    pub(super) fn bot<'e>(&self, executor: &'e Executor) -> &'e SecretKey {
        executor.bot.key(self.grant().bot()).unwrap_or_else(|| executor.bot.current())
    }
}

impl<'a> Call<Received<'a>> {
    /// Opens the grant. The time is the latest that this store has seen, so that a clock set back revives nothing.
    pub(super) async fn open_grant(
        self,
        executor: &Executor,
        trace: &mut Trace,
    ) -> Result<Call<Opened<'a>>, Refusal> {
        let request = self.stage.request;
        let (grant, now) = executor.opened(&request.grant, |grant| trace.record.opened(grant)).await?;
        Ok(Call { stage: Opened { request, grant, now } })
    }
}

impl<'a> Call<Opened<'a>> {
    /// Finds the manifest and the op, and holds them against the grant: service, host, op, access, way of dialling.
    pub(super) fn agree(
        self,
        executor: &'a Executor,
        trace: &mut Trace,
    ) -> Result<Call<Agreed<'a>>, Refusal> {
        self.agree_as(OpenedGrant::check_op, executor, trace)
    }

    /// The same, by another measure of what the grant is to cover.
    pub(super) fn agree_as(
        self,
        covers: fn(&OpenedGrant, &Target<'_>) -> Result<(), ScopeError>,
        executor: &'a Executor,
        trace: &mut Trace,
    ) -> Result<Call<Agreed<'a>>, Refusal> {
        let Opened { request, grant, now } = self.stage;
        if request.hides == Hides::Service {
            return Err(Refusal::new(Code::UnknownService));
        }
        let entry = executor.manifest_of(&request.service, now)?;
        let manifest = &entry.manifest;
        trace.meta.manifest = Some(manifest.label());
        trace.meta.digest = Some(manifest.digest());
        trace.meta.unsigned = entry.source == Source::UnsignedFile;
        let op = manifest.op(&request.op).filter(|_| request.hides != Hides::Op);
        let op = op.ok_or_else(|| Refusal::new(Code::UnknownOp))?;
        trace.result_bytes = op.limits.result_bytes;
        trace.record.is_a(op.access);
        executor.covered(covers, &grant, entry, op)?;
        Ok(Call { stage: Agreed { request, grant, manifest, op, modules: &entry.modules, now } })
    }
}

/// A manifest that is part of the binary was reviewed with it. A POST that a manifest calls a read is one only as long as
/// it is that manifest. Of one that a registry signed, the host has kept what stood there before.
fn succession(entry: &Entry, op: &Op, grant: &OpenedGrant) -> Succession {
    let safe = op.request().is_some_and(|request| request.method.is_safe());
    match &entry.source {
        Source::BuiltIn if safe => Succession::Reviewed,
        Source::Signed(_) if narrowed(entry, op, grant).is_some() => Succession::Narrower,
        Source::BuiltIn | Source::Signed(_) | Source::UnsignedFile => Succession::Unreviewed,
    }
}

/// Whether the manifest that the grant was given under had the op, and nothing of it was widened since.
fn narrowed(entry: &Entry, op: &Op, grant: &OpenedGrant) -> Option<()> {
    let given_under = grant.grant().manifest();
    if given_under == entry.manifest.digest() {
        return None;
    }
    let before = entry.kept.as_ref()?.earlier.manifest(given_under)?;
    let before = pinhole_manifest::read(&before).into_result().ok()?;
    let had_it = before.digest() == given_under && before.op(&op.id).is_some();
    (had_it && !diff(&before, &entry.manifest).op_widens(&op.id)).then_some(())
}

/// A service without a manifest to run by.
pub(crate) fn missing_refusal(missing: Missing) -> Refusal {
    Refusal::new(match missing {
        Missing::Unknown => Code::UnknownService,
        Missing::Invalid => Code::ManifestInvalid,
    })
}

fn open_refusal(error: OpenError) -> Refusal {
    let code = match error {
        OpenError::NotABot
        | OpenError::TooLarge
        | OpenError::NotAnEnvelope
        | OpenError::Version(_)
        | OpenError::WrongKind
        | OpenError::NotSigned
        | OpenError::Malformed => Code::GrantMalformed,
        OpenError::WrongBot | OpenError::Resealed | OpenError::KeyEnded => Code::WrongBot,
        OpenError::CannotOpen => Code::GrantUnopenable,
        OpenError::UnknownIssuer => Code::UnknownIssuer,
        OpenError::BadSignature => Code::BadSignature,
        OpenError::IssuerMismatch | OpenError::Inconsistent(_) | OpenError::Rule(_) => {
            Code::GrantInconsistent
        }
        OpenError::NotYetValid => Code::GrantNotYetValid,
        OpenError::Expired => Code::GrantExpired,
    };
    Refusal::new(code).saying(error.to_string())
}

pub(super) fn scope_refusal(error: &ScopeError) -> Refusal {
    let code = match error {
        ScopeError::WrongService => Code::WrongService,
        ScopeError::HostChanged => Code::HostChanged,
        ScopeError::ReadOnly => Code::ReadOnlyGrant,
        ScopeError::ReadOnlyConnection => Code::ReadOnlyConnection,
        ScopeError::OutOfScope { .. } => Code::OpOutOfScope,
        ScopeError::ManifestChanged => Code::ManifestChanged,
        ScopeError::WhereAbsent { .. } | ScopeError::WhereValue { .. } => Code::ArgsOutOfScope,
        ScopeError::NotYetValid => Code::GrantNotYetValid,
        ScopeError::Expired => Code::GrantExpired,
        ScopeError::UsedUp => Code::GrantUsedUp,
        ScopeError::NeedsApproval => Code::ApprovalRequired,
        ScopeError::WrongAction => Code::ApprovalMismatch,
    };
    match error {
        // These say which op or arg; the code's own sentence says the rest better.
        ScopeError::OutOfScope { .. } | ScopeError::WhereAbsent { .. } | ScopeError::WhereValue { .. } => {
            Refusal::new(code).saying(error.to_string())
        }
        _ => Refusal::new(code),
    }
}

impl Executor {
    /// Opens a grant, and says by which time. `seen` is told what it says before it is known whether it was revoked.
    pub(super) async fn opened(
        &self,
        grant: &[u8],
        seen: impl FnOnce(&Grant),
    ) -> Result<(OpenedGrant, UnixTime), Refusal> {
        let wall = self.clock.now();
        let now = self.with_store(move |store| store.high_water(wall)).await?;
        let grant = self.bot.open(grant, &self.issuers, now).map_err(|error| self.not_opened(error))?;
        seen(grant.grant());
        let (id, connection) = (grant.grant().id(), grant.grant().connection());
        let over = move |store: &dyn Store| {
            Ok::<_, StoreError>(store.is_revoked(&id)? || store.has_ended(&connection)?)
        };
        if self.with_store(over).await? {
            return Err(Refusal::new(Code::GrantRevoked));
        }
        Ok((grant, now))
    }

    fn not_opened(&self, error: OpenError) -> Refusal {
        let refusal = open_refusal(error);
        match error {
            OpenError::KeyEnded => refusal
                .hinting(format!("have it minted anew, for the bot's present key: {}", self.bot.public())),
            _ => refusal,
        }
    }

    /// The manifest of a service, where it may be run by at this time.
    pub(super) fn manifest_of(&self, service: &ServiceId, now: UnixTime) -> Result<&Entry, Refusal> {
        let entry = self.catalog.look(service).map_err(missing_refusal)?;
        if entry.kept.as_ref().is_some_and(|kept| now >= kept.expires) {
            return Err(Refusal::new(Code::RegistryStale));
        }
        Ok(entry)
    }

    /// Holds an op of a manifest against a grant: service, host, op, access, source, way of dialling.
    pub(super) fn covered(
        &self,
        covers: fn(&OpenedGrant, &Target<'_>) -> Result<(), ScopeError>,
        grant: &OpenedGrant,
        entry: &Entry,
        op: &Op,
    ) -> Result<(), Refusal> {
        let manifest = &entry.manifest;
        let target = Target {
            service: manifest.id(),
            op: &op.id,
            access: op.access,
            manifest: manifest.digest(),
            host: manifest.host(),
            token_url: manifest.auth().oauth.as_ref().map(|oauth| &oauth.token_url),
            succession: succession(entry, op, grant),
        };
        let credential = grant.grant().credential();
        let same_source = credential.registry().as_str() == entry.source.name();
        covers(grant, &target).map_err(|error| match error {
            // Of a manifest from elsewhere that is what there is to say: the same key will not do for any of its.
            ScopeError::ManifestChanged if !same_source => Refusal::new(Code::SourceChanged),
            error => scope_refusal(&error),
        })?;
        if !same_source {
            return Err(Refusal::new(Code::SourceChanged));
        }
        // A real key goes to no stand-in, and a stand-in's key to no real host.
        if credential.dial() != self.wire.dial(manifest.host()) {
            return Err(Refusal::new(Code::DialMismatch).saying(match credential.dial() {
                Dial::Overridden => {
                    "the key is one for a stand-in, and this call would dial the service itself"
                }
                Dial::Real => "the key is for the service itself, and this call would dial a stand-in",
            }));
        }
        Ok(())
    }

    /// Does blocking work with the store away from the threads that serve other calls.
    pub(super) async fn with_store<T: Send + 'static, E>(
        &self,
        work: impl FnOnce(&dyn Store) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Refusal>
    where
        E: Into<Refusal> + Send + 'static,
    {
        let store = Arc::clone(&self.store);
        match tokio::task::spawn_blocking(move || work(store.as_ref())).await {
            Ok(done) => done.map_err(Into::into),
            Err(error) => Err(Refusal::new(Code::StoreFailed).detail(&error)),
        }
    }
}

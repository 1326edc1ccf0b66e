//! What is collected for a receipt on a call's way, and the note of a call that has begun.
//!
//! INVARIANT: a value of an arg is kept only where the operator says so, and without the credential's secrets.

use std::sync::Arc;

use pinhole_grant::{Grant, KeyId, PrincipalId, args_digest};
use pinhole_manifest::model::Args;
use pinhole_manifest::pick::Projection;
use pinhole_manifest::{Access, OpId, ServiceId};

use super::super::Executor;
use super::words::fields;
use crate::outcome::Meta;
use crate::project::Tree;
use crate::receipts::{ARGS_BYTES_MAX, ArgsKept, Facts, NoteId, REQUESTS_MAX, RequestMade, Unended};
use crate::scrub::Scrub;
use crate::store::{Settled, Store};

/// What a receipt will say, as far as it is known.
#[derive(Debug)]
pub(in super::super) struct Record {
    pub(super) facts: Facts,
    pub(super) access: Option<Access>,
    /// Bytes of all answers before the last request.
    before_last: u64,
    pub(super) left: Option<Left>,
}

/// A note that a call began. Dropped, it becomes the receipt of a call that was given up.
pub(super) struct Left {
    pub(super) id: NoteId,
    pub(super) facts: Facts,
    pub(super) store: Arc<dyn Store>,
    pub(super) stays: bool,
}

impl std::fmt::Debug for Left {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Left").field(&self.id).finish()
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        if self.stays {
            return;
        }
        // Without a runtime the process is ending: the next one finds the note.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (id, store) = (self.id, Arc::clone(&self.store));
        let facts = self.facts.clone().unended(Unended::Abandoned);
        runtime.spawn_blocking(move || {
            if let Err(error) = store.append_unended(&facts, id) {
                tracing::warn!(%error, "a run that was given up has no receipt yet; its note stays");
            }
        });
    }
}

impl Record {
    /// Of a call of which nothing is known but what is asked for, and by whom.
    pub(in super::super) fn new(
        executor: &Executor,
        service: &ServiceId,
        op: &OpId,
        principal: Option<PrincipalId>,
    ) -> Self {
        let bot = executor.bot.public().id();
        let facts = Facts::new(executor.clock.now(), bot, service.clone(), op.clone());
        Self { facts: Facts { principal, ..facts }, access: None, before_last: 0, left: None }
    }

    /// Another of the same call, for requests beside others.
    pub(in super::super) fn beside(&self) -> Self {
        let Facts { at, bot, service, op, .. } = &self.facts;
        let facts = Facts::new(*at, *bot, service.clone(), op.clone());
        Self { facts, access: self.access, before_last: 0, left: None }
    }

    /// Whose grant it is, as far as a door knows.
    pub(in super::super) fn of_member(&mut self, member: Option<KeyId>) {
        self.facts.member = member;
    }

    /// The grant is open.
    pub(in super::super) fn opened(&mut self, grant: &Grant) {
        self.facts.member = Some(grant.issuer());
        self.facts.grant = Some(grant.id());
        self.facts.connection = Some(grant.connection());
        self.facts.approval = grant.approves();
    }

    /// Whether the op reads or writes.
    pub(in super::super) fn is_a(&mut self, access: Access) {
        self.access = Some(access);
    }

    /// The args are args of the op.
    pub(in super::super) fn with_args(
        &mut self,
        args: &Args,
        scrub: impl FnOnce() -> Scrub,
        executor: &Executor,
    ) {
        self.facts.args_digest = args_digest(args, executor.bot.current());
        if executor.book.settings().args == ArgsKept::Whole {
            self.facts.args = kept_args(args, &scrub());
        }
    }

    /// A request is handed to the client.
    pub(in super::super) fn requests(&mut self, method: &str, path: &str, meta: &Meta) {
        self.read_to_its_end(meta);
        if self.facts.requests.len() < REQUESTS_MAX {
            let (method, path) = (method.to_owned(), path.to_owned());
            self.facts.requests.push(RequestMade { method, path, status: None, bytes: 0 });
        } else {
            self.facts.more_requests = self.facts.more_requests.saturating_add(1);
        }
    }

    /// So many requests for a fresh pair left.
    pub(in super::super) fn asked_for_a_pair(&mut self, times: u32) {
        self.facts.token_requests = self.facts.token_requests.saturating_add(times);
    }

    /// An answer to it began.
    pub(in super::super) fn answered(&mut self, status: u16) {
        if let (0, Some(last)) = (self.facts.more_requests, self.facts.requests.last_mut()) {
            last.status = Some(status);
        }
    }

    /// Takes in the requests that were made beside this one.
    pub(in super::super) fn take_in(&mut self, mut other: Self, meta: &Meta) {
        other.read_to_its_end(meta);
        self.before_last = self.before_last.saturating_add(meta.bytes_in);
        self.asked_for_a_pair(other.facts.token_requests);
        let room = REQUESTS_MAX.saturating_sub(self.facts.requests.len());
        let over = other.facts.requests.len().saturating_sub(room);
        self.facts.requests.extend(other.facts.requests.into_iter().take(room));
        let more = u32::try_from(over).unwrap_or(u32::MAX).saturating_add(other.facts.more_requests);
        self.facts.more_requests = self.facts.more_requests.saturating_add(more);
    }

    /// What was picked.
    pub(in super::super) fn picked(&mut self, value: &Tree, projection: &Projection) {
        self.facts.fields = fields(value, projection);
    }

    /// Whatever was read since the last request was its answer.
    pub(super) fn read_to_its_end(&mut self, meta: &Meta) {
        if let (0, Some(last)) = (self.facts.more_requests, self.facts.requests.last_mut()) {
            last.bytes = last.bytes.saturating_add(meta.bytes_in.saturating_sub(self.before_last));
        }
        self.before_last = meta.bytes_in;
    }

    pub(super) fn settled(&self) -> Settled {
        match self.access {
            Some(Access::Write) => Settled::Durably,
            Some(Access::Read) | None => Settled::Lightly,
        }
    }
}

/// The args as they are kept, without the credential's secrets; `None` where they are too large.
fn kept_args(args: &Args, scrub: &Scrub) -> Option<serde_json::Value> {
    let text = args.to_json().to_string();
    if text.len() > ARGS_BYTES_MAX {
        return None;
    }
    let mut tree = Tree::parse(text.as_bytes()).ok()?;
    scrub.tree(&mut tree);
    serde_json::to_value(&tree).ok()
}

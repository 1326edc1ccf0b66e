//! A store with something between it and who uses it: what another process may do in that moment.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use pinhole_grant::{
    ActionDigest, CredentialId, GrantId, KeyId, KeyedDigest, Label, PairDigest, PrincipalId, UnixTime,
};
use pinhole_manifest::{Digest, ServiceId};
use pinhole_runtime::receipts::{Facts, Note, NoteId, Stored};
use pinhole_runtime::store::{
    Answer, AnswerError, Appended, CheckpointRow, Claim, Claiming, ConnectionError, ConnectionRow,
    Connections, Fate, GrantError, GrantFilter, GrantRow, Grants, Held, Kept, Line, LineError, LockError,
    LockName, Locks, NewQuestion, Party, Question, QuestionId, Questions, RaiseError, ReceiptFilter,
    Receipts, Removal, Renewals, ReturnedRow, Returns, Settled, SpendError, SqliteStore, Store, StoreError,
    TakeError, Taken, TokenError, TokenRow, Tokens, Use,
};

type Deed = dyn Fn(&SqliteStore, QuestionId) + Send + Sync;

/// Does something of the test's when an approval is about to be taken; all else is the store's.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct JustBefore {
    store: Arc<SqliteStore>,
    take: Box<Deed>,
}

impl JustBefore {
    /// The store, and what happens just before each `take`.
    pub fn take(
        store: Arc<SqliteStore>,
        take: impl Fn(&SqliteStore, QuestionId) + Send + Sync + 'static,
    ) -> Self {
        Self { store, take: Box::new(take) }
    }
}

macro_rules! as_the_store_does {
    ($($name:ident($($arg:ident: $kind:ty),*) -> $answer:ty;)*) => {$(
        fn $name(&self, $($arg: $kind),*) -> $answer {
            self.store.$name($($arg),*)
        }
    )*};
}

impl Store for JustBefore {
    as_the_store_does! {
        spend(grant: &GrantId, allowed: NonZeroU32) -> Result<(), SpendError>;
        has_use_left(grant: &GrantId, allowed: NonZeroU32) -> Result<bool, StoreError>;
        revoke(grant: &GrantId) -> Result<(), StoreError>;
        is_revoked(grant: &GrantId) -> Result<bool, StoreError>;
        has_ended(connection: &CredentialId) -> Result<bool, StoreError>;
        high_water(now: UnixTime) -> Result<UnixTime, StoreError>;
    }
}

impl Receipts for JustBefore {
    as_the_store_does! {
        begin(note: &Note, spends: Option<Use>, settled: Settled) -> Result<(), SpendError>;
        append(facts: &Facts, note: Option<NoteId>, settled: Settled) -> Result<Appended, StoreError>;
        append_unended(facts: &Facts, note: NoteId) -> Result<Option<Appended>, StoreError>;
        notes(bot: KeyId, most: usize) -> Result<Vec<Note>, StoreError>;
        keep_checkpoint(row: &CheckpointRow) -> Result<(), StoreError>;
        checkpoints(bot: KeyId) -> Result<Vec<CheckpointRow>, StoreError>;
        receipts_from(bot: KeyId, seq: u64, most: usize) -> Result<Vec<Stored>, StoreError>;
        last_receipts(bot: KeyId, filter: &ReceiptFilter, most: usize) -> Result<Vec<Stored>, StoreError>;
        prune_receipts(anchor: &CheckpointRow) -> Result<u64, StoreError>;
    }
}

impl Kept for JustBefore {
    as_the_store_does! {
        claim(claiming: &Claiming) -> Result<Claim, StoreError>;
        kept(claiming: &Claiming) -> Result<Option<Claim>, StoreError>;
        ended(id: KeyedDigest, fate: Fate<'_>) -> Result<(), StoreError>;
    }
}

impl Connections for JustBefore {
    as_the_store_does! {
        insert_connection(row: &ConnectionRow) -> Result<(), ConnectionError>;
        replace_connection(row: &ConnectionRow) -> Result<(), ConnectionError>;
        keep_connection(row: &ConnectionRow, grant: &GrantRow, over: Option<&ConnectionRow>) -> Result<(), ConnectionError>;
        set_cap(row: &ConnectionRow, grant: &GrantRow, over: &ConnectionRow) -> Result<(), ConnectionError>;
        connections(member: KeyId) -> Result<Vec<ConnectionRow>, StoreError>;
        connection(member: KeyId, id: CredentialId) -> Result<Option<ConnectionRow>, StoreError>;
        connection_named(member: KeyId, service: &ServiceId, label: &Label) -> Result<Option<ConnectionRow>, StoreError>;
        remove_connection(member: KeyId, id: CredentialId) -> Result<Vec<GrantId>, ConnectionError>;
    }
}

impl Grants for JustBefore {
    as_the_store_does! {
        put_grant(row: &GrantRow) -> Result<(), GrantError>;
        renew_grant(row: &GrantRow, of: &ConnectionRow) -> Result<(), GrantError>;
        grants(filter: &GrantFilter) -> Result<Vec<GrantRow>, StoreError>;
        remove_grant(member: KeyId, id: GrantId) -> Result<Removal, StoreError>;
        revoke_grant(member: KeyId, id: GrantId) -> Result<Removal, StoreError>;
    }
}

impl Locks for JustBefore {
    as_the_store_does! {
        hold(what: &LockName, patience: Duration) -> Result<Held, LockError>;
    }
}

impl Renewals for JustBefore {
    as_the_store_does! {
        line(pair: &PairDigest) -> Result<Option<Line>, StoreError>;
        begin_line(line: &Line) -> Result<Line, StoreError>;
        change_line(from: &Line, to: &Line) -> Result<(), LineError>;
        lines(member: KeyId) -> Result<Vec<Line>, StoreError>;
    }
}

impl Returns for JustBefore {
    as_the_store_does! {
        put_returned(row: &ReturnedRow) -> Result<(), StoreError>;
        returned(member: KeyId) -> Result<Vec<ReturnedRow>, StoreError>;
        drop_returned(member: KeyId, connection: CredentialId, upto: u64) -> Result<(), StoreError>;
    }
}

impl Tokens for JustBefore {
    as_the_store_does! {
        add_token(row: &TokenRow) -> Result<(), TokenError>;
        token(member: KeyId, digest: Digest) -> Result<Option<TokenRow>, StoreError>;
        tokens(member: KeyId) -> Result<Vec<TokenRow>, StoreError>;
        revoke_token(member: KeyId, id: PrincipalId, now: UnixTime) -> Result<Removal, StoreError>;
    }
}

impl Questions for JustBefore {
    as_the_store_does! {
        raise(question: &NewQuestion<'_>) -> Result<Question, RaiseError>;
        question(party: Party, id: QuestionId, now: UnixTime) -> Result<Option<Question>, StoreError>;
        questions(party: Party, now: UnixTime) -> Result<Vec<Question>, StoreError>;
        last_question(party: Party, action: ActionDigest, now: UnixTime) -> Result<Option<Question>, StoreError>;
        withdraw(by: Party, id: QuestionId, now: UnixTime) -> Result<(), TakeError>;
        forget_question(member: KeyId, id: QuestionId) -> Result<Removal, StoreError>;
        answer(member: KeyId, id: QuestionId, answer: Answer<'_>, now: UnixTime) -> Result<(), AnswerError>;
    }

    fn take(&self, by: Party, id: QuestionId, now: UnixTime) -> Result<Taken, TakeError> {
        (self.take)(&self.store, id);
        self.store.take(by, id, now)
    }
}

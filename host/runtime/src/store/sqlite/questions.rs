//! Questions in SQLite.
//!
//! Time alone makes a question `expired`: it reads so from that second on, and the row follows at the next one raised.

use pinhole_grant::{Account, ActionDigest, CredentialId, GrantId, KeyId, UnixTime};
use pinhole_manifest::{Digest, OpId, ServiceId};
use rusqlite::{Connection, OptionalExtension as _, Params, Row, Transaction, named_params, params};

use super::SqliteStore;
use super::broken::{Broken, Columns};
use super::connections::exists;
use super::schema;
use super::spine::revoke;
use crate::store::words::{of, principal, state};
use crate::store::{
    Answer, AnswerError, NewQuestion, Party, QUESTION_TEXT_BYTES_MAX, QUESTIONS_KEPT, QUESTIONS_PENDING_MAX,
    Question, QuestionId, QuestionState, Questions, RaiseError, Removal, StoreError, Table, TakeError, Taken,
};

const ALL_BUT_PRINCIPAL: &str = "id, member, service, op, args, manifest, connection, account, bot, action, found, \
                                 raised_at, expires_at, state, answered_at, grant_id, until";

impl Questions for SqliteStore {
    fn raise(&self, question: &NewQuestion<'_>) -> Result<Question, RaiseError> {
        let args = question.action.args.to_json().to_string();
        let found = question.found.to_string();
        if args.len().max(found.len()) > QUESTION_TEXT_BYTES_MAX {
            return Err(RaiseError::TooLarge);
        }
        if question.expires_at <= question.raised_at {
            return Err(RaiseError::ExpiresAtOnce);
        }
        let action = question.action.digest()?;
        let now = question.raised_at;
        self.write("store a question", |transaction| {
            expire(transaction, now)?;
            if let Some(open) = open_question(transaction, question, action, now)? {
                return Ok(open);
            }
            there_is_room(transaction, question)?;
            insert(transaction, question, action, [&args, &found])?;
            forget_the_oldest(transaction, question)?;
            one(transaction, "id = ?1", [question.id.to_string()], now)?
                .ok_or(Broken::Row(Table::Questions, question.id.to_string()))
        })
    }

    fn question(&self, party: Party, id: QuestionId, now: UnixTime) -> Result<Option<Question>, StoreError> {
        self.read("look for a question", |connection| {
            let (side, key, principal) = side(party);
            let condition = format!("id = ?3 AND {side}");
            one(connection, &condition, params![key, principal, id.to_string()], now)
        })
    }

    fn questions(&self, party: Party, now: UnixTime) -> Result<Vec<Question>, StoreError> {
        self.read("list questions", |connection| {
            let (side, key, principal) = side(party);
            // Who only looks takes no step to this version: before it, all questions were the host's own.
            let whose = if schema::version(connection)? < 3 { "''" } else { "principal" };
            let select = format!(
                "SELECT {ALL_BUT_PRINCIPAL}, {whose} FROM questions WHERE {side} ORDER BY raised_at DESC, rowid DESC"
            );
            let mut statement = connection.prepare_cached(&select)?;
            let mut rows = statement.query(params![key, principal])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(read(row, now)?);
            }
            Ok(found)
        })
    }

    fn last_question(
        &self,
        party: Party,
        action: ActionDigest,
        now: UnixTime,
    ) -> Result<Option<Question>, StoreError> {
        self.read("look for a question", |connection| {
            let (side, key, principal) = side(party);
            let last = format!("{side} AND action = ?3 ORDER BY raised_at DESC, rowid DESC LIMIT 1");
            one(connection, &last, params![key, principal, action.to_string()], now)
        })
    }

    fn answer(
        &self,
        member: KeyId,
        id: QuestionId,
        answer: Answer<'_>,
        now: UnixTime,
    ) -> Result<(), AnswerError> {
        self.write("store an answer", |transaction| {
            let (id, key) = (id.to_string(), member.to_string());
            let question = one(transaction, "id = ?1 AND member = ?2", params![id, key], now)?
                .ok_or(Broken::Refused(AnswerError::Absent))?;
            match (question.state, answer, question.approval) {
                (QuestionState::Pending, ..) => {}
                // She may take back a yes that nobody has used.
                (QuestionState::Approved, Answer::Deny, Some((grant, _until))) => {
                    revoke(transaction, &grant.to_string())?;
                }
                (state, ..) => return Err(Broken::Refused(AnswerError::NotPending(state))),
            }
            let (state, approval) = match answer {
                Answer::Approve { grant, sealed, until } => {
                    (QuestionState::Approved, Some((grant.to_string(), until.as_secs(), sealed)))
                }
                Answer::Deny => (QuestionState::Denied, None),
            };
            let (grant, until, sealed) = approval.map_or((None, None, None), |(grant, until, sealed)| {
                (Some(grant), Some(until), Some(sealed))
            });
            transaction.execute(
                "UPDATE questions SET state = ?2, answered_at = ?3, grant_id = ?4, until = ?5, sealed = ?6
                 WHERE id = ?1",
                params![id, state.as_str(), now.as_secs(), grant, until, sealed],
            )?;
            Ok(())
        })
    }

    fn withdraw(&self, by: Party, id: QuestionId, now: UnixTime) -> Result<(), TakeError> {
        self.write("withdraw a question", |transaction| {
            let (id, question) = asked_by(transaction, by, id, now)?;
            if question.state != QuestionState::Pending {
                return Err(Broken::Refused(TakeError::NotApproved(question.state)));
            }
            transaction.execute("UPDATE questions SET state = 'expired' WHERE id = ?1", [&id])?;
            Ok(())
        })
    }

    fn forget_question(&self, member: KeyId, id: QuestionId) -> Result<Removal, StoreError> {
        self.write("forget a question", |transaction| {
            let (id, member) = (id.to_string(), member.to_string());
            let approval = "SELECT grant_id FROM questions WHERE id = ?1 AND member = ?2";
            let approval: Option<Option<String>> =
                transaction.query_row(approval, params![id, member], |row| row.get(0)).optional()?;
            match approval {
                None => return Ok(Removal::Absent),
                Some(None) => {}
                Some(Some(grant)) => revoke(transaction, &grant)?,
            }
            transaction.execute("DELETE FROM questions WHERE id = ?1", [&id])?;
            Ok(Removal::Removed)
        })
    }

    fn take(&self, by: Party, id: QuestionId, now: UnixTime) -> Result<Taken, TakeError> {
        self.write("give out an approval", |transaction| {
            let (id, question) = asked_by(transaction, by, id, now)?;
            let grant = match (question.state, question.approval) {
                (QuestionState::Approved, Some((grant, _until))) => grant,
                (state, _) => return Err(Broken::Refused(TakeError::NotApproved(state))),
            };
            let select = "SELECT sealed FROM questions WHERE id = ?1";
            let sealed = transaction.query_row(select, [&id], |row| row.get(0))?;
            transaction.execute("UPDATE questions SET state = 'used', sealed = NULL WHERE id = ?1", [&id])?;
            Ok(Taken { grant, sealed })
        })
    }
}

/// A question of this caller of the bot, with its id as a row has it. Approvals are sealed to the bot: nobody else has any use
/// for one.
fn asked_by(
    transaction: &Transaction<'_>,
    by: Party,
    id: QuestionId,
    now: UnixTime,
) -> Result<(String, Question), Broken<TakeError>> {
    let absent = || Broken::Refused(TakeError::Absent);
    let Party::Bot(..) = by else { return Err(absent()) };
    let (id, (side, key, principal)) = (id.to_string(), side(by));
    let question = one(transaction, &format!("id = ?3 AND {side}"), params![key, principal, id], now)?;
    Ok((id, question.ok_or_else(absent)?))
}

/// Writes down what time has made of open questions; approvals that were not used in time go.
fn expire(transaction: &Transaction<'_>, now: UnixTime) -> rusqlite::Result<()> {
    let expire = "
        UPDATE questions SET state = 'expired', sealed = NULL
        WHERE (state = 'pending' AND expires_at <= ?1) OR (state = 'approved' AND until <= ?1)";
    transaction.execute(expire, [now.as_secs()]).map(|_changed| ())
}

fn there_is_room(
    transaction: &Transaction<'_>,
    question: &NewQuestion<'_>,
) -> Result<(), Broken<RaiseError>> {
    if exists(transaction, "SELECT 1 FROM questions WHERE id = ?1", [question.id.to_string()])? {
        return Err(Broken::Refused(RaiseError::IdTaken));
    }
    let waiting: u32 = transaction.query_row(
        "SELECT count(*) FROM questions WHERE member = ?1 AND bot = ?2 AND principal = ?3 AND state = 'pending'",
        [question.member.to_string(), question.action.bot.to_string(), of(question.principal)],
        |row| row.get(0),
    )?;
    if waiting >= QUESTIONS_PENDING_MAX {
        return Err(Broken::Refused(RaiseError::TooManyPending));
    }
    Ok(())
}

fn insert(
    transaction: &Transaction<'_>,
    question: &NewQuestion<'_>,
    digest: ActionDigest,
    [args, found]: [&str; 2],
) -> rusqlite::Result<()> {
    let action = &question.action;
    let insert = "
        INSERT INTO questions (id, member, service, op, args, manifest, connection, account, bot, action, found, raised_at,
                               expires_at, state, principal)
        VALUES (:id, :member, :service, :op, :args, :manifest, :connection, :account, :bot, :action, :found, :raised_at,
                :expires_at, 'pending', :principal)";
    transaction.execute(
        insert,
        named_params! {
            ":id": question.id.to_string(),
            ":member": question.member.to_string(),
            ":service": action.service.as_str(),
            ":op": action.op.as_str(),
            ":args": args,
            ":manifest": action.manifest.to_string(),
            ":connection": action.connection.to_string(),
            ":account": action.account.as_str(),
            ":bot": action.bot.to_string(),
            ":action": digest.to_string(),
            ":found": found,
            ":raised_at": question.raised_at.as_secs(),
            ":expires_at": question.expires_at.as_secs(),
            ":principal": of(question.principal),
        },
    )?;
    Ok(())
}

/// Nobody can fill the disk with questions that nobody answers.
fn forget_the_oldest(transaction: &Transaction<'_>, question: &NewQuestion<'_>) -> rusqlite::Result<()> {
    let forget = "
        DELETE FROM questions WHERE rowid IN (
            SELECT rowid FROM questions
            WHERE member = ?1 AND bot = ?2 AND principal = ?3 AND state IN ('denied', 'expired', 'used')
            ORDER BY raised_at DESC, rowid DESC LIMIT -1 OFFSET ?4)";
    let (member, bot) = (question.member.to_string(), question.action.bot.to_string());
    transaction.execute(forget, params![member, bot, of(question.principal), QUESTIONS_KEPT]).map(|_gone| ())
}

/// The question about the same action of the same principal that is pending, or approved and not used yet.
fn open_question<E>(
    connection: &Connection,
    new: &NewQuestion<'_>,
    action: ActionDigest,
    now: UnixTime,
) -> Result<Option<Question>, Broken<E>> {
    let open = "member = ?1 AND principal = ?2 AND action = ?3 AND state IN ('pending', 'approved')";
    let params = params![new.member.to_string(), of(new.principal), action.to_string()];
    let found = one(connection, open, params, now)?;
    Ok(found.filter(|question| question.state != QuestionState::Expired))
}

/// Which rows are a party's: a condition on `?1` and `?2`, and these two.
fn side(party: Party) -> (&'static str, String, String) {
    match party {
        Party::Member(member) => ("member = ?1 AND ?2 = ''", member.to_string(), String::new()),
        Party::Bot(bot, principal) => ("bot = ?1 AND principal = ?2", bot.to_string(), of(principal)),
    }
}

fn one<E>(
    connection: &Connection,
    condition: &str,
    params: impl Params,
    now: UnixTime,
) -> Result<Option<Question>, Broken<E>> {
    let mut statement = connection
        .prepare_cached(&format!("SELECT {ALL_BUT_PRINCIPAL}, principal FROM questions WHERE {condition}"))?;
    statement.query_row(params, |row| Ok(read(row, now))).optional()?.transpose()
}

fn read<E>(row: &Row<'_>, now: UnixTime) -> Result<Question, Broken<E>> {
    let columns = Columns::new(Table::Questions, row)?;
    let expires_at = UnixTime::from_secs(columns.plain(12)?);
    let approval = match (columns.plain::<Option<String>, E>(15)?, columns.plain::<Option<i64>, E>(16)?) {
        (None, None) => None,
        (Some(grant), Some(until)) => {
            let grant = GrantId::parse(&grant).map_err(|_no_id| columns.tampered())?;
            Some((grant, UnixTime::from_secs(until)))
        }
        _ => return Err(columns.tampered()),
    };
    let state = match (columns.parsed(13, state)?, approval) {
        (QuestionState::Pending, _) if expires_at <= now => QuestionState::Expired,
        (QuestionState::Approved, Some((_, until))) if until <= now => QuestionState::Expired,
        (state, _) => state,
    };
    let (args, found): (String, String) = (columns.plain(4)?, columns.plain(10)?);
    if args.len().max(found.len()) > QUESTION_TEXT_BYTES_MAX {
        return Err(columns.tampered());
    }
    Ok(Question {
        id: columns.parsed(0, str::parse)?,
        member: columns.parsed(1, KeyId::parse)?,
        service: columns.parsed(2, ServiceId::parse)?,
        op: columns.parsed(3, OpId::parse)?,
        args,
        manifest: columns.parsed(5, Digest::parse)?,
        connection: columns.parsed(6, CredentialId::parse)?,
        account: columns.parsed(7, Account::parse)?,
        bot: columns.parsed(8, KeyId::parse)?,
        principal: columns.parsed(17, principal)?,
        action: columns.parsed(9, digest)?,
        found: serde_json::from_str(&found).map_err(|_error| columns.tampered())?,
        raised_at: UnixTime::from_secs(columns.plain(11)?),
        expires_at,
        answered_at: columns.plain::<Option<i64>, E>(14)?.map(UnixTime::from_secs),
        approval,
        state,
    })
}

fn digest(text: &str) -> Result<ActionDigest, serde_json::Error> {
    serde_json::from_value(serde_json::Value::from(text))
}

//! Questions in PostgreSQL.
//!
//! Time alone makes a question `expired`: it reads so from that second on, and the rows of a member follow at the next one
//! that is raised for her.

use pinhole_grant::{Account, ActionDigest, CredentialId, GrantId, KeyId, UnixTime};
use pinhole_manifest::{Digest, OpId, ServiceId};
use tokio_postgres::{Error, Row};

use super::broken::{Broken, Columns};
use super::pool::{Session, Values};
use super::spine::revoke;
use super::{PostgresStore, alone};
use crate::store::words::{of, principal, state};
use crate::store::{
    Answer, AnswerError, NewQuestion, Party, QUESTION_TEXT_BYTES_MAX, QUESTIONS_KEPT, QUESTIONS_PENDING_MAX,
    Question, QuestionId, QuestionState, Questions, RaiseError, Removal, StoreError, Table, TakeError, Taken,
};

const SELECT: &str = "
    SELECT id, member, service, op, args, manifest, connection, account, bot, action, found, raised_at, expires_at, state,
           answered_at, grant_id, until, principal FROM questions";

impl Questions for PostgresStore {
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
        self.write("store a question", async |session| {
            alone(session, &[question.member]).await?;
            expire(session, question.member, now).await?;
            if let Some(open) = open_question(session, question, action, now).await? {
                return Ok(open);
            }
            there_is_room(session, question).await?;
            insert(session, question, action, [&args, &found]).await?;
            forget_the_oldest(session, question).await?;
            let id = question.id.to_string();
            one(session, "id = $1", &[&id], now).await?.ok_or(Broken::Row(Table::Questions, id))
        })
    }

    fn question(&self, party: Party, id: QuestionId, now: UnixTime) -> Result<Option<Question>, StoreError> {
        let (side, key, principal) = side(party);
        self.read("look for a question", async |session| {
            let condition = format!("id = $3 AND {side}");
            one(session, &condition, &[&key, &principal, &id.to_string()], now).await
        })
    }

    fn questions(&self, party: Party, now: UnixTime) -> Result<Vec<Question>, StoreError> {
        let (side, key, principal) = side(party);
        self.read("list questions", async |session| {
            let select = format!("{SELECT} WHERE {side} ORDER BY raised_at DESC, seq DESC");
            session.rows(&select, &[&key, &principal]).await?.iter().map(|row| read(row, now)).collect()
        })
    }

    fn last_question(
        &self,
        party: Party,
        action: ActionDigest,
        now: UnixTime,
    ) -> Result<Option<Question>, StoreError> {
        let (side, key, principal) = side(party);
        self.read("look for a question", async |session| {
            let last = format!("{side} AND action = $3 ORDER BY raised_at DESC, seq DESC LIMIT 1");
            one(session, &last, &[&key, &principal, &action.to_string()], now).await
        })
    }

    fn answer(
        &self,
        member: KeyId,
        id: QuestionId,
        answer: Answer<'_>,
        now: UnixTime,
    ) -> Result<(), AnswerError> {
        let (id, key) = (id.to_string(), member.to_string());
        self.write("store an answer", async |session| {
            alone(session, &[member]).await?;
            let question = one(session, "id = $1 AND member = $2 FOR UPDATE", &[&id, &key], now)
                .await?
                .ok_or(Broken::Refused(AnswerError::Absent))?;
            match (question.state, answer, question.approval) {
                (QuestionState::Pending, ..) => {}
                // She may take back a yes that nobody has used.
                (QuestionState::Approved, Answer::Deny, Some((grant, _until))) => {
                    revoke(session, &grant.to_string()).await?;
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
            let update = "
                UPDATE questions SET state = $2, answered_at = $3, grant_id = $4, until = $5, sealed = $6 WHERE id = $1";
            let values: Values<'_> = &[&id, &state.as_str(), &now.as_secs(), &grant, &until, &sealed];
            session.execute(update, values).await?;
            Ok(())
        })
    }

    fn withdraw(&self, by: Party, id: QuestionId, now: UnixTime) -> Result<(), TakeError> {
        self.write("withdraw a question", async |session| {
            let (id, question) = asked_by(session, by, id, now).await?;
            if question.state != QuestionState::Pending {
                return Err(Broken::Refused(TakeError::NotApproved(question.state)));
            }
            session.execute("UPDATE questions SET state = 'expired' WHERE id = $1", &[&id]).await?;
            Ok(())
        })
    }

    fn forget_question(&self, member: KeyId, id: QuestionId) -> Result<Removal, StoreError> {
        let (id, key) = (id.to_string(), member.to_string());
        self.write("forget a question", async |session| {
            alone(session, &[member]).await?;
            let approval = "SELECT grant_id FROM questions WHERE id = $1 AND member = $2 FOR UPDATE";
            let Some(row) = session.row(approval, &[&id, &key]).await? else { return Ok(Removal::Absent) };
            if let Some(grant) = row.try_get::<_, Option<&str>>(0)? {
                revoke(session, grant).await?;
            }
            session.execute("DELETE FROM questions WHERE id = $1", &[&id]).await?;
            Ok(Removal::Removed)
        })
    }

    fn take(&self, by: Party, id: QuestionId, now: UnixTime) -> Result<Taken, TakeError> {
        self.write("give out an approval", async |session| {
            let (id, question) = asked_by(session, by, id, now).await?;
            let grant = match (question.state, question.approval) {
                (QuestionState::Approved, Some((grant, _until))) => grant,
                (state, _) => return Err(Broken::Refused(TakeError::NotApproved(state))),
            };
            let sealed = session.row("SELECT sealed FROM questions WHERE id = $1", &[&id]).await?;
            let sealed = sealed.map(|row| row.try_get::<_, Option<Vec<u8>>>(0)).transpose()?.flatten();
            let sealed = sealed.ok_or(Broken::Row(Table::Questions, id.clone()))?;
            session
                .execute("UPDATE questions SET state = 'used', sealed = NULL WHERE id = $1", &[&id])
                .await?;
            Ok(Taken { grant, sealed })
        })
    }
}

/// A question of this caller of the bot, with its id as a row has it, locked. Approvals are sealed to the bot: nobody else has
/// any use for one.
async fn asked_by(
    session: &Session,
    by: Party,
    id: QuestionId,
    now: UnixTime,
) -> Result<(String, Question), Broken<TakeError>> {
    let absent = || Broken::Refused(TakeError::Absent);
    let Party::Bot(..) = by else { return Err(absent()) };
    let (id, (side, key, principal)) = (id.to_string(), side(by));
    let condition = format!("id = $3 AND {side} FOR UPDATE");
    let question = one(session, &condition, &[&key, &principal, &id], now).await?;
    Ok((id, question.ok_or_else(absent)?))
}

/// Writes down what time has made of her open questions; approvals that were not used in time go.
async fn expire(session: &Session, member: KeyId, now: UnixTime) -> Result<(), Error> {
    let expire = "
        UPDATE questions SET state = 'expired', sealed = NULL
        WHERE member = $1 AND ((state = 'pending' AND expires_at <= $2) OR (state = 'approved' AND until <= $2))";
    session.execute(expire, &[&member.to_string(), &now.as_secs()]).await.map(|_changed| ())
}

async fn there_is_room(session: &Session, question: &NewQuestion<'_>) -> Result<(), Broken<RaiseError>> {
    if session.exists("SELECT 1 FROM questions WHERE id = $1", &[&question.id.to_string()]).await? {
        return Err(Broken::Refused(RaiseError::IdTaken));
    }
    let count = "SELECT count(*) FROM questions
                 WHERE member = $1 AND bot = $2 AND principal = $3 AND state = 'pending'";
    let (member, bot) = (question.member.to_string(), question.action.bot.to_string());
    let row = session.row(count, &[&member, &bot, &of(question.principal)]).await?;
    let waiting: i64 = row.map(|row| row.try_get(0)).transpose()?.unwrap_or_default();
    if waiting >= i64::from(QUESTIONS_PENDING_MAX) {
        return Err(Broken::Refused(RaiseError::TooManyPending));
    }
    Ok(())
}

async fn insert(
    session: &Session,
    question: &NewQuestion<'_>,
    digest: ActionDigest,
    [args, found]: [&str; 2],
) -> Result<(), Broken<RaiseError>> {
    let action = &question.action;
    // Another member may have taken the id since.
    let insert = "
        INSERT INTO questions (id, member, service, op, args, manifest, connection, account, bot, action, found, raised_at,
                               expires_at, state, principal)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 'pending', $14) ON CONFLICT (id) DO NOTHING";
    let values: Values<'_> = &[
        &question.id.to_string(),
        &question.member.to_string(),
        &action.service.as_str(),
        &action.op.as_str(),
        &args,
        &action.manifest.to_string(),
        &action.connection.to_string(),
        &action.account.as_str(),
        &action.bot.to_string(),
        &digest.to_string(),
        &found,
        &question.raised_at.as_secs(),
        &question.expires_at.as_secs(),
        &of(question.principal),
    ];
    match session.execute(insert, values).await? {
        0 => Err(Broken::Refused(RaiseError::IdTaken)),
        _ => Ok(()),
    }
}

/// Nobody can fill the disk with questions that nobody answers.
async fn forget_the_oldest(session: &Session, question: &NewQuestion<'_>) -> Result<(), Error> {
    let forget = "
        DELETE FROM questions WHERE id IN (
            SELECT id FROM questions
            WHERE member = $1 AND bot = $2 AND principal = $3 AND state IN ('denied', 'expired', 'used')
            ORDER BY raised_at DESC, seq DESC OFFSET $4)";
    let (member, bot) = (question.member.to_string(), question.action.bot.to_string());
    let kept = i64::from(QUESTIONS_KEPT);
    session.execute(forget, &[&member, &bot, &of(question.principal), &kept]).await.map(|_gone| ())
}

/// The question about the same action of the same principal that is pending, or approved and not used yet.
async fn open_question<E>(
    session: &Session,
    new: &NewQuestion<'_>,
    action: ActionDigest,
    now: UnixTime,
) -> Result<Option<Question>, Broken<E>> {
    let open = "member = $1 AND principal = $2 AND action = $3 AND state IN ('pending', 'approved')";
    let values: Values<'_> = &[&new.member.to_string(), &of(new.principal), &action.to_string()];
    let found = one(session, open, values, now).await?;
    Ok(found.filter(|question| question.state != QuestionState::Expired))
}

/// Which rows are a party's: a condition on `$1` and `$2`, and these two.
fn side(party: Party) -> (&'static str, String, String) {
    match party {
        Party::Member(member) => ("member = $1 AND $2::text = ''", member.to_string(), String::new()),
        Party::Bot(bot, principal) => ("bot = $1 AND principal = $2", bot.to_string(), of(principal)),
    }
}

async fn one<E>(
    session: &Session,
    condition: &str,
    values: Values<'_>,
    now: UnixTime,
) -> Result<Option<Question>, Broken<E>> {
    let row = session.row(&format!("{SELECT} WHERE {condition}"), values).await?;
    row.as_ref().map(|row| read(row, now)).transpose()
}

fn read<E>(row: &Row, now: UnixTime) -> Result<Question, Broken<E>> {
    let columns = Columns::new(Table::Questions, row)?;
    let expires_at = UnixTime::from_secs(columns.plain(12)?);
    let approval = match (columns.plain::<Option<&str>, E>(15)?, columns.plain::<Option<i64>, E>(16)?) {
        (None, None) => None,
        (Some(grant), Some(until)) => {
            let grant = GrantId::parse(grant).map_err(|_no_id| columns.tampered())?;
            Some((grant, UnixTime::from_secs(until)))
        }
        _ => return Err(columns.tampered()),
    };
    let state = match (columns.parsed(13, state)?, approval) {
        (QuestionState::Pending, _) if expires_at <= now => QuestionState::Expired,
        (QuestionState::Approved, Some((_, until))) if until <= now => QuestionState::Expired,
        (state, _) => state,
    };
    let (args, found): (String, &str) = (columns.plain(4)?, columns.plain(10)?);
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
        found: serde_json::from_str(found).map_err(|_error| columns.tampered())?,
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

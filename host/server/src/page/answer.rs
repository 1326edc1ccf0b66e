//! The member's answer to what she was shown.
//!
//! INVARIANT: what is approved is what was shown: a form carries the digest of the sheet that it stood below, and the
//! approval is minted from a sheet of that digest. Her key is open for one answer, within one function, and is dropped.

use std::sync::Arc;

use http::StatusCode;
use pinhole_grant::PassphraseError;
use pinhole_runtime::local::{ApproveError, deny};
use pinhole_runtime::store::{AnswerError, QuestionId, QuestionState, StoreError};
use zeroize::Zeroizing;

use super::Room;
use super::form::Form;
use super::html::{self, Notice};
use super::reply::{self, Reply};
use super::shown::Shown;
use super::side::KeyholderError;
use super::tries::SLOWED;

/// What she says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Yes,
    No,
}

/// Why nothing was answered.
enum Unanswered {
    /// She is shown the question anew.
    Anew(Box<Shown>, Notice),
    /// She was asked no such question.
    Absent,
    Store(StoreError),
}

impl From<StoreError> for Unanswered {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Gives an answer. It goes to its end though she may not wait for it: a wrong passphrase is counted in any case.
pub(super) async fn give(room: Arc<Room>, id: QuestionId, answer: Answer, form: Form) -> Reply {
    let token = form.token.clone();
    let given = tokio::spawn(async move {
        let done = match answer {
            Answer::Yes => yes(&room, id, form).await,
            Answer::No => {
                let done = room.apart(move |room| Ok(no(room, id, &form))).await;
                done.unwrap_or_else(|error| Err(error.into()))
            }
        };
        replied(&room, id, done, token).await
    });
    given.await.unwrap_or_else(|_stopped| {
        reply::text(StatusCode::INTERNAL_SERVER_ERROR, "the answer was not taken: load the question again")
    })
}

async fn replied(
    room: &Arc<Room>,
    id: QuestionId,
    done: Result<(), Unanswered>,
    token: Zeroizing<String>,
) -> Reply {
    match done {
        Ok(()) => reply::see(&format!("/question/{id}")),
        Err(Unanswered::Absent) => reply::html(StatusCode::NOT_FOUND, html::absent()),
        Err(Unanswered::Store(error)) => reply::html(StatusCode::INTERNAL_SERVER_ERROR, html::fault(&error)),
        Err(Unanswered::Anew(shown, notice)) => {
            let page = room.apart(move |room| {
                let ready = room.side.keyholder.ready();
                let page = html::question(&shown, &token, Some(&notice), ready.as_ref().err());
                let reply = reply::html(notice.status(), page);
                Ok(match notice {
                    Notice::Locked { seconds } => reply::after(reply, seconds),
                    _ => reply,
                })
            });
            page.await
                .unwrap_or_else(|error| reply::html(StatusCode::INTERNAL_SERVER_ERROR, html::fault(&error)))
        }
    }
}

async fn yes(room: &Arc<Room>, id: QuestionId, mut form: Form) -> Result<(), Unanswered> {
    // One at a time: the derivation takes memory, and a guess must not pass another's count.
    let mut tries = Arc::clone(&room.tries).lock_owned().await;
    let turn = tries.turn(room.side.timer.now());
    let (done, wrong) = room
        .apart(move |room| {
            let mut wrong = false;
            let done = match turn {
                Ok(()) => permit(room, id, &mut form, &mut wrong),
                Err(left) => seen(room, id, &form).and_then(|shown| {
                    let seconds = left.as_secs().saturating_add(1);
                    Err(Unanswered::Anew(Box::new(shown), Notice::Locked { seconds }))
                }),
            };
            if wrong {
                tries.wrong(room.side.timer.now());
            } else if done.is_ok() {
                tries.right();
            }
            Ok((done, wrong.then_some(tries)))
        })
        .await?;
    if let Some(turn) = wrong {
        // The next one waits as long.
        room.side.timer.wait(SLOWED).await;
        drop(turn);
    }
    done
}

/// Opens her key with her passphrase, and says yes with it.
fn permit(room: &Room, id: QuestionId, form: &mut Form, wrong: &mut bool) -> Result<(), Unanswered> {
    let shown = seen(room, id, form)?;
    if shown.question.state != QuestionState::Pending {
        let state = shown.question.state;
        return Err(Unanswered::Anew(Box::new(shown), Notice::Over(state)));
    }
    let anew = |shown: Shown, notice| Err(Unanswered::Anew(Box::new(shown), notice));
    let key = match form.passphrase() {
        Ok(passphrase) => match room.side.keyholder.open(&passphrase) {
            Ok(key) => key,
            Err(error) => {
                *wrong = error == KeyholderError::Wrong;
                return anew(shown, Notice::Key(error));
            }
        },
        Err(PassphraseError::Empty) => return anew(shown, Notice::NoPassphrase),
        Err(error) => return anew(shown, Notice::Passphrase(error)),
    };
    let present = room.side.present(&key)?;
    let Ok(sheet) = &shown.sheet else { return anew(shown, Notice::Unshowable) };
    match present.approve(sheet) {
        Ok(_until) => {
            // She is here: what her bot may read is renewed by the way.
            if let Err(error) = present.renew() {
                tracing::warn!(%error, "what the bot may read was not renewed: `pinhole connections renew` tries again");
            }
            Ok(())
        }
        Err(ApproveError::Store(error) | ApproveError::Answer(AnswerError::Store(error))) => {
            Err(error.into())
        }
        Err(error) => {
            let notice = Notice::NotApproved { hint: error.hint(id), message: error.to_string() };
            Err(Unanswered::Anew(Box::new(now(room, id)?), notice))
        }
    }
}

/// Says no. It takes no passphrase: it can only take away.
fn no(room: &Room, id: QuestionId, form: &Form) -> Result<(), Unanswered> {
    seen(room, id, form)?;
    let side = &room.side;
    match deny(side.desk.as_ref(), side.member, id, side.now()?) {
        Ok(()) => Ok(()),
        Err(AnswerError::Store(StoreError::Tampered { .. })) => {
            side.desk.forget_question(side.member, id)?;
            Ok(())
        }
        Err(AnswerError::Store(error)) => Err(error.into()),
        Err(AnswerError::Absent) => Err(Unanswered::Absent),
        Err(AnswerError::NotPending(state)) => {
            Err(Unanswered::Anew(Box::new(now(room, id)?), Notice::Over(state)))
        }
    }
}

/// The question, if it is the one that the form stood below.
fn seen(room: &Room, id: QuestionId, form: &Form) -> Result<Shown, Unanswered> {
    let shown = now(room, id)?;
    if shown.digest() == form.sheet.as_str() {
        return Ok(shown);
    }
    let notice = match shown.question.state {
        QuestionState::Pending => Notice::Changed,
        state => Notice::Over(state),
    };
    Err(Unanswered::Anew(Box::new(shown), notice))
}

fn now(room: &Room, id: QuestionId) -> Result<Shown, Unanswered> {
    Shown::find(id, &room.side)?.ok_or(Unanswered::Absent)
}

//! A question as the page shows it, and the digest by which an answer says what it is an answer to.
//!
//! INVARIANT: two questions that a person would see differently have different digests.

use pinhole_manifest::Digest;
use pinhole_runtime::local::{Sheet, SheetError};
use pinhole_runtime::store::{Party, Question, QuestionId, QuestionState, StoreError};
use serde::Serialize;

use super::side::MemberSide;

/// A question as it is shown.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) question: Question,
    /// All that a yes would do; or why that cannot be shown. It can then still be denied.
    pub(super) sheet: Result<Sheet, SheetError>,
    /// Who asked it.
    pub(super) asker: String,
    digest: Digest,
}

#[derive(Serialize)]
struct Seen<'a> {
    question: QuestionId,
    state: QuestionState,
    sheet: Option<&'a Sheet>,
    fault: Option<String>,
    asker: &'a str,
    /// Until when an approval can be used.
    until: Option<i64>,
}

impl Shown {
    /// The question of this id, if the member was asked one.
    pub(super) fn find(id: QuestionId, side: &MemberSide) -> Result<Option<Self>, StoreError> {
        let question = side.desk.question(Party::Member(side.member), id, side.now()?)?;
        question.map(|question| Self::of(question, side)).transpose()
    }

    /// All that wait for her, or for being used, the newest first.
    pub(super) fn waiting(side: &MemberSide) -> Result<Vec<Self>, StoreError> {
        let mut questions = side.desk.questions(Party::Member(side.member), side.now()?)?;
        questions
            .retain(|question| matches!(question.state, QuestionState::Pending | QuestionState::Approved));
        questions.into_iter().map(|question| Self::of(question, side)).collect()
    }

    fn of(question: Question, side: &MemberSide) -> Result<Self, StoreError> {
        let connection = side.desk.connection(side.member, question.connection)?;
        let sheet = Sheet::of(&question, connection.as_ref(), &side.catalog);
        let asker = asker(&question, side)?;
        let seen = Seen {
            question: question.id,
            state: question.state,
            sheet: sheet.as_ref().ok(),
            fault: sheet.as_ref().err().map(ToString::to_string),
            asker: &asker,
            until: question.approval.map(|(_, until)| until.as_secs()),
        };
        let doing = "work out what is shown";
        let seen =
            serde_json::to_vec(&seen).map_err(|error| StoreError::Failed { doing, source: error.into() })?;
        let digest = Digest::of(&seen);
        Ok(Self { question, sheet, asker, digest })
    }

    /// What a form below it carries.
    pub(super) fn digest(&self) -> String {
        self.digest.to_string()
    }
}

/// Who asked, for people.
fn asker(question: &Question, side: &MemberSide) -> Result<String, StoreError> {
    let Some(principal) = question.principal else {
        return Ok(
            "this machine's own `pinhole run`, or a client that started `pinhole mcp` itself".to_owned()
        );
    };
    let token = side.desk.tokens(side.member)?.into_iter().find(|token| token.id == principal);
    Ok(match token {
        Some(token) => format!("the token “{}” ({principal})", token.name),
        None => format!("a token that is not known here ({principal})"),
    })
}

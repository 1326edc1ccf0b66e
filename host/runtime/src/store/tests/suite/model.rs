//! The state machine of questions against a plain model of it: whatever is done in whatever order, both say the same.

use std::sync::Arc;

use pinhole_grant::{GrantId, UnixTime};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::store::tests::{Asked, Bench, NOW, bot, grant_id, member, question_id, the_bot};
use crate::store::{
    Answer, AnswerError, Desk, NewQuestion, Party, QuestionId, QuestionState, RaiseError, TakeError,
};

/// What somebody does. Numbers choose among the actions, the questions raised so far, and seconds.
#[derive(Debug, Clone)]
enum Step {
    Raise { action: usize, lives: i64 },
    Approve { which: usize, lives: i64 },
    Deny { which: usize },
    Take { which: usize },
    Wait { seconds: i64 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0_usize..3, 0_i64..20).prop_map(|(action, lives)| Step::Raise { action, lives }),
        (0_usize..8, -1_i64..20).prop_map(|(which, lives)| Step::Approve { which, lives }),
        (0_usize..8).prop_map(|which| Step::Deny { which }),
        (0_usize..8).prop_map(|which| Step::Take { which }),
        (0_i64..9).prop_map(|seconds| Step::Wait { seconds }),
    ]
}

struct Modelled {
    id: QuestionId,
    action: usize,
    expires_at: UnixTime,
    state: QuestionState,
    approval: Option<(GrantId, UnixTime)>,
}

impl Modelled {
    fn at(&self, now: UnixTime) -> QuestionState {
        let end = match self.state {
            QuestionState::Pending => Some(self.expires_at),
            QuestionState::Approved => self.approval.map(|(_, until)| until),
            _ => None,
        };
        if end.is_some_and(|end| end <= now) { QuestionState::Expired } else { self.state }
    }

    fn is_open(&self, now: UnixTime) -> bool {
        matches!(self.at(now), QuestionState::Pending | QuestionState::Approved)
    }
}

struct Both {
    store: Arc<dyn Desk>,
    actions: [Asked; 3],
    model: Vec<Modelled>,
    now: UnixTime,
    seeds: u64,
}

impl Both {
    fn raise(&mut self, action: usize, lives: i64) {
        self.seeds += 1;
        let id = question_id(self.seeds);
        let new = self.actions[action].new_question(id, self.now);
        let raised = self.store.raise(&NewQuestion { expires_at: self.now.plus_secs(lives), ..new });
        if lives == 0 {
            assert!(matches!(raised, Err(RaiseError::ExpiresAtOnce)));
            return;
        }
        let raised = raised.unwrap();
        if let Some(open) = self.model.iter().find(|one| one.action == action && one.is_open(self.now)) {
            assert_eq!(raised.id, open.id);
            return;
        }
        assert_eq!((raised.id, raised.state), (id, QuestionState::Pending));
        let expires_at = self.now.plus_secs(lives);
        self.model.push(Modelled { id, action, expires_at, state: QuestionState::Pending, approval: None });
    }

    fn answer(&mut self, which: usize, lives: Option<i64>) {
        self.seeds += 1;
        let (now, grant) = (self.now, grant_id(self.seeds));
        let until = now.plus_secs(lives.unwrap_or_default());
        let sealed = grant.to_string();
        let answer = match lives {
            Some(_) => Answer::Approve { grant, sealed: sealed.as_bytes(), until },
            None => Answer::Deny,
        };
        let Some(one) = self.model.get_mut(which) else {
            let nothing = self.store.answer(member(), question_id(u64::MAX), answer, now);
            assert!(matches!(nothing, Err(AnswerError::Absent)));
            return;
        };
        let answered = self.store.answer(member(), one.id, answer, now);
        match one.at(now) {
            QuestionState::Pending => {
                answered.unwrap();
                one.state = if lives.is_some() { QuestionState::Approved } else { QuestionState::Denied };
                one.approval = lives.map(|_| (grant, until));
            }
            QuestionState::Approved if lives.is_none() => {
                answered.unwrap();
                one.state = QuestionState::Denied;
                let (taken_back, _until) = one.approval.take().unwrap();
                assert!(self.store.is_revoked(&taken_back).unwrap());
            }
            state => assert!(matches!(answered, Err(AnswerError::NotPending(found)) if found == state)),
        }
    }

    fn take(&mut self, which: usize) {
        let now = self.now;
        let Some(one) = self.model.get_mut(which) else {
            assert!(matches!(self.store.take(the_bot(), question_id(u64::MAX), now), Err(TakeError::Absent)));
            return;
        };
        let taken = self.store.take(the_bot(), one.id, now);
        match (one.at(now), one.approval) {
            (QuestionState::Approved, Some((grant, _))) => {
                let taken = taken.unwrap();
                assert_eq!((taken.grant, taken.sealed), (grant, grant.to_string().into_bytes()));
                one.state = QuestionState::Used;
            }
            (state, _) => assert!(matches!(taken, Err(TakeError::NotApproved(found)) if found == state)),
        }
    }

    fn say_the_same(&self) {
        for party in [Party::Member(member()), Party::Bot(bot(), None)] {
            let mut listed = self.store.questions(party, self.now).unwrap();
            listed.sort_by_key(|question| question.id);
            let found: Vec<_> =
                listed.iter().map(|question| (question.id, question.state, question.approval)).collect();
            let mut wanted: Vec<_> =
                self.model.iter().map(|one| (one.id, one.at(self.now), one.approval)).collect();
            wanted.sort_by_key(|(id, ..)| *id);
            assert_eq!(found, wanted);
        }
        for (number, asked) in self.actions.iter().enumerate() {
            let digest = asked.action(bot()).digest().unwrap();
            let last = self.store.last_question(the_bot(), digest, self.now).unwrap();
            let open =
                last.filter(|last| matches!(last.state, QuestionState::Pending | QuestionState::Approved));
            let wanted = self.model.iter().find(|one| one.action == number && one.is_open(self.now));
            assert_eq!(open.map(|open| open.id), wanted.map(|one| one.id));
        }
    }
}

pub(crate) fn whatever_is_done_the_store_and_the_model_say_the_same(bench: &dyn Bench) {
    let mut runner =
        TestRunner::new(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() });
    let all = runner.run(&prop::collection::vec(step(), 1..40), |steps| {
        let actions = ["one", "two", "three"].map(Asked::new);
        let mut both = Both { store: bench.empty(), actions, model: Vec::new(), now: NOW, seeds: 0 };
        for step in steps {
            match step {
                Step::Raise { action, lives } => both.raise(action, lives),
                Step::Approve { which, lives } => both.answer(which, Some(lives)),
                Step::Deny { which } => both.answer(which, None),
                Step::Take { which } => both.take(which),
                Step::Wait { seconds } => both.now = both.now.plus_secs(seconds),
            }
            both.say_the_same();
        }
        Ok(())
    });
    all.unwrap();
}

//! What is due, and what each end of a request makes of a line.

use pinhole_grant::UnixTime;
use proptest::prelude::*;

use super::super::{Next, Term, Unanswered, WAITS_SECS, after, next};
use super::{NOW, away, bot, credential, digest_of, lost, member};
use crate::store::{Carried, Line, LineState, TRIES_MAX};

fn line() -> Line {
    let (member, held) = (member(1), credential("one", 0));
    let whose = (member.public().id(), bot().public().id());
    Line::begin(digest_of(&member, &held), whose, (held.id(), held.service().clone()), 0)
}

fn term(obtained: Option<i64>, expires: Option<i64>) -> Term {
    let at = |seconds: i64| NOW.plus_secs(seconds);
    Term { obtained_at: obtained.map(at), expires_at: expires.map(at) }
}

fn at(seconds: i64) -> UnixTime {
    NOW.plus_secs(seconds)
}

#[test]
fn a_pair_is_renewed_half_a_minute_before_its_end_or_a_tenth_of_its_life() {
    let hour = term(Some(0), Some(3600));
    assert!(!hour.is_due(at(3569)) && hour.is_due(at(3570)));
    assert!(!hour.is_over(at(3599)) && hour.is_over(at(3600)));
    // Five seconds: to the end. A hundred: ten.
    assert!(!term(Some(0), Some(5)).is_due(at(4)) && term(Some(0), Some(5)).is_due(at(5)));
    assert!(!term(Some(0), Some(100)).is_due(at(89)) && term(Some(0), Some(100)).is_due(at(90)));
    // Whose life nobody knows.
    assert!(!term(None, Some(60)).is_due(at(29)) && term(None, Some(60)).is_due(at(30)));
    let endless = term(Some(0), None);
    assert!(!endless.is_due(at(i64::MAX / 2)) && !endless.is_over(at(i64::MAX / 2)));
    // One that was over before it was there, as of two clocks.
    assert!(term(Some(10), Some(0)).is_due(at(0)) && !term(Some(10), Some(0)).is_due(at(-1)));
}

#[test]
fn a_pair_that_was_just_obtained_is_not_settled() {
    let fresh = term(Some(0), None);
    assert!(!fresh.is_settled(at(0)) && !fresh.is_settled(at(59)) && fresh.is_settled(at(60)));
    assert!(fresh.is_settled(at(-1)), "a clock that was set back");
    assert!(term(None, None).is_settled(at(0)));
}

#[test]
fn a_line_is_asked_for_when_its_wait_is_over_and_a_wait_of_another_clock_is() {
    assert_eq!(next(&line(), NOW), Next::Ask);
    let sent = line().sending(at(5));
    assert_eq!(next(&sent, at(0)), Next::Wait(5));
    assert_eq!(next(&sent, at(4)), Next::Wait(1));
    assert_eq!(next(&sent, at(5)), Next::Ask);
    // The clock went ahead a day, failed, and was set back.
    assert_eq!(next(&line().sending(at(86_400)), at(0)), Next::Ask);
    assert_eq!(next(&line().ended(), at(0)), Next::Ended);
    assert_eq!(next(&line().sending(at(5)).ended(), at(0)), Next::Ended);
    let mut tried = line();
    for _ in 0..TRIES_MAX {
        tried = tried.sending(at(0));
    }
    assert_eq!((next(&tried, at(0)), next(&tried, at(-5))), (Next::End, Next::End));
}

#[test]
fn each_end_of_a_request_makes_of_a_line_what_it_should() {
    let sending = line().sending(at(5));
    let after = |failed: &Unanswered| {
        let line = after(&sending, failed, at(0));
        (line.state, line.tries, line.again_at.map(|again| again.secs_since(NOW).unwrap()))
    };
    assert_eq!(after(&Unanswered::Dead), (LineState::Dead, 1, None));
    assert_eq!(after(&Unanswered::Refused { detail: String::new() }), (LineState::Live, 0, Some(5)));
    assert_eq!(after(&away(None)), (LineState::Live, 0, Some(5)));
    assert_eq!(after(&away(Some(2))), (LineState::Live, 0, Some(5)));
    assert_eq!(after(&away(Some(90))), (LineState::Live, 0, Some(90)));
    assert_eq!(after(&away(Some(u64::MAX))), (LineState::Live, 0, Some(3600)));
    assert_eq!(after(&lost()), (LineState::Sent, 1, Some(5)));
    assert_eq!(after(&Unanswered::Unreadable { detail: String::new() }), (LineState::Sent, 1, Some(5)));
    let told = Unanswered::Away { carried: Carried::Perhaps, retry_after: Some(90), detail: String::new() };
    assert_eq!(after(&told), (LineState::Sent, 1, Some(90)));
}

proptest! {
    /// However requests end and whatever the clock says: a request that may have been carried out is made five times at
    /// most, waits never shrink while they fail in a row, and what has ended stays so.
    #[test]
    fn no_line_is_asked_for_without_end(ends in prop::collection::vec((0_u8..5, -10_i64..5000), 1..60)) {
        let mut line = line();
        let (mut now, mut perhaps, mut longest) = (NOW, 0_u32, 0_i64);
        for (end, passes) in ends {
            now = now.plus_secs(passes);
            match next(&line, now) {
                Next::Wait(seconds) => prop_assert!(seconds <= 3600),
                Next::End => line = line.ended(),
                Next::Ended => prop_assert_eq!(line.state, LineState::Dead),
                Next::Ask => {
                    let wait = WAITS_SECS.get(usize::try_from(line.failures).unwrap()).copied().unwrap_or(3600);
                    prop_assert!(wait >= longest);
                    longest = wait;
                    let sending = line.sending(super::super::decide::again_at(&line, now));
                    prop_assert!(sending.tries <= TRIES_MAX && sending.state == LineState::Sent);
                    line = match end {
                        0 => after(&sending, &away(None), now),
                        1 => after(&sending, &Unanswered::Refused { detail: String::new() }, now),
                        // Killed: it stays as it was noted.
                        2 => { perhaps += 1; sending }
                        3 => { perhaps += 1; after(&sending, &Unanswered::Unreadable { detail: String::new() }, now) }
                        _ => { perhaps += 1; after(&sending, &lost(), now) }
                    };
                    prop_assert!(perhaps <= TRIES_MAX);
                    prop_assert_eq!(line.state == LineState::Live, line.tries == 0);
                }
            }
        }
    }
}

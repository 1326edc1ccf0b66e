//! The checks. Each takes a database of its own and holds on every kind of it.
//!
//! INVARIANT: one that is missing from the list below is dead code, which the lints refuse.

pub(crate) mod doors;
pub(crate) mod kept;
pub(crate) mod locks;
pub(crate) mod model;
pub(crate) mod processes;
pub(crate) mod questions;
pub(crate) mod receipts;
pub(crate) mod renewals;
pub(crate) mod spine;
pub(crate) mod tokens;

/// A test of each check, on what `$bench` gives for the test's name; `None` skips it.
macro_rules! every_check {
    ($bench:expr) => {
        $crate::store::tests::every_check! { @ $bench;
            doors: [
                a_connection_comes_back_as_it_was_stored,
                a_label_and_an_id_are_taken_once,
                only_a_newer_generation_takes_the_place_of_a_credential,
                a_connection_is_kept_with_its_grant_or_not_at_all,
                a_cap_that_is_read_again_ends_what_it_no_longer_covers,
                what_ends_with_a_connection_ends_at_once,
                a_newer_read_grant_takes_the_place_of_the_older,
                a_grant_is_removed_or_revoked_by_its_member,
                a_tampered_row_is_refused_and_named,
                a_connection_is_held_against_what_it_seals,
                a_question_is_held_against_its_digest,
            ],
            kept: [
                a_key_goes_from_begun_to_what_became_of_it,
                what_was_not_sent_is_forgotten_and_what_nobody_knows_is_not,
                what_was_begun_and_never_ended_is_unknown_once_its_time_is_over,
                of_many_at_once_one_begins,
                a_row_that_was_tampered_with_is_no_claim,
                the_oldest_outcomes_beyond_the_most_are_forgotten_and_what_nobody_knows_is_not,
                what_is_over_is_forgotten_whosever_it_is,
            ],
            locks: [
                a_name_has_one_holder_at_a_time,
                who_is_patient_gets_it_once_it_is_free,
            ],
            model: [
                whatever_is_done_the_store_and_the_model_say_the_same,
            ],
            processes: [
                of_twenty_processes_one_spends_the_use,
                of_twenty_processes_one_takes_the_approval,
                what_was_spent_before_a_kill_is_spent,
                a_lock_ends_with_its_process,
            ],
            questions: [
                a_question_comes_back_as_it_was_raised,
                the_same_action_is_the_same_question_while_it_is_open,
                time_ends_what_is_open,
                an_approval_is_given_out_once_and_is_gone_then,
                a_yes_that_was_not_used_can_be_taken_back,
                of_many_threads_one_answers_and_one_takes,
                a_bot_cannot_bury_a_member_in_questions,
                a_bot_cannot_fill_the_disk_with_questions,
                what_one_principal_asks_shows_for_no_other,
                who_asks_too_much_keeps_nobody_else_from_asking,
                a_question_that_its_bot_withdrew_is_over,
            ],
            receipts: [
                receipts_stand_behind_each_other,
                each_bot_has_a_chain_of_its_own,
                a_receipt_takes_its_note_away,
                a_note_of_which_nobody_hears_becomes_one_receipt,
                a_use_and_the_note_of_its_run_are_one_step,
                what_is_looked_for_is_found,
                what_another_program_did_to_the_rows_is_found,
                what_is_old_is_removed_and_the_rest_stays_sound,
                nothing_is_removed_from_a_chain_that_is_not_sound,
                threads_put_their_receipts_behind_each_other,
                twenty_processes_make_one_chain,
            ],
            renewals: [
                whatever_is_done_to_lines_both_stores_and_the_model_say_the_same,
                a_line_is_what_it_was_after_the_store_was_opened_anew,
                the_database_holds_lines_to_their_rules_whoever_writes,
                what_was_renewed_goes_with_its_connection,
                the_newest_pair_waits_for_its_member,
            ],
            spine: [
                every_use_is_spent_exactly_once_by_many_threads_with_stores_of_their_own,
                one_store_serves_many_threads,
                a_spent_use_stays_spent_when_the_store_is_opened_again,
                a_clock_set_back_does_not_go_back,
                the_latest_time_of_another_process_counts,
                a_revocation_holds,
                a_use_of_a_stored_grant_is_its_members,
            ],
            tokens: [
                a_token_comes_back_as_it_was_stored_and_only_to_its_member,
                a_name_is_free_again_when_its_token_is_over,
                an_id_and_a_text_are_taken_once_for_whomever,
                a_token_is_good_until_its_last_second_or_until_it_is_revoked,
                what_its_holder_asked_ends_with_a_token,
                of_many_who_want_a_name_one_gets_it,
                a_row_that_was_tampered_with_opens_nothing_and_can_be_revoked,
            ],
        }
    };
    (@ $bench:expr; $($room:ident: [$($check:ident,)*],)*) => {$(
        mod $room {
            $(
                #[test]
                fn $check() {
                    use super::*;
                    if let Some(bench) = $bench(stringify!($check)) {
                        $crate::store::tests::$room::$check(&bench);
                    }
                }
            )*
        }
    )*};
}

pub(crate) use every_check;

//! The order of a renewal in one process: shared, noted first, durable before use, and never led into a loop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use pinhole_grant::{KeyId, PairDigest};

use super::super::{Given, NotRenewed, Unanswered, newest};
use super::{Host, LIFE, NOW, Provider, Turn, away, bot, credential, digest_of, given, member};
use crate::store::{
    Held, Line, LineError, LineState, Lines, LockError, LockName, Locks, MemoryStore, Renewals, SqliteStore,
    StoreError, TRIES_MAX,
};

fn memory() -> Arc<dyn Lines> {
    Arc::new(MemoryStore::default())
}

fn line(host: &Host) -> Line {
    host.store.line(&digest_of(&member(1), &credential("one", 0))).unwrap().unwrap()
}

fn due() -> Given {
    given(&member(1), &credential("one", 0))
}

#[tokio::test]
async fn fifty_who_come_at_once_share_one_renewal() {
    let stores: [Arc<dyn Lines>; 2] = [memory(), Arc::new(SqliteStore::in_memory().unwrap())];
    for store in stores {
        let provider = Provider::of(&["one"]);
        let host = Host::new(&provider, store);
        let all = join_all((0..50).map(|_| host.renew(due(), 0))).await;
        for pair in all {
            let pair = pair.unwrap();
            assert_eq!((pair.generation, pair.access.expose()), (1, "one-access-1"));
            assert_eq!(pair.refresh.unwrap().expose(), "one-refresh-1");
        }
        assert_eq!(provider.shown(), ["one-refresh-0"]);
    }
}

#[tokio::test]
async fn the_first_pair_of_a_line_leads_to_its_newest_for_good() {
    let provider = Provider::of(&["one"]);
    let host = Host::new(&provider, memory());
    for round in 1..=5 {
        // Each time the newest is due, and the grant still has the first.
        let pair = host.renew(due(), (round - 1) * LIFE).await.unwrap();
        assert_eq!(pair.generation, u64::try_from(round).unwrap());
        assert_eq!(pair.expires_at, Some(NOW.plus_secs(round * LIFE)));
    }
    assert_eq!(provider.shown().len(), 5);
    // A grant with a pair from the middle finds the same.
    let pair = host.renew(due(), 4 * LIFE).await.unwrap();
    let held = pair.of(&credential("one", 0)).unwrap();
    let newer = given(&member(1), &held);
    let same = host.renew(Given { bad: due().bad, ..newer }, 4 * LIFE).await.unwrap();
    assert_eq!(same.generation, 5);
    assert_eq!(provider.shown().len(), 5);
}

#[tokio::test]
async fn an_answer_without_a_refresh_token_keeps_the_one_before() {
    let provider = Provider::of(&["one"]);
    provider.then(&[Turn::Keeps, Turn::Keeps]);
    let host = Host::new(&provider, memory());
    for round in 0..2 {
        let pair = host.renew(due(), round * LIFE).await.unwrap();
        assert_eq!(pair.refresh.unwrap().expose(), "one-refresh-0");
    }
    assert_eq!(line(&host).generation, 2);
}

#[tokio::test]
async fn a_failed_renewal_is_not_repeated_by_those_who_waited_for_it() {
    let provider = Provider::of(&["one"]);
    provider.then(&vec![Turn::Says(away(None)); 50]);
    let host = Host::new(&provider, memory());
    let all = join_all((0..50).map(|_| host.renew(due(), 0))).await;
    let failed = all.iter().filter(|one| matches!(one, Err(NotRenewed::Failed { again: 5, .. }))).count();
    let waiting = all.iter().filter(|one| matches!(one, Err(NotRenewed::Wait(5)))).count();
    assert_eq!((failed, waiting), (1, 49));
    assert_eq!(provider.shown().len(), 1);
    // Nor by those who come before it is time.
    assert!(matches!(host.renew(due(), 4).await, Err(NotRenewed::Wait(1))));
    assert!(matches!(host.renew(due(), 5).await, Err(NotRenewed::Failed { again: 60, .. })));
    assert!(matches!(host.renew(due(), 64).await, Err(NotRenewed::Wait(1))));
    provider.then(&[]);
    assert_eq!(host.renew(due(), 65).await.unwrap().generation, 1);
    assert_eq!((line(&host).failures, line(&host).again_at), (0, None));
}

#[tokio::test]
async fn a_service_that_is_away_for_days_ends_no_line() {
    let provider = Provider::of(&["one"]);
    let host = Host::new(&provider, memory());
    for hour in 0..72 {
        provider.then(&[Turn::Says(away(Some(7)))]);
        let failed = host.renew(due(), hour * 3600).await;
        assert!(matches!(failed, Err(NotRenewed::Failed { .. })), "{failed:?}");
    }
    provider.then(&[]);
    assert_eq!(host.renew(due(), 72 * 3600).await.unwrap().generation, 1);
}

#[tokio::test]
async fn a_lost_answer_is_tried_again_and_a_service_that_ends_the_family_then_is_asked_no_more() {
    let provider = Provider::of(&["one"]);
    provider.then(&[Turn::Loses]);
    let host = Host::new(&provider, memory());
    assert!(matches!(host.renew(due(), 0).await, Err(NotRenewed::Failed { again: 5, .. })));
    assert_eq!(line(&host).state, LineState::Sent);
    assert!(matches!(host.renew(due(), 5).await, Err(NotRenewed::Dead)));
    assert_eq!(line(&host).state, LineState::Dead);
    for round in 0..20 {
        assert!(matches!(host.renew(due(), 10 + round * 3600).await, Err(NotRenewed::Dead)));
    }
    assert_eq!(provider.shown(), ["one-refresh-0", "one-refresh-0"]);
}

#[tokio::test]
async fn a_lost_request_that_was_not_carried_out_is_made_up_for() {
    let provider = Provider::of(&["one"]);
    provider.then(&[Turn::Says(super::lost())]);
    let host = Host::new(&provider, memory());
    host.renew(due(), 0).await.unwrap_err();
    assert_eq!(host.renew(due(), 5).await.unwrap().generation, 1);
}

#[tokio::test]
async fn five_tries_whose_end_nobody_knows_are_the_last() {
    let provider = Provider::of(&["one"]);
    let host = Host::new(&provider, memory());
    let unreadable = Unanswered::Unreadable { detail: String::new() };
    provider.then(&vec![Turn::Says(unreadable); 40]);
    let mut ends = Vec::new();
    for hour in 0..12 {
        ends.push(matches!(host.renew(due(), hour * 3600).await, Err(NotRenewed::Dead)));
    }
    let tries = usize::try_from(TRIES_MAX).unwrap();
    assert_eq!(provider.shown().len(), tries);
    assert_eq!(ends.iter().filter(|dead| !**dead).count(), tries - 1);
    assert_eq!(line(&host).state, LineState::Dead);
}

#[tokio::test]
async fn a_grant_that_is_good_for_nothing_any_more_ends_its_line_at_once() {
    let provider = Provider::of(&["one"]);
    provider.then(&[Turn::Says(Unanswered::Dead)]);
    let host = Host::new(&provider, memory());
    for hour in 0..5 {
        assert!(matches!(host.renew(due(), hour * 3600).await, Err(NotRenewed::Dead)));
    }
    assert_eq!(provider.shown().len(), 1);
}

#[tokio::test]
async fn families_members_and_credentials_never_mix() {
    let provider = Provider::of(&["one", "two"]);
    let host = Host::new(&provider, memory());
    host.renew(due(), 0).await.unwrap();
    // Reconnected: the same member and credential, one generation on, another family.
    let again = host.renew(given(&member(1), &credential("two", 1)), 0).await.unwrap();
    assert_eq!((again.generation, again.access.expose()), (2, "two-access-1"));
    // The old family is what it was.
    assert_eq!(host.renew(due(), 0).await.unwrap().access.expose(), "one-access-1");
    // Another member whose credential has the same id, and who even knows the first pair: a line of her own, and the tokens of
    // the first stay hers.
    let theirs = host.renew(given(&member(3), &credential("one", 0)), 0).await;
    assert!(matches!(theirs, Err(NotRenewed::Dead)), "{theirs:?}");
    assert_eq!(host.store.lines(member(3).public().id()).unwrap().len(), 1);
    let hers = newest(&line(&host), &bot().into()).unwrap().unwrap();
    assert_eq!((hers.issuer, hers.access.expose()), (member(1).public().id(), "one-access-1"));
}

#[tokio::test]
async fn whoever_gives_up_waiting_loses_no_answer() {
    let provider = Provider::of(&["one"]);
    let host = Host::new(&provider, memory());
    {
        let mut renewal = Box::pin(host.renew(due(), 0));
        // Until the request is noted, and no longer.
        while host.store.line(&due().digest).unwrap().is_none_or(|line| line.state != LineState::Sent) {
            let polled = futures_util::poll!(renewal.as_mut());
            if polled.is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    let pair = host.renew(due(), 0).await.unwrap();
    assert_eq!(pair.generation, 1);
    assert_eq!(provider.shown(), ["one-refresh-0"]);
}

#[tokio::test]
async fn a_pair_that_came_without_room_to_store_it_is_not_used_and_not_lost() {
    let provider = Provider::of(&["one"]);
    let full = Arc::new(Full { store: MemoryStore::default(), is_full: AtomicBool::new(true) });
    let host = Host::new(&provider, full.clone());
    for _ in 0..3 {
        let Err(NotRenewed::Unstored { pair, why }) = host.renew(due(), 0).await else { panic!("stored") };
        assert!(matches!(why, StoreError::Full { .. }));
        assert_eq!((pair.generation, pair.access.expose()), (1, "one-access-1"));
    }
    assert_eq!(provider.shown().len(), 1);
    assert_eq!(line(&host).state, LineState::Sent);
    full.is_full.store(false, Ordering::SeqCst);
    assert_eq!(host.renew(due(), 0).await.unwrap().access.expose(), "one-access-1");
    assert_eq!(line(&host).state, LineState::Live);
    assert_eq!(provider.shown().len(), 1);
}

#[tokio::test]
async fn without_room_for_the_note_nothing_is_asked() {
    let provider = Provider::of(&["one"]);
    let disk = tempfile::tempdir().unwrap();
    drop(SqliteStore::open_home(disk.path()).unwrap());
    let looked = SqliteStore::look(disk.path()).unwrap().unwrap();
    let host = Host::new(&provider, Arc::new(looked));
    assert!(matches!(host.renew(due(), 0).await, Err(NotRenewed::Store(StoreError::ReadOnly { .. }))));
    assert_eq!(provider.shown().len(), 0);
}

#[tokio::test]
async fn a_clock_that_is_moved_back_and_forth_neither_burns_nor_blocks() {
    let provider = Provider::of(&["one"]);
    let host = Host::new(&provider, memory());
    let day = 86_400;
    // A day ahead by mistake: one renewal that fails.
    provider.then(&[Turn::Says(away(None))]);
    host.renew(due(), day).await.unwrap_err();
    // Set right: the wait of that day is none.
    assert_eq!(host.renew(due(), 0).await.unwrap().generation, 1);
    // Ahead and back a few times: one renewal for each time that it is due.
    for round in 0..4 {
        host.renew(due(), day + round * LIFE).await.unwrap();
        host.renew(due(), 0).await.unwrap();
    }
    assert_eq!(provider.shown().len(), 6);
}

#[tokio::test]
async fn a_line_that_was_tampered_with_is_named_and_nothing_is_asked() {
    let provider = Provider::of(&["one"]);
    let host = Host::new(&provider, memory());
    host.renew(due(), 0).await.unwrap();
    let line = line(&host);
    let other = Line { generation: 7, ..line.clone() };
    host.store.change_line(&line, &other).unwrap();
    let refused = host.renew(due(), LIFE).await;
    assert!(matches!(refused, Err(NotRenewed::Store(StoreError::Tampered { .. }))), "{refused:?}");
    assert_eq!(provider.shown().len(), 1);
}

/// A store without room for a fresh pair.
struct Full {
    store: MemoryStore,
    is_full: AtomicBool,
}

impl Renewals for Full {
    fn line(&self, pair: &PairDigest) -> Result<Option<Line>, StoreError> {
        self.store.line(pair)
    }

    fn begin_line(&self, line: &Line) -> Result<Line, StoreError> {
        self.store.begin_line(line)
    }

    fn change_line(&self, from: &Line, to: &Line) -> Result<(), LineError> {
        if self.is_full.load(Ordering::SeqCst) && from.newest != to.newest {
            return Err(StoreError::Full { path: "pinhole.db".into(), source: None }.into());
        }
        self.store.change_line(from, to)
    }

    fn lines(&self, member: KeyId) -> Result<Vec<Line>, StoreError> {
        self.store.lines(member)
    }
}

impl Locks for Full {
    fn hold(&self, what: &LockName, patience: Duration) -> Result<Held, LockError> {
        self.store.hold(what, patience)
    }
}

//! Connections and grants: what is stored is what comes back, each name once, and nothing outlives its connection.

use pinhole_grant::{GrantId, KeyKind, UnixTime, seal_credential};
use pinhole_manifest::Access;

use crate::store::tests::{
    Asked, Bench, HOUR, NOW, connection, credential, furnished, grant, grant_id, key, manifest, member,
    question_id, rng, service, somebody_else, the_bot,
};
use crate::store::{
    Answer, AnswerError, ConnectionError, ConnectionRow, Desk, GrantError, GrantFilter, GrantRow, Party,
    Question, QuestionState, Removal, StoreError, Table, TakeError,
};

fn is_tampered(error: &StoreError, table: Table, id: &str) -> bool {
    matches!(error, StoreError::Tampered { table: found, id: named } if *found == table && named == id)
}

fn yes(grant: GrantId) -> Answer<'static> {
    Answer::Approve { grant, sealed: &[1], until: NOW.plus_secs(HOUR) }
}

/// A question that waits, one that was answered with yes, and the id of that approval.
fn pending_and_approved(store: &dyn Desk) -> (Question, Question, GrantId) {
    let [pending, approved] = ["pending", "approved"].map(Asked::new);
    let pending = pending.raise(store, 1, NOW).unwrap();
    let approved = approved.raise(store, 2, NOW).unwrap();
    let approval = grant_id(50);
    store.answer(member(), approved.id, yes(approval), NOW).unwrap();
    (pending, approved, approval)
}

pub(crate) fn a_connection_comes_back_as_it_was_stored(bench: &dyn Bench) {
    let (work, home) = (connection(1, "work"), connection(2, "home"));
    bench.store().insert_connection(&work).unwrap();
    bench.store().insert_connection(&home).unwrap();
    let store = bench.store();
    assert_eq!(store.connections(member()).unwrap(), [home.clone(), work.clone()]);
    assert_eq!(store.connection(member(), work.id).unwrap().as_ref(), Some(&work));
    assert_eq!(store.connection_named(member(), &work.service, &home.label).unwrap().as_ref(), Some(&home));
    assert_eq!(store.connection_named(member(), &service("linear"), &home.label).unwrap(), None);
    // Nothing of it is anybody else's.
    assert_eq!(store.connections(somebody_else()).unwrap(), []);
    assert_eq!(store.connection(somebody_else(), work.id).unwrap(), None);
    assert!(matches!(store.remove_connection(somebody_else(), work.id), Err(ConnectionError::Absent)));
}

pub(crate) fn a_label_and_an_id_are_taken_once(bench: &dyn Bench) {
    let store = bench.store();
    let work = connection(1, "work");
    store.insert_connection(&work).unwrap();
    assert!(matches!(store.insert_connection(&connection(2, "work")), Err(ConnectionError::LabelTaken)));
    assert!(matches!(store.insert_connection(&connection(1, "other")), Err(ConnectionError::IdTaken)));
    store.insert_connection(&ConnectionRow { service: service("linear"), ..connection(3, "work") }).unwrap();
    store.insert_connection(&ConnectionRow { member: somebody_else(), ..connection(4, "work") }).unwrap();
    let other = connection(5, "other");
    store.insert_connection(&other).unwrap();
    let renamed = ConnectionRow { label: work.label.clone(), generation: 1, ..other.clone() };
    assert!(matches!(store.replace_connection(&renamed), Err(ConnectionError::LabelTaken)));
    assert_eq!(store.connection(member(), other.id).unwrap(), Some(other));
}

pub(crate) fn only_a_newer_generation_takes_the_place_of_a_credential(bench: &dyn Bench) {
    let store = bench.store();
    let work = ConnectionRow { generation: 3, ..connection(1, "work") };
    store.insert_connection(&work).unwrap();
    for generation in [0, 2, 3] {
        let older = ConnectionRow { generation, sealed: vec![9], ..work.clone() };
        assert!(matches!(store.replace_connection(&older), Err(ConnectionError::NotNewer { stored: 3 })));
    }
    let newer =
        ConnectionRow { generation: 4, sealed: vec![9], created_at: UnixTime::from_secs(1), ..work.clone() };
    store.replace_connection(&newer).unwrap();
    let stored = store.connection(member(), work.id).unwrap().unwrap();
    assert_eq!(stored, ConnectionRow { created_at: work.created_at, ..newer });
    let unknown = ConnectionRow { generation: 9, ..connection(2, "work") };
    assert!(matches!(store.replace_connection(&unknown), Err(ConnectionError::Absent)));
    let moved = ConnectionRow { generation: 9, service: service("linear"), ..work };
    assert!(matches!(store.replace_connection(&moved), Err(ConnectionError::Absent)));
    // The same generation under another cap.
    let capped = ConnectionRow { cap: Access::Read, sealed: vec![7], ..stored.clone() };
    store.set_cap(&capped, &grant(1, &capped), &stored).unwrap();
    let late = store.set_cap(&capped, &grant(2, &capped), &stored);
    assert!(matches!(late, Err(ConnectionError::Changed)));
    assert_eq!(store.connection(member(), capped.id).unwrap().as_ref(), Some(&capped));
    let outdated = ConnectionRow { generation: 3, ..capped.clone() };
    let refused = store.set_cap(&outdated, &grant(2, &outdated), &capped);
    assert!(matches!(refused, Err(ConnectionError::NotNewer { stored: 4 })));
}

pub(crate) fn a_connection_is_kept_with_its_grant_or_not_at_all(bench: &dyn Bench) {
    let store = bench.store();
    let work = connection(1, "work");
    store.keep_connection(&work, &grant(1, &work), None).unwrap();
    assert_eq!(store.grants(&GrantFilter::default()).unwrap(), [grant(1, &work)]);
    // A grant that is none of its own undoes the whole step.
    let other = connection(2, "other");
    for wrong in [grant(2, &work), GrantRow { member: somebody_else(), ..grant(2, &other) }, grant(1, &other)]
    {
        let refused = store.keep_connection(&other, &wrong, None);
        assert!(matches!(refused, Err(ConnectionError::Grant)), "{wrong:?}");
    }
    assert_eq!(store.connections(member()).unwrap().as_slice(), std::slice::from_ref(&work));
    let newer = ConnectionRow { generation: 1, sealed: vec![9], ..work.clone() };
    let same = store.keep_connection(&work, &grant(3, &work), Some(&work));
    assert!(matches!(same, Err(ConnectionError::NotNewer { stored: 0 })));
    store.keep_connection(&newer, &grant(3, &newer), Some(&work)).unwrap();
    // Who looked before that comes too late, whatever he wants.
    let late = ConnectionRow { generation: 2, ..newer.clone() };
    let refused = store.keep_connection(&late, &grant(4, &late), Some(&work));
    assert!(matches!(refused, Err(ConnectionError::Changed)));
    assert!(matches!(store.renew_grant(&grant(4, &work), &work), Err(GrantError::Changed)));
    // The reads of the older generation are not revoked: who runs under them goes on.
    assert!(!store.is_revoked(&grant_id(1)).unwrap());
    assert_eq!(store.grants(&GrantFilter::default()).unwrap(), [grant(3, &newer)]);
    let another = connection(3, "work");
    let refused = store.keep_connection(&another, &grant(4, &another), Some(&work));
    assert!(matches!(refused, Err(ConnectionError::Changed)));
    store.keep_connection(&another, &grant(4, &another), Some(&newer)).unwrap();
    // So does whoever holds a grant of the one that gave way, stored or not.
    assert!(store.has_ended(&work.id).unwrap() && !store.has_ended(&another.id).unwrap());
    assert!(store.is_revoked(&grant_id(3)).unwrap());
    assert_eq!(store.connections(member()).unwrap().as_slice(), std::slice::from_ref(&another));
    assert_eq!(store.grants(&GrantFilter::default()).unwrap(), [grant(4, &another)]);
}

pub(crate) fn a_cap_that_is_read_again_ends_what_it_no_longer_covers(bench: &dyn Bench) {
    let store = bench.store();
    let (work, read) = furnished(&*store);
    let (pending, approved, approval) = pending_and_approved(&*store);
    let write = GrantRow { access: Access::Write, ..grant(60, &work) };
    store.put_grant(&write).unwrap();
    let lowered = ConnectionRow { cap: Access::Read, sealed: vec![7], ..work.clone() };
    store.set_cap(&lowered, &grant(61, &lowered), &work).unwrap();
    assert!(store.is_revoked(&approval).unwrap() && store.is_revoked(&write.id).unwrap());
    assert!(!store.is_revoked(&read.id).unwrap());
    assert_eq!(store.grants(&GrantFilter::default()).unwrap(), [grant(61, &lowered)]);
    for id in [pending.id, approved.id] {
        // She has said no to neither.
        let taken = store.take(the_bot(), id, NOW);
        assert!(matches!(taken, Err(TakeError::NotApproved(QuestionState::Expired))));
    }
}

pub(crate) fn what_ends_with_a_connection_ends_at_once(bench: &dyn Bench) {
    let store = bench.store();
    let (work, read) = furnished(&*store);
    let (pending, approved, approval) = pending_and_approved(&*store);
    let mut ended = store.remove_connection(member(), work.id).unwrap();
    ended.sort();
    let mut wanted = vec![read.id, approval];
    wanted.sort();
    assert_eq!(ended, wanted);
    assert!(ended.iter().all(|grant| store.is_revoked(grant).unwrap()));
    assert!(store.has_ended(&work.id).unwrap());
    assert_eq!(store.grants(&GrantFilter::default()).unwrap(), []);
    assert_eq!(store.connections(member()).unwrap(), []);
    let denied =
        |found: Result<_, TakeError>| matches!(found, Err(TakeError::NotApproved(QuestionState::Denied)));
    assert!(
        denied(store.take(the_bot(), approved.id, NOW)) && denied(store.take(the_bot(), pending.id, NOW))
    );
    let again = store.answer(member(), pending.id, yes(approval), NOW);
    assert!(matches!(again, Err(AnswerError::NotPending(QuestionState::Denied))));
    // Whoever was about to renew its grant comes too late.
    assert!(matches!(store.put_grant(&grant(9, &work)), Err(GrantError::NoConnection)));
    assert!(matches!(store.remove_connection(member(), work.id), Err(ConnectionError::Absent)));
}

pub(crate) fn a_newer_read_grant_takes_the_place_of_the_older(bench: &dyn Bench) {
    let store = bench.store();
    let (work, older) = furnished(&*store);
    let home = connection(2, "home");
    store.insert_connection(&home).unwrap();
    let newer = GrantRow { expires_at: NOW.plus_secs(2 * HOUR), ..grant(9, &work) };
    let write = GrantRow { access: Access::Write, ..grant(10, &work) };
    let of_another_bot = GrantRow { bot: key(KeyKind::Bot, 77).public().id(), ..grant(11, &work) };
    let of_home = GrantRow { expires_at: NOW, ..grant(12, &home) };
    for row in [&newer, &write, &of_another_bot, &of_home] {
        store.put_grant(row).unwrap();
    }
    let all = store.grants(&GrantFilter::default()).unwrap();
    assert!(!all.contains(&older) && all.len() == 4);
    assert_eq!((all.first(), all.last()), (Some(&newer), Some(&of_home)));
    assert!(!store.is_revoked(&older.id).unwrap());
    let only = |filter: GrantFilter| store.grants(&filter).unwrap();
    assert_eq!(only(GrantFilter { connection: Some(home.id), ..GrantFilter::default() }), [of_home]);
    assert_eq!(
        only(GrantFilter { bot: Some(of_another_bot.bot), ..GrantFilter::default() }),
        [of_another_bot]
    );
    assert_eq!(only(GrantFilter { access: Some(Access::Write), ..GrantFilter::default() }), [write]);
    assert_eq!(only(GrantFilter { member: Some(somebody_else()), ..GrantFilter::default() }), []);
    assert_eq!(only(GrantFilter { service: Some(service("linear")), ..GrantFilter::default() }), []);
    assert_eq!(only(GrantFilter { service: Some(service("github")), ..GrantFilter::default() }).len(), 4);
    assert!(matches!(store.put_grant(&newer), Err(GrantError::IdTaken)));
    // A grant of somebody else's connection is none.
    let stranger = GrantRow { member: somebody_else(), ..grant(13, &work) };
    assert!(matches!(store.put_grant(&stranger), Err(GrantError::NoConnection)));
}

pub(crate) fn a_grant_is_removed_or_revoked_by_its_member(bench: &dyn Bench) {
    let store = bench.store();
    let (work, read) = furnished(&*store);
    assert_eq!(store.remove_grant(somebody_else(), read.id).unwrap(), Removal::Absent);
    assert_eq!(store.revoke_grant(somebody_else(), read.id).unwrap(), Removal::Absent);
    assert!(!store.is_revoked(&read.id).unwrap());
    assert_eq!(store.remove_grant(member(), read.id).unwrap(), Removal::Removed);
    assert_eq!(store.remove_grant(member(), read.id).unwrap(), Removal::Absent);
    assert!(!store.is_revoked(&read.id).unwrap());
    let another = grant(9, &work);
    store.put_grant(&another).unwrap();
    assert_eq!(store.revoke_grant(member(), another.id).unwrap(), Removal::Removed);
    assert!(store.is_revoked(&another.id).unwrap());
    assert_eq!(store.grants(&GrantFilter::default()).unwrap(), []);
}

/// Each column, changed behind the store's back: to what is none of its words, and to what is one.
pub(crate) fn a_tampered_row_is_refused_and_named(bench: &dyn Bench) {
    let changes = [
        ("member", "'nobody'"),
        ("service", "'No Service'"),
        ("label", "' '"),
        ("account", "''"),
        ("host", "'127.0.0.1'"),
        ("gen", "'9'"),
    ];
    for (column, value) in changes {
        let work = connection(1, "work");
        assert!(bench.change("DELETE FROM connections"));
        bench.store().insert_connection(&work).unwrap();
        let id = work.id.to_string();
        assert!(bench.change(&format!("UPDATE connections SET {column} = {value}")));
        let found = bench.store().connection(member(), work.id);
        match column {
            // Somebody else's now, and no number for what is none.
            "member" => assert_eq!(found.unwrap(), None),
            "gen" => assert_eq!(found.unwrap().unwrap().generation, 9),
            _ => assert!(is_tampered(&found.unwrap_err(), Table::Connections, &id), "{column}"),
        }
    }
    assert!(bench.change("DELETE FROM connections"));
    let (_, read) = furnished(&*bench.store());
    assert!(bench.change("UPDATE grants SET bot = 'x'"));
    let found = bench.store().grants(&GrantFilter::default());
    assert!(is_tampered(&found.unwrap_err(), Table::Grants, &read.id.to_string()));
    // An id is shown as text, whatever it is.
    assert!(bench.change(&format!("UPDATE grants SET id = '\u{1b}[2J{}'", "0".repeat(1_800))));
    match bench.store().grants(&GrantFilter::default()).unwrap_err() {
        StoreError::Tampered { id, .. } => assert!(id.len() < 100 && !id.contains('\u{1b}'), "{id:?}"),
        other => panic!("{other}"),
    }
}

pub(crate) fn a_connection_is_held_against_what_it_seals(bench: &dyn Bench) {
    let member_key = key(KeyKind::Member, 1);
    let credential = credential(1, "work");
    let sealed = seal_credential(&credential, &member_key, &mut rng(9)).unwrap();
    let row = ConnectionRow::new(&credential, member(), NOW, sealed);
    let store = bench.store();
    store.insert_connection(&row).unwrap();
    let row = store.connection(member(), row.id).unwrap().unwrap();
    let opened = pinhole_grant::open_credential(&row.sealed, &member_key).unwrap();
    row.check(&opened).unwrap();
    let other = connection(2, "other");
    let changed = [
        ConnectionRow { id: other.id, ..row.clone() },
        ConnectionRow { service: service("linear"), ..row.clone() },
        ConnectionRow { label: other.label, ..row.clone() },
        ConnectionRow { account: pinhole_grant::Account::parse("owl").unwrap(), ..row.clone() },
        ConnectionRow { host: pinhole_manifest::ApiHost::parse("api.linear.app").unwrap(), ..row.clone() },
        ConnectionRow { cap: Access::Read, ..row.clone() },
        ConnectionRow { dial: pinhole_grant::Dial::Overridden, ..row.clone() },
        ConnectionRow { generation: 1, ..row.clone() },
    ];
    for row in changed {
        assert!(
            is_tampered(&row.check(&opened).unwrap_err(), Table::Connections, &row.id.to_string()),
            "{row:?}"
        );
    }
    assert!(!format!("{row:?}").contains("ghp_"));
}

pub(crate) fn a_question_is_held_against_its_digest(bench: &dyn Bench) {
    let asked = Asked::new("A title");
    let manifest = manifest();
    let parse = |text: &str| manifest.op(&asked.op).unwrap().args.parse_text(text).unwrap();
    for change in [
        "args = replace(args, 'A title', 'Another')",
        "account = 'owl'",
        "op = 'close_issue'",
        "service = 'linear'",
        "manifest = 'sha256:0000000000000000000000000000000000000000000000000000000000000000'",
        "bot = member",
        "action = 'sha256:0000000000000000000000000000000000000000000000000000000000000000'",
    ] {
        assert!(bench.change("DELETE FROM questions"));
        let raised = asked.raise(&*bench.store(), 1, NOW).unwrap();
        raised.check(&asked.args).unwrap();
        raised.check(&parse(&raised.args)).unwrap();
        assert!(bench.change(&format!("UPDATE questions SET {change}")));
        let found = bench.store().question(Party::Member(member()), question_id(1), NOW).unwrap().unwrap();
        let refused = found.check(&parse(&found.args)).unwrap_err();
        assert!(is_tampered(&refused, Table::Questions, &found.id.to_string()), "{change}");
    }
}

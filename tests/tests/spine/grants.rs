//! Grants that do not open or do not cover the call: each refused by its own name, before anything is sent.

use std::net::Ipv4Addr;
use std::sync::Arc;

use pinhole_grant::{Dial, KeyKind, Kind, SecretKey, SourceName, UnixTime, seal};
use pinhole_manifest::{ApiHost, Digest};
use pinhole_runtime::catalog::{BuiltIn, Catalog, Source};
use pinhole_runtime::net::{NetSettings, PinnedClient, Sent};
use pinhole_runtime::outcome::Code;
use pinhole_runtime::store::{SqliteStore, Store as _};
use pinhole_tests::{Answers, Granting, HOUR, NOW, Setup, Stage, altered, op_name, resigned, signed, thing};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use serde_json::{Value, json};

use crate::common::{Provoked, comment_args, is, issue_args, refusal, repo_args};

pub(crate) fn other(kind: KeyKind) -> SecretKey {
    SecretKey::generate(kind, &mut UnwrapErr(SysRng))
}

/// Runs a read of GitHub's under a grant that `make` makes.
async fn read_under(make: impl FnOnce(&mut Stage) -> Vec<u8>) -> Provoked {
    let mut stage = Setup::github().start().await;
    let grant = make(&mut stage);
    let outcome = stage.run("github.get_repo", &repo_args(), &grant).await;
    Provoked { stage, outcome }
}

/// Runs an op under a grant that `make` makes.
pub(crate) async fn run_under(
    setup: Setup,
    name: &str,
    args: &Value,
    make: impl FnOnce(Granting<'_>) -> Granting<'_>,
) -> Provoked {
    let stage = setup.start().await;
    let (service, _) = op_name(name);
    let grant = make(stage.grant(service.as_str())).seal();
    let outcome = stage.run(name, args, &grant).await;
    Provoked { stage, outcome }
}

pub(crate) async fn malformed() -> Provoked {
    read_under(|_| b"{}".to_vec()).await
}

pub(crate) async fn another_bots() -> Provoked {
    read_under(|stage| stage.grant("github").to(other(KeyKind::Bot).public()).seal()).await
}

/// One letter of the ciphertext is another.
pub(crate) async fn flipped() -> Provoked {
    read_under(|stage| {
        let mut envelope: Value = serde_json::from_slice(&stage.grant("github").seal()).unwrap();
        let sealed = envelope["ct"].as_str().unwrap();
        let flipped = if sealed.starts_with('A') { "B" } else { "A" };
        envelope["ct"] = json!(format!("{flipped}{}", &sealed[1..]));
        envelope.to_string().into_bytes()
    })
    .await
}

pub(crate) async fn a_strangers() -> Provoked {
    read_under(|stage| {
        stage.executor.issuers = vec![other(KeyKind::Member).public().clone()];
        stage.grant("github").seal()
    })
    .await
}

pub(crate) async fn badly_signed() -> Provoked {
    read_under(|stage| resigned(stage, &stage.grant("github").seal(), &other(KeyKind::Member))).await
}

/// Signed by the member, but for another account than the credential's.
pub(crate) async fn inconsistent() -> Provoked {
    read_under(|stage| altered(stage, &stage.grant("github").seal(), "/account", json!("somebody-else")))
        .await
}

pub(crate) async fn too_early() -> Provoked {
    read_under(|stage| {
        stage.clock.set(-61);
        stage.grant("github").seal()
    })
    .await
}

pub(crate) async fn too_late() -> Provoked {
    read_under(|stage| {
        stage.clock.set(HOUR);
        stage.grant("github").seal()
    })
    .await
}

pub(crate) async fn revoked() -> Provoked {
    read_under(|stage| {
        let (id, grant) = stage.grant("github").seal_with_id();
        stage.store.revoke(&id).unwrap();
        grant
    })
    .await
}

async fn ask_for(name: &str) -> Provoked {
    let stage = Setup::github().start().await;
    let grant = stage.grant("github").seal();
    let outcome = stage.run(name, &json!({}), &grant).await;
    Provoked { stage, outcome }
}

pub(crate) async fn of_no_service() -> Provoked {
    ask_for("nowhere.get_repo").await
}

/// A door lets it begin no more; how a door comes to that is held where doors are.
pub(crate) async fn turned_away() -> Provoked {
    let stage = Setup::github().start().await;
    let (service, op) = op_name("github.get_repo");
    let outcome = pinhole_runtime::Outcome::turned_away(service, op, Code::Busy, Some(1));
    Provoked { stage, outcome }
}

/// Its registry has signed nothing for too long.
pub(crate) async fn of_a_stale_service() -> Provoked {
    let github = BuiltIn::of("github").unwrap().manifest;
    of_a_signed_service(github, NOW).await
}

/// Its manifest does not load.
pub(crate) async fn of_an_unreadable_service() -> Provoked {
    of_a_signed_service(b"{}", UnixTime::from_secs(i64::MAX)).await
}

async fn of_a_signed_service(manifest: &[u8], expires: UnixTime) -> Provoked {
    let mut setup = Setup::github().and(&thing());
    setup.catalog.add_signed(signed("github", manifest, expires, &[])).unwrap();
    let stage = setup.start().await;
    let grant = stage.grant("thing").seal();
    let outcome = stage.run("github.get_repo", &repo_args(), &grant).await;
    Provoked { stage, outcome }
}

pub(crate) async fn of_no_op() -> Provoked {
    ask_for("github.delete_everything").await
}

pub(crate) async fn of_another_service() -> Provoked {
    let stage = Setup::github().and(&thing()).start().await;
    let grant = stage.grant("github").seal();
    let outcome = stage.run("thing.touch_thing", &json!({}), &grant).await;
    Provoked { stage, outcome }
}

/// The credential was given for another host than the manifest's.
pub(crate) async fn of_another_host() -> Provoked {
    run_under(Setup::github(), "github.get_repo", &repo_args(), |grant| {
        grant.with(|credential| credential.host = ApiHost::parse("api.github.dev").unwrap())
    })
    .await
}

pub(crate) async fn of_another_manifest() -> Provoked {
    run_under(Setup::github(), "github.get_repo", &repo_args(), |grant| {
        grant.asking(|request| request.manifest = Digest::of(b"another manifest"))
    })
    .await
}

/// The same manifest, byte for byte, but from a file of somebody's.
pub(crate) async fn of_another_source() -> Provoked {
    let mut catalog = Catalog::default();
    catalog.add(BuiltIn::of("github").unwrap().manifest, Source::UnsignedFile).unwrap();
    run_under(Setup { catalog, ..Setup::github() }, "github.get_repo", &repo_args(), |grant| {
        grant.with(|credential| credential.registry = SourceName::parse(Source::BuiltIn.name()).unwrap())
    })
    .await
}

pub(crate) async fn for_the_real_host() -> Provoked {
    run_under(Setup::github(), "github.get_repo", &repo_args(), |grant| {
        grant.with(|credential| credential.dial = Dial::Real)
    })
    .await
}

pub(crate) async fn of_other_ops() -> Provoked {
    run_under(Setup::github(), "github.get_repo", &repo_args(), |grant| grant.ops(&["get_viewer"])).await
}

pub(crate) async fn of_other_args() -> Provoked {
    run_under(Setup::github(), "github.get_repo", &repo_args(), |grant| {
        grant.narrowed("repo", &[json!("beacon"), json!("Lantern")])
    })
    .await
}

pub(crate) async fn that_only_reads() -> Provoked {
    run_under(Setup::github(), "github.create_issue", &issue_args("A title"), |grant| grant).await
}

/// Commenting tells people, which cannot be taken back.
pub(crate) async fn that_approves_nothing() -> Provoked {
    run_under(Setup::github(), "github.comment_issue", &comment_args("Hello"), |grant| grant.write(5)).await
}

pub(crate) async fn that_approves_another() -> Provoked {
    let stage = Setup::github().start().await;
    let grant = stage.approval("github.create_issue", &issue_args("What was approved")).seal();
    let outcome = stage.run("github.create_issue", &issue_args("What was not"), &grant).await;
    Provoked { stage, outcome }
}

pub(crate) async fn with_invalid_args() -> Provoked {
    run_under(Setup::github(), "github.get_repo", &json!({"owner": 7}), |grant| grant).await
}

pub(crate) async fn with_a_refused_arg() -> Provoked {
    run_under(Setup::github(), "github.get_repo", &json!({"owner": "..", "repo": "user"}), |grant| grant)
        .await
}

#[tokio::test]
async fn what_is_no_grant_is_refused_as_such() {
    let stage = Setup::github().start().await;
    let grant = stage.grant("github").seal();
    let mut other_kind: Value = serde_json::from_slice(&grant).unwrap();
    other_kind["kind"] = json!("credential");
    let signed_nonsense = pinhole_grant::sign::sign(Kind::Grant, b"{}", &stage.member).unwrap();
    let bot = stage.executor.bot.public();
    let seal_up = |inside: &[u8]| seal::seal(Kind::Grant, bot, inside, &mut UnwrapErr(SysRng)).unwrap();
    let attempts = [
        Vec::new(),
        b"null".to_vec(),
        vec![0xff; 64],
        vec![b'['; 1 << 20],
        grant[..grant.len() - 1].to_vec(),
        [&grant[..], b"{}"].concat(),
        other_kind.to_string().into_bytes(),
        seal_up(b"not signed"),
        seal_up(&signed_nonsense),
    ];
    for attempt in attempts {
        let outcome = stage.run("github.get_repo", &repo_args(), &attempt).await;
        assert_eq!(refusal(&outcome).code, Code::GrantMalformed);
    }
    assert_eq!(stage.standin.connections(), 0);
}

#[tokio::test]
async fn a_grant_that_its_bot_sealed_on_to_this_one_is_refused() {
    let stage = Setup::github().start().await;
    let first = other(KeyKind::Bot);
    let grant = stage.grant("github").to(first.public()).seal();
    let inside = seal::open(Kind::Grant, &grant, &first).unwrap();
    let passed_on =
        seal::seal(Kind::Grant, stage.executor.bot.public(), &inside, &mut UnwrapErr(SysRng)).unwrap();
    let outcome = stage.run("github.get_repo", &repo_args(), &passed_on).await;
    Provoked { stage, outcome }.is_before_connecting(Code::WrongBot);
}

#[tokio::test]
async fn a_member_cannot_make_what_minting_refuses() {
    let stage = Setup::github().start().await;
    let read = stage.grant("github").seal();
    let write = stage.grant("github").write(1).seal();
    for (grant, pointer, value) in [
        (&read, "/service", json!("gitlab")),
        (&read, "/host", json!("api.evil.dev")),
        (&read, "/credential/host", json!("api.evil.dev")),
        (&read, "/issuer", json!(other(KeyKind::Member).public().id())),
        (&read, "/expires_at", json!(NOW.plus_secs(91 * 24 * HOUR))),
        (&write, "/expires_at", json!(NOW.plus_secs(25 * HOUR))),
        (&write, "/credential/cap", json!("read")),
    ] {
        let forged = altered(&stage, grant, pointer, value);
        let outcome = stage.run("github.get_repo", &repo_args(), &forged).await;
        assert_eq!(refusal(&outcome).code, Code::GrantInconsistent, "{pointer}");
    }
    assert_eq!(stage.standin.connections(), 0);
}

#[tokio::test]
async fn a_minute_of_skew_helps_at_the_beginning_alone() {
    let stage = Setup::github().start().await;
    let grant = stage.grant("github").seal();
    stage.clock.set(-60);
    let outcome = stage.run("github.get_repo", &repo_args(), &grant).await;
    assert!(outcome.result().is_some(), "{}", outcome.to_json());
    stage.clock.set(HOUR - 1);
    assert!(stage.run("github.get_repo", &repo_args(), &grant).await.result().is_some());
    stage.clock.set(HOUR);
    let outcome = stage.run("github.get_repo", &repo_args(), &grant).await;
    assert_eq!(refusal(&outcome).code, Code::GrantExpired);
}

#[tokio::test]
async fn a_clock_set_back_revives_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = || Arc::new(SqliteStore::open_home(folder.path()).unwrap());
    let mut stage = Setup { store: store(), ..Setup::github() }.start().await;
    let grant = stage.grant("github").seal();
    stage.clock.set(HOUR);
    let expired = stage.run("github.get_repo", &repo_args(), &grant).await;
    assert_eq!(refusal(&expired).code, Code::GrantExpired);
    for set_back in [0, -HOUR, HOUR - 1] {
        stage.clock.set(set_back);
        // As another process would find it.
        stage.executor.store = store();
        let outcome = stage.run("github.get_repo", &repo_args(), &grant).await;
        assert_eq!(refusal(&outcome).code, Code::GrantExpired, "set to {set_back}");
    }
    assert_eq!(stage.standin.connections(), 0);
}

#[tokio::test]
async fn a_revoked_grant_stays_revoked_for_the_next_process() {
    let folder = tempfile::tempdir().unwrap();
    let store = || Arc::new(SqliteStore::open_home(folder.path()).unwrap());
    let mut stage = Setup { store: store(), ..Setup::github() }.start().await;
    let (id, grant) = stage.grant("github").seal_with_id();
    let (_, another) = stage.grant("github").seal_with_id();
    store().revoke(&id).unwrap();
    stage.executor.store = store();
    let outcome = stage.run("github.get_repo", &repo_args(), &grant).await;
    assert_eq!(refusal(&outcome).code, Code::GrantRevoked);
    assert!(stage.run("github.get_repo", &repo_args(), &another).await.result().is_some());
}

#[tokio::test]
async fn a_key_of_a_stand_in_goes_to_no_real_host() {
    let mut stage = Setup::github().start().await;
    let answers = Answers(vec![Ipv4Addr::new(140, 82, 121, 6).into()]);
    let client = PinnedClient::with_lookup(NetSettings::default(), Arc::new(answers));
    stage.executor.wire = Arc::new(client.unwrap());
    let grant = stage.grant("github").with(|credential| credential.dial = Dial::Overridden).seal();
    let outcome = stage.run("github.get_viewer", &json!({}), &grant).await;
    is(&outcome, Code::DialMismatch, Sent::No);
}

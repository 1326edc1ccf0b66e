//! Calls on what is stored: the bot reads under its grant of a connection, without the member's key, until that ends.

use pinhole_grant::{Credential, CredentialParts, Dial, KeyKind, MintRequest, Scope, SecretKey, UnixTime};
use pinhole_manifest::{Access, Digest};
use pinhole_runtime::store::{ConnectionRow, Connections as _, GrantRow, SqliteStore};
use pinhole_standin::{Config, GithubWorld, World};
use serde_json::{Value, json};

use crate::home::{Home, KEY, Ran};
use crate::stage::{READ, Stage, WRITE};

const DAY: i64 = 24 * 60 * 60;

fn run(home: &Home, stage: &Stage, what: &[&str]) -> Ran {
    home.run(&stage.args(home, &[&["run"], what, &["--json"]].concat()).words())
}

fn explain(home: &Home, stage: &Stage, what: &[&str]) -> Ran {
    home.run(&stage.args(home, &[&["explain"], what, &["--json"]].concat()).words())
}

/// The machine's clock has been so far ahead once.
fn pass(home: &Home, seconds: i64) {
    home.database().execute("UPDATE clock SET latest = latest + ?1", [seconds]).unwrap();
}

fn posts(stage: &Stage) -> usize {
    stage.standin.requests().iter().filter(|seen| seen.method == "POST").count()
}

#[test]
fn the_bot_needs_nothing_of_the_members_but_her_public_key() {
    let (home, stage) = (Home::guarded(), Stage::new());
    home.connect_for_writes(&stage);
    let member = home.path("keys/member.json");
    let key = std::fs::read(&member).unwrap();
    let mut asked: Option<Value> = None;
    for spoil in [None, Some(&b"garbage"[..]), Some(b"")] {
        match spoil {
            None => std::fs::remove_file(&member).unwrap(),
            Some(bytes) => std::fs::write(&member, bytes).unwrap(),
        }
        run(&home, &stage, &READ).expect(0);
        run(&home, &stage, &["github.list_repos"]).expect(0);
        let question = run(&home, &stage, &WRITE).expect(3).refusal("approval_required")["question"].clone();
        assert_eq!(asked.get_or_insert(question.clone()), &question, "the same write is another question");
    }
    assert_eq!((posts(&stage), home.rows("questions").len()), (0, 1));
    assert!(stage.keys().iter().all(|given| given == KEY));
    // She who is to answer needs hers.
    let [flag, passphrase] = home.passphrase();
    let approve =
        ["approvals", "approve", asked.as_ref().and_then(Value::as_str).unwrap(), &flag, &passphrase];
    home.run(&approve).expect(6);
    std::fs::write(&member, key).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&member, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    home.run(&approve).expect(0);
    run(&home, &stage, &WRITE).expect(0);
    assert_eq!(posts(&stage), 1);
}

#[test]
fn whose_connections_they_are_is_her_public_key_s_to_say() {
    let (home, stage) = (Home::new(), Stage::new());
    home.connect(&stage, &[]).expect(0);
    let sent = stage.requests();
    let published = home.path("keys/member.pub");
    let hers = std::fs::read(&published).unwrap();
    let somebody = Home::new();
    std::fs::write(&published, format!("{}\n", somebody.public("member"))).unwrap();
    run(&home, &stage, &READ).expect(3).refusal("not_connected");
    for broken in [home.bot().as_bytes(), b"", b"pin1", b"\xff"] {
        std::fs::write(&published, broken).unwrap();
        let ran = run(&home, &stage, &READ).expect(6);
        assert!(ran.stderr.contains("member.pub"), "{}", ran.stderr);
    }
    std::fs::write(&published, &hers).unwrap();
    assert_eq!(stage.requests(), sent);
    run(&home, &stage, &READ).expect(0);
    // Where it is missing, the file of her private key has it too.
    std::fs::remove_file(&published).unwrap();
    run(&home, &stage, &READ).expect(0);
}

#[test]
fn pages_are_followed_on_a_connection_and_a_token_is_good_on_it_alone() {
    let world = GithubWorld { repositories: 5, ..GithubWorld::default() };
    let (home, stage) = (Home::new(), Stage::with(Config::new(World::Github(world))));
    let list = ["github.list_org_repo_names", "--args", r#"{"org":"pinhole-demo","per_page":2}"#];
    home.connect(&stage, &["--label", "work"]).expect(0);
    let all = home.run(&stage.args(&home, &[&["run"], &list[..], &["--all"]].concat()).words()).expect(0);
    assert_eq!(all.stdout.lines().count(), 5);
    let first = run(&home, &stage, &list).expect(0).json();
    let next = first["next"].as_str().unwrap();
    let go_on = |flags: &[&str]| run(&home, &stage, &[&list[..], &["--next", next], flags].concat());
    let second = go_on(&[]).expect(0).json();
    assert_ne!(second["result"], first["result"]);
    // A newer key and a newer grant are of the same connection; another connection is not.
    home.connect(&stage, &["--label", "work"]).expect(0);
    home.run(&["connections", "renew"]).expect(0);
    assert_eq!(go_on(&[]).expect(0).json()["result"], second["result"]);
    home.connect(&stage, &["--label", "home"]).expect(0);
    let sent = stage.requests();
    go_on(&["--connection", "home"]).expect(3).refusal("page_token_mismatch");
    assert_eq!(stage.requests(), sent);
    assert_eq!(go_on(&["--connection", "work", "--all"]).expect(0).stdout.lines().count(), 2);
}

/// A connection that was proved against the real host, made from one that was not.
fn proved_for_real(home: &Home) {
    let key = |name: &str| {
        let file = std::fs::read(home.path(&format!("keys/{name}.json"))).unwrap();
        SecretKey::from_file(&file, None).unwrap()
    };
    let (member, bot) = (key("member"), key("bot"));
    assert_eq!((member.public().kind(), bot.public().kind()), (KeyKind::Member, KeyKind::Bot));
    let store = SqliteStore::open_home(&home.path("")).unwrap();
    let row = store.connections(member.public().id()).unwrap().remove(0);
    let opened = pinhole_grant::open_credential(&row.sealed, &member).unwrap();
    let mut rng = rand::rand_core::UnwrapErr(rand::rngs::SysRng);
    let id = pinhole_grant::CredentialId::random(&mut rng);
    let real = Credential::new(CredentialParts { id, dial: Dial::Real, ..opened.into_parts() }).unwrap();
    let sealed = pinhole_grant::seal_credential(&real, &member, &mut rng).unwrap();
    let manifest =
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../manifests/github/manifest.json"));
    let now = UnixTime::from_secs(
        home.database().query_one("SELECT latest FROM clock", [], |row| row.get(0)).unwrap(),
    );
    let scope = Scope::new(Access::Read, now, now.plus_secs(DAY));
    let request = MintRequest::new(bot.public().clone(), Digest::of(manifest), scope);
    let grant = pinhole_grant::mint(&request, &real, &member, now, &mut rng).unwrap();
    let grant = GrantRow::new(grant, &request, &real, row.member);
    let connection = ConnectionRow::new(&real, row.member, now, sealed);
    store.keep_connection(&connection, &grant, Some(&row)).unwrap();
}

#[test]
fn a_key_goes_where_it_was_proved_and_nowhere_else() {
    let (home, stage) = (Home::new(), Stage::new());
    home.connect(&stage, &[]).expect(0);
    let connections = stage.connections();
    // One for a stand-in never goes to the real host.
    for command in ["run", "explain"] {
        let ran = home.run(&[&[command], &READ[..], &["--json"]].concat()).expect(3);
        assert_eq!(ran.refusal("dial_mismatch")["sent"], "no");
    }
    proved_for_real(&home);
    assert!(!home.run(&["connections"]).expect(0).stdout.contains("stand-in"));
    for what in [&READ[..], &["github.list_repos", "--all"]] {
        run(&home, &stage, what).expect(3).refusal("dial_mismatch");
    }
    explain(&home, &stage, &READ).expect(3).refusal("dial_mismatch");
    assert_eq!(stage.connections(), connections, "a real key was dialled elsewhere");
    // So that the above was the dial's doing.
    let explained = home.run(&[&["explain"], &READ[..], &["--json"]].concat()).expect(0).json();
    assert_eq!(explained["would"], "run");
}

#[test]
fn a_read_grant_ends_after_thirty_days_and_is_renewed_by_her_presence() {
    let (home, stage) = (Home::guarded(), Stage::new());
    home.connect_for_writes(&stage);
    let [flag, passphrase] = home.passphrase();
    let question = run(&home, &stage, &WRITE).expect(3).refusal("approval_required")["question"].clone();
    let question = question.as_str().unwrap();
    let expired = || {
        let connections = stage.connections();
        let refusal = run(&home, &stage, &READ).expect(3).refusal("grant_expired");
        assert!(refusal["hint"].as_str().unwrap().contains("connections renew"), "{refusal}");
        explain(&home, &stage, &READ).expect(3).refusal("grant_expired");
        run(&home, &stage, &WRITE).expect(3).refusal("grant_expired");
        let list = home.run(&["connections", "--json"]).expect(0).json();
        assert_eq!(list[0]["reads_until"], json!(null));
        assert_eq!(stage.connections(), connections);
    };
    pass(&home, 30 * DAY - 100);
    run(&home, &stage, &READ).expect(0);
    pass(&home, 101);
    expired();
    // The question is over by then; to approve a new one renews all the same, and so does each other way of being there.
    home.run(&["approvals", "approve", question, &flag, &passphrase]).expect(3);
    let home_again = || home.connect(&stage, &["--label", "other", &flag, &passphrase]).expect(0);
    let cap = |cap: &str| {
        home.run(&["connections", "cap", "github", "--label", "default", cap, &flag, &passphrase]).expect(0)
    };
    let there: [&dyn Fn() -> Ran; 4] = [
        &|| home.run(&["connections", "renew", &flag, &passphrase]).expect(0),
        &home_again,
        &|| cap("read"),
        &|| cap("write"),
    ];
    for be_there in there {
        be_there();
        run(&home, &stage, &[&READ[..], &["--connection", "default"]].concat()).expect(0);
        pass(&home, 30 * DAY - 100);
        run(&home, &stage, &[&READ[..], &["--connection", "default"]].concat()).expect(0);
        pass(&home, 101);
        run(&home, &stage, &[&READ[..], &["--connection", "default"]].concat())
            .expect(3)
            .refusal("grant_expired");
    }
    // Nothing renews without her.
    home.run(&["connections", "renew", "--passphrase-file", &home.write("wrong.txt", "wrong")]).expect(3);
    run(&home, &stage, &[&READ[..], &["--connection", "default"]].concat())
        .expect(3)
        .refusal("grant_expired");
}

#[test]
fn a_yes_renews_what_the_bot_may_read() {
    let (home, stage) = (Home::guarded(), Stage::new());
    home.connect_for_writes(&stage);
    let [flag, passphrase] = home.passphrase();
    let question = run(&home, &stage, &WRITE).expect(3).refusal("approval_required")["question"].clone();
    home.database().execute("DELETE FROM grants", []).unwrap();
    run(&home, &stage, &READ).expect(3).refusal("no_stored_grant");
    home.run(&["approvals", "approve", question.as_str().unwrap(), &flag, &passphrase]).expect(0);
    run(&home, &stage, &READ).expect(0);
    run(&home, &stage, &WRITE).expect(0);
    assert_eq!(posts(&stage), 1);
}

#[test]
fn explain_says_what_a_call_on_a_connection_would_do_and_does_nothing() {
    let (home, stage) = (Home::guarded(), Stage::new());
    let [flag, passphrase] = home.passphrase();
    for what in [&READ[..], &WRITE] {
        let ran = explain(&home, &stage, what).expect(3);
        ran.refusal("not_connected");
        assert_eq!(ran.json()["explanation"]["op"], what[0].split_once('.').unwrap().1);
    }
    assert_eq!(stage.connections(), 0);
    home.connect(&stage, &[&flag, &passphrase]).expect(0);
    let (stored, connections) = (home.stored(), stage.connections());
    let read = explain(&home, &stage, &READ).expect(0).hides(KEY).json();
    assert_eq!(read["would"], "run");
    let explanation = &read["explanation"];
    assert_eq!(explanation["request"]["url"], "https://api.github.com/repos/pinhole-demo/lantern");
    let headers = explanation["request"]["headers"].as_array().unwrap();
    assert!(headers.contains(&json!(["authorization", "Bearer <credential>"])), "{headers:?}");
    assert!(explanation["returns"].as_array().unwrap().contains(&json!("full_name")), "{explanation}");
    let refusal = explain(&home, &stage, &WRITE).expect(3).refusal("read_only_connection");
    assert_eq!(refusal, run(&home, &stage, &WRITE).expect(3).refusal("read_only_connection"));
    home.run(&["connections", "cap", "github", "write", &flag, &passphrase]).expect(0);
    let capped = home.stored();
    assert_ne!(capped, stored);
    for _ in 0..2 {
        let write = explain(&home, &stage, &WRITE).expect(0).hides(KEY).json();
        assert_eq!(write["would"], "ask");
        assert_eq!(write["explanation"]["request"]["body"], json!({"title": "The lamp flickers"}));
        let people =
            home.run(&stage.args(&home, &[&["explain"], &WRITE[..]].concat()).words()).expect(0).stdout;
        assert!(
            people.contains("rule: the member would be asked") && people.contains("nothing was sent"),
            "{people}"
        );
    }
    assert_eq!(home.stored(), capped, "an explanation left something behind");
    assert_eq!(stage.connections(), connections, "an explanation dialled");
    // Asked, and answered, it says so; and spends nothing of the answer.
    let question = run(&home, &stage, &WRITE).expect(3).refusal("approval_required")["question"].clone();
    let question = question.as_str().unwrap();
    let rule = |would: &str| {
        let shown = explain(&home, &stage, &WRITE).expect(0).json();
        assert_eq!(shown["would"], would);
        shown["explanation"]["rule"].as_str().unwrap().to_owned()
    };
    assert!(rule("ask").contains(question));
    home.run(&["approvals", "approve", question, &flag, &passphrase]).expect(0);
    assert!(rule("run").contains(question) && rule("run").contains("approved"));
    assert_eq!(posts(&stage), 0);
    run(&home, &stage, &WRITE).expect(0);
    assert_eq!(posts(&stage), 1);
}

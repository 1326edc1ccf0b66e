//! Showing a proposal to the member: whatever a bot writes, what she sees is of her own manifest and connection, and only where
//! nothing differs may she say yes to it.

use pinhole_grant::{
    Account, Credential, CredentialId, CredentialKind, CredentialParts, Dial, KeyKind, Label, Secret,
    SecretKey, SourceName, seal_credential,
};
use pinhole_manifest::{Access, Digest, ServiceId};
use pinhole_runtime::catalog::{Catalog, Source};
use pinhole_runtime::local::Proposed;
use pinhole_runtime::outcome::Proposal;
use pinhole_runtime::store::ConnectionRow;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::altered::altered;
use crate::stage::{NOW, THING, action};

struct World {
    catalog: Catalog,
    row: ConnectionRow,
    /// What an honest bot proposes.
    sound: Value,
    /// The digest of another write.
    other_action: Value,
}

impl World {
    fn new() -> Self {
        let mut catalog = Catalog::default();
        catalog.add(THING.as_bytes(), Source::UnsignedFile).expect("the manifest");
        let mut rng = StdRng::seed_from_u64(7);
        let member = SecretKey::generate(KeyKind::Member, &mut rng);
        let bot = SecretKey::generate(KeyKind::Bot, &mut rng);
        let service = ServiceId::parse("thing").expect("a service");
        let entry = catalog.find(&service).expect("the manifest");
        let account = Account::parse("wren").expect("an account");
        let id = CredentialId::random(&mut rng);
        let credential = Credential::new(CredentialParts {
            id,
            service,
            label: Label::parse("work").expect("a label"),
            account: account.clone(),
            host: entry.manifest.host().clone(),
            token_url: None,
            registry: SourceName::parse("local").expect("a source"),
            kind: CredentialKind::Pat,
            secret: Secret::new("hidden-key".to_owned()).expect("a key"),
            refresh: None,
            expires_at: None,
            renewer: None,
            cap: Access::Write,
            dial: Dial::Real,
        });
        let credential = credential.expect("a credential");
        let sealed = seal_credential(&credential, &member, &mut rng).expect("sealed");
        let row = ConnectionRow::new(&credential, member.public().id(), NOW, sealed);
        let op = entry.manifest.ops().values().find(|op| op.id.as_str() == "add_note").expect("a write");
        let args = op.args.parse_text(r#"{"text":"Buy milk"}"#).expect("args");
        let digest = action(entry, &op.id, &args, (id, &account), bot.public().id()).digest();
        let other = op.args.parse_text(r#"{"text":"Sell milk"}"#).expect("args");
        let other = action(entry, &op.id, &other, (id, &account), bot.public().id()).digest();
        let other_action = other.expect("a digest").to_string().into();
        let sound = json!({
            "service": "thing", "op": "add_note", "args": args.to_json(), "manifest": entry.manifest.digest(),
            "connection": id, "account": "wren", "bot": bot.public(), "confirm": "Write “Buy milk”?",
            "action": digest.expect("a digest"), "found": [],
        });
        let proposal: Proposal = serde_json::from_value(sound.clone()).expect("a proposal");
        let shown = Proposed::of(&proposal, &row, &catalog).expect("a sound one");
        assert_eq!(shown.differs, [], "what an honest bot says is what is found here");
        Self { catalog, row, sound, other_action }
    }
}

thread_local! {
    static WORLD: World = World::new();
}

/// The first byte says what the rest is: a proposal, or changes to a sound one.
pub fn proposal(bytes: &[u8]) {
    let Some((&how, rest)) = bytes.split_first() else { return };
    WORLD.with(|world| {
        let document = if how % 2 == 0 {
            let Ok(document) = serde_json::from_slice(rest) else { return };
            document
        } else {
            altered(world.sound.clone(), rest)
        };
        let Ok(proposal) = serde_json::from_value::<Proposal>(document) else { return };
        let Ok(shown) = Proposed::of(&proposal, &world.row, &world.catalog) else { return };
        is_hers(world, &proposal, &shown);
    });
}

/// Inputs of [`proposal`], named: what an honest bot says, and each way of saying one thing otherwise.
pub fn proposal_seeds() -> Vec<(String, Vec<u8>)> {
    WORLD.with(|world| {
        let written = |document: &Value| [&[0], document.to_string().as_bytes()].concat();
        let mut seeds = vec![("sound".to_owned(), written(&world.sound))];
        for (name, value) in [
            ("args", json!({"text": "Buy milk \u{202e}"})),
            ("args", json!({"text": "Buy milk", "more": 1})),
            ("manifest", Digest::of(b"another").to_string().into()),
            ("account", "mallory".into()),
            ("confirm", "Say hello?".into()),
            ("action", world.other_action.clone()),
            ("found", json!([{"op": "get", "args": {}, "expect": "open", "is": "closed"}])),
            ("op", "get_thing".into()),
        ] {
            let mut document = world.sound.clone();
            document[name] = value;
            seeds.push((format!("other_{name}_{}", seeds.len()), written(&document)));
        }
        seeds.push(("changes".to_owned(), [[1, 0, 9, 1].as_slice(), b"Buy milk"].concat()));
        seeds
    })
}

fn is_hers(world: &World, proposal: &Proposal, shown: &Proposed) {
    let entry = world.catalog.find(&proposal.service).expect("her manifest");
    let op = entry.manifest.op(&proposal.op).expect("her op");
    assert_eq!((shown.digest, shown.connection), (entry.manifest.digest(), world.row.id));
    assert_eq!(shown.account, world.row.account);
    assert!(shown.request.url.starts_with("https://api.thing.dev/"), "{}", shown.request.url);
    assert_eq!(op.access, Access::Write);
    let args = op.args.parse_text(&shown.args.to_string()).expect("args in their normal form");
    let whose = (world.row.id, &world.row.account);
    let own = action(entry, &op.id, &args, whose, proposal.bot.id()).digest().expect("a digest");
    assert_eq!(shown.action, own);
    if shown.differs.is_empty() {
        assert_eq!((proposal.action, &proposal.confirm), (own, &shown.confirm));
        assert_eq!((&proposal.account, proposal.manifest), (&shown.account, shown.digest));
        assert_eq!(proposal.args.to_string(), shown.args.to_string());
        assert_eq!(proposal.found, json!([]));
    }
}

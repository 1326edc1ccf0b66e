//! What is private is in no table.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use pinhole_grant::{CredentialKind, KeyKind, Label, MintRequest, PrincipalId, Scope, mint, seal_credential};
use pinhole_manifest::{Access, Digest};

use super::Database;
use crate::store::tests::{Asked, HOUR, NOW, credential, grant_id, key, member, rng, the_bot, token, uses};
use crate::store::{
    Answer, ConnectionRow, Connections as _, GrantRow, Questions as _, Store as _, TokenRow, Tokens as _,
};

/// Every row of every table, as text.
fn dump(database: &Database) -> String {
    let sql = |sql: &str| database.server.sql(database.name(), sql);
    let tables = sql("SELECT table_schema || '.' || table_name FROM information_schema.tables
                      WHERE table_schema NOT IN ('pg_catalog', 'information_schema')");
    let tables: Vec<&str> = tables.lines().collect();
    assert!(tables.contains(&"pinhole.connections"), "{tables:?}");
    tables.iter().map(|table| sql(&format!("SELECT t::text FROM {table} t"))).collect()
}

/// The two seeds in an unprotected key file.
fn seeds(file: &[u8]) -> Vec<Vec<u8>> {
    let file: serde_json::Value = serde_json::from_slice(file).unwrap();
    let both = URL_SAFE_NO_PAD.decode(file["secret"].as_str().unwrap()).unwrap();
    assert_eq!(both.len(), 64);
    both.chunks(32).map(<[u8]>::to_vec).collect()
}

/// Its text where it is one, hexadecimal as the server shows bytes, and Base64 but for its last characters.
fn forms(secret: &[u8]) -> Vec<String> {
    let hex = secret.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    let base64 = [STANDARD.encode(secret), URL_SAFE_NO_PAD.encode(secret)];
    let base64 = base64.map(|text| {
        let whole = text.trim_end_matches('=');
        whole.get(..whole.len() - 2).unwrap().to_owned()
    });
    std::str::from_utf8(secret).map(str::to_owned).into_iter().chain([hex]).chain(base64).collect()
}

/// A busy host: its keys' seeds, its credentials' secrets and its tokens' texts are nowhere, in whatever form.
#[test]
fn no_table_has_a_private_key_or_an_open_secret() {
    let Some(database) = Database::new("no_table_has_a_private_key") else { return };
    let store = database.store();
    let keys = [key(KeyKind::Member, 1), key(KeyKind::Bot, 2)];
    let [member_key, bot_key] = &keys;
    for seed in 0..5 {
        let credential = credential(seed, &format!("n{seed}"));
        assert_eq!(credential.kind(), CredentialKind::Pat);
        let sealed = seal_credential(&credential, member_key, &mut rng(seed)).unwrap();
        let row = ConnectionRow::new(&credential, member(), NOW, sealed);
        let scope = Scope::new(Access::Read, NOW, NOW.plus_secs(HOUR));
        let request = MintRequest::new(bot_key.public().clone(), Digest::of(b"a manifest"), scope);
        let sealed = mint(&request, &credential, member_key, NOW, &mut rng(seed)).unwrap();
        let grant = GrantRow::new(sealed.clone(), &request, &credential, member());
        store.keep_connection(&row, &grant, None).unwrap();
        store.spend(&grant.id, uses(3)).unwrap();
        let id = Asked::new(&format!("title {seed}")).raise(&store, seed, NOW).unwrap().id;
        let until = NOW.plus_secs(HOUR);
        let yes = Answer::Approve { grant: grant_id(900 + seed), sealed: &grant.sealed, until };
        store.answer(member(), id, yes, NOW).unwrap();
        if seed % 2 == 0 {
            store.take(the_bot(), id, NOW).unwrap();
        }
    }
    let text = "pinm_the text of a token";
    let (id, name) = (PrincipalId::random(&mut rng(77)), Label::parse("laptop").unwrap());
    store.add_token(&TokenRow { id, name, digest: Digest::of(text.as_bytes()), ..token(77, "a") }).unwrap();
    store.high_water(NOW).unwrap();
    let dump = dump(&database);
    assert!(dump.contains(&Digest::of(text.as_bytes()).hex()) && dump.contains(&member().to_string()));
    let mut private: Vec<Vec<u8>> = vec![b"ghp_SecretOfTheStoreTests".to_vec(), text.as_bytes().to_vec()];
    for key in &keys {
        let file = key.to_file(None, &mut rng(5)).unwrap();
        private.extend(seeds(&file));
    }
    assert!(private.len() >= 6, "{}", private.len());
    for secret in private {
        for form in forms(&secret) {
            assert!(!dump.contains(&form), "{form}");
        }
    }
}

//! The client against a scripted authorization server: what is asked, and what is made of each answer.

mod answers;
mod browser;
mod devices;
mod requests;
mod scripted;
mod standin;

use pinhole_grant::{ClientId, Secret, UnixTime};
use pinhole_manifest::ServiceId;
use pinhole_manifest::model::OAuth;
use serde_json::{Value, json};

use super::{Client, FreshPair, TokenEndpoint, TokenError};
use crate::catalog::{Catalog, Source};
use scripted::{Reply, Scripted};

const NOW: UnixTime = UnixTime::from_secs(1_800_000_000);

/// A manifest whose `oauth` has these members besides its URLs.
fn catalog(members: &Value) -> Catalog {
    let mut oauth = json!({
        "authorize_url": "https://id.thing.dev/authorize",
        "token_url": "https://id.thing.dev/token",
        "revoke_url": "https://id.thing.dev/revoke",
        "device_url": "https://id.thing.dev/device",
        "scopes": ["things:read"],
        "scopes_write": ["things:read", "things:write"],
    });
    for (name, value) in members.as_object().unwrap() {
        oauth.as_object_mut().unwrap().insert(name.clone(), value.clone());
    }
    let manifest = json!({
        "pinhole": 1, "id": "thing", "version": "1.0.0", "name": "Thing", "summary": "Things.",
        "host": "api.thing.dev", "auth": {"scheme": "bearer", "oauth": oauth},
        "ops": {"get_me": {"access": "read", "summary": "Me.", "request": {"method": "GET", "path": "/me"},
            "pick": {"fields": ["login"]},
            "args": {"type": "object", "additionalProperties": false, "properties": {}}}}
    });
    let mut catalog = Catalog::default();
    catalog.add(manifest.to_string().as_bytes(), Source::UnsignedFile).unwrap();
    catalog
}

fn oauth(catalog: &Catalog) -> &OAuth {
    let entry = catalog.find(&ServiceId::parse("thing").unwrap()).unwrap();
    entry.manifest.auth().oauth.as_ref().unwrap()
}

fn secret(text: &str) -> Secret {
    Secret::new(text.to_owned()).unwrap()
}

fn id() -> ClientId {
    ClientId::parse("client-1").unwrap()
}

fn public() -> Client {
    Client::Public { id: id() }
}

fn endpoint<'a>(wire: &'a Scripted, catalog: &'a Catalog, client: &'a Client) -> TokenEndpoint<'a> {
    TokenEndpoint { wire, oauth: oauth(catalog), client, dial: scripted::DIAL, now: NOW }
}

/// What a renewal makes of one reply.
async fn refreshed(reply: Reply) -> Result<FreshPair, TokenError> {
    let (catalog, client) = (catalog(&json!({})), public());
    let wire = Scripted::new([reply]);
    let pair = endpoint(&wire, &catalog, &client).refresh(&secret("refresh-1")).await;
    assert_eq!(wire.asked().len(), 1, "it is asked once");
    pair
}

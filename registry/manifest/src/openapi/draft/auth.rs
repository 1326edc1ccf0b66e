//! How the key is put into a request, from the security schemes of a description.
//!
//! Refuses schemes whose key would stand in a URL or a cookie, and ops that need another scheme than the one that was chosen.
//! INVARIANT: a manifest has one scheme: the one that serves the most operations.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::finding::quoted;
use crate::host::HttpsUrl;
use crate::openapi::description::{Description, Dialect, Operation};
use crate::openapi::reader::Reader;
use crate::parse::is_auth_header;

/// Most schemes that are looked at.
const SCHEMES_MAX: usize = 100;
/// Most scopes of a list.
const SCOPES_MAX: usize = 64;

/// One security scheme that a manifest can have.
#[derive(Debug, Clone)]
struct Scheme {
    name: String,
    auth: Map<String, Value>,
    notes: Vec<String>,
}

/// The way that was chosen.
#[derive(Debug)]
pub(super) struct Chosen {
    /// The schemes of the description that put a key where this does; none where it is a guess. Two of them at once are one
    /// key, since a header stands in a request once.
    names: BTreeSet<String>,
    pub(super) auth: Map<String, Value>,
    pub(super) notes: Vec<String>,
    /// What stood against each of the other schemes.
    faults: Vec<(String, String)>,
    default: Option<Value>,
}

/// What an operation's security comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Served {
    /// The chosen scheme serves it, or it needs none; the scopes that it asks for.
    Yes(Vec<String>),
    /// It does not; why.
    No(String),
}

/// Chooses the scheme that serves the most operations.
pub(super) fn choose(description: &Description, operations: &[Operation<'_>], reader: &Reader<'_>) -> Chosen {
    let root = description.root();
    let schemes = match description.dialect() {
        Dialect::OpenApi3 => root.pointer("/components/securitySchemes"),
        Dialect::Swagger2 => root.get("securityDefinitions"),
    };
    let (mut good, mut faults) = (Vec::new(), Vec::new());
    for (name, node) in schemes.and_then(Value::as_object).into_iter().flatten().take(SCHEMES_MAX) {
        reader.begin();
        match reader.object(node) {
            Ok(Some(node)) => match scheme(name, node) {
                Ok(scheme) => good.push(scheme),
                Err(fault) => faults.push((name.clone(), fault)),
            },
            Ok(None) | Err(_) => faults.push((name.clone(), "cannot be read".to_owned())),
        }
    }
    let default = root.get("security").cloned();
    let served = |scheme: &Scheme| {
        let chosen = Chosen {
            names: alike(scheme, &good),
            auth: Map::new(),
            notes: Vec::new(),
            faults: Vec::new(),
            default: default.clone(),
        };
        operations.iter().filter(|operation| matches!(chosen.serves(operation), Served::Yes(_))).count()
    };
    // Of two that serve as many, the one with OAuth endpoints, which has the key's way in it too.
    let best = good.iter().max_by_key(|scheme| (served(scheme), scheme.auth.contains_key("oauth"))).cloned();
    if let Some(best) = best {
        let names = alike(&best, &good);
        return Chosen { names, auth: best.auth, notes: best.notes, faults, default };
    }
    let auth = Map::from_iter([("scheme".to_owned(), Value::from("bearer"))]);
    let note = "the description says nothing of a key that could be sent: `bearer` is a guess";
    Chosen { names: BTreeSet::new(), auth, notes: vec![note.to_owned()], faults, default }
}

/// The schemes that put a key where this one does.
fn alike(scheme: &Scheme, good: &[Scheme]) -> BTreeSet<String> {
    let same =
        |one: &&Scheme| ["scheme", "header"].iter().all(|word| one.auth.get(*word) == scheme.auth.get(*word));
    good.iter().filter(same).map(|one| one.name.clone()).collect()
}

impl Chosen {
    /// The header that carries the key.
    pub(super) fn header(&self) -> &str {
        self.auth.get("header").and_then(Value::as_str).unwrap_or("authorization")
    }

    /// Whether the chosen scheme serves an operation.
    pub(super) fn serves(&self, operation: &Operation<'_>) -> Served {
        let security = operation.node.get("security").or(self.default.as_ref());
        let Some(ways) = security.and_then(Value::as_array).filter(|ways| !ways.is_empty()) else {
            return Served::Yes(Vec::new());
        };
        let way = |way: &Value| -> Option<Vec<String>> {
            let way = way.as_object()?;
            let scopes = |scopes: &Value| -> Vec<String> {
                let scopes = scopes.as_array().into_iter().flatten().filter_map(Value::as_str);
                scopes.map(str::to_owned).collect()
            };
            let served = way.keys().all(|name| self.names.contains(name));
            served.then(|| way.values().flat_map(scopes).collect())
        };
        if let Some(scopes) = ways.iter().filter_map(way).max_by_key(Vec::len) {
            return Served::Yes(scopes);
        }
        let names: BTreeSet<&String> = ways.iter().filter_map(Value::as_object).flat_map(Map::keys).collect();
        let several = ways.iter().filter_map(Value::as_object).all(|way| way.len() > 1);
        let fault = |name: &&String| self.faults.iter().find(|(other, _)| other == *name);
        match names.iter().find_map(fault) {
            Some((name, fault)) => Served::No(format!("its security scheme `{}` {fault}", quoted(name))),
            None if several => Served::No("it needs two security schemes at once".to_owned()),
            None => Served::No("it needs another security scheme than the one of most operations".to_owned()),
        }
    }

    /// Puts the scopes of the ops into the OAuth block.
    pub(super) fn set_scopes(&mut self, read: &BTreeSet<String>, write: &BTreeSet<String>) {
        let Some(oauth) = self.auth.get_mut("oauth").and_then(Value::as_object_mut) else { return };
        let list = |scopes: &mut dyn Iterator<Item = &String>| {
            let good = scopes.filter(|scope| is_scope(scope)).take(SCOPES_MAX);
            Value::Array(good.map(|scope| scope.as_str().into()).collect())
        };
        oauth.insert("scopes".to_owned(), list(&mut read.iter()));
        if !write.is_subset(read) {
            oauth.insert("scopes_write".to_owned(), list(&mut read.union(write)));
        }
    }
}

fn is_scope(text: &str) -> bool {
    (1..=128).contains(&text.len()) && text.bytes().all(|b| matches!(b, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
}

/// A scheme as a manifest says it; `Err` with what stands against it.
fn scheme(name: &str, node: &Map<String, Value>) -> Result<Scheme, String> {
    let text = |member: &str| node.get(member).and_then(Value::as_str).unwrap_or_default();
    let mut notes = Vec::new();
    let mut auth = Map::new();
    let mut say = |word: &str| auth.insert("scheme".to_owned(), word.into());
    match (text("type"), text("scheme").to_ascii_lowercase().as_str(), text("in")) {
        ("http", "bearer", _) => drop(say("bearer")),
        ("http", "basic", _) | ("basic", _, _) => {
            say("basic");
            notes.push("`basic` sends the key as the user, with an empty password: see whether the service takes that".to_owned());
        }
        ("http", other, _) => return Err(format!("is HTTP `{}`, which is not sent", quoted(other))),
        ("apiKey", _, "header") if is_signature(name, node) => {
            return Err("signs each request, which a key alone does not".to_owned());
        }
        ("apiKey", _, "header") if text("name").eq_ignore_ascii_case("authorization") => {
            let is_bearer = text("description").to_ascii_lowercase().contains("bearer");
            say(if is_bearer { "bearer" } else { "bare" });
            notes.push(
                "the key stands in `authorization`: see whether a word such as `Bearer` goes before it"
                    .to_owned(),
            );
        }
        ("apiKey", _, "header") => {
            let header = text("name").to_ascii_lowercase();
            if !is_auth_header(&header) {
                return Err(format!("has its key in `{}`, which is no header for keys", quoted(&header)));
            }
            say("header");
            auth.insert("header".to_owned(), header.into());
        }
        ("apiKey", _, "query") => return Err("has its key in the URL, where keys are not put".to_owned()),
        ("apiKey", _, "cookie") => return Err("has its key in a cookie, which is not sent".to_owned()),
        ("oauth2", _, _) => {
            say("bearer");
            match oauth(node) {
                Ok(oauth) => {
                    auth.insert("oauth".to_owned(), oauth);
                    notes.push(
                        "see whether the token endpoint takes PKCE, and the client's secret in the form"
                            .to_owned(),
                    );
                }
                Err(why) => notes.push(format!("`oauth` was left out: {why}")),
            }
        }
        ("openIdConnect", _, _) => {
            say("bearer");
            notes.push(
                "the endpoints of OpenID Connect are not in the description: write `oauth` by hand"
                    .to_owned(),
            );
        }
        (other, _, _) => return Err(format!("is of the type `{}`, which is not sent", quoted(other))),
    }
    Ok(Scheme { name: name.to_owned(), auth, notes })
}

/// Whether what stands in the header is made anew for each request.
fn is_signature(name: &str, node: &Map<String, Value>) -> bool {
    let said = node.get("description").and_then(Value::as_str).unwrap_or_default();
    let said = format!("{name} {said}").to_ascii_lowercase();
    node.contains_key("x-amazon-apigateway-authtype")
        || ["hmac", "sigv4", "signature"].iter().any(|word| said.contains(word))
}

/// The endpoints of the flow with a code, where they are public.
fn oauth(node: &Map<String, Value>) -> Result<Value, &'static str> {
    let flows = node.get("flows").and_then(Value::as_object);
    let flow = match (flows.and_then(|flows| flows.get("authorizationCode")), node.get("flow")) {
        (Some(flow), _) => flow.as_object(),
        (None, Some(flow)) if flow == "accessCode" => Some(node),
        _ => None,
    };
    let Some(flow) = flow else { return Err("the description has no flow with a code") };
    let url = |name: &str| {
        let text = flow.get(name).and_then(Value::as_str)?;
        HttpsUrl::parse(text).ok().map(|_| text)
    };
    let (Some(authorize), Some(token)) = (url("authorizationUrl"), url("tokenUrl")) else {
        return Err("its endpoints are not public `https` URLs");
    };
    Ok(json!({ "authorize_url": authorize, "token_url": token, "scopes": [] }))
}

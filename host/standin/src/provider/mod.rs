//! A stand-in authorization server: pairs that rotate, families that die when a spent refresh token is played again, PKCE,
//! the device flow, revocation; and every odd way of answering.
//!
//! It says yes for the person. Its tokens are numbered and worth nothing anywhere. It has no clock: access tokens end when
//! a test says so. RFC 6749, 7009, 7636, 8628, 9207; RFC 9700, section 4.14.2 (families).

mod browser;
mod device;
mod token;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

use crate::Reply;
use crate::config::pairs;
use crate::log::Seen;

/// An authorization server at `/oauth/` of a stand-in. Clones are the same server; several stand-ins may have it.
#[derive(Clone)]
pub struct Provider(Arc<Mutex<State>>);

/// How a provider behaves; a test changes what it is about.
#[derive(Debug, Clone)]
pub struct Manners {
    /// The ids of clients without a secret.
    pub public_clients: Vec<String>,
    /// The ids of clients with one.
    pub confidential_clients: Vec<(String, String)>,
    /// Redirect URIs that are taken, beside `http://127.0.0.1:PORT/…` and `http://[::1]:PORT/…` (RFC 8252).
    pub redirects: Vec<String>,
    /// What it calls itself as `iss`; `None` leaves it out.
    pub issuer: Option<String>,
    /// Whether the person says yes.
    pub consent: Consent,
    /// What becomes of a refresh token that is used.
    pub rotation: Rotation,
    /// How an answer is written.
    pub writing: Writing,
    /// The status of an error: 400, or 200 as some services have it.
    pub error_status: u16,
    /// `expires_in`, as it stands in an answer; `None` leaves it out.
    pub expires_in: Option<Value>,
    /// `token_type`; `None` leaves it out.
    pub token_type: Option<String>,
    /// `scope`; `None` leaves it out, and so does the default: what was asked for.
    pub scope: Option<Value>,
    /// Members that stand in an answer besides, or instead.
    pub besides: Map<String, Value>,
}

/// Whether the person says yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// She does, at once.
    Yes,
    /// She does not.
    No,
    /// She has not answered yet: the device flow is pending.
    NotYet,
}

/// What becomes of a refresh token that is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rotation {
    /// It is spent, and the answer has another. Played again, it ends the family.
    KillsOnReplay,
    /// It is spent, and the answer has another. Played again, it is refused and nothing else.
    Rotates,
    /// It stays, and the answer has none.
    Stays,
}

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writing {
    /// As JSON.
    Json,
    /// As a form.
    Form,
    /// As a form that says it is JSON.
    FormSaidToBeJson,
    /// As JSON that says it is a page.
    JsonSaidToBeHtml,
}

impl Default for Manners {
    fn default() -> Self {
        Self {
            public_clients: vec!["public-client".to_owned()],
            confidential_clients: vec![("broker-client".to_owned(), "broker-secret".to_owned())],
            redirects: Vec::new(),
            issuer: None,
            consent: Consent::Yes,
            rotation: Rotation::KillsOnReplay,
            writing: Writing::Json,
            error_status: 400,
            expires_in: Some(json!(3600)),
            token_type: Some("Bearer".to_owned()),
            scope: None,
            besides: Map::new(),
        }
    }
}

/// What a provider knows.
#[derive(Debug, Default)]
pub(crate) struct State {
    manners: Manners,
    serial: u64,
    families: Vec<Family>,
    /// Every token that was ever given, and its family.
    access: HashMap<String, (usize, Standing)>,
    refresh: HashMap<String, (usize, Standing)>,
    codes: HashMap<String, token::Code>,
    devices: HashMap<String, token::Code>,
    /// Counts, for a test to look at.
    refreshes: usize,
    revoked: usize,
}

#[derive(Debug)]
struct Family {
    client: String,
    alive: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Good,
    Spent,
}

impl Provider {
    /// A provider with these manners.
    pub fn new(manners: Manners) -> Self {
        Self(Arc::new(Mutex::new(State { manners, ..State::default() })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes how it behaves from now on.
    pub fn mend(&self, change: impl FnOnce(&mut Manners)) {
        change(&mut self.state().manners);
    }

    /// A pair of a new family of this client, as if a person had just connected: access token, refresh token.
    pub fn connected(&self, client: &str) -> (String, String) {
        self.state().pair_of_new_family(client)
    }

    /// Opens an authorize URL as a browser does in which the person is signed in, and gives where it is sent back to; `None`
    /// where the page is an error.
    pub fn visit(&self, authorize_url: &str) -> Option<String> {
        let (_, query) = authorize_url.split_once('?')?;
        let reply = self.state().authorize(&pairs(query));
        reply.headers.get("location").and_then(|to| to.to_str().ok()).map(str::to_owned)
    }

    /// Ends every access token that was given so far, as time does. Refresh tokens stay.
    pub fn expire(&self) {
        self.state().access.values_mut().for_each(|(_, standing)| *standing = Standing::Spent);
    }

    /// Ends every family, as a person does on the service's page.
    pub fn kill(&self) {
        self.state().families.iter_mut().for_each(|family| family.alive = false);
    }

    /// Whether the API takes an access token.
    pub fn takes(&self, access: &str) -> bool {
        self.state().takes(access)
    }

    /// How many times a refresh token was shown, whatever came of it.
    pub fn refreshes(&self) -> usize {
        self.state().refreshes
    }

    /// How many tokens were given up.
    pub fn revoked(&self) -> usize {
        self.state().revoked
    }

    /// How many families have ended.
    pub fn dead_families(&self) -> usize {
        self.state().families.iter().filter(|family| !family.alive).count()
    }

    /// The reply to a request below `/oauth/`; `None` for any other.
    pub(crate) fn reply(&self, seen: &Seen) -> Option<Reply> {
        let what = seen.path.strip_prefix("/oauth/")?;
        let mut state = self.state();
        let form = pairs(&String::from_utf8_lossy(&seen.body));
        Some(match (seen.method.as_str(), what) {
            ("GET", "authorize") => state.authorize(&pairs(&seen.query)),
            ("POST", "token") => state.token(&form, seen.header("authorization")),
            ("POST", "revoke") => state.revoke(&form, seen.header("authorization")),
            ("POST", "device") => state.device(&form, seen.header("host").unwrap_or_default()),
            _ => Reply::new(404, "nothing is here\n"),
        })
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Provider")
    }
}

impl State {
    fn takes(&self, access: &str) -> bool {
        self.access.get(access).is_some_and(|(family, standing)| {
            *standing == Standing::Good && self.families.get(*family).is_some_and(|family| family.alive)
        })
    }

    fn next(&mut self, what: &str) -> String {
        self.serial = self.serial.saturating_add(1);
        // Characters that a form must encode, so that a client that does not is found out.
        format!("{what}-{}+/=", self.serial)
    }

    fn pair_of_new_family(&mut self, client: &str) -> (String, String) {
        self.families.push(Family { client: client.to_owned(), alive: true });
        self.pair_of(self.families.len().saturating_sub(1))
    }

    fn pair_of(&mut self, family: usize) -> (String, String) {
        let (access, refresh) = (self.next("access"), self.next("refresh"));
        self.access.insert(access.clone(), (family, Standing::Good));
        self.refresh.insert(refresh.clone(), (family, Standing::Good));
        (access, refresh)
    }
}

fn field<'a>(form: &'a [(String, String)], name: &str) -> &'a str {
    form.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
}

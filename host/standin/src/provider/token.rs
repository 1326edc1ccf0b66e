//! The token endpoint: codes, refresh tokens and device codes become pairs, or do not.
//!
//! INVARIANT: a code is good once; played again it ends what it gave.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::{Consent, Rotation, Standing, State, Writing, field};
use crate::Reply;
use crate::config::{Plus, decoded};

/// A code that waits to be exchanged.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) client: String,
    pub(super) redirect: String,
    pub(super) challenge: Option<String>,
    pub(super) scope: String,
    /// The family that it gave, once it was exchanged.
    pub(super) gave: Option<usize>,
}

impl State {
    pub(super) fn token(&mut self, form: &[(String, String)], authorization: Option<&str>) -> Reply {
        if field(form, "grant_type") == "refresh_token" {
            self.refreshes = self.refreshes.saturating_add(1);
        }
        let Some(client) = self.client(form, authorization) else {
            return self.error("invalid_client");
        };
        match field(form, "grant_type") {
            "authorization_code" => self.code(&client, form),
            "refresh_token" => self.refresh(&client, field(form, "refresh_token")),
            "urn:ietf:params:oauth:grant-type:device_code" => {
                self.device_code(&client, field(form, "device_code"))
            }
            _ => self.error("unsupported_grant_type"),
        }
    }

    pub(super) fn revoke(&mut self, form: &[(String, String)], authorization: Option<&str>) -> Reply {
        let Some(client) = self.client(form, authorization) else {
            return self.error("invalid_client");
        };
        self.revoked = self.revoked.saturating_add(1);
        let token = field(form, "token");
        if let Some((family, standing)) = self.refresh.get(token).copied() {
            // Some servers take a spent one for an unknown one.
            if standing == Standing::Good
                && let Some(family) = self.families.get_mut(family)
                && family.client == client
            {
                family.alive = false;
            }
        } else if let Some((_, standing)) = self.access.get_mut(token) {
            *standing = Standing::Spent;
        }
        Reply::new(200, "")
    }

    /// Which client asks: exactly one way of saying so, and the right secret.
    fn client(&self, form: &[(String, String)], authorization: Option<&str>) -> Option<String> {
        let known = |id: &str, secret: &str| {
            self.manners.confidential_clients.iter().any(|(i, s)| i == id && s == secret)
        };
        let (id, secret) = (field(form, "client_id"), field(form, "client_secret"));
        if let Some(basic) = authorization.and_then(|value| value.strip_prefix("Basic ")) {
            let pair = String::from_utf8(STANDARD.decode(basic).ok()?).ok()?;
            let (id, shown) = pair.split_once(':')?;
            let (id, shown) = (decoded(id, Plus::Space), decoded(shown, Plus::Space));
            return (secret.is_empty() && known(&id, &shown)).then_some(id);
        }
        let public = secret.is_empty() && self.manners.public_clients.iter().any(|known| known == id);
        (public || known(id, secret)).then(|| id.to_owned())
    }

    fn code(&mut self, client: &str, form: &[(String, String)]) -> Reply {
        let verifier = field(form, "code_verifier");
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
        let Some(code) = self.codes.get(field(form, "code")) else {
            return self.error("invalid_grant");
        };
        if let Some(family) = code.gave {
            if let Some(family) = self.families.get_mut(family) {
                family.alive = false;
            }
            return self.error("invalid_grant");
        }
        let proved = code.challenge.as_ref().map_or(verifier.is_empty(), |wanted| *wanted == challenge);
        if code.client != client || code.redirect != field(form, "redirect_uri") || !proved {
            return self.error("invalid_grant");
        }
        let scope = code.scope.clone();
        let pair = self.pair_of_new_family(client);
        let family = self.families.len().saturating_sub(1);
        if let Some(code) = self.codes.get_mut(field(form, "code")) {
            code.gave = Some(family);
        }
        self.answer(&pair.0, Some(&pair.1), &scope)
    }

    fn refresh(&mut self, client: &str, shown: &str) -> Reply {
        let Some((family, standing)) = self.refresh.get(shown).copied() else {
            return self.error("invalid_grant");
        };
        let alive = self.families.get(family).is_some_and(|of| of.alive && of.client == client);
        if standing == Standing::Spent
            && self.manners.rotation == Rotation::KillsOnReplay
            && let Some(family) = self.families.get_mut(family)
        {
            family.alive = false;
        }
        if !alive || standing == Standing::Spent {
            return self.error("invalid_grant");
        }
        if self.manners.rotation == Rotation::Stays {
            let access = self.next("access");
            self.access.insert(access.clone(), (family, Standing::Good));
            return self.answer(&access, None, "");
        }
        self.refresh.insert(shown.to_owned(), (family, Standing::Spent));
        let (access, refresh) = self.pair_of(family);
        self.answer(&access, Some(&refresh), "")
    }

    fn device_code(&mut self, client: &str, shown: &str) -> Reply {
        let scope = match self.devices.get(shown) {
            Some(code) if code.client == client && code.gave.is_none() => code.scope.clone(),
            _ => return self.error("invalid_grant"),
        };
        match self.manners.consent {
            Consent::NotYet => return self.error("authorization_pending"),
            Consent::No => return self.error("access_denied"),
            Consent::Yes => {}
        }
        let pair = self.pair_of_new_family(client);
        if let Some(code) = self.devices.get_mut(shown) {
            code.gave = Some(self.families.len().saturating_sub(1));
        }
        self.answer(&pair.0, Some(&pair.1), &scope)
    }

    fn answer(&self, access: &str, refresh: Option<&str>, scope: &str) -> Reply {
        let manners = &self.manners;
        let mut members = Map::new();
        let mut say = |name: &str, value: Value| members.insert(name.to_owned(), value);
        say("access_token", json!(access));
        if let Some(refresh) = refresh {
            say("refresh_token", json!(refresh));
        }
        if let Some(kind) = &manners.token_type {
            say("token_type", json!(kind));
        }
        if let Some(life) = &manners.expires_in {
            say("expires_in", life.clone());
        }
        match &manners.scope {
            Some(scope) => drop(say("scope", scope.clone())),
            None if !scope.is_empty() => drop(say("scope", json!(scope))),
            None => {}
        }
        members.extend(manners.besides.clone());
        self.written(200, &members)
    }

    pub(super) fn error(&self, code: &str) -> Reply {
        let says = json!({"error": code, "error_description": "what a server says of it"});
        let status = if code == "invalid_client" { 401 } else { 400 };
        let status = if self.manners.error_status == 200 { 200 } else { status };
        self.written(status, says.as_object().unwrap_or(&Map::new()))
    }

    fn written(&self, status: u16, members: &Map<String, Value>) -> Reply {
        let form = || {
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let pair = |(name, value): (&String, &Value)| format!("{name}={}", encoded(&text(value)));
            members.iter().map(pair).collect::<Vec<_>>().join("&")
        };
        let json = || Value::Object(members.clone()).to_string();
        let (kind, body) = match self.manners.writing {
            Writing::Json => ("application/json", json()),
            Writing::Form => ("application/x-www-form-urlencoded", form()),
            Writing::FormSaidToBeJson => ("application/json", form()),
            Writing::JsonSaidToBeHtml => ("text/html", json()),
        };
        Reply::new(status, body).header("content-type", kind).header("cache-control", "no-store")
    }
}

/// Percent-encodes all but what never needs it.
pub(super) fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let written = |byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(written).collect()
}

//! The page at which a person says yes: she has said so already, and is sent back.
//!
//! Refuses, as RFC 6749, section 4.1.2.1 has it, to send anybody to a place that the client is not registered with.

use super::token::{Code, encoded};
use super::{Consent, State, field};
use crate::Reply;

impl State {
    pub(super) fn authorize(&mut self, query: &[(String, String)]) -> Reply {
        let (client, redirect) = (field(query, "client_id"), field(query, "redirect_uri"));
        let manners = &self.manners;
        let confidential = manners.confidential_clients.iter().any(|(id, _)| id == client);
        if !confidential && !manners.public_clients.iter().any(|id| id == client) {
            return Reply::new(400, "no such client\n");
        }
        if !is_loopback(redirect) && !manners.redirects.iter().any(|known| known == redirect) {
            return Reply::new(400, "no such redirect URI\n");
        }
        let (challenge, method) = (field(query, "code_challenge"), field(query, "code_challenge_method"));
        let back = if field(query, "response_type") != "code" {
            "error=unsupported_response_type".to_owned()
        } else if challenge.is_empty() && !confidential || !challenge.is_empty() && method != "S256" {
            "error=invalid_request&error_description=PKCE".to_owned()
        } else if manners.consent == Consent::No {
            "error=access_denied".to_owned()
        } else {
            let challenge = (!challenge.is_empty()).then(|| challenge.to_owned());
            let code = Code {
                client: client.to_owned(),
                redirect: redirect.to_owned(),
                challenge,
                scope: field(query, "scope").to_owned(),
                gave: None,
            };
            let name = self.next("code");
            self.codes.insert(name.clone(), code);
            format!("code={}", encoded(&name))
        };
        let issuer = self.manners.issuer.as_deref().map(|issuer| format!("&iss={}", encoded(issuer)));
        let join = if redirect.contains('?') { '&' } else { '?' };
        let state = encoded(field(query, "state"));
        let to = format!("{redirect}{join}{back}&state={state}{}", issuer.unwrap_or_default());
        Reply::new(302, "").header("location", &to)
    }
}

/// `http://127.0.0.1:PORT/…` or `http://[::1]:PORT/…`.
fn is_loopback(redirect: &str) -> bool {
    ["http://127.0.0.1:", "http://[::1]:"].iter().any(|start| {
        let port = redirect.strip_prefix(start).and_then(|rest| rest.split('/').next());
        port.is_some_and(|port| port.parse::<u16>().is_ok())
    })
}

//! Where the device flow begins. What the person answers is [`Consent`](super::Consent).

use serde_json::json;

use super::token::Code;
use super::{State, field};
use crate::Reply;

impl State {
    pub(super) fn device(&mut self, form: &[(String, String)], host: &str) -> Reply {
        let client = field(form, "client_id");
        if !self.manners.public_clients.iter().any(|known| known == client) {
            return self.error("invalid_client");
        }
        let name = self.next("device");
        let code = Code {
            client: client.to_owned(),
            redirect: String::new(),
            challenge: None,
            scope: field(form, "scope").to_owned(),
            gave: None,
        };
        self.devices.insert(name.clone(), code);
        let page = format!("https://{host}/oauth/activate");
        let says = json!({"device_code": name, "user_code": "WDJB-MJHT", "expires_in": 900, "interval": 1,
            "verification_uri": page, "verification_uri_complete": format!("{page}?user_code=WDJB-MJHT")});
        Reply::json(200, &says)
    }
}

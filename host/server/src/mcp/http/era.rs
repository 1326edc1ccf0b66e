//! Which of the two protocols a request is of.
//!
//! A request of 2026-07-28 or later says so in a header; `initialize` is of the older one whatever it says. MCP 2026-07-28, "Versioning".

use http::HeaderMap;
use rmcp::model::ProtocolVersion;
use serde_json::json;

use super::VERSION;
use super::message::{Message, What};
use super::said::No;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// With a handshake; a client that goes away does not end its call.
    Legacy,
    /// Each request alone; a client that goes away ends its call.
    Modern,
}

impl Era {
    /// What the headers say. A version that nobody knows is left to a message that names one too: its own reader answers.
    pub(super) fn of(headers: &HeaderMap, message: &Message<'_>) -> Result<Self, No> {
        let mut versions = headers.get_all(VERSION).iter();
        let Some(version) = versions.next() else { return Ok(Self::Legacy) };
        let version = version.to_str().ok().filter(|_text| versions.next().is_none());
        let Some(version) = version else { return Err(No::HeaderMismatch(message.id_text())) };
        let is_known = ProtocolVersion::KNOWN_VERSIONS.iter().any(|known| known.as_str() == version);
        if !is_known && message.what != What::Initialize && !message.has_version() {
            let supported: Vec<_> =
                ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str).collect();
            let data = json!({"supported": supported, "requested": version});
            return Err(No::UnsupportedVersion(message.id_text(), data));
        }
        let is_modern = version >= ProtocolVersion::V_2026_07_28.as_str();
        Ok(if is_modern && message.what != What::Initialize { Self::Modern } else { Self::Legacy })
    }
}

//! What a schema does not say of its service, and the manifest around the ops.

use serde_json::{Map, Value, json};

use crate::draft::{Note, texts};
use crate::host::{ApiHost, HostError, HttpsUrl, HttpsUrlError};
use crate::ids::{OpId, ServiceId, TOOL_NAME_MAX};
use crate::model::AuthScheme;

/// Longest name of an op, in characters.
const OP_NAME_MAX: usize = 40;

/// Where a service takes GraphQL: one public host, and a path on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    host: ApiHost,
    path: String,
}

/// Why a text is not an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// Not a public `https` URL.
    #[error("`{text}` is not an endpoint: {source}")]
    Url {
        /// The text.
        text: String,
        /// What is wrong with it.
        source: HttpsUrlError,
    },
    /// On a host that no manifest may name.
    #[error("`{text}` is not on a host that a manifest may name: {source}")]
    Host {
        /// The text.
        text: String,
        /// What is wrong with it.
        source: HostError,
    },
    /// With a query.
    #[error("`{0}` has a query: write the host and the path alone, such as `api.example.com/graphql`")]
    Query(String),
}

impl Endpoint {
    /// Takes a host and a path, such as `api.example.com/graphql`, with `https://` before it or not.
    pub fn parse(text: &str) -> Result<Self, EndpointError> {
        let shown = || crate::finding::quoted(text);
        let bare = text.strip_prefix("https://").unwrap_or(text);
        let url = HttpsUrl::parse(&format!("https://{bare}"))
            .map_err(|source| EndpointError::Url { text: shown(), source })?;
        let rest = url.as_str().strip_prefix("https://").unwrap_or_default();
        if rest.contains('?') {
            return Err(EndpointError::Query(shown()));
        }
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let host = ApiHost::parse(host).map_err(|source| EndpointError::Host { text: shown(), source })?;
        Ok(Self { host, path: format!("/{path}") })
    }
}

/// A service, as far as its schema does not say what it is.
#[derive(Debug, Clone, Copy)]
pub struct Service<'s> {
    /// The id of its manifest.
    pub id: &'s ServiceId,
    /// Its name for people.
    pub name: &'s str,
    /// Where it takes GraphQL.
    pub endpoint: &'s Endpoint,
    /// How a key is put in.
    pub auth: &'s AuthScheme,
}

impl Service<'_> {
    /// Longest name that an op of this service may have.
    pub(super) fn op_name_max(&self) -> usize {
        TOOL_NAME_MAX.saturating_sub(self.id.as_str().len()).saturating_sub(1).min(OP_NAME_MAX)
    }

    pub(super) fn path(&self) -> &str {
        &self.endpoint.path
    }

    /// The name where braces would be placeholders.
    pub(super) fn escaped_name(&self) -> String {
        texts::escaped(self.name)
    }

    pub(super) fn manifest(&self, ops: &Map<String, Value>) -> Value {
        let mut auth = Map::new();
        let scheme = match self.auth {
            AuthScheme::Bearer => "bearer",
            AuthScheme::Bare => "bare",
            AuthScheme::Basic => "basic",
            AuthScheme::Header(name) => {
                auth.insert("header".into(), name.as_str().into());
                "header"
            }
        };
        auth.insert("scheme".into(), scheme.into());
        json!({
            "pinhole": 1,
            "id": self.id.as_str(),
            "version": "0.1.0",
            "name": self.name,
            "summary": texts::line(&format!("What {} offers over GraphQL.", self.name), 300),
            "host": self.endpoint.host.as_str(),
            "headers": { "accept": "application/json" },
            "auth": auth,
            "error": { "message": "$.errors[0].message" },
            "ops": ops
        })
    }
}

/// What no schema can say.
pub(super) fn notes() -> Vec<Note> {
    let note = |pointer: &str, message: &str| Note::new(None::<&OpId>, pointer, message);
    vec![
        note("/summary", "say in a sentence what of the service is offered here"),
        note("/auth", "a schema does not say how a key is put in: check `scheme`, add `pat` or `oauth`"),
        note("/auth/viewer", "name a read op without required args that shows whose key it is"),
        note("/ops", "keep the ops that bots need, and leave the others out"),
    ]
}

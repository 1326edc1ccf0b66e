//! The metadata of a protected resource (RFC 9728): where its tokens go, and that no authorization server gives them out.
//!
//! Says nothing of whose connections are behind it. INVARIANT: `authorization_servers` is absent, because there is none: a
//! client that looks for one asks its person for a token instead.

use axum::response::Response;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use serde_json::json;

/// Where the metadata is of what is served at `/`, with the path of anything else behind it.
pub(crate) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The metadata of a resource.
pub(crate) fn document(resource: &str, scope: &'static str) -> Response {
    let document = json!({
        "resource": resource,
        "resource_name": "Pinhole",
        "scopes_supported": scope.split(' ').collect::<Vec<_>>(),
        "bearer_methods_supported": ["header"],
        "pinhole_tokens": "There is no authorization server. The person who runs this server makes a token with `pinhole tokens \
                           new`; put it into the client's configuration, as the header `Authorization: Bearer …`.",
    });
    let mut answer = Response::new(document.to_string().into());
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer
}

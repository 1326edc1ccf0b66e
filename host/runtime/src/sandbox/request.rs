//! What a component asks for, of which nothing is believed, and what it is answered.

use pinhole_manifest::model::Method;

/// A request as the component wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GuestRequest {
    /// The method.
    pub(crate) method: Method,
    /// Meant to be a path.
    pub(crate) path: String,
    /// Pairs of the query, not encoded.
    pub(crate) query: Vec<(String, String)>,
    /// Headers.
    pub(crate) headers: Vec<(String, String)>,
    /// Meant to be JSON.
    pub(crate) body: Option<String>,
}

/// What comes of a request.
pub(crate) type GuestAnswer = Result<GuestResponse, GuestFailure>;

/// What the service answered, as the component may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GuestResponse {
    /// The status.
    pub(crate) status: u16,
    /// Headers; names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// The body, scrubbed.
    pub(crate) body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GuestFailure {
    /// The name of the refusal.
    pub(crate) code: &'static str,
    /// In words.
    pub(crate) message: String,
}

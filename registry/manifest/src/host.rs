//! The one API host of a service: a public DNS name and nothing else.
//!
//! Refuses every way of writing an address, a port, a path, a local or an internal name. What the name resolves to is
//! judged later, by the address guard of the runtime. DESIGN, "Manifest": `host`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Suffixes that never name a public API: special-use names (RFC 6761, RFC 6762, RFC 7686, RFC 8375, RFC 9476), names
/// that ICANN keeps for private use, and names that home and office networks use for themselves.
const PRIVATE_SUFFIXES: [&str; 26] = [
    "alt",
    "arpa",
    "corp",
    "domain",
    "example",
    "home",
    "internal",
    "intranet",
    "invalid",
    "lan",
    "local",
    "localdomain",
    "localhost",
    "mail",
    "onion",
    "private",
    "svc",
    "test",
    "workgroup",
    "consul",
    "cluster",
    "dhcp",
    "docker",
    "intra",
    "kubernetes",
    "wpad",
];

/// A lower-case public DNS name of at least two labels.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApiHost(Box<str>);

/// Why a text is not an API host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The text is empty or longer than 253 characters.
    #[error("a host name has 1 to 253 characters")]
    Length,
    /// A scheme such as `https://` is part of it.
    #[error("a host has no scheme: write the name alone, such as `api.example.com`")]
    Scheme,
    /// A port is part of it.
    #[error("a host has no port: every call goes to 443")]
    Port,
    /// A path, query, fragment or user is part of it.
    #[error("a host has no path, query, fragment or user: write the name alone")]
    Path,
    /// A `*` is part of it.
    #[error("a host has no wildcard: a service is pinned to one name")]
    Wildcard,
    /// A `{…}` is part of it.
    #[error("a host has no placeholder: it is the same for every call")]
    Placeholder,
    /// It is an IP address in some notation.
    #[error("a host is a name, never an address in any notation")]
    Address,
    /// It has one label.
    #[error("a host has at least two labels")]
    SingleLabel,
    /// It ends in a dot.
    #[error("a host has no dot at its end")]
    TrailingDot,
    /// It ends in a suffix that only means something on a local or internal network.
    #[error("a host is public: this suffix is local, internal or reserved")]
    PrivateSuffix,
    /// A label is empty, too long, starts or ends with a hyphen, has a character that DNS names do not have, or is an
    /// `xn--` form of nothing.
    #[error(
        "each label has 1 to 63 lower-case letters, digits and inner hyphens (other scripts in their valid `xn--` form)"
    )]
    Label,
}

impl ApiHost {
    /// Takes a public DNS name; says what is wrong with anything else.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        if text.contains("://") {
            return Err(HostError::Scheme);
        }
        if text.contains(['{', '}']) {
            return Err(HostError::Placeholder);
        }
        if text.contains('*') {
            return Err(HostError::Wildcard);
        }
        if text.contains(['[', ']']) || text.matches(':').count() > 1 {
            return Err(HostError::Address);
        }
        if text.contains(['/', '\\', '?', '#', '@']) {
            return Err(HostError::Path);
        }
        if text.contains(':') {
            return Err(HostError::Port);
        }
        if text.is_empty() || text.len() > 253 {
            return Err(HostError::Length);
        }
        let (name, dotted) = text.strip_suffix('.').map_or((text, false), |name| (name, true));
        let last = name.rsplit('.').next().unwrap_or_default();
        if is_number(last) {
            return Err(HostError::Address);
        }
        if dotted {
            return Err(HostError::TrailingDot);
        }
        if !name.split('.').all(is_label) {
            return Err(HostError::Label);
        }
        if !name.contains('.') {
            return Err(HostError::SingleLabel);
        }
        if PRIVATE_SUFFIXES.contains(&last) {
            return Err(HostError::PrivateSuffix);
        }
        if !is_same_in_a_url(name) {
            return Err(HostError::Label);
        }
        Ok(Self(name.into()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A last label that a URL parser takes for part of an IPv4 address: digits, or `0x` and hexadecimal digits (WHATWG URL,
/// "ends in a number").
fn is_number(label: &str) -> bool {
    let hex = label.strip_prefix("0x").or_else(|| label.strip_prefix("0X"));
    hex.map_or(!label.is_empty() && label.bytes().all(|b| b.is_ascii_digit()), |hex| {
        hex.bytes().all(|b| b.is_ascii_hexdigit())
    })
}

/// Whether a URL parser takes the name, and for the same name: an `xn--` label that decodes to nothing it does not.
fn is_same_in_a_url(name: &str) -> bool {
    matches!(url::Host::parse(name), Ok(url::Host::Domain(domain)) if domain == name)
}

fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

impl fmt::Display for ApiHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for ApiHost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ApiHost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// An `https` URL on a public host: no port but 443, no user, no fragment. For documentation links, OAuth endpoints and
/// arguments that a service will call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpsUrl(url::Url);

/// Why a text is not a public `https` URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpsUrlError {
    /// It is not an absolute URL, or holds white space or control characters that a parser would quietly drop.
    #[error("not an absolute URL")]
    Syntax,
    /// Its scheme is not `https`.
    #[error("the scheme must be `https`")]
    Scheme,
    /// It has a user, a password, a port or a fragment.
    #[error("a user, a password, a port or a fragment has no place here")]
    Extra,
    /// Its host is not public.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl HttpsUrl {
    /// Takes an absolute `https` URL on a public host.
    pub fn parse(text: &str) -> Result<Self, HttpsUrlError> {
        if text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
            return Err(HttpsUrlError::Syntax);
        }
        let url = url::Url::parse(text).map_err(|_source| HttpsUrlError::Syntax)?;
        if url.scheme() != "https" {
            return Err(HttpsUrlError::Scheme);
        }
        let extra = !url.username().is_empty() || url.password().is_some() || url.port().is_some();
        if extra || url.fragment().is_some() {
            return Err(HttpsUrlError::Extra);
        }
        ApiHost::parse(url.host_str().unwrap_or_default())?;
        Ok(Self(url))
    }

    /// The URL in its normal form.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Its host.
    pub fn host(&self) -> ApiHost {
        // INVARIANT: `parse` took it for one.
        ApiHost(self.0.host_str().unwrap_or_default().into())
    }
}

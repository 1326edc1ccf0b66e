//! Names in a request that a manifest chooses: headers, and keys of a query, a form or a JSON body.
//!
//! Refuses those that belong to the host runtime or carry a credential, and those by which a service takes another method,
//! path or host than a reviewer reads. A header's name has letters, digits and hyphens alone: servers that hand headers on
//! to a program take `_` for `-`. DESIGN, "Manifest": `headers`, request.

use super::reader::{Value, clip};
use super::text::is_plain;
use crate::diagnostic::Code;

/// Longest header name, in bytes.
const HEADER_NAME_MAX: usize = 64;

/// Headers that frame a message, route it, or say who sends it: the client's own business.
const RESERVED: [&str; 25] = [
    "accept-encoding",
    "cf-connecting-ip",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "max-forwards",
    "origin",
    "referer",
    "te",
    "trailer",
    "trailers",
    "transfer-encoding",
    "true-client-ip",
    "upgrade",
    "user-agent",
    "via",
    "x-cluster-client-ip",
    "x-host",
];
/// Beginnings of such names.
const RESERVED_PREFIXES: [&str; 7] =
    ["proxy-", "sec-", "x-client-", "x-forwarded", "x-http-host", "x-pinhole-", "x-real-"];
/// Headers that carry a credential by their definition.
const CREDENTIAL: [&str; 4] = ["authorization", "cookie", "cookie2", "set-cookie"];
/// Beginnings of headers that make a server take another method or path than the request says.
const OVERRIDE_PREFIXES: [&str; 5] =
    ["x-envoy-", "x-http-method", "x-original-", "x-override-", "x-rewrite-"];
/// Keys by which frameworks take another method, as [`is_method_key`] compares them.
const METHOD_KEYS: [&str; 7] = [
    "$httpmethod",
    "_httpmethod",
    "_method",
    "http_method_override",
    "x_http_method",
    "x_http_method_override",
    "x_method_override",
];

/// A header's name, where it is a key of the file. `credential` is the header that carries the key.
pub(super) fn header(entry: &Value<'_>, name: &str, credential: Option<&str>) -> bool {
    header_fault(name, credential).is_none_or(|(code, message, help)| {
        entry.faults.add_at_key(code, &entry.at, message, help);
        false
    })
}

/// The same, where it is a value of the file.
pub(super) fn header_value(value: &Value<'_>, name: &str, credential: Option<&str>) -> bool {
    header_fault(name, credential).is_none_or(|(code, message, help)| {
        value.fault(code, message, help);
        false
    })
}

fn header_fault(name: &str, credential: Option<&str>) -> Option<(Code, String, &'static str)> {
    let shown = clip(name);
    let lower = name.to_ascii_lowercase();
    Some(if CREDENTIAL.contains(&lower.as_str()) || credential == Some(lower.as_str()) {
        let message = format!("the header `{shown}` carries a credential");
        (Code::HeaderCredential, message, "leave it out: `auth` says how the key is put in")
    } else if is_override(&lower) {
        let message = format!("the header `{shown}` makes a service take another method or path");
        (Code::HeaderOverride, message, "leave it out, and write the real method and path")
    } else if is_reserved(&lower) {
        let message = format!("the header `{shown}` belongs to the host runtime");
        (Code::HeaderReserved, message, "leave it out: it is set as the request needs it")
    } else if !is_header_name(name) {
        let message = format!("`{shown}` is not a header name in lower case");
        (Code::HeaderName, message, "write letters, digits and hyphens, such as `x-api-version`")
    } else {
        return None;
    })
}

/// Whether a request may set a header of this name, in lower case, beside the one that carries the key.
pub(crate) fn is_free_header(name: &str, credential: &str) -> bool {
    header_fault(name, Some(credential)).is_none()
}

/// Whether a name may be the header that carries the key.
pub(crate) fn is_auth_header(name: &str) -> bool {
    is_header_name(name)
        && !is_reserved(name)
        && !CREDENTIAL.contains(&name)
        && !is_override(name)
        && name != "accept"
}

fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name) || RESERVED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn is_override(name: &str) -> bool {
    name == "x-method"
        || name.contains("method-override")
        || OVERRIDE_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn is_header_name(name: &str) -> bool {
    (1..=HEADER_NAME_MAX).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

/// A key of a query or a form, before encoding, where it is a key of the file.
pub(super) fn key(entry: &Value<'_>, key: &str) -> bool {
    key_fault(key).is_none_or(|(code, message)| {
        entry.faults.add_at_key(code, &entry.at, message, KEY_HELP);
        false
    })
}

/// The same, where it is a value of the file.
pub(super) fn key_value(value: &Value<'_>, key: &str) -> bool {
    key_fault(key).is_none_or(|(code, message)| {
        value.fault(code, message, KEY_HELP);
        false
    })
}

const KEY_HELP: &str = "write 1 to 128 visible characters that do not say a method, as `_method` does";

fn key_fault(key: &str) -> Option<(Code, String)> {
    if is_method_key(key) {
        let message = format!("the key `{}` makes a service take another method", clip(key));
        return Some((Code::KeyOverride, message));
    }
    let good = (1..=128).contains(&key.len()) && key.chars().all(|c| is_plain(c) && !c.is_whitespace());
    (!good).then(|| (Code::QueryKey, format!("`{}` is not a key", clip(key))))
}

/// Whether it is a key by which some framework takes another method: in any case, with brackets behind it or not. Some
/// languages take a dot in a key for `_`.
pub fn is_method_key(key: &str) -> bool {
    let name = key.split('[').next().unwrap_or_default();
    METHOD_KEYS.contains(&name.to_ascii_lowercase().replace(['-', '.'], "_").as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_auth_header_is_one_that_nothing_else_uses() {
        for name in ["x-api-key", "dd-api-key", "x-method-of-payment", "x-original"] {
            assert!(is_auth_header(name), "{name}");
        }
        for name in [
            "host",
            "cookie",
            "content-type",
            "X-Api-Key",
            "x api",
            "x_api_key",
            "x.api",
            "",
            "x-forwarded-for",
            "x-http-method",
            "x-method",
            "x-original-url",
            "x-real-ip",
            "accept",
        ] {
            assert!(!is_auth_header(name), "{name}");
        }
    }

    #[test]
    fn keys_that_say_a_method_are_known() {
        for key in [
            "_method",
            "_METHOD",
            "_Method[]",
            "_method[a][]",
            ".method",
            "_HttpMethod",
            "$httpMethod",
            "http_method_override",
            "X-HTTP-Method-Override",
            "x-http-method",
            "X-Method-Override[]",
        ] {
            assert!(is_method_key(key), "{key}");
        }
        for key in
            ["method", "_methods", "payment_method", "payment_method[]", "http_method", "a[_method]", ""]
        {
            assert!(!is_method_key(key), "{key}");
        }
    }
}

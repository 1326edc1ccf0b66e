//! What holds of every rendered request: it goes to the pinned host, to as many segments as the template has, and every
//! part of it is what it looks like to a reader of URLs and of headers.

use percent_encoding::percent_decode_str;
use pinhole_manifest::model::Request;
use pinhole_runtime::render::{BODY_BYTES_MAX, HEADER_BYTES_MAX, Rendered, TARGET_BYTES_MAX};
use url::Url;

/// The path's segments and the query's pairs, as a reader of the request decodes them.
pub(super) struct Seen {
    pub(super) segments: Vec<Vec<u8>>,
    pub(super) query: Vec<(String, String)>,
}

/// Reads a request as a server would.
pub(super) fn seen(host: &str, request: &Request, rendered: &Rendered) -> Seen {
    assert_eq!(rendered.method, request.method);
    assert!(rendered.target.len() <= TARGET_BYTES_MAX && rendered.target.starts_with('/'));
    assert!(rendered.target.bytes().all(|byte| byte.is_ascii_graphic()), "{}", rendered.target);
    let written = format!("https://{host}{}", rendered.target);
    let url = Url::parse(&written).expect("a target that makes a URL");
    assert_eq!(url.as_str(), written, "no reader of URLs changes it");
    assert_eq!(url.host_str(), Some(host));
    assert_eq!((url.port(), url.fragment(), url.username(), url.password()), (None, None, "", None));
    let decoded = |segment: &str| percent_decode_str(segment).collect::<Vec<u8>>();
    let segments: Vec<Vec<u8>> = url.path_segments().expect("a path").map(decoded).collect();
    assert_eq!(segments.len(), request.path.segments().len().max(1), "{}", rendered.target);
    for segment in &segments {
        let name = segment.split(|byte| *byte == b';').next();
        assert!(!matches!(name, Some(b"." | b"..")), "{}", rendered.target);
    }
    for (at, (name, value)) in rendered.headers.iter().enumerate() {
        let parsed = http::HeaderName::from_bytes(name.as_bytes()).expect("a header's name");
        assert_eq!(parsed.as_str(), name, "in lower case");
        assert!(rendered.headers.iter().skip(at + 1).all(|(other, _)| other != name), "{name} stands twice");
        http::HeaderValue::from_str(value).expect("a header's value");
        assert!(value.len() <= HEADER_BYTES_MAX && value.trim() == value, "{name}: {value:?}");
    }
    assert!(rendered.body.as_ref().is_none_or(|body| body.len() <= BODY_BYTES_MAX));
    Seen { segments, query: url.query_pairs().into_owned().collect() }
}

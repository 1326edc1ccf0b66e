//! What holds of every `Link` header and of every target in one. (Rows of single ones: `tests/spine/paging/links`.)

use http::HeaderValue;
use proptest::prelude::*;

use super::*;

fn headers(value: &[u8]) -> HeaderMap {
    HeaderValue::from_bytes(value)
        .map_or_else(|_| HeaderMap::new(), |value| HeaderMap::from_iter([(LINK, value)]))
}

fn host() -> ApiHost {
    ApiHost::parse("api.thing.dev").unwrap()
}

/// Texts in which what means something to a reader of links comes often.
fn awkward() -> impl Strategy<Value = String> {
    prop_oneof![
        "[<>;,=\" \\\\a-z/?#@:.%-]{0,24}",
        "(<[a-z/?=.]{0,8}>( ?; ?(rel|title|anchor)=(\"[a-z ,;<>]{0,6}\"|next|prev))*,? ?){0,3}",
        "\\PC{0,12}",
    ]
}

fn target_like() -> impl Strategy<Value = String> {
    prop_oneof![
        "(https?:)?/{0,3}[a-z.@:0-9]{0,12}/?[./%2eEfF;a-z0-9-]{0,12}(\\?[a-z=&%/.#]{0,8})?",
        "https://(api\\.thing\\.dev|user@api\\.thing\\.dev|api\\.thing\\.dev:8?443)[/.%2e\\\\?#a-z@]{0,12}",
        "\\PC{0,12}",
    ]
}

proptest! {
    #[test]
    fn a_link_that_is_written_is_read(target in "[!-;=?-~]{0,20}", title in "[ -~]{0,12}") {
        let quoted = title.replace('\\', "\\\\").replace('"', "\\\"");
        let text = format!("<{target}>; title=\"{quoted}\"; rel=\"next\"");
        prop_assert_eq!(next(&headers(text.as_bytes())), Ok(Some(target)));
    }

    #[test]
    fn what_is_read_stands_in_the_header(text in awkward()) {
        if let Ok(Some(target)) = next(&headers(text.as_bytes())) {
            let written = format!("<{target}>");
            prop_assert!(text.contains(&written));
            prop_assert!(text.to_ascii_lowercase().contains("next"));
        }
    }

    #[test]
    fn no_bytes_are_too_much(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        drop(next(&headers(&bytes)));
    }

    #[test]
    fn every_target_is_on_the_pinned_host(link in target_like()) {
        if let Some(found) = target(&host(), "/things/1?page=1", &link) {
            let url = Url::parse(&format!("https://api.thing.dev{found}")).unwrap();
            prop_assert_eq!(url.as_str(), format!("https://api.thing.dev{found}"));
            prop_assert!(found.starts_with('/') && !url.path().split('/').any(is_dot_segment));
            prop_assert!(!link.contains(['\\', '#', ' ']));
            // Whoever reads the link as a URL comes to the same host, over the same scheme, on the same port.
            let read = Url::parse("https://api.thing.dev/things/1?page=1").unwrap().join(&link).unwrap();
            prop_assert_eq!((read.scheme(), read.host_str(), read.port()), ("https", Some("api.thing.dev"), None));
        }
    }
}

#[test]
fn a_scheme_without_a_host_hides_no_dots() {
    for link in ["https:.;", "https:.;x", "https:..;/y", "https:%2e;"] {
        assert_eq!(target(&host(), "/things/1?page=1", link), None, "{link}");
    }
}

#[test]
fn a_next_page_that_is_said_to_be_empty_is_none() {
    let link = |results: &str| {
        let text = format!("</p?c=0>; rel=\"previous\"; results=\"true\", </p?c=1>; rel=\"next\"{results}");
        next(&headers(text.as_bytes())).unwrap()
    };
    assert_eq!(link("; results=\"false\""), None);
    assert_eq!(link("; RESULTS=\"FALSE\"; cursor=\"0:1:0\""), None);
    for more in ["", "; results=\"true\"", "; results=\"\"", "; title=\"results=false\""] {
        assert_eq!(link(more).as_deref(), Some("/p?c=1"), "{more}");
    }
}

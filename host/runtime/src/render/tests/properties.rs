//! What no value can do to a request.

use percent_encoding::percent_decode_str;
use proptest::prelude::*;
use url::Url;

use super::*;

/// Texts in which what means something to a URL reader comes often.
fn awkward() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,12}",
        ".{0,12}",
        "[./%2eEfF\\\\?#&=;:@+ \t\r\n0-]{0,8}",
        Just("..".to_owned()),
        Just("%2e%2e".to_owned()),
    ]
}

proptest! {
    #[test]
    fn no_value_reaches_another_endpoint(x in awkward(), y in awkward(), q in awkward()) {
        thread_local! {
            static MANIFEST: Manifest = manifest(&json!({
                "args": schema(&text(), &["x", "y"], &["q"]),
                "request": {
                    "method": "GET", "path": "/v1/{x}/p/.{y}%2e:go", "query": { "k": "a {x}&", "o[q]": "{q}" },
                },
            }));
        }
        let request = MANIFEST.with(|manifest| rendered(manifest, json!({ "x": x, "y": y, "q": q })));
        let fit = |value: &str| !value.chars().any(char::is_control);
        // Judged up to the first semicolon, behind which some servers read no further.
        let odd = |segment: &str| matches!(segment.split(';').next(), Some("" | "." | ".."));
        let expected = fit(&x) && fit(&y) && !odd(&x) && !odd(&format!(".{y}.:go"));
        prop_assert_eq!(request.is_ok(), expected);
        let Ok(request) = request else { return Ok(()) };
        let written = format!("https://api.thing.dev{}", request.target);
        prop_assert!(request.target.bytes().all(|byte| byte.is_ascii_graphic()));
        let url = Url::parse(&written).unwrap();
        prop_assert_eq!(url.as_str(), &written);
        prop_assert_eq!(url.host_str(), Some("api.thing.dev"));
        prop_assert_eq!((url.port(), url.fragment(), url.username()), (None, None, ""));
        let segments: Vec<String> = url
            .path_segments()
            .unwrap()
            .map(|segment| percent_decode_str(segment).decode_utf8().unwrap().into_owned())
            .collect();
        prop_assert_eq!(segments, ["v1".to_owned(), x.clone(), "p".to_owned(), format!(".{y}.:go")]);
        let mut query: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        query.sort();
        prop_assert_eq!(query, [("k".to_owned(), format!("a {x}&")), ("o[q]".to_owned(), q)]);
    }

    #[test]
    fn no_value_ends_a_header(x in awkward()) {
        thread_local! {
            static MANIFEST: Manifest = manifest(&json!({
                "args": schema(&text(), &["x"], &[]),
                "request": { "method": "GET", "path": "/", "headers": { "x-a": "a {x}" } },
            }));
        }
        let request = MANIFEST.with(|manifest| rendered(manifest, json!({ "x": x })));
        let visible = x.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte));
        prop_assert_eq!(request.is_ok(), visible && !x.is_empty() && !x.ends_with([' ', '\t']));
        if let Ok(request) = request {
            let wanted = ("x-a".to_owned(), format!("a {x}"));
            prop_assert!(request.headers.contains(&wanted));
        }
    }
}

/// What a link's query can and cannot do to the op's own.
mod followed {
    use super::*;
    use crate::render::{Change, Narrowed, render_page};

    proptest! {
        #[test]
        fn no_link_leads_elsewhere(
            path in prop_oneof![
                Just("/v1/a/p".to_owned()),
                "/v2/[./%2eEfF;a-z0-9\\\\-]{0,8}/p",
                "/[./%2eEfF;a-z0-9-]{0,12}",
                "\\PC{0,12}",
            ],
            query in "((k|q|x|after|page|_method|%71)=[a-z%2/&=+]{0,4}&?){0,4}",
        ) {
            thread_local! {
                static MANIFEST: Manifest = manifest(&json!({
                    "args": schema(&text(), &["x", "q"], &[]),
                    "request": { "method": "GET", "path": "/v1/{x}/p", "query": { "k": "fixed", "q": "{q}", "x": "{x}" } },
                    "page": { "style": "link", "paths": ["/v2/{*}/p"] },
                }));
            }
            let link = format!("{path}?{query}");
            let rendered = MANIFEST.with(|manifest| {
                let op = manifest.ops().values().next().unwrap();
                let args = op.args.parse_text(r#"{"x":"a","q":"b"}"#).unwrap();
                let Some(pinhole_manifest::model::Page::Link { paths }) = &op.page else { panic!("a link") };
                let narrows = |arg: &ArgName| arg.as_str() == "x";
                let change = Change::Link(&link, paths, Narrowed(&narrows));
                render_page(manifest, op.request().unwrap(), &args, &change)
            });
            let Ok(rendered) = rendered else { return Ok(()) };
            let written = format!("https://api.thing.dev{}", rendered.target);
            let url = Url::parse(&written).unwrap();
            prop_assert_eq!(url.as_str(), &written);
            let segments: Vec<&str> = url.path_segments().unwrap().collect();
            let fine = match segments.as_slice() {
                ["v1", "a", "p"] => true,
                ["v2", any, "p"] => {
                    let decoded: Vec<u8> = percent_decode_str(any).collect();
                    !decoded.is_empty() && !pinhole_manifest::model::is_dot_segment(any)
                        && !decoded.iter().any(|byte| byte.is_ascii_control() || b"/\\".contains(byte))
                }
                _ => false,
            };
            prop_assert!(fine, "{}", rendered.target);
            let of = |key: &str| -> Vec<String> {
                url.query_pairs().filter(|(name, _)| name == key).map(|(_, value)| value.into_owned()).collect()
            };
            // Fixed, and narrowed by the grant.
            prop_assert_eq!(of("k"), ["fixed"]);
            prop_assert_eq!(of("x"), ["a"]);
            prop_assert_eq!(of("q").len(), 1);
            prop_assert!(of("_method").is_empty());
        }
    }
}

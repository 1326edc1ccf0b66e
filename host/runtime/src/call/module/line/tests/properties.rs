//! Whatever matches leads to the pinned host and a declared path, and says there what the args say.

use proptest::prelude::*;
use url::Url;

use super::*;

/// Paths that are nearly declared, with what means something to a URL reader in them.
fn path() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(vec!["/repos", "/acme", "/it", "/issues", "/7", "/teams", "/a%20b", "/search", "/x"]),
        2 => prop::sample::select(vec!["/", "//", "..", "/..", "/%2e%2e", "%2F", "%00", "%5c", ";", "?", "#", "@", ":", "\\"]),
    ]
    .prop_map(str::to_owned);
    let piece = prop_oneof![9 => piece, 1 => "\\PC{0,4}", 1 => "[./%2eEfF\\\\?#&=;:@0-]{0,4}"];
    prop_oneof![
        4 => prop::collection::vec(piece, 0..7).prop_map(|pieces| pieces.concat()),
        1 => "[a-z]{0,6}".prop_map(|text| format!("https://api.thing.dev/{text}")),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![".{0,8}", "[ -~]{1,8}"]
}

fn method() -> impl Strategy<Value = Method> {
    prop::sample::select(vec![Method::Get, Method::Head, Method::Post, Method::Delete])
}

/// The segments of a line, as they must be found: `None` is any.
fn declared(line: &ModuleRequest) -> Vec<Option<String>> {
    let said = |segment: &ModuleSegment| match segment {
        ModuleSegment::Literal(text) => Some(percent_decode_str(text).decode_utf8().unwrap().into_owned()),
        ModuleSegment::Arg(name) => Some(match name.as_str() {
            "owner" => "acme".to_owned(),
            "repo" => "it".to_owned(),
            _ => "7".to_owned(),
        }),
        ModuleSegment::Any => None,
    };
    line.path.iter().map(said).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn whatever_matches_leads_to_the_pinned_host_and_a_declared_path(
        method in method(),
        path in path(),
        query in prop::collection::vec((prop::sample::select(vec!["state", "page", "q"]), text()), 0..3),
        value in prop::option::weighted(0.3, text()),
        body in prop::option::weighted(0.3, prop::sample::select(vec!["{}", "[1]", "x", r#"{"_method":"PUT"}"#])),
        narrowed in prop::sample::select(vec![&[][..], &["repo"], &["owner", "repo"]]),
    ) {
        thread_local! { static MANIFEST: Manifest = manifest(); }
        MANIFEST.with(|manifest| {
            let args = args(manifest, &json!({"owner": "acme", "repo": "it", "number": 7}));
            let names: Vec<ArgName> = narrowed.iter().map(|name| ArgName::parse(name).unwrap()).collect();
            let lines = &module(manifest).requests;
            let asked = GuestRequest {
                method,
                path,
                query: query.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect(),
                headers: value.into_iter().map(|value| ("x-trace".to_owned(), value)).collect(),
                body: body.map(str::to_owned),
            };
            let lines = Lines { requests: lines, args: &args, narrowed: names.iter().collect() };
            let Ok((request, _)) = lines.matched(&asked) else { return Ok(()) };
            let rendered = render(manifest, &request, &args).unwrap();
            prop_assert_eq!(rendered.method, asked.method);
            let written = format!("https://api.thing.dev{}", rendered.target);
            prop_assert!(rendered.target.bytes().all(|byte| byte.is_ascii_graphic()));
            let url = Url::parse(&written).unwrap();
            prop_assert_eq!(url.as_str(), &written);
            prop_assert_eq!((url.host_str(), url.port(), url.fragment()), (Some("api.thing.dev"), None, None));
            let segments: Vec<String> = url
                .path_segments()
                .unwrap()
                .map(|segment| percent_decode_str(segment).decode_utf8().unwrap().into_owned())
                .collect();
            let is_line = |line: &&ModuleRequest| {
                let declared = declared(line);
                line.method == asked.method
                    && declared.len() == segments.len()
                    && declared.iter().zip(&segments).all(|(wanted, found)| {
                        wanted.as_ref().is_none_or(|wanted| wanted == found)
                    })
            };
            let line = lines.requests.iter().find(is_line);
            prop_assert!(line.is_some(), "{}", rendered.target);
            let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
            prop_assert_eq!(&pairs, &asked.query);
            let lists = |line: &ModuleRequest| pairs.iter().all(|(key, _)| line.query.contains(key));
            prop_assert!(lines.requests.iter().filter(is_line).any(lists));
            if !narrowed.is_empty() {
                prop_assert!(segments.starts_with(&["repos".to_owned(), "acme".to_owned(), "it".to_owned()]));
            }
            for (_, value) in &rendered.headers {
                prop_assert!(http::HeaderValue::from_str(value).is_ok());
            }
            Ok(())
        })?;
    }
}

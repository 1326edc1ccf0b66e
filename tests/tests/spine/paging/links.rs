//! Links of every kind: the one that may be followed is, and a bad one costs nobody the page that came with it.

use pinhole_runtime::Outcome;
use pinhole_runtime::outcome::{Unfollowed, Verdict};
use pinhole_standin::{Reply, Route};
use pinhole_tests::{Setup, Stage};
use serde_json::json;

use super::next;
use crate::common::{no_faults, parsed, result};

/// A page that says these links.
async fn linking(links: &[&str]) -> Stage {
    let reply = Reply::json(200, &json!([{"id": 1, "name": "one"}]));
    let reply = links.iter().fold(reply, |reply, link| reply.header("link", link));
    let routes = ["/shelves/a/things", "/shelf/7/things"].map(|path| Route::get(path, reply.clone()));
    Setup::shelf_of(routes.into()).start().await
}

async fn first_page(links: &[&str]) -> (Stage, Outcome) {
    let stage = linking(links).await;
    let grant = stage.grant("shelf").narrowed("color", &[json!("red")]).seal();
    let args = json!({"shelf": "a", "color": "red", "page": 1, "tags": ["x", "y"]});
    let outcome = stage.run("shelf.linked", &args, &grant).await;
    (stage, outcome)
}

fn unfollowed(outcome: &Outcome) -> Option<Unfollowed> {
    match &outcome.verdict {
        Verdict::Done(picked) => picked.unfollowed,
        Verdict::Refused(refusal) => panic!("{refusal:?}"),
    }
}

/// What a link may look like, and the request that it leads to.
#[tokio::test]
async fn a_good_link_is_followed() {
    let own = "color=red&kind=plain&page=1&size=2&tags=x&tags=y";
    let moved = "color=red&kind=plain&page=2&size=2&tags=x&tags=y";
    let rows: Vec<(&str, String)> = vec![
        // The op's own path and one of the shapes; absolute, without a scheme, without a host, a query alone.
        (
            r#"<https://api.shelf.dev/shelves/a/things?page=2>; rel="next""#,
            format!("/shelves/a/things?{moved}"),
        ),
        (r#"<https://api.shelf.dev/shelf/7/things?page=2>; rel="next""#, format!("/shelf/7/things?{moved}")),
        (
            r#"<https://api.shelf.dev:443/shelf/7/things?page=2>; rel="next""#,
            format!("/shelf/7/things?{moved}"),
        ),
        (r#"<HTTPS://API.Shelf.dev/shelf/7/things?page=2>; rel="next""#, format!("/shelf/7/things?{moved}")),
        (r#"<//api.shelf.dev/shelf/7/things?page=2>; rel="next""#, format!("/shelf/7/things?{moved}")),
        (r#"</shelf/7/things?page=2>; rel="next""#, format!("/shelf/7/things?{moved}")),
        (r#"<?page=2>; rel="next""#, format!("/shelves/a/things?{moved}")),
        (r#"<things?page=2>; rel="next""#, format!("/shelves/a/things?{moved}")),
        // Another spelling of the same segment is sent as the op spells it.
        (r#"</shelves/%61/things?page=2>; rel="next""#, format!("/shelves/a/things?{moved}")),
        // What is new stands behind, as it stands.
        (r#"<?after=a%2Fb+c%3D>; rel="next""#, format!("/shelves/a/things?{own}&after=a%2Fb+c%3D")),
        (
            r#"<?tags=x&tags=y&color=red&page=2&since>; rel="next""#,
            format!("/shelves/a/things?{moved}&since"),
        ),
        // RFC 8288: no quotes, several relations, any case, other parameters and links, blanks, empty elements.
        ("<?page=2>;rel=next", format!("/shelves/a/things?{moved}")),
        (
            r#"<?page=9>; rel="last", <?page=2>; title="a \"b\", <c>; d"; REL="prefetch NEXT" "#,
            format!("/shelves/a/things?{moved}"),
        ),
        (r#",, <?page=2> ; ; rel = "next" ;x ,"#, format!("/shelves/a/things?{moved}")),
        (r#"<?page=2>; rel=next; rel="prev""#, format!("/shelves/a/things?{moved}")),
        (
            r#"<?page=5>; rel=next; anchor="/other", <?page=2>; rel="next""#,
            format!("/shelves/a/things?{moved}"),
        ),
        ("<?page=2>; rel=next, <?page=2>; rel=next", format!("/shelves/a/things?{moved}")),
    ];
    let mut faults = Vec::new();
    for (link, wanted) in rows {
        let (stage, outcome) = first_page(&[link]).await;
        let Some(token) = next(&outcome) else {
            faults.push(format!("{link}: {}", outcome.to_json()));
            continue;
        };
        let args = json!({"shelf": "a", "color": "red", "page": 1, "tags": ["x", "y"]});
        stage.run_next("shelf.linked", &args, &stage.grant("shelf").seal(), &token).await;
        let seen = stage.standin.requests().pop().unwrap();
        let target = format!("{}?{}", seen.path, seen.query);
        if target != wanted {
            faults.push(format!("{link}: {target}"));
        }
    }
    no_faults(&faults);
}

#[tokio::test]
async fn a_bad_link_is_not_followed_and_the_page_is_passed_on() {
    use Unfollowed::{Again, Elsewhere, Unreadable};
    let long = format!("<?after={}>; rel=next", "x".repeat(9000));
    let many =
        format!("<?{}>; rel=next", (0..101).map(|at| format!("k{at}=1")).collect::<Vec<_>>().join("&"));
    let rows: Vec<(&str, Unfollowed)> = vec![
        // Another host, scheme, port, a user, a fragment.
        ("<https://other.dev/shelf/7/things?page=2>; rel=next", Elsewhere),
        ("<https://api.shelf.dev.other.dev/shelf/7/things?page=2>; rel=next", Elsewhere),
        ("<https://shelf.dev/shelf/7/things?page=2>; rel=next", Elsewhere),
        ("<//other.dev/shelf/7/things?page=2>; rel=next", Elsewhere),
        ("<http://api.shelf.dev/shelf/7/things?page=2>; rel=next", Elsewhere),
        ("<ftp://api.shelf.dev/shelf/7/things>; rel=next", Elsewhere),
        ("<data:application/json,[]>; rel=next", Elsewhere),
        ("<file:///etc/passwd>; rel=next", Elsewhere),
        ("<https://api.shelf.dev:8443/shelf/7/things?page=2>; rel=next", Elsewhere),
        ("<https://user@api.shelf.dev/shelf/7/things?page=2>; rel=next", Elsewhere),
        ("<https://@api.shelf.dev/shelf/7/things?page=2>; rel=next", Elsewhere),
        ("<https://user:pass@api.shelf.dev/shelf/7/things?page=2>; rel=next", Elsewhere),
        ("<https://api.shelf.dev@other.dev/shelf/7/things>; rel=next", Elsewhere),
        ("<https://127.0.0.1/shelf/7/things>; rel=next", Elsewhere),
        ("<https://169.254.169.254/shelf/7/things>; rel=next", Elsewhere),
        ("<https://[::1]/shelf/7/things>; rel=next", Elsewhere),
        ("<https:///shelf/7/things>; rel=next", Elsewhere),
        ("<?page=2#top>; rel=next", Elsewhere),
        // Another path.
        ("</shelves/b/things?page=2>; rel=next", Elsewhere),
        ("</shelves/a%2Fb/things?page=2>; rel=next", Elsewhere),
        ("</user?page=2>; rel=next", Elsewhere),
        ("</?page=2>; rel=next", Elsewhere),
        ("<https://api.shelf.dev?page=2>; rel=next", Elsewhere),
        ("</shelf/7/things/8?page=2>; rel=next", Elsewhere),
        ("</shelf/7/things/?page=2>; rel=next", Elsewhere),
        ("</shelf//things?page=2>; rel=next", Elsewhere),
        ("</shelf/../things?page=2>; rel=next", Elsewhere),
        ("</shelf/%2e%2e/things?page=2>; rel=next", Elsewhere),
        ("</shelf/%252e%252e/things?page=2>; rel=next", Elsewhere),
        ("</shelf/.;x/things?page=2>; rel=next", Elsewhere),
        ("</shelf/;x/things?page=2>; rel=next", Elsewhere),
        ("</shelf/7/x/../things?page=2>; rel=next", Elsewhere),
        ("</a/../shelf/7/things?page=2>; rel=next", Elsewhere),
        ("</shelf/7%2f8/things?page=2>; rel=next", Elsewhere),
        ("</shelf/7%5c8/things?page=2>; rel=next", Elsewhere),
        ("</shelf/7%00/things?page=2>; rel=next", Elsewhere),
        ("</shelf/7%0d%0a/things?page=2>; rel=next", Elsewhere),
        ("</shelf/7%zz/things?page=2>; rel=next", Elsewhere),
        ("</shelf/7%/things?page=2>; rel=next", Elsewhere),
        ("</shelf\\7\\things?page=2>; rel=next", Elsewhere),
        ("</shelf/7 8/things?page=2>; rel=next", Elsewhere),
        ("</shelf/é/things?page=2>; rel=next", Elsewhere),
        ("</shelf/7/{x}?page=2>; rel=next", Elsewhere),
        // Another question than the op's: a fixed value, one that the grant narrows, two at once, a list, another method.
        ("<?kind=odd&page=2>; rel=next", Elsewhere),
        ("<?color=blue&page=1>; rel=next", Elsewhere),
        ("<?color=&page=1>; rel=next", Elsewhere),
        ("<?color=red&color=blue&page=2>; rel=next", Elsewhere),
        ("<?page=2&size=100>; rel=next", Elsewhere),
        ("<?page=2&page=3>; rel=next", Elsewhere),
        ("<?tags=x&page=1>; rel=next", Elsewhere),
        ("<?tags=z&tags=y>; rel=next", Elsewhere),
        ("<?page=2&_method=DELETE>; rel=next", Elsewhere),
        ("<?page=2&_METHOD=DELETE>; rel=next", Elsewhere),
        ("<?page=2&%5fmethod=DELETE>; rel=next", Elsewhere),
        ("<?page=2&x-http-method-override=DELETE>; rel=next", Elsewhere),
        ("<?page=2&=x>; rel=next", Elsewhere),
        ("<?page=2&%ff=x>; rel=next", Elsewhere),
        (&long, Elsewhere),
        (&many, Elsewhere),
        // The page at hand.
        ("<>; rel=next", Again),
        ("<?page=1>; rel=next", Again),
        ("<?kind=plain&size=2&color=red>; rel=next", Again),
        ("<https://api.shelf.dev/shelves/a/things>; rel=next", Again),
        // No Link header at all.
        ("?page=2; rel=next", Unreadable),
        ("<?page=2; rel=next", Unreadable),
        ("<?page=2> rel=next", Unreadable),
        ("<?page=2>; rel=\"next", Unreadable),
        ("<?page=2>; rel=\"next\\", Unreadable),
        ("<?page=2>; rel=next x", Unreadable),
        ("<?page=2>; rel=next, <?page=3>; rel=next", Unreadable),
        ("\u{ff}", Unreadable),
    ];
    let mut faults = Vec::new();
    for (link, why) in rows {
        let (_, outcome) = first_page(&[link]).await;
        let json = parsed(&outcome);
        let fine = result(&outcome) == json!([{"id": 1, "name": "one"}])
            && unfollowed(&outcome) == Some(why)
            && json["meta"]["more_pages"] == true
            && json.get("next").is_none()
            && json["notes"] == json!([why.to_string()]);
        if !fine {
            faults.push(format!("{link}: {json}"));
        }
    }
    no_faults(&faults);
}

#[tokio::test]
async fn other_links_are_no_next_page() {
    for links in [
        &[][..],
        &["<?page=2>; rel=prev"],
        &["<?page=2>; rel=nextish"],
        &["<?page=2>; rel=\"\""],
        &["<?page=2>"],
        &["<?page=2>; rev=next"],
        &["<?page=2>; rel=prev; rel=next"],
        &["<?page=2>; rel=next; anchor=\"#x\""],
        &["<https://other.dev/x>; rel=last", "<?page=1>; rel=first"],
        &[""],
        &[", ,"],
    ] {
        let (_, outcome) = first_page(links).await;
        assert_eq!((next(&outcome), unfollowed(&outcome)), (None, None), "{links:?}");
        assert!(!outcome.meta.more_pages);
    }
    // Two headers that agree are one; two that do not are none.
    let (_, outcome) = first_page(&["<?page=2>; rel=next", "<?page=2>; rel=next"]).await;
    assert!(next(&outcome).is_some());
    let (_, outcome) = first_page(&["<?page=2>; rel=next", "<?page=3>; rel=next"]).await;
    assert_eq!(unfollowed(&outcome), Some(Unfollowed::Unreadable));
}

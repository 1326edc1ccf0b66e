//! Contents of every kind, and zones that no recorded case has room for.

use pinhole_guest::recorded::{Recorded, check_cases};
use pinhole_guest::{Error, Request, Response};
use serde_json::{Value, json};

use super::*;

const ARGS: &str = r#"{"account": 7001, "zone": "lantern-oil.com"}"#;

fn page(number: usize) -> Request {
    let first =
        Request::get("/v2/7001/zones/lantern-oil.com/records").query("sort", "id:asc").query("per_page", 100);
    if number == 1 { first } else { first.query("page", number) }
}

fn answer(records: &[Value], number: usize, pages: usize, entries: usize) -> Response {
    let pagination =
        json!({"current_page": number, "per_page": 100, "total_entries": entries, "total_pages": pages});
    Response::new(200).with_json(&json!({"data": records, "pagination": pagination}))
}

/// The line of one record.
fn line(name: &str, kind: &str, content: &str, priority: Option<u16>) -> String {
    let record = json!({"name": name, "type": kind, "content": content, "ttl": 60, "priority": priority, "regions": ["global"]});
    let service = Recorded::new().on(page(1), answer(&[record], 1, 1, 1));
    let result: Value = serde_json::from_str(&run(&service, "zone_file", ARGS).unwrap()).unwrap();
    let text = result["zone_file"].as_str().unwrap().replace("; the zone has no SOA record here\n", "");
    let lines = text.strip_prefix("$ORIGIN lantern-oil.com.\n").unwrap();
    assert_eq!(lines.matches('\n').count(), 1, "{lines:?}");
    assert!(lines.is_ascii() || lines.starts_with("; "));
    lines.trim_end().replace('\t', " ")
}

#[test]
fn every_recorded_case_holds() {
    check_cases(concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases"), "zone_file", run);
}

#[test]
fn a_text_is_quoted_so_that_it_comes_back_as_it_was() {
    let text = |content: &str| line("", "TXT", content, None);
    assert_eq!(text("v=DMARC1; p=none"), "@ 60 IN TXT \"v=DMARC1; p=none\"");
    assert_eq!(text(r#"say "hi" \o/"#), r#"@ 60 IN TXT "say \"hi\" \\o/""#);
    assert_eq!(text(""), "@ 60 IN TXT \"\"");
    assert_eq!(text("a\nb\tc\u{7f}"), r#"@ 60 IN TXT "a\010b\009c\127""#);
    assert_eq!(text("é"), r#"@ 60 IN TXT "\195\169""#);
    // What is written as strings already is taken as such.
    assert_eq!(text(r#""one; 1" "tw\"o" "\059""#), r#"@ 60 IN TXT "one; 1" "tw\"o" ";""#);
    for odd in [r#""open"#, r#""a""b""#, r#""a" b"#, r#""\300""#, r#""\1""#, r#"""#] {
        let escaped = odd.replace('\\', r"\\").replace('"', "\\\"");
        assert_eq!(text(odd), format!("@ 60 IN TXT \"{escaped}\""));
    }
}

#[test]
fn a_long_text_is_cut_into_strings_of_255_bytes() {
    let text = |content: &str| line("k._domainkey", "TXT", content, None);
    assert_eq!(text(&"a".repeat(255)), format!("k._domainkey 60 IN TXT \"{}\"", "a".repeat(255)));
    assert_eq!(text(&"a".repeat(256)), format!("k._domainkey 60 IN TXT \"{}\" \"a\"", "a".repeat(255)));
    assert_eq!(
        text(&format!("\"{}\" \"b\"", "a".repeat(300))),
        format!("k._domainkey 60 IN TXT \"{}\" \"{}\" \"b\"", "a".repeat(255), "a".repeat(45))
    );
    // Escapes do not count: the bytes of the text do.
    assert_eq!(text(&"\"".repeat(300)).matches(' ').count(), 5);
}

#[test]
fn every_type_has_its_own_form() {
    for (kind, content, priority, wanted) in [
        ("A", "192.0.2.7", None, "192.0.2.7"),
        ("AAAA", "2001:db8::1", None, "2001:db8::1"),
        ("CNAME", "lantern-oil.com", None, "lantern-oil.com."),
        ("CNAME", "lantern-oil.com.", None, "lantern-oil.com."),
        ("MX", "mail.lantern-oil.com", Some(10), "10 mail.lantern-oil.com."),
        ("MX", ".", Some(0), "0 ."),
        ("SRV", "5 5060 sip.lantern-oil.com", Some(1), "1 5 5060 sip.lantern-oil.com."),
        ("CAA", "0 issue \"letsencrypt.org; a=b\"", None, "0 issue \"letsencrypt.org; a=b\""),
        ("SSHFP", "4 2 0a0b", None, "4 2 0a0b"),
        (
            "NAPTR",
            r#"100 10 "U" "E2U+sip" "!^.*$!sip:a@b.c!" ."#,
            None,
            r#"100 10 "U" "E2U+sip" "!^.*$!sip:a@b.c!" ."#,
        ),
        ("HINFO", "a;b (c)", None, r"a\;b \(c\)"),
        ("SPF", "v=spf1 -all", None, "\"v=spf1 -all\""),
    ] {
        assert_eq!(line("w", kind, content, priority), format!("w 60 IN {kind} {wanted}"));
    }
}

#[test]
fn what_no_zone_file_has_is_a_comment() {
    for (kind, content, priority) in [
        ("ALIAS", "other.example.com", None),
        ("URL", "https://example.com/a?b=c;d", None),
        ("POOL", "a.example.com", None),
        ("NEWTYPE", "1 2 3", None),
        // Not in the form of its type.
        ("MX", "mail.lantern-oil.com", None),
        ("SRV", "5 5060", Some(1)),
        ("SRV", "five 5060 sip.lantern-oil.com", Some(1)),
        ("SOA", "ns1.dnsimple.com", None),
        ("CAA", "0 issue \"open", None),
        ("A", "192.0.2.7 192.0.2.8", None),
        ("A", "192.0.2.7;", None),
        ("CNAME", "a..example.com", None),
        ("CNAME", "\"\"", None),
        ("NS", ".example.com", None),
        ("AAAA", "192.0.2.7", None),
        ("SRV", "+5 5060 sip.lantern-oil.com", Some(1)),
    ] {
        let priority_text = priority.map(|priority| format!("{priority} ")).unwrap_or_default();
        let wanted = format!("; not in a zone file: w 60 IN {kind} {priority_text}{content}");
        assert_eq!(line("w", kind, content, priority), wanted);
    }
}

#[test]
fn no_content_or_name_makes_a_line_of_its_own() {
    let evil = "192.0.2.7\n@ 60 IN NS evil.example.com.";
    assert_eq!(
        line("w", "A", evil, None),
        "; not in a zone file: w 60 IN A 192.0.2.7\\010@ 60 IN NS evil.example.com."
    );
    let evil = "0 issue \"a\n@ 60 IN NS evil.example.com.\"";
    assert!(line("w", "CAA", evil, None).starts_with("; not in a zone file: w 60 IN CAA 0 issue \"a\\010@"));
    assert_eq!(line("w", "CNAME", "a;b(c)", None), r"w 60 IN CNAME a\;b\(c\).");
    assert_eq!(line("a b;c\n@$ORIGIN", "A", "192.0.2.7", None), r"a\032b\;c\010\@\$ORIGIN 60 IN A 192.0.2.7");
    assert_eq!(line("*", "A", "192.0.2.7", None), "* 60 IN A 192.0.2.7");
    assert!(line("w", "URL", "a\u{2028}b\u{85}c", None).ends_with(r"a\8232b\133c"));
}

#[test]
fn a_name_that_is_too_long_is_a_comment() {
    let label = "a".repeat(63);
    assert_eq!(line("w", "CNAME", &label, None), format!("w 60 IN CNAME {label}."));
    assert!(line("w", "CNAME", &format!("{label}a"), None).starts_with("; not in a zone file: w"));
    assert!(line(&format!("{label}a"), "A", "192.0.2.7", None).starts_with("; not in a zone file: a"));
    let long = [label.as_str(); 4].join(".");
    assert!(line("w", "CNAME", &long, None).starts_with("; not"));
    assert!(line("a..b", "A", "192.0.2.7", None).starts_with("; not"));
}

fn record(number: usize) -> Value {
    json!({"name": format!("w{number}"), "type": "A", "content": "192.0.2.7", "ttl": 60, "priority": null})
}

/// A zone of so many pages, each with one record.
fn zone(pages: usize, says: usize) -> Recorded {
    let recorded = pages.min(REQUESTS_A_CALL);
    (1..=recorded).fold(Recorded::new(), |service, number| {
        service.on(page(number), answer(&[record(number)], number, pages, says))
    })
}

#[test]
fn more_pages_than_a_call_may_ask_for_are_an_error_that_says_what_to_narrow() {
    let whole = zone(100, 100);
    assert!(run(&whole, "zone_file", ARGS).unwrap().contains("\"records\":100"));
    let service = zone(101, 101);
    let error = run(&service, "zone_file", ARGS).unwrap_err();
    assert!(matches!(error, Error::TooManyPages { pages: 100, .. }), "{error}");
    assert!(error.to_string().contains("`type`"), "{error}");
}

#[test]
fn a_zone_that_changes_while_it_is_read_is_an_error() {
    let error = run(&zone(3, 4), "zone_file", ARGS).unwrap_err();
    assert_eq!(error.to_string(), "the zone changed while it was read: ask again");
}

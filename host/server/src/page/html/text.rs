//! Texts of others on the page: whole, every character visible, no way out of their place.
//!
//! What does not show stands as the escape that [`pinhole_manifest::visible`] gives it, set apart from what is really written
//! so. INVARIANT: nothing is cut, and nothing is markup: `maud` escapes each piece.

use maud::{Markup, html};
use pinhole_manifest::visible::{is_invisible, visible};
use serde_json::Value;

/// A text in one line.
pub(super) fn line(text: &str) -> Markup {
    html! { bdi { (pieces(text)) } }
}

/// A value with its kind, in a block that scrolls where it is long.
pub(super) fn value(name: &str, value: &Value) -> Markup {
    match value {
        Value::String(text) => block(name, "text", text),
        Value::Null => block(name, "nothing", "null"),
        Value::Bool(_) => block(name, "yes or no", &value.to_string()),
        Value::Number(_) => block(name, "number", &value.to_string()),
        Value::Array(_) | Value::Object(_) => {
            let pretty = serde_json::to_string_pretty(value).unwrap_or_else(|_error| value.to_string());
            block(name, "JSON", &pretty)
        }
    }
}

/// A text of any length, each end of a line visible.
fn block(name: &str, kind: &str, text: &str) -> Markup {
    html! {
        span.kind { (kind) }
        pre.whole tabindex="0" role="group" aria-label={ (visible(name)) ", " (kind) } {
            code {
                @for (at, part) in text.split('\n').enumerate() {
                    @if at > 0 { i { "↵" } "\n" }
                    (pieces(part))
                }
            }
        }
    }
}

fn pieces(text: &str) -> Markup {
    html! {
        @for piece in text.split_inclusive(is_invisible) {
            @match piece.char_indices().next_back().filter(|(_, last)| is_invisible(*last)) {
                Some((at, hidden)) => {
                    (piece.get(..at).unwrap_or_default())
                    i { (hidden.escape_unicode().to_string()) }
                }
                None => (piece),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_has_no_way_out_of_its_place() {
        let sly = "</code><script>alert('1')</script>&amp;\"><img src=x onerror=alert(1)>";
        let escaped = "&lt;/code&gt;&lt;script&gt;alert('1')&lt;/script&gt;&amp;amp;&quot;&gt;\
                       &lt;img src=x onerror=alert(1)&gt;";
        assert_eq!(line(sly).into_string(), format!("<bdi>{escaped}</bdi>"));
        let shown = value(sly, &json!(sly)).into_string();
        assert!(shown.contains(&format!("<code>{escaped}</code>")), "{shown}");
        assert!(shown.contains(&format!("aria-label=\"{escaped}, text\"")), "{shown}");
        assert_eq!(shown.matches('<').count(), 6, "{shown}");
    }

    #[test]
    fn what_does_not_show_is_shown_and_told_from_what_is_written_so() {
        let shown = line("a\u{202e}\u{e0041}b\\u{202e}\n").into_string();
        assert_eq!(shown, "<bdi>a<i>\\u{202e}</i><i>\\u{e0041}</i>b\\u{202e}<i>\\u{a}</i></bdi>");
        let shown = value("body", &json!("one\r\n two \n")).into_string();
        assert!(shown.contains("<code>one<i>\\u{d}</i><i>↵</i>\n two <i>↵</i>\n</code>"), "{shown}");
    }

    #[test]
    fn every_kind_of_value_is_whole() {
        for (given, text) in [
            (json!(null), "null"),
            (json!(true), "true"),
            (json!(9_007_199_254_740_993_u64), "9007199254740993"),
            (json!("null"), "null"),
        ] {
            assert!(value("x", &given).into_string().contains(&format!("<code>{text}</code>")), "{given}");
        }
        let long = "0123456789".repeat(20_000);
        assert!(value("x", &json!(long)).into_string().contains(&long));
        let nested = value("x", &json!({"a": [long, "\u{202e}"]})).into_string();
        assert!(nested.contains(&long) && nested.contains("<i>\\u{202e}</i>"));
    }
}

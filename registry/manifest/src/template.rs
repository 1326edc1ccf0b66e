//! Texts with placeholders: `{owner}` is an arg, `{{` and `}}` are the braces themselves.
//!
//! Refuses a brace that is neither. Says nothing of whether an arg is declared or where it may stand: that is for the
//! reader of the manifest. INVARIANT: printing a template gives the text it was parsed from. DESIGN, "Manifest":
//! placeholders.

use std::fmt::{self, Write as _};

use crate::ids::ArgName;
use crate::model::{Piece, Template};

/// Why a text is not a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum TemplateFault {
    /// A `{` that no `}` closes before the end or the next `{`.
    #[error("a `{{` is not closed: close it with `}}`, or write `{{{{` for the brace itself")]
    Unclosed,
    /// A `}` that closes nothing.
    #[error("a `}}` closes nothing: write `}}}}` for the brace itself")]
    Unopened,
    /// What stands between the braces is not an argument's name; clipped to 64 characters.
    #[error("`{0}` is not an argument's name: lower-case letters, digits and underscores, a letter first")]
    BadName(String),
}

/// Parses a text with placeholders. Takes time linear in its length.
pub(crate) fn parse(text: &str) -> Result<Template, TemplateFault> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some((before, brace, after)) = split_at_brace(rest) {
        literal.push_str(before);
        if let Some(after) = after.strip_prefix(brace) {
            literal.push(brace);
            rest = after;
            continue;
        }
        if brace == '}' {
            return Err(TemplateFault::Unopened);
        }
        let Some((name, '}', after)) = split_at_brace(after) else {
            return Err(TemplateFault::Unclosed);
        };
        let name = ArgName::parse(name)
            .map_err(|_grammar| TemplateFault::BadName(name.chars().take(64).collect()))?;
        if !literal.is_empty() {
            pieces.push(Piece::Literal(std::mem::take(&mut literal)));
        }
        pieces.push(Piece::Arg(name));
        rest = after;
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    Ok(Template(pieces))
}

/// The text before the first brace, the brace, and the text after it.
fn split_at_brace(text: &str) -> Option<(&str, char, &str)> {
    let (before, from) = text.split_at_checked(text.find(['{', '}'])?)?;
    let mut chars = from.chars();
    let brace = chars.next()?;
    Some((before, brace, chars.as_str()))
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in self.pieces() {
            match piece {
                Piece::Literal(text) => {
                    for c in text.chars() {
                        if matches!(c, '{' | '}') {
                            f.write_char(c)?;
                        }
                        f.write_char(c)?;
                    }
                }
                Piece::Arg(name) => write!(f, "{{{name}}}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn literal(text: &str) -> Piece {
        Piece::Literal(text.into())
    }

    fn arg(name: &str) -> Piece {
        Piece::Arg(ArgName::parse(name).unwrap())
    }

    #[test]
    fn pieces_are_found() {
        let pieces = |text: &str| parse(text).unwrap().0;
        assert_eq!(pieces(""), []);
        assert_eq!(pieces("plain"), [literal("plain")]);
        assert_eq!(pieces("{owner}"), [arg("owner")]);
        assert_eq!(pieces("{a}{b_2}"), [arg("a"), arg("b_2")]);
        assert_eq!(pieces("é{a}/{b}ü"), [literal("é"), arg("a"), literal("/"), arg("b"), literal("ü")]);
        assert_eq!(pieces("{{a}}"), [literal("{a}")]);
        assert_eq!(pieces("{{{a}}}"), [literal("{"), arg("a"), literal("}")]);
        assert_eq!(pieces("}}{{"), [literal("}{")]);
    }

    #[test]
    fn stray_braces_are_refused() {
        for text in ["{", "a{", "{a", "{a{b}", "{a{{", "{{{", "{a{b}}", "x{{{"] {
            assert_eq!(parse(text).unwrap_err(), TemplateFault::Unclosed, "{text}");
        }
        for text in ["}", "a}b", "{a}}", "}}}", "{{a}"] {
            assert_eq!(parse(text).unwrap_err(), TemplateFault::Unopened, "{text}");
        }
    }

    #[test]
    fn names_follow_the_grammar() {
        for name in ["", "A", "1a", "a-b", "a.b", " a", "a ", "é", "a\n", &"a".repeat(65)] {
            let fault = parse(&format!("{{{name}}}")).unwrap_err();
            assert_eq!(fault, TemplateFault::BadName(name.chars().take(64).collect()), "{name}");
        }
    }

    #[test]
    fn many_braces_are_cheap() {
        for n in [99_999, 100_000] {
            assert_eq!(parse(&"{".repeat(n)).is_ok(), n % 2 == 0);
            assert_eq!(parse(&"}".repeat(n)).is_ok(), n % 2 == 0);
        }
        assert_eq!(parse(&"{a}".repeat(100_000)).unwrap().0.len(), 100_000);
    }

    proptest! {
        #[test]
        fn print_gives_back_what_was_parsed(text in r"(\{[a-z_]{0,3}\}|\{\{|\}\}|[{}]|[a-z é]){0,12}") {
            if let Ok(template) = parse(&text) {
                prop_assert_eq!(template.to_string(), text);
                for pair in template.pieces().windows(2) {
                    prop_assert!(!matches!(pair, [Piece::Literal(_), Piece::Literal(_)]));
                }
            }
        }

        #[test]
        fn any_literal_can_be_written(text in any::<String>()) {
            let written = Template(vec![Piece::Literal(text.clone())]).to_string();
            let expected = if text.is_empty() { vec![] } else { vec![Piece::Literal(text)] };
            prop_assert_eq!(parse(&written).unwrap().0, expected);
        }

        #[test]
        fn any_text_is_judged_without_panic(text in any::<String>()) {
            let judged = parse(&text);
            prop_assert!(judged.is_err() || judged.is_ok_and(|template| template.to_string() == text));
        }
    }
}

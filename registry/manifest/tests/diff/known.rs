//! Which members narrow when they are changed alone, which say nothing, which cannot be, and why.

/// How a member is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Removed,
    Raised,
    Lowered,
    Flipped,
    Rewritten,
    Shortened,
    Lengthened,
    Repeated,
    Joined,
}
use Change::{Flipped, Lengthened, Lowered, Raised, Removed, Repeated, Rewritten, Shortened};

/// What narrows, and why nothing can be done or seen by it that could not before. `*` is one step, `**` any at the end.
pub(crate) const NARROWS: &[(&str, &[Change], &str)] = &[
    ("/docs", &[Removed], "a link less"),
    ("/verified", &[Removed], "a claim less"),
    ("/error", &[Removed], "words of the service less"),
    ("/failure/message", &[Removed], "words of the service less"),
    ("/auth/pat", &[Removed], "OAuth is left, so no other key is taken"),
    ("/auth/pat/help_url", &[Removed], "a link less"),
    ("/auth/oauth", &[Removed], "tokens are left, with their pattern"),
    ("/auth/oauth/device_url", &[Removed], "a flow less"),
    ("/auth/oauth/scopes_write", &[Shortened, Removed], "a scope less, and others are asked for by name"),
    ("/auth/oauth/pkce", &[Removed, Flipped], "PKCE where there was none"),
    ("/ops/*", &[Removed], "an op less"),
    ("/ops/*/irreversible", &[Flipped], "a yes to the very call is needed"),
    ("/ops/*/page", &[Removed], "pages less"),
    ("/ops/*/page/paths", &[Removed, Shortened], "paths less"),
    ("/ops/*/pick/fields", &[Shortened], "fields less"),
    ("/ops/*/limits", &[Removed], "this one's are above what holds without them"),
    ("/ops/*/limits/*", &[Lowered, Removed], "less; removed, this one's are above what holds without them"),
    ("/ops/*/module/requests", &[Shortened], "requests less"),
    ("/ops/*/module/requests/*/query", &[Removed, Shortened], "keys less"),
    ("/ops/*/module/requests/*/headers", &[Removed, Shortened], "headers less"),
    ("/ops/*/args/properties/*", &[Removed], "an arg less that could be left out, of a module"),
    ("/ops/*/args/required", &[Lengthened], "an arg more that must be there"),
    ("/ops/*/args/properties/*/minimum", &[Raised], "fewer values"),
    ("/ops/*/args/properties/*/exclusiveMinimum", &[Raised], "fewer values"),
    ("/ops/*/args/properties/*/maximum", &[Lowered], "fewer values"),
    ("/ops/*/args/properties/*/exclusiveMaximum", &[Lowered], "fewer values"),
    ("/ops/*/args/properties/*/minLength", &[Raised], "fewer values"),
    ("/ops/*/args/properties/*/maxLength", &[Lowered], "fewer values"),
    ("/ops/*/args/properties/*/minItems", &[Raised], "fewer values"),
    ("/ops/*/args/properties/*/maxItems", &[Lowered], "fewer values"),
    ("/ops/*/args/properties/*/multipleOf", &[Raised], "doubled: every second value"),
    ("/ops/*/args/properties/*/enum", &[Shortened], "fewer values"),
    ("/ops/*/args/properties/*/type", &[Rewritten], "whole numbers alone"),
    ("/ops/*/args/properties/*/items/maxLength", &[Lowered], "fewer values"),
    ("/ops/*/args/properties/*/properties", &[Removed], "members less that could be left out"),
    ("/ops/*/args/properties/*/items/properties", &[Removed], "members less that could be left out"),
    ("/ops/*/args/properties/*/properties/*", &[Removed], "a member less that could be left out"),
    ("/ops/*/args/properties/*/items/properties/*", &[Removed], "a member less that could be left out"),
    ("/ops/*/args/properties/*/required", &[Lengthened], "a member more that must be there"),
    ("/ops/*/args/properties/*/properties/*/type", &[Rewritten], "whole numbers alone"),
];

/// What says nothing, and why.
pub(crate) const SAYS_NOTHING: &[(&str, &[Change], &str)] = &[
    ("/version", &[Rewritten], "a version is for the rule of versions"),
    ("/ops/*/irreversible", &[Removed], "it is what holds without it"),
    ("/ops/*/module/file", &[Rewritten], "the digest says which bytes it is"),
    ("/ops/*/args/properties", &[Removed], "there was none"),
    ("/auth/oauth/*", &[Repeated], "the same scope twice"),
    ("/ops/*/require/*/in", &[Repeated], "the same value twice"),
    ("/ops/*/page/paths", &[Repeated], "the same path twice"),
    ("/ops/*/module/requests", &[Repeated], "the same line twice"),
    ("/ops/*/module/requests/*/headers", &[Repeated], "the same header twice"),
    ("/ops/*/module/requests/*/query", &[Repeated], "the same key twice"),
];

/// What cannot be changed alone, and why.
pub(crate) const FIXED: &[(&str, &str)] = &[
    ("/pinhole", "there is one format"),
    ("/ops/*/access", "a write has a confirm line and an effect, a read neither"),
    ("/ops/*/request/reads", "it is there exactly for a POST of a read"),
    ("/ops/*/module/requests/*/reads", "it is there exactly for a POST"),
    ("/ops/*/module/requests/*/graphql", "its endpoint takes documents alone, which are rewritten below"),
    ("/ops/*/args/type", "args are an object"),
    ("/ops/*/args/additionalProperties", "objects are closed"),
    ("/ops/*/args/properties/*/additionalProperties", "objects are closed"),
    ("/ops/*/args/properties/*/items/additionalProperties", "objects are closed"),
    ("/ops/*/request/graphql", "nothing else stands in its place"),
    ("/ops/*/request/graphql/variables/*", "a variable that is declared is fed"),
    ("/ops/*/page/style", "each style has members of its own"),
    ("/ops/*/page/variable", "the variables that are declared are fed; there is a vector"),
    ("/ops/*/request/query/*/value", "the args that are declared are used; there is a vector"),
    ("/auth/scheme", "the header is there exactly for one of them"),
];

pub(crate) fn is_like(pattern: &str, pointer: &str) -> bool {
    let (mut wanted, mut steps) = (pattern.split('/'), pointer.split('/'));
    loop {
        match (wanted.next(), steps.next()) {
            (None, None) | (Some("**"), _) => return true,
            (Some(wanted), Some(step)) if wanted == "*" || wanted == step => {}
            _ => return false,
        }
    }
}

pub(crate) fn is_listed(list: &[(&str, &[Change], &str)], pointer: &str, change: Change) -> bool {
    list.iter().any(|(pattern, changes, _)| is_like(pattern, pointer) && changes.contains(&change))
}

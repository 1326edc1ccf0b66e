//! Names taken apart into words: what a name becomes in a manifest, and what it sounds like.
//!
//! Guesses, and is used only where a guess leaves something out or is noted. INVARIANT: a name that comes out follows the
//! grammar it was made for.

/// The words of a name in lower case: `listForOrg`, `list-for-org` and `list_for_org` have the same.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let chars: Vec<char> = name.chars().take(300).collect();
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| chars.get(at));
        let after = chars.get(at.saturating_add(1));
        if !c.is_ascii_alphanumeric() {
            words.push(std::mem::take(&mut word));
            continue;
        }
        let starts = c.is_ascii_uppercase()
            && (before.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
                || (before.is_some_and(char::is_ascii_uppercase)
                    && after.is_some_and(char::is_ascii_lowercase)));
        if starts {
            words.push(std::mem::take(&mut word));
        }
        word.push(c.to_ascii_lowercase());
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// A name in lower case and underscores, a letter first, of at most so many bytes; whole words where they fit.
pub(crate) fn snake(words: &[String], most: usize, otherwise: &str) -> String {
    let mut name = String::new();
    for word in words {
        let starts = word.starts_with(|c: char| c.is_ascii_lowercase());
        if name.is_empty() && !starts {
            name.push_str(otherwise);
        }
        let gap = usize::from(!name.is_empty());
        if name.len().saturating_add(gap).saturating_add(word.len()) > most {
            if name.is_empty() {
                name.extend(word.chars().take(most));
            }
            break;
        }
        if gap == 1 {
            name.push('_');
        }
        name.push_str(word);
    }
    if name.is_empty() { otherwise.chars().take(most).collect() } else { name }
}

/// The name itself, or with the first number behind it that nothing has yet.
pub(crate) fn unused(name: String, most: usize, is_used: impl Fn(&str) -> bool) -> Option<String> {
    if !is_used(&name) {
        return Some(name);
    }
    (2..10_000).find_map(|number: u32| {
        let tail = format!("_{number}");
        let stem: String = name.chars().take(most.checked_sub(tail.len())?).collect();
        let one = format!("{}{tail}", stem.trim_end_matches('_'));
        (!is_used(&one)).then_some(one)
    })
}

/// Whether a text of this name is likely a secret.
pub(crate) fn is_secret(name: &str) -> bool {
    const ALONE: [&str; 22] = [
        "apikey",
        "authorization",
        "cookie",
        "cookies",
        "credential",
        "credentials",
        "cvc",
        "cvv",
        "jwt",
        "mnemonic",
        "otp",
        "passphrase",
        "passwd",
        "password",
        "passwords",
        "pem",
        "privatekey",
        "pwd",
        "salt",
        "secret",
        "secrets",
        "token",
    ];
    const PAIRS: [(&str, &str); 24] = [
        ("access", "key"),
        ("access", "tokens"),
        ("api", "key"),
        ("api", "keys"),
        ("auth", "code"),
        ("auth", "key"),
        ("backup", "codes"),
        ("card", "number"),
        ("encryption", "key"),
        ("license", "key"),
        ("master", "key"),
        ("private", "key"),
        ("recovery", "code"),
        ("recovery", "codes"),
        ("refresh", "tokens"),
        ("secret", "key"),
        ("security", "code"),
        ("service", "key"),
        ("session", "id"),
        ("session", "key"),
        ("shared", "key"),
        ("signing", "key"),
        ("stream", "key"),
        ("verification", "code"),
    ];
    let words = words(name);
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    while words.len() > 1 && words.last().is_some_and(|w| matches!(*w, "value" | "hash" | "text" | "plain")) {
        words.pop();
    }
    if is_paging_words(&words) {
        return false;
    }
    match words.as_slice() {
        [.., one] if ALONE.contains(one) => true,
        [.., one, two] => PAIRS.contains(&(*one, *two)),
        _ => false,
    }
}

fn is_paging_words(words: &[&str]) -> bool {
    words
        .iter()
        .any(|word| matches!(*word, "page" | "next" | "prev" | "previous" | "cursor" | "continuation"))
}

/// Whether a name is likely of a link that says nothing to a reader, or of something that only machines use.
pub(crate) fn is_noise(name: &str) -> bool {
    if matches!(name, "html_url" | "htmlUrl" | "web_url" | "webUrl" | "permalink") {
        return false;
    }
    if matches!(name, "node_id" | "gravatar_id" | "etag" | "self" | "_self") || name.starts_with(['@', '$']) {
        return true;
    }
    let words = words(name);
    words.last().is_some_and(|word| {
        matches!(word.as_str(), "url" | "urls" | "uri" | "uris" | "href" | "hrefs" | "link" | "links")
    })
}

/// Whether a member of an answer only goes with a list: how much there is, and how to go on.
pub(crate) fn is_about_the_list(name: &str) -> bool {
    const WORDS: [&str; 44] = [
        "after",
        "before",
        "code",
        "complete",
        "count",
        "current",
        "cursor",
        "end",
        "error",
        "errors",
        "etag",
        "extra",
        "first",
        "has",
        "href",
        "incomplete",
        "kind",
        "last",
        "limit",
        "links",
        "message",
        "messages",
        "meta",
        "metadata",
        "more",
        "next",
        "object",
        "offset",
        "ok",
        "page",
        "paging",
        "pages",
        "pagination",
        "per",
        "prev",
        "previous",
        "request",
        "self",
        "size",
        "start",
        "status",
        "success",
        "total",
        "url",
    ];
    let words = words(name);
    words.iter().any(|word| WORDS.contains(&word.as_str()) || word == "token")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_same_words_however_it_is_written() {
        for name in ["listForOrg", "list-for-org", "list_for_org", "List For Org", "list/forOrg"] {
            assert_eq!(words(name).join("_"), "list_for_org", "{name}");
        }
        assert_eq!(words("getHTTPStatus2Code").join("_"), "get_http_status2_code");
        assert!(words("日本").is_empty());
    }

    #[test]
    fn a_name_keeps_whole_words_where_they_fit() {
        let words = words("issues/list-comments-for-repository");
        assert_eq!(snake(&words, 40, "op"), "issues_list_comments_for_repository");
        assert_eq!(snake(&words, 20, "op"), "issues_list_comments");
        assert_eq!(snake(&words, 3, "op"), "iss");
        assert_eq!(snake(&[], 10, "op"), "op");
        assert_eq!(snake(&["2fa".to_owned()], 10, "op"), "op_2fa");
    }

    #[test]
    fn a_name_in_use_gets_a_number() {
        let used = ["a", "a_2", "abcd"];
        let unused = |name: &str| unused(name.to_owned(), 4, |one| used.contains(&one));
        assert_eq!(unused("b").as_deref(), Some("b"));
        assert_eq!(unused("a").as_deref(), Some("a_3"));
        assert_eq!(unused("abcd").as_deref(), Some("ab_2"));
    }

    #[test]
    fn secrets_are_known_by_their_names_and_other_words_are_not() {
        for name in [
            "token",
            "access_token",
            "accessToken",
            "temp_clone_token",
            "client_secret",
            "api_key",
            "apiKey",
            "password",
            "password_hash",
            "privateKey",
            "session_id",
            "recovery_codes",
            "X-Api-Key",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "key",
            "public_key",
            "token_type",
            "max_tokens",
            "next_page_token",
            "pageToken",
            "secretary",
            "password_updated_at",
            "id",
            "keyword",
            "continuationToken",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn links_for_machines_are_noise_and_links_for_people_are_not() {
        for name in
            ["url", "avatar_url", "avatarUrl", "href", "_links", "hooks_url", "node_id", "@odata.type"]
        {
            assert!(is_noise(name), "{name}");
        }
        for name in ["html_url", "web_url", "permalink", "name", "curl", "linked"] {
            assert!(!is_noise(name), "{name}");
        }
    }
}

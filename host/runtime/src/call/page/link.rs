//! The `Link` header (RFC 8288), as far as it names a next page, and where on the pinned host that is.
//!
//! Refuses a header that breaks the grammar, two next pages, a target that is not this host's on 443 over https, one with
//! user information or a fragment, and one whose path a reader of URLs would change. Which paths may be followed is
//! `render`'s to say.

use http::HeaderMap;
use http::header::LINK;
use pinhole_manifest::ApiHost;
use pinhole_manifest::model::is_dot_segment;
use url::Url;

/// The header breaks the grammar, or names several next pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unreadable;

/// The target of the one link whose relation is `next`.
pub(super) fn next(headers: &HeaderMap) -> Result<Option<String>, Unreadable> {
    let mut found: Option<String> = None;
    for value in headers.get_all(LINK) {
        let text = String::from_utf8_lossy(value.as_bytes());
        let mut rest = Rest(&text);
        while let Some(link) = rest.link()? {
            if !link.is_next {
                continue;
            }
            match &found {
                Some(other) if *other != link.target => return Err(Unreadable),
                _ => found = Some(link.target.to_owned()),
            }
        }
    }
    Ok(found)
}

struct Found<'t> {
    target: &'t str,
    is_next: bool,
}

/// What is left of a header's value.
struct Rest<'t>(&'t str);

impl<'t> Rest<'t> {
    /// The next link of a list; empty elements are read over (RFC 9110, section 5.6.1).
    fn link(&mut self) -> Result<Option<Found<'t>>, Unreadable> {
        self.0 = self.0.trim_start_matches([' ', '\t', ',']);
        if self.0.is_empty() {
            return Ok(None);
        }
        let inner = self.0.strip_prefix('<').ok_or(Unreadable)?;
        let (target, rest) = inner.split_once('>').ok_or(Unreadable)?;
        self.0 = rest;
        // Of several `rel` the first counts; a link with an anchor is another resource's (RFC 8288, section 3).
        let mut relation: Option<String> = None;
        let mut anchored = false;
        // Some services (Sentry) give the last page a next one too, and say that nothing is on it.
        let mut empty = false;
        while let Some((name, value)) = self.parameter()? {
            if name.eq_ignore_ascii_case("anchor") {
                anchored = true;
            } else if name.eq_ignore_ascii_case("rel") {
                relation.get_or_insert(value);
            } else if name.eq_ignore_ascii_case("results") {
                empty = value.eq_ignore_ascii_case("false");
            }
        }
        let is_next = !anchored
            && !empty
            && relation.is_some_and(|relation| {
                relation.split_ascii_whitespace().any(|one| one.eq_ignore_ascii_case("next"))
            });
        Ok(Some(Found { target, is_next }))
    }

    /// The next parameter of a link; `None` at its end, of which the comma is taken.
    fn parameter(&mut self) -> Result<Option<(&'t str, String)>, Unreadable> {
        loop {
            self.blank();
            if self.0.is_empty() || self.take(',') {
                return Ok(None);
            }
            if !self.take(';') {
                return Err(Unreadable);
            }
            self.blank();
            let name = self.token();
            if name.is_empty() {
                // Empty parameters are read over.
                continue;
            }
            self.blank();
            if !self.take('=') {
                return Ok(Some((name, String::new())));
            }
            self.blank();
            let value = if self.take('"') { self.quoted()? } else { self.token().to_owned() };
            return Ok(Some((name, value)));
        }
    }

    fn blank(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t']);
    }

    fn take(&mut self, wanted: char) -> bool {
        let rest = self.0.strip_prefix(wanted);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn token(&mut self) -> &'t str {
        let end = self.0.find([' ', '\t', ',', ';', '=', '"', '<', '>']).unwrap_or(self.0.len());
        let (token, rest) = self.0.split_at_checked(end).unwrap_or((self.0, ""));
        self.0 = rest;
        token
    }

    fn quoted(&mut self) -> Result<String, Unreadable> {
        let mut value = String::new();
        let mut characters = self.0.chars();
        loop {
            match characters.next().ok_or(Unreadable)? {
                '"' => break,
                '\\' => value.push(characters.next().ok_or(Unreadable)?),
                other => value.push(other),
            }
        }
        self.0 = characters.as_str();
        Ok(value)
    }
}

/// The path and query that a link's target names, seen from the request that it answers; `None` where that is not on the
/// pinned host.
pub(super) fn target(host: &ApiHost, current: &str, link: &str) -> Option<String> {
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}#".contains(&byte);
    if !link.bytes().all(plain) || has_user(link) || has_dots(link) {
        return None;
    }
    let base = Url::parse(&format!("https://{host}{current}")).ok()?;
    let url = base.join(link).ok()?;
    let here = url.scheme() == "https"
        && url.host_str() == Some(host.as_str())
        && url.port().is_none()
        && url.username().is_empty()
        && url.password().is_none()
        && url.fragment().is_none()
        // What `has_dots` cannot see in `https:.;`, which has no path of its own.
        && !url.path().split('/').any(is_dot_segment);
    here.then(|| match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    })
}

/// Whether an authority has an `@`: a URL's reader says nothing of an empty user.
fn has_user(link: &str) -> bool {
    let authority = link.split_once("//").map_or("", |(_, rest)| rest);
    authority.split(['/', '?']).next().is_some_and(|authority| authority.contains('@'))
}

/// Whether a segment of the path would be resolved away.
fn has_dots(link: &str) -> bool {
    link.split('?').next().unwrap_or_default().split('/').any(is_dot_segment)
}

#[cfg(test)]
mod tests;

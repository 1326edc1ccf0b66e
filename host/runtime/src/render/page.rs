//! The request of a further page: that of the first, with the one part changed in which the two differ.
//!
//! INVARIANT: the change comes from the service, so it goes where the manifest says and nowhere else: into one query
//! parameter, into one GraphQL variable, or, for a link, through [`follow`], which lets the op's own path or one of the
//! manifest's shapes pass and keeps what the op's own query says. DESIGN, "Manifest": `page`.

use std::borrow::Cow;
use std::fmt;

use percent_encoding::percent_decode;
use pinhole_manifest::ArgName;
use pinhole_manifest::model::{
    PathPattern, PatternSegment, QueryParam, Request, is_dot_segment, is_method_key,
};
use url::Url;

use super::{Part, RenderError, target};

/// Most parameters that a link's query has.
const PARAMS_MAX: usize = 100;

/// In what the request of a page differs from that of the first.
#[derive(Debug, Clone)]
pub enum Change<'a> {
    /// In nothing: it is the first.
    Nothing,
    /// In one query parameter, whose value this is, whether the op sets it or not.
    Query(&'a str, Cow<'a, str>, Narrowed<'a>),
    /// In one variable of the GraphQL document.
    Variable(&'a str, &'a str),
    /// In what a link says: its path and query, and the path shapes that are followed besides the op's own path.
    Link(&'a str, &'a [PathPattern], Narrowed<'a>),
}

/// The args that a grant narrows: what stands for them stays as it is on every page.
#[derive(Clone, Copy)]
pub struct Narrowed<'a>(pub &'a dyn Fn(&ArgName) -> bool);

impl fmt::Debug for Narrowed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Narrowed(..)")
    }
}

impl Narrowed<'_> {
    /// Whether a parameter is one arg alone, which may be another on another page.
    fn frees(self, param: &QueryParam) -> bool {
        param.value.sole_arg().is_some_and(|arg| !(self.0)(arg))
    }
}

impl Change<'_> {
    /// The path and query of the page, out of those of the first.
    pub(super) fn target(&self, own: String, request: &Request) -> Result<String, RenderError> {
        match self {
            Self::Nothing | Self::Variable(..) => Ok(own),
            Self::Query(key, value, narrowed) => {
                let set = request.query.iter().find(|param| param.key == *key);
                if set.is_some_and(|param| !narrowed.frees(param)) {
                    return Err(RenderError::PageAstray);
                }
                Ok(with_pair(&own, key, value))
            }
            Self::Link(link, shapes, narrowed) => {
                follow(&own, request, link, shapes, *narrowed).ok_or(RenderError::PageAstray)
            }
        }
    }
}

/// The target with one parameter set to one value, in the place of what it had, or behind the others.
fn with_pair(own: &str, key: &str, value: &str) -> String {
    let (path, query) = own.split_once('?').unwrap_or((own, ""));
    let mut pair = String::new();
    target::push_pair(&mut pair, key, value);
    let mut query: Vec<&str> = pairs(query).map(|other| other.raw).collect();
    let of_key = |raw: &&str| Pair { raw }.key() == key.as_bytes();
    let place = query.iter().position(&of_key).unwrap_or(query.len());
    query.retain(|raw| !of_key(raw));
    query.insert(place.min(query.len()), &pair);
    format!("{path}?{}", query.join("&"))
}

/// The target that a link leads to, if it may be followed.
///
/// Its path is the op's own, or has one of the shapes. What the op's own query says stays; the link may change one
/// parameter that is one arg alone, unless the grant narrows that arg, and it may add others, but for those by which
/// frameworks take another method.
fn follow(
    own: &str,
    request: &Request,
    link: &str,
    shapes: &[PathPattern],
    narrowed: Narrowed<'_>,
) -> Option<String> {
    let (own_path, own_query) = own.split_once('?').unwrap_or((own, ""));
    let (path, query) = link.split_once('?').unwrap_or((link, ""));
    let path = followed_path(own_path, path, shapes)?;
    let query = followed_query(own_query, query, &request.query, narrowed)?;
    let target = if query.is_empty() { path } else { format!("{path}?{query}") };
    Part::Target.check(target.len()).ok()?;
    let written = format!("https://host.invalid{target}");
    let same = Url::parse(&written).is_ok_and(|url| url.as_str() == written && url.fragment().is_none());
    same.then_some(target)
}

fn followed_path(own: &str, path: &str, shapes: &[PathPattern]) -> Option<String> {
    let segments: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    let own_segments = own.strip_prefix('/')?.split('/');
    if decoded_all(own_segments) == decoded_all(segments.iter().copied()) {
        return Some(own.to_owned());
    }
    shapes.iter().find_map(|shape| shaped(shape.segments(), &segments))
}

fn decoded_all<'a>(segments: impl Iterator<Item = &'a str>) -> Vec<Vec<u8>> {
    segments.map(|segment| percent_decode(segment.as_bytes()).collect()).collect()
}

fn shaped(shape: &[PatternSegment], segments: &[&str]) -> Option<String> {
    if shape.len() != segments.len() {
        return None;
    }
    let mut path = String::new();
    for (wanted, segment) in shape.iter().zip(segments) {
        path.push('/');
        match wanted {
            PatternSegment::Any if is_plain(segment) => path.push_str(segment),
            PatternSegment::Literal(text)
                if percent_decode(text.as_bytes()).eq(percent_decode(segment.as_bytes())) =>
            {
                path.push_str(text);
            }
            PatternSegment::Any | PatternSegment::Literal(_) => return None,
        }
    }
    Some(path)
}

/// Whether a segment of a link's path is one segment to every reader: not empty, not dots, nothing hidden in escapes.
fn is_plain(segment: &str) -> bool {
    let shown =
        segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@%".contains(&byte));
    let escapes = segment.split('%').skip(1).all(|rest| {
        let byte = rest.get(..2).filter(|hex| hex.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let byte = byte.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        byte.is_some_and(|byte| !byte.is_ascii_control() && !b"/\\%".contains(&byte))
    });
    // Some servers drop what stands behind a `;`.
    let named = !segment.is_empty() && !segment.starts_with(';');
    shown && escapes && named && !is_dot_segment(segment)
}

/// A pair of a query, as it stands.
struct Pair<'a> {
    raw: &'a str,
}

fn pairs(query: &str) -> impl Iterator<Item = Pair<'_>> {
    query.split('&').filter(|raw| !raw.is_empty()).map(|raw| Pair { raw })
}

impl Pair<'_> {
    fn key(&self) -> Vec<u8> {
        form_decoded(self.raw.split('=').next().unwrap_or_default())
    }

    fn value(&self) -> Vec<u8> {
        form_decoded(self.raw.split_once('=').map_or("", |(_, value)| value))
    }
}

fn form_decoded(text: &str) -> Vec<u8> {
    percent_decode(text.replace('+', " ").as_bytes()).collect()
}

fn followed_query(own: &str, link: &str, params: &[QueryParam], narrowed: Narrowed<'_>) -> Option<String> {
    let (own, link): (Vec<_>, Vec<_>) = (pairs(own).collect(), pairs(link).collect());
    if link.len() > PARAMS_MAX {
        return None;
    }
    let mut query: Vec<&str> = Vec::new();
    let mut seen: Vec<Vec<u8>> = Vec::new();
    let mut changed = 0_u32;
    for pair in &own {
        let key = pair.key();
        if seen.contains(&key) {
            continue;
        }
        let of_key = |pairs: &'_ [Pair<'_>]| -> Vec<Vec<u8>> {
            pairs.iter().filter(|pair| pair.key() == key).map(Pair::value).collect()
        };
        let (ours, theirs) = (of_key(&own), of_key(&link));
        if theirs.is_empty() || theirs == ours {
            query.extend(own.iter().filter(|pair| pair.key() == key).map(|pair| pair.raw));
        } else {
            changed = changed.saturating_add(1);
            let param = params.iter().find(|param| param.key.as_bytes() == key)?;
            if !narrowed.frees(param) || changed > 1 || (ours.len(), theirs.len()) != (1, 1) {
                return None;
            }
            query.extend(link.iter().filter(|pair| pair.key() == key).map(|pair| pair.raw));
        }
        seen.push(key);
    }
    for pair in link.iter().filter(|pair| !seen.contains(&pair.key())) {
        let key = String::from_utf8(pair.key()).ok()?;
        if key.is_empty() || is_method_key(&key) {
            return None;
        }
        query.push(pair.raw);
    }
    Some(query.join("&"))
}

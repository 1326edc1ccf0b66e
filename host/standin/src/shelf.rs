//! A shelf of numbered things that is listed a page at a time, in each of the styles in which services hand out pages.
//!
//! | request | where the next page is |
//! |---|---|
//! | `GET /shelves/{name}/things?size=&page=` | a `Link` header, under the shelf's numeric path `/shelf/7/things` |
//! | `GET /cursor?size=&after=` | `paging.next.after`, absent at the end |
//! | `GET /numbered?size=&page=` | nowhere: a page behind the last is empty |
//! | `POST /graphql` with the variables `size` and `after` | `data.things.pageInfo` |

use serde_json::{Value, json};

use crate::Reply;
use crate::config::pairs;
use crate::log::Seen;
use crate::service::not_found;

/// How a shelf is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shelf {
    /// How many things are on it, with ids from 1.
    pub things: usize,
}

impl Shelf {
    /// The path under which its own links list it.
    pub const LINKED: &'static str = "/shelf/7/things";
    const SIZE: usize = 2;

    pub(crate) fn reply(self, host: &str, seen: &Seen) -> Reply {
        let segments: Vec<&str> = seen.path.split('/').skip(1).collect();
        match (seen.method.as_str(), segments.as_slice()) {
            ("GET", ["shelves" | "shelf", _, "things"]) => self.linked(host, seen),
            ("GET", ["cursor"]) => self.cursor(seen),
            ("GET", ["numbered"]) => Reply::json(200, &self.things(from_page(seen), size(seen))),
            ("POST", ["graphql"]) => self.relay(seen),
            _ => not_found(),
        }
    }

    fn things(self, from: usize, size: usize) -> Value {
        let ids = (1..=self.things).skip(from).take(size);
        ids.map(|id| json!({"id": id, "name": format!("thing {id}"), "private": "PRIVATE"})).collect()
    }

    /// Whether something lies behind so many.
    fn has(self, behind: usize) -> bool {
        behind < self.things
    }

    fn linked(self, host: &str, seen: &Seen) -> Reply {
        let (from, size) = (from_page(seen), size(seen));
        let reply = Reply::json(200, &self.things(from, size));
        if !self.has(from.saturating_add(size)) {
            return reply;
        }
        let others: Vec<&str> =
            seen.query.split('&').filter(|pair| !pair.is_empty() && !pair.starts_with("page=")).collect();
        let next = (from / size).saturating_add(2);
        let query = [others.as_slice(), &[&format!("page={next}")]].concat().join("&");
        let path = Self::LINKED;
        reply.header("link", &format!("<https://{host}{path}?{query}>; rel=\"next\", </other>; rel=last"))
    }

    fn cursor(self, seen: &Seen) -> Reply {
        let (from, size) = (behind(text(seen, "after").as_deref()), size(seen));
        let mut page = json!({"items": self.things(from, size)});
        if self.has(from.saturating_add(size))
            && let Some(members) = page.as_object_mut()
        {
            let after = after(from.saturating_add(size));
            members.insert("paging".to_owned(), json!({"next": {"after": after}}));
        }
        Reply::json(200, &page)
    }

    fn relay(self, seen: &Seen) -> Reply {
        let body: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
        let variable = |name: &str| body.pointer(&format!("/variables/{name}")).cloned().unwrap_or_default();
        let size =
            variable("size").as_u64().and_then(|size| usize::try_from(size).ok()).unwrap_or(Self::SIZE);
        let from = behind(variable("after").as_str());
        let end = from.saturating_add(size);
        let info = json!({"hasNextPage": self.has(end), "endCursor": after(end)});
        let things = json!({"nodes": self.things(from, size), "pageInfo": info});
        Reply::json(200, &json!({"data": {"things": things}}))
    }
}

/// The cursor of what lies behind so many things; its characters want encoding in a query.
fn after(count: usize) -> String {
    format!("after/{count}+=&")
}

fn behind(cursor: Option<&str>) -> usize {
    let count = cursor.and_then(|cursor| cursor.strip_prefix("after/")?.strip_suffix("+=&"));
    count.and_then(|count| count.parse().ok()).unwrap_or(0)
}

fn text(seen: &Seen, name: &str) -> Option<String> {
    pairs(&seen.query).into_iter().find(|(given, _)| given == name).map(|(_, value)| value)
}

fn number(seen: &Seen, name: &str) -> Option<usize> {
    text(seen, name)?.parse().ok().filter(|number| *number > 0)
}

fn size(seen: &Seen) -> usize {
    number(seen, "size").unwrap_or(Shelf::SIZE)
}

fn from_page(seen: &Seen) -> usize {
    number(seen, "page").unwrap_or(1).saturating_sub(1).saturating_mul(size(seen))
}

//! GitHub's paging: `per_page`, `page`, and the `Link` header with absolute URLs.

use crate::Reply;
use crate::config::pairs;
use crate::log::Seen;

use super::object::array;

/// The slice of a list that a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    size: usize,
    number: usize,
    /// The query's other pairs, which the links repeat, as they were sent.
    others: Vec<String>,
}

impl Page {
    /// Reads `per_page` (30 by default, at most 100) and `page` (from 1); what is no such number counts as absent.
    pub(crate) fn of(seen: &Seen) -> Self {
        let number = |name: &str| {
            let given = pairs(&seen.query).into_iter().find(|(given, _)| given == name);
            given.and_then(|(_, value)| value.parse::<usize>().ok()).filter(|number| *number > 0)
        };
        let others = seen
            .query
            .split('&')
            .filter(|pair| !pair.is_empty() && !pair.starts_with("per_page=") && !pair.starts_with("page="))
            .map(str::to_owned)
            .collect();
        Self { size: number("per_page").unwrap_or(30).min(100), number: number("page").unwrap_or(1), others }
    }

    /// The items of this page, out of all.
    pub(crate) fn slice<'a, T>(&self, all: &'a [T]) -> &'a [T] {
        let from = self.number.saturating_sub(1).saturating_mul(self.size).min(all.len());
        let to = from.saturating_add(self.size).min(all.len());
        all.get(from..to).unwrap_or_default()
    }

    /// The reply that lists these items (JSON texts), with links to `target` where there are more pages.
    pub(crate) fn reply(&self, target: &str, total: usize, items: impl IntoIterator<Item = String>) -> Reply {
        self.linked(Reply::json_text(200, array(items)), target, total)
    }

    /// Adds the `Link` header, as GitHub does: only where there is another page.
    pub(crate) fn linked(&self, reply: Reply, target: &str, total: usize) -> Reply {
        let last = total.div_ceil(self.size.max(1));
        let mut links = Vec::new();
        let mut link = |number: usize, rel: &str| {
            let mut query = self.others.clone();
            query.push(format!("per_page={}", self.size));
            query.push(format!("page={number}"));
            links.push(format!("<{target}?{}>; rel=\"{rel}\"", query.join("&")));
        };
        if self.number > 1 {
            link(self.number.saturating_sub(1), "prev");
        }
        if self.number < last {
            link(self.number.saturating_add(1), "next");
            link(last, "last");
        }
        if self.number > 1 {
            link(1, "first");
        }
        if links.is_empty() { reply } else { reply.header("link", &links.join(", ")) }
    }
}

//! Walks the pages of a list. Refuses to go on without end: a limit that is reached while there is more is an error, never a
//! shorter result; so is a page that names itself as the next one.

use std::fmt;

use serde_json::Value;

use crate::{Error, Host, Request, Response};

/// Most requests of a call, where the host's operator has not said otherwise.
pub const REQUESTS_A_CALL: usize = 100;

type Follow<'h> = Box<dyn FnMut(&Request, &Response) -> Result<Option<Request>, Error> + 'h>;

/// The pages of a list, each an answer with a status of 2xx. It ends behind the last page, or with its first error.
///
/// ```
/// use pinhole_guest::{Error, Host, Pages, Request, path};
///
/// fn count(host: &dyn Host, owner: &str) -> Result<usize, Error> {
///     let request = Request::get(path!("/users/{}/repos", owner)).query("per_page", 100);
///     let mut count = 0;
///     for page in Pages::by_link(host, request).at_most(50, "ask for one kind of repository") {
///         count += page?.json::<Vec<serde_json::Value>>()?.len();
///     }
///     Ok(count)
/// }
/// ```
pub struct Pages<'h> {
    host: &'h dyn Host,
    next: Option<Request>,
    follow: Follow<'h>,
    read: usize,
    at_most: usize,
    narrow: String,
}

impl<'h> Pages<'h> {
    /// The next request, as a function finds it from the last one and its answer.
    pub fn following(
        host: &'h dyn Host,
        first: Request,
        follow: impl FnMut(&Request, &Response) -> Result<Option<Request>, Error> + 'h,
    ) -> Self {
        let narrow = "ask for less".to_owned();
        Self { host, next: Some(first), follow: Box::new(follow), read: 0, at_most: REQUESTS_A_CALL, narrow }
    }

    /// By the `Link` header's `rel="next"`. Of the link only the query is taken; the path stays that of the first request,
    /// so that the manifest needs no line for another. Its line lists the keys of such queries.
    pub fn by_link(host: &'h dyn Host, first: Request) -> Self {
        Self::following(host, first, |last, answer| {
            Ok(answer.next_query().map(|query| last.clone().with_query(query)))
        })
    }

    /// By a page number in the query, from 1, until the list at `items` (a JSON pointer, such as `/data`, or empty for the
    /// whole answer) is empty.
    pub fn by_number(host: &'h dyn Host, first: Request, key: &'h str, items: &'h str) -> Self {
        let mut number: u64 = 1;
        Self::following(host, first.set_query(key, number), move |last, answer| {
            let body: Value = answer.json()?;
            let list = body.pointer(items).and_then(Value::as_array);
            let list = list.ok_or_else(|| Error::Json(format!("there is no list at `{items}`")))?;
            number += 1;
            Ok((!list.is_empty()).then(|| last.clone().set_query(key, number)))
        })
    }

    /// By a cursor that stands in the answer at `at` (a JSON pointer, such as `/paging/next/after`) and goes into the query.
    /// Absent, `null` or empty it ends the list.
    pub fn by_cursor(host: &'h dyn Host, first: Request, at: &'h str, key: &'h str) -> Self {
        Self::following(host, first, move |last, answer| {
            let cursor = cursor(&answer.json()?, at)?;
            Ok(cursor.map(|cursor| last.clone().set_query(key, text(&cursor))))
        })
    }

    /// By a cursor that goes into a member of the body, which is a JSON object.
    pub fn by_cursor_in_body(host: &'h dyn Host, first: Request, at: &'h str, member: &'h str) -> Self {
        Self::following(host, first, move |last, answer| {
            let cursor = cursor(&answer.json()?, at)?;
            Ok(cursor.map(|cursor| last.clone().set_member("", member, cursor)))
        })
    }

    /// By a GraphQL connection: `info` is the JSON pointer of its `pageInfo`, such as `/data/issues/pageInfo`; its cursor
    /// goes into a variable. An answer with errors is an error.
    pub fn relay(host: &'h dyn Host, first: Request, info: &'h str, variable: &'h str) -> Self {
        Self::following(host, first, move |last, answer| {
            let _: Value = answer.data()?;
            let body: Value = answer.json()?;
            let page = body.pointer(info);
            let page = page.ok_or_else(|| Error::Json(format!("there is no page info at `{info}`")))?;
            if page.get("hasNextPage").and_then(Value::as_bool) != Some(true) {
                return Ok(None);
            }
            let cursor = cursor(page, "/endCursor")?;
            let cursor = cursor.ok_or_else(|| Error::Json("a next page has no cursor".to_owned()))?;
            Ok(Some(last.clone().set_member("variables", variable, cursor)))
        })
    }

    /// Reads at most so many pages. More are an error, which says what to narrow.
    pub fn at_most(self, pages: usize, narrow: &str) -> Self {
        Self { at_most: pages, narrow: narrow.to_owned(), ..self }
    }

    fn page(&mut self, request: &Request) -> Result<Response, Error> {
        if self.read >= self.at_most {
            return Err(Error::TooManyPages { pages: self.at_most, narrow: self.narrow.clone() });
        }
        self.read += 1;
        let answer = request.send(self.host)?.error_for_status()?;
        let next = (self.follow)(request, &answer)?;
        if next.as_ref() == Some(request) {
            return Err(Error::Json("a page names itself as the next one".to_owned()));
        }
        self.next = next;
        Ok(answer)
    }
}

impl Iterator for Pages<'_> {
    type Item = Result<Response, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let request = self.next.take()?;
        Some(self.page(&request))
    }
}

impl fmt::Debug for Pages<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").field("next", &self.next).field("read", &self.read).finish_non_exhaustive()
    }
}

fn cursor(body: &Value, at: &str) -> Result<Option<Value>, Error> {
    match body.pointer(at) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Ok(None),
        Some(cursor @ (Value::String(_) | Value::Number(_))) => Ok(Some(cursor.clone())),
        Some(_) => Err(Error::Json(format!("what stands at `{at}` is no cursor"))),
    }
}

fn text(cursor: &Value) -> String {
    cursor.as_str().map_or_else(|| cursor.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;
